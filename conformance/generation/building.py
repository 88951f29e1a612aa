"""A value of a schema, each decision drawn from `Choices`.

The builder does not judge: what it makes is nearly always valid, and who hands it out has it judged first.
A `Wish` asks for a value that has a certain member, in which a certain subschema applies, or in which one
keyword of it is broken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy, deepcopy
from typing import Any, NamedTuple

from conformance import jsontext
from conformance.checks import same
from conformance.errors import CannotJudge
from conformance.events import JSON
from conformance.generation import numbers, texts
from conformance.generation.choosing import Choices, Seeded
from conformance.generation.opposites import Way
from conformance.generation.schemata import Schemata, Site, below
from conformance.generation.shapes import Contains as Containing
from conformance.generation.shapes import Flattening, Impossible, Shape, fits
from conformance.schemas import Schemas

SHAPES = 24
"""At most so many ways in which a schema can hold are kept; others are drawn anew."""
_TRIES = 40
_DEEP = 6
_FUEL = 4000


class NothingFits(CannotJudge):
    """No value fits a schema, or none that the kit finds."""


class Wish(NamedTuple):
    """What a value is to have: the member at `pointer`; or a part that the schema at `location` governs,
    which is to break its keyword `breaking`, if one is named."""

    pointer: str = ""
    location: str = ""
    breaking: str = ""


class Built(NamedTuple):
    """A value, and the pointer of the part that the wish was about."""

    value: JSON
    pointer: str


class _Quest:
    """A wish while it is being fulfilled: how far the wanted schema is from others, and the steps to go."""

    def __init__(self, wish: Wish, target: Site | None, distances: dict[int, int]) -> None:
        self.steps = jsontext.parts(wish.pointer) if wish.pointer else []
        self.target = target
        self.distances = distances
        self.breaking = (id(target.schema), wish.breaking) if target and wish.breaking else None
        self.key = (wish.location, wish.breaking)
        self.found: str | None = None if target else wish.pointer

    def distance(self, sites: Iterable[Site]) -> int:
        """How many steps lead from one of the sites to the target; very many if none does."""
        return min((self.distances.get(id(site.schema), 1 << 30) for site in sites), default=1 << 30)


class Builder:
    """Makes values of the definition at `location`, or of a schema of our own over the same documents.

    `shapes` says how many ways in which a schema can hold are kept.
    """

    def __init__(self, schemas: Schemas, location: str = "", schema: Any = None, shapes: int = SHAPES) -> None:
        self._kept = shapes
        self._schemata = Schemata(schemas)
        self.root = self._schemata.at(location) if location else self._schemata.with_root(schema)
        self._hopeless: dict[tuple[int, ...], bool] = {}
        self._flat = Flattening(self._is_hopeless)
        self._shapes: dict[Any, list[Shape]] = {}
        self._heights: dict[tuple[int, ...], int] = {}

    @property
    def schemata(self) -> Schemata:
        """The schemas that it makes values of, in their places."""
        return self._schemata

    def keeping(self, shapes: int) -> Builder:
        """The same over the same sites, with so many ways kept."""
        other = copy(self)
        other._kept, other._shapes, other._heights = shapes, {}, {}
        return other

    def build(self, choices: Choices, wish: Wish | None = None) -> JSON:
        """A value that fits; NothingFits where there is none, or none with the wish."""
        return self.reach(choices, wish or Wish()).value

    def reach(self, choices: Choices, wish: Wish) -> Built:
        """The same, with the place of what was wished for."""
        for attempt in range(3):
            quest = self._quest(wish)
            try:
                drawing = _Drawing(self, choices if attempt == 0 else choices.again(attempt), quest)
                value = drawing.value([self.root], 0, quest if wish != Wish() else None, "")
                if quest.found is not None:
                    return Built(value, quest.found)
            except Impossible:
                continue
        raise NothingFits(_unfulfilled(wish))

    def _quest(self, wish: Wish) -> _Quest:
        if not wish.location:
            return _Quest(wish, None, {})
        target = self._schemata.at(wish.location)
        return _Quest(wish, target, self._distances(target))

    def _distances(self, target: Site) -> dict[int, int]:
        """How many steps lead to the target, by the identity of the schema that one starts at."""
        above: dict[int, list[Site]] = {}
        todo, seen = [self.root], {id(self.root)}
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

    def shapes(self, sites: list[Site], quest: _Quest | None = None) -> list[Shape]:
        """Ways in which the sites hold at once, the simplest first; Impossible where there is none."""
        key = (*sorted({id(site) for site in sites}), quest.key if quest and quest.target else None)
        if key not in self._shapes:
            self._shapes[key] = list(self._enumerated(sites, quest))
        if not self._shapes[key]:
            raise Impossible
        return self._shapes[key]

    def _enumerated(self, sites: list[Site], quest: _Quest | None) -> Iterator[Shape]:
        flat = Flattening(self._is_hopeless, quest.breaking) if quest and quest.breaking else self._flat
        prefer = quest.distance if quest and quest.target else None
        known: set[tuple[int, ...]] = set()
        for seed in range(min(self._kept, SHAPES if prefer is None else 3)):
            path = _Path(None if seed == 0 else Seeded(seed), prefer)
            for _ in range(_TRIES * (4 if seed == 0 else 1)):
                try:
                    shape = flat.shape(sites, path.pick)
                except Impossible:
                    if path.next():
                        continue
                    break
                if path.taken not in known:
                    known.add(path.taken)
                    yield shape
                break
            if path.is_plain or (seed and not known):
                return

    def _is_hopeless(self, sites: Iterable[Site]) -> bool:
        """Whether it is seen at once that no value fits all the sites."""
        sites = list(sites)
        key = tuple(sorted({id(site) for site in sites}))
        if key not in self._hopeless:
            self._hopeless[key] = False  # as long as it is looked into, which may lead here again
            try:
                self._flat.probe(sites)
            except Impossible:
                self._hopeless[key] = True
        return self._hopeless[key]

    def is_hopeless(self, sites: Iterable[Site]) -> bool:
        """Whether it is seen at once that no value fits all the sites."""
        return self._is_hopeless(sites)

    def height(self, sites: list[Site]) -> int:
        """How deep the flattest value nests, about; very deep where it would have to hold itself."""
        key = tuple(sorted({id(site) for site in sites}))
        if key not in self._heights:
            self._heights[key] = 1 << 20
            try:
                self._heights[key] = min(self._height(shape) for shape in self.shapes(sites))
            except Impossible:
                pass
        return self._heights[key]

    def _height(self, shape: Shape) -> int:
        if shape.allowed is not None or shape.types - {"object", "array"}:
            return 0
        if "array" in shape.types and not shape.count[0] and not shape.contains:
            return 1
        inside = [shape.member(name) for name in shape.required] if "object" in shape.types else []
        inside += [shape.item(0)] if "object" not in shape.types else []
        return 1 + max(map(self.height, inside), default=0)


def _nearer(found: dict[int, int], site: Site, up: Site) -> bool:
    if id(up.schema) in found:
        return False
    found[id(up.schema)] = found[id(site.schema)] + 1
    return True


def _unfulfilled(wish: Wish) -> str:
    if wish.pointer:
        return f"no value that the kit can make has {wish.pointer}"
    return f"no value that the kit can make meets {wish.location}" if wish.location else "no value fits the schema"


class _Path:
    """The picks of one search, from the simplest to others; a seeded generator says where each begins."""

    def __init__(self, choices: Choices | None, prefer: Any) -> None:
        self._choices, self._prefer = choices, prefer
        self._picks: list[list[int]] = []  # so far, of how many, and where it began
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


class _Drawing:
    """One value being drawn."""

    def __init__(self, builder: Builder, choices: Choices, quest: _Quest) -> None:
        self._builder, self._choices = builder, choices
        self._fuel = _FUEL
        self._quest = quest

    def value(self, sites: list[Site], depth: int, quest: _Quest | None, where: str) -> JSON:
        """A value that fits all the sites."""
        self._fuel -= 1
        if self._fuel < 0 or depth > 60:
            raise Impossible
        shapes = self._builder.shapes(sites, quest)
        order = self._order(shapes, depth, quest)
        for number, shape in enumerate(order):
            if number and self._fuel < 0:
                break
            if quest is not None and quest.target is not None and id(quest.target.schema) in shape.sources:
                quest.found = where
            try:
                return self._of_shape(shape, depth, quest, where)
            except Impossible:
                continue
        raise Impossible

    def _order(self, shapes: list[Shape], depth: int, quest: _Quest | None) -> list[Shape]:
        if quest is not None and quest.target is not None:
            return sorted(shapes, key=lambda shape: _far(shape, quest))
        if depth > _DEEP and len(shapes) > 1:
            return sorted(shapes, key=self._builder._height)
        first = self._choices.index(len(shapes)) if len(shapes) > 1 else 0
        return shapes[first:] + shapes[:first]

    def _of_shape(self, shape: Shape, depth: int, quest: _Quest | None, where: str) -> JSON:
        if shape.allowed is not None:
            return self._choices_of(shape.allowed)
        for sort in self._sorts(shape, depth, quest):
            for attempt in range(4 if shape.banned else 1):
                try:
                    if sort == "object":
                        value: JSON = self._object(shape, depth, quest, where)
                    elif sort == "array":
                        value = self._array(shape, depth, quest, where)
                    else:
                        value = self._scalar(sort, shape, attempt, where)
                except Impossible:
                    break
                if quest is not None and quest.found is None:
                    break  # it does not hold what was wished for
                if not any(same(value, one) for one in shape.banned):
                    return value
        raise Impossible

    def _choices_of(self, values: list[JSON]) -> JSON:
        return deepcopy(values[self._choices.index(len(values))] if len(values) > 1 else values[0])

    def _sorts(self, shape: Shape, depth: int, quest: _Quest | None) -> list[str]:
        """The types to try, in this order: those that the schema speaks of first."""
        known = [sort for sort in _SORTS if sort in shape.types]
        if quest is not None and quest.found is None:
            return sorted(known, key=lambda sort: sort not in ("object", "array"))
        spoken = [sort for sort in known if sort in shape.mentioned]
        if spoken and depth <= _DEEP:
            known = spoken + [sort for sort in known if sort not in spoken]
            first = self._choices.index(len(spoken)) if len(spoken) > 1 else 0
        else:
            first = self._choices.index(len(known)) if len(known) > 1 and depth <= _DEEP else 0
        return known[first:] + known[:first]

    def _scalar(self, sort: str, shape: Shape, attempt: int, where: str) -> JSON:
        choices = self._choices.again(attempt) if attempt else self._choices
        if sort == "null":
            return None
        if sort == "boolean":
            return bool(choices.index(2))
        if sort == "number":
            return numbers.number(shape, choices)
        return texts.text(shape, choices, where.rpartition("/")[2])

    # Objects

    def _object(self, shape: Shape, depth: int, quest: _Quest | None, where: str) -> JSON:
        extra: dict[str, list[Site]] = {}
        wanted = self._wanted_name(shape, depth, quest)
        for names, values in shape.some_members:
            name = self._new_name([*shape.names, names], shape, [*shape.required, *extra], [values])
            extra[name] = [values]
        made: dict[str, JSON] = {}
        taken = [*shape.required, *(name for name in extra if name not in shape.required)]
        if wanted is not None and wanted not in taken:
            taken.append(wanted)
        optional = [name for name in self._known(shape) if name not in taken]
        room = shape.size[1] - len(taken)
        if room < 0:
            raise Impossible
        chosen = [name for name in optional if self._choices.chance(50 if depth < 4 else 15)][:room]
        values: dict[str, JSON] = {}
        for name in [*taken, *chosen]:
            self._add(values, name, extra.get(name, []), shape, depth, quest if name == wanted else None, where,
                      name in taken)  # fmt: skip
        for name in optional:
            if len(values) >= shape.size[0]:
                break
            if name not in values:
                self._add(values, name, [], shape, depth, None, where, False)
        self._fill(values, shape, depth)
        order = [*self._known(shape), *values]
        made = {name: values[name] for name in dict.fromkeys(order) if name in values}
        return made

    def _add(
        self,
        values: dict[str, JSON],
        name: str,
        extra: list[Site],
        shape: Shape,
        depth: int,
        quest: _Quest | None,
        where: str,
        needed: bool,
    ) -> None:
        sites = shape.member(name) + extra
        try:
            if not self._named_well(shape, name) or self._builder.is_hopeless(sites):
                raise Impossible
            if not needed and depth > _DEEP and self._builder.height(sites) > 2:
                return
            values[name] = self.value(sites, depth + 1, quest, where + jsontext.pointer([name]))
        except Impossible:
            if needed:
                raise

    def _wanted_name(self, shape: Shape, depth: int, quest: _Quest | None) -> str | None:
        """The member in which the wish goes on, if it does."""
        if quest is None or (quest.target is not None and quest.found is not None):
            return None
        if quest.target is None:
            return quest.steps[depth] if depth < len(quest.steps) else None
        names = self._known(shape)
        far = {name: quest.distance(shape.member(name)) for name in names}
        best = min(far, key=lambda name: far[name], default=None)
        if best is not None and far[best] < 1 << 30:
            return best
        others = [*(one.rest for one in shape.members), *(site for _, site in shape.other_members)]
        patterned = [site for one in shape.members for _, site in one.patterned]
        if quest.distance([site for site in [*others, *patterned] if site is not None]) < 1 << 30:
            return self._new_name(list(shape.names), shape, names, [])
        return None

    def _known(self, shape: Shape) -> list[str]:
        return list(dict.fromkeys(name for one in shape.members for name in one.named))

    def _named_well(self, shape: Shape, name: str) -> bool:
        if not shape.names:
            return True
        try:
            return any(fits(one, name) for one in self._builder.shapes(list(shape.names)))
        except Impossible:
            return False

    def _fill(self, values: dict[str, JSON], shape: Shape, depth: int) -> None:
        """Members with other names: as many as are needed, and some more of a map."""
        is_map = any(one.patterned or one.rest is not None for one in shape.members) or not shape.members
        more = 0
        if is_map and depth <= _DEEP and self._choices.chance(30):
            more = self._choices.integer(1, 2)
        needed = max(shape.size[0] - len(values), 0)
        more = min(max(more, needed), shape.size[1] - len(values))
        for number in range(more):
            try:
                name = self._new_name(list(shape.names), shape, values, [])
                self._add(values, name, [], shape, depth, None, "", True)
            except Impossible:
                if number < needed:
                    raise
                return

    def _new_name(self, names: list[Site], shape: Shape, known: Iterable[str], values: list[Site]) -> str:
        """A name that fits, is not among the known, and whose member can have a value."""
        patterned = [pattern for one in shape.members for pattern, _ in one.patterned]
        for attempt in range(24):
            choices = self._choices if attempt == 0 else self._choices.again(attempt)
            if names:
                name = self._text(names, choices, patterned if attempt % 2 else [])
            elif patterned and (attempt % 2 == 0 or choices.chance(50)):
                name = texts.of_pattern(patterned[choices.index(len(patterned))], choices)
            else:
                name = texts.word(choices)
            if name not in known and self._named_well(shape, name):
                if not self._builder.is_hopeless(shape.member(name) + values):
                    return name
        raise Impossible

    def _text(self, sites: list[Site], choices: Choices, hints: list[str]) -> str:
        if hints:
            name = texts.of_pattern(hints[choices.index(len(hints))], choices)
            if any(fits(one, name) for one in self._builder.shapes(sites)):
                return name
        for shape in self._builder.shapes(sites):
            if "string" in shape.types:
                try:
                    if shape.allowed is not None:
                        return str(shape.allowed[choices.index(len(shape.allowed))])
                    return texts.text(shape, choices)
                except Impossible:
                    continue
        raise Impossible

    # Arrays

    def _array(self, shape: Shape, depth: int, quest: _Quest | None, where: str) -> JSON:
        wanted = self._wanted_index(shape, depth, quest)
        placed = self._placed(shape, wanted)
        least = max([shape.count[0], 2 * shape.repeats, *(index + 1 for index in placed)])
        most = min(shape.count[1], max(least, least + 3 if depth < 4 else least))
        length = self._choices.integer(least, most) if most > least else least
        values: list[JSON] = []
        for index in range(length):
            sites = placed.get(index, ([], ()))[0]
            if shape.repeats and index == 1:
                values.append(values[0])
                continue
            try:
                values.append(self._item(shape, index, placed, values, depth, quest, where, index == wanted))
            except Impossible:
                if index < least or sites:
                    raise
                break
        return values

    def _item(
        self,
        shape: Shape,
        index: int,
        placed: dict[int, tuple[list[Site], tuple[Any, ...]]],
        values: list[JSON],
        depth: int,
        quest: _Quest | None,
        where: str,
        wished: bool,
    ) -> JSON:
        extra, paths = placed.get(index, ([], ()))
        sites = shape.item(index) + list(extra)
        sites += [one.site.opposite for one in shape.contains if self._is_full(one, index, placed)]
        sites += shape.others(index, paths)
        inside = quest if wished else None
        for attempt in range(12 if shape.unique else 1):
            before = self._choices
            self._choices = before.again(attempt) if attempt else before
            try:
                value = self.value(sites, depth + 1, inside, f"{where}/{index}")
            finally:
                self._choices = before
            if not shape.unique or not any(same(value, one) for one in values):
                return value
        raise Impossible

    def _is_full(self, one: Containing, index: int, placed: dict[int, tuple[list[Site], tuple[Any, ...]]]) -> bool:
        if one.most is None:
            return False
        return one.site not in placed.get(index, ([], ()))[0]

    def _wanted_index(self, shape: Shape, depth: int, quest: _Quest | None) -> int | None:
        if quest is None or (quest.target is not None and quest.found is not None):
            return None
        if quest.target is None:
            step = quest.steps[depth] if depth < len(quest.steps) else ""
            if step and not step.isdecimal():
                raise Impossible
            return int(step) if step else None
        places = range(max([len(one.first) for one in shape.items], default=0) + 1)
        far = {place: quest.distance(shape.item(place) + shape.others(place)) for place in places}
        best = min(far, key=lambda place: far[place])
        if far[best] < 1 << 30:
            return best
        inside = [one.site for one in shape.contains]
        return 0 if quest.distance(inside) < 1 << 30 else None

    def _placed(self, shape: Shape, wanted: int | None) -> dict[int, tuple[list[Site], tuple[Any, ...]]]:
        """Which items have to fit more than their own schemas, by index: the schemas, the `contains`' paths."""
        found: dict[int, tuple[list[Site], tuple[Any, ...]]] = {}
        if wanted is not None:
            found[wanted] = ([], ())
        for first, exactly, site in shape.some_items:
            at = self._free(shape, site, first, found, exactly)
            known, paths = found.get(at, ([], ()))
            found[at] = ([*known, site], paths)
        for one in shape.contains:
            for _ in range(one.least):
                at = self._free(shape, one.site, 0, found, False)
                known, paths = found.get(at, ([], ()))
                found[at] = ([*known, one.site], (*paths, one.path))
        return found

    def _free(
        self, shape: Shape, site: Site, first: int, found: dict[int, tuple[list[Site], Any]], exactly: bool
    ) -> int:
        """An index of an item that can also fit the site."""
        end = first + 1 if exactly else first + 40
        for index in range(first, min(end, shape.count[1])):
            known = found.get(index, ([], ()))[0]
            if site not in known and not self._builder.is_hopeless([*shape.item(index), *known, site]):
                return index
        raise Impossible


_SORTS = ("null", "boolean", "number", "string", "array", "object")


def _far(shape: Shape, quest: _Quest) -> int:
    assert quest.target is not None
    if id(quest.target.schema) in shape.sources:
        return 0
    sites = [site for one in shape.members for site in (*one.named.values(), *(s for _, s in one.patterned))]
    sites += [one.rest for one in shape.members if one.rest is not None]
    sites += [site for _, site in shape.other_members] + [site for _, site in shape.other_items]
    sites += [site for one in shape.items for site in one.first]
    sites += [one.rest for one in shape.items if one.rest is not None]
    sites += [one.site for one in shape.contains] + list(shape.names)
    return 1 + quest.distance(sites)
