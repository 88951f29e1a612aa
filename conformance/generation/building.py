"""A value of a schema, each decision drawn from `Choices`.

The builder does not judge: what it makes is nearly always valid, and who hands it out has it judged first.
A `Wish` asks for a value that has a certain member, in which a certain subschema applies, or in which one
keyword of it is broken.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from conformance.errors import CannotJudge
from conformance.events import JSON
from conformance.generation.choosing import Choices
from conformance.generation.drawing import Drawing, Spot
from conformance.generation.joints import Joints
from conformance.generation.quests import Quest, Wish, distances
from conformance.generation.schemata import Schemata
from conformance.generation.shapes import Impossible
from conformance.schemas import Schemas

__all__ = ["Builder", "Built", "NothingFits", "Wish"]

_ATTEMPTS = 3


class NothingFits(CannotJudge):
    """No value fits a schema, or none that the kit finds."""


class Built(NamedTuple):
    """A value, and the pointer of the part that the wish was about."""

    value: JSON
    pointer: str


class Builder:
    """Makes values of the definition at `location`, or of a schema of our own over the same documents."""

    def __init__(self, schemas: Schemas, location: str = "", schema: Any = None) -> None:
        self._schemata = Schemata(schemas)
        self.root = self._schemata.at(location) if location else self._schemata.with_root(schema)
        self._joints = Joints()
        self._distances: dict[str, dict[int, int]] = {}

    def build(self, choices: Choices, wish: Wish | None = None) -> JSON:
        """A value that fits; NothingFits where there is none, or none with the wish."""
        return self.reach(choices, wish or Wish()).value

    def reach(self, choices: Choices, wish: Wish) -> Built:
        """The same, with the place of what was wished for."""
        for attempt in range(_ATTEMPTS):
            quest = self._quest(wish)
            try:
                drawing = Drawing(self._joints, choices.again(attempt) if attempt else choices)
                value = drawing.value(self._joints.of([self.root]), Spot("", 0, quest))
            except Impossible:
                continue
            if quest is None:
                return Built(value, "")
            if quest.found is not None:
                return Built(value, quest.found)
        raise NothingFits(_unfulfilled(wish))

    def _quest(self, wish: Wish) -> Quest | None:
        if not wish.location:
            return Quest(wish, None, {}) if wish.pointer else None
        target = self._schemata.at(wish.location)
        if wish.location not in self._distances:
            self._distances[wish.location] = distances(self.root, target)
        return Quest(wish, target, self._distances[wish.location])


def _unfulfilled(wish: Wish) -> str:
    if wish.pointer:
        return f"no value that the kit can make has {wish.pointer}"
    if wish.location:
        return f"no value that the kit can make meets {wish.location}"
    return "no value fits the schema, or none that the kit finds"
