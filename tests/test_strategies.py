"""The strategies: what they shrink to, that the same seed makes the same, and who may use them."""

from __future__ import annotations

import base64
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings

from conformance import messages, values
from conformance.errors import BadPack, NoSuchKind, NoSuchPack
from conformance.generation.building import NothingFits

FEW = settings(max_examples=60, database=None, deadline=None)
OWN = {
    "type": "object",
    "required": ["kind"],
    "properties": {"kind": {"enum": ["a", "b"]}, "size": {"type": "integer", "minimum": 5}},
    "if": {"properties": {"kind": {"const": "b"}}},
    "then": {"required": ["size"]},
}

DRAFT_07 = "http://json-schema.org/draft-07/schema#"
JSON_IN_TEXT = {"$schema": DRAFT_07, "type": "string", "contentMediaType": "application/json"}
BASE64 = {"$schema": DRAFT_07, "type": "string", "contentEncoding": "base64"}


def test_a_message_shrinks_to_what_has_to_be_there() -> None:
    found = find(messages("va-agent-protocol@0.1.0", "cancel"), lambda message: True, settings=FEW)
    assert found == {
        "protocol": "va-agent-protocol",
        "version": "0.0.0",
        "type": "cancel",
        "timestamp": "2026-01-01T00:00:00Z",
        "correlationId": "correlation-1",
        "payload": {"taskId": "task-1", "reason": "a"},
    }


def test_a_message_shrinks_to_what_was_asked_of_it() -> None:
    found = find(values(OWN), lambda value: value.get("size", 0) > 7, settings=FEW)
    assert found["size"] == 8
    assert found.keys() == {"kind", "size"}


@given(values(OWN))
@settings(FEW, suppress_health_check=[HealthCheck.too_slow])
def test_values_of_a_schema_of_ones_own(value: Any) -> None:
    assert value["kind"] in ("a", "b")
    assert value.get("size", 5) >= 5
    assert value["kind"] == "a" or "size" in value


def test_documents_that_a_schema_refers_to_are_given_beside_it() -> None:
    other = {"$id": "urn:other", "const": 7}
    found = find(values({"properties": {"a": {"$ref": "urn:other"}}, "required": ["a"], "type": "object"},
                        {"other.json": other}), lambda value: True, settings=FEW)  # fmt: skip
    assert found == {"a": 7}


def test_what_only_the_judge_knows_is_tried_until_it_fits() -> None:
    """Base 64 comes in fours; a text of the strategy's own is one only now and then."""
    found = find(values(BASE64), lambda value: len(value) > 2, settings=FEW)
    assert base64.b64decode(found, validate=True)


def test_any_kind_will_do_where_none_is_named() -> None:
    found = set()

    @given(messages("atep"))
    @settings(FEW, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    def collect(message: Any) -> None:
        found.add(frozenset(message))

    collect()
    assert len(found) > 2


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: messages("va-agent-protokol"), NoSuchPack, "did you mean va-agent-protocol?"),
        (lambda: messages("awp", "action.statsu"), NoSuchKind, "did you mean action.status?"),
        (lambda: values({"type": "integer", "minimum": 3, "maximum": 2}), NothingFits, "no value fits"),
        (lambda: values({"$ref": "urn:nowhere"}), BadPack, "urn:nowhere"),
        (lambda: values([1]), BadPack, "neither an object nor a boolean"),
        (lambda: values(JSON_IN_TEXT), NothingFits, "no value of the schema that its own judge accepts"),
    ],
)
def test_what_cannot_be_made_is_said_at_once(make: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said.replace("?", r"\?")):
        make()


def test_nobody_imports_hypothesis_who_does_not_ask_for_a_strategy() -> None:
    program = """
import sys, conformance
from conformance import plugin, cli
assert "hypothesis" not in sys.modules
assert callable(conformance.messages) and "hypothesis" in sys.modules
try:
    conformance.nothing
except AttributeError as error:
    assert "nothing" in str(error)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
