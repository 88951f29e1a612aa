"""Which parts of a value a definition governs: schemas and value walked together, without judging.

The walk follows references as the dialect says: draft-07 and 2020-12 differ in what stands beside a
`$ref`, in arrays of items, and in what an `$id` that is a fragment means.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, cached_property
from typing import Any
from urllib.parse import unquote, urljoin

from conformance import jsontext
from conformance.events import JSON
from conformance.patterns import matches

Schema = Mapping[str, Any]


Place = tuple[str, Any]
"""The URI that a schema is relative to, and the schema."""

Step = tuple[Place, JSON, str | None]
"""A schema, what it governs, and the member or item that this is of what was governed before."""

_NOWHERE: Place = ("", True)

_FOLLOWED = (
    *("allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "dependencies"),
    *("properties", "patternProperties", "additionalProperties", "prefixItems", "items", "additionalItems"),
)
"""The keywords whose schemas govern parts of a value, or the whole, beside `$ref`."""

_SAYABLE = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "properties", "items"})


class _Unsayable(Exception):
    """What is wanted has no end of places, or places that have no names."""


_TOGETHER = (
    frozenset({"if", "then", "else"}),
    frozenset({"patternProperties", "additionalProperties"}),
    frozenset({"prefixItems", "items", "additionalItems"}),
)
"""Keywords that decide together which of their schemas governs something."""


class Places:
    """Walks the documents of one `Schemas`.

    `uris` has the URI of each document by name; `legacy` means draft-07; `holds` says whether a
    value fits the schema of an `if`.
    """

    def __init__(
        self,
        documents: Mapping[str, Schema],
        uris: Mapping[str, str],
        legacy: bool,
        holds: Callable[[Any, JSON], bool],
    ) -> None:
        self._documents, self._uris, self._legacy, self._holds = documents, uris, legacy, holds
        self._marked: dict[frozenset[str], dict[int, str]] = {}
        self._leading: dict[frozenset[str], dict[int, Schema]] = {}
        self._starts: dict[str, Place] = {}
        self._targets: dict[tuple[str, str], Place] = {}

    def of(self, location: str, value: JSON, wanted: frozenset[str]) -> Iterator[tuple[str, str, JSON]]:
        """(wanted location, pointer, value) for each part of `value` that a wanted definition governs.

        Follows references, members, items and every branch that applies; a branch of `if` applies
        when its condition says so, branches of `oneOf` and `anyOf` always. Free-form parts of a
        message are never reached.
        """
        marks, known = self._marks(wanted), self._leading.setdefault(wanted, {})
        pending = [(self._resolve(location), value, "")]
        done: set[tuple[int, str]] = set()
        while pending:
            (outer, schema), part, pointer = pending.pop()
            if not isinstance(schema, dict) or (id(schema), pointer) in done:
                continue
            done.add((id(schema), pointer))
            here = marks.get(id(schema))
            if here is not None:
                yield here, pointer, part
            base = self._base(outer, schema) if "$id" in schema else outer
            leading = known.get(id(schema))
            if leading is None:
                leading = known[id(schema)] = self._leading_part(base, schema, marks)
            if leading:
                inward = [
                    (target, inner, pointer if step is None else pointer + jsontext.pointer([step]))
                    for target, inner, step in self._next(base, leading, part)
                    if isinstance(target[1], dict)
                ]
                pending += reversed(inward)

    def overlay(self, location: str, wanted: Mapping[str, Schema]) -> Schema | None:
        """A schema that holds all that `of` finds in a value to what is wanted there, by wanted location.

        It holds all branches to that, whichever applies. None where members and items alone cannot say it.
        """
        try:
            return self._overlaid(self._resolve(location), wanted, frozenset())
        except _Unsayable:
            return None

    def _overlaid(self, place: Place, wanted: Mapping[str, Schema], above: frozenset[int]) -> Schema:
        outer, schema = place
        if not isinstance(schema, dict):
            return {}
        if id(schema) in above:
            raise _Unsayable
        above |= {id(schema)}
        marks = self._marks(frozenset(wanted))
        base = self._base(outer, schema)
        leading = self._leading_part(base, schema, marks)
        if not leading.keys() <= _SAYABLE or isinstance(leading.get("items"), list):
            raise _Unsayable
        found = [wanted[marks[id(schema)]]] if id(schema) in marks else []
        branches = [(base, one) for word in ("allOf", "anyOf", "oneOf") for one in leading.get(word, ())]
        branches += [(base, leading[word]) for word in ("then", "else") if word in leading]
        branches += [self._target(base, leading["$ref"])] if "$ref" in leading else []
        found += [self._overlaid(one, wanted, above) for one in branches]
        if "properties" in leading:
            members = leading["properties"].items()
            inside = {name: self._overlaid((base, one), wanted, above) for name, one in members}
            told = {name: one for name, one in inside.items() if one}
            found += [{"properties": told}] if told else []
        if "items" in leading:
            found.append({"items": self._overlaid((base, leading["items"]), wanted, above)})
        found = [one for one in found if one]
        return {"allOf": found} if len(found) > 1 else found[0] if found else {}

    def _leading_part(self, base: str, schema: Schema, marks: Mapping[int, str]) -> Schema:
        """The keywords of a schema by which a marked definition can be met, whatever the value."""

        def leads(place: Place) -> bool:
            return any(id(node) in marks for _, node in self._reached_from(place))

        if "$ref" in schema and self._legacy:
            return {"$ref": schema["$ref"]} if leads(self._target(base, schema["$ref"])) else {}
        kept = {word for word in _FOLLOWED if word in schema and leads((base, schema[word]))}
        if "$ref" in schema and leads(self._target(base, schema["$ref"])):
            kept.add("$ref")
        for group in _TOGETHER:
            kept |= group if group & kept else frozenset()
        found = {word: node for word, node in schema.items() if word in kept}
        if "properties" in kept and not kept & {"patternProperties", "additionalProperties"}:
            members = schema["properties"].items()
            found["properties"] = {name: node for name, node in members if leads((base, node))}
        elif kept & {"patternProperties", "additionalProperties"}:
            found["properties"] = schema.get("properties", {})
        return found

    def may_meet(self, location: str, formats: Collection[str]) -> bool:
        """Whether the schema there, or any that it leads to, has one of the formats, or is not here."""
        wanted = [*formats]  # a member may be named `format`, and its schema has no hash
        return any(
            not base or (isinstance(node, dict) and "format" in node and node["format"] in wanted)
            for base, node in self._reached(location)
        )

    def size(self, location: str) -> int:
        """How many objects and arrays are in the schema there and in those that it leads to."""
        return sum(1 for _ in self._reached(location))

    def _reached(self, location: str) -> Iterator[Place]:
        """Every object and array in the schema there and in those that it leads to."""
        return self._reached_from(self._resolve(location))

    def _reached_from(self, start: Place) -> Iterator[Place]:
        pending, done = [start], set()
        while pending:
            outer, node = place = pending.pop()
            if id(node) in done:
                continue
            done.add(id(node))
            yield place
            if isinstance(node, dict):
                base = self._base(outer, node) if "$id" in node else outer
                pending += [(base, one) for one in node.values() if isinstance(one, (dict, list))]
                if isinstance(node.get("$ref"), str):
                    pending.append(self._target(base, node["$ref"]))
            elif isinstance(node, list):
                pending += [(outer, one) for one in node if isinstance(one, (dict, list))]

    def members(self, location: str) -> dict[str, Any]:
        """The members that the schema there, and what it consists of, names, each with its schema."""
        found: dict[str, Any] = {}
        pending, done = [self._resolve(location)], set()
        while pending:
            outer, schema = pending.pop()
            if isinstance(schema, dict) and id(schema) not in done:
                done.add(id(schema))
                found.update(schema.get("properties", {}))
                base = self._base(outer, schema)
                pending += [(base, part) for part in schema.get("allOf", ())]
                pending += [self._target(base, schema["$ref"])] if "$ref" in schema else []
        return found

    def _marks(self, wanted: frozenset[str]) -> dict[int, str]:
        """The wanted locations by the identity of the definitions that stand there."""
        if wanted not in self._marked:
            self._marked[wanted] = {id(self._resolve(location)[1]): location for location in wanted}
        return self._marked[wanted]

    def _resolve(self, location: str) -> Place:
        if location not in self._starts:
            name, _, fragment = location.partition("#")
            here = name in self._documents and fragment[:1] in ("", "/")
            document = (self._uris[name], self._documents[name]) if here else _NOWHERE
            self._starts[location] = self._within(document, fragment if here else "")
        return self._starts[location]

    def _within(self, place: Place, pointer: str) -> Place:
        # A schema on the way may have an `$id`, which what stands in it is relative to.
        base, node = place
        for step in jsontext.parts(pointer):
            base = self._base(base, node)
            node = jsontext.resolve(node, jsontext.pointer([step]))
        return _NOWHERE if node is jsontext.MISSING else (base, node)

    def _base(self, outer: str, schema: Any) -> str:
        """What references in a schema are relative to, where `outer` is what the schema itself is."""
        own = schema.get("$id") if isinstance(schema, dict) else None
        if not isinstance(own, str) or own[:1] in ("", "#") or (self._legacy and "$ref" in schema):
            return outer  # before 2019-09, an `$id` that is a fragment was an anchor
        return _joined(outer, own)

    @cached_property
    def _roots(self) -> dict[str, Place]:
        return {uri: (uri, self._documents[name]) for name, uri in self._uris.items()}

    @cached_property
    def _resources(self) -> dict[str, Place]:
        """What else has a URI of its own: the schemas in the documents that have an `$id`, and anchors."""
        found: dict[str, Place] = {}
        pending = list(self._roots.values())
        while pending:
            outer, node = pending.pop()
            base = self._base(outer, node)
            if isinstance(node, dict):
                found.update((uri, (outer, node)) for uri in _names(node, outer, base))
            inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
            pending += [(base, one) for one in inner]
        return found

    def _target(self, base: str, reference: str) -> Place:
        key = base, reference
        if key not in self._targets:
            document, _, fragment = reference.partition("#")
            uri, pointer = (_joined(base, document) if document else base), unquote(fragment)
            if pointer[:1] not in ("", "/"):
                uri, pointer = f"{uri}#{pointer}", ""
            found = self._roots.get(uri) or self._resources.get(uri, _NOWHERE)
            self._targets[key] = self._within(found, pointer)
        return self._targets[key]

    def _next(self, base: str, schema: Schema, value: JSON) -> Iterator[Step]:
        if "$ref" in schema:
            yield self._target(base, schema["$ref"]), value, None
            if self._legacy:
                return  # 'All other properties in a "$ref" object MUST be ignored.'
        for keyword in ("allOf", "anyOf", "oneOf"):
            for branch in schema.get(keyword, ()):
                yield (base, branch), value, None
        if "if" in schema:
            holds = schema["if"] if isinstance(schema["if"], bool) else self._holds(schema["if"], value)
            yield (base, schema.get("then" if holds else "else", True)), value, None
        if isinstance(value, dict):
            yield from self._members(base, schema, value)
        elif isinstance(value, list) and ("items" in schema or "prefixItems" in schema):
            first, others = self._items(schema)
            for index, item in enumerate(value):
                within = first[index] if index < len(first) else others
                yield (base, within), item, str(index)

    def _items(self, schema: Schema) -> tuple[Any, Any]:
        """The schemas of the first items, and that of all others."""
        items = schema.get("items", True)
        if self._legacy:
            return (items, schema.get("additionalItems", True)) if isinstance(items, list) else ((), items)
        return schema.get("prefixItems", ()), items

    def _members(self, base: str, schema: Schema, value: dict[str, JSON]) -> Iterator[Step]:
        named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        others = schema.get("additionalProperties", True)
        for key in value if patterns or others is not True else [key for key in value if key in named]:
            governing = [named[key]] if key in named else []
            governing += [sub for pattern, sub in patterns.items() if matches(pattern, key)]
            for sub in governing or [others]:
                yield (base, sub), value[key], key
        for keyword in ("dependentSchemas", "dependencies"):
            if keyword in schema:
                dependent = [sub for key, sub in schema[keyword].items() if key in value]
                yield from (((base, sub), value, None) for sub in dependent)


@cache
def _joined(base: str, own: str) -> str:
    try:
        return urljoin(base, own).rstrip("#")
    except ValueError:  # no URI, such as "http://[": nothing refers to it, and the engine says what is wrong
        return own


def _names(node: Schema, outer: str, base: str) -> Iterator[str]:
    """The URIs of a schema of its own."""
    if base != outer:
        yield base
    for keyword in ("$anchor", "$dynamicAnchor"):
        if keyword in node:
            yield f"{base}#{node[keyword]}"
    if str(node.get("$id", "")).startswith("#"):
        yield f"{base}{node['$id']}"


def walk(node: JSON, where: str = "") -> Iterator[tuple[str, JSON]]:
    """Every object of a document with its JSON Pointer, the document itself first."""
    if isinstance(node, dict):
        yield where, node
        for key, value in node.items():
            yield from walk(value, where + jsontext.pointer([key]))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from walk(value, f"{where}/{index}")
