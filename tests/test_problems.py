"""Problems of packs: ours have none, and each is found where it is planted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from judging import row, toy

from conformance import problems
from conformance.packs import Pack, find_all

LIFECYCLE = {
    "name": "job",
    "initial": "asked",
    "states": {"asked": "transient", "done": "terminal"},
    "transitions": [{"from": "asked", "to": "done"}],
}
JOB = {"file": "job.json", "moves": [{"on": ["go"], "entity": "/id", "to": "done"}]}


@pytest.mark.parametrize("pack", find_all(), ids=lambda pack: pack.name)
def test_the_packs_have_no_problems(pack: Pack) -> None:
    assert list(problems.of(pack)) == []


PLANTED: list[tuple[list[dict[str, Any]], dict[str, Any], str]] = [
    ([row()], {}, "TOY-MSG-001 needs exactly one of a check"),
    ([row({"kind": "direction"}, untested="x")], {}, "TOY-MSG-001 needs exactly one of a check"),
    ([row(None, untested="x", excluded="y")], {}, "TOY-MSG-001 needs exactly one of a check"),
    ([row({"kind": "direction"}, role="middle")], {}, "TOY-MSG-001 names the unknown role 'middle'"),
    (
        [row({"kind": "schema", "on": ["go", "stop"]})],
        {},
        "TOY-MSG-001 is judged on the unknown kind 'stop'",
    ),
    (
        [row({"kind": "matches", "on": ["go"], "with": ["stop.error"]})],
        {},
        "TOY-MSG-001 is judged on the unknown kind 'stop.error'",
    ),
    (
        [row({"kind": "integer-bounds", "u53": ["toy.schema.json#/$defs/u53"]})],
        {},
        "TOY-MSG-001 is judged at toy.schema.json#/$defs/u53, which is nowhere",
    ),
    (
        [row({"kind": "schema"}, claims=[{"at": "toys.schema.json"}])],
        {},
        "TOY-MSG-001 claims toys.schema.json, which is nowhere",
    ),
    (
        [row({"kind": "schema"}, claims=[{"on": ["stop"]}])],
        {},
        "TOY-MSG-001 claims something on the unknown kind 'stop'",
    ),
    ([], {"walks": {"jobs": {}}}, "walks names the unknown lifecycle 'jobs'"),
    (
        [],
        {"conversations": {"key": "/id", "begin": ["go"], "end": ["stop"], "across": "/of"}},
        "a conversation begins or ends on the unknown kind 'stop'",
    ),
    (
        [],
        {"refusals": {"middle": [{"send": "go", "about": {}, "accepted": {"go": {}}}]}},
        "refusals names the unknown role 'middle'",
    ),
    (
        [],
        {"refusals": {"left": [{"send": "go", "about": {}, "accepted": {"stop": {}}}]}},
        "the left is tried on the unknown kind 'stop'",
    ),
    (
        [],
        {"ics": {"fast": {"summary": "it is", "schema": {}, "observed": {"on": ["go", "stop"]}}}},
        "the fact fast is observed on the unknown kind 'stop'",
    ),
    (
        [],
        {"kinds": [{"name": "go", "from": ["left"], "when": {}, "schema": "go.schema.json"}]},
        "go is judged by go.schema.json, which is nowhere",
    ),
    (
        [],
        {"lifecycles": [JOB | {"moves": [{"on": ["go"], "entity": "/id", "to": "flying"}]}]},
        "lifecycle job moves to 'flying', which is no state of it",
    ),
    (
        [],
        {"lifecycles": [JOB | {"moves": [{"on": ["stop"], "entity": "/id", "create": True}]}]},
        "lifecycle job is moved on the unknown kind 'stop'",
    ),
]


@pytest.mark.parametrize(("rows", "meta", "said"), PLANTED, ids=[case[2] for case in PLANTED])
def test_a_problem_is_found(tmp_path: Path, rows: list[Any], meta: dict[str, Any], said: str) -> None:
    (problem,) = problems.of(toy(tmp_path, *rows, files={"job.json": LIFECYCLE}, **meta))
    assert problem.startswith(f"toy@1: {said}")


def test_an_error_answer_and_any_kind_are_no_problem(tmp_path: Path) -> None:
    checks = [{"kind": "schema", "on": ["go.error", "*"]}, {"kind": "scenario"}]
    pack = toy(tmp_path, row(checks), files={"job.json": LIFECYCLE}, lifecycles=[JOB])
    assert list(problems.of(pack)) == []


def test_a_requirement_says_in_one_way_why_it_is_judged_or_not(tmp_path: Path) -> None:
    said = [{"excluded": "not observable"}, {"untested": "no check yet"}, {"manual": "ask a person"}]
    rows = [row(None, f"TOY-{number}", **one) for number, one in enumerate(said)]
    assert list(problems.of(toy(tmp_path, *rows))) == []
