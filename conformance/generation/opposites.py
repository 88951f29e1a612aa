"""What a schema's negation allows: the ways in which a value can break it, each as schemas that then hold.

Each way breaks one keyword. Where JSON Schema has no keyword for the opposite, one of our own says it:
`~pattern`, `~format`, `~multipleOf`, `~enum` (a list of values) and `~unique` are broken by a value that fits
the plain one; `~member` is `{"names", "values"}`, schemas of a member that an object has; `~item` is
`{"from", "schema"}`, an item at or after an index that an array has. Only keywords of JSON Schema are ever
broken, so those of our own have no opposites.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from conformance.generation.schemata import REFERENCES, Site

Way = tuple[Site, ...]
"""Sites that hold together."""

TYPES = ("null", "boolean", "object", "array", "number", "string")


def ways(site: Site, only: str = "") -> list[Way]:
    """The ways in which a value can break the schema at `site`, or `only` one keyword of it; none where
    nothing does."""
    keywords = site.keywords
    found: list[Way] = []
    for keyword in keywords:
        if keyword in _OPPOSITES and only in ("", keyword):
            found += _OPPOSITES[keyword](site, keywords)
    return found


Maker = Callable[[Site, Mapping[str, Any]], Iterator[Way]]
Schemas = Callable[[Any, Mapping[str, Any]], Iterator[Any]]
"""The schemas of the opposite, one for each way, of a keyword's value and its siblings."""

_OPPOSITES: dict[str, Maker] = {}


def _enter(keyword: str, schemas: Schemas) -> None:
    def maker(site: Site, keywords: Mapping[str, Any]) -> Iterator[Way]:
        for number, schema in enumerate(schemas(keywords[keyword], keywords)):
            yield (site.made(f"{keyword}/{number}", schema),)

    _OPPOSITES[keyword] = maker


def _says(*keywords: str) -> Callable[[Schemas], Schemas]:
    """Enter a function that gives the opposite of these keywords."""

    def enter(schemas: Schemas) -> Schemas:
        for keyword in keywords:
            _enter(keyword, schemas)
        return schemas

    return enter


def _not(schema: Any) -> Any:
    return {"not": schema}


@_says("type")
def _type(value: Any, _: Mapping[str, Any]) -> Iterator[Any]:
    names = [value] if isinstance(value, str) else value
    others = [name for name in TYPES if name not in names and (name != "number" or "integer" not in names)]
    if others:
        yield {"type": others}
    if "integer" in names and "number" not in names:
        yield {"type": "number", "~multipleOf": 1}


@_says("const")
def _const(value: Any, _: Mapping[str, Any]) -> Iterator[Any]:
    yield {"~enum": [value]}


@_says("enum")
def _enum(value: Any, _: Mapping[str, Any]) -> Iterator[Any]:
    yield {"~enum": value}


_BOUNDS = {
    "minimum": ("number", "exclusiveMaximum"),
    "maximum": ("number", "exclusiveMinimum"),
    "exclusiveMinimum": ("number", "maximum"),
    "exclusiveMaximum": ("number", "minimum"),
    "multipleOf": ("number", "~multipleOf"),
    "pattern": ("string", "~pattern"),
    "format": ("string", "~format"),
}
_SIZES = {"Length": "string", "Items": "array", "Properties": "object"}


def _bounded(sort: str, other: str) -> Schemas:
    return lambda value, _: iter([{"type": sort, other: value}])


def _sized(sort: str, other: str, by: int) -> Schemas:
    return lambda value, _: iter([{"type": sort, other: int(value) + by}] if int(value) + by >= 0 else ())


for _keyword, (_sort, _other) in _BOUNDS.items():
    _enter(_keyword, _bounded(_sort, _other))
for _size, _sort in _SIZES.items():
    _enter(f"max{_size}", _sized(_sort, f"min{_size}", 1))
    _enter(f"min{_size}", _sized(_sort, f"max{_size}", -1))


@_says("required")
def _required(value: Any, _: Mapping[str, Any]) -> Iterator[Any]:
    for name in value:
        yield {"type": "object", "properties": {name: False}}


@_says("properties")
def _properties(value: Any, _: Mapping[str, Any]) -> Iterator[Any]:
    for name, schema in value.items():
        yield {"type": "object", "required": [name], "properties": {name: _not(schema)}}


