"""The ways in which several schemas can hold at once: their shapes.

Whatever holds unconditionally is taken in first; then the choice with the fewest ways left is made, until
there is none. A way that cannot go together with what is there is never tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any

from conformance.checks import same
from conformance.generation.absorbing import Choice, take
from conformance.generation.opposites import Way
from conformance.generation.schemata import Site
from conformance.generation.shapes import Impossible, Path, Shape, fits, number_fits
from conformance.wording import type_name

Pick = Callable[[list[Way]], int]
Tries = Callable[[Iterable[Site]], bool]


class Flattening:
    """Makes shapes of sites; `choose` says which of several ways to take."""

    def __init__(self, is_hopeless: Tries, breaking: tuple[int, str] | None = None) -> None:
        self._is_hopeless = is_hopeless
        self._breaking = breaking

    def shape(self, sites: Iterable[Site], pick: Pick) -> Shape:
        """A shape of the sites; Impossible where there is none after these picks."""
        shape = Shape()
        pending: list[Choice] = []
        seen: set[tuple[int, bool]] = set()
        first: list[tuple[Site, Path]] = [(site, (number,)) for number, site in enumerate(sites)]
        self._absorb(shape, first[::-1], pending, seen)
        self.settle(shape)
        while pending:
            choice, live = self._next(shape, pending)
            if live is None:
                continue
            way = live[pick(live) if len(live) > 1 else 0]
            path = choice.path if choice.annotates else (-1, *choice.path)
            number = choice.ways.index(way)
            inside = [(site, (*path, number, place)) for place, site in enumerate(way)]
            self._absorb(shape, inside, pending, seen)
            self.settle(shape)
        return shape

    def _next(self, shape: Shape, pending: list[Choice]) -> tuple[Choice, list[Way] | None]:
        """The choice to make now, taken from `pending`, and its ways that are left."""
        best: tuple[int, list[Way]] | None = None
        for number, choice in enumerate(pending):
            if choice.refuted is not None and not self._goes(shape, (choice.refuted,)):
                return pending.pop(number), None
            live = [way for way in choice.ways if self._goes(shape, way)]
            if not live:
                raise Impossible
            if best is None or len(live) < len(best[1]):
                best = number, live
            if len(live) == 1:
                break
        assert best is not None
        return pending.pop(best[0]), best[1]

    def _goes(self, shape: Shape, way: Way) -> bool:
        """Whether a way may go together with a shape, as far as that is seen at once."""
        trial = copy(shape)
        try:
            self._absorb(trial, [(site, (-2,)) for site in way], [], set())
            self.settle(trial, shape)
        except Impossible:
            return False
        return True

    def probe(self, sites: Iterable[Site]) -> Shape:
        """What holds of the sites whatever is chosen; Impossible where that is nothing, or where of one
        choice no way is left."""
        shape = Shape()
        pending: list[Choice] = []
        self._absorb(shape, [(site, (-2,)) for site in sites], pending, set())
        self.settle(shape)
        for choice in pending:
            if choice.refuted is None or self._goes(shape, (choice.refuted,)):
                live = (way for way in choice.ways if self._goes(shape, way))
                if next(live, None) is None:
                    raise Impossible
        return shape

    def _absorb(
        self, shape: Shape, todo: list[tuple[Site, Path]], pending: list[Choice], seen: set[tuple[int, bool]]
    ) -> None:
        while todo:
            site, path = todo.pop()
            key = id(site), path[:1] == (-1,)
            if key in seen:
                continue
            seen.add(key)
            take(shape, site, path, todo, pending, self._breaking)

    def settle(self, shape: Shape, before: Shape | None = None) -> None:
        """Leave out the types that cannot be; Impossible where none is left. What was settled `before` more
        was taken in needs no second look."""
        for sort in shape.types:
            if _IMPOSSIBLE[sort](shape, self._is_hopeless, before):
                shape.types -= {sort}
        if shape.allowed is not None:
            shape.allowed = [value for value in shape.allowed if fits(shape, value)]
            if not shape.allowed:
                raise Impossible
            shape.types &= {type_name(value) for value in shape.allowed}
        if not shape.types:
            raise Impossible


def _no_object(shape: Shape, is_hopeless: Tries, before: Shape | None) -> bool:
    least, most = shape.size
    if least > most or len(shape.required) > most:
        return True
    return any(is_hopeless(shape.member(name)) for name in _touched(shape, before))


def _touched(shape: Shape, before: Shape | None) -> Iterable[str]:
    """The required members of which more is said than before."""
    if before is None or len(shape.other_members) > len(before.other_members):
        return shape.required
    new = shape.members[len(before.members) :]
    if not new and len(shape.required) == len(before.required):
        return ()
    return [
        name for name in shape.required if name not in before.required or any(one.of(name) for one in new)
    ]


def _no_array(shape: Shape, is_hopeless: Tries, _: Shape | None) -> bool:
    least, most = shape.count
    needed = [place + 1 for place, _, _ in shape.some_items] + [one.least for one in shape.contains]
    least = max([least, 2 * shape.repeats, *needed])
    crowded = any(one.most is not None and one.least > one.most for one in shape.contains)
    if least > most or crowded or (shape.unique and shape.repeats):
        return True
    return any(is_hopeless(shape.item(index)) for index in range(min(least, 8)))


def _no_number(shape: Shape, _: Tries, __: Shape | None) -> bool:
    if shape.integral and any((1 / one).denominator == 1 for one in shape.not_multiples):
        return True
    if shape.low is None or shape.high is None:
        return False
    if shape.low[0] == shape.high[0]:
        return shape.low[1] or shape.high[1] or not number_fits(shape, shape.low[0])
    return shape.low[0] > shape.high[0]


def _no_string(shape: Shape, _: Tries, __: Shape | None) -> bool:
    clash = {*shape.patterns} & {*shape.not_patterns} or {*shape.formats} & {*shape.not_formats}
    return shape.length[0] > shape.length[1] or bool(clash)


Verdict = Callable[[Shape, Tries, "Shape | None"], bool]


def _all_banned(values: tuple[Any, ...]) -> Verdict:
    return lambda shape, _, __: (
        bool(shape.banned) and all(any(same(one, two) for two in shape.banned) for one in values)
    )


_IMPOSSIBLE: dict[str, Verdict] = {
    "null": _all_banned((None,)),
    "boolean": _all_banned((True, False)),
    "number": _no_number,
    "string": _no_string,
    "array": _no_array,
    "object": _no_object,
}
