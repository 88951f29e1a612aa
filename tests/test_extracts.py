"""What one schema of a document consists of, and that it judges as it does in the document."""

from typing import Any

import pytest

from conformance import packs
from conformance.extracts import extract, needed
from conformance.schemas import embedded

SCHEMAS = packs.find("awp").schemas("receiver")

DOCUMENT: dict[str, Any] = {
    "world": "one of many",
    "types": [
        {"name": "a", "schema": {"type": "integer"}},
        {"name": "b", "schema": {"properties": {"id": {"$ref": "#/$defs/id"}}, "required": ["id"]}},
    ],
    "$defs": {"id": {"allOf": [{"$ref": "#/$defs/~1text"}]}, "/text": {"type": "string"}, "other": False},
}


def test_only_what_it_refers_to_is_taken() -> None:
    assert extract(DOCUMENT, "/types/0/schema") == {"types": {"0": {"schema": {"type": "integer"}}}}
    assert extract(DOCUMENT, "/types/1/schema") == {
        "types": {"1": {"schema": DOCUMENT["types"][1]["schema"]}},
        "$defs": {"id": DOCUMENT["$defs"]["id"], "/text": {"type": "string"}},
    }


def test_a_part_of_another_part_stands_in_it() -> None:
    inner = {"a": {"allOf": [{"$ref": "#/b/items/0"}, {"$ref": "#/b"}]}, "b": {"items": [{}, {}]}, "c": 1}
    assert extract(inner, "/a") == {"a": inner["a"], "b": inner["b"]}
    loop = {"a": {"not": {"$ref": "#/a/not"}}, "b": 1}
    assert extract(loop, "/a") == {"a": loop["a"]}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#name"},
        {"$ref": 1},
        {"$ref": "#/nowhere"},
        {"$id": "urn:x"},
        {"$dynamicRef": "#x"},
    ],
)
def test_what_is_not_plain_to_see_takes_all(schema: Any) -> None:
    document = {"a": {"items": schema}, "b": 1}
    assert extract(document, "/a") is document
    assert extract(document, "/c") is document
    assert extract(document, "") is document


def test_other_documents_are_needed_where_they_are_referred_to() -> None:
    documents = {"x": {"$ref": "y"}, "y": {"items": {"$ref": "https://example.org/x#/a"}}, "z": {}}
    uris = {name: f"https://example.org/{name}" for name in documents}
    assert [*needed({"$ref": "https://example.org/x#/b"}, documents, uris)] == ["x", "y"]
    assert [*needed({"$ref": "#/a", "$comment": 1}, documents, uris)] == []


def test_documents_that_differ_elsewhere_have_one_judge() -> None:
    first = embedded(SCHEMAS, DOCUMENT, "/types/1/schema")
    again = embedded(SCHEMAS, DOCUMENT | {"world": "another"}, "/types/1/schema")
    assert first is again is not None
    assert [first(value) for value in ({"id": "x"}, {"id": 1}, {})] == [True, False, False]
    other = embedded(SCHEMAS, DOCUMENT, "/types/0/schema")
    assert other is not None
    assert (other(1), other("1")) == (True, False)


def test_a_reference_to_a_document_of_the_protocol_is_judged_by_it() -> None:
    uri = SCHEMAS.uri("common.schema.json#/$defs/u53")
    judge = embedded(SCHEMAS, {"a": {"$ref": uri}}, "/a")
    assert judge is not None
    assert (judge(1), judge(-1), judge(2**53)) == (True, False, False)
    assert embedded(SCHEMAS, {"a": {"$ref": "https://example.org/nowhere"}}, "/a") is None
