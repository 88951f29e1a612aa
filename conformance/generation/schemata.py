"""Schemas in their places: a subschema together with what its references mean there.

A `Site` is made once for each schema object (and, where a document uses `$dynamicRef`, each dynamic scope),
so that identity can stand for equality.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from referencing import Registry
from referencing.exceptions import Unresolvable

from conformance.errors import BadPack
from conformance.explain import specification
from conformance.schemas import DRAFT_7, Schemas

Schema = Any

LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
SINGLE = ("additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items",
          "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties")  # fmt: skip
NAMED = ("dependencies", "dependentSchemas", "patternProperties", "properties")
REFERENCES = ("$ref", "$dynamicRef")


class Site:
    """A schema, and how a reference in it is resolved. Equal only to itself."""

    __slots__ = ("_home", "_made", "resolver", "schema")

    def __init__(self, schema: Schema, resolver: Any, home: Schemata) -> None:
        self.schema = schema
        self.resolver = resolver
        self._home = home
        self._made: dict[str, Site] = {}

    def child(self, schema: Schema) -> Site:
        """The site of a subschema of this one."""
        return self._home.inside(schema, self.resolver)

    def made(self, key: str, schema: Schema) -> Site:
        """The site of a schema that is made of this one's parts, and is made once for each `key`."""
        if key not in self._made:
            self._made[key] = Site(schema, self.resolver, self._home)
        return self._made[key]

    @property
    def opposite(self) -> Site:
        """What does not hold here."""
        return self.made("not", {"not": self.schema})

    def target(self, reference: str) -> Site:
        """What a `$ref` or `$dynamicRef` of this schema refers to; BadPack where there is nothing."""
        return self._home.resolved(self, reference)

    @property
    def keywords(self) -> dict[str, Any]:
        """The schema's keywords, those of draft-07 that stand beside a `$ref` left out."""
        schema = self.schema
        if schema is True:
            return {}
        if schema is False:
            return {"enum": []}
        return {"$ref": schema["$ref"]} if self._home.legacy and "$ref" in schema else schema

    @property
    def legacy(self) -> bool:
        """Whether it is of draft-07."""
        return self._home.legacy


class Schemata:
    """The sites of one pack's schemas, in one form."""

    def __init__(self, schemas: Schemas) -> None:
        from jsonschema_specifications import REGISTRY

        self.schemas = schemas
        self.legacy = schemas.dialect.rstrip("#") == DRAFT_7
        self._specification = specification(schemas.dialect)
        named = [
            (schemas.uri(name).rstrip("#"), self._specification.create_resource(document))
            for name, document in schemas.documents.items()
        ]
        self._registry: Registry[Any] = REGISTRY.with_resources(named).crawl()
        self._sites: dict[Any, Site] = {}

    @cached_property
    def _is_dynamic(self) -> bool:
        return any("$dynamicRef" in str(document) for document in self.schemas.documents.values())

    def at(self, location: str) -> Site:
        """The site of a location such as `file.schema.json#/$defs/name`."""
        return self._lookup(self._registry.resolver(), self.schemas.uri(location))

    def with_root(self, schema: Schema) -> Site:
        """A schema of our own making, whose references are absolute (`Schemas.uri`)."""
        return Site(schema, self._registry.resolver(), self)

    def inside(self, schema: Schema, resolver: Any) -> Site:
        """The site of a subschema."""
        if isinstance(schema, dict) and "$id" in schema:
            resolver = resolver.in_subresource(self._specification.create_resource(schema))
        return self._site(schema, resolver)

    def resolved(self, site: Site, reference: str) -> Site:
        """What a reference at a site refers to."""
        return self._lookup(site.resolver, reference)

    def _lookup(self, resolver: Any, reference: str) -> Site:
        try:
            found = resolver.lookup(reference)
        except Unresolvable as error:
            raise BadPack(f"a schema refers to {error.ref!r}, and there is no such thing") from None
        return self._site(found.contents, found.resolver)

    def _site(self, schema: Schema, resolver: Any) -> Site:
        scope: tuple[str, ...] = ()
        if self._is_dynamic:
            scope = tuple(dict.fromkeys(uri for uri, _ in resolver.dynamic_scope()))
        key = (schema if isinstance(schema, bool) else id(schema), scope)
        if key not in self._sites:
            self._sites[key] = Site(schema, resolver, self)
        return self._sites[key]


def below(site: Site) -> Iterator[Site]:
    """The sites of a schema's direct subschemas, and of what it refers to."""
    for keyword, value in site.keywords.items():
        if keyword in REFERENCES:
            yield site.target(value)
        elif keyword in LISTS or (keyword == "items" and isinstance(value, list)):
            yield from map(site.child, value)
        elif keyword in SINGLE:
            yield site.child(value)
        elif keyword in NAMED:
            yield from (site.child(sub) for sub in value.values() if not isinstance(sub, list))
