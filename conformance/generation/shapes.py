"""The ways in which several schemas can hold at once, each without any choice left: a `Shape`.

Whatever holds unconditionally is taken in first; then the choice with the fewest ways left is made, until
there is none. A way that cannot go together with what is there is never tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from fractions import Fraction
from typing import Any, NamedTuple

from conformance import patterns
from conformance.checks import same
from conformance.generation.opposites import TYPES, Way, ways
from conformance.generation.schemata import Site
from conformance.wording import type_name

Path = tuple[int, ...]
"""Where a schema stands among those that are applied to the same value: its applicators' numbers."""

INFINITY = 1 << 62
_DEPTH = 3


class Impossible(Exception):
    """No value fits, or none that can be found this way."""


class Members(NamedTuple):
    """What one schema object says of an object's members."""

    path: Path
    named: dict[str, Site]
    patterned: tuple[tuple[str, Site], ...]
    rest: Site | None

    def of(self, name: str) -> list[Site]:
        """The schemas of the member of that name; none where it says nothing of it."""
        found = [self.named[name]] if name in self.named else []
        if self.patterned:
            found += [site for pattern, site in self.patterned if patterns.matches(pattern, name)]
        return found or ([self.rest] if self.rest is not None else [])


class Items(NamedTuple):
    """What one schema object says of an array's items."""

    path: Path
    first: tuple[Site, ...]
    rest: Site | None

    def of(self, index: int) -> Site | None:
        """The schema of the item at an index; None where it says nothing of it."""
        return self.first[index] if index < len(self.first) else self.rest


class Contains(NamedTuple):
    """So many items, `least` to `most`, fit a schema."""

    path: Path
    site: Site
    least: int
    most: int | None


class Shape:
    """Constraints on one value that hold together, by type."""

    def __init__(self) -> None:
        self.types = frozenset(TYPES)
        self.integral = False
        self.allowed: list[Any] | None = None
        self.banned: tuple[Any, ...] = ()
        self.low: tuple[Fraction, bool] | None = None  # and whether it is excluded itself
        self.high: tuple[Fraction, bool] | None = None
        self.multiples: tuple[Fraction, ...] = ()
        self.not_multiples: tuple[Fraction, ...] = ()
        self.length = self.size = self.count = (0, INFINITY)  # of a string, an object, an array
        self.patterns: tuple[str, ...] = ()
        self.formats: tuple[str, ...] = ()
        self.not_patterns: tuple[str, ...] = ()
        self.not_formats: tuple[str, ...] = ()
        self.required: dict[str, None] = {}
        self.members: tuple[Members, ...] = ()
        self.names: tuple[Site, ...] = ()
        self.some_members: tuple[tuple[Site, Site], ...] = ()
        self.other_members: tuple[tuple[Path, Site], ...] = ()
        self.items: tuple[Items, ...] = ()
        self.contains: tuple[Contains, ...] = ()
        self.some_items: tuple[tuple[int, bool, Site], ...] = ()
        self.other_items: tuple[tuple[Path, Site], ...] = ()
        self.unique = self.repeats = False
        self.parts: dict[Any, Any] = {}  # what a builder keeps of its members and items
        self.sources: frozenset[int] = frozenset()
        self.mentioned: frozenset[str] = frozenset()

    def member(self, name: str) -> list[Site]:
        """The schemas that a member of that name has to fit."""
        found = [site for members in self.members for site in members.of(name)]
        for path, site in self.other_members:
            within = (one for one in self.members if one.path[: len(path)] == path)
            if not any(one.of(name) for one in within):
                found.append(site)
        return found

    def item(self, index: int) -> list[Site]:
        """The schemas that the item at an index has to fit, `contains` aside."""
        return [site for one in self.items if (site := one.of(index)) is not None]

    def others(self, index: int, contained: Iterable[Path] = ()) -> list[Site]:
        """The schemas of an item that no other schema evaluates; `contained` are the paths of those
        `contains` that it fits."""
        paths = [one.path for one in self.items if one.of(index) is not None] + list(contained)
        return [
            site for path, site in self.other_items if not any(known[: len(path)] == path for known in paths)
        ]


