"""Schemas: places, forms, repairs, and two engines that have to agree."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judging import AWP, DIALECT, VA
from rfc3339_validator import validate_rfc3339

from conformance import packs
from conformance.errors import BadPack
from conformance.explain import FORMATS, Explainer
from conformance.findings import BrokenConstraint
from conformance.integers import U53
from conformance.jsontext import parse, pointer, replace_lone_surrogates
from conformance.places import walk
from conformance.schemas import EMBEDDED, EXPLAINED, Schemas, SenderForm, apply_patch, embedded, fits, load

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def schemas(document: Any, dialect: str = DIALECT, **others: Any) -> Schemas:
    """One document, `a.json`, that says which dialect it is in, as a published one does."""
    documents = {"a.json": document, **others}
    return Schemas({name: {"$schema": dialect, **one} for name, one in documents.items()}, dialect)


def faults(document: Any, value: Any) -> list[tuple[str, str]]:
    return [(error.keyword, error.pointer) for error in schemas(document).errors("a.json", value)]


# --- The two engines -------------------------------------------------------------------------------

# Fragments of schemas that use the keywords of the published ones, and values that try their edges.
U53_SCHEMA = {"type": "integer", "minimum": 0, "maximum": U53[1]}
FRAGMENTS: list[dict[str, Any]] = [
    {},
    {"type": "integer"},
    {"type": "number"},
    {"type": ["string", "null"]},
    {"type": "array"},
    {"type": "object"},
    U53_SCHEMA,
    {"type": "integer", "minimum": -U53[1], "maximum": U53[1]},
    {"type": "number", "minimum": 0, "maximum": 1},
    {"exclusiveMinimum": 0},
    {"exclusiveMaximum": 1},
    {"enum": [1, "a", None, True]},
    {"enum": [0, 1, 2, 3, 9, 11]},
    {"const": 1},
    {"const": True},
    {"const": {"a": [1.0]}},
    {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
    {"pattern": "^x-[a-z0-9]+\\."},
    {"pattern": "^(0|[1-9][0-9]{0,4})$"},
    {"minLength": 2, "maxLength": 3},
    {"minItems": 1, "maxItems": 2, "uniqueItems": True},
    {"uniqueItems": True},
    {"contains": {"const": 1}},
    {"items": U53_SCHEMA},
    {"prefixItems": [{"type": "string"}], "items": {"type": "null"}},
    {"minProperties": 1, "maxProperties": 1},
    {"required": ["a", "b"]},
    {"properties": {"a": U53_SCHEMA, "b": False}},
    {"properties": {"a": {}}, "additionalProperties": False},
    {"properties": {"a": {}}, "additionalProperties": {"type": "string"}},
    {"properties": {"a": {}}, "patternProperties": {"^x-[a-z0-9]+\\.": {}}, "additionalProperties": False},
    {"patternProperties": {r"\d$": {"type": "string"}}},
    {"propertyNames": {"pattern": "^[a-z.]+$"}},
    {"dependentRequired": {"a": ["b"]}},
    {"format": "date-time"},
    {"format": "uri"},
    {"format": "uuid"},
    {"$ref": "#/$defs/u53"},
    {"$ref": "#/$defs/tree"},
]
LEGACY_FRAGMENTS: list[dict[str, Any]] = [
    *(one for one in FRAGMENTS if "prefixItems" not in one and "dependentRequired" not in one),
    {"items": [{"type": "string"}, U53_SCHEMA]},
    {"items": [{"type": "string"}], "additionalItems": {"type": "null"}},
    {"items": [{"type": "string"}], "additionalItems": False},
    {"dependencies": {"a": ["b"]}},
    {"dependencies": {"a": {"required": ["b"]}}},
    {"$ref": "#/$defs/u53", "type": "string", "enum": []},
    {"const": "a", "if": {"minLength": 1}, "then": {"maxLength": 1}},
]
DEFINITIONS = {"u53": U53_SCHEMA, "tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}


def _combined(parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    branches = st.lists(parts, min_size=1, max_size=3)
    return st.one_of(
        *(branches.map(lambda some, name=name: {name: some}) for name in ("allOf", "anyOf", "oneOf")),
        parts.map(lambda one: {"not": one}),
        st.tuples(parts, parts, parts).map(lambda some: dict(zip(("if", "then", "else"), some, strict=True))),
        parts.map(lambda one: {"properties": {"a": one}, "required": ["a"]}),
        parts.map(lambda one: {"items": one}),
    )


SCHEMAS = st.recursive(st.sampled_from(FRAGMENTS), _combined, max_leaves=4)
LEGACY_SCHEMAS = st.recursive(st.sampled_from(LEGACY_FRAGMENTS), _combined, max_leaves=4)

# Exact numbers, as the kit reads them: Decimal where a float would round.
NUMBERS = [
    "0", "-0", "1", "1.0", "1e0", "-1", "2", "3", "1.5", "0.1", "10e-1", "1e16", "9007199254740991",
    "9007199254740992", "9007199254740991.0", "9007199254740991.4", "9007199254740993.0",
    "-9007199254740992", "18446744073709551616", "1E400", "-1E400", "1e-400", "1e9999",
    "999999999999999999999999999999",
]  # fmt: skip
STRINGS = ["", "a", "ab", "abc", "abcd", "1.2.3", "1.2.3\n", "١.٢.٣", "é", "😀", "x-v.a", "x-v.a\n",
           "2026-04-01T00:00:00Z", "2026-04-01", "https://a.example/b", "\0", "\ud800", "a\ud800",
           "00000000-0000-4000-8000-000000000000"]  # fmt: skip
SCALARS = st.one_of(
    st.sampled_from([parse(token).value for token in NUMBERS]),
    st.sampled_from(STRINGS),
    st.sampled_from([None, True, False]),
)
KEYS = st.sampled_from(["a", "b", "x-v.a", "x-v.a\n", "1", "١", "1\n", "\ud800"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)


def second_opinion(document: Any, value: Any, dialect: str = DIALECT) -> list[BrokenConstraint]:
    """What jsonschema says, whether or not jsonschema-rs has refused the value."""
    bare = {keyword: part for keyword, part in document.items() if keyword != "$schema"}
    explainer = Explainer({"a.json": bare}, {"a.json": "urn:a"}, dialect, lambda _: "", lambda _: {})
    return list(explainer.explain("urn:a#", value))


@settings(max_examples=250, deadline=None)
@given(SCHEMAS, VALUES)
def test_the_engines_agree(schema: dict[str, Any], value: Any) -> None:
    document = {"$defs": DEFINITIONS, "allOf": [schema]}
    judge = schemas(document)
    valid = judge.is_valid("a.json", value)
    assert valid is (judge.errors("a.json", value) == [])
    assert valid is (second_opinion(document, replace_lone_surrogates(value)) == [])


@settings(max_examples=200, deadline=None)
@given(LEGACY_SCHEMAS, VALUES)
def test_the_engines_agree_under_draft_7(schema: dict[str, Any], value: Any) -> None:
    document = {"$defs": DEFINITIONS, "allOf": [schema]}
    judge = schemas(document, DRAFT_7)
    valid = judge.is_valid("a.json", value)
    assert valid is (judge.errors("a.json", value) == [])
    assert valid is (second_opinion(document, replace_lone_surrogates(value), DRAFT_7) == [])


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(FRAGMENTS), VALUES)
def test_the_engines_blame_the_same_constraints(schema: dict[str, Any], value: Any) -> None:
    value, document = replace_lone_surrogates(value), {"$defs": DEFINITIONS, **schema}
    first = jsonschema_rs.validator_for(document, validate_formats=True).iter_errors(value)
    told = {(_keyword(error.schema_path), pointer(map(str, error.instance_path))) for error in first}
    second = {(error.keyword, error.pointer) for error in second_opinion(document, value)}
    # Of members that are not allowed, and of names, jsonschema-rs names the object, and the kit each member.
    of_object = {"additionalProperties"} | ({"pattern"} if "propertyNames" in schema else set())
    assert told == {(keyword, "" if keyword in of_object else place) for keyword, place in second}


def _keyword(path: list[Any]) -> str:
    """The last step of a schema's path; the schema `false` at `properties/b` has no keyword of its own."""
    return "false" if path[-2:] == ["properties", "b"] else str(path[-1])


