"""Values that the builder makes, by the choices of `Simplest` and with wishes."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from conformance import packs
from conformance.errors import BadPack
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
        {"type": "integer", "not": {"multipleOf": 2}},
        {"not": {"type": ["null", "boolean", "object", "array", "integer", "string"]}},
        {
            "type": "object",
            "properties": {"a": {"const": 1}},
            "additionalProperties": False,
            "not": {"const": {}},
        },
        {"minProperties": 1, "propertyNames": {"anyOf": [{"type": "integer"}, {"maxLength": 2}]}},
        {
            "minProperties": 1,
            "propertyNames": {"anyOf": [{"format": "date", "maxLength": 3}, {"pattern": "^k$"}]},
        },
        {"minProperties": 1, "patternProperties": {"^(?!a)[a-c]$": {}}, "additionalProperties": False},
        {"required": ["a", "b"], "maxProperties": 1},
    ],
    ids=str,
)
def test_bounds_names_and_patterns_together(schema: dict[str, Any]) -> None:
    judge = jsonschema.Draft202012Validator(schema)
    makes = builder(schema)
    assert all(judge.is_valid(makes.build(choices)) for choices in (Simplest(), *map(Seeded, range(15))))


EVEN = {"type": "integer", "multipleOf": 4, "not": {"multipleOf": 2}}
"""No integer, but that is seen only of each."""


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "required": ["a", "b"], "maxProperties": 1},
        {"type": "object", "required": ["a"], "maxProperties": 1, "not": {"propertyNames": {"const": "a"}}},
        pytest.param(
            {
                "type": "object",
                "maxProperties": 9,
                "allOf": [{"anyOf": [{"required": [f"a{n}"]}, {"required": [f"b{n}"]}]} for n in range(10)],
            },
            id="nine members, of which ten have to be there",
        ),
        {"type": "object", "minProperties": 2, "properties": {"a": {}}, "additionalProperties": False},
        {"type": "object", "minProperties": 1, "propertyNames": False},
        {"type": "object", "minProperties": 1, "propertyNames": {"type": "integer"}},
        {
            "type": "object",
            "minProperties": 1,
            "patternProperties": {"^(?=b)a$": {}},
            "additionalProperties": False,
        },
        {"type": "integer", "minimum": 1.2, "maximum": 1.8},
        EVEN,
        {"type": "string", "format": "date", "maxLength": 3},
        {"type": "string", "pattern": "[]"},
        {"not": {"type": ["null", "boolean", "object", "array", "number", "string"]}},
    ],
    ids=str,
)
def test_of_what_nothing_fits_nothing_is_made(schema: dict[str, Any]) -> None:
    with pytest.raises(NothingFits, match="no value fits the schema"):
        builder(schema).build(Simplest())


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "minItems": 5000},  # more than is made of one schema
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1e-300},
        {"type": "string", "pattern": "^(a)\\1$"},
        {
            "type": "object",
            "minProperties": 1,
            "patternProperties": {"^(a)\\1$": {}},
            "additionalProperties": False,
        },
    ],
    ids=str,
)
def test_what_is_hard_to_make_is_said_not_to_be_found(schema: dict[str, Any]) -> None:
    with pytest.raises(NothingFits, match="or none that the kit finds"):
        builder(schema).build(Simplest())


def chain(length: int, end: Any) -> Any:
    """A schema of objects in objects, each as the member `a` of the one above."""
    for _ in range(length):
        end = {"type": "object", "required": ["a"], "properties": {"a": end}}
    return end


def at_the_end(value: Any, length: int) -> Any:
    for _ in range(length):
        value = value["a"]
    return value


def test_far_down_values_are_flat() -> None:
    makes = builder(chain(7, {"properties": {"deep": chain(3, {}), "flat": {}}, "type": "object"}))
    ends = [at_the_end(makes.build(Seeded(seed)), 7) for seed in range(20)]
    assert any("flat" in end for end in ends)
    assert not any("deep" in end for end in ends)
    assert at_the_end(builder(chain(8, {})).build(Seeded(1)), 8) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": [1], "properties": {"a": {"$ref": "#/$defs/t"}}},
        # It is looked for in two ways of the object, and both need what cannot be made.
        {
            "type": "object",
            "required": ["a"],
            "anyOf": [{"required": ["b"]}, {"required": ["c"]}],
            "properties": {
                "a": {
                    "type": "object",
                    "required": ["z"],
                    "properties": {"z": EVEN, "t": {"$ref": "#/$defs/t"}},
                }
            },
        },
    ],
    ids=["a value that is none", "beside what is impossible"],
)
def test_a_wish_for_a_definition_that_no_value_meets(schema: dict[str, Any]) -> None:
    makes = builder({**schema, "$defs": {"t": {}}})
    with pytest.raises(NothingFits, match=r"meets a\.json#/\$defs/t"):
        makes.reach(Simplest(), Wish(location="a.json#/$defs/t"))


def test_a_reference_to_nothing_is_the_packs_fault() -> None:
    with pytest.raises(BadPack, match="refers to 'urn:nowhere', and there is no such thing"):
        builder({"properties": {"x": {"$ref": "urn:nowhere"}}}).build(Simplest(), Wish("/x"))
