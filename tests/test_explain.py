"""Why a value is refused, told to a person."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from judging import AWP, DIALECT, VA

from conformance.findings import BrokenConstraint
from conformance.schemas import DRAFT_7, Schemas


def errors(schema: Any, value: Any) -> list[BrokenConstraint]:
    return Schemas({"a.json": {"$schema": DIALECT, **schema}}, DIALECT).errors("a.json", value)


# Schema, value, and of the one error: keyword, pointer, message, expected, actual.
SENTENCES: list[tuple[Any, Any, str, str, str, tuple[Any, ...], Any]] = [
    ({"required": ["a"]}, {"b": 1}, "required", "", 'the member "a" is missing', ("a",), ["b"]),
    (
        {"properties": {"a": {}}, "additionalProperties": False},
        {"a": 1, "b/": 2},
        "additionalProperties",
        "/b~1",
        'the member "b/" is not allowed here',
        ("a",),
        2,
    ),
    ({"enum": [1, "b"]}, "c", "enum", "", 'the string "c" is not one of 1, "b"', (1, "b"), "c"),
    ({"const": "x"}, None, "const", "", 'null is not "x"', ("x",), None),
    ({"type": "integer"}, 1.5, "type", "", "the number 1.5 is not of type integer", ("integer",), 1.5),
    (
        {"type": ["string", "null"]},
        [],
        "type",
        "",
        "the array [] is not of type string or null",
        ("string", "null"),
        [],
    ),
    (
        {"format": "date-time"},
        "yesterday",
        "format",
        "",
        'the string "yesterday" is not a valid date-time',
        ("date-time",),
        "yesterday",
    ),
    ({"pattern": "^a$"}, "b", "pattern", "", 'the string "b" does not match the pattern ^a$', ("^a$",), "b"),
    ({"minimum": 0}, -1, "minimum", "", "the number -1 is less than 0", (0,), -1),
    (
        {"maximum": 9007199254740991},
        Decimal("9007199254740991.5"),
        "maximum",
        "",
        "the number 9007199254740991.5 is greater than 9007199254740991",
        (9007199254740991,),
        Decimal("9007199254740991.5"),
    ),
    ({"exclusiveMinimum": 0}, 0, "exclusiveMinimum", "", "the number 0 is not greater than 0", (0,), 0),
    ({"exclusiveMaximum": 0}, 0, "exclusiveMaximum", "", "the number 0 is not less than 0", (0,), 0),
    ({"minLength": 1}, "", "minLength", "", 'the string "" is shorter than 1 character', (1,), ""),
    ({"maxItems": 0}, [1], "maxItems", "", "the array [1] has more than 0 items", (0,), [1]),
    ({"minProperties": 1}, {}, "minProperties", "", "the object {} has fewer than 1 member", (1,), {}),
    (
        {"not": {"type": "array"}},
        [],
        "not",
        "",
        "the array [] is of type array, which is forbidden here",
        (),
        [],
    ),
    ({"uniqueItems": True}, [1, 1.0], "uniqueItems", "", "two of the items are equal", (), [1, 1.0]),
    ({"multipleOf": 2}, 3, "multipleOf", "", "3 is not a multiple of 2", (), 3),
    (
        {"dependentRequired": {"a": ["b"]}},
        {"a": 1},
        "dependentRequired",
        "",
        'the member "b" is missing, which has to stand beside "a"',
        ("b",),
        ["a"],
    ),
    ({"contains": {"const": 1}}, [2], "contains", "", "no item of the array [2] is 1", (), [2]),
    (
        {"contains": {"type": "null"}, "minContains": 2},
        [None],
        "minContains",
        "",
        "the array [null] has 1 item that is of type null; at least 2 must be",
        (2,),
        [None],
    ),
    (
        {"contains": {"enum": [1, 2]}, "maxContains": 1},
        [1, 2],
        "maxContains",
        "",
        "the array [1, 2] has 2 items, each of which is one of 1, 2; at most 1 may be",
        (1,),
        [1, 2],
    ),
    (
        {"contains": {"const": 1}, "minContains": 2},
        [],
        "minContains",
        "",
        "no item of the array [] is 1; at least 2 must be",
        (2,),
        [],
    ),
    (
        {"prefixItems": [{}], "items": False},
        [1, 2],
        "items",
        "",
        "the array [1, 2] has more than 1 item",
        (1,),
        [1, 2],
    ),
    (
        {"prefixItems": [{"type": "null"}]},
        [1],
        "type",
        "/0",
        "the number 1 is not of type null",
        ("null",),
        1,
    ),
    (
        {"prefixItems": [{}], "unevaluatedItems": False},
        [1, 2],
        "unevaluatedItems",
        "",
        "the array [1, 2] has items that are not allowed here",
        (),
        [1, 2],
    ),
    (
        {"properties": {"a": {}}, "unevaluatedProperties": False},
        {"a": 1, "b/": 2},
        "unevaluatedProperties",
        "/b~1",
        'the member "b/" is not allowed here',
        (),
        2,
    ),
    (
        {"propertyNames": {"pattern": "^x"}},
        {"x": 1, "b/": 2},
        "pattern",
        "/b~1",
        'the name "b/" does not match the pattern ^x',
        ("^x",),
        "b/",
    ),
    ({"propertyNames": False}, {"a": 1}, "propertyNames", "/a", 'the name "a" is not allowed here', (), "a"),
    (
        {"not": {"required": ["a"]}},
        {"a": 1},
        "not",
        "",
        'the object {"a": 1} has the member "a", which is forbidden here',
        (),
        {"a": 1},
    ),
    (
        {"not": {"required": ["a", "b"]}},
        {"a": 1, "b": 2},
        "not",
        "",
        'the object {"a": 1, "b": 2} has the members "a" and "b", which is forbidden here',
        (),
        {"a": 1, "b": 2},
    ),
    ({"not": {"const": 1}}, 1, "not", "", "the number 1 is forbidden here", (), 1),
    (
        {"not": {"enum": [1, 2]}},
        1,
        "not",
        "",
        "the number 1 is forbidden here",
        (),
        1,
    ),
    (
        {"not": {"pattern": "a"}},
        "a",
        "not",
        "",
        'the string "a" matches the pattern a, which is forbidden here',
        (),
        "a",
    ),
    (
        {"not": {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}},
        {"b": 1},
        "not",
        "",
        'the object {"b": 1} has the member "a" or has the member "b", which is forbidden here',
        (),
        {"b": 1},
    ),
    (
        {"not": {"minimum": 1, "maximum": 3}},
        2,
        "not",
        "",
        'the number 2 fits {"minimum": 1, "maximum": 3}, which is forbidden here',
        (),
        2,
    ),
]


@pytest.mark.parametrize(
    ("schema", "value", "keyword", "pointer", "message", "expected", "actual"),
    SENTENCES,
    ids=[f"{row[2]}-{number}" for number, row in enumerate(SENTENCES)],
)
def test_each_keyword_has_its_sentence(
    schema: Any, value: Any, keyword: str, pointer: str, message: str, expected: Any, actual: Any
) -> None:
    (error,) = errors(schema, value)
    assert (error.keyword, error.pointer, error.message) == (keyword, pointer, message)
    assert (error.expected, error.actual) == (expected, actual)
    place, _, last = error.location.rpartition("/")
    assert last == keyword
    assert place in ("a.json#", "a.json#/prefixItems/0", "a.json#/propertyNames")


def test_every_missing_member_is_named_once_with_the_place_of_its_property() -> None:
    found = errors({"required": ["a", "b/c"], "properties": {"a": {}, "b/c": {}}}, {})
    assert [error.about for error in found] == ["a.json#/properties/a", "a.json#/properties/b~1c"]


def test_the_schema_false_allows_no_member() -> None:
    (error,) = errors({"properties": {"a": False, "b": {}}}, {"a": 1, "b": 1})
    assert (error.pointer, error.message) == ("/a", 'the member "a" is not allowed here')
    assert errors({"properties": {"a": False}}, []) == []


def test_the_schema_false_has_no_keyword() -> None:
    (error,) = errors({"allOf": [False]}, 1)
    assert (error.keyword, error.location, error.pointer) == ("false", "a.json#/allOf/0", "")


def test_other_members_may_have_a_schema() -> None:
    (error,) = errors({"additionalProperties": {"type": "null"}, "properties": {"a": {}}}, {"a": 1, "b": 1})
    assert (error.keyword, error.pointer) == ("type", "/b")


def test_a_member_that_a_pattern_allows_is_no_extra_one() -> None:
    schema = {"patternProperties": {r"^x-\d$": {}}, "additionalProperties": False}
    found = errors(schema, {"x-1": 0, "x-1\n": 0, "x-١": 0})
    assert [error.pointer for error in found] == ["/x-1\n", "/x-١"]


def test_what_a_pattern_governs_is_judged() -> None:
    (error,) = errors({"patternProperties": {"^x-": {"type": "null"}}}, {"x-a": 1, "y": 1})
    assert (error.pointer, error.location) == ("/x-a", "a.json#/patternProperties/^x-/type")


CIRCLE = {"type": "object", "required": ["shape", "radius"], "properties": {"shape": {"const": "circle"}}}
SQUARE = {"type": "object", "required": ["shape", "side"], "properties": {"shape": {"const": "square"}}}


@pytest.mark.parametrize("choice", ["oneOf", "anyOf"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"shape": "square"}, 'the member "side" is missing'),
        ({"shape": "circle", "side": 1}, 'the member "radius" is missing'),
    ],
    ids=str,
)
def test_of_a_choice_the_branch_that_was_meant_is_explained(choice: str, value: Any, message: str) -> None:
    (error,) = errors({choice: [{"type": "string"}, CIRCLE, SQUARE]}, value)
    assert error.message == message


def test_a_choice_within_a_choice_is_explained_by_its_leaf() -> None:
    (error,) = errors(
        {"anyOf": [{"anyOf": [CIRCLE, {"type": "null"}]}, {"type": "string"}]}, {"shape": "circle"}
    )
    assert error.message == 'the member "radius" is missing'
    assert error.location == "a.json#/anyOf/0/anyOf/0/required"


def choice(*branches: Any) -> Any:
    return {"oneOf": list(branches)}


def told(schema: Any, value: Any) -> list[tuple[str, str, str]]:
    """(keyword, pointer, message) of each error."""
    return [(error.keyword, error.pointer, error.message) for error in errors(schema, value)]


def test_a_tag_that_no_branch_has_is_one_fault_and_all_tags_are_named() -> None:
    (error,) = errors({"anyOf": [{"type": "string"}, CIRCLE, SQUARE]}, {"shape": "sqare"})
    assert error.message == ('the string "sqare" is not one of "circle", "square"; did you mean "square"?')
    assert (error.keyword, error.location, error.pointer) == ("anyOf", "a.json#/anyOf", "/shape")
    assert (error.expected, error.actual) == (("circle", "square"), "sqare")


def test_a_type_that_no_branch_has_is_one_fault_and_all_types_are_named() -> None:
    (error,) = errors(choice({"type": ["string", "null"]}, {"type": "null"}, CIRCLE), 3)
    assert error.message == "the number 3 is not of type string or null or object"
    assert (error.keyword, error.location, error.pointer) == ("oneOf", "a.json#/oneOf", "")
    assert (error.expected, error.actual) == (("string", "null", "object"), 3)


def test_a_choice_of_one_is_no_choice() -> None:
    assert told(choice({"type": "string"}), 3) == [("type", "", "the number 3 is not of type string")]
    assert told(choice({"const": 1}), 3) == [("const", "", "the number 3 is not 1")]


def test_a_branch_is_meant_by_the_members_that_a_value_has() -> None:
    """Published payloads often have no tag: what is there says what was meant."""
    assigned = {
        "required": ["taskId", "action", "input"],
        "properties": {"taskId": {}, "action": {}, "input": {}},
    }
    query = {"required": ["query"], "properties": {"query": {}, "context": {}}}
    failed = {
        "required": ["taskId", "error"],
        "properties": {
            "taskId": {},
            "error": {"type": "object", "required": ["code"], "properties": {"code": {}}},
        },
    }
    schema = choice(query, {"allOf": [{"$ref": "#/$defs/assigned"}, True]}, failed) | {
        "$defs": {"assigned": assigned}
    }
    assert told(schema, {"taskId": 1, "action": 2}) == [("required", "", 'the member "input" is missing')]
    assert told(schema, {"taskId": 1, "error": {}}) == [
        ("required", "/error", 'the member "code" is missing')
    ]
    assert told(schema, {"context": 1}) == [("required", "", 'the member "query" is missing')]


def test_a_branch_whose_tag_fits_is_meant_whatever_else_is_wrong_with_it() -> None:
    tagged = {"properties": {"kind": {"const": "a"}, "n": {"type": "null"}, "m": {"type": "null"}}}
    other = {"properties": {"kind": {"const": "b"}}}
    untagged = {"required": ["kind", "x"]}
    found = told(choice(other, untagged, tagged), {"kind": "a", "n": 1, "m": 2})
    assert [pointer for _, pointer, _ in found] == ["/n", "/m"]


def test_a_constant_that_is_near_was_meant_rather_than_a_pattern() -> None:
    reason = {"anyOf": [{"pattern": "^x-"}, {"enum": ["timeout", "refused"]}]}
    ((keyword, _, message),) = told(reason, "Time-Out")
    assert keyword == "enum"
    assert message == 'the string "Time-Out" is not one of "timeout", "refused"; did you mean "timeout"?'
    ((keyword, _, message),) = told(reason, "whatever")
    assert (keyword, message) == ("pattern", 'the string "whatever" does not match the pattern ^x-')
    assert told({"anyOf": [{"enum": [1, 2]}, {"minimum": 9}]}, 3)[0][0] == "minimum"


def test_alternatives_of_presence_are_one_fault_and_all_members_are_named() -> None:
    (error,) = errors(choice({"required": ["text"]}, {"required": ["keys", "mode"]}), {"mode": 1})
    assert error.message == 'one of the members "text", "keys" is missing'
    assert (error.location, error.expected, error.actual) == (
        "a.json#/oneOf",
        ("text", "keys", "mode"),
        ["mode"],
    )


def test_a_branch_is_meant_by_a_member_whose_name_is_near() -> None:
    send, expect = ({"required": [verb], "properties": {verb: {}}} for verb in ("send", "expect"))
    assert told(choice(send, expect), {"expct": 1}) == [
        ("required", "", 'the member "expect" is missing; there is "expct": did you mean "expect"?')
    ]


def test_of_the_branch_that_was_meant_the_deepest_error_comes_first() -> None:
    schema = choice({"type": "null"}, {"required": ["a"], "properties": {"b": {"items": {"type": "null"}}}})
    assert [pointer for _, pointer, _ in told(schema, {"b": [1]})] == ["/b/0", ""]


def test_no_branch_can_be_meant_where_all_are_false() -> None:
    (error, *_) = errors({"anyOf": [False, False]}, 1)
    assert (error.location, error.message) == ("a.json#/anyOf/0", "the number 1 is not allowed here")


KNOWN = {"properties": {"status": {}, "taskId": {}}}


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        (
            {**KNOWN, "additionalProperties": False},
            {"staus": 1},
            'the member "staus" is not allowed here; did you mean "status"?',
        ),
        ({**KNOWN, "additionalProperties": False}, {"mood": 1}, 'the member "mood" is not allowed here'),
        (
            {**KNOWN, "additionalProperties": False},
            {"staus": 1, "status": 1},
            'the member "staus" is not allowed here',
        ),
        (
            {**KNOWN, "required": ["taskId"]},
            {"task_id": 1, "status": 2},
            'the member "taskId" is missing; there is "task_id": did you mean "taskId"?',
        ),
        ({**KNOWN, "required": ["taskId"]}, {"status": 2}, 'the member "taskId" is missing'),
        ({"required": ["state"]}, {"states": 2}, 'the member "state" is missing'),
        (
            {"const": "dispatch"},
            "Dispatch",
            'the string "Dispatch" is not "dispatch"; did you mean "dispatch"?',
        ),
        ({"enum": ["a", "b"]}, "c", 'the string "c" is not one of "a", "b"'),
        ({"enum": [1, "two"]}, 3, 'the number 3 is not one of 1, "two"'),
    ],
    ids=str,
)
def test_a_near_miss_is_asked_about(schema: Any, value: Any, message: str) -> None:
    """Only in the sentence, for it is one fault; and what is there by right was not meant otherwise."""
    (error,) = errors(schema, value)
    assert error.message == message


def test_of_many_allowed_values_the_nearest_are_listed_and_the_others_counted() -> None:
    names = [f"state-{letter}" for letter in "abcdefghijkl"] + ["completed"]
    (error,) = errors({"enum": names}, "Complete")
    assert error.message == (
        'the string "Complete" is not one of "completed", "state-a", "state-b", "state-c", "state-d", '
        '"state-e", "state-f", "state-g" and 5 more; did you mean "completed"?'
    )
    assert error.expected == tuple(names)
    (error,) = errors({"enum": list(range(10))}, 17)
    assert error.message == "the number 17 is not one of 0, 1, 2, 3, 4, 5, 6, 7 and 2 more"
    (error,) = errors({"enum": list(range(9))}, 17)
    assert error.message == "the number 17 is not one of 0, 1, 2, 3, 4, 5, 6, 7, 8"


def test_alternatives_that_fit_together_are_named() -> None:
    schema = {"$defs": {"low": {"maximum": 5}}, "oneOf": [{"$ref": "#/$defs/low"}, {"minimum": 9}, True]}
    (error,) = errors(schema, 2)
    assert error.message == "the number 2 fits 2 alternatives (low, number 3); exactly one is to fit"


@pytest.mark.parametrize(
    ("schema", "location", "pointer"),
    [
        ({"properties": {"a": False}}, "a.json#/properties/a", "/a"),
        ({"patternProperties": {"^a/": False}}, "a.json#/patternProperties/^a~1", "/a~1"),
        ({"dependentSchemas": {"a/": False}}, "a.json#/dependentSchemas/a~1", ""),
        ({"if": True, "then": False}, "a.json#/then", ""),
        ({"if": False, "else": False}, "a.json#/else", ""),
        ({"$defs": {"no": False}, "$ref": "#/$defs/no"}, "a.json#/$ref", ""),
        ({"oneOf": [False, False]}, "a.json#/oneOf/0", ""),
        ({"propertyNames": False}, "a.json#/propertyNames", "/a"),
        ({"unevaluatedProperties": False}, "a.json#/unevaluatedProperties", "/a"),
    ],
    ids=str,
)
def test_the_schema_false_has_a_place(schema: Any, location: str, pointer: str) -> None:
    value = {pointer.replace("~1", "/")[1:] or "a": 1, "a/": 1} if "/" in pointer[2:] else {"a": 1, "a/": 1}
    error = errors(schema, value)[0]
    assert (error.location, error.pointer) == (location, pointer)
    assert error.message.endswith("is not allowed here")


def test_an_error_in_the_dialect_itself_has_its_uri() -> None:
    found = errors({"$ref": DIALECT}, {"minLength": -1})
    assert found[0].location == (
        "https://json-schema.org/draft/2020-12/meta/validation#/$defs/nonNegativeInteger/minimum"
    )
    assert found[0].pointer == "/minLength"


NULL = {"type": "null"}
DRAFT_7_SENTENCES = [
    (
        {"dependencies": {"a": ["b"]}},
        {"a": 1},
        "dependencies",
        "",
        'the member "b" is missing, which has to stand beside "a"',
    ),
    ({"dependencies": {"a": {"required": ["b"]}}}, {"a": 1}, "required", "", 'the member "b" is missing'),
    ({"dependencies": {"a": False}}, {"a": 1}, "false", "", 'the object {"a": 1} is not allowed here'),
    ({"items": [NULL]}, [1], "type", "/0", "the number 1 is not of type null"),
    (
        {"items": [{}], "additionalItems": False},
        [1, 2],
        "additionalItems",
        "",
        "the array [1, 2] has more than 1 item",
    ),
    ({"items": [{}], "additionalItems": NULL}, [1, 2], "type", "/1", "the number 2 is not of type null"),
    ({"items": NULL}, [1], "type", "/0", "the number 1 is not of type null"),
    ({"contains": {"const": 1}, "minContains": 2}, [2], "contains", "", "no item of the array [2] is 1"),
    ({"contentEncoding": "base64"}, "%", "contentEncoding", "", 'the string "%" is not encoded as base64'),
    (
        {"contentMediaType": "application/json"},
        "{",
        "contentMediaType",
        "",
        'the string "{" holds nothing of the type application/json',
    ),
    (
        {"contentEncoding": "base64", "maxLength": 2},
        "aGk=",
        "maxLength",
        "",
        'the string "aGk=" is longer than 2 characters',
    ),
    (
        {"additionalItems": False, "maxItems": 1},
        [1, 2],
        "maxItems",
        "",
        "the array [1, 2] has more than 1 item",
    ),
]


@pytest.mark.parametrize(
    ("schema", "value", "keyword", "pointer", "message"),
    DRAFT_7_SENTENCES,
    ids=[str(row[0]) for row in DRAFT_7_SENTENCES],
)
def test_draft_7_has_its_sentences(schema: Any, value: Any, keyword: str, pointer: str, message: str) -> None:
    (error,) = Schemas({"a.json": schema}, DRAFT_7).errors("a.json", value)
    assert (error.keyword, error.pointer, error.message) == (keyword, pointer, message)


def test_more_than_one_branch_is_an_error_of_the_choice_itself() -> None:
    (error,) = errors({"oneOf": [{"minimum": 0}, {"minimum": 1}]}, 2)
    assert (error.keyword, error.location) == ("oneOf", "a.json#/oneOf")


def test_one_constraint_is_told_once_however_many_ways_lead_to_it() -> None:
    schema = {"$defs": {"n": {"type": "null"}}, "allOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]}
    (error,) = errors(schema, 1)
    assert error.location == "a.json#/$defs/n/type"


def test_one_fault_is_told_once_though_two_constraints_say_it() -> None:
    """A definition that says what it is, and alternatives that say it again."""
    (error,) = errors({"type": "object", "oneOf": [{"type": "object"}, {"type": "object"}]}, 3)
    assert error.location == "a.json#/type"


def test_an_error_is_found_across_documents() -> None:
    """AWP's timestamps are defined in another file than the messages that have them."""
    status = {"action_id": "a-1", "state": "executing", "status_seq": 1, "ts_mono_ns": 2**53}
    (error,) = AWP.schemas().errors("action-status.schema.json", status)
    assert error.location == "common.schema.json#/$defs/u53/maximum"
    assert error.pointer == "/ts_mono_ns"


def test_an_error_of_a_repaired_schema_is_the_one_of_the_payload_that_the_type_names() -> None:
    message = {
        "protocol": "va-agent-protocol",
        "version": "0.1.0",
        "type": "completed",
        "timestamp": "2026-04-01T00:00:00Z",
        "correlationId": "c-1",
        "payload": {"taskId": "T-1"},
    }
    found = VA.schemas().errors("message.schema.json", message)
    assert [(error.keyword, error.pointer) for error in found] == [
        ("required", "/payload"),
        ("additionalProperties", "/payload/taskId"),
    ]
