"""Every constraint that a definition puts on a value, with the way to it from the definition.

A `Spot` is a schema as it is met on that way: where it stands, which part of a value it governs, and what
has to be wished for so that it does. A recursive definition is entered once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from conformance import jsontext
from conformance.generation.schemata import Schemata, Site
from conformance.generation.wishes import Path, Wish

ASSERTIONS = (
    "type", "const", "enum", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
    "maxLength", "minLength", "pattern", "format", "maxItems", "minItems", "uniqueItems", "contains",
    "minContains", "maxContains", "maxProperties", "minProperties", "required", "dependentRequired",
    "dependencies", "not", "anyOf", "oneOf", "contentEncoding", "contentMediaType",
)  # fmt: skip
"""The keywords that can be broken, beside the schema `false`."""

ITS_OWN = ("additionalProperties", "unevaluatedProperties", "items", "additionalItems", "unevaluatedItems",
           "contains")  # fmt: skip
"""Whose `false` is an error of the keyword, and of the whole value where it is about items."""

FRESH = "extra"

COVERED = "exactly one branch is to fit, and what fits this one always fits"

OF_THE_KIND = "no message of this kind"
"""How reasons begin that another kind may not have."""


class Choice(NamedTuple):
    """A keyword on the way that tells only itself of what is in it, and the branch that leads on."""

    location: str
    branch: str
    path: Path


class Spot(NamedTuple):
    """A schema where it is met: its location, the part of the value that it governs, how to have it govern.

    The location of a schema of none of the pack's documents is a hash and the place of the reference to it.

    `names` is set where it governs not the value at the path but the names of its members.
    """

    site: Site
    location: str
    path: Path = ()
    wishes: tuple[Wish, ...] = ()
    choices: tuple[Choice, ...] = ()
    within: frozenset[int] = frozenset()
    names: bool = False
    dead: str = ""
    """Why no value is governed by it, where that is seen at once."""
    asked: str = ""
    """The location of the condition in which it stands, if it does."""

    @property
    def pointer(self) -> str:
        """The path as a JSON Pointer."""
        return jsontext.pointer(self.path)

    def moved(self, depth: int, index: int) -> Spot:
        """The same in another item of the array that it stands in at that depth."""
        choices = tuple(one._replace(path=_moved(one.path, depth, index)) for one in self.choices)
        return self._replace(path=_moved(self.path, depth, index), choices=choices)


def _moved(path: Path, depth: int, index: int) -> Path:
    return (*path[:depth], index, *path[depth + 1 :]) if len(path) > depth else path


class Constraint(NamedTuple):
    """One keyword at a spot; of `required` and its like one member, whose name is `detail`."""

    spot: Spot
    keyword: str
    location: str
    detail: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What it is the same constraint by, wherever it is met."""
        return self.location, self.detail


def constraints(spot: Spot) -> Iterator[Constraint]:
    """The constraints of one schema itself, in the order in which it states them.

    Of one that stands in no document of the pack, such as a dialect's own, there is one: the reference to it.
    """
    if not spot.location.partition("#")[0]:
        yield Constraint(spot, "$ref", spot.location[1:])
        return
    if spot.site.schema is False:
        keyword = spot.location.rpartition("/")[2]
        above = spot.location.rpartition("/")[0].rpartition("/")[2]
        named = keyword in ITS_OWN and above not in (
            "properties",
            "patternProperties",
            "$defs",
            "definitions",
        )
        yield Constraint(spot, keyword if named else "false", spot.location)
        return
    for keyword, value in spot.site.keywords.items():
        if keyword in ASSERTIONS and _says_something(keyword, value, spot.site.keywords):
            for detail in _details(keyword, value):
                yield Constraint(spot, keyword, f"{spot.location}/{keyword}", detail)


def _says_something(keyword: str, value: Any, schema: Mapping[str, Any]) -> bool:
    if keyword == "contains":  # which then is counted by the other
        return "minContains" not in schema and value is not False
    if keyword in ("minContains", "maxContains"):
        return "contains" in schema
    return not (keyword == "uniqueItems" and value is False)


