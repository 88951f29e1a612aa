"""Texts that are no message of any protocol, each made of a valid one: what is wrong is the text itself.

`requirement` is the kit's own that notices (`schemas/kit/wire.json`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from conformance import edits, jsontext
from conformance.jsontext import LIMITS


class Spoilt(NamedTuple):
    """Bytes that are no message, by what was done to one; `twin` is the message."""

    name: str
    requirement: str
    data: bytes
    twin: str


def spoilt(text: str) -> Iterator[Spoilt]:
    """Every way to spoil the text of a JSON object that has a member."""
    for name, (requirement, change) in WAYS.items():
        yield Spoilt(name, requirement, change(text), text)


def _member(text: str, token: str) -> bytes:
    """The text with one more member, whose value is written so."""
    at = text.rindex("}")
    return f'{text[:at].rstrip()}, "x-wire": {token}}}'.encode("utf-8", "surrogatepass")


def _twice(text: str) -> bytes:
    return edits.with_first_twice(text).encode()


def _deep(text: str) -> bytes:
    depth = LIMITS.depth + 1
    return _member(text, "[" * depth + "]" * depth)


WAYS: dict[str, tuple[str, Callable[[str], bytes]]] = {
    "duplicate-key": ("WIRE-KEYS", _twice),
    "not-a-number": ("WIRE-CONSTANT", lambda text: _member(text, "NaN")),
    "infinity": ("WIRE-CONSTANT", lambda text: _member(text, "-Infinity")),
    "cut-off": ("WIRE-JSON", lambda text: text.rstrip()[:-1].encode()),
    "empty": ("WIRE-JSON", lambda _: b" "),
    "byte-order-mark": ("WIRE-BOM", lambda text: (jsontext.BOM + text).encode()),
    "lone-surrogate": ("WIRE-SURROGATE", lambda text: _member(text, '"\\ud800"')),
    "trailing-garbage": ("WIRE-JSON", lambda text: f"{text.rstrip()} }}".encode()),
    "trailing-comma": ("WIRE-JSON", lambda text: f"{text[: text.rindex('}')].rstrip()},}}".encode()),
    "comment": ("WIRE-JSON", lambda text: f"{text.rstrip()} // as agreed".encode()),
    "single-quotes": ("WIRE-JSON", lambda text: _member(text, "'x'")),
    "leading-zero": ("WIRE-JSON", lambda text: _member(text, "01")),
    "control-character": ("WIRE-JSON", lambda text: _member(text, '"\x01"')),
    "deep-nesting": ("WIRE-LIMIT", _deep),
    "long-number": ("WIRE-LIMIT", lambda text: _member(text, "1" * (LIMITS.digits + 1))),
    "not-utf-8": ("WIRE-UTF8", lambda text: _member(text, '"\x00"').replace(b"\x00", b"\xff")),
    "not-an-object": ("WIRE-OBJECT", lambda text: f"[{text.strip()}]".encode()),
}
"""By name: the requirement that notices, and the change. To add a way is to add a row."""
