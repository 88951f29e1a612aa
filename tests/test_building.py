"""Values that the builder makes, by the choices of `Simplest` and with wishes."""

from __future__ import annotations

from typing import Any

from conformance import packs
from conformance.generation.building import Builder, Wish
from conformance.generation.choosing import Seeded, Simplest
from conformance.schemas import DRAFT_2020_12, Schemas


def builder(schema: dict[str, Any]) -> Builder:
    return Builder(Schemas({"a.json": schema}, DRAFT_2020_12), "a.json")


def test_the_simplest_value_has_what_is_required_and_nothing_else() -> None:
    schema = {
        "type": "object",
        "required": ["id"],
        "properties": {"id": {"type": "integer", "minimum": 3}, "note": {"type": "string"}},
    }
    assert builder(schema).build(Simplest()) == {"id": 3}


def test_a_wish_for_a_member_is_fulfilled() -> None:
    schema = {"properties": {"a": {"properties": {"b": {"items": {"const": 7}}}}}}
    assert builder(schema).build(Simplest(), Wish("/a/b/1")) == {"a": {"b": [7, 7]}}


def test_a_wish_for_a_branch_says_where_it_applies() -> None:
    schema = {
        "properties": {"a": {"anyOf": [{"const": 1}, {"$ref": "#/$defs/x"}]}},
        "$defs": {"x": {"const": 2}},
    }
    assert builder(schema).reach(Simplest(), Wish(location="a.json#/$defs/x")) == ({"a": 2}, "/a")


def test_the_same_seed_makes_the_same_value() -> None:
    pack = packs.find("va-agent-protocol")
    one, two = (Builder(pack.schemas(), "message.schema.json").build(Seeded(11)) for _ in range(2))
    assert one == two