def _details(keyword: str, value: Any) -> list[str]:
    if keyword == "required":
        return [*value]
    if keyword in ("dependentRequired", "dependencies"):
        return [f"{name} {other}" for name, needed in value.items() if isinstance(needed, list)
                for other in needed]  # fmt: skip
    return [""]


class Walk:
    """Walks the schemas of one pack from a definition.

    `name_for` finds a name, which fits a schema, for one more member of the object at a spot; `is_dead` says
    whether it is seen at once that no value meets some wishes; `covering` which of some schemas accepts all
    that another does.
    """

    def __init__(
        self,
        schemata: Schemata,
        name_for: Callable[[Spot, Any], str | None],
        is_dead: Callable[[tuple[Wish, ...]], bool],
        covering: Callable[[str, list[str]], str],
    ) -> None:
        self._schemata, self._name_for = schemata, name_for
        self._is_dead, self._covering = is_dead, covering
        self._uri = schemata.schemas.uri

    def spots(self, start: Spot) -> Iterator[Spot]:
        """The start and every spot that it leads to, in document order."""
        pending = [start]
        while pending:
            spot = pending.pop()
            yield spot
            pending += reversed([*self._next(spot)])

    def _next(self, spot: Spot) -> Iterator[Spot]:
        if isinstance(spot.site.schema, bool) or not spot.location.partition("#")[0]:
            return
        inner = spot._replace(within=spot.within | {id(spot.site)})
        for keyword, value in spot.site.keywords.items():
            if keyword in _STEPS:
                for found in _STEPS[keyword](self, inner, keyword, value):
                    if id(found.site) not in found.within:
                        yield found

    def _sub(self, spot: Spot, schema: Any, *steps: str | int) -> Spot:
        location = spot.location + jsontext.pointer(map(str, steps))
        return spot._replace(site=spot.site.child(schema), location=location)

    def _ref(self, spot: Spot, keyword: str, reference: str) -> Iterator[Spot]:
        site = spot.site.target(reference)
        location = self._schemata.schemas.location_of(site.schema)
        yield spot._replace(site=site, location=location or f"#{spot.location}/{keyword}")

    def _all(self, spot: Spot, keyword: str, branches: list[Any]) -> Iterator[Spot]:
        for index, branch in enumerate(branches):
            yield self._sub(spot, branch, keyword, index)

    def _branches(self, spot: Spot, keyword: str, branches: list[Any]) -> Iterator[Spot]:
        for index, branch in enumerate(branches):
            sub = self._sub(spot, branch, keyword, index)
            choice = Choice(f"{spot.location}/{keyword}", sub.location, spot.path)
            found = self._wishing(sub, sub.location)._replace(choices=(*spot.choices, choice))
            others = [f"{choice.location}/{other}" for other in range(len(branches)) if other != index]
            covering = self._covering(sub.location, others) if keyword == "oneOf" and not found.dead else ""
            yield found._replace(dead=f"{COVERED} {covering}") if covering else found

    def _wishing(self, spot: Spot, location: str, *, holds: bool = True) -> Spot:
        """The spot where the value also fits the schema there, or where it does not."""
        reference = {"$ref": self._uri(location)}
        wish = Wish(spot.path, reference, location) if holds else Wish(spot.path, {"not": reference})
        wishes = (*spot.wishes, wish)
        dead = spot.dead
        if not dead and not spot.asked and self._is_dead(wishes):
            dead = f"{OF_THE_KIND} takes the branch {location}"
        return spot._replace(wishes=wishes, dead=dead)

    def _condition(self, spot: Spot, keyword: str, sub: Any) -> Iterator[Spot]:
        inner = self._sub(spot, sub, keyword)
        yield inner._replace(asked=spot.asked or inner.location)

    def _named(self, spot: Spot, names: Any) -> str | None:
        return FRESH if spot.asked or spot.dead else self._name_for(spot, names)

    def _conditional(self, spot: Spot, keyword: str, sub: Any) -> Iterator[Spot]:
        if "if" in spot.site.keywords:
            condition, branch = f"{spot.location}/if", self._sub(spot, sub, keyword)
            if keyword == "then":
                yield self._wishing(branch, condition)
            else:
                yield self._wishing(branch, condition, holds=False)

    def _dependent(self, spot: Spot, keyword: str, members: Mapping[str, Any]) -> Iterator[Spot]:
        for name, sub in members.items():
            if not isinstance(sub, list):
                wish = Wish((*spot.path, name))
                yield self._sub(spot, sub, keyword, name)._replace(wishes=(*spot.wishes, wish))

    def _into(self, spot: Spot, step: str | int) -> Spot:
        path = (*spot.path, step)
        wish = Wish(path, {"$ref": self._uri(spot.location)}, spot.location, governs=True)
        return spot._replace(path=path, wishes=(*spot.wishes, wish))

    def _properties(self, spot: Spot, keyword: str, members: Mapping[str, Any]) -> Iterator[Spot]:
        for name, sub in members.items():
            yield self._member(self._sub(spot, sub, keyword, name), name)

    def _member(self, sub: Spot, name: str) -> Spot:
        # What is forbidden is not wished for; it is what breaks it.
        path = (*sub.path, name)
        return sub._replace(path=path) if sub.site.schema is False else self._into(sub, name)

    def _patterns(self, spot: Spot, keyword: str, members: Mapping[str, Any]) -> Iterator[Spot]:
        for pattern, sub in members.items():
            name = self._named(spot, {"pattern": pattern})
            if name is not None:
                yield self._member(self._sub(spot, sub, keyword, pattern), name)

    def _others(self, spot: Spot, keyword: str, sub: Any) -> Iterator[Spot]:
        schema = spot.site.keywords
        known: list[Any] = [{"not": {"enum": [*schema["properties"]]}}] if schema.get("properties") else []
        known += [{"not": {"pattern": pattern}} for pattern in schema.get("patternProperties", {})]
        names = {"allOf": known} if keyword == "additionalProperties" else True
        name = FRESH if sub is False else self._named(spot, names)
        if name is not None:
            yield self._member(self._sub(spot, sub, keyword), name)

    def _names(self, spot: Spot, keyword: str, sub: Any) -> Iterator[Spot]:
        yield self._sub(spot, sub, keyword)._replace(names=True)

    def _items(self, spot: Spot, keyword: str, sub: Any) -> Iterator[Spot]:
        schema = spot.site.keywords
        if isinstance(sub, list):
            for index, item in enumerate(sub):
                yield self._item(self._sub(spot, item, keyword, index), index)
            return
        first = schema.get("items") if keyword == "additionalItems" else schema.get("prefixItems", ())
        if isinstance(first, (list, tuple)):
            found = self._item(self._sub(spot, sub, keyword), len(first))
            choice = Choice(f"{spot.location}/{keyword}", found.location, found.path)
            # Of what stands in this one, errors name only the keyword itself.
            yield found._replace(choices=(*spot.choices, choice)) if keyword == "unevaluatedItems" else found

    def _item(self, sub: Spot, index: int) -> Spot:
        if sub.site.schema is not False:
            return self._into(sub, index)
        # What is forbidden comes after what is not.
        return sub._replace(wishes=(*sub.wishes, Wish((*sub.path, index - 1)))) if index else sub


_Step = Callable[[Walk, Spot, str, Any], Iterator[Spot]]
_STEPS: Mapping[str, _Step] = {
    "$ref": Walk._ref,
    "$dynamicRef": Walk._ref,
    "allOf": Walk._all,
    "anyOf": Walk._branches,
    "oneOf": Walk._branches,
    "then": Walk._conditional,
    "else": Walk._conditional,
    "dependentSchemas": Walk._dependent,
    "dependencies": Walk._dependent,
    "properties": Walk._properties,
    "patternProperties": Walk._patterns,
    "additionalProperties": Walk._others,
    "unevaluatedProperties": Walk._others,
    "if": Walk._condition,
    "not": Walk._condition,
    "contains": Walk._condition,
    "propertyNames": Walk._names,
    "items": Walk._items,
    "prefixItems": Walk._items,
    "additionalItems": Walk._items,
    "unevaluatedItems": Walk._items,
}