@pytest.mark.parametrize("token", ["1E400", "-1E400", "1E99999", "-1E99999", "1E-99999", "9" * 1000])
@pytest.mark.parametrize(
    "keyword",
    [{"type": "integer"}, U53_SCHEMA, {"exclusiveMinimum": 0}, {"const": 1}, {"enum": [1]}, {"multipleOf": 3},
     {"uniqueItems": True}, {"not": {"type": "integer"}}],
    ids=str,
)  # fmt: skip
def test_a_huge_exponent_passes_through_both_engines(token: str, keyword: dict[str, Any]) -> None:
    """Expected values from exact arithmetic on the token, with Python's own Decimal and int."""
    value = Decimal(token)
    whole = not token.startswith("1E-")
    holds = {
        "type": whole,
        "minimum": whole and 0 <= value <= U53[1],
        "exclusiveMinimum": value > 0,
        "const": False,
        "enum": False,
        "multipleOf": whole and int(value) % 3 == 0,
        "uniqueItems": True,
        "not": not whole,
    }
    expected = holds["minimum" if "minimum" in keyword else next(iter(keyword))]
    judge = schemas(keyword)
    assert judge.is_valid("a.json", value) is expected
    assert (judge.errors("a.json", value) == []) is expected
    assert (second_opinion(keyword, value) == []) is expected