class Choice(NamedTuple):
    """Ways of which one has to be taken; none if what is `refuted` cannot be."""

    path: Path
    ways: tuple[Way, ...]
    refuted: Site | None = None
    annotates: bool = True


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
        first = [(site, (number,)) for number, site in enumerate(sites)]
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


def take(
    shape: Shape,
    site: Site,
    path: Path,
    todo: list[tuple[Site, Path]],
    pending: list[Choice],
    breaking: tuple[int, str] | None,
) -> None:
    """Take a site's own keywords into the shape; what it applies goes to `todo`, its choices to `pending`."""
    keywords = site.keywords
    if not isinstance(site.schema, bool):
        shape.sources |= {id(site.schema)}
    if breaking is not None and breaking[0] == id(site.schema):
        keywords = _without(site, breaking[1], path, pending)
    for number, (keyword, value) in enumerate(keywords.items()):
        if keyword in _TAKE:
            _TAKE[keyword](shape, value, keywords, site)
        elif keyword in ("$ref", "$dynamicRef"):
            todo.append((site.target(value), (*path, 0)))
        elif keyword == "allOf":
            applied = [(site.child(sub), (*path, 1, place)) for place, sub in enumerate(value)]
            todo += reversed(applied)  # the last is taken first
        elif keyword in _CHOICES:
            pending += _CHOICES[keyword](site, value, keywords, (*path, 2, number))
    _take_members(shape, keywords, site, path)
    _take_items(shape, keywords, site, path)


def _without(site: Site, keyword: str, path: Path, pending: list[Choice]) -> dict[str, Any]:
    """The keywords but one, of which the opposite is to hold instead."""
    value = site.keywords[keyword]
    beside = {name: site.keywords[name] for name in _BESIDE.get(keyword, ()) if name in site.keywords}
    broken = site.made(f"broken {keyword}", {keyword: value, **beside})
    pending.append(Choice((-1, *path), tuple(ways(broken, keyword)), None, False))
    return {name: sub for name, sub in site.keywords.items() if name != keyword}


_BESIDE = {
    "additionalProperties": ("properties", "patternProperties"),
    "unevaluatedProperties": ("properties", "patternProperties"),
    "items": ("prefixItems",),
    "unevaluatedItems": ("prefixItems",),
    "additionalItems": ("items",),
    "contains": ("minContains", "maxContains"),
}

Taker = Callable[[Shape, Any, "dict[str, Any]", Site], None]
_TAKE: dict[str, Taker] = {}


def _taking(*keywords: str) -> Callable[[Taker], Taker]:
    def enter(taker: Taker) -> Taker:
        _TAKE.update(dict.fromkeys(keywords, taker))
        return taker

    return enter


@_taking("type")
def _type(shape: Shape, value: Any, _: dict[str, Any], __: Site) -> None:
    names = {value} if isinstance(value, str) else set(value)
    if "integer" in names and "number" not in names:
        shape.integral = True
    shape.types &= {"number" if name == "integer" else name for name in names}


@_taking("const")
def _const(shape: Shape, value: Any, keywords: dict[str, Any], site: Site) -> None:
    _enum(shape, [value], keywords, site)


@_taking("enum")
def _enum(shape: Shape, value: Any, _: dict[str, Any], __: Site) -> None:
    known = shape.allowed
    shape.allowed = [one for one in value if known is None or any(same(one, two) for two in known)]


@_taking("~enum")
def _no_enum(shape: Shape, value: Any, _: dict[str, Any], __: Site) -> None:
    shape.banned += tuple(value)


def _exact(number: Any) -> Fraction:
    return Fraction(str(number)) if isinstance(number, float) else Fraction(number)


def _low(excluded: bool) -> Taker:
    def taker(shape: Shape, value: Any, _: dict[str, Any], __: Site) -> None:
        bound = (_exact(value), excluded)
        shape.mentioned |= {"number"}
        shape.low = bound if shape.low is None else max(shape.low, bound)

    return taker


def _high(excluded: bool) -> Taker:
    def taker(shape: Shape, value: Any, _: dict[str, Any], __: Site) -> None:
        bound = (_exact(value), excluded)
        shape.mentioned |= {"number"}
        known = shape.high
        shape.high = bound if known is None else min(known, bound, key=lambda one: (one[0], not one[1]))

    return taker


