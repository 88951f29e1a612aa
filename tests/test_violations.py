"""Messages that break one constraint each: which, whether just that, and why the others cannot be broken.

jsonschema-rs, asked directly, says what a violation breaks; python-jsonschema is the second opinion.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from judging import VA
from referencing import Registry, Resource

from conformance import jsontext, packs
from conformance.attribution import Attribution
from conformance.errors import NoSuchKind
from conformance.events import Received
from conformance.findings import Finding
from conformance.framing import read_message
from conformance.generation.coverage import never, table, tally
from conformance.generation.lattice import lattice
from conformance.generation.twins import Home
from conformance.generation.violations import Unbroken, Violation, Workshop, violations, workshop
from conformance.generation.wirelevel import WAYS, spoilt
from conformance.monitor import Monitor
from conformance.packs import Pack
from conformance.schemas import DRAFT_7, DRAFT_2020_12, Schemas

PROGRESS = packs.find("governed-attempt-progress@1.0")
DRAFT_7_OF_AWP = packs.find("awp@0.1-draft.7")
SAMPLE = [
    (VA, "accepted"),
    (VA, "TaskExecution"),
    (PROGRESS, "progress"),
    (packs.find("atep@1"), "OutputEnvelope"),
    (packs.find("awp@0.1-draft.12"), "action.submit.result"),
    (packs.find("awp@0.1-draft.12"), "session.telemetry"),
    (packs.find("ossa-a2a@0.3.3"), "AgentStopped"),
    (packs.find("ossa-a2a@0.3.3"), "Subscription"),
]


def made(schema: Any, dialect: str = DRAFT_2020_12) -> Workshop:
    return Workshop(Schemas({"s": schema}, dialect), "s")


def broken(schema: Any, dialect: str = DRAFT_2020_12) -> set[str]:
    """Where in the schema what can be broken stands."""
    found = (one for _, one in made(schema, dialect).all())
    return {one.schema.removeprefix("s#/") for one in found if isinstance(one, Violation)}


ALL = {  # a schema, and every place of it that can be broken
    "type": ({"type": "integer"}, {"type"}),
    "const": ({"const": [1]}, {"const"}),
    "enum": ({"enum": ["a", "b"]}, {"enum"}),
    "bounds": (
        {"type": "integer", "minimum": 2, "maximum": 4, "multipleOf": 2},
        {"type", "minimum", "maximum", "multipleOf"},
    ),
    "exclusive": (
        {"exclusiveMinimum": 0, "exclusiveMaximum": 1, "type": "number"},
        {"exclusiveMinimum", "exclusiveMaximum", "type"},
    ),
    "text": (
        {"minLength": 2, "maxLength": 3, "pattern": "^a", "type": "string"},
        {"minLength", "maxLength", "pattern", "type"},
    ),
    "format": ({"type": "string", "format": "date-time"}, {"type", "format"}),
    "items": (
        {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2, "uniqueItems": True},
        {"type", "items/type", "minItems", "maxItems", "uniqueItems"},
    ),
    "prefixItems": (
        {"type": "array", "prefixItems": [{"type": "string"}, {"minimum": 3}], "items": False},
        {"type", "prefixItems/0/type", "prefixItems/1/minimum", "items"},
    ),
    "contains": (
        {"type": "array", "contains": {"type": "string"}, "minContains": 2, "maxContains": 3},
        {"type", "minContains", "maxContains"},
    ),
    "contains one": ({"type": "array", "contains": {"const": 1}}, {"type", "contains"}),
    "members": (
        {
            "type": "object",
            "required": ["a"],
            "properties": {"a": {"type": "null"}, "b": False},
            "patternProperties": {"^x-": {"type": "string"}},
            "additionalProperties": {"type": "boolean"},
            "propertyNames": {"maxLength": 8},
            "minProperties": 1,
            "maxProperties": 2,
        },
        {
            "type",
            "required",
            "properties/a/type",
            "properties/b",
            "patternProperties/^x-/type",
            "additionalProperties/type",
            "propertyNames/maxLength",
            "maxProperties",
        },
    ),
    "names of what is hard to make": (
        {
            "type": "object",
            "propertyNames": {"pattern": "^[0-9]$"},
            "additionalProperties": {"type": "object", "required": ["a"]},
        },
        {"type", "propertyNames/pattern", "additionalProperties/type", "additionalProperties/required"},
    ),
    "dependent": (
        {
            "type": "object",
            "dependentRequired": {"a": ["b"]},
            "dependentSchemas": {"c": {"required": ["d"]}},
        },
        {"type", "dependentRequired", "dependentSchemas/c/required"},
    ),
    "unevaluated": (
        {"type": "object", "allOf": [{"properties": {"a": True}}], "unevaluatedProperties": False},
        {"type", "unevaluatedProperties"},
    ),
    "unevaluated items": (
        {"type": "array", "prefixItems": [True], "unevaluatedItems": {"type": "string"}},
        {"type", "unevaluatedItems/type"},
    ),
    "if": (
        {
            "if": {"required": ["a"]},
            "then": {"required": ["b"]},
            "else": {"required": ["c"]},
            "type": "object",
        },
        {"then/required", "else/required", "type"},
    ),
    "not": ({"type": "string", "not": {"const": "a"}}, {"type", "not"}),
    "anyOf": (
        {"anyOf": [{"type": "string", "minLength": 3}, {"type": "integer", "minimum": 2}]},
        {"anyOf", "anyOf/0/type", "anyOf/0/minLength", "anyOf/1/type", "anyOf/1/minimum"},
    ),
    "oneOf overlapping": (
        {"type": "integer", "oneOf": [{"minimum": 5}, {"maximum": 9}]},
        {"type", "oneOf"},
    ),
    "a tag": (
        {
            "oneOf": [
                {"properties": {"t": {"const": "a"}, "x": {"type": "string"}}, "required": ["t", "x"]},
                {"properties": {"t": {"const": "b"}}, "required": ["t"]},
            ],
            "type": "object",  # what is none fits both branches
        },
        {
            "oneOf",
            "oneOf/0/properties/t/const",
            "oneOf/0/properties/x/type",
            "oneOf/0/required",
            "oneOf/1/properties/t/const",
            "oneOf/1/required",
        },
    ),
    "a reference": (
        {
            "$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}},
            "$ref": "#/$defs/n",
        },
        {"$defs/n/type"},
    ),
    "of few values": (
        {"anyOf": [{"const": True}, {"const": None}]},
        {"anyOf", "anyOf/0/const", "anyOf/1/const"},
    ),
    "multiples that are whole": ({"type": "integer", "multipleOf": 7}, {"type", "multipleOf"}),
    "a length and an end": (
        {"type": "string", "pattern": "^[a-y]+z$", "maxLength": 5},
        {"type", "pattern", "maxLength"},
    ),
    "a format of one year": (
        {"type": "string", "format": "date", "pattern": "^1999-[0-9]{2}-[0-9]{2}$"},
        {"type", "format", "pattern"},
    ),
    "two and no more": (
        {"type": "array", "minItems": 2, "maxItems": 2, "uniqueItems": True},
        {"type", "minItems", "maxItems", "uniqueItems"},
    ),
    "some members": ({"type": "object", "minProperties": 2}, {"type", "minProperties"}),
    "one item at least": ({"type": "array", "contains": {"const": 1}, "minItems": 1}, {"type", "contains"}),
    "one more item": (
        {"type": "array", "contains": {"const": "a"}, "items": {"type": "string", "maxLength": 3}},
        {"type", "contains", "items/type", "items/maxLength"},
    ),
    "one more item, of two": (
        {"type": "array", "contains": {"type": "string"}, "minContains": 2, "maxContains": 2, "maxItems": 3},
        {"type", "minContains", "maxContains", "maxItems"},
    ),
    "what another implies": (
        {"allOf": [{"type": "object", "required": ["a", "b"]}, {"minProperties": 1}]},
        {"allOf/0/type", "allOf/0/required"},
    ),
    "a branch of none, a condition of none": (
        {"type": "integer", "then": {"minimum": 3}, "else": {"minimum": 3}},
        {"type"},
    ),
    "no room for others": (
        {
            "type": "object",
            "propertyNames": {"const": "a"},
            "properties": {"a": {"type": "string"}},
            "patternProperties": {"^b": {"type": "string"}},
            "additionalProperties": {"type": "string"},
        },
        {"type", "propertyNames/const", "properties/a/type"},
    ),
    "unevaluated in a branch": (
        {
            "type": "array",
            "allOf": [{"prefixItems": [{"type": "string"}]}, {"unevaluatedItems": True}],
            "unevaluatedItems": False,
        },
        {"type", "allOf/0/prefixItems/0/type"},
    ),
    "one of several members": (
        {
            "anyOf": [
                {"properties": {"bar": {"type": "integer"}}, "required": ["bar"]},
                {"properties": {"foo": {"type": "string"}}, "required": ["foo"]},
            ]
        },
        {
            "anyOf",
            "anyOf/0/properties/bar/type",
            "anyOf/0/required",
            "anyOf/1/properties/foo/type",
            "anyOf/1/required",
        },
    ),
}


@pytest.mark.parametrize("name", ALL)
def test_what_can_be_broken_is(name: str) -> None:
    schema, expected = ALL[name]
    assert broken(schema) == expected


def test_what_can_be_broken_in_draft_07() -> None:
    schema: Any = {"type": "array", "items": [{"type": "string"}], "additionalItems": False}
    assert broken(schema, DRAFT_7) == {"type", "items/0/type", "additionalItems"}
    assert broken({"contains": {"const": "a"}}, DRAFT_7) == {"contains"}
    assert broken({"type": "array", "additionalItems": {"type": "string"}}, DRAFT_7) == {"type"}
    schema = {"type": "object", "dependencies": {"a": ["b"], "c": {"required": ["d"]}}}
    assert broken(schema, DRAFT_7) == {"type", "dependencies", "dependencies/c/required"}


@pytest.mark.parametrize("name", ALL)
def test_each_breaks_that_and_nothing_else(name: str) -> None:
    schema = {"$schema": DRAFT_2020_12, "$id": "urn:s", **ALL[name][0]}
    judge = jsonschema_rs.validator_for(schema, validate_formats=True)
    for constraint, one in made(ALL[name][0]).all():
        if isinstance(one, Violation):
            bad, good = json.loads(one.text), json.loads(one.twin)
            assert judge.is_valid(good), one
            found = {
                (str(error.absolute_keyword_location).partition("#")[2], _path(error.schema_path))
                for error in judge.iter_errors(bad)
            }
            assert len(found) == 1, one
            [places] = (
                found  # of names, and of what a reference leads to, one of the two is the keyword's own
            )
            choices = {choice.location.removeprefix("s#") for choice in constraint.spot.choices}
            assert one.schema.removeprefix("s#") in places or choices & {*places}, (one, places)
            for where in differing(bad, good):
                assert _within(one.pointer, where) or _within(where, one.pointer), one


def _path(steps: Any) -> str:
    return jsontext.pointer(map(str, steps))


def _within(place: str, prefix: str) -> bool:
    return place == prefix or place.startswith(f"{prefix}/")


def differing(one: Any, other: Any, where: str = "") -> Iterator[str]:
    """The pointers at which two values differ."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name in one:
            yield from differing(one[name], other[name], f"{where}{jsontext.pointer([name])}")
    elif json.dumps(one) != json.dumps(other):
        yield where