@pytest.mark.parametrize(
    ("token", "step", "valid"),
    [("0.3", 0.1, True), ("0.35", 0.1, False), ("6", 3, True), ("7", 3, False), ("6.0", 3, True),
     ("9007199254740991.5", 0.25, True), ("1E400", 5, True), ('"a"', 5, True)],
)  # fmt: skip
def test_multiples_are_exact(token: str, step: float, valid: bool) -> None:
    value = parse(token).value
    assert (second_opinion({"multipleOf": step}, value) == []) is valid
    assert schemas({"multipleOf": step}).is_valid("a.json", value) is valid


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("dialect", [DIALECT, DRAFT_7])
def test_the_engines_agree_on_formats(name: str, dialect: str) -> None:
    explainer = Explainer(
        {"a.json": {"format": name}}, {"a.json": "urn:a"}, dialect, lambda _: "", lambda _: {}
    )
    judge = schemas({"format": name}, dialect)
    for text in ("", "a b", "2026-01-01", "a@b.example", "/a", "1", "[", "urn:x", "127.0.0.1"):
        agreed = list(explainer.explain("urn:a#", text)) == []
        assert judge.is_valid("a.json", text) is agreed, text


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("2026-04-01T00:00:00Z", True),
        ("2026-04-01T00:00:00.123456789+05:30", True),
        ("2026-04-01t00:00:00z", True),
        ("2016-12-31T23:59:60Z", True),
        ("2026-04-01T00:00:00", False),
        ("2026-04-01 00:00:00Z", False),
        ("2026-04-01T24:00:00Z", False),
        ("2026-02-30T00:00:00Z", False),
        ("2026-04-01T00:00:00Z\n", False),
        ("2026-04-01T00:00:00+24:00", False),
        ("٢٠٢٦-04-01T00:00:00Z", False),
        ("2026-091T00:00:00Z", False),
        ("", False),
    ],
)
def test_a_date_time_is_one_of_rfc_3339(text: str, valid: bool) -> None:
    assert schemas({"format": "date-time"}).is_valid("a.json", text) is valid
    independent = validate_rfc3339(text.upper().replace("23:59:60", "23:59:59"))
    # The independent validator takes a space, a newline at the end, and an offset of 24 hours.
    assert independent is valid or text[10:11] == " " or text[-1:] == "\n" or "+24" in text


def test_a_document_that_names_its_dialect_is_explained_with_exact_numbers_and_ecma_patterns() -> None:
    """jsonschema turns to its stock validator at a `$schema`; the kit must not."""
    exact = {"type": "object", "properties": {"n": {"type": "integer"}, "p": {"pattern": r"^\d$"}}}
    judge = schemas({"properties": {"b": {"$ref": "b.json"}}}, **{"b.json": {"$id": "b.json", **exact}})
    documents = {name: {**one, "$id": f"https://x.example/{name}"} for name, one in judge.documents.items()}
    judge = Schemas({name: {"$schema": DIALECT, **one} for name, one in documents.items()}, DIALECT)
    value = {"b": {"n": Decimal("9007199254740993.5"), "p": "1\n", "m": Decimal("1E400")}}
    errors = judge.errors("a.json", value)
    assert [(error.keyword, error.pointer) for error in errors] == [("type", "/b/n"), ("pattern", "/b/p")]
    assert errors[0].location == "b.json#/properties/n/type"
    assert judge.errors("a.json", {"b": {"n": Decimal("1E400")}}) == []


def test_another_dialect_than_the_packs_is_the_packs_fault() -> None:
    with pytest.raises(BadPack, match="draft-07"):
        Schemas({"a.json": {"$schema": DRAFT_7}}, DIALECT)


def test_a_dialect_may_end_with_an_empty_fragment() -> None:
    assert Schemas({"a.json": {"$schema": DRAFT_7, "type": "null"}}, DRAFT_7).is_valid("a.json", None)


def test_draft_7_is_judged_by_its_own_rules() -> None:
    """`dependentRequired` came with 2019-09, `dependencies` went with it."""
    value = {"a": 1}
    assert schemas({"dependentRequired": {"a": ["b"]}}, DRAFT_7).errors("a.json", value) == []
    assert schemas({"dependencies": {"a": ["b"]}}, DRAFT_7).errors("a.json", value) != []


def test_a_dialect_that_is_not_one_of_two_is_the_packs_fault() -> None:
    with pytest.raises(
        BadPack, match=r"no dialect that the kit judges by; those are http://json-schema.org/draft-07"
    ):
        Schemas({}, "https://json-schema.org/draft/2019-09/schema")


@pytest.mark.parametrize("dialect", [DIALECT, DRAFT_7])
def test_a_dialect_may_be_referred_to(dialect: str) -> None:
    judge = schemas({"properties": {"schema": {"$ref": dialect}}}, dialect)
    assert judge.is_valid("a.json", {"schema": {"type": "null", "pattern": r"\0"}})
    (error,) = judge.errors("a.json", {"schema": {"pattern": "(?i)a"}})
    assert error.message == 'the string "(?i)a" is not a valid regex'


