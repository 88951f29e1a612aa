"""ATEP: which conversations are blamed for what, and that an honest engine never is."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from judging import broken, judged, of_text, recognised, shown_to_hold

from conformance import packs
from conformance.errors import UnknownProtocol
from conformance.events import Closed, Event, Fault, Malformed, Opened, Received
from conformance.findings import Finding

PACK = packs.find("atep@1")
STEPS = ("a", "b", "c")
Spoken = tuple[str, Any]


def bare(
    step: Any, previous: Any = None, *, run: Any = "w", objective: str = "o", state: Any = None
) -> Spoken:
    return "engine", {
        "global_context": {
            "workflow_id": run,
            "primary_objective": objective,
            "workflow_objectives": [],
            "global_state": state or {},
        },
        "step_context": {
            "step_id": step,
            "step_objective": "s",
            "previous_output": previous or {},
            "assigned_node_type": "AGENT",
        },
        "priming_configuration": {"required_skills": [], "mcp_endpoints": [], "system_prompts": []},
    }


def wrapped(
    step: str, attempt: int = 1, *, steps: Iterable[str] = STEPS, step_row: Any = None, **more: Any
) -> Spoken:
    listed = [{"key": one} for one in steps]
    return "engine", {
        "input_envelope": bare(step, **more)[1],
        "step": {"key": step, **(step_row or {})},
        "workflow": {"key": "k", "title": "t", **({"steps": listed} if listed else {})},
        "resolved_skills": [],
        "run": {"attempt": attempt},
    }


def out(step: Any, status: str = "SUCCESS", action: str = "PROCEED", payload: Any = None) -> Spoken:
    waits = status == "YIELD_EXTERNAL"
    return "adapter", {
        "step_id": step,
        "execution_status": status,
        "qa_routing": {"action": action, "feedback_reason": "r"},
        "mutated_payload": payload or {},
        "metadata": {
            "execution_time_ms": 1,
            "external_intervention_required": waits,
            "intervention_details": {"q": 1},
        },
    }


def retry(step: str, payload: Any = None) -> Spoken:
    return out(step, "QA_REJECTED", "RETRY_CURRENT", payload)


def back(step: str, payload: Any = None) -> Spoken:
    return out(step, "QA_REJECTED", "ROLLBACK_PREVIOUS", payload)


def restart(step: str) -> Spoken:
    return out(step, "QA_REJECTED", "RESTART_ALL")


def waits(step: str, payload: Any = None) -> Spoken:
    return out(step, "YIELD_EXTERNAL", "PROCEED", payload)


def failed(step: str) -> Spoken:
    return out(step, "FAILED")


UNREADABLE = Fault("WIRE-JSON", "x")


def events(*spoken: Spoken, opened: bool = True, final: bool = True) -> list[Event]:
    """A record; `garbage` as a message is something unreadable."""
    made: list[Event] = [Opened(0)] if opened else []
    for seq, (party, value) in enumerate(spoken, 1):
        if value == "garbage":
            made.append(Malformed(seq, party, b"{", UNREADABLE))
        else:
            made.append(Received(seq, party, json.dumps(value), value))
    return [*made, Closed(len(spoken) + 1, final=final)]


def findings(*spoken: Spoken, **record: bool) -> list[Finding]:
    return judged(events(*spoken, **record), PACK)


def blamed(*spoken: Spoken, **record: bool) -> list[str]:
    """What is broken, without what only says that the text could not be read."""
    found = [one for one in findings(*spoken, **record) if not one.ok]
    return [one.requirement.removeprefix("ATEP-") for one in found if not one.requirement.startswith("WIRE")]


# --- Recognition -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        bare("a")[1],
        wrapped("a")[1],
        out("a")[1],
        {"step_id": "a", "qa_routing": {"action": "PROCEED | RETRY_CURRENT"}},
        {"step_id": "a", "execution_status": "SUCCESS"},
        {"step_id": "a", "mutated_payload": {}},
        {"qa_routing": 5},
        {"step_context": {}},
        {"priming_configuration": {}},
        {"input_envelope": {"step_context": {}}},
    ],
    ids=str,
)
def test_whole_and_broken_envelopes_are_recognised(value: Any) -> None:
    assert recognised(value) is PACK
    assert broken(of_text(json.dumps(value), PACK)) <= {"ATEP-IN-001", "ATEP-OUT-001"}


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"step_id": "a"},
        {"execution_status": "ok"},
        {"mutated_payload": {}},
        {"step_id": "a", "metadata": {}},
        {"input_envelope": {}},
        {"input_envelope": "x", "run": 1},
        {"global_context": {}, "task": 1},
        ["qa_routing"],
        "qa_routing",
        5,
        None,
    ],
    ids=str,
)
def test_what_only_resembles_an_envelope_is_not(value: Any) -> None:
    assert not PACK.recognises(value)
    with pytest.raises(UnknownProtocol):
        recognised(value)


def test_messages_of_other_protocols_are_theirs() -> None:
    for pack in packs.find_all():
        if pack is not PACK:
            for path in sorted((pack.fixtures / "messages" / "valid").glob("*.json")):
                assert not PACK.recognises(json.loads(path.read_text("utf-8"))), path


# --- Answers ---------------------------------------------------------------------------------------

ANSWERS: list[tuple[list[Spoken], dict[str, bool], list[str]]] = [
    ([bare("a"), out("a")], {}, []),
    ([bare("a"), out("b")], {}, ["OUT-002"]),
    ([bare("a"), out("b")], {"opened": False}, ["OUT-002"]),
    ([bare("a"), out("b")], {"final": False}, []),  # the answer may be on its way
    ([bare("a")], {}, ["OUT-003"]),
    ([bare("a")], {"opened": False}, []),  # a file with an input, and nothing else
    ([bare("a")], {"final": False}, []),
    ([bare("a"), out("a"), out("a")], {}, ["OUT-003"]),
    ([bare("a"), out("a"), out("a")], {"opened": False}, ["OUT-003"]),
    ([bare("b"), out("b"), out("a")], {"opened": False}, []),  # to an input from before the record
    ([bare("b"), out("a"), out("b")], {"opened": False}, []),
    ([bare("b"), out("a"), out("b")], {}, ["OUT-003"]),
    ([out("a"), bare("b"), out("b")], {"opened": False}, []),
    ([out("a"), bare("b"), out("b")], {}, ["OUT-003"]),
    ([bare("a"), out("x"), bare("a"), out("a")], {}, ["OUT-002"]),
    ([bare("a"), out("x"), bare("t", run="v"), out("t"), out("a")], {}, ["OUT-003"]),
    ([bare("a"), out("x"), out("y")], {}, ["OUT-002"]),
    ([bare("a"), bare("t", run="v"), out("t"), out("a")], {}, []),
    ([bare("a"), bare("t", run="v"), out("x"), out("t"), out("a")], {}, []),  # whose it is nobody can say
    ([bare("a"), out(None), out("a")], {}, ["OUT-001", "OUT-003"]),
    ([bare(None), out("a")], {}, ["IN-001"]),
    ([bare("a"), ("adapter", "garbage")], {}, []),
    ([("engine", "garbage"), out("a")], {}, []),
    ([bare("a"), ("engine", "garbage"), out("b"), out("a")], {}, []),
    ([bare("a"), ("adapter", "garbage"), out("b")], {}, []),
    ([bare("a"), out("b"), ("adapter", "garbage")], {}, []),
    ([bare("a"), ("adapter", {"hello": 1}), out("a")], {}, ["MSG-001"]),
]


@pytest.mark.parametrize(("spoken", "record", "expected"), ANSWERS)
def test_answers(spoken: list[Spoken], record: dict[str, bool], expected: list[str]) -> None:
    assert sorted(blamed(*spoken, **record)) == expected


def test_who_does_not_answer_is_blamed_and_not_who_asked() -> None:
    (finding,) = (one for one in findings(bare("a")) if not one.ok)
    assert (finding.party, finding.seq, finding.line) == ("adapter", 1, 1)


def test_a_late_finding_stands_where_the_output_does() -> None:
    text = json.dumps(bare("a")[1]) + "\n" + json.dumps(out("b")[1]) + "\n"
    (finding,) = (one for one in of_text(text, PACK) if not one.ok)
    assert (finding.pointer, finding.line, finding.column) == ("/step_id", 2, 13)
    array = "[" + json.dumps(bare("a")[1]) + ",\n " + json.dumps(out("b")[1], indent=1) + "]"
    (finding,) = (one for one in of_text(array, PACK) if not one.ok)
    assert (finding.pointer, finding.line, finding.column) == ("/step_id", 3, 13)


def test_outputs_of_two_runs_that_are_at_the_same_step_are_counted_and_lead_nowhere() -> None:
    both = [bare("a"), bare("a", run="v"), failed("a"), out("a")]
    assert blamed(*both, bare("b"), out("b"), bare("b", run="v"), out("b")) == []
    assert blamed(*both, out("a")) == ["OUT-003"]


# --- The way of a run ------------------------------------------------------------------------------

A, B, C = wrapped("a"), wrapped("b"), wrapped("c")
DONE_A, DONE_B, DONE_C = [A, out("a")], [B, out("b")], [C, out("c")]

WAYS: list[tuple[list[Spoken], list[str]]] = [
    ([*DONE_A, *DONE_B, *DONE_C], []),
    ([*DONE_A, *DONE_C], ["LIF-001"]),
    ([*DONE_B, *DONE_C], ["LIF-001"]),
    ([*DONE_A, *DONE_A], ["LIF-001"]),
    ([*DONE_A, B, retry("b"), wrapped("b", 2), out("b")], []),
    ([*DONE_A, B, retry("b"), *DONE_C], ["LIF-001"]),
    ([*DONE_A, B, back("b"), *DONE_A], []),
    ([*DONE_A, B, back("b"), *DONE_B], ["LIF-001"]),
    ([*DONE_A, B, back("b"), *DONE_C], ["LIF-001"]),
    ([*DONE_A, *DONE_B, C, restart("c"), *DONE_A], []),
    ([*DONE_A, *DONE_B, C, restart("c"), *DONE_B], ["LIF-001"]),
    ([*DONE_A, B, waits("b"), *DONE_C], []),
    ([*DONE_A, B, waits("b"), wrapped("b", 2), out("b"), *DONE_C], []),
    ([*DONE_A, B, waits("b"), *DONE_A], []),  # nobody gave what was awaited, and another run began
    ([*DONE_A, B, waits("b"), wrapped("a", 2), out("a")], ["LIF-001"]),
    ([*DONE_A, *DONE_B, C, waits("c"), *DONE_B], ["LIF-001"]),
    ([*DONE_A, B, failed("b"), *DONE_A], []),
    ([*DONE_A, B, failed("b"), *DONE_B], ["LIF-002"]),
    ([*DONE_A, *DONE_B, *DONE_C, *DONE_A], []),
    ([*DONE_A, *DONE_B, *DONE_C, *DONE_C], ["LIF-002"]),
    ([A, back("a"), *DONE_B], ["LIF-003"]),
    ([A, back("a"), *DONE_A], []),
    # One fault is one finding, and what comes after it is judged afresh.
    ([*DONE_A, B, failed("b"), *DONE_B, *DONE_C], ["LIF-002"]),
    ([*DONE_A, C, retry("c"), *DONE_B], ["LIF-001"]),
    ([*DONE_A, *DONE_C, *DONE_B, *DONE_B], ["LIF-001", "LIF-001"]),
    # Where the run was to go is not known after these.
    ([*DONE_A, B, out("b", "SUCCESS", "RESTART_ALL"), *DONE_C], ["QA-003"]),
    ([*DONE_A, B, out("b", "QA_REJECTED", "PROCEED"), *DONE_C], ["QA-001"]),
    ([*DONE_A, B, out("b", "QA_REJECTED", "AGAIN"), *DONE_C], ["OUT-001"]),
    ([*DONE_A, B, out("b", "YIELD_EXTERNAL", "RESTART_ALL"), *DONE_A], []),
    ([A, ("adapter", "garbage"), *DONE_C], []),
    ([*DONE_A, bare("x", run=None), out("x"), *DONE_C], ["IN-001"]),
    ([*DONE_A, bare(None), out("x"), *DONE_C], ["IN-001"]),
    ([*DONE_A, ("engine", out("a")[1]), *DONE_B], ["MSG-001"]),
    # A step that the workflow does not list.
    ([*DONE_A, wrapped("x"), out("x"), *DONE_C], ["LIF-001"]),
    ([*DONE_A, wrapped("x"), back("x"), *DONE_B], ["LIF-001"]),
]


@pytest.mark.parametrize(("spoken", "expected"), WAYS)
def test_the_way_of_a_run_whose_steps_are_listed(spoken: list[Spoken], expected: list[str]) -> None:
    assert blamed(*spoken) == expected


SHOWN: list[tuple[str, list[str], list[str]]] = [
    # What bare inputs show in a record from the beginning, and in one that may begin anywhere.
    ("a+ b+ c+", [], []),
    ("a~ b+", ["LIF-001"], []),  # there may have been no attempt left
    ("a! b+", ["LIF-002"], []),
    ("a! a+", [], []),
    ("a< b+", ["LIF-003"], []),
    ("a< a+", [], []),
    ("b< a+ b+", ["LIF-003"], []),
    ("a+ b< a+ b+", [], []),
    ("a+ b< b+", ["LIF-001"], []),
    ("a+ b+ c< a+", ["LIF-001"], []),
    ("a+ b+ c< b+ c+", [], []),
    ("a+ b+ c< c+", ["LIF-001"], []),
    ("a+ b+ c^ a+ b+ c+", [], []),
    ("a+ b+ c^ b+", ["LIF-001"], []),
    ("a+ b+ c^ a+ c+", ["LIF-001"], []),
    ("a+ b+ a+", [], []),  # b may have been the last step
    ("a+ a+", [], []),
    ("a+ b+ b+", ["LIF-001"], []),
    ("a+ b+ c+ b+", ["LIF-001"], []),
    ("a+ b? b+ c+", [], []),
    ("a+ b? c+", [], []),
    ("a+ b+ c? b+", ["LIF-001"], []),
    ("b~ a~ a+ b+", ["LIF-001"], []),
    ("a+ b~ c+", ["LIF-001"], []),
    ("a+ b~ a+", [], []),
]

SAYS: dict[str, Callable[[str], Spoken]] = {
    "+": out,
    "~": retry,
    "!": failed,
    "<": back,
    "^": restart,
    "?": waits,
}


@pytest.mark.parametrize(("run", "whole", "part"), SHOWN, ids=[row[0] for row in SHOWN])
def test_the_way_of_a_run_whose_steps_nobody_lists(run: str, whole: list[str], part: list[str]) -> None:
    spoken = [one for word in run.split() for one in (bare(word[0]), SAYS[word[1]](word[0]))]
    assert blamed(*spoken) == whole
    assert blamed(*spoken, opened=False) == part


def test_a_run_with_something_behind_it_does_not_begin() -> None:
    assert blamed(wrapped("b", previous={"x": 1}), out("b")) == []
    assert blamed(wrapped("b", state={"a": 1}), out("b")) == []
    assert blamed(wrapped("b", 2), out("b")) == []
    needs = {"dependsOn": ["a"]}
    assert blamed(wrapped("b", steps=(), step_row=needs), out("b")) == ["LIF-001"]
    assert blamed(wrapped("b", steps=(), step_row=needs), out("b"), opened=False) == []


@pytest.mark.parametrize(
    "steps",
    ["a", ["a"], [{"key": "a"}, {"key": "a"}], [{}], [{"key": "b", "dependsOn": ["a"]}, {"key": "a"}]],
)
def test_a_list_that_is_no_order_says_nothing(steps: Any) -> None:
    def asks(step: str) -> Spoken:
        value = wrapped(step)[1]
        value["workflow"]["steps"] = steps
        return "engine", value

    assert set(blamed(asks("b"), out("b"), asks("a"), out("a"))) <= {"IN-001"}


def test_what_is_shown_to_hold() -> None:
    retried = [
        wrapped("a", step_row={"retryPolicy": {"maxAttempts": 2}}),
        retry("a"),
        wrapped("a", 2),
        out("a"),
    ]
    assert {"ATEP-LIF-001", "ATEP-LIF-004", "ATEP-CTX-001"} <= shown_to_hold(findings(*retried))
    assert "ATEP-LIF-002" in shown_to_hold(findings(*DONE_A, B, failed("b")))
    assert "ATEP-LIF-002" not in shown_to_hold(findings(*DONE_A, B, failed("b"), final=False))
    assert "ATEP-LIF-003" in shown_to_hold(findings(A, back("a")))
    assert not {f"ATEP-LIF-00{n}" for n in (2, 3, 4)} & shown_to_hold(findings(*DONE_A, *DONE_B))


# --- Context ---------------------------------------------------------------------------------------

ONE, TWO, THREE = {"n": 1}, {"n": 2}, {"n": 3}

PREVIOUS: list[tuple[list[Spoken], list[str]]] = [
    ([A, out("a", payload=ONE), wrapped("b", previous=ONE)], []),
    ([A, out("a", payload=ONE), wrapped("b", previous=TWO)], ["CTX-002"]),
    ([A, out("a", payload=ONE), wrapped("b", previous={"a": ONE})], []),
    ([A, out("a", payload=ONE), wrapped("b", previous={"a": TWO})], ["CTX-002"]),
    ([A, out("a", payload=ONE), wrapped("b", previous={"c": TWO})], []),  # nobody knows what c made
    ([A, out("a", payload=ONE), wrapped("b")], []),
    ([A, out("a", payload=ONE), wrapped("b", step_row={"dependsOn": ["c", "a"]})], ["CTX-002"]),
    ([A, out("a", payload=ONE), wrapped("b", step_row={"dependsOn": ["c"]})], []),
    ([A, out("a"), wrapped("b", step_row={"dependsOn": ["a"]})], []),
    ([A, waits("a", ONE), wrapped("b", previous=TWO)], []),  # what was awaited may have changed it
    ([A, retry("a", ONE), wrapped("a", 2, previous=ONE)], []),
    ([A, ("adapter", "garbage"), wrapped("b", previous=ONE)], []),
    ([A, ("adapter", out("a")[1] | {"mutated_payload": 5}), wrapped("b", previous=ONE)], ["OUT-001"]),
    ([A, out("a"), ("engine", wrapped("b")[1] | {"input_envelope": bare("b", previous=5)[1]})], ["IN-001"]),
    ([A, out("a", payload=ONE), B, back("b", TWO), wrapped("a", previous=TWO)], ["CTX-002"]),
    ([A, out("a", payload=ONE), B, back("b"), wrapped("a", previous=THREE)], []),
    ([A, out("a"), B, ("adapter", back("b")[1] | {"mutated_payload": 5}), wrapped("a")], ["OUT-001"]),
    ([A, out("a", payload=ONE), B, restart("b"), wrapped("a", previous=ONE)], ["CTX-002"]),
    ([A, out("a", payload=ONE), B, failed("b"), wrapped("a", previous=ONE)], []),  # of another run
]


@pytest.mark.parametrize(("spoken", "expected"), PREVIOUS)
def test_previous_output(spoken: list[Spoken], expected: list[str]) -> None:
    assert blamed(*spoken, final=False) == expected


def test_a_run_of_which_nothing_is_known_may_have_another_objective() -> None:
    assert blamed(bare("a"), bare("a", objective="p"), final=False) == []
    assert blamed(bare("a"), out("a"), bare("b"), bare("b", objective="p"), final=False) == ["CTX-001"]
    assert blamed(bare("a", objective="p"), retry("a"), ("engine", bare("a", objective=5)[1])) == [  # type: ignore[arg-type]
        "IN-001",
        "OUT-003",
    ]


# --- An honest engine ------------------------------------------------------------------------------


class Engine:
    """Carries out runs as the page says, with answers by chance; says what it says in one of several ways."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._steps = [f"s{n}" for n in range(chance.randint(1, 4))]
        self._form = chance.choice(["listed", "wrapped", "bare"])
        self._hands_on = chance.choice(["payload", "by step", "nothing"])
        self._limit = chance.choice([1, 2, 3])
        self._resumes = chance.choice(["same", "next"])
        self._resets_both = chance.choice([True, False])
        self._spoken: list[Spoken] = []

    def runs(self) -> list[Spoken]:
        for number in range(self._chance.randint(1, 3)):
            self._run(f"objective {number}")
        return self._spoken

    def _run(self, objective: str) -> None:
        made: dict[str, Any] = {}
        attempts = dict.fromkeys(self._steps, 0)
        index = 0
        for _ in range(30):
            if index == len(self._steps):
                return
            step = self._steps[index]
            attempts[step] += 1
            self._ask(step, attempts[step], index, made, objective)
            payload = {"of": step, "draw": self._chance.randint(0, 2)} if self._chance.random() < 0.8 else {}
            mark = self._chance.choice("+++++++~<^?!")
            self._spoken.append(SAYS[mark](step) if mark == "!" else self._said(mark, step, payload))
            made.pop(step, None)
            if mark == "!" or (mark == "<" and index == 0):
                return
            if mark == "~" and attempts[step] >= self._limit:
                return
            if mark == "+" or (mark == "?" and self._resumes == "next"):
                made[step] = payload
                index += 1
            elif mark == "<":
                index -= 1
                made.pop(self._steps[index], None)
                attempts[self._steps[index]] = 0
                attempts[step] = 0 if self._resets_both else attempts[step]
            elif mark == "^":
                index, made, attempts = 0, {}, dict.fromkeys(self._steps, 0)

    def _said(self, mark: str, step: str, payload: Any) -> Spoken:
        said = SAYS[mark](step)
        return said[0], said[1] | {"mutated_payload": payload}

    def _ask(self, step: str, attempt: int, index: int, made: dict[str, Any], objective: str) -> None:
        before = self._steps[index - 1] if index else None
        previous: Any = {}
        if before in made and self._hands_on != "nothing":
            previous = made[before] if self._hands_on == "payload" else {before: made[before]}
        given = {"previous": previous, "objective": objective, "state": dict(made, seen=1) if made else {}}
        if self._form == "bare":
            self._spoken.append(bare(step, **given))
            return
        row: dict[str, Any] = {"retryPolicy": {"maxAttempts": self._limit}}
        if self._hands_on == "by step" and before is not None:
            row["dependsOn"] = [before]
        steps = self._steps if self._form == "listed" else ()
        self._spoken.append(wrapped(step, attempt, steps=steps, step_row=row, **given))


