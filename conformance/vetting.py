"""Mistakes in a step that no schema of the format can see: kinds, requirements, names, connections.

A mistake is a place within the step, as a JSON Pointer, and a sentence for a person. What a step
makes known (a saved value, another connection) is known to those after it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from conformance import jsontext
from conformance.bindings import COUNTERS, FACTS, NAME, PROVIDED
from conformance.events import JSON
from conformance.packs import Pack
from conformance.places import walk

Mistake: TypeAlias = tuple[str, str]

REPEATED = 10_000_000
"""A text is repeated so often at most."""

_WHOLE = ("$is", "$merge", "$repeat")
"""Members that mean something only where they stand alone."""


class Vetting:
    """What one scenario's steps make known, in order, and the mistakes in them. The kit plays `role`."""

    def __init__(self, pack: Pack, role: str) -> None:
        self._pack = pack
        self._peer = pack.peer_of(role)
        self._kinds = {kind.name: kind for kind in pack.kinds}
        self._rpc = pack.meta.get("envelope") == "json-rpc"
        self._names = {*PROVIDED, *pack.meta.get("fresh", ())}
        self._connections = {"main"}

    def mistakes(self, verb: str, row: Mapping[str, Any]) -> Iterator[Mistake]:
        """The mistakes of the next step."""
        for member in ("proves", "breaks"):
            yield from requirements(row.get(member, ()), f"/{member}", self._pack)
        yield from self._kind(verb, row)
        yield from self._places(verb, row)
        yield from self._content(verb, row)
        if verb == "set":
            for name, value in row["set"].items():
                here = f"/set{jsontext.pointer([name])}"
                yield from self._unknown(value, here)
                yield from self._named(name, here)
        else:
            yield from self._unknown(dict(row), "")
        for name in row.get("save", ()):
            yield from self._named(name, f"/save{jsontext.pointer([name])}")

    def _kind(self, verb: str, row: Mapping[str, Any]) -> Iterator[Mistake]:
        if verb in ("send", "request"):
            yield from self._sent(verb, row[verb])
        elif verb == "reply":
            yield from self._answered(row[verb])
        elif verb in ("expect", "never"):
            yield from self._awaited(verb, row[verb], f"/{verb}")
        for member in ("instead", "until"):
            for name in row.get(member, ()):
                yield from self._awaited("expect", name, f"/{member}" + jsontext.pointer([name]))

    def _sent(self, verb: str, name: str) -> Iterator[Mistake]:
        kind = self._kinds.get(name)
        part = kind.when.get("part") if kind is not None else None
        if kind is None:
            yield f"/{verb}", self._no_kind(name)
        elif verb == "request" and part != "request":
            yield f"/{verb}", f"{name} is no request, so nothing answers it; use send and expect"
        elif self._rpc and part not in ("request", "notification"):
            yield f"/{verb}", f"{name} answers a request, so it cannot be sent by itself; use raw"

    def _answered(self, name: str) -> Iterator[Mistake]:
        known = self._kinds.get(name)
        yield from self._awaited("expect", name, "/reply")
        if known is not None and known.when.get("part") != "request":
            yield "/reply", f"{name} is no request, so it has no answer; use expect"

    def _awaited(self, verb: str, name: str, where: str) -> Iterator[Mistake]:
        known = self._kinds.get(name)
        if name == "*" or (known is None and self._is_error(name)):
            return
        if known is None:
            yield where, self._no_kind(name)
        elif verb == "expect" and self._peer not in known.senders:
            yield where, f"{name} is sent by the {' or the '.join(known.senders)}, not by the {self._peer}"

    def _is_error(self, name: str) -> bool:
        # An error response is named for the method of its request.
        method, dot, part = name.rpartition(".")
        whens = (kind.when for kind in self._pack.kinds)
        return f"{dot}{part}" == ".error" and any(
            when.get("method") == method and when.get("part") == "request" for when in whens
        )

    def _no_kind(self, name: str) -> str:
        return f"{self._pack.name} has no kind {name!r}; it has {', '.join(self._kinds)}"

    def _places(self, verb: str, row: Mapping[str, Any]) -> Iterator[Mistake]:
        if verb == "connect":
            self._connections.add(row[verb])
        for member in ("over", "close", "drop", "ends"):
            if member in row and row[member] not in self._connections:
                there_is = ", ".join(sorted(self._connections))
                yield f"/{member}", f"there is no connection {row[member]!r} here; there is {there_is}"

    def _content(self, verb: str, row: Mapping[str, Any]) -> Iterator[Mistake]:
        wrong, right = ("payload", "params") if self._rpc else ("params", "message")
        if wrong in row:
            yield f"/{wrong}", f"messages of {self._pack.name} have no {wrong}; use {right}"
        if verb == "raw" and isinstance(row["raw"], dict):
            try:
                base64.b64decode(row["raw"]["base64"], validate=True)
            except ValueError as error:
                yield "/raw/base64", f"this is no base64: {error}"
        for where, node in walk(dict(row)):
            for name in _WHOLE:
                if name in node and len(node) > 1:
                    yield where + jsontext.pointer([name]), f"{name} stands alone in its object"
            if isinstance(node.get("$merge", []), list) is False:
                yield where + "/$merge", "$merge is a list of objects, each laid upon those before it"
            if "$repeat" in node and not _is_repeat(node["$repeat"]):
                yield (
                    where + "/$repeat",
                    f"$repeat is a list of a text and how often, at most {REPEATED:,} times",
                )

    def _unknown(self, value: JSON, where: str) -> Iterator[Mistake]:
        for place, text in _strings(value, where):
            for name in NAME.findall(text):
                if name not in self._names and not name.startswith((FACTS, *COUNTERS)):
                    yield place, f"nothing before this says what ${{{name}}} is"

    def _named(self, name: str, where: str) -> Iterator[Mistake]:
        if name in PROVIDED or name.startswith((FACTS, *COUNTERS)):
            yield where, f"the name {name!r} is the kit's own"
        self._names.add(name)