_TAKE["minimum"], _TAKE["exclusiveMinimum"] = _low(False), _low(True)
_TAKE["maximum"], _TAKE["exclusiveMaximum"] = _high(False), _high(True)


@_taking("multipleOf")
def _multiple(shape: Shape, value: Any, _: dict[str, Any], __: Site) -> None:
    shape.mentioned |= {"number"}
    shape.multiples += (_exact(value),)


@_taking("~multipleOf")
def _no_multiple(shape: Shape, value: Any, _: dict[str, Any], __: Site) -> None:
    shape.not_multiples += (_exact(value),)


def _bound(attribute: str, low: bool, sort: str) -> Taker:
    def taker(shape: Shape, value: Any, _: dict[str, Any], __: Site) -> None:
        least, most = getattr(shape, attribute)
        shape.mentioned |= {sort}
        setattr(shape, attribute, (max(least, int(value)), most) if low else (least, min(most, int(value))))

    return taker


for _size, _attribute, _sort in (
    ("Length", "length", "string"),
    ("Properties", "size", "object"),
    ("Items", "count", "array"),
):
    _TAKE["min" + _size] = _bound(_attribute, True, _sort)
    _TAKE["max" + _size] = _bound(_attribute, False, _sort)


def _text(attribute: str) -> Taker:
    def taker(shape: Shape, value: Any, _: dict[str, Any], __: Site) -> None:
        shape.mentioned |= {"string"}
        if value not in getattr(shape, attribute):
            setattr(shape, attribute, (*getattr(shape, attribute), value))

    return taker


_TAKE["pattern"], _TAKE["~pattern"] = _text("patterns"), _text("not_patterns")
_TAKE["format"], _TAKE["~format"] = _text("formats"), _text("not_formats")


@_taking("required")
def _required(shape: Shape, value: Any, _: dict[str, Any], __: Site) -> None:
    shape.mentioned |= {"object"}
    shape.required = shape.required | dict.fromkeys(value)


@_taking("propertyNames")
def _names(shape: Shape, value: Any, _: dict[str, Any], site: Site) -> None:
    shape.mentioned |= {"object"}
    shape.names += (site.child(value),)


@_taking("~member")
def _some_member(shape: Shape, value: Any, _: dict[str, Any], site: Site) -> None:
    shape.some_members += ((site.child(value["names"]), site.child(value["values"])),)


@_taking("~item")
def _some_item(shape: Shape, value: Any, _: dict[str, Any], site: Site) -> None:
    exactly = "at" in value
    shape.some_items += ((value["at"] if exactly else value["from"], exactly, site.child(value["schema"])),)


@_taking("uniqueItems")
def _unique(shape: Shape, value: Any, _: dict[str, Any], __: Site) -> None:
    shape.unique = shape.unique or bool(value)


@_taking("~unique")
def _repeats(shape: Shape, value: Any, _: dict[str, Any], __: Site) -> None:
    shape.repeats = True


def _take_members(shape: Shape, keywords: dict[str, Any], site: Site, path: Path) -> None:
    if {"properties", "patternProperties", "additionalProperties"} & keywords.keys():
        shape.mentioned |= {"object"}
        named = {name: site.child(sub) for name, sub in keywords.get("properties", {}).items()}
        patterned = tuple((p, site.child(sub)) for p, sub in keywords.get("patternProperties", {}).items())
        rest = keywords.get("additionalProperties")
        members = Members(path, named, patterned, None if rest is None else site.child(rest))
        shape.members += (members,)
    if "unevaluatedProperties" in keywords:
        shape.mentioned |= {"object"}
        shape.other_members += ((path, site.child(keywords["unevaluatedProperties"])),)