IMPOSSIBLE = {  # a schema, the place in it that cannot be broken alone, and a word of the reason
    "type beside enum": ({"type": "string", "enum": ["a"]}, "type", "enum beside it"),
    "type beside const": ({"type": "string", "const": "a"}, "type", "const beside it"),
    "a length that the pattern has": (
        {"type": "string", "minLength": 1, "pattern": "^[a-z]+$"},
        "minLength",
        "pattern beside it",
    ),
    "a format that the pattern has": (
        {"format": "uri", "pattern": "^agent://[a-z]+$"},
        "format",
        "pattern beside it",
    ),
    "said twice": ({"type": "object", "allOf": [{"type": "object"}]}, "allOf/0/type", "fails with it"),
    "a condition": ({"if": {"minimum": 3}, "then": {"maximum": 9}}, "if/minimum", "condition"),
    "what another branch takes": ({"anyOf": [{"minimum": 3}, {}]}, "anyOf/0/minimum", "accepts nothing more"),
    "a dead branch": (
        {"type": "integer", "if": {"type": "string"}, "then": {"minLength": 3}},
        "then/minLength",
        "takes the branch",
    ),
    "what says nothing": ({"type": "string", "minLength": 0}, "minLength", "every value fits"),
    "a format that is told, not asked": ({"type": "string", "format": "paint"}, "format", "only tells"),
    "a covered branch": (
        {"oneOf": [{"type": "integer", "maximum": 3}, {"type": "number"}]},
        "oneOf/0/maximum",
        "always fits",
    ),
    "a name's type": (
        {"type": "object", "propertyNames": {"type": "string"}},
        "propertyNames/type",
        "always",
    ),
    "what nothing fits": (
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
        "allOf/1/type",
        "no message of this kind is valid",
    ),
    "items of what is none": ({"enum": [7], "items": False}, "items", "accepts nothing more"),
    "items of a list that is empty": (
        {"enum": [{"a": []}], "properties": {"a": {"items": {"type": "string"}}}},
        "properties/a/items/type",
        "accepts nothing more",
    ),
    "items of which no two are the same": (
        {"allOf": [{"enum": [[1, 2]]}, {"uniqueItems": True}]},
        "allOf/1/uniqueItems",
        "fails with it",
    ),
    "a list that is always empty": (
        {"enum": [{"a": []}], "properties": {"a": {"uniqueItems": True}}},
        "properties/a/uniqueItems",
        "accepts nothing more",
    ),
    "names where no member is allowed": (
        {"type": "object", "propertyNames": {"const": "a"}, "additionalProperties": False},
        "propertyNames/const",
        "accepts nothing more",
    ),
    "more of what there is one of": (
        {"allOf": [{"enum": [["a"]]}, {"contains": {"const": "a"}, "maxContains": 1}]},
        "allOf/1/maxContains",
        "accepts nothing more",
    ),
    "no room for one more member": (
        {"type": "object", "properties": {"a": {}}, "additionalProperties": False, "maxProperties": 1},
        "maxProperties",
        "accepts nothing more",
    ),
    "a member that every branch requires": (
        {
            "type": "object",
            "anyOf": [{"required": ["b"]}, {"required": ["b", "c"]}],
            "dependentRequired": {"a": ["b"]},
        },
        "dependentRequired",
        "accepts nothing more",
    ),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_cannot_be_broken_has_a_reason(name: str) -> None:
    schema, place, word = IMPOSSIBLE[name]
    found = [one for _, one in made(schema).all() if one.schema == f"s#/{place}"]
    assert [type(one) for one in found] == [Unbroken]
    assert word in found[0].reason  # type: ignore[union-attr]


def test_what_another_schema_leaves_no_room_for_has_a_reason_each() -> None:
    of_others: Any = {
        **{"minLength": 2, "maxLength": 3, "pattern": "a", "required": ["a"], "minProperties": 3},
        **{"maxProperties": 4, "contains": {"const": 1}, "maxContains": 1, "minItems": 2, "maxItems": 4},
        "uniqueItems": True,
    }
    found = [one for _, one in made({"allOf": [{"enum": [7]}, of_others]}).all()]
    assert isinstance(found[0], Violation)
    assert {one.schema for one in found[1:]} >= {f"s#/allOf/1/{name}" for name in of_others}
    assert all(isinstance(one, Unbroken) and one.reason for one in found[1:])


MANY: Any = {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(130)}}
"""More than reasons are computed of."""


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "array", "items": {"const": 1}, "contains": {"const": 1}, "minItems": 1}, "contains"),
        (
            {"properties": {"x": {"allOf": [{"const": {}}, {"$ref": DRAFT_2020_12}]}}, "required": ["x"]},
            "properties/x/allOf/1/$ref",
        ),
        (MANY | {"anyOf": [{"minProperties": 1}, {"maxProperties": 3}]}, "anyOf"),
        (
            {"enum": [{"a": []}], "properties": {"a": {"items": {"type": "string"}}, **MANY["properties"]}},
            "properties/a/items/type",
        ),
    ],
    ids=["all alike", "a schema of schemas", "many", "many, and items of an empty list"],
)
def test_where_no_reason_is_found_none_is_given(schema: Any, place: str) -> None:
    shop = made(schema)
    found = [shop.broken(one) for one in shop.constraints() if one.location == f"s#/{place}"]
    assert [(type(one), one.reason) for one in found] == [(Unbroken, "")]  # type: ignore[union-attr]


