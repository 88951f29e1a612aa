"""What negative tests send: a message breaks one constraint, its twin none; both are steps of a scenario."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from judging import DIALECT, row, toy

from conformance import configuration, packs, scenarios
from conformance.bindings import Now
from conformance.generation import refusals, spoiling
from conformance.generation.refusals import Bench, Row, Trial
from conformance.generation.spoiling import Judge
from conformance.packs import Pack

NOW = Now(1.0, "2026-11-30T09:00:00.123456Z")
KNOWN = {"channel": "proprioception", "action_id": "9b4c809f-f5f5-4165-8cf2-644554cbf8de"}
ROWS = [
    (packs.find(name), role, row)
    for name, role in (("va-agent-protocol", "agent"), ("atep", "adapter"), ("awp@0.1-draft.7", "world"))
    for row in refusals.rows(packs.find(name), role)
]

each_row = pytest.mark.parametrize(
    ("pack", "role", "row"), ROWS, ids=[f"{pack.name} {row.kind}" for pack, _, row in ROWS]
)


def bench(pack: Pack, row: refusals.Row) -> Bench:
    return Bench(pack, row, configuration.facts(pack, {}), KNOWN, NOW)


@each_row
def test_every_message_breaks_one_constraint_and_its_twin_none(
    pack: Pack, role: str, row: refusals.Row
) -> None:
    made = bench(pack, row)
    judge, trials = Judge(made), spoiling.trials(made)
    assert len(trials) > 10
    for trial in trials:
        errors = [(one.location, one.keyword, one.pointer) for one in judge.errors(trial.bad)]
        if not trial.is_valid:
            assert errors == [(trial.location, trial.keyword, trial.pointer)]
        assert judge.errors(trial.good) == []
        assert NOW.wall not in trial.twin


@each_row
def test_the_steps_of_every_trial_are_those_of_a_scenario(pack: Pack, role: str, row: refusals.Row) -> None:
    kit, made = pack.peer_of(role), bench(pack, row)
    opening = refusals.opening(pack, kit, row)
    names = [{"set": dict(KNOWN)}] if opening else []
    for trial in islice(spoiling.trials(made), 8):
        steps = [*names, *refusals.steps(row, trial)]
        text = json.dumps({"title": "x", "role": kit, "covers": [refusals.REFUSAL], "steps": steps})
        read = scenarios.read(text, "x", pack)
        assert [step.verb for step in read.steps].count("raw") == 2
        assert any(refusals.REFUSAL in step.proves for step in read.steps)


@each_row
def test_what_is_smaller_breaks_the_same(pack: Pack, role: str, row: refusals.Row) -> None:
    made = bench(pack, row)
    for trial in islice(spoiling.trials(made), 10):
        for less in islice(spoiling.smaller(made, trial), 3):
            assert (less.location, less.keyword, less.pointer) == (
                trial.location,
                trial.keyword,
                trial.pointer,
            )
            assert len(json.dumps([less.bad, less.good])) < len(json.dumps([trial.bad, trial.good]))


def test_a_long_string_is_said_shortly_and_shrinks() -> None:
    pack, _, row = ROWS[0]
    made = bench(pack, row)
    [*long] = (trial for trial in spoiling.trials(made) if trial.is_valid)
    assert {trial.pointer for trial in long} >= {"/sourceId", "/payload/task/objective"}
    assert long[0].value == {"long": {"$repeat": ["x", 100_000]}}
    assert '"${long}"' in long[0].text
    assert long[0].said == "a string of 100002 characters"
    lengths = [len(less.bad) for less in spoiling.smaller(made, long[0])]
    assert lengths == [1000, 10_000, 50_000, 75_000]


def test_a_long_string_shrinks_to_one_character_and_no_further() -> None:
    pack, _, row = ROWS[0]
    made = bench(pack, row)
    trial = next(trial for trial in spoiling.trials(made) if trial.is_valid)
    lengths = []
    while (trial := next(iter(spoiling.smaller(made, trial)), None)) is not None:
        lengths.append(len(trial.bad))
    assert lengths == [1000, 10, 1]


def test_what_does_not_say_any_more_what_it_is_about_is_not_tried() -> None:
    pack, _, row = ROWS[0]
    made = bench(pack, row)
    assert made.named('{"type": "dispatch"}') is None
    assert made.named('{"x": "${correlationId}"}') is None
    assert all(trial.pointer != "/correlationId" or trial.is_valid for trial in spoiling.trials(made))


def test_what_a_pack_spares_is_not_tried() -> None:
    pack, _, row = ROWS[0]
    spared = row.__class__(**{name: getattr(row, name) for name in row.__slots__} | {
        "spared": ({"pointer": "/payload", "because": "x"}, {"requirement": "VA-MSG-004", "because": "x"})
    })  # fmt: skip
    tried = [trial for trial in spoiling.trials(bench(pack, spared)) if not trial.is_valid]
    assert tried
    assert not [trial for trial in tried if trial.pointer.startswith("/payload")]
    assert not [trial for trial in tried if trial.pointer == "/timestamp" and trial.keyword == "format"]


def test_a_message_whose_answer_is_an_error_is_awaited_before_its_twin() -> None:
    row = next(row for pack, _, row in ROWS if row.refused)
    steps = list(refusals.steps(row, Trial("{}", "{}", "x", "type")))
    assert [next(iter(step)) for step in steps] == ["set", "raw", "expect", "set", "raw", "expect"]
    assert steps[2]["proves"] == refusals.REFUSAL
    assert "proves" not in steps[5]


# ── a protocol of one's own ──────────────────────────────────────────────────────────────────────

ABOUT = {"of": ["${job}", 3], "n": 7}
PLAIN = Row("ask", about=ABOUT, accepted={"go": {}}, refused={"end": {}}, otherwise={"*": {}}, pause="1 s")


def toy_bench(root: Path, schema: dict[str, Any], **members: Any) -> Bench:
    whole = {"$schema": DIALECT, "type": "object"} | schema
    pack = toy(
        root, row({"kind": "schema"}), schemas={"toy.schema.json": whole}, templates={"ask": {"type": "ask"}}
    )
    return Bench(pack, Row("ask", about={}, accepted={"go": {}}, **members), {}, {}, NOW)


def test_what_names_nothing_needs_no_names_and_waits_where_the_pack_says_so() -> None:
    trial = Trial("bad", "good", "toy#/type", "type", "/a")
    assert trial.said == "type is broken at /a (toy#/type)"
    taken = {"expect": "go", "match": ABOUT, "within": "5 s"}
    refused = {"expect": "end", "match": ABOUT, "instead": {"go": ABOUT, "*": ABOUT}, "within": "5 s"}
    after = [{"raw": "good"}, taken, {"wait": "1 s"}]
    assert list(refusals.control(PLAIN, "good")) == after
    assert list(refusals.steps(PLAIN, trial)) == [
        {"raw": "bad"},
        refused | {"proves": refusals.REFUSAL},
        {"wait": "1 s"},
        *after,
    ]


def test_where_a_refusal_is_silence_the_twin_comes_at_once() -> None:
    silent = replace(PLAIN, silent=True)
    bad, good, taken, pause = refusals.steps(silent, Trial("bad", "good", "toy#/type", "type"))
    assert (bad, good, pause) == ({"raw": "bad"}, {"raw": "good"}, {"wait": "1 s"})
    assert taken["instead"] == {"go": ABOUT, "*": ABOUT}
    named = [*refusals.steps(replace(silent, names=("job",)), Trial("bad", "good", "toy#/type", "type"))]
    assert named[2] == {"set": {"broken_job": "${job}", "job": "${fresh}"}}
    assert named[4]["instead"]["go"] == {"of": ["${broken_job}", 3], "n": 7}


def test_parts_of_every_type_are_spoilt(tmp_path: Path) -> None:
    schema = {"properties": {"on": {"const": True}, "gone": {"type": "null"}, "rate": {"minimum": 0}}}
    made = toy_bench(tmp_path, schema, made={"message": {"on": True, "gone": None, "rate": 0.5}})
    tried = [trial for trial in spoiling.trials(made) if trial.pointer in ("/on", "/gone", "/rate")]
    told = [(trial.pointer, trial.keyword, trial.bad[trial.pointer[1:]]) for trial in tried]
    assert ("/on", "const", False) in told
    assert ("/gone", "type", True) in told
    assert ("/rate", "minimum", -1) in told


def test_a_member_that_nobody_may_send_is_put_in(tmp_path: Path) -> None:
    made = toy_bench(tmp_path, {"properties": {"old": False}})
    [trial] = [trial for trial in spoiling.trials(made) if trial.pointer == "/old"]
    assert "old" in trial.bad
    assert trial.good == made.valid


def test_a_part_that_is_not_there_is_put_in(tmp_path: Path) -> None:
    schema = {"properties": {"n": {"const": 1}}}
    [trial] = spoiling.trials(toy_bench(tmp_path, schema, at="/n"))
    assert (trial.pointer, trial.good) == ("/n", {"type": "ask", "n": 1})
    assert trial.bad["n"] != 1


def test_a_message_that_is_wrong_itself_is_no_twin(tmp_path: Path) -> None:
    schema = {"properties": {"n": {"type": "integer"}}}
    assert spoiling.trials(toy_bench(tmp_path, schema, made={"message": {"n": "x"}})) == []
