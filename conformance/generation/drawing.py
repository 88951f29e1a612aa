"""One value being drawn: which of its shapes, which type, and what is in it."""

from __future__ import annotations

from copy import deepcopy
from typing import NamedTuple

from conformance import jsontext
from conformance.checks import same
from conformance.events import JSON
from conformance.generation import arrays, numbers, objects, texts
from conformance.generation.choosing import Choices
from conformance.generation.joints import Joint, Joints
from conformance.generation.quests import Quest
from conformance.generation.shapes import Impossible, Shape

DEEP = 6
"""From this depth on values are as flat as they can be."""

_VERY_DEEP = 60
_FUEL = 4000
_GENEROUS, _SPARING = 30, 90
"""How many values there are until less and less is added of what need not be there."""
_SORTS = ("null", "boolean", "number", "string", "array", "object")


class Spot(NamedTuple):
    """Where a value is to stand, how deep that is, and what is wished for there."""

    where: str
    depth: int
    quest: Quest | None

    def inside(self, step: str | int, is_wanted: bool) -> Spot:
        """The spot of a member or item."""
        return Spot(self.where + jsontext.pointer([step]), self.depth + 1, self.quest if is_wanted else None)

    @property
    def name(self) -> str:
        """The name of the member, or the index of the item."""
        return self.where.rpartition("/")[2]

    @property
    def is_seeking(self) -> bool:
        """Whether something is wished for that is not there yet."""
        return self.quest is not None and not self.quest.is_over


class Drawing:
    """Draws the parts of one value; what it costs is bounded, whatever the schema."""

    def __init__(self, joints: Joints, choices: Choices) -> None:
        self.joints, self.choices = joints, choices
        self._fuel = _FUEL

    def value(self, joint: Joint, spot: Spot) -> JSON:
        """A value that fits the joint; Impossible where none is found."""
        self._fuel -= 1
        if self._fuel < 0 or spot.depth > _VERY_DEEP:
            raise Impossible
        for shape in self._order(joint, spot):
            if spot.quest is not None and spot.quest.meets(shape):
                spot.quest.found = spot.where
            try:
                return self._of_shape(shape, spot)
            except Impossible:
                if self._fuel < 0:
                    break
        raise Impossible

    def often(self, depth: int) -> int:
        """Of a hundred members that need not be there, how many are; fewer in what is deep or large."""
        made = _FUEL - self._fuel
        if depth < 4 and made < _GENEROUS:
            return 50
        return 15 if made < _SPARING else 3

    def more(self, depth: int) -> int:
        """How many more items an array may have than it needs."""
        made = _FUEL - self._fuel
        return 0 if depth > 3 or made > _SPARING else 3 if made < _GENEROUS else 1

    def _order(self, joint: Joint, spot: Spot) -> list[Shape]:
        if spot.quest is not None and spot.quest.target is not None:
            return spot.quest.shapes(joint)
        shapes = joint.shapes
        if len(shapes) < 2:
            return shapes
        if spot.depth > DEEP:
            return sorted(shapes, key=self.joints.height)
        first = self.choices.index(len(shapes))
        return shapes[first:] + shapes[:first]

    def _of_shape(self, shape: Shape, spot: Spot) -> JSON:
        if shape.allowed is not None:
            one = shape.allowed[self.choices.index(len(shape.allowed)) if len(shape.allowed) > 1 else 0]
            return deepcopy(one) if isinstance(one, (dict, list)) else one
        for sort in self._sorts(shape, spot):
            for attempt in range(4 if shape.banned else 1):
                try:
                    value = self._of_sort(sort, shape, spot, attempt)
                except Impossible:
                    break
                if spot.quest is not None and spot.quest.found is None:
                    break  # it does not hold what was wished for
                if not any(same(value, one) for one in shape.banned):
                    return value
        raise Impossible

    def _sorts(self, shape: Shape, spot: Spot) -> list[str]:
        """The types to try, in this order: those that the schema speaks of first."""
        if len(shape.types) == 1:
            return list(shape.types)
        known = [sort for sort in _SORTS if sort in shape.types]
        if spot.is_seeking:
            return sorted(known, key=lambda sort: sort not in ("object", "array"))
        if spot.depth > DEEP:
            return known
        spoken = [sort for sort in known if sort in shape.mentioned]
        first = self.choices.index(len(spoken or known))
        if not spoken:
            return known[first:] + known[:first]
        return spoken[first:] + spoken[:first] + [sort for sort in known if sort not in spoken]

    def _of_sort(self, sort: str, shape: Shape, spot: Spot, attempt: int) -> JSON:
        if sort == "object":
            return objects.drawn(self, shape, spot)
        if sort == "array":
            return arrays.drawn(self, shape, spot)
        if sort == "null":
            return None
        choices = self.choices.again(attempt) if attempt else self.choices
        if sort == "boolean":
            return bool(choices.index(2))
        return numbers.number(shape, choices) if sort == "number" else texts.text(shape, choices, spot.name)
