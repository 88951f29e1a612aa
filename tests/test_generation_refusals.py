"""What negative tests send: a message breaks one constraint, its twin none; both are steps of a scenario."""

from __future__ import annotations

import json
from itertools import islice

import pytest

from conformance import configuration, packs, scenarios
from conformance.bindings import Now
from conformance.generation import refusals, spoiling
from conformance.generation.refusals import Bench, Trial
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