@_says("patternProperties")
def _pattern_properties(value: Any, _: Mapping[str, Any]) -> Iterator[Any]:
    for pattern, schema in value.items():
        yield {"type": "object", "~member": {"names": {"pattern": pattern}, "values": _not(schema)}}


@_says("additionalProperties", "unevaluatedProperties")
def _additional(value: Any, all_: Mapping[str, Any]) -> Iterator[Any]:
    names: list[Any] = [{"~enum": list(all_.get("properties", {}))}]
    names += [{"~pattern": pattern} for pattern in all_.get("patternProperties", {})]
    yield {"type": "object", "~member": {"names": {"allOf": names}, "values": _not(value)}}


@_says("propertyNames")
def _names(value: Any, _: Mapping[str, Any]) -> Iterator[Any]:
    yield {"type": "object", "~member": {"names": _not(value), "values": True}}


@_says("dependentRequired")
def _dependent_required(value: Any, _: Mapping[str, Any]) -> Iterator[Any]:
    for name, others in value.items():
        for other in others:
            yield {"type": "object", "required": [name], "properties": {other: False}}


@_says("dependentSchemas", "dependencies")
def _dependent(value: Any, _: Mapping[str, Any]) -> Iterator[Any]:
    for name, schema in value.items():
        if isinstance(schema, list):
            yield from _dependent_required({name: schema}, {})
        else:
            yield {"type": "object", "required": [name], "not": schema}


@_says("prefixItems")
def _prefix(value: Any, _: Mapping[str, Any]) -> Iterator[Any]:
    for index, schema in enumerate(value):
        yield {"type": "array", "~item": {"at": index, "schema": _not(schema)}}


@_says("items")
def _items(value: Any, all_: Mapping[str, Any]) -> Iterator[Any]:
    if isinstance(value, list):
        yield from _prefix(value, all_)
    else:
        first = len(all_.get("prefixItems", ()))
        yield {"type": "array", "~item": {"from": first, "schema": _not(value)}}


@_says("additionalItems")
def _additional_items(value: Any, all_: Mapping[str, Any]) -> Iterator[Any]:
    if isinstance(all_.get("items"), list):
        yield {"type": "array", "~item": {"from": len(all_["items"]), "schema": _not(value)}}


@_says("unevaluatedItems")
def _unevaluated_items(value: Any, all_: Mapping[str, Any]) -> Iterator[Any]:
    if "items" not in all_:
        yield {"type": "array", "~item": {"from": len(all_.get("prefixItems", ())), "schema": _not(value)}}


@_says("contains")
def _contains(value: Any, all_: Mapping[str, Any]) -> Iterator[Any]:
    least = all_.get("minContains", 1)
    if least == 1:
        yield {"type": "array", "items": _not(value)}
    elif least > 1:
        yield {"type": "array", "contains": value, "minContains": 0, "maxContains": least - 1}
    if "maxContains" in all_:
        yield {"type": "array", "contains": value, "minContains": all_["maxContains"] + 1}


@_says("uniqueItems")
def _unique(value: Any, _: Mapping[str, Any]) -> Iterator[Any]:
    if value:
        yield {"type": "array", "~unique": True}


@_says("allOf")
def _all_of(value: Any, _: Mapping[str, Any]) -> Iterator[Any]:
    yield from map(_not, value)


@_says("anyOf")
def _any_of(value: Any, _: Mapping[str, Any]) -> Iterator[Any]:
    yield {"allOf": list(map(_not, value))}


@_says("oneOf")
def _one_of(value: Any, _: Mapping[str, Any]) -> Iterator[Any]:
    yield {"allOf": list(map(_not, value))}
    for index, one in enumerate(value):
        for other in value[:index]:
            yield {"allOf": [one, other]}


@_says("not")
def _opposite(value: Any, _: Mapping[str, Any]) -> Iterator[Any]:
    yield value


@_says("then")
def _then(value: Any, all_: Mapping[str, Any]) -> Iterator[Any]:
    if "if" in all_:
        yield {"allOf": [all_["if"], _not(value)]}


@_says("else")
def _else(value: Any, all_: Mapping[str, Any]) -> Iterator[Any]:
    if "if" in all_:
        yield {"allOf": [_not(all_["if"]), _not(value)]}


def _reference(keyword: str) -> Maker:
    def maker(site: Site, keywords: Mapping[str, Any]) -> Iterator[Way]:
        yield (site.target(keywords[keyword]).opposite,)

    return maker


_OPPOSITES |= {keyword: _reference(keyword) for keyword in REFERENCES}