def test_a_large_branch_is_not_compared_with_others() -> None:
    shop = made({"oneOf": [MANY, {"type": "array"}]})
    [one] = [one for one in shop.constraints() if one.location == "s#/oneOf/0/properties/p129/type"]
    found = shop.broken(one)
    assert isinstance(found, Violation)
    assert list(json.loads(found.text)) == ["p129"]


def test_what_is_to_be_a_schema_can_be_none() -> None:
    schema: Any = {"type": "object", "properties": {"x": {"$ref": DRAFT_2020_12}}, "required": ["x"]}
    found = {one.schema: one for _, one in made(schema).all() if isinstance(one, Violation)}
    assert {*found} == {"s#/type", "s#/required", "s#/properties/x/$ref"}
    one = found["s#/properties/x/$ref"]
    assert jsonschema_rs.meta.is_valid(json.loads(one.twin)["x"])
    assert not jsonschema_rs.meta.is_valid(json.loads(one.text)["x"])


def test_what_is_encoded_in_a_text_can_be_broken_in_draft_07() -> None:
    schema: Any = {"type": "string", "contentEncoding": "base64"}
    assert broken(schema, DRAFT_7) == {"type", "contentEncoding"}


def test_where_no_value_is_right_one_that_is_valid_will_do() -> None:
    schema: Any = {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "integer", "maximum": 9}},
    }
    shop = Workshop(Schemas({"s": schema}, DRAFT_2020_12), "s", Home("s#", "s#", is_right=lambda _: False))
    found = [one for _, one in shop.all()]
    assert [one.keyword for one in found if isinstance(one, Violation)] == [
        "type",
        "required",
        "type",
        "maximum",
    ]
    judge = jsonschema.Draft202012Validator(schema)
    assert all(isinstance(one, Violation) and judge.is_valid(json.loads(one.twin)) for one in found)