# A document that gives each definition a fragment for an `$id`, as one published with draft-07 does.
FRAGMENT_IDS = {
    "$id": "https://x.example/communication.json",
    "$schema": DRAFT_7,
    "oneOf": [{"$ref": "#/definitions/Message"}, {"$ref": "#/definitions/Payload"}],
    "definitions": {
        "Message": {
            "$id": "#/definitions/Message",
            "type": "object",
            "required": ["id", "payload"],
            "properties": {
                "id": {"type": "string", "format": "uuid"},
                "payload": {"$ref": "#/definitions/Payload"},
                "sent": {"type": "string", "format": "date-time"},
            },
        },
        "Payload": {
            "$id": "#/definitions/Payload",
            "type": "object",
            "oneOf": [{"$ref": "#/definitions/Task"}, {"type": "object", "additionalProperties": True}],
        },
        "Task": {"$id": "#/definitions/Task", "type": "object", "required": ["taskId"]},
    },
}
MESSAGE = {"id": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "payload": {}}


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        # By hand: as published, a payload that is a Task fits both alternatives, and any object is a payload.
        ("", MESSAGE, [("oneOf", "", "the object")]),
        ("", {"taskId": 1}, [("oneOf", "", "the object")]),
        ("", {}, []),
        ("", 1, [("oneOf", "", "the number 1 is not of type object")]),
        ("#/definitions/Message", MESSAGE, []),
        (
            "#/definitions/Message",
            {**MESSAGE, "payload": {"taskId": 1}},
            [("oneOf", "/payload", "the object")],
        ),
        (
            "#/definitions/Message",
            {**MESSAGE, "id": "x"},
            [("format", "/id", 'the string "x" is not a valid uuid')],
        ),
        ("#/definitions/Message", {**MESSAGE, "sent": "today"}, [("format", "/sent", "the string")]),
        ("#/definitions/Task", {}, [("required", "", 'the member "taskId" is missing')]),
    ],
    ids=str,
)
def test_ids_that_are_fragments_give_the_published_verdict(place: str, value: Any, said: list[Any]) -> None:
    judge = Schemas({"a.json": FRAGMENT_IDS}, DRAFT_7)
    found = judge.errors("a.json" + place, value)
    assert judge.is_valid("a.json" + place, value) is (said == [])
    validator = jsonschema.Draft7Validator({**FRAGMENT_IDS, "$id": "https://x.example/b.json"})
    definition = {"$ref": "#/definitions/" + place.rpartition("/")[2]} if place else FRAGMENT_IDS
    assert validator.evolve(schema=definition).is_valid(value) is (said == []) or "format" in str(said)
    assert [(error.keyword, error.pointer) for error in found] == [(keyword, at) for keyword, at, _ in said]
    assert all(error.message.startswith(start) for error, (*_, start) in zip(found, said, strict=True))
    assert all(error.location.startswith("a.json#/") for error in found)


# --- Hazards ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["\ud800", ["\udfff"], {"a": "\ud800"}, {"\ud800": 1}], ids=ascii)
def test_a_lone_surrogate_counts_as_a_replacement_character(value: Any) -> None:
    assert schemas({"type": ["string", "array", "object"]}).is_valid("a.json", value)
    (error,) = schemas({"type": "number"}).errors("a.json", value)
    assert error.keyword == "type"
    assert schemas({"maxLength": 1}).is_valid("a.json", value)
    assert fits({"type": "null"}, value) is False


def nested(depth: int, core: Any) -> Any:
    for _ in range(depth):
        core = [core]
    return core


TREE = {"type": ["array", "null"], "items": {"$ref": "#"}}


