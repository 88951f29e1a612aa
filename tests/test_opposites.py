"""What breaks each keyword, made on purpose: jsonschema says that it does."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from conformance.generation.building import Builder, NothingFits, Wish
from conformance.generation.choosing import Seeded, Simplest
from conformance.schemas import DRAFT_7, DRAFT_2020_12, Schemas

S: dict[str, Any] = {"type": "string"}
BROKEN = [
    {"type": ["string", "integer"]},
    {"type": "number"},
    {"const": 3},
    {"enum": [1, None, [], {}]},
    {"minimum": 3},
    {"exclusiveMaximum": 0.5},
    {"multipleOf": 3},
    {"multipleOf": 0.25},
    {"minLength": 2},
    {"maxLength": 3},
    {"pattern": "^a+$"},
    {"required": ["a", "b"]},
    {"properties": {"a": S}},
    {"patternProperties": {"^x-": S}},
    {"properties": {"a": S}, "additionalProperties": False},
    {"properties": {"a": S}, "patternProperties": {"^b": {}}, "additionalProperties": S},
    {"unevaluatedProperties": False},
    {"propertyNames": {"maxLength": 2}},
    {"minProperties": 2},
    {"maxProperties": 1},
    {"dependentRequired": {"a": ["b"]}},
    {"dependentSchemas": {"a": {"required": ["b"]}}},
    {"prefixItems": [S, {"type": "integer"}]},
    {"items": S},
    {"prefixItems": [S], "items": {"const": 1}},
    {"prefixItems": [S], "unevaluatedItems": False},
    {"contains": S},
    {"contains": S, "minContains": 3, "maxContains": 4},
    {"uniqueItems": True},
    {"minItems": 2},
    {"maxItems": 1},
    {"allOf": [{"type": "integer"}, {"minimum": 3}]},
    {"anyOf": [{"type": "integer"}, {"minLength": 3}]},
    {"oneOf": [{"type": "integer"}, {"minimum": 3}]},
    {"not": {"type": "integer", "minimum": 3}},
    {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}},
    {"$ref": "#/$defs/a", "$defs": {"a": {"type": "boolean"}}},
]


def builder(schema: dict[str, Any], dialect: str = DRAFT_2020_12) -> Builder:
    return Builder(Schemas({"a.json": schema}, dialect), "a.json")


@pytest.mark.parametrize("schema", BROKEN, ids=str)
def test_what_is_not_to_hold_does_not(schema: dict[str, Any]) -> None:
    judge = jsonschema.Draft202012Validator(schema)
    denied = {"not": {name: value for name, value in schema.items() if name != "$defs"}, **_shared(schema)}
    twice = {
        "not": {"not": {name: value for name, value in schema.items() if name != "$defs"}},
        **_shared(schema),
    }
    for choices in (Simplest(), *map(Seeded, range(8))):
        assert not judge.is_valid(builder(denied).build(choices))
        assert judge.is_valid(builder(twice).build(choices))


def _shared(schema: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name == "$defs"}


@pytest.mark.parametrize("schema", BROKEN, ids=str)
def test_a_wish_breaks_one_keyword_where_it_stands(schema: dict[str, Any]) -> None:
    keyword = next(
        name for name in reversed(schema) if name not in ("$defs", "if", "minContains", "maxContains")
    )
    whole = {"properties": {"p": schema}, **_shared(schema)}
    made = builder(whole).reach(Simplest(), Wish(location="a.json#/properties/p", breaking=keyword))
    assert made.pointer == "/p"
    errors = [*jsonschema.Draft202012Validator(whole).iter_errors(made.value)]
    assert errors
    assert all(list(error.absolute_path)[:1] == ["p"] for error in errors)


@pytest.mark.parametrize(
    "schema",
    [
        {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
        {"items": [S, {"type": "integer"}], "additionalItems": {"type": "boolean"}},
        {"definitions": {"a": {"const": 1}}, "items": {"$ref": "#/definitions/a", "const": 2}},
    ],
    ids=str,
)
def test_what_only_draft_07_has(schema: dict[str, Any]) -> None:
    judge = jsonschema.Draft7Validator(schema)
    keyword = next(name for name in reversed(schema) if name != "definitions")
    for choices in (Simplest(), *map(Seeded, range(8))):
        assert judge.is_valid(builder(schema, DRAFT_7).build(choices))
        wish = Wish(location="a.json", breaking=keyword)
        assert not judge.is_valid(builder(schema, DRAFT_7).reach(choices, wish).value)


@pytest.mark.parametrize(
    "wish",
    [
        Wish("/a/x"),
        Wish("/c"),
        Wish(location="a.json#/$defs/unused"),
        Wish(location="a.json#/properties/a/items", breaking="type"),
    ],
)
def test_a_wish_that_cannot_be_fulfilled(wish: Wish) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "string"}, "maxItems": 0}},
        "additionalProperties": False,
        "$defs": {"unused": {}},
    }
    with pytest.raises(NothingFits, match="no value that the kit can make"):
        builder(schema).reach(Simplest(), wish)


WISHES = {
    "a.json#/$defs/deep": "/a/0/b",
    "a.json#/properties/a/items/allOf/0/patternProperties/^x": None,
    "a.json#/properties/c/contains": "/c/0",
    "a.json#/properties/c/prefixItems/1": "/c/1",
    "a.json#/properties/d/unevaluatedProperties": None,
    "a.json#/properties/d/dependentSchemas/k": "/d",
    "a.json#/properties/d/then": "/d",
    "a.json#/properties/d/else": "/d",
}


@pytest.mark.parametrize(("location", "pointer"), WISHES.items(), ids=WISHES)
def test_a_wish_leads_through_every_applicator(location: str, pointer: str | None) -> None:
    schema = {
        "properties": {
            "a": {
                "items": {
                    "propertyNames": {"maxLength": 3},
                    "properties": {"b": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/deep"}]}},
                    "allOf": [{"patternProperties": {"^x": {"const": 5}}}],
                }
            },
            "c": {"prefixItems": [{}, {"const": 2}], "contains": {"const": 9}},
            "d": {
                "properties": {"k": {}},
                "unevaluatedProperties": {"type": "integer"},
                "dependentSchemas": {"k": {"minProperties": 2}},
                "if": {"required": ["k"]},
                "then": {"minProperties": 2},
                "else": {"maxProperties": 4},
            },
        },
        "$defs": {"deep": {"const": 7}},
    }
    made = builder(schema).reach(Simplest(), Wish(location=location))
    assert jsonschema.Draft202012Validator(schema).is_valid(made.value)
    assert pointer in (None, made.pointer)


PATTERNS = [
    r"^[a-z]{2,4}-\d+$", r"^(?:ab|c)+$", r"^(?<n>x)y$", r"\S", r"^\w+@\w+\.\w{2}$", r"^[^a-z]$", r"^.$",
    r"^\u0041\x42\cA\t$", r"^\u{1F600}$",
    r"^\p{L}+$", r"^\P{L}$", r"^\p{Script=Greek}$", r"^a{3}$", r"^a{2,}$",
    r"^a{0}b?c*$", r"^[\d.\]-]+$", r"^a|b$", r"^[\s\S]{3}$", r"^\bword\b$", r"^(?=a)a\.$", r"^\/\$\^$",
    r"^[+\-*]$", r"^\ud83d\ude00$",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_texts_of_patterns(pattern: str) -> None:
    schemas = Schemas({"a.json": {"type": "string", "pattern": pattern}}, DRAFT_2020_12)
    made = [Builder(schemas, "a.json").build(choices) for choices in (Simplest(), *map(Seeded, range(6)))]
    assert all(schemas.is_valid("a.json", text) for text in made)


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.001}, 0.0001),
        ({"type": "number", "minimum": 0.5, "maximum": 0.5}, 0.5),
        ({"type": "number", "multipleOf": 0.01, "minimum": 0.07}, 0.07),
        ({"allOf": [{"multipleOf": 4}, {"multipleOf": 6}], "type": "integer", "minimum": 1}, 12),
        ({"type": "integer", "maximum": -3}, -3),
        ({"type": "string", "minLength": 40, "pattern": "^[ab]+$"}, "a" * 40),
        ({"type": "string", "minLength": 4, "pattern": "b$"}, "aaab"),
        ({"type": "string", "format": "ipv6", "minLength": 1}, "0000:0000:0000:0000:0000:0000:0000:0000"),
    ],
)
def test_the_simplest_leaf(schema: dict[str, Any], wanted: Any) -> None:
    assert builder(schema).build(Simplest()) == wanted


FORMATS = [
    "date", "time", "date-time", "duration", "uuid", "uri", "iri", "uri-reference", "iri-reference",
    "uri-template", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6",
    "json-pointer", "relative-json-pointer",
    "regex",
]  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_texts_of_formats(name: str) -> None:
    schemas = Schemas({"a.json": {"type": "string", "format": name}}, DRAFT_2020_12)
    made = [Builder(schemas, "a.json").build(choices) for choices in (Simplest(), *map(Seeded, range(12)))]
    assert all(schemas.is_valid("a.json", text) for text in made)
    assert len(set(made)) > 1


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "then": {"minLength": 3}, "else": {"minLength": 3}},
        {"type": "array", "uniqueItems": False},
        {"contains": {"const": 1}, "minContains": 0, "maxContains": 1},
        {"items": {"const": 1}, "unevaluatedItems": False},
    ],
    ids=str,
)
def test_what_a_keyword_says_only_beside_another_is_not_what_is_broken(schema: dict[str, Any]) -> None:
    judge = jsonschema.Draft202012Validator(schema)
    for choices in (Simplest(), *map(Seeded, range(8))):
        assert not judge.is_valid(builder({"not": schema}).build(choices))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "additionalItems": False},
        {"items": {"const": 1}, "additionalItems": False},
        {"items": [{"const": 1}, {"const": 2}]},
    ],
    ids=str,
)
def test_the_same_of_draft_07(schema: dict[str, Any]) -> None:
    judge = jsonschema.Draft7Validator(schema)
    for choices in (Simplest(), *map(Seeded, range(8))):
        assert not judge.is_valid(builder({"not": schema}, DRAFT_7).build(choices))