def told(pack: Pack, kind: str, text: str) -> list[Finding]:
    parsed = jsontext.parse(text)
    event = Received(0, "", text, parsed.value, faults=parsed.faults)
    return [one for one in Monitor(pack, stateless=True, kind=kind).feed(event) if not one.ok]


@pytest.mark.parametrize(("pack", "kind"), SAMPLE, ids=str)
def test_every_violation_of_a_kind_is_caught_under_its_requirement(pack: Pack, kind: str) -> None:
    attribution = Attribution(pack.requirements.values(), pack.unknown_kind_id)
    schema, at, schemas = pack.kind(kind).schema, pack.kind(kind).at, pack.schemas()
    found = [*violations(pack, kind)]
    assert len(found) > 15
    for one in found:
        broken = schemas.errors(schema, jsontext.resolve(jsontext.parse(one.text).value, at))
        owners = {attribution.of(error._replace(pointer=at + error.pointer), kind) for error in broken}
        against = told(pack, kind, one.text)
        named = {finding.requirement for finding in against}
        # Where a check of another requirement tells the same of the same place, that is the finding.
        assert owners & named or one.pointer in {finding.pointer for finding in against}, one
        assert not {finding.pointer for finding in told(pack, kind, one.twin)} & {one.pointer}, one


@pytest.mark.parametrize(("pack", "kind"), SAMPLE[::2], ids=str)
def test_another_engine_agrees(pack: Pack, kind: str) -> None:
    schemas, row = pack.schemas(), pack.kind(kind)
    named = [
        (
            schemas.uri(name).partition("#")[0],
            Resource.from_contents({"$schema": schemas.dialect, **document}),
        )
        for name, document in schemas.documents.items()
    ]
    kind_of: Any = jsonschema.validators.validator_for({"$schema": schemas.dialect})
    judge = kind_of(
        {"$ref": schemas.uri(row.schema)},
        registry=Registry().with_resources(named),
        format_checker=kind_of.FORMAT_CHECKER,
    )
    for one in violations(pack, kind):
        bad, good = (jsontext.resolve(json.loads(text), row.at) for text in (one.text, one.twin))
        assert not judge.is_valid(bad), one
        assert judge.is_valid(good), one


