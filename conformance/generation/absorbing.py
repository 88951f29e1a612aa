"""What a schema's keywords add to a shape, and which choices they leave open."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from conformance.checks import same
from conformance.generation.opposites import Way, ways
from conformance.generation.schemata import Site
from conformance.generation.shapes import Contains, Items, Members, Path, Shape, exact


class Choice(NamedTuple):
    """Ways of which one has to be taken; none if what is `refuted` cannot be."""

    path: Path
    ways: tuple[Way, ...]
    refuted: Site | None = None
    annotates: bool = True


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
    "then": ("if",),
    "else": ("if",),
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


def _low(excluded: bool) -> Taker:
    def taker(shape: Shape, value: Any, _: dict[str, Any], __: Site) -> None:
        bound = (exact(value), excluded)
        shape.mentioned |= {"number"}
        shape.low = bound if shape.low is None else max(shape.low, bound)

    return taker


def _high(excluded: bool) -> Taker:
    def taker(shape: Shape, value: Any, _: dict[str, Any], __: Site) -> None:
        bound = (exact(value), excluded)
        shape.mentioned |= {"number"}
        known = shape.high
        shape.high = bound if known is None else min(known, bound, key=lambda one: (one[0], not one[1]))

    return taker


_TAKE["minimum"], _TAKE["exclusiveMinimum"] = _low(False), _low(True)
_TAKE["maximum"], _TAKE["exclusiveMaximum"] = _high(False), _high(True)


@_taking("multipleOf")
def _multiple(shape: Shape, value: Any, _: dict[str, Any], __: Site) -> None:
    shape.mentioned |= {"number"}
    shape.multiples += (exact(value),)


@_taking("~multipleOf")
def _no_multiple(shape: Shape, value: Any, _: dict[str, Any], __: Site) -> None:
    shape.not_multiples += (exact(value),)


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
