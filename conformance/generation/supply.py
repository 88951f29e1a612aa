"""Values that were judged before they are handed out: of a kind of a pack, or of any schema.

A `Supply` makes a value with any `Choices`, has it judged, and tries again a few times; it never hands out
one that does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from conformance import packs
from conformance.errors import BadPack
from conformance.events import JSON
from conformance.generation.building import Builder, NothingFits
from conformance.generation.choosing import Choices, Seeded, Simplest
from conformance.generation.kinds import KindMaker
from conformance.packs import Pack
from conformance.schemas import DRAFT_2020_12, Schemas, check

TRIES = 12
"""So often is a value made anew that its judge refused."""

_WARM = 3
HOME = "schema.json"
"""The name, among `Schemas`, of a schema that belongs to no pack."""


class Supply(NamedTuple):
    """What makes values, and what judges them; `of` says of what, for people."""

    build: Callable[[Choices], JSON]
    is_valid: Callable[[JSON], bool]
    of: str

    def take(self, choices: Choices) -> JSON:
        """A value that fits; NothingFits where none is found."""
        for attempt in range(TRIES):
            value = self.build(choices.again(attempt) if attempt else choices)
            if self.is_valid(value):
                return value
        raise NothingFits(f"the kit makes no value of {self.of} that its own judge accepts")

    def warm(self) -> Supply:
        """The same, sure that something fits: NothingFits if not even the simplest value does."""
        self.take(Simplest())
        for seed in range(_WARM):
            self.take(Seeded(seed))
        return self


@lru_cache(maxsize=256)
def of_kind(pack: Pack, kind: str, form: str = "sender", *, as_published: bool = False) -> Supply:
    """Messages of a kind; NoSuchKind where the pack has none of that name."""
    maker = KindMaker(pack, pack.kind(kind), form, as_published=as_published)
    return Supply(maker.build, maker.is_valid, f"{pack.name} {kind}")


def of_kinds(
    protocol: str, kind: str | None = None, form: str = "sender", *, as_published: bool = False
) -> list[Supply]:
    """Messages of one kind of `protocol` or `protocol@revision`, or one supply for each kind; NoSuchPack or
    NoSuchKind where there is none."""
    pack = packs.find(protocol)
    names = [kind] if kind is not None else [one.name for one in pack.kinds]
    return [of_kind(pack, name, form, as_published=as_published) for name in names]


def of_schema(schema: Any, others: Mapping[str, Any] | None = None, name: str = "the schema") -> Supply:
    """Values of a schema; see `schemas_of`."""
    schemas = schemas_of(schema, others, name)
    return Supply(Builder(schemas, HOME).build, lambda value: schemas.is_valid(HOME, value), name)


def schemas_of(schema: Any, others: Mapping[str, Any] | None = None, name: str = "the schema") -> Schemas:
    """A schema as the document HOME, draft-07 or 2020-12 as its `$schema` says (else 2020-12).

    `others` are documents that it refers to, by name; a reference leads to one by its `$id`. Raises BadPack
    where the schema is none, or refers to what is not there.
    """
    if not isinstance(schema, (bool, dict)):
        raise BadPack(f"{name} is no JSON Schema: it is neither an object nor a boolean")
    document = schema if isinstance(schema, dict) else {"allOf": [schema]}
    dialect = str(document.get("$schema", DRAFT_2020_12))
    schemas = Schemas({HOME: document, **(others or {})}, dialect)
    for known, one in schemas.documents.items():
        check(one, dialect, name if known == HOME else known)
    schemas.is_valid(HOME, None)  # or else it cannot be judged by
    return schemas