def shape(node: JSON, verbs: tuple[str, ...], where: str = "") -> Iterator[Mistake]:
    """Steps that do nothing or two things, said more plainly than the schema of the format could."""
    rows = node.get("steps") if isinstance(node, dict) else None
    for index, row in enumerate(rows if isinstance(rows, list) else ()):
        here, found = (
            f"{where}/steps/{index}",
            [verb for verb in verbs if isinstance(row, dict) and verb in row],
        )
        if len(found) != 1:
            told = f"this has {' and '.join(found)}" if found else "this has none of them"
            yield here, f"a step does one of {', '.join(verbs)}; {told}"
        for one, other in _APART:
            if isinstance(row, dict) and one in row and other in row:
                yield f"{here}/{other}", f"a step has {one} or {other}, not both"
        if found == ["repeat"]:
            yield from shape(row["repeat"], verbs, f"{here}/repeat")


_APART = (("result", "error"), ("within", "deadline"))


def requirements(named: str | Iterable[str], where: str, pack: Pack) -> Iterator[Mistake]:
    """Mistakes in a requirement's id, or in several."""
    alone = isinstance(named, str)
    for index, wanted in enumerate([named] if isinstance(named, str) else named):
        if wanted not in pack.requirements:
            yield where if alone else f"{where}/{index}", f"{pack.name} has no requirement {wanted!r}"


def _strings(node: JSON, where: str = "") -> Iterator[tuple[str, str]]:
    """Every string of a value with its JSON Pointer, except the names of members."""
    if isinstance(node, str):
        yield where, node
    members = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in members:
        yield from _strings(value, where + jsontext.pointer([key]))


def _is_repeat(node: JSON) -> bool:
    """Whether it is a text and how often it is to be said."""
    if not (isinstance(node, list) and [type(one) for one in node] == [str, int]):
        return False
    return bool(0 <= node[1] <= REPEATED)
