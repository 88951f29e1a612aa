"""Schemas that hold together, and the shapes that a value of them all can have: found once, and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from conformance.generation.choosing import Choices, Seeded
from conformance.generation.flattening import Flattening
from conformance.generation.opposites import Way
from conformance.generation.schemata import Site
from conformance.generation.shapes import Impossible, Shape

SHAPES = 20
"""At most so many shapes are looked for."""

_TRIES = 40
_VERY_HIGH = 1 << 20

Prefer = Callable[[Way], int]
"""How far a way is from what is wished for."""


class Joint:
    """Sites that hold together. Equal only to itself."""

    __slots__ = ("_found", "_height", "_home", "_hopeless", "sites")

    def __init__(self, sites: tuple[Site, ...], home: Joints) -> None:
        self.sites = sites
        self._home = home
        self._found: list[Shape] | None = None
        self._hopeless: bool | None = None
        self._height: int | None = None

    @property
    def shapes(self) -> list[Shape]:
        """Ways in which the sites hold at once, the simplest first; none where they cannot."""
        if self._found is None:
            self._found = list(_shapes(self.sites, self._home.flattening, None, self._home.most))
        return self._found

    @property
    def hopeless(self) -> bool:
        """Whether it is seen at once that no value fits."""
        if self._hopeless is None:
            self._hopeless = False  # as long as it is looked into, which may lead here again
            try:
                self._home.flattening.probe(self.sites)
            except Impossible:
                self._hopeless = True
        return self._hopeless

    @property
    def height(self) -> int:
        """How deep the flattest value nests, about; very deep where it would have to hold itself."""
        if self._height is None:
            self._height = _VERY_HIGH
            self._height = min(map(self._home.height, self.shapes), default=_VERY_HIGH)
        return self._height

    def towards(self, prefer: Prefer, breaking: tuple[int, str] | None) -> list[Shape]:
        """A few shapes that come nearest to what is wished for."""
        flattening = Flattening(self._home.is_hopeless, breaking) if breaking else self._home.flattening
        return list(_shapes(self.sites, flattening, prefer, 3))


class Joints:
    """The joints of one schema, each made once; at most so many `shapes` of each are looked for."""

    def __init__(self, shapes: int = SHAPES) -> None:
        self.most = shapes
        self.flattening = Flattening(self.is_hopeless)
        self._known: dict[int | frozenset[int], Joint] = {}

    def of(self, sites: Iterable[Site]) -> Joint:
        """The joint of these sites."""
        sites = tuple(sites)
        key = id(sites[0]) if len(sites) == 1 else frozenset(map(id, sites))
        if key not in self._known:
            self._known[key] = Joint(sites, self)
        return self._known[key]

    def is_hopeless(self, sites: Iterable[Site]) -> bool:
        """Whether it is seen at once that no value fits all the sites."""
        return self.of(sites).hopeless

    def member(self, shape: Shape, name: str) -> Joint:
        """What a member of an object has to fit."""
        if name not in shape.parts:
            shape.parts[name] = self.of(shape.member(name))
        found: Joint = shape.parts[name]
        return found

    def height(self, shape: Shape) -> int:
        """How deep the flattest value of a shape nests, about."""
        if shape.allowed is not None or shape.types - {"object", "array"}:
            return 0
        if "array" in shape.types and not shape.count[0] and not shape.contains:
            return 1
        inside = [self.member(shape, name) for name in shape.required] if "object" in shape.types else []
        inside += [self.of(shape.item(0))] if "object" not in shape.types else []
        return 1 + max((one.height for one in inside), default=0)


def _shapes(
    sites: tuple[Site, ...], flattening: Flattening, prefer: Prefer | None, most: int
) -> Iterator[Shape]:
    known: set[tuple[int, ...]] = set()
    idle = 0
    for seed in range(most):
        path = _Path(Seeded(seed) if seed else None, prefer)
        shape = _first(sites, flattening, path, _TRIES if seed else 4 * _TRIES)
        if shape is not None and path.taken not in known:
            known.add(path.taken)
            idle = 0
            yield shape
        else:
            idle += 1
        if path.is_plain or idle > 3:
            return


def _first(sites: tuple[Site, ...], flattening: Flattening, path: _Path, tries: int) -> Shape | None:
    """The first shape along a path; None where so many tries lead to none."""
    for _ in range(tries):
        try:
            return flattening.shape(sites, path.pick)
        except Impossible:
            if not path.next():
                return None
    return None


class _Path:
    """The picks of one search, from the simplest to others; a seeded generator says where each begins."""

    def __init__(self, choices: Choices | None, prefer: Prefer | None) -> None:
        self._choices, self._prefer = choices, prefer
        self._picks: list[list[int]] = []  # how far it is turned, of how many, and where it began
        self._place = 0

    @property
    def is_plain(self) -> bool:
        """Whether there was nothing to pick."""
        return not self._picks

    @property
    def taken(self) -> tuple[int, ...]:
        """What was picked."""
        return tuple((turn + first) % count for turn, count, first in self._picks[: self._place])

    def pick(self, live: list[Way]) -> int:
        """The number of the way to take now."""
        if self._place == len(self._picks):
            self._picks.append([0, len(live), self._first(live)])
        turn, count, first = self._picks[self._place]
        self._place += 1
        return (turn + first) % count % len(live)

    def _first(self, live: list[Way]) -> int:
        if self._prefer is not None:
            distances = [self._prefer(way) for way in live]
            if min(distances) < 1 << 30:
                return distances.index(min(distances))
        return self._choices.index(len(live)) if self._choices else 0

    def next(self) -> bool:
        """Go on to the next picks; False where all have been tried."""
        del self._picks[self._place :]
        while self._picks and self._picks[-1][0] + 1 >= self._picks[-1][1]:
            self._picks.pop()
        self._place = 0
        if self._picks:
            self._picks[-1][0] += 1
        return bool(self._picks)