CHOICE = {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#"}}]}


def test_depth_is_no_reason_to_crash() -> None:
    judge = schemas(CHOICE)
    assert judge.errors("a.json", nested(511, None)) == []
    (error,) = judge.errors("a.json", nested(511, 1))
    assert error.message == "something nested deeply in it is not as it should be"
    assert error.location == "a.json"


def test_a_long_message_of_the_first_engine_is_cut_at_its_beginning() -> None:
    (error,) = schemas(CHOICE).errors("a.json", nested(250, "a" * 500))
    assert error.message.startswith("…")
    assert len(error.message) == 201
    assert error.message.endswith("is not valid under any of the schemas listed in the 'anyOf' keyword")


def test_what_was_found_before_it_became_too_deep_is_told() -> None:
    found = schemas(TREE).errors("a.json", ["x", nested(510, 1)])
    assert [(error.keyword, error.pointer) for error in found] == [("type", "/0")]


def test_where_the_second_engine_gives_up_the_first_one_explains() -> None:
    """Deeper than Python's stack with jsonschema on it, and not too deep for jsonschema-rs."""
    (error,) = schemas(TREE).errors("a.json", nested(250, 1))
    assert (error.keyword, error.pointer) == ("type", "/0" * 250)
    assert error.location == "a.json#/type"


def test_no_more_than_a_bounded_number_of_errors_is_explained() -> None:
    found = schemas({"items": {"type": "null"}}).errors("a.json", [1] * 5000)
    assert len(found) == EXPLAINED == 50


def test_unique_items_are_not_slow_to_explain() -> None:
    value = [{"n": number} for number in range(20_000)] + [{"n": 7}]
    assert faults({"uniqueItems": True}, value) == [("uniqueItems", "")]


def test_a_reference_that_is_nowhere_is_the_packs_fault_and_fetches_nothing() -> None:
    with pytest.raises(BadPack, match="cannot be used"):
        schemas({"$ref": "https://nowhere.example/x.json"}).is_valid("a.json", 1)


def test_a_schema_that_is_none_is_the_packs_fault() -> None:
    with pytest.raises(BadPack, match="cannot be used"):
        schemas({"type": "nothing"}).is_valid("a.json", 1)
    with pytest.raises(BadPack, match="cannot be used"):
        fits({"type": "nothing"}, 1)


# --- Locations -------------------------------------------------------------------------------------


def test_a_location_is_a_file_and_a_pointer() -> None:
    judge = schemas({"$id": "https://x.example/a.json", "$defs": {"a b/c%": {"type": "null"}}})
    where = "a.json#/$defs/a b~1c%"
    assert judge.uri("a.json") == "https://x.example/a.json#"
    assert judge.uri(where) == "https://x.example/a.json#/$defs/a%20b~1c%25"
    assert judge.is_valid(where, None)
    (error,) = judge.errors(where, 1)
    assert error.location == where + "/type"


def test_a_document_without_an_id_has_a_urn() -> None:
    assert schemas({}).uri("a.json#/x") == "urn:agent-conformance-kit:a.json#/x"


def test_an_unknown_document_is_the_packs_fault() -> None:
    with pytest.raises(BadPack, match=r"no schema document is named 'b.json'; there are a.json"):
        schemas({}).is_valid("b.json", 1)


@pytest.mark.parametrize(
    ("location", "there"),
    [
        ("a.json", True),
        ("a.json#", True),
        ("a.json#/$defs/b", True),
        ("a.json#/$defs/c", False),
        ("c", False),
    ],
)
def test_what_a_schema_holds(location: str, there: bool) -> None:
    assert schemas({"$defs": {"b": {}}}).holds(location) is there


def test_a_foreign_schema_stands_nowhere() -> None:
    assert schemas({}).location_of({}) == ""


def test_walk_names_every_object() -> None:
    document = {"a": [{"b/": {}}, 1], "c": 2}
    assert [where for where, _ in walk(document)] == ["", "/a/0", "/a/0/b~1"]


# --- Places ----------------------------------------------------------------------------------------

DOCUMENTS = {
    "a.json": {
        "$id": "https://x.example/a.json",
        "$schema": DIALECT,
        "$defs": {
            "n": {"type": "integer"},
            "self": {"allOf": [{"$ref": "#/$defs/self"}, {"$ref": "#/$defs/self"}]},
        },
        "properties": {
            "direct": {"$ref": "#/$defs/n"},
            "other": {"$ref": "b.json#/$defs/n"},
            "list": {"prefixItems": [{"type": "string"}], "items": {"$ref": "#/$defs/n"}},
            "choice": {"oneOf": [{"$ref": "#/$defs/n"}, {"type": "string"}]},
            "again": {"$ref": "#/$defs/self"},
            "free": True,
            "tilde~/": {"$ref": "#/$defs/n"},
        },
        "patternProperties": {"^x-": {"$ref": "#/$defs/n"}},
        "additionalProperties": {"properties": {"n": {"$ref": "#/$defs/n"}}},
        "if": {"required": ["conditional"], "properties": {"when": {"const": 1}}},
        "then": {"properties": {"conditional": {"$ref": "#/$defs/n"}}},
    },
    "b.json": {"$id": "https://x.example/b.json", "$schema": DIALECT, "$defs": {"n": {"type": "integer"}}},
}
WANTED = frozenset({"a.json#/$defs/n", "b.json#/$defs/n"})


@pytest.mark.parametrize(
    ("value", "places"),
    [
        ({"direct": 1}, ["a /direct"]),
        ({"other": 1}, ["b /other"]),
        ({"list": ["s", 1, 2]}, ["a /list/1", "a /list/2"]),
        ({"choice": 1}, ["a /choice"]),
        ({"again": 1}, []),
        ({"free": {"direct": 1}}, []),
        ({"tilde~/": 1}, ["a /tilde~0~1"]),
        ({"x-a": 1, "other": 2}, ["a /x-a", "b /other"]),
        ({"else": {"n": 1}}, ["a /else/n"]),
        ({"conditional": 1}, ["a /conditional"]),
        ({"conditional": 1, "when": 2}, []),
        ([1], []),
        (1, []),
    ],
    ids=str,
)
def test_the_places_that_a_definition_governs(value: Any, places: list[str]) -> None:
    found = Schemas(DOCUMENTS, DIALECT).places("a.json", value, WANTED)
    assert [f"{location[0]} {pointer}" for location, pointer, _ in found] == places


NUMBER = {"maximum": 9}


@pytest.mark.parametrize(
    ("schema", "overlay"),
    [
        ({"allOf": [True, {"$ref": "#/$defs/n"}]}, NUMBER),
        ({"properties": {"n": {"$ref": "#/$defs/n"}, "m": {}}}, {"properties": {"n": NUMBER}}),
        (
            {"$ref": "#/$defs/n", "items": {"$ref": "#/$defs/n"}},
            {"allOf": [NUMBER, {"items": NUMBER}]},
        ),
        ({"properties": {"n": {"$ref": "#/$defs/n"}, "next": {"$ref": "#"}}}, None),
        ({"patternProperties": {"^x": {"$ref": "#/$defs/n"}}}, None),
        ({"items": [{"$ref": "#/$defs/n"}]}, None),
    ],
    ids=[
        "a branch that says nothing",
        "a member that says nothing",
        "two",
        "what holds itself",
        "members by pattern",
        "items by place",
    ],
)
def test_what_is_wanted_of_places_as_one_schema(schema: Any, overlay: Any) -> None:
    document = schema | {"$defs": {"n": {"type": "integer"}}}
    dialect = DRAFT_7 if isinstance(schema.get("items"), list) else DIALECT
    assert Schemas({"a.json": document}, dialect).overlay("a.json", {"a.json#/$defs/n": NUMBER}) == overlay


@pytest.mark.parametrize("reference", ["#somewhere", "#/$defs/missing", "b.json", "https://y.example/a.json"])
def test_a_reference_that_leads_nowhere_reaches_nothing(reference: str) -> None:
    """Using such a schema is an error of the pack; looking for places in it is none."""
    judge = schemas({"$defs": {"n": {}}, "properties": {"a": {"$ref": reference}}})
    assert list(judge.places("a.json", {"a": 1}, frozenset({"a.json#/$defs/n"}))) == []
    assert list(judge.places("b.json", {"a": 1}, frozenset({"a.json#/$defs/n"}))) == []


@pytest.mark.parametrize(("condition", "reached"), [(True, ["/then"]), (False, ["/else"])])
def test_a_condition_may_be_a_boolean(condition: bool, reached: list[str]) -> None:
    document = {"$defs": {"n": {}}, "if": condition}
    for branch in ("then", "else"):
        document[branch] = {"properties": {branch: {"$ref": "#/$defs/n"}}}
    found = schemas(document).places("a.json", {"then": 1, "else": 1}, frozenset({"a.json#/$defs/n"}))
    assert [pointer for _, pointer, _ in found] == reached


LEGACY = {
    "$id": "https://x.example/a.json#",
    "definitions": {
        "n": {"type": "integer"},
        "named": {"$id": "#named", "items": {"$ref": "#/definitions/n"}},
        "self": {"$id": "#/definitions/self", "properties": {"n": {"$ref": "#/definitions/n"}}},
        "moved": {
            "$id": "https://y.example/m.json",
            "definitions": {"n": {"type": "integer"}},
            "properties": {
                "far": {"$ref": "#/definitions/n"},
                "near": {"$ref": "https://x.example/a.json#/definitions/n"},
            },
        },
        "condition": {
            "$id": "folder/c.json",
            "if": {"properties": {"when": {"$ref": "c.json#/definitions/one"}}},
            "then": {"properties": {"n": {"$ref": "/a.json#/definitions/n"}}},
            "definitions": {"one": {"const": 1}},
        },
    },
    "properties": {
        "tuple": {
            "items": [{"type": "string"}, {"$ref": "#/definitions/n"}],
            "additionalItems": {"$ref": "#/definitions/n"},
        },
        "list": {
            "items": {"$ref": "#/definitions/n"},
            "additionalItems": {"items": {"$ref": "#/definitions/n"}},
        },
        "new": {"prefixItems": [{"$ref": "#/definitions/n"}]},
        "beside": {"$ref": "#/definitions/self", "properties": {"m": {"$ref": "#/definitions/n"}}},
        "lost": {"$id": "https://z.example/", "$ref": "#/definitions/n"},
        "anchor": {"$ref": "#named"},
        "moved": {"$ref": "https://y.example/m.json"},
        "condition": {"$ref": "folder/c.json"},
        "conditions": {"items": {"$ref": "folder/c.json"}},
    },
    "dependencies": {"a": {"properties": {"b": {"$ref": "#/definitions/n"}}}, "c": ["a"]},
}  # fmt: skip
LEGACY_WANTED = frozenset({"a.json#/definitions/n", "a.json#/definitions/moved/definitions/n"})


@pytest.mark.parametrize(
    ("value", "places"),
    [
        ({"tuple": ["s", 1, 2]}, ["n /tuple/1", "n /tuple/2"]),
        ({"list": [1, [2]]}, ["n /list/0", "n /list/1"]),
        ({"new": [1]}, []),
        ({"beside": {"n": 1, "m": 2}}, ["n /beside/n"]),
        ({"lost": 1}, ["n /lost"]),
        ({"anchor": [1]}, ["n /anchor/0"]),
        ({"moved": {"far": 1, "near": 2}}, ["moved /moved/far", "n /moved/near"]),
        ({"condition": {"n": 1, "when": 1}}, ["n /condition/n"]),
        ({"condition": {"n": 1, "when": 2}}, []),
        ({"conditions": [{"n": 1, "when": 1}, {"n": 2, "when": 2}]}, ["n /conditions/0/n"]),
        ({"a": 1, "b": 2}, ["n /b"]),
        ({"b": 2, "c": 1}, []),
    ],
    ids=str,
)
def test_the_places_under_draft_7(value: Any, places: list[str]) -> None:
    """An `$id` that is a fragment is an anchor, others move the base, and beside `$ref` nothing counts."""
    judge = Schemas({"a.json": LEGACY}, DRAFT_7)
    found = judge.places("a.json", value, LEGACY_WANTED)
    assert [f"{location.split('/')[2]} {pointer}" for location, pointer, _ in found] == places
    judge.is_valid("a.json", value)  # the engine finds its way through these references as well


def test_places_within_a_definition_that_has_an_id_of_its_own() -> None:
    judge = Schemas({"a.json": LEGACY}, DRAFT_7)
    found = judge.places("a.json#/definitions/moved", {"far": 1, "near": 2}, LEGACY_WANTED)
    assert [pointer for _, pointer, _ in found] == ["/far", "/near"]
    (error,) = judge.errors("a.json#/definitions/moved", {"far": "x"})
    assert error.location == "a.json#/definitions/moved/definitions/n/type"


def test_places_by_anchors_and_dependents_under_2020_12() -> None:
    document = {
        "$defs": {"n": {"$anchor": "n"}, "m": {"$dynamicAnchor": "m"}},
        "properties": {
            "a": {"$ref": "#n"},
            "b": {"$ref": "#m"},
            "c": {"$ref": "#n", "items": {"$ref": "#n"}},
        },
        "dependentSchemas": {"a": {"properties": {"d": {"$ref": "#n"}}}},
    }
    wanted = frozenset({"a.json#/$defs/n", "a.json#/$defs/m"})
    found = schemas(document).places("a.json", {"a": 1, "b": 2, "c": [3], "d": 4}, wanted)
    assert sorted(pointer for _, pointer, _ in found) == ["/a", "/b", "/c", "/c/0", "/d"]


def test_a_place_is_told_once_however_many_ways_lead_there() -> None:
    twice = {"$defs": {"n": {}}, "allOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]}
    assert len(list(schemas(twice).places("a.json", 1, frozenset({"a.json#/$defs/n"})))) == 1


def test_places_are_found_at_any_depth() -> None:
    judge = schemas({"$defs": {"n": {}}, "items": {"$ref": "#"}, "allOf": [{"$ref": "#/$defs/n"}]})
    found = list(judge.places("a.json", nested(511, 1), frozenset({"a.json#/$defs/n"})))
    assert len(found) == 512
    assert found[-1][1] == "/0" * 511


# --- The sender's form -----------------------------------------------------------------------------

FORM = SenderForm(closed="x-closed", extension="^x-[a-z]+\\.", merge="x-lint")


def test_the_senders_form_closes_what_is_marked() -> None:
    made = FORM.of({"x-closed": True, "properties": {"a": {"x-closed": True}, "b": {}}, "items": [{}, 1]})
    closed = {"additionalProperties": False, "patternProperties": {"^x-[a-z]+\\.": {}}, "x-closed": True}
    assert made == {**closed, "properties": {"a": closed, "b": {}}, "items": [{}, 1]}


def test_the_senders_form_keeps_what_a_schema_says_of_other_members() -> None:
    open_ = {"x-closed": True, "additionalProperties": {"type": "string"}}
    assert FORM.of(open_) == open_
    assert FORM.of({"x-closed": False}) == {"x-closed": False}
    own = FORM.of({"x-closed": True, "patternProperties": {"^y": {}}})
    assert own["patternProperties"] == {"^y": {}, "^x-[a-z]+\\.": {}}


def test_the_senders_form_has_the_stricter_keywords() -> None:
    assert FORM.of({"type": "integer", "x-lint": {"enum": [1]}}) == {"type": "integer", "enum": [1]}


# --- Repairs ---------------------------------------------------------------------------------------

# From RFC 6902, appendix A, as far as the operations are supported.
PATCHES = [
    ({"foo": "bar"}, {"op": "add", "path": "/baz", "value": "qux"}, {"baz": "qux", "foo": "bar"}),
    ({"foo": ["bar", "baz"]}, {"op": "add", "path": "/foo/1", "value": "q"}, {"foo": ["bar", "q", "baz"]}),
    ({"baz": "qux", "foo": "bar"}, {"op": "remove", "path": "/baz"}, {"foo": "bar"}),
    ({"foo": ["bar", "q", "baz"]}, {"op": "remove", "path": "/foo/1"}, {"foo": ["bar", "baz"]}),
    ({"baz": "qux"}, {"op": "replace", "path": "/baz", "value": "boo"}, {"baz": "boo"}),
    ({"baz": None}, {"op": "replace", "path": "/baz", "value": 1}, {"baz": 1}),
    ({"foo": ["bar"]}, {"op": "add", "path": "/foo/-", "value": ["x"]}, {"foo": ["bar", ["x"]]}),
    ({"/": 9, "~1": 10}, {"op": "test", "path": "/~01", "value": 10}, {"/": 9, "~1": 10}),
    ({"a": [1, {"b": 2}]}, {"op": "replace", "path": "/a/1/b", "value": 3}, {"a": [1, {"b": 3}]}),
]


@pytest.mark.parametrize(("document", "operation", "result"), PATCHES, ids=lambda one: json.dumps(one))
def test_a_patch_is_applied_as_in_rfc_6902(document: Any, operation: dict[str, Any], result: Any) -> None:
    before = json.dumps(document)
    assert apply_patch(document, [operation]) == result
    assert json.dumps(document) == before


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/b"},
        {"op": "replace", "path": "/b", "value": 1},
        {"op": "replace", "path": "/a/1", "value": 1},
        {"op": "test", "path": "/a/0", "value": 2},
        {"op": "test", "path": "/b", "value": 2},
        {"op": "add", "path": "/b/c", "value": 1},
        {"op": "add", "path": "/a/2", "value": 1},
        {"op": "add", "path": "/a/-1", "value": 1},
        {"op": "add", "path": "/a/x", "value": 1},
        {"op": "add", "path": "/a/0/x", "value": 1},
        {"op": "add", "path": "", "value": 1},
        {"op": "remove", "path": "a"},
        {"op": "move", "path": "/b", "from": "/a"},
        {"op": "multiply", "path": "/a"},
        {"path": "/a"},
    ],
    ids=str,
)
def test_a_patch_that_meets_nothing_is_the_packs_fault(operation: dict[str, Any]) -> None:
    with pytest.raises(BadPack, match="a patch cannot"):
        apply_patch({"a": [1]}, [operation])