def test_nothing_is_left_unexplained() -> None:
    found = [tally(kind, workshop(pack, kind)) for pack, kind in SAMPLE[1:4]]
    assert [one.row[1] for one in found] == [[32, 28, 4, 0], [83, 78, 5, 0], [23, 23, 0, 0]]
    assert all(never(found).values())
    lines = [*table(found[:2])]
    assert lines[0].split() == ["constraints", "broken", "impossible", "unexplained"]
    assert lines[3].split() == ["all", "115", "106", "9", "0"]


def test_what_is_broken_anywhere_is_not_told_as_never_broken() -> None:
    schemas = Schemas(
        {
            "a": {"$ref": "urn:d#/$defs/text"},
            "b": {"allOf": [{"$ref": "urn:d#/$defs/text"}, {"enum": ["x"]}]},
            "d": {"$id": "urn:d", "$defs": {"text": {"type": "string"}}},
        },
        DRAFT_2020_12,
    )
    one, two = (tally(name, Workshop(schemas, name)) for name in ("a", "b"))
    assert (one.row, two.row) == (("a", [1, 1, 0, 0]), ("b", [2, 1, 1, 0]))
    assert never([one, two]) == {}
    assert [line.split() for line in table([one])] == [
        ["constraints", "broken", "impossible", "unexplained"],
        ["a", "1", "1", "0", "0"],
        [],
        ["1", "of", "1", "constraint", "of", "the", "schemas,", "wherever", "met."],
    ]


