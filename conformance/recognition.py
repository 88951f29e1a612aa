"""Which protocol a message belongs to, told by the message itself; and what it looks like if to none."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from conformance import jsontext
from conformance.errors import UnknownProtocol
from conformance.events import JSON
from conformance.packs import Pack, data_root, find_all, pointer_value, simply_fits
from conformance.schemas import load
from conformance.wording import shown

HELD = 10_000
"""So many texts of an input are looked at for one that tells its protocol."""


class Trace(NamedTuple):
    """One of the formats in which a protocol records its own traffic, a JSON object a line.

    `line` is a small schema of every line, `holds` one of the lines that hold a message that arrived;
    `party` and `message` are pointers into those.
    """

    name: str
    line: dict[str, Any]
    holds: dict[str, Any]
    party: str
    message: str

    def is_line(self, value: JSON) -> bool:
        """Whether the value is a line of such a record."""
        return isinstance(value, dict) and simply_fits(self.line, value)

    def holds_message(self, value: JSON) -> bool:
        """Whether the line holds a message that arrived."""
        return simply_fits(self.holds, value)


def traces(pack: Pack) -> Iterable[Trace]:
    """The formats of the pack's own records."""
    return (Trace(**row) for row in pack.meta.get("traces", ()))


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

    def look(self, value: JSON) -> Pack | None:
        """The pack of the value, if exactly one protocol knows it: its newest revision that does."""
        found = () if foreign(value) else _knowing(value)
        if len(found) == 1:
            return found[0]
        self._between = self._between or found
        if not self._seen:
            self._seen, self._unknown = True, value
        return None

    def undecided(self) -> UnknownProtocol:
        """Why no value told its protocol: what they look like, and what there is."""
        if self._between:
            names = " and ".join(pack.protocol for pack in self._between)
            return UnknownProtocol(f"{self._where}: this may be {names}; name one of them with -p")
        begins = f"it begins with {shown(self._unknown)}" if self._seen else "it holds no JSON message"
        like = _like(self._unknown) if self._seen else ""
        known = dict.fromkeys(pack.protocol for pack in find_all())
        listed = "; ".join(f"{pack.protocol}: {_shape(pack)}" for pack in _newest(known))
        said = f"no known protocol recognises this input ({begins}){like}"
        return UnknownProtocol(f"{self._where}: {said}. Known are {listed}. Name one with -p")


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
        trace is not None
        and trace.holds_message(value)
        and simply_fits(pack.meta["recognise"], pointer_value(value, trace.message))
    )


def _newest(protocols: Iterable[str]) -> list[Pack]:
    return [next(pack for pack in find_all() if pack.protocol == name) for name in protocols]


def _shape(pack: Pack) -> str:
    return str(pack.meta.get("looks_like", "see its schemas"))


def _like(value: JSON) -> str:
    """What it looks like, as far as that can be told."""
    name = foreign(value)
    if name:
        return f". It looks like {name}"
    method = jsontext.resolve(value, "/method")
    if isinstance(value, dict) and "jsonrpc" in value and isinstance(method, str):
        return f". It looks like JSON-RPC, and no protocol here has a method {shown(method)}"
    return ""