@pytest.mark.parametrize(("text", "said"), [("{", "is not JSON"), ("[]", "is not a JSON object")])
def test_a_document_that_is_none_is_the_packs_fault(text: str, said: str) -> None:
    with pytest.raises(BadPack, match=rf"a.json {said}"):
        load(text, "a.json")


def test_a_document_is_read() -> None:
    assert load('{"type": "null"}', "a.json") == {"type": "null"}


# --- The packs' own schemas ------------------------------------------------------------------------


def dialect_of(pack: packs.Pack) -> Any:
    """jsonschema's own validator for the dialect of a pack."""
    return jsonschema.validators.validator_for({"$schema": pack.meta["dialect"]})


@pytest.mark.parametrize("form", ["sender", "receiver"])
@pytest.mark.parametrize("pack", packs.find_all(), ids=lambda pack: pack.name)
def test_every_document_of_a_pack_is_a_schema_that_both_engines_take(pack: packs.Pack, form: str) -> None:
    judge = pack.schemas(form)
    assert judge.documents
    for name, document in judge.documents.items():
        dialect_of(pack).check_schema(document)
        for value in ({}, 17):
            assert judge.is_valid(name, value) is (judge.errors(name, value) == []), name


ERRATA = [(pack, erratum) for pack in packs.find_all() for erratum in pack.errata]
BY_ID = [erratum.id for _, erratum in ERRATA]


