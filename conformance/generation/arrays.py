"""Arrays of a shape: as many items as it needs or a few more, each where it fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from conformance.checks import same
from conformance.events import JSON
from conformance.generation.joints import Joint
from conformance.generation.quests import FAR
from conformance.generation.schemata import Site
from conformance.generation.shapes import LONGEST, Impossible, Path, Shape

if TYPE_CHECKING:
    from conformance.generation.drawing import Drawing, Spot

_TRIES = 12
_FAR_OUT = 40


class _Placed(NamedTuple):
    """What one item has to fit beyond the schemas of its place: sites, and the paths of those `contains`."""

    sites: tuple[Site, ...] = ()
    paths: tuple[Path, ...] = ()


def drawn(drawing: Drawing, shape: Shape, spot: Spot) -> list[JSON]:
    """An array of the shape; Impossible where none is found."""
    return _Array(drawing, shape, spot).drawn()


class _Array:
    """One array being drawn."""

    def __init__(self, drawing: Drawing, shape: Shape, spot: Spot) -> None:
        self._drawing, self._shape, self._spot = drawing, shape, spot
        self._placed: dict[int, _Placed] = {}
        self._wanted = self._wanted_index() if spot.is_seeking else None

    def drawn(self) -> list[JSON]:
        shape = self._shape
        self._place()
        least = max([shape.count[0], 2 * shape.repeats, *(index + 1 for index in self._placed)])
        if least > min(shape.count[1], LONGEST):
            raise Impossible
        most = min(shape.count[1], least + self._drawing.more(self._spot.depth))
        length = self._drawing.choices.integer(least, most) if most > least else least
        values: list[JSON] = []
        for index in range(length):
            try:
                values.append(values[0] if shape.repeats and index == 1 else self._item(index, values))
            except Impossible:
                if index < least:
                    raise
                break
        return values

    def _item(self, index: int, values: list[JSON]) -> JSON:
        joint, drawing = self._joint(index), self._drawing
        if joint.hopeless:
            raise Impossible
        before = drawing.choices
        for attempt in range(_TRIES if self._shape.unique else 1):
            drawing.choices = before.again(attempt) if attempt else before
            try:
                value = drawing.value(joint, self._spot.inside(index, index == self._wanted))
            finally:
                drawing.choices = before
            if not self._shape.unique or not any(same(value, one) for one in values):
                return value
        raise Impossible

    def _joint(self, index: int) -> Joint:
        """All that the item at an index has to fit."""
        shape, placed = self._shape, self._placed.get(index, _Placed())
        sites = [*shape.item(index), *placed.sites]
        sites += [
            one.site.opposite
            for one in shape.contains
            if one.most is not None and one.site not in placed.sites
        ]
        return self._drawing.joints.of([*sites, *shape.others(index, placed.paths)])

    def _place(self) -> None:
        """Say which items are those that have to be there."""
        if self._wanted is not None:
            self._placed[self._wanted] = _Placed()
        for first, exactly, site in self._shape.some_items:
            self._put(self._free(site, first, 1 if exactly else _FAR_OUT), site, ())
        for one in self._shape.contains:
            for _ in range(one.least):
                self._put(self._free(one.site, 0, _FAR_OUT), one.site, (one.path,))

    def _put(self, index: int, site: Site, paths: tuple[Path, ...]) -> None:
        known = self._placed.get(index, _Placed())
        self._placed[index] = _Placed((*known.sites, site), known.paths + paths)

    def _free(self, site: Site, first: int, count: int) -> int:
        """An index of an item that can also fit the site."""
        for index in range(first, min(first + count, self._shape.count[1])):
            known = self._placed.get(index, _Placed()).sites
            if site not in known and not self._drawing.joints.is_hopeless(
                [*self._shape.item(index), *known, site]
            ):
                return index
        raise Impossible

    def _wanted_index(self) -> int | None:
        """The item in which the wish goes on, if it does."""
        quest = self._spot.quest
        assert quest is not None
        if quest.target is None:
            return _index(quest.steps[self._spot.depth]) if self._spot.depth < len(quest.steps) else None
        shape = self._shape
        places = range(max([len(one.first) for one in shape.items], default=0) + 1)
        far = {place: quest.distance(shape.item(place) + shape.others(place)) for place in places}
        best = min(far, key=lambda place: far[place])
        if far[best] < FAR:
            return best
        return 0 if quest.distance(one.site for one in shape.contains) < FAR else None


def _index(step: str) -> int:
    if not step.isdecimal():
        raise Impossible
    return int(step)