def test_an_honest_engine_is_never_blamed() -> None:
    """Nor for a record that begins or ends anywhere, or in which something cannot be read."""
    for seed in range(150):
        chance = random.Random(seed)
        spoken = Engine(chance).runs()
        assert blamed(*spoken) == [], seed
        start, end = sorted(chance.choices(range(len(spoken) + 1), k=2))
        assert blamed(*spoken[start:end], opened=False) == [], seed
        holed = list(spoken)
        hole = chance.randrange(len(spoken))
        holed[hole] = holed[hole][0], "garbage"
        assert blamed(*holed) == [], seed


# --- What is not shown, and what is one fault ------------------------------------------------------


@pytest.mark.parametrize(
    ("requirement", "spoken", "shown"),
    [
        ("LIF-002", [bare("a"), failed("a"), bare("a"), out("a")], False),
        ("LIF-002", [bare("a"), out("a"), bare("b"), failed("b"), bare("a"), out("a")], True),
        ("LIF-002", [bare("a"), failed("a")], True),
        ("LIF-003", [bare("a"), back("a"), bare("a"), out("a")], False),
        ("LIF-003", [bare("a"), back("a")], True),
    ],
    ids=["tried again or begun anew", "begun anew", "silent", "gone on or begun anew", "silent after that"],
)
def test_a_step_that_may_be_tried_again_does_not_show_that_its_run_is_over(
    requirement: str, spoken: list[Spoken], shown: bool
) -> None:
    found = findings(*spoken)
    assert not broken(found)
    assert (f"ATEP-{requirement}" in shown_to_hold(found)) is shown


def test_an_objective_that_changes_back_has_changed_once() -> None:
    spoken = [bare("a"), out("a"), bare("b", objective="p"), out("b"), bare("c"), out("c")]
    assert blamed(*spoken) == ["CTX-001"]
    assert blamed(*spoken[:-2], bare("c", objective="q"), out("c")) == ["CTX-001", "CTX-001"]


def test_what_asks_for_no_step_need_not_be_answered() -> None:
    assert blamed(bare(None)) == ["IN-001"]
    assert blamed(bare("a")) == ["OUT-003"]


def test_a_step_that_the_workflow_does_not_list_stands_nowhere_in_its_order() -> None:
    assert blamed(wrapped("x", previous={"p": 1}), out("x"), wrapped("b"), out("b")) == []
    assert blamed(wrapped("x", previous={"p": 1}), retry("x"), wrapped("b"), out("b")) == ["LIF-001"]