def document_for(pack: packs.Pack, erratum: packs.Erratum) -> str:
    """The document that judges the witness of an erratum: that of messages, if it is one."""
    is_message = "payload" in erratum.witness["message"]
    return pack.kinds[0].schema.partition("#")[0] if is_message else erratum.schema


def verdict(pack: packs.Pack, documents: dict[str, Any], erratum: packs.Erratum) -> str:
    """Judged without this kit's engine room: jsonschema alone, formats aside."""
    import referencing
    import referencing.jsonschema

    specification = referencing.jsonschema.specification_with(pack.meta["dialect"])
    registry: referencing.Registry[Any] = referencing.Registry().with_resources(
        (one.get("$id", name), specification.create_resource(one)) for name, one in documents.items()
    )
    checker = dialect_of(pack)(documents[document_for(pack, erratum)], registry=registry)
    return "valid" if checker.is_valid(erratum.witness["message"]) else "invalid"


@pytest.mark.parametrize(("pack", "erratum"), ERRATA, ids=BY_ID)
def test_a_witness_shows_the_defect_and_its_repair(pack: packs.Pack, erratum: packs.Erratum) -> None:
    assert erratum.witness["as_published"] != erratum.witness["repaired"]
    assert verdict(pack, pack.repaired(()), erratum) == erratum.witness["as_published"]
    assert verdict(pack, pack.repaired(pack.errata), erratum) == erratum.witness["repaired"]


