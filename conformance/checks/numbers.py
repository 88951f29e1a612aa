"""Integer bounds, judged on the exact value of the number token."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from conformance import jsontext
from conformance.checks import Observation, failed, passed
from conformance.checks.screens import leads_through_items, within
from conformance.correlation import ByKind, Message
from conformance.findings import Finding, Requirement
from conformance.integers import I53, U53, bounds_fault
from conformance.packs import Pack
from conformance.schemas import Schema
from conformance.wording import shown, type_name

BOUNDS: Final = {"u53": U53, "i53": I53}

_NO_NUMBERS: Final = ("array", "boolean", "null", "object", "string")


class IntegerBounds:
    """Parameters: `u53` and `i53`, lists of schema locations whose values have these bounds.

    Only numbers are judged; with `"only": "type"`, it is judged instead that the values are numbers.
    `free` lists parts of messages (`on`, `at`) that no schema describes: there every number that is
    written as an integer has the bounds of `i53`.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._schemas = pack.schemas()
        self._bounds = {place: BOUNDS[name] for name in BOUNDS for place in spec.get(name, ())}
        self._wanted = frozenset(self._bounds)
        self._type_only = spec.get("only") == "type"
        self._free = spec.get("free", ())
        self._heard = ByKind(lambda message: any(message.is_a(row["on"]) for row in self._free))
        self._schema_says_it = all(self._is_said_at(place) for place in self._bounds)
        self._free_kinds = frozenset(name for row in self._free for name in row["on"])

    @property
    def hears(self) -> frozenset[str]:
        """Where the schema has the bounds itself, it has spoken of all but the free parts."""
        return self._free_kinds if self._schema_says_it else frozenset("*")

    def _is_said_at(self, place: str) -> bool:
        """Whether the definition at the place has the bounds itself."""
        name, _, fragment = place.partition("#")
        node = jsontext.resolve(self._schemas.documents.get(name), fragment)
        said = node if isinstance(node, dict) and node.get("type") == "integer" else {}
        low, high = self._bounds[place]
        return bool(said.get("minimum", low - 1) >= low and said.get("maximum", high + 1) <= high)

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per number out of bounds, else one for the message if it holds such numbers."""
        message = seen.message
        if message is None or message.kind is None:
            return ()
        if not seen.praise and seen.plain and self._schema_says_it:
            return [*self._broken_in_free_parts(message)] if self._heard.of(message) else ()
        at = message.kind.at
        found = [*self._schemas.places(message.kind.schema, message.at(at), self._wanted)]
        if not self._type_only:
            found = [row for row in found if type_name(row[2]) == "number"]
        broken = [*self._broken(message, at, found), *self._broken_in_free_parts(message)]
        return broken or [passed(self._requirement, message)] * bool(found)

    def screen(self, message: Message) -> Schema | None:
        """That the numbers have their bounds, of a message that has no free parts."""
        kind = message.kind
        if kind is None or leads_through_items(kind.at) or message.is_a(self._free_kinds):
            return None
        bounds = {place: self._bound(place) for place in self._wanted}
        found = self._schemas.overlay(kind.schema, bounds)
        return None if found is None else within(kind.at, found)

    def _bound(self, place: str) -> Schema:
        if self._type_only:
            return {"type": "number"}
        low, high = self._bounds[place]
        return {"type": ["integer", *_NO_NUMBERS], "minimum": low, "maximum": high}

    def _broken(self, message: Message, at: str, found: list[tuple[str, str, Any]]) -> Iterable[Finding]:
        for place, pointer, value in found:
            fault = self._fault(place, value)
            if fault:
                said = f"the {type_name(value)} {shown(value)} {fault}"
                bounds = ("integer",) if self._type_only else self._bounds[place]
                yield failed(self._requirement, message, said, at + pointer, expected=bounds, actual=value)

    def _broken_in_free_parts(self, message: Message) -> Iterable[Finding]:
        for row in self._free:
            if not message.is_a(row["on"]):
                continue
            for where, value in jsontext.leaves(message.at(row["at"])):
                fault = bounds_fault(value, *I53) if type(value) is int else None
                if fault:
                    said = f"the number {shown(value)} {fault}"
                    pointer = row["at"] + where
                    yield failed(self._requirement, message, said, pointer, expected=I53, actual=value)

    def _fault(self, place: str, value: Any) -> str | None:
        if self._type_only:
            return None if type_name(value) == "number" else "is not a number"
        return bounds_fault(value, *self._bounds[place])

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each message is judged when it is seen."""
        return ()