def _take_items(shape: Shape, keywords: dict[str, Any], site: Site, path: Path) -> None:
    items = keywords.get("items")
    first = keywords.get("prefixItems", [])
    if isinstance(items, list):
        first, items = items, keywords.get("additionalItems")
    if first or items is not None:
        shape.mentioned |= {"array"}
        rest = None if items is None else site.child(items)
        shape.items += (Items(path, tuple(map(site.child, first)), rest),)
    if "unevaluatedItems" in keywords:
        shape.mentioned |= {"array"}
        shape.other_items += ((path, site.child(keywords["unevaluatedItems"])),)
    if "contains" in keywords:
        shape.mentioned |= {"array"}
        least, most = (
            (1, None) if site.legacy else (keywords.get("minContains", 1), keywords.get("maxContains"))
        )
        shape.contains += (Contains(path, site.child(keywords["contains"]), int(least), most),)


Chooser = Callable[[Site, Any, "dict[str, Any]", Path], "list[Choice]"]


def _any_of(site: Site, value: Any, _: dict[str, Any], path: Path) -> list[Choice]:
    return [Choice(path, tuple((site.child(sub),) for sub in value))]


def _one_of(site: Site, value: Any, _: dict[str, Any], path: Path) -> list[Choice]:
    branches = [site.child(sub) for sub in value]
    exclusive = [
        (one, *(other.opposite for place, other in enumerate(branches) if place != number))
        for number, one in enumerate(branches)
    ]
    return [Choice(path, tuple(exclusive))]


def _not(site: Site, value: Any, _: dict[str, Any], path: Path) -> list[Choice]:
    refuted = site.child(value)
    return [Choice(path, tuple(ways(refuted)), refuted, False)]


def _if(site: Site, value: Any, keywords: dict[str, Any], path: Path) -> list[Choice]:
    condition = site.child(value)
    then, otherwise = keywords.get("then"), keywords.get("else")
    holds: Way = (condition,) if then is None else (condition, site.child(then))
    fails: Way = (condition.opposite,) if otherwise is None else (condition.opposite, site.child(otherwise))
    return [Choice(path, (fails, holds))]


def _dependent(site: Site, value: Any, _: dict[str, Any], path: Path) -> list[Choice]:
    return [
        Choice((*path, number), tuple(_with_or_without(site, name, needed)))
        for number, (name, needed) in enumerate(value.items())
    ]


def _with_or_without(site: Site, name: str, needed: Any) -> Iterable[Way]:
    yield (site.made(f"without {name}", {"properties": {name: False}}),)
    if isinstance(needed, list):
        yield (site.made(f"with {name} and all", {"type": "object", "required": [name, *needed]}),)
    else:
        yield site.made(f"with {name}", {"type": "object", "required": [name]}), site.child(needed)


_CHOICES: dict[str, Chooser] = {
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    "dependentRequired": _dependent,
    "dependentSchemas": _dependent,
    "dependencies": _dependent,
}


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


def number_fits(shape: Shape, value: Fraction) -> bool:
    """Whether a number is within the bounds, and a multiple of what it has to be."""
    low, high = shape.low, shape.high
    return not (
        (shape.integral and value.denominator != 1)
        or (low is not None and (value < low[0] or (low[1] and value == low[0])))
        or (high is not None and (value > high[0] or (high[1] and value == high[0])))
        or any((value / one).denominator != 1 for one in shape.multiples)
        or any((value / one).denominator == 1 for one in shape.not_multiples)
    )


def fits(shape: Shape, value: Any) -> bool:
    """Whether a value fits a shape, as far as that is told without a look at what an object or array holds."""
    sort = type_name(value)
    if sort not in shape.types or any(same(value, one) for one in shape.banned):
        return False
    if sort == "number":
        return number_fits(shape, _exact(value))
    if sort == "string":
        return text_fits(shape, value)
    if sort == "object":
        return shape.size[0] <= len(value) <= shape.size[1] and all(name in value for name in shape.required)
    return sort != "array" or shape.count[0] <= len(value) <= shape.count[1]


def text_fits(shape: Shape, text: str) -> bool:
    """Whether a text has the length and the patterns of a shape, and is none of its banned values.

    Formats are left to who makes the text.
    """
    return (
        shape.length[0] <= len(text) <= shape.length[1]
        and all(patterns.matches(one, text) for one in shape.patterns)
        and not any(patterns.matches(one, text) for one in shape.not_patterns)
        and text not in shape.banned
        and (shape.allowed is None or text in shape.allowed)
    )
