"""Which requirement speaks for a broken constraint."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.attribution import Attribution
from conformance.findings import BrokenConstraint, Level, Requirement


def claiming(name: str, *claims: dict[str, Any], on: list[str] | None = None) -> Requirement:
    checks: tuple[dict[str, Any], ...] = ({"kind": "scenario"},)
    if on is not None:
        checks = ({"kind": "schema", "on": on}, {"kind": "direction"})
    return Requirement(name, Level.MUST, "both", "It is so.", checks=checks, claims=claims)


ROWS = [
    claiming("OWNER", on=["go", "stop"]),
    claiming("CLAIMS-ONLY", {"at": "z.json"}, on=["go"]),
    claiming("FORMAT", {"keyword": "format"}),
    claiming("NUMBER", {"at": "common.json#/$defs/n"}),
    claiming("NUMBER-TYPE", {"at": "common.json#/$defs/n", "keyword": "type"}),
    claiming("PAYLOAD", {"instance": "/payload"}),
    claiming("TASK", {"instance": "/payload/task"}),
    claiming("WHOLE-FILE", {"at": "b.json"}),
    claiming("MEMBER", {"at": "a.json#/properties/due"}),
    claiming("STOP", {"on": ["stop"]}),
    claiming("SECOND", {"keyword": "format"}),
]

CASES = [
    ("a.json#/minLength", "/x", "minLength", "", "go", "OWNER"),
    ("a.json#/minLength", "/x", "minLength", "", "other", "FALLBACK"),
    ("a.json#/format", "/x", "format", "", "go", "FORMAT"),
    ("common.json#/$defs/n/maximum", "/x", "maximum", "", "go", "NUMBER"),
    ("common.json#/$defs/n/type", "/x", "type", "", "go", "NUMBER-TYPE"),
    ("common.json#/$defs/number/type", "/x", "type", "", "go", "OWNER"),
    ("a.json#/type", "/payload", "type", "", "go", "PAYLOAD"),
    ("a.json#/type", "/payload/x", "type", "", "go", "PAYLOAD"),
    ("a.json#/type", "/payload/task/x", "type", "", "go", "TASK"),
    ("a.json#/type", "/payloads", "type", "", "go", "OWNER"),
    ("a.json#/format", "/payload/x", "format", "", "go", "FORMAT"),
    ("b.json#/type", "/payload/task", "type", "", "go", "WHOLE-FILE"),
    ("b.json", "", "", "", "go", "WHOLE-FILE"),
    ("bb.json#/type", "", "type", "", "go", "OWNER"),
    ("a.json#/required", "", "required", "a.json#/properties/due", "go", "MEMBER"),
    ("a.json#/required", "", "required", "a.json#/properties/dues", "go", "OWNER"),
    ("a.json#/required", "", "required", "", "stop", "STOP"),
]


@pytest.mark.parametrize(("location", "pointer", "keyword", "about", "kind", "owner"), CASES)
def test_the_most_precise_claim_wins(
    location: str, pointer: str, keyword: str, about: str, kind: str, owner: str
) -> None:
    error = BrokenConstraint(keyword, location, pointer, "It is not so.", about=about)
    assert Attribution(ROWS, "FALLBACK").of(error, kind) == owner


def test_who_claims_something_owns_no_kind() -> None:
    assert Attribution(ROWS, "FALLBACK").owner("go") == "OWNER"
    assert Attribution(ROWS[1:], "FALLBACK").owner("go") == "FALLBACK"
