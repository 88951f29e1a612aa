"""Wishes, and how far a schema is from what is wished for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from conformance import jsontext
from conformance.generation.joints import Joint
from conformance.generation.schemata import Site, below
from conformance.generation.shapes import Shape

FAR = 1 << 30
"""The distance from where no step leads to the target."""


class Wish(NamedTuple):
    """What a value is to have: the member at `pointer`; or a part that the schema at `location` governs,
    which is to break its keyword `breaking`, if one is named."""

    pointer: str = ""
    location: str = ""
    breaking: str = ""


class Quest:
    """A wish while one value is made: `found` is the pointer at which it was fulfilled, if it was.

    `distances` are the steps from a schema, by its identity, to the `target`.
    """

    def __init__(self, wish: Wish, target: Site | None, distances: dict[int, int]) -> None:
        self.steps = jsontext.parts(wish.pointer) if wish.pointer else []
        self.target = target
        self.found: str | None = None if target else wish.pointer
        self._distances = distances
        self._breaking = (id(target.schema), wish.breaking) if target and wish.breaking else None
        self._shapes: dict[Joint, list[Shape]] = {}

    @property
    def is_over(self) -> bool:
        """Whether a target was wished for and is met."""
        return self.target is not None and self.found is not None

    def distance(self, sites: Iterable[Site]) -> int:
        """How many steps lead from one of the sites to the target; FAR if none does."""
        return min((self._distances.get(id(site.schema), FAR) for site in sites), default=FAR)

    def meets(self, shape: Shape) -> bool:
        """Whether the target is among what a shape is made of."""
        return self.target is not None and id(self.target.schema) in shape.sources

    def shapes(self, joint: Joint) -> list[Shape]:
        """The shapes of a joint, the nearest to the target first."""
        if joint not in self._shapes:
            found = joint.towards(self.distance, self._breaking)
            self._shapes[joint] = sorted(found, key=self._far)
        return self._shapes[joint]

    def _far(self, shape: Shape) -> int:
        return 0 if self.meets(shape) else 1 + self.distance(_inside(shape))


def _inside(shape: Shape) -> Iterator[Site]:
    """The sites that may apply to a member, a name or an item."""
    for members in shape.members:
        yield from (*members.named.values(), *(site for _, site in members.patterned))
    rests = [one.rest for one in shape.members] + [one.rest for one in shape.items]
    yield from (site for site in rests if site is not None)
    yield from (site for one in shape.items for site in one.first)
    yield from (site for _, site in (*shape.other_members, *shape.other_items))
    yield from (one.site for one in shape.contains)
    yield from shape.names


def distances(root: Site, target: Site) -> dict[int, int]:
    """How many steps lead from each schema below the root to the target, by the schema's identity."""
    above: dict[int, list[Site]] = {}
    todo, seen = [root], {id(root)}
    while todo:
        site = todo.pop()
        for sub in below(site):
            above.setdefault(id(sub.schema), []).append(site)
            if id(sub) not in seen:
                seen.add(id(sub))
                todo.append(sub)
    found = {id(target.schema): 0}
    wave = [target]
    while wave:
        wave = [up for site in wave for up in above.get(id(site.schema), ()) if _nearer(found, site, up)]
    return found


def _nearer(found: dict[int, int], site: Site, up: Site) -> bool:
    if id(up.schema) in found:
        return False
    found[id(up.schema)] = found[id(site.schema)] + 1
    return True