@pytest.mark.parametrize(("pack", "erratum"), ERRATA, ids=BY_ID)
def test_each_erratum_is_needed(pack: packs.Pack, erratum: packs.Erratum) -> None:
    """Without it, with all the others, its own witness or another's is judged wrongly."""
    others = tuple(one for one in pack.errata if one.id != erratum.id)
    documents = pack.repaired(others)
    assert any(verdict(pack, documents, one) != one.witness["repaired"] for one in pack.errata)


@pytest.mark.parametrize(("pack", "erratum"), ERRATA, ids=BY_ID)
def test_the_kit_judges_a_witness_both_ways(pack: packs.Pack, erratum: packs.Erratum) -> None:
    message = erratum.witness["message"]
    document = document_for(pack, erratum)
    for as_published, known in ((True, "as_published"), (False, "repaired")):
        errors = pack.schemas(as_published=as_published).errors(document, message)
        assert ("invalid" if errors else "valid") == erratum.witness[known]


def test_there_are_errata_to_judge() -> None:
    assert {"VA-ERR-1", "VA-ERR-2", "VA-ERR-3", "VA-ERR-4"} <= set(BY_ID)
    assert {"OSSA-ERR-1", "OSSA-ERR-2", "OSSA-ERR-4", "OSSA-ERR-5"} <= set(BY_ID)
    assert AWP.errata == ()
    assert len(VA.errata) == 4


# ── schemas within other documents ───────────────────────────────────────────────────────────────


def test_a_schema_in_another_document_may_hold_what_few_can_write() -> None:
    """A number beyond every double is judged by; half a character no engine takes, so nobody is."""
    schemas = Schemas({}, DIALECT)
    holds = embedded(schemas, parse('{"a": {"maximum": 1e400}}').value, "/a")
    assert holds is not None
    assert (holds(10**399), holds(10**401)) == (True, False)
    assert embedded(schemas, parse('{"a": {"const": "\\ud800"}}').value, "/a") is None


def test_of_schemas_in_other_documents_not_all_are_kept() -> None:
    schemas = Schemas({}, DIALECT)
    for number in (*range(EMBEDDED + 1), 0):
        holds = embedded(schemas, {"a": {"const": number}}, "/a")
        assert holds is not None
        assert (holds(number), holds(number + 1)) == (True, False)
    assert len(schemas.embedded) == 2
