"""Which protocol a message belongs to, told by the message itself; and what it looks like if to none."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from conformance import jsontext
from conformance.errors import UnknownProtocol
from conformance.events import JSON
from conformance.packs import Pack, data_root, find_all, pointer_value
from conformance.schemas import load
from conformance.shapes import Shape, shape, simply_fits
from conformance.wording import shown

HELD = 10_000
"""So many texts of an input are looked at for one that tells its protocol, if they are not too long."""


class Trace(NamedTuple):
    """One of the formats in which a protocol records its own traffic, a JSON object a line.

    `line` is the shape of every line, `holds` that of the lines that hold a message that arrived;
    `party` and `message` are pointers into those.
    """

    name: str
    line: Shape
    holds: Shape
    party: str
    message: str

    def is_line(self, value: JSON) -> bool:
        """Whether the value is a line of such a record."""
        return isinstance(value, dict) and self.line(value)

    def holds_message(self, value: JSON) -> bool:
        """Whether the line holds a message that arrived."""
        return self.holds(value)


def beginning(pack: Pack) -> Shape | None:
    """The shape of a message with which alone a connection begins; no protocol has to have such a one."""
    return shape(pack.meta["begins"]) if "begins" in pack.meta else None


@cache
def traces(pack: Pack) -> list[Trace]:
    """The formats of the pack's own records."""
    rows = pack.meta.get("traces", ())
    return [Trace(**{**row, "line": shape(row["line"]), "holds": shape(row["holds"])}) for row in rows]


def trace_of(value: JSON, pack: Pack) -> Trace | None:
    """The format of which the value is a line, if it is one."""
    return next((trace for trace in traces(pack) if trace.is_line(value)), None)


class Recogniser:
    """Looks at the values of an input, one after the other, until one tells its protocol."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._unknown: JSON = None
        self._seen = False
        self._between: tuple[Pack, ...] = ()
        self._foreign = ""
        self._calls_elsewhere = False

    def look(self, value: JSON) -> Pack | None:
        """The pack of the value, if exactly one protocol knows it: its newest revision that does.

        Protocols of one envelope share its responses, and names of methods: where the calls of another
        one came first, these tell nothing more.
        """
        found = self._known(value)
        if len(found) == 1:
            return found[0]
        self._between = self._between or found
        if not self._seen:
            self._seen, self._unknown = True, value
        return None

    def _known(self, value: JSON) -> tuple[Pack, ...]:
        message = _held(value)
        name = foreign(message)
        if name:
            self._foreign = self._foreign or name
            self._calls_elsewhere |= "jsonrpc" in message
            return ()
        known = _knowing(value)
        return tuple(pack for pack in known if not (self._calls_elsewhere and "envelope" in pack.meta))

    def undecided(self) -> UnknownProtocol:
        """Why no value told its protocol: what they look like, and what there is."""
        if self._between:
            names = " and ".join(pack.protocol for pack in self._between)
            return UnknownProtocol(f"{self._where}: this may be {names}; name one of them with -p")
        begins = f"it begins with {shown(self._unknown)}" if self._seen else "it holds no JSON message"
        like = f". It looks like {self._foreign}" if self._foreign else _like(self._unknown)
        known = dict.fromkeys(pack.protocol for pack in find_all())
        listed = "; ".join(f"{pack.protocol}: {_shape(pack)}" for pack in _newest(known))
        said = f"no known protocol recognises this input ({begins}){like}"
        return UnknownProtocol(f"{self._where}: {said}. Known are {listed}. Name one with -p")


def packed(data: bytes) -> str:
    """What bytes are that are no text of messages, told by their beginning; empty for anything else."""
    return next((name for name, begins in _SIGNATURES.items() if data.startswith(begins)), "")


_SIGNATURES = {
    "text in UTF-32, and messages are UTF-8": (b"\xff\xfe\0\0", b"\0\0\xfe\xff"),
    "text in UTF-16, and messages are UTF-8": (
        *(b"\xff\xfe", b"\xfe\xff"),
        *(b"{\0", b"[\0", b"\0{", b"\0["),
    ),
    "compressed by gzip": (b"\x1f\x8b",),
    "compressed by bzip2": (b"BZh",),
    "compressed by xz": (b"\xfd7zXZ\0",),
    "compressed by zstd": (b"\x28\xb5\x2f\xfd",),
    "a ZIP archive": (b"PK\x03\x04",),
    "an SQLite database": (b"SQLite format 3\0",),
    "a capture of packets": (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4"),
    "an HTML page": (b"<!DOCTYPE html", b"<!doctype html", b"<html"),
}


def belongs_elsewhere(value: JSON, pack: Pack) -> str:
    """What a message that is of no kind of this pack is instead; empty where nobody knows it."""
    if pack.recognises(value):
        return ""
    name = foreign(value)
    if name:
        return f"it looks like {name}"
    others = [other.name for other in _knowing(value) if other.protocol != pack.protocol]
    return f"it looks like a message of {' or '.join(others)}" if others else ""


def foreign(value: JSON) -> str:
    """What is known by its shape, and is a message of none of the protocols; empty for anything else."""
    if not isinstance(value, dict):
        return ""
    return next((row["name"] for row in _shapes() if simply_fits(row["shape"], value)), "")


@cache
def _shapes() -> list[dict[str, Any]]:
    path = data_root() / "schemas" / "kit" / "foreign.json"
    shapes: list[dict[str, Any]] = load(path.read_text(encoding="utf-8"), str(path))["shapes"]
    return shapes


def _knowing(value: JSON) -> tuple[Pack, ...]:
    """The packs that know the value, the newest of each protocol."""
    found: dict[str, Pack] = {}
    for pack in find_all():
        if pack.protocol not in found and _knows(pack, value):
            found[pack.protocol] = pack
    return tuple(found.values())


def older(pack: Pack, value: JSON) -> tuple[Pack, ...]:
    """The other revisions of the pack's protocol that know the value too, the newest first."""
    same = (other for other in find_all() if other.protocol == pack.protocol and other is not pack)
    return tuple(other for other in same if _knows(other, value))


def _knows(pack: Pack, value: JSON) -> bool:
    return pack.recognises(value) or _knows_in_record(pack, value)


def _knows_in_record(pack: Pack, value: JSON) -> bool:
    """Whether the value is a line of the protocol's own record, and holds what may be a message of it."""
    trace = trace_of(value, pack)
    return (
        trace is not None and trace.holds_message(value) and pack.shape(pointer_value(value, trace.message))
    )


def _held(value: JSON) -> JSON:
    """The message that the value holds, if it is a line of a record; else the value itself."""
    formats = (trace for pack in find_all() for trace in traces(pack))
    fitting = (one for one in formats if one.is_line(value) and one.holds_message(value))
    return next((pointer_value(value, one.message) for one in fitting), value)


def _newest(protocols: Iterable[str]) -> list[Pack]:
    return [next(pack for pack in find_all() if pack.protocol == name) for name in protocols]


def _shape(pack: Pack) -> str:
    return str(pack.meta.get("looks_like", "see its schemas"))


def _like(value: JSON) -> str:
    """What it looks like, as far as that can be told of what has no known shape."""
    method = jsontext.resolve(value, "/method")
    if isinstance(value, dict) and "jsonrpc" in value and isinstance(method, str):
        return f". It looks like JSON-RPC, and no protocol here has a method {shown(method)}"
    return ""
