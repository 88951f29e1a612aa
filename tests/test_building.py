"""Values that the builder makes, by the choices of `Simplest` and with wishes."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from conformance import packs
from conformance.generation.building import Builder, NothingFits, Wish
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


def test_what_holds_itself_comes_to_an_end() -> None:
    node = {
        "type": "object",
        "required": ["next", "more"],
        "properties": {
            "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
            "more": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        },
    }
    schema = {"$ref": "#/$defs/node", "$defs": {"node": node}}
    makes = builder(schema)
    made = [makes.build(Seeded(seed)) for seed in range(30)]
    assert all(jsonschema.Draft202012Validator(schema).is_valid(one) for one in made)
    assert max(len(str(one)) for one in made) > 200
    assert makes.build(Simplest())["more"] == []


def test_what_would_have_to_hold_itself_does_not_fit() -> None:
    with pytest.raises(NothingFits):
        builder({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}).build(Simplest())


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "minProperties": 3, "patternProperties": {"^x-[a-z]+$": {"type": "null"}}},
        {"type": "object", "minProperties": 2, "propertyNames": {"enum": ["p", "q"]}},
        {
            "type": "object",
            "minProperties": 2,
            "propertyNames": {"pattern": "^[a-z]$"},
            "properties": {"A": {}},
        },
        {
            "type": "object",
            "minProperties": 2,
            "properties": {"a": {}, "b": {}},
            "additionalProperties": False,
        },
        {"type": "object", "maxProperties": 1, "required": ["z"], "properties": {"a": {}, "b": {}}},
        {"type": "array", "minItems": 2, "uniqueItems": True, "items": {"type": "boolean"}},
        {"type": "string", "maxLength": 0},
        {"type": "string", "minLength": 300},
        {"type": "string", "format": "date", "pattern": "^2027-"},
        {"type": "string", "format": "of our own"},
        {"type": "string", "allOf": [{"pattern": "^a"}, {"pattern": "[0-9]$"}, {"maxLength": 4}]},
        {"type": "integer", "maximum": 5},
        {"type": "number", "minimum": -0.003, "exclusiveMaximum": 0},
    ],
    ids=str,
)
def test_bounds_names_and_patterns_together(schema: dict[str, Any]) -> None:
    judge = jsonschema.Draft202012Validator(schema)
    makes = builder(schema)
    assert all(judge.is_valid(makes.build(choices)) for choices in (Simplest(), *map(Seeded, range(15))))
