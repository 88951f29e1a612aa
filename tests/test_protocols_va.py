"""The checks of va-agent-protocol, where its fixtures do not show a case: by the protocol's text."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from typing import Any

import judging
import pytest
from judging import VA, against, broken, lines, said, shown_to_hold

from conformance import jsontext, records
from conformance.checks import Observation
from conformance.correlation import Correlator
from conformance.events import Closed, Event, Fault, Malformed, Received
from conformance.findings import Finding
from conformance.packs import Pack
from conformance.protocols.va_attempts import Attempts
from conformance.protocols.va_evidence import RULES, is_plain
from conformance.remembered import REMEMBERED, REMEMBERED_MESSAGES

Spoken = tuple[str, dict[str, Any]]


def envelope(kind: str, payload: Any, second: str = "00", correlation: Any = "c-1") -> dict[str, Any]:
    return {
        "protocol": "va-agent-protocol",
        "version": "0.1.0",
        "type": kind,
        "timestamp": f"2026-04-01T00:00:{second}Z",
        "correlationId": correlation,
        "payload": payload,
    }


def dispatch(second: str = "00", correlation: Any = "c-1", **task: Any) -> Spoken:
    whole = {"id": "T-1", "objective": "o", "acceptanceCriteria": ["x"], **task}
    return "orchestrator", envelope("dispatch", {"task": whole}, second, correlation)


def told(kind: str, second: str = "00", correlation: str = "c-1") -> Spoken:
    side = "orchestrator" if kind == "cancel" else "agent"
    reason = {"reason": "r"} if kind == "cancel" else {}
    return side, envelope(kind, {"taskId": "T-1", **reason}, second, correlation)


def result(kind: str, second: str = "00", correlation: str = "c-1", **members: Any) -> Spoken:
    evidence = {"taskId": "T-1", "status": kind, **members}
    return "agent", envelope(kind, {"evidence": evidence}, second, correlation)


def judged(events: Iterable[Event], pack: Pack, **options: Any) -> list[Finding]:
    """All findings on the events; who asks for no praise hears of the same faults, however quickly."""
    told = list(events)
    found = judging.judged(told, pack, **options)
    assert against(judging.judged(told, pack, praise=False, **options)) == against(found)
    return found


def of_text(text: str, pack: Pack) -> list[Finding]:
    """The findings on an input such as a person would give to `validate`."""
    return judged(records.open_record(text.encode(), "input", pack).events, pack)


def marks(requirement: str, found: list[Finding]) -> str:
    """For each finding of the requirement + or -."""
    return "".join("+" if one.ok else "-" for one in found if one.requirement == requirement)


def only(requirement: str, found: list[Finding]) -> Finding:
    (finding,) = (one for one in found if one.requirement == requirement and not one.ok)
    return finding


# --- Gates -----------------------------------------------------------------------------------------


def of_gate(gate: str, status: str = "failed") -> list[Finding]:
    """The findings on evidence whose only gate has these members, as they are written."""
    return of_text(f'{{"taskId": "T-1", "status": "{status}", "gateResults": [{gate}]}}', VA)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ('"command": "c", "exitCode": 0, "passed": true', "+"),
        ('"command": "c", "exitCode": 0.0, "passed": true', "+"),
        ('"command": "c", "exitCode": -0, "passed": true', "+"),
        ('"command": "c", "exitCode": 0e5, "passed": true', "+"),
        ('"command": "c", "exitCode": 137, "passed": false', "+"),
        ('"command": "c", "exitCode": 137, "passed": true', "-"),
        ('"command": "c", "exitCode": 0, "passed": false', "-"),
        ('"command": "c", "passed": true', "-"),
        ('"command": "c", "passed": false', ""),  # killed: not a plain failure
        ('"passed": true', ""),  # what is missing is its command
        ('"type": "model-evaluation", "exitCode": 1, "passed": true', ""),
        ('"command": "c", "exitCode": 0.5, "passed": true', ""),
        ('"command": "c", "exitCode": "1", "passed": true', ""),
        ('"command": "c", "exitCode": null, "passed": true', ""),
        ('"command": "c", "exitCode": 1, "passed": "yes"', ""),
        ('"command": "c", "exitCode": 1', ""),
        ('"type": "check", "command": "c", "exitCode": 1, "passed": true', ""),
    ],
)
def test_an_exit_code_decides_a_command_gate(members: str, expected: str) -> None:
    assert marks("VA-EVD-006", of_gate(f'{{"gate": "g", {members}}}')) == expected


def test_a_contradicted_verdict_is_shown_with_its_exit_code() -> None:
    finding = only("VA-EVD-006", of_gate('{"gate": "g", "command": "c", "exitCode": 2, "passed": true}'))
    assert finding.message == "the exit code is 2, and the gate passed"
    assert (finding.pointer, finding.expected, finding.actual) == ("/gateResults/0/passed", (False,), True)


EVALUATED = '"gate": "g", "type": "model-evaluation"'


@pytest.mark.parametrize(
    ("score", "threshold", "passed", "expected"),
    [
        ("0.8", "0.8", "true", "+"),
        ("0.80", "0.8", "true", "+"),
        ("8e-1", "0.8", "true", "+"),
        ("1", "1.0", "true", "+"),
        ("0", "0", "true", "+"),
        ("0.8", "0.8", "false", "-"),
        # As floats, the two of each line are the same number.
        ("0.80000000000000001", "0.8", "false", "-"),
        ("0.79999999999999999", "0.8", "false", ""),
        ("0.8", "0.80000000000000001", "false", ""),
        ("0.8", "0.79999999999999999", "false", "-"),
        ("0.1", "1e-400", "false", "-"),
        ("1.5", "0.8", "false", ""),
        ("0.9", "-0.1", "false", ""),
        ('"0.9"', "0.8", "false", ""),
        ("true", "0.8", "false", ""),
        ("0.9", "null", "false", ""),
        ("0.9", "0.8", '"no"', ""),
    ],
)
def test_a_score_that_reaches_the_threshold_passes(
    score: str, threshold: str, passed: str, expected: str
) -> None:
    gate = f'{{{EVALUATED}, "score": {score}, "threshold": {threshold}, "passed": {passed}}}'
    assert marks("VA-EVD-007", of_gate(gate)) == expected


def test_an_exit_code_outranks_a_score() -> None:
    scored = '"gate": "g", "command": "c", "score": 0.9, "threshold": 0.8, "passed": false'
    assert marks("VA-EVD-007", of_gate(f"{{{scored}}}")) == "-"
    assert marks("VA-EVD-007", of_gate(f'{{{scored}, "exitCode": 1}}')) == ""


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ('"score": 0.7, "passed": false', "+"),
        ('"score": 0.7, "passed": true', "-"),
        ('"score": 0.7, "passed": true, "softThreshold": 0.6', "-"),
        ('"score": 0.7, "passed": false, "softThreshold": 0.6, "severity": "warning"', "+"),
        ('"score": 0.7, "passed": false, "softThreshold": 0.6, "severity": "error"', "-"),
        ('"score": 0.7, "passed": false, "softThreshold": 0.6', "-"),
        ('"score": 0.6, "passed": false, "softThreshold": 0.6, "severity": "warning"', "+"),
        ('"score": 0.6, "passed": false, "softThreshold": 0.60000000000000001, "severity": "warning"', "-"),
        ('"score": 0.5, "passed": false, "softThreshold": 0.6, "severity": "error"', "+"),
        ('"score": 0.5, "passed": false, "softThreshold": 0.6', "+"),
        ('"score": 0.5, "passed": false, "softThreshold": 0.6, "severity": "warning"', "-"),
        ('"score": 0.5, "passed": false, "softThreshold": 0.6, "severity": "mild"', ""),
        ('"score": 0.5, "passed": false, "softThreshold": 2, "severity": "warning"', ""),
        ('"score": 0.8, "passed": false, "softThreshold": 0.6, "severity": "error"', ""),
    ],
)
def test_a_score_below_the_threshold_has_the_severity_of_its_band(members: str, expected: str) -> None:
    assert marks("VA-EVD-008", of_gate(f'{{{EVALUATED}, "threshold": 0.8, {members}}}')) == expected


@pytest.mark.parametrize(
    ("severity", "score", "message"),
    [
        (
            '"error"',
            "0.7",
            "the score 0.7 is below the threshold 0.8 and not below the softThreshold 0.6, "
            "so the severity is warning; it is said to be error",
        ),
        (
            '"warning"',
            "0.5",
            "the score 0.5 is below the softThreshold 0.6, "
            "so the severity is error; it is said to be warning",
        ),
    ],
)
def test_a_wrong_severity_is_shown_with_its_band(severity: str, score: str, message: str) -> None:
    members = f'"score": {score}, "threshold": 0.8, "softThreshold": 0.6, "passed": false'
    finding = only("VA-EVD-008", of_gate(f'{{{EVALUATED}, {members}, "severity": {severity}}}'))
    assert (finding.message, finding.pointer) == (message, "/gateResults/0/severity")


@pytest.mark.parametrize(
    ("members", "status", "expected"),
    [
        ('"exitCode": 1, "passed": false, "severity": "error"', "completed", "-"),
        ('"exitCode": 1, "passed": false', "completed", "-"),
        ('"passed": false', "completed", "-"),
        ('"exitCode": 1, "passed": false, "severity": "warning"', "completed", "+"),
        ('"exitCode": 0, "passed": true', "completed", "+"),
        ('"exitCode": 1, "passed": false, "severity": "error"', "failed", ""),
        ('"exitCode": 1, "passed": false, "severity": "error"', "blocked", ""),
        ('"exitCode": 1, "passed": false, "severity": "mild"', "completed", ""),
        ('"exitCode": 1, "passed": 0', "completed", ""),
        ('"exitCode": 0, "passed": false', "completed", ""),  # VA-EVD-006 tells of this one
    ],
)
def test_what_completed_has_no_gate_that_failed_hard(members: str, status: str, expected: str) -> None:
    found = of_gate(f'{{"gate": "g", "command": "c", {members}}}', status)
    assert marks("VA-EVD-009", found) == expected


def test_each_gate_is_judged_and_what_is_none_is_passed_over() -> None:
    wrong = '{"gate": "g", "command": "c", "exitCode": 1, "passed": true}'
    right = '{"gate": "g", "command": "c", "exitCode": 0, "passed": true}'
    found = of_gate(f"{right}, 5, {wrong}, {wrong}")
    assert marks("VA-EVD-006", found) == "--"
    places = [one.pointer for one in found if one.requirement == "VA-EVD-006"]
    assert places == ["/gateResults/2/passed", "/gateResults/3/passed"]
    none = of_text('{"taskId": "T-1", "status": "completed", "gateResults": {}}', VA)
    assert marks("VA-EVD-006", none) == ""


def test_evidence_of_another_type_than_its_message_is_one_fault() -> None:
    gates = [{"gate": "g", "command": "c", "exitCode": 1, "passed": False}]
    found = judged(said(result("failed", status="completed", gateResults=gates, failureDetail={})), VA)
    assert marks("VA-EVD-009", found) == ""
    assert marks("VA-EVD-004", found) == ""


@pytest.mark.parametrize("alone", [True, False])
def test_a_message_alone_shows_what_its_gates_say(alone: bool) -> None:
    gates = [{"gate": "g", "command": "c", "exitCode": 1, "passed": True}]
    found = judged(said(result("completed", gateResults=gates)), VA, stateless=alone)
    assert marks("VA-EVD-006", found) == "-"
    assert (
        marks("VA-EVD-006", judged(said(result("completed", gateResults=gates)), VA, as_published=True)) == ""
    )


# --- Outputs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("contract", "evidence", "expected"),
    [
        ({"keys": ["a", "b", "a"]}, {"outputs": {"a": 1, "b": None}}, "+"),
        ({"keys": ["a"]}, {}, "-"),
        ({"keys": []}, {}, "+"),
        ({"keys": []}, {"outputs": {"a": 1}}, "-"),
        ({}, {"outputs": {"a": 1}}, ""),
        ({"keys": [5]}, {}, ""),
        ({"keys": "a"}, {}, ""),
        (["keys"], {}, ""),
        ({"keys": ["a"]}, {"outputs": ["a"]}, ""),
        ({"keys": ["a"]}, {"status": "failed"}, ""),
        ({"keys": ["a"]}, {"taskId": "T-2"}, ""),
    ],
)
def test_outputs_are_those_that_were_promised(contract: Any, evidence: Any, expected: str) -> None:
    spoken = [dispatch(outputContract=contract), told("accepted"), result("completed", **evidence)]
    assert marks("VA-EVD-010", judged(said(*spoken), VA)) == expected


def test_outputs_are_judged_where_the_dispatch_was_seen() -> None:
    assert marks("VA-EVD-010", judged(said(result("completed", outputs={"a": 1})), VA)) == ""
    broken = "agent", envelope("completed", {"evidence": None})
    spoken = [dispatch(outputContract={"keys": ["a"]}), told("accepted"), broken]
    assert marks("VA-EVD-010", judged(said(*spoken), VA)) == ""


def test_missing_and_other_outputs_are_named() -> None:
    spoken = [dispatch(outputContract={"keys": ["b", "a"]}), result("completed", outputs={"a": 1, "c": 2})]
    finding = only("VA-EVD-010", judged(said(*spoken), VA))
    assert finding.message == 'the outputs are not those of the outputContract: missing "b"; not promised "c"'
    assert (finding.pointer, finding.expected) == ("/payload/evidence/outputs", ("a", "b"))


# --- Inputs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ({"dependsOn": ["T-0"], "inputs": {"a": {"fromTask": "T-0", "outputKey": "k"}}}, "+"),
        ({"dependsOn": ["T-0"], "inputs": {"a": {"fromTask": "T-00", "outputKey": "k"}}}, "-"),
        ({"inputs": {"a": {"fromTask": "T-0", "outputKey": "k"}}}, "-"),
        ({"inputs": {"a": {"fromTask": 5, "outputKey": "k"}}}, "-"),
        ({"dependsOn": [], "inputs": {"a": {"fromTask": "x", "outputKey": "k"}, "b": "x"}}, "-"),
        ({"inputs": {"a": {"fromTask": "T-0"}, "b": {"outputKey": "k"}, "c": {}}}, ""),
        ({"inputs": {"a": {"fromTask": "T-0", "outputKey": "k", "more": 1}}}, ""),
        ({"inputs": {"a": {"b": {"fromTask": "T-0", "outputKey": "k"}}}}, ""),
        ({"dependsOn": [None], "inputs": {"a": {"fromTask": "T-9", "outputKey": "k"}}}, ""),
        ({"dependsOn": "T-0", "inputs": {"a": {"fromTask": "T-9", "outputKey": "k"}}}, ""),
        ({"inputs": [{"fromTask": "T-0", "outputKey": "k"}]}, ""),
        ({}, ""),
    ],
)
def test_an_input_is_taken_from_a_dependency(task: dict[str, Any], expected: str) -> None:
    assert marks("VA-TSK-001", judged(said(dispatch(**task)), VA)) == expected


def test_an_input_of_no_dependency_is_shown_where_it_stands() -> None:
    inputs = {"a/b": {"fromTask": "T-9", "outputKey": "k"}}
    finding = only("VA-TSK-001", judged(said(dispatch(dependsOn=["T-0"], inputs=inputs)), VA))
    assert finding.message == '"T-9" is no task of dependsOn, which has "T-0"'
    assert finding.pointer == "/payload/task/inputs/a~1b/fromTask"


def test_what_is_no_task_has_no_inputs() -> None:
    assert marks("VA-TSK-001", judged(said(("orchestrator", envelope("dispatch", {"task": []}))), VA)) == ""


# --- Timeouts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("timeout", "later", "expected"),
    [
        (1000, [told("accepted", "01"), result("completed", "02")], "+"),
        (1000.0, [told("accepted", "01"), result("failed", "02")], "+"),
        (1000, [told("accepted", "01"), result("blocked", "02.000000000000000000001")], "-"),
        (1000, [told("accepted", "01"), told("accepted", "09"), result("completed", "09")], "-"),
        (0, [told("accepted", "01"), result("completed", "59")], ""),
        (None, [told("accepted", "01"), result("completed", "59")], ""),
        (0.5, [told("accepted", "01"), result("completed", "59")], ""),
        ("1", [told("accepted", "01"), result("completed", "59")], ""),
        (1000, [result("completed", "59")], ""),
        (1000, [told("accepted", "xx"), result("completed", "59")], ""),
        (1000, [told("accepted", "01"), result("completed", "xx")], ""),
        (1000, [told("accepted", "05"), result("completed", "01")], ""),
        (1000, [told("accepted", "01"), result("blocked", "02"), result("failed", "59")], "+"),
        (1000, [told("accepted", "01"), told("cancel", "02"), result("failed", "59")], ""),
        (1000, [told("accepted", "01"), dispatch("02", "c-2"), result("failed", "59")], ""),
        (1000, [told("accepted", "01")], ""),
    ],
)
def test_a_result_comes_in_time(timeout: Any, later: list[Spoken], expected: str) -> None:
    assert marks("VA-TSK-002", judged(said(dispatch(timeout=timeout), *later), VA)) == expected


def test_a_late_result_says_how_late() -> None:
    spoken = [dispatch(timeout=1000), told("accepted", "01"), result("completed", "02.5")]
    finding = only("VA-TSK-002", judged(said(*spoken), VA))
    assert finding.message == "completed is of 1500 ms after accepted, and the task's timeout is 1000"
    assert (finding.pointer, finding.party) == ("/timestamp", "agent")


# --- Attempts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        ([told("accepted"), dispatch("05", "c-2")], "+"),
        ([told("accepted"), dispatch("05", "c-2"), dispatch("09", "c-3")], "+"),
        ([told("accepted"), dispatch("05", "c-2"), told("progress", "09")], "+"),
        ([told("accepted"), dispatch("05", "c-2"), result("failed", "09")], "-"),
        ([told("accepted"), dispatch("05", "c-2"), result("blocked", "09"), result("failed", "10")], "--"),
        ([told("accepted"), dispatch("05", "c-2"), result("failed", "09"), result("failed", "10")], "-"),
        ([told("accepted"), dispatch("05", "c-2"), result("failed", "05.5")], ""),
        ([told("accepted"), result("blocked", "04"), dispatch("05", "c-2"), result("failed", "09")], "-"),
        ([told("accepted"), dispatch("05", "c-2"), told("cancel", "06"), result("failed", "09")], ""),
        ([told("accepted"), result("failed", "01"), dispatch("05", "c-2"), result("failed", "09")], ""),
        ([told("accepted"), dispatch("05", "c-2", id="T-2"), result("failed", "09")], ""),
        ([told("accepted"), dispatch("05"), result("failed", "09")], ""),
        ([told("accepted"), dispatch("05", 5), result("failed", "09")], ""),
        ([told("accepted"), dispatch("05", "c-2", id=5), result("failed", "09")], ""),
        ([told("accepted"), dispatch("xx", "c-2"), result("failed", "09")], ""),
        ([told("accepted"), dispatch("05", "c-2"), result("failed", "xx")], ""),
        ([told("accepted"), ("agent", dispatch("05", "c-2")[1]), result("failed", "09")], ""),
        ([dispatch("05", "c-2")], ""),  # of c-1 nothing was heard
    ],
)
def test_no_result_comes_of_a_replaced_attempt(spoken: list[Spoken], expected: str) -> None:
    assert marks("VA-COR-004", judged(said(dispatch(), *spoken), VA)) == expected


def test_silence_is_not_shown_by_a_record_that_stops() -> None:
    events = said(dispatch(), told("accepted"), dispatch("05", "c-2"))
    assert marks("VA-COR-004", judged([*events[:-1], Closed(9, final=False)], VA)) == ""


def test_who_may_not_know_of_a_replacement_is_not_blamed() -> None:
    spoken = [dispatch(), told("accepted"), dispatch("05", "c-2"), result("failed", "09")]
    events = [
        Received(seq, party, json.dumps(value), value, "other" if value["correlationId"] == "c-2" else "main")
        for seq, (party, value) in enumerate(spoken, 1)
    ]
    assert marks("VA-COR-004", judged([*events, Closed(9)], VA)) == ""


def test_a_replacement_is_named() -> None:
    spoken = [dispatch(), told("accepted"), dispatch("05", "c-2"), result("completed", "09")]
    finding = only("VA-COR-004", judged(said(*spoken), VA))
    assert finding.message == (
        'completed of "c-1", which a later attempt at the same task, "c-2", has replaced'
    )
    assert (finding.pointer, finding.party) == ("/correlationId", "agent")


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        ([told("accepted")], "-"),
        ([told("accepted"), dispatch("05", "c-2")], ""),
        ([dispatch("05", "c-2"), told("accepted", "05")], ""),
        ([told("accepted"), dispatch("05", "c-2"), told("accepted", "06", "c-2")], "-"),
        ([told("accepted"), dispatch("05", "c-2", id="T-2")], "-"),
        ([told("accepted"), dispatch()], "-"),
        ([told("accepted"), told("cancel", "01")], ""),
    ],
)
def test_nobody_waits_for_the_end_of_a_replaced_attempt(spoken: list[Spoken], expected: str) -> None:
    assert marks("VA-LIF-003", judged(said(dispatch(), *spoken), VA)) == expected


TAKEN_ON = [dispatch(), told("accepted")]


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        ([*TAKEN_ON, result("completed", "09")], "+"),
        ([*TAKEN_ON, result("blocked", "09")], "+"),
        ([*TAKEN_ON, result("blocked", "08"), told("progress", "09")], "+-"),
        ([*TAKEN_ON, result("completed", "08"), told("progress", "09")], "+"),
        ([*TAKEN_ON, told("progress", "09")], "-"),
        ([dispatch()], ""),
        ([told("accepted"), told("progress", "09")], ""),  # nobody saw it begin
        ([*TAKEN_ON, told("cancel", "09")], ""),
        (
            [*TAKEN_ON, ("agent", told("cancel", "09")[1])],
            "",
        ),  # told as what an agent may not send, and no more
    ],
)
def test_what_began_ends_before_the_stream_does(spoken: list[Spoken], expected: str) -> None:
    assert marks("VA-LIF-003", judged(said(*spoken), VA)) == expected


def test_what_never_ended_stands_where_it_began() -> None:
    finding = only("VA-LIF-003", judged(said(*TAKEN_ON, told("progress", "09")), VA))
    assert finding.message == "the stream ended, and c-1 was still running: no message ever ended it"
    assert (finding.seq, finding.line, finding.column) == (2, 1, 1)


def test_where_a_record_stops_an_end_may_still_have_come() -> None:
    assert marks("VA-LIF-003", judged([*said(*TAKEN_ON)[:-1], Closed(3, final=False)], VA)) == ""


@pytest.mark.parametrize(("party", "expected"), [("agent", ["c-2"]), ("orchestrator", ["c-1", "c-2"])])
def test_a_message_of_no_kind_may_have_ended_what_it_is_about(party: str, expected: list[str]) -> None:
    other = [dispatch("05", "c-2", id="T-2"), told("accepted", "06", "c-2")]
    unknown = party, envelope("finished", {"taskId": "T-1"}, "09")
    found = judged(said(*TAKEN_ON, *other, unknown), VA)
    assert [one.message.split()[4] for one in found if one.requirement == "VA-LIF-003"] == expected


@pytest.mark.parametrize(
    ("code", "party", "expected"),
    [
        ("WIRE-JSON", "agent", ""),
        ("WIRE-JSON", "", ""),
        ("WIRE-JSON", "orchestrator", "-"),
        ("WIRE-NOISE", "agent", "-"),
    ],
)
def test_what_could_not_be_read_may_have_been_the_end(code: str, party: str, expected: str) -> None:
    events = said(*TAKEN_ON)
    lost = Malformed(99, party, b"{", Fault(code, "no message"))
    assert marks("VA-LIF-003", judged([*events[:-1], lost, events[-1]], VA)) == expected


@pytest.mark.parametrize("again", [dispatch(), dispatch("05")], ids=["word for word", "of a later time"])
@pytest.mark.parametrize(
    "goes_on",
    [
        [told("progress", "06"), result("completed", "07")],
        [told("accepted", "06"), told("progress", "06"), result("completed", "07")],
        [result("completed", "06")],
    ],
    ids=["goes on", "begins again", "ends"],
)
def test_what_an_agent_makes_of_a_dispatch_said_twice_is_not_its_fault(
    again: Spoken, goes_on: list[Spoken]
) -> None:
    spoken = [dispatch(), told("accepted"), told("progress"), again, *goes_on]
    found = judged(said(*spoken), VA)
    blamed = {one.requirement for one in found if not one.ok and one.requirement[:6] != "VA-MSG"}
    assert blamed == ({"VA-COR-003"} if again != dispatch() else set())


# --- Records of executions -------------------------------------------------------------------------


def record(current: Any, *moves: tuple[Any, Any], **members: Any) -> dict[str, Any]:
    rows = [
        {"from": source, "to": target, "timestamp": f"2026-04-01T00:00:{second:02}Z"}
        for second, (source, target) in enumerate(moves)
    ]
    return {"taskId": "T-1", "correlationId": "c-1", "currentState": current, "transitions": rows, **members}


BEGUN = ("pending", "running")


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (record("pending"), ""),  # nothing has moved
        (record("cancelled", ("pending", "cancelled")), "+"),
        (record("running", BEGUN, ("running", "failed"), ("failed", "running")), "+"),
        (record("running"), "-"),
        (record("running", ("failed", "running")), "-"),
        (record("failed", ("pending", "failed")), "-"),
        (record("failed", BEGUN), "-"),
        (record("running", BEGUN, BEGUN), "-"),
        (record("blocked", BEGUN, ("running", "blocked"), ("blocked", "blocked")), "-"),
        (record("completed", BEGUN, ("running", "cancelled"), ("cancelled", "completed")), "-"),
        # What is no state is the schema's matter, and what follows from it nobody's.
        (record("paused", BEGUN), ""),
        (record("running", ("queued", "running")), ""),
        (record("completed", BEGUN, ("running", "asleep"), ("blocked", "running")), "-"),
        (record("running") | {"transitions": [5]}, ""),
        (record("running") | {"transitions": [{"from": ["pending"], "to": None}]}, ""),
        (record("running") | {"transitions": {}}, ""),
    ],
)
def test_transitions_chain(document: dict[str, Any], expected: str) -> None:
    assert marks("VA-LIF-004", of_text(json.dumps(document), VA)) == expected


@pytest.mark.parametrize(
    ("document", "pointer", "message"),
    [
        (
            record("running", ("blocked", "running")),
            "/transitions/0/from",
            "it goes on from blocked, and the execution was pending",
        ),
        (
            record("failed", ("pending", "failed")),
            "/transitions/0/to",
            "from pending the table allows running, cancelled, and not failed",
        ),
        (
            record("running", ("pending", "cancelled"), ("cancelled", "running")),
            "/transitions/1/to",
            "from cancelled the table allows nothing, and not running",
        ),
        (
            record("failed", BEGUN),
            "/currentState",
            "the execution is said to be failed, and its transitions leave it running",
        ),
    ],
)
def test_a_broken_chain_is_shown_where_it_breaks(
    document: dict[str, Any], pointer: str, message: str
) -> None:
    finding = only("VA-LIF-004", of_text(json.dumps(document), VA))
    assert (finding.pointer, finding.message) == (pointer, message)


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (record("running", BEGUN), "+"),
        (record("running", BEGUN, attempt=1), "+"),
        (record("running", BEGUN, attempt=1.0), "+"),
        (record("running", BEGUN, attempt=2), "-"),
        (record("pending", taskId="T-2"), "-"),
        (record("pending", correlationId="c-2", attempt=2), ""),
        (record("pending", correlationId=5), ""),
    ],
)
def test_a_record_of_a_known_id_is_of_the_same_attempt(second: dict[str, Any], expected: str) -> None:
    assert marks("VA-COR-003", of_text(json.dumps([record("pending"), second]), VA)) == expected


def test_two_attempts_of_one_id_are_both_named() -> None:
    pair = [record("failed", BEGUN, ("running", "failed")), record("pending", attempt=2)]
    finding = only("VA-COR-003", of_text(json.dumps(pair), VA))
    assert finding.message == '"c-1" names attempt 1 of "T-1", and here attempt 2 of "T-1"'


# --- One fault, one finding ------------------------------------------------------------------------


def of(task: str, spoken: Spoken) -> Spoken:
    """The message about another task."""
    return spoken[0], json.loads(json.dumps(spoken[1]).replace('"T-1"', f'"{task}"'))


def without(member: str, spoken: Spoken) -> Spoken:
    return spoken[0], {name: value for name, value in spoken[1].items() if name != member}


def unreadable(spoken: Spoken) -> Spoken:
    """The message with a type that nobody knows."""
    return spoken[0], spoken[1] | {"type": "order"}


SECOND = dispatch(correlation="c-2", id="T-2")
ACCEPTED_SECOND = of("T-2", told("accepted", "01", "c-2"))
DONE_SECOND = of("T-2", result("completed", "02", "c-2"))
DONE = [told("accepted", "01"), result("completed", "02")]


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        ([dispatch(), told("progress", "01"), told("progress", "02"), result("completed", "03")],
         ["LIF-001"]),
        ([dispatch(), told("progress", "01"), told("accepted", "02"), told("accepted", "03"),
          result("completed", "04")], ["LIF-001"] * 2),
        ([dispatch(), told("accepted", "01"), result("blocked", "02", blockReason={
            "type": "permission", "description": "d"}), *DONE], []),
        ([dispatch(), told("accepted", "01"), without("correlationId", result("completed", "02"))],
         ["MSG-001"]),
        ([dispatch(), without("correlationId", told("accepted", "01")), result("completed", "02")],
         ["MSG-001"]),
        ([dispatch(), SECOND, told("accepted", "01"), ACCEPTED_SECOND, DONE_SECOND], ["LIF-003"]),
        ([dispatch(), unreadable(SECOND), ACCEPTED_SECOND, *DONE, DONE_SECOND], ["MSG-001"]),
        ([dispatch(), unreadable(dispatch(correlation="c-9")), *DONE, told("accepted", "01", "c-8")],
         ["COR-001", "MSG-001"]),
        ([SECOND, told("progress", "01"), ACCEPTED_SECOND, result("completed", "02"), DONE_SECOND], []),
        ([SECOND, ACCEPTED_SECOND, told("accepted", "01"), result("completed", "02"), DONE_SECOND],
         ["COR-001"]),
        ([SECOND, of("T-2", told("progress", "01", "c-9")), ACCEPTED_SECOND, DONE_SECOND], ["COR-001"]),
        ([dispatch(), told("accepted", "01"), ("agent", envelope("failed", {"evidence": {
            "taskId": "T-1", "status": "completed"}}, "02"))], ["EVD-001"]),
    ],
    ids=[
        "one missing step",
        "two wrong steps",
        "accepted anew after it was blocked",
        "an end of nobody knows what",
        "an acceptance of nobody knows what",
        "the second of two never ends",
        "a dispatch that cannot be read",
        "another id than the one that cannot be read",
        "dispatched before the record began",
        "an acceptance of nothing",
        "a wrong id for a known task",
        "evidence of another status",
    ],
)  # fmt: skip
def test_one_fault_is_one_finding(spoken: list[Spoken], expected: list[str]) -> None:
    found = [one.requirement for one in judged(said(*spoken), VA) if not one.ok]
    assert sorted(found) == [f"VA-{name}" for name in expected]


def test_a_line_that_cannot_be_read_may_have_been_the_dispatch() -> None:
    text = [dispatch()[1], '{"type": "dispatch", "corr', ACCEPTED_SECOND[1], DONE_SECOND[1]]
    assert broken(of_text(lines(*text), VA)) == {"WIRE-LINE"}


# --- What is not shown -----------------------------------------------------------------------------

COMMAND = '{"gate": "g", "passed": true, "exitCode": 0, "command": null}'


@pytest.mark.parametrize(
    ("requirement", "spoken"),
    [
        ("VA-CAN-001", [dispatch(), told("accepted", "01"), result("completed", "02"), told("cancel", "03")]),
        ("VA-CAN-001", [dispatch(), told("accepted", "01"), told("cancel", "03"), result("completed", "02")]),
        ("VA-EVD-002", [result("failed", failureDetail=None)]),
        ("VA-EVD-003", [result("blocked", blockReason=[])]),
        ("VA-EVD-005", [result("completed", gateResults=[json.loads(COMMAND)])]),
        ("VA-MSG-006", [("agent", envelope("accepted", {"taskId": 5}, correlation=None))]),
    ],
    ids=["ended before the cancel", "ended at the cancel", "null", "no object", "no command", "no text"],
)
def test_a_requirement_is_not_shown_by_what_cannot_show_it(requirement: str, spoken: list[Spoken]) -> None:
    assert requirement not in shown_to_hold(judged(said(*spoken), VA))


def test_a_cancelled_execution_that_kept_silent_shows_that_it_heeds_a_cancel() -> None:
    spoken = [dispatch(), told("accepted", "01"), told("cancel", "02")]
    assert "VA-CAN-001" in shown_to_hold(judged(said(*spoken), VA))


@pytest.mark.parametrize(
    ("requirement", "spoken"),
    [
        ("VA-LIF-002", [dispatch(), *DONE]),
        ("VA-CAN-001", [dispatch(), told("accepted", "01"), told("cancel", "02")]),
        ("VA-COR-004", [dispatch(), told("accepted", "01"), dispatch("02", "c-2")]),
    ],
)
def test_silence_is_not_shown_where_something_could_not_be_understood(
    requirement: str, spoken: list[Spoken]
) -> None:
    more = unreadable(told("progress", "09"))
    assert requirement in shown_to_hold(judged(said(*spoken), VA))
    assert requirement not in shown_to_hold(judged(said(*spoken, more), VA))
    of_another = more[0], more[1] | {"correlationId": "c-9"}
    assert requirement in shown_to_hold(judged(said(*spoken, of_another), VA))
    of_the_other_side = "orchestrator", more[1]
    assert requirement in shown_to_hold(judged(said(*spoken, of_the_other_side), VA))


def test_what_comes_after_a_cancel_is_shown_with_both_times() -> None:
    spoken = [dispatch(), told("accepted", "01"), told("cancel", "02"), told("progress", "04")]
    finding = only("VA-CAN-001", judged(said(*spoken), VA))
    wanted = "progress of c-1 is of 2026-04-01T00:00:04Z, and it was cancelled at 2026-04-01T00:00:02Z"
    assert finding.message == wanted


def test_a_reason_that_is_null_is_one_fault() -> None:
    found = judged(said(result("completed", failureDetail=None)), VA)
    assert [one.requirement for one in found if not one.ok] == ["VA-MSG-002"]
    found = judged(said(result("completed", failureDetail={}, blockReason=None)), VA)
    assert broken(found) == {"VA-MSG-002", "VA-EVD-004"}
    assert only("VA-EVD-004", found).message == 'the member "failureDetail" is not allowed here'


# --- VA-CAN-001 ------------------------------------------------------------------------------------


def stamped(kind: str, second: str, party: str = "agent", correlation: str = "c-1") -> tuple[str, Any]:
    stamp = f"2026-04-01T00:00:{second}"
    return party, {"type": kind, "timestamp": stamp, "correlationId": correlation, "payload": {"taskId": "T"}}


ACCEPTED = stamped("accepted", "00Z")
CANCEL = stamped("cancel", "05Z", "orchestrator")
TASK = "orchestrator", {"id": "T", "objective": "o", "acceptanceCriteria": ["a"]}


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        ([ACCEPTED, CANCEL], "a+"),
        ([TASK, ACCEPTED, CANCEL], "a+"),
        ([ACCEPTED, CANCEL, stamped("progress", "05Z")], "a+"),
        ([ACCEPTED, CANCEL, stamped("progress", "05.4Z")], "a+"),
        ([ACCEPTED, CANCEL, stamped("progress", "06Z")], "a-"),
        ([ACCEPTED, CANCEL, stamped("progress", "06Z"), stamped("completed", "07Z")], "a- a-"),
        ([ACCEPTED, CANCEL, stamped("progress", "06Z", correlation="c-2")], "a+"),
        ([ACCEPTED, CANCEL, stamped("progress", "soon")], "a+"),
        ([ACCEPTED, CANCEL, stamped("progress", "06")], "a+"),
        ([ACCEPTED, stamped("cancel", "soon", "orchestrator"), stamped("progress", "06Z")], ""),
        ([ACCEPTED, stamped("cancel", "05Z", "agent"), stamped("progress", "06Z")], ""),
        ([ACCEPTED, CANCEL, stamped("cancel", "09Z", "orchestrator"), stamped("progress", "08Z")], "a-"),
        ([CANCEL], ""),
        ([ACCEPTED], ""),
        ([ACCEPTED, CANCEL, stamped("dispatch", "07Z", "orchestrator"), stamped("progress", "08Z")], ""),
    ],
)
def test_after_a_cancel_nothing_new_is_said(spoken: list[tuple[str, Any]], expected: str) -> None:
    found = judged(said(*spoken), VA)
    told = [f"{one.party[0]}{'+' if one.ok else '-'}" for one in found if one.requirement == "VA-CAN-001"]
    assert " ".join(told) == expected


# --- What is remembered, and what is asked first -----------------------------------------------------


def test_of_attempts_that_are_over_the_latest_are_remembered() -> None:
    names = [f"c-{number}" for number in range(REMEMBERED_MESSAGES + 1)]
    spoken = [
        one
        for name in names
        for one in (
            dispatch(correlation=name, outputContract={"keys": ["a"]}),
            told("cancel", "00", name),
        )
    ]
    late = [result("completed", "00", name) for name in (names[0], names[-1])]
    found = judging.judged(said(*spoken, *late), VA, praise=False)
    assert [one.seq for one in found if one.requirement == "VA-EVD-010"] == [len(spoken) + 2]


def test_of_attempts_that_never_end_the_latest_are_remembered() -> None:
    attempts, correlator = Attempts(), Correlator(VA)

    def known(seq: int, spoken: Spoken) -> bool:
        message = correlator.message(Received(seq, spoken[0], json.dumps(spoken[1]), spoken[1]))
        assert attempts.attend(Observation(message.event, message))
        return attempts.attempt is not None

    for number in range(REMEMBERED + 1):
        known(number, dispatch(correlation=f"c-{number}", id=f"T-{number}"))
    assert not known(REMEMBERED + 1, result("failed", correlation="c-0"))
    assert known(REMEMBERED + 2, result("failed", correlation=f"c-{REMEMBERED}"))


MARKS = ["0", "0.0", "1e-9", "0.1", "0.3", "0.30000000000000004", "0.7999999999999999", "0.8", "8e-1", "1"]


@pytest.mark.parametrize("kind", ['"command": "c"', '"command": "c", "exitCode": 1', EVALUATED])
def test_a_gate_is_plain_if_no_rule_has_anything_against_it(kind: str) -> None:
    """For all that is written with ints and floats: others are looked at by the rules themselves."""
    rest = itertools.product(MARKS, MARKS, ["true", "false"], ["error", "warning"], [True, False])
    for score, threshold, passed, severity, is_success in rest:
        marks = f'"score": {score}, "threshold": {threshold}, "softThreshold": 0.3, "severity": "{severity}"'
        gate = jsontext.parse(f'{{"gate": "g", {kind}, "passed": {passed}, {marks}}}').value
        told = [rule(gate) for name, rule in RULES.items() if name != "success" or is_success]
        assert is_plain(gate, is_success) is not any(one.wrong for one in told if one), gate


@pytest.mark.parametrize(
    "gate",
    [
        '"command": "c", "exitCode": 0.0, "passed": true',
        '"command": "c", "exitCode": null, "passed": true',
        '"score": 0.80000000000000001, "threshold": 0.8, "passed": true, "type": "model-evaluation"',
        '"score": 1, "threshold": true, "passed": true, "type": "model-evaluation"',
        '"score": 0.5, "threshold": 0.8, "softThreshold": "low", "passed": false, "type": "model-evaluation"',
    ],
)
def test_a_gate_of_other_numbers_is_not_plain(gate: str) -> None:
    assert not is_plain(jsontext.parse(f"{{{gate}}}").value, False)


@pytest.mark.parametrize(
    ("timeout", "second", "expected"),
    [
        (1000, "01.999999", ""),
        (1000, "02.000000", ""),
        (1000, "02.0000001", "-"),
        (1001, "02.0010000000001", "-"),
        (2000, "02.9999999", ""),
        (2000, "01+00:00", ""),
        (2000, "01-00:01", "-"),
        (59_000, "60", ""),
        (58_999, "60", "-"),
        (1000, "01.5 UTC", ""),
        (1000, "0", ""),
    ],
)
def test_a_result_just_in_time_is_in_time(timeout: int, second: str, expected: str) -> None:
    """By hand, from an acceptance at 00:00:01, as the time is written but for the Z."""
    stamp = f"2026-04-01T00:00:{second}" + ("" if second[-1:].isalpha() or ":" in second else "Z")
    side, spoken = result("completed")
    order = [dispatch(timeout=timeout), told("accepted", "01"), (side, spoken | {"timestamp": stamp})]
    found = judged(said(*order), VA)
    assert marks("VA-TSK-002", found).replace("+", "") == expected