def test_sizes_may_be_written_as_decimals() -> None:
    schema = {"minLength": 2.0, "maxLength": 3.0, "minItems": 1.0, "maxItems": 2.0, "maxProperties": 1.0}
    assert broken(schema) == {*schema}


def test_the_same_each_time() -> None:
    assert [*violations(PROGRESS, "progress")] == [*violations(PROGRESS, "progress")]
    with pytest.raises(NoSuchKind):
        next(violations(PROGRESS, "no-such-kind"))


def test_the_lattice_of_an_integer() -> None:
    points = [one for one in lattice(PROGRESS, "progress") if one.pointer == "/attempt"]
    # An attempt is an integer from 1 to 2^53-1 (GAP-INT-001), however it is written.
    assert [one.token for one in points if one.valid] == [
        *("1", "2147483647", "2147483648", "2147483649", "9007199254740991", "1.0", "1e3")
    ]
    for one in points:
        at = [finding for finding in told(PROGRESS, "progress", one.text) if finding.pointer == "/attempt"]
        assert bool(at) != one.valid, one


def test_the_lattice_has_no_integer_whose_values_are_listed() -> None:
    """The flags of a frame are an enumeration; a channel is 0 to 65535; a deadline has no upper bound."""
    frame = [*lattice(DRAFT_7_OF_AWP, "obs.frame")]
    assert not [one for one in frame if one.pointer == "/params/flags"]
    channel = [one.token for one in frame if one.pointer == "/params/channel_id" and one.valid]
    assert channel == ["0", "1", "1.0", "1e3"]
    submit = lattice(DRAFT_7_OF_AWP, "action.submit")
    deadline = [one.token for one in submit if one.pointer == "/params/deadline_ms" and not one.valid]
    assert deadline == ["-1", "0", '"1"', "true"]


@pytest.mark.parametrize("way", WAYS)
def test_what_is_wrong_with_a_text_is_the_texts(way: str) -> None:
    text = next(violations(PROGRESS, "progress")).twin
    [one] = [one for one in spoilt(text) if one.name == way]
    assert one.requirement in {fault.code for fault in read_message(one.data).faults}
