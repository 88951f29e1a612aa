"""All checks of a pack over a stream: one fault is one finding, and nobody is blamed for what is not there.

The transcripts are the fixtures' valid ones. Each mutation breaks one rule on one message, in the
message's text, so that tokens stay as they are written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from judging import (
    AWP,
    DIALECT,
    TRACES,
    VA,
    against,
    broken,
    judged,
    lines,
    of_text,
    row,
    said,
    shown_to_hold,
    toy,
)

from conformance import packs, records
from conformance.events import Closed, Event, Received, Sent
from conformance.findings import Finding
from conformance.framing import read_message
from conformance.jsontext import parse
from conformance.monitor import Monitor
from conformance.packs import Pack

OSSA = packs.find("ossa-a2a@0.3.3")

Spoken = Sent | Received


@cache
def events_of(path: Path) -> tuple[Event, ...]:
    return tuple(records.open_record(path.read_bytes(), str(path), AWP).events)


def rewritten(event: Spoken, text: str) -> Spoken:
    reading = read_message(text.encode())
    assert reading.fatal is None, text
    return event._replace(text=text, value=reading.value, faults=reading.faults, exact=False)


def with_one(events: tuple[Event, ...], place: int, text: str | None) -> list[Event]:
    """The events, one of them with another text, or without it."""
    event = events[place]
    assert isinstance(event, Spoken)
    changed = [] if text is None else [rewritten(event, text)]
    return [*events[:place], *changed, *events[place + 1 :]]


def statuses(events: tuple[Event, ...]) -> Iterator[tuple[int, str, str]]:
    """(index, text, state) of each `action.status` notification."""
    for place, event in enumerate(events):
        if (
            isinstance(event, Spoken)
            and event.value.get("method") == "action.status"
            and "id" not in event.value
        ):
            yield place, event.text, event.value["params"]["state"]


def numbers(event: Event) -> list[int]:
    """The number that a message has or reports."""
    value = event.value if isinstance(event, Spoken) else {}
    parts = [value.get("params"), value.get("result")]
    return [part["status_seq"] for part in parts if isinstance(part, dict) and "status_seq" in part]


def said_twice(events: tuple[Event, ...], place: int) -> set[str]:
    """What follows where a message is replayed: the two then are not the same word for word."""
    copies = [one for one in events if numbers(one) and numbers(one) == numbers(events[place])]
    texts = [one.text for one in copies if isinstance(one, Spoken)]
    return {"AWP-CTL-008"} if len(texts) > len(set(texts)) else set()


def some(places: Iterable[int], events: tuple[Event, ...]) -> set[int]:
    """The first and the last of these places at which a message of its kind stands in its state.

    What a whole record is judged for at each place takes long where it is long.
    """
    first: dict[Any, int] = {}
    last: dict[Any, int] = {}
    for place in places:
        event = events[place]
        assert isinstance(event, Spoken)
        told = event.value.get("params") or event.value.get("result") or {}
        kind = (event.value.get("method"), told.get("state"), tuple(told))
        first.setdefault(kind, place)
        last[kind] = place
    return {*first.values(), *last.values()}


each_trace = pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)


def test_there_are_transcripts_of_all_that_is_mutated() -> None:
    states = {state for path in TRACES for _, _, state in statuses(events_of(path))}
    assert {"executing", "completed", "failed", "cancelled"} <= states
    assert len(TRACES) >= 6


@each_trace
def test_a_valid_transcript_has_no_finding_against_it(path: Path) -> None:
    assert against(judged(events_of(path), AWP)) == []


# --- AWP: a missing reason -------------------------------------------------------------------------

REASON = re.compile(r'"reason"\s*:\s*"[^"]*"\s*,|,\s*"reason"\s*:\s*"[^"]*"')


@each_trace
def test_a_status_without_its_reason_breaks_lif_004_and_nothing_else(path: Path) -> None:
    events = events_of(path)
    for place, text, state in statuses(events):
        if state in ("rejected", "failed", "cancelled"):
            changed = REASON.sub("", text, count=1)
            assert changed != text
            assert broken(judged(with_one(events, place, changed), AWP)) == {"AWP-LIF-004"}


# --- AWP: an impossible state ----------------------------------------------------------------------

TABLE = json.loads((AWP.folder / "lifecycle.json").read_text())
EDGES = {(edge["from"], edge["to"]) for edge in TABLE["transitions"] if edge.get("wire") != "error"}
EDGES |= {(state, state) for state in TABLE["repeat"]}
STATE = re.compile(r'("state"\s*:\s*)"[a-z_]+"')
NEEDS_A_REASON = {"rejected", "failed", "cancelled"}


def before(events: tuple[Event, ...], place: int) -> str | None:
    """The state in which the action was, read off the messages before."""
    event = events[place]
    assert isinstance(event, Spoken)
    action, state = event.value["params"]["action_id"], None
    for one in events[:place]:
        part = (one.value.get("params") or one.value.get("result") or {}) if isinstance(one, Spoken) else {}
        if isinstance(part, dict) and part.get("action_id") == action and "state" in part:
            state = part["state"]
    return state


@each_trace
def test_a_state_that_does_not_exist_breaks_lif_001_and_nothing_else(path: Path) -> None:
    events = events_of(path)
    chosen = some((place for place, _, _ in statuses(events)), events)
    for place, text, _ in statuses(events):
        if place not in chosen:
            continue
        changed = STATE.sub(r'\1"flying"', text, count=1)
        follows = said_twice(events, place)
        assert broken(judged(with_one(events, place, changed), AWP)) == {"AWP-LIF-001"} | follows


@each_trace
def test_a_state_that_the_table_does_not_allow_there_breaks_lif_001(path: Path) -> None:
    """And LIF-004 where the state needs a reason and none is given; no reason is asked of an illegal edge."""
    events = events_of(path)
    done: set[tuple[str, str, str]] = set()
    for (place, text, was), state in product(statuses(events), sorted(TABLE["states"])):
        source = before(events, place)
        if state == was or source is None or (source, state) in EDGES or (source, was, state) in done:
            continue
        done.add((source, was, state))
        changed = STATE.sub(rf'\1"{state}"', text, count=1)
        follows = said_twice(events, place)
        follows |= {"AWP-LIF-004"} if state in NEEDS_A_REASON and '"reason"' not in text else set()
        assert broken(judged(with_one(events, place, changed), AWP)) == {"AWP-LIF-001"} | follows


# --- AWP: missing numbers --------------------------------------------------------------------------

NUMBER = re.compile(r'"status_seq"\s*:\s*\d+\s*,|,\s*"status_seq"\s*:\s*\d+')


def numbered(events: tuple[Event, ...]) -> Iterator[tuple[int, Spoken, int]]:
    """(index, event, number) of what has a number of its own: no pull, and no answer to a resubmission."""
    used: set[int] = set()
    for place, event in enumerate(events):
        for number in numbers(event):
            assert isinstance(event, Spoken)
            if "params" in event.value or number not in used:
                used.add(number)
                yield place, event, number


@each_trace
def test_a_message_without_its_number_breaks_ctl_008_and_nothing_else(path: Path) -> None:
    events = events_of(path)
    chosen = some((place for place, _, _ in numbered(events)), events)
    for place, event, _ in numbered(events):
        if place not in chosen:
            continue
        changed = NUMBER.sub("", event.text, count=1)
        assert changed != event.text
        assert broken(judged(with_one(events, place, changed), AWP)) == {"AWP-CTL-008"}


@each_trace
def test_a_numbered_message_that_is_missing_breaks_ctl_008(path: Path) -> None:
    """Where another follows that shows the gap, and none repeats the number. What it said is missing too,
    and is not told again: nobody knows what it was."""
    events = events_of(path)
    all_numbered = list(numbered(events))
    chosen = some((place for place, _, _ in all_numbered), events)
    for (place, _, number), (after, _, later) in pairwise(all_numbered):
        between = [one.text for one in events[place:after] if isinstance(one, Spoken)]
        resumed = any('"session.resume"' in text for text in between)
        alone = sum(number in numbers(one) for one in events) == 1
        if place in chosen and later == number + 1 and alone and not resumed:
            assert broken(judged(with_one(events, place, None), AWP)) == {"AWP-CTL-008"}


# --- AWP: timestamps -------------------------------------------------------------------------------

TIME = re.compile(r'("ts_mono_ns"\s*:\s*)\d+')
TOKENS = [
    ("9007199254740992", "AWP-CTL-009"),
    ("9007199254740991.5", "AWP-CTL-009"),
    ("1e16", "AWP-CTL-009"),
    ("1" * 30, "AWP-CTL-009"),
    ('"12"', "AWP-CLK-005"),
]


@each_trace
@pytest.mark.parametrize(("token", "requirement"), TOKENS)
def test_a_timestamp_is_judged_on_its_token(path: Path, token: str, requirement: str) -> None:
    events = events_of(path)
    eligible = [(place, event) for place, event in enumerate(events) if isinstance(event, Spoken)]
    eligible = [(place, event) for place, event in eligible if TIME.search(event.text)]
    # The lines at both ends and some between, more of them with one token.
    step = 15 if token == TOKENS[0][0] else 50
    few = {0, 1, len(eligible) - 1, *range(0, len(eligible), step)}
    for index, (place, event) in enumerate(eligible):
        if index in few:
            changed = TIME.sub(lambda found: found[1] + token, event.text, count=1)
            found = against(judged(with_one(events, place, changed), AWP))
            follows = said_twice(events, place)
            assert {finding.requirement for finding in found} == {requirement} | follows
            assert len(found) == 1 + len(follows)
            (pointer,) = (finding.pointer for finding in found if finding.requirement == requirement)
            assert pointer in ("/params/ts_mono_ns", "/result/ts_mono_ns")


# --- AWP: nobody is blamed for what is not in the record -------------------------------------------


@each_trace
def test_a_lone_message_and_a_fragment_are_blamed_for_nothing(path: Path) -> None:
    events = events_of(path)
    ends = len(events)
    cuts = range(0, ends, 1 + ends // 13)
    pieces = [(start, ends) for start in cuts]
    pieces += [(0, stop) for stop in cuts]
    pieces += [(start, start + 1) for start in range(ends)]
    pieces += [(start, start + size) for size in (2, 7) for start in range(0, ends, size)]
    for start, stop in pieces:
        found = against(judged([*events[start:stop], Closed(9999, final=False)], AWP))
        assert found == [], (start, stop)


def test_a_resubmission_whose_first_is_not_in_the_record_is_no_fault() -> None:
    """AWP-ACT-001: it is answered with the current state, whatever that is by now."""
    submit = {"action_id": "a-1", "type": "move", "params": {}}
    result = {
        "action_id": "a-1",
        "state": "executing",
        "status_seq": 4,
        "received_ts_mono_ns": 1,
        "ts_mono_ns": 1,
    }
    spoken = [
        ("agent", {"jsonrpc": "2.0", "id": 9, "method": "action.submit", "params": submit}),
        ("world", {"jsonrpc": "2.0", "id": 9, "result": result}),
    ]
    assert against(judged(said(*spoken), AWP)) == []


def test_numbers_in_the_middle_of_a_session_begin_anywhere() -> None:
    def pulled(number: int) -> list[tuple[str, Any]]:
        status = {"action_id": "a-1", "state": "executing", "status_seq": number, "ts_mono_ns": 1}
        return [
            ("agent", {"jsonrpc": "2.0", "id": 9, "method": "action.status", "params": {"action_id": "a-1"}}),
            ("world", {"jsonrpc": "2.0", "id": 9, "result": status}),
        ]

    event = {"event": "safe_state_entered", "ts_mono_ns": 5, "status_seq": 11}
    told = ("world", {"jsonrpc": "2.0", "method": "world.event", "params": event})
    assert "AWP-CTL-008" not in broken(judged(said(*pulled(3), told, *pulled(4)), AWP))


# --- AWP: forms ------------------------------------------------------------------------------------


def test_a_sender_adds_no_members_and_a_receiver_skips_them() -> None:
    """AWP-VER-003 and AWP-VER-004."""
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"origin_ns": 1, "extra": 1}}
    assert broken(judged(said(("agent", ping)), AWP)) == {"AWP-VER-004"}
    assert broken(judged(said(("agent", ping)), AWP, form="receiver")) == set()
    ping["params"] = {"origin_ns": 1, "x-acme.extra": 1}
    assert broken(judged(said(("agent", ping)), AWP)) == set()


def test_a_message_has_the_form_of_json_rpc() -> None:
    for wrong in ({"method": "ping", "id": 1, "params": {"origin_ns": 1}},
                  {"jsonrpc": "2.0", "method": "ping", "id": {}, "params": {"origin_ns": 1}}):  # fmt: skip
        assert broken(judged(said(("agent", wrong)), AWP)) == {"AWP-CTL-001"}


PING = ("agent", {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"origin_ns": 1}})
PONG = {"origin_ns": 1, "receive_ns": 1, "transmit_ns": 1}


@pytest.mark.parametrize(
    "wrong",
    [
        {"jsonrpc": "2.0", "id": 1, "result": PONG, "error": {"code": 2006, "message": "x"}},
        {"jsonrpc": "2.0", "id": 1, "result": None, "error": {"code": 2006, "message": "x"}},
        {"jsonrpc": "1.0", "id": 1, "result": None},
        {"jsonrpc": "2.0", "result": PONG},
        {"jsonrpc": "1.0", "id": 77, "result": {}},
        {"id": 1, "method": "session.dance", "params": 5},
    ],
    ids=str,
)
def test_what_is_no_json_rpc_is_told_once(wrong: Any) -> None:
    """Whatever it answers, and whatever is in it: nothing more is judged of it."""
    (finding,) = against(judged(said(PING, ("world", wrong)), AWP))
    assert finding.requirement == "AWP-CTL-001"


def test_a_result_that_is_null_is_told_once() -> None:
    (finding,) = against(judged(said(PING, ("world", {"jsonrpc": "2.0", "id": 1, "result": None})), AWP))
    assert (finding.requirement, finding.pointer) == ("AWP-CLK-007", "/result")


def test_a_status_without_its_state_is_told_once() -> None:
    """The schema asks for a reason too, since there is no state that needs none."""
    status = {"action_id": "a-1", "status_seq": 5, "ts_mono_ns": 9}
    told = said(("world", {"jsonrpc": "2.0", "method": "action.status", "params": status}))
    (finding,) = against(judged(told, AWP))
    assert finding.expected == ("state",)


def test_a_batch_is_told_once() -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"origin_ns": 1}}
    assert broken(judged(said(("agent", [ping, ping])), AWP)) == {"AWP-CTL-006"}


# --- va-agent-protocol -----------------------------------------------------------------------------


def message(kind: str, payload: Any, **members: Any) -> dict[str, Any]:
    return {
        "protocol": "va-agent-protocol",
        "version": "0.1.0",
        "type": kind,
        "timestamp": "2026-04-01T00:00:00Z",
        "correlationId": "c-1",
        "payload": payload,
        **members,
    }


def dispatch(**task: Any) -> tuple[str, dict[str, Any]]:
    whole = {"id": "T-1", "objective": "o", "acceptanceCriteria": ["x"], "timeout": 1000, **task}
    return "orchestrator", message("dispatch", {"task": whole})


def evidence(kind: str, **members: Any) -> tuple[str, dict[str, Any]]:
    more: dict[str, Any] = {
        "failed": {"failureDetail": {"failureType": "timeout", "attempted": "a", "hypothesis": "h"}},
        "blocked": {"blockReason": {"type": "permission", "description": "d"}},
    }.get(kind, {})
    whole = {"taskId": "T-1", "status": kind, **more, **members}
    return "agent", message(kind, {"evidence": {name: one for name, one in whole.items() if one is not ...}})


ACCEPTED = "agent", message("accepted", {"taskId": "T-1"})
PROGRESS = "agent", message("progress", {"taskId": "T-1", "summary": "half"})
CANCEL = "orchestrator", message("cancel", {"taskId": "T-1", "reason": "r"})
COMPLETED, FAILED, BLOCKED = evidence("completed"), evidence("failed"), evidence("blocked")
GATE = {"gate": "g", "passed": True, "command": "make", "exitCode": 0, "durationMs": 5}

AGAIN = "2026-04-01T00:00:02Z"
RETRY = [("orchestrator", {**dispatch()[1], "correlationId": "c-2", "timestamp": AGAIN}),
         (ACCEPTED[0], {**ACCEPTED[1], "correlationId": "c-2", "timestamp": AGAIN}),
         (COMPLETED[0], {**COMPLETED[1], "correlationId": "c-2", "timestamp": AGAIN})]  # fmt: skip
REFERENCE = {"fromTask": "T-0", "outputKey": "k"}
SCORED = {"gate": "s", "type": "model-evaluation", "passed": True, "score": 0.9, "threshold": 0.8}
SOFT = SCORED | {"passed": False, "score": 0.7, "softThreshold": 0.6, "severity": "warning"}
DETAIL = {"failureType": "gate", "attempted": "a", "hypothesis": "h"}

Conversation = list[tuple[str, dict[str, Any]]]


def but(spoken: tuple[str, dict[str, Any]], **members: Any) -> tuple[str, dict[str, Any]]:
    """The message with other members; `...` takes one away."""
    changed = {**spoken[1], **members}
    return spoken[0], {name: one for name, one in changed.items() if one is not ...}


RIGHT: list[Conversation] = [
    [dispatch(), ACCEPTED, PROGRESS, PROGRESS, COMPLETED],
    [dispatch(), ACCEPTED, FAILED],
    [dispatch(), ACCEPTED, BLOCKED, PROGRESS, COMPLETED],
    [dispatch(), ACCEPTED, BLOCKED, FAILED],
    [dispatch(), ACCEPTED, BLOCKED],
    [dispatch(), CANCEL],
    [dispatch(), ACCEPTED, CANCEL],
    [dispatch(), ACCEPTED, CANCEL, but(PROGRESS, timestamp="2026-04-01T00:00:00.4Z")],
    [dispatch(), ACCEPTED, BLOCKED, CANCEL],
    [dispatch()],
    [dispatch(), ACCEPTED, *RETRY],
    [dispatch(dependsOn=["T-0"], inputs={"a": REFERENCE}, outputContract={"keys": ["o"]}), ACCEPTED,
     evidence("completed", outputs={"o": 1}, gateResults=[GATE, SCORED, SOFT])],
    [dispatch(), ACCEPTED, FAILED, dispatch(), ACCEPTED, COMPLETED],
]  # fmt: skip


@pytest.mark.parametrize("conversation", RIGHT, ids=lambda one: "-".join(m["type"] for _, m in one))
def test_a_right_conversation_has_no_finding_against_it(conversation: Conversation) -> None:
    """The last: a dispatch that is delivered twice, word for word, may be taken on twice."""
    found = judged(said(*conversation), VA)
    assert against(found) == []


@pytest.mark.parametrize("conversation", RIGHT, ids=lambda one: "-".join(m["type"] for _, m in one))
def test_each_message_alone_and_each_fragment_is_blamed_for_nothing(conversation: Conversation) -> None:
    size = len(conversation)
    for start in range(size):
        for stop in range(start + 1, size + 1):
            events = said(*conversation[start:stop])[:-1]
            assert against(judged([*events, Closed(99, final=False)], VA)) == []
            assert against(judged(events, VA, stateless=True)) == []


def record(state: str, second: str, **members: Any) -> dict[str, Any]:
    """A TaskExecution that began to run."""
    moved = [{"from": "pending", "to": "running", "timestamp": f"2026-04-01T00:00:{second}Z"}]
    return {"taskId": "T-1", "correlationId": "c-1", "currentState": state, "transitions": moved, **members}


WRONG: list[tuple[str, Conversation]] = [
    ("VA-MSG-001", [dispatch(), but(ACCEPTED, extra=1), COMPLETED]),
    ("VA-MSG-001", [dispatch(), but(ACCEPTED, version=...), COMPLETED]),
    ("VA-MSG-001", [dispatch(), but(ACCEPTED, payload=...), COMPLETED]),
    ("VA-MSG-001", [dispatch(), but(ACCEPTED, type="acepted"), COMPLETED]),
    ("VA-MSG-001", [dispatch(), ACCEPTED, but(COMPLETED, type="complete")]),
    ("VA-MSG-001", [but(dispatch(), protocol="va"), ACCEPTED, COMPLETED]),
    ("VA-MSG-002", [dispatch(), but(ACCEPTED, payload={"taskId": 5}), COMPLETED]),
    ("VA-MSG-002", [dispatch(), but(ACCEPTED, payload={}), COMPLETED]),
    ("VA-MSG-002", [dispatch(), ACCEPTED, but(COMPLETED, payload={"taskId": "T-1"})]),
    ("VA-MSG-002", [dispatch(extra=1), ACCEPTED, COMPLETED]),
    ("VA-MSG-003", [dispatch(), ("orchestrator", ACCEPTED[1]), ACCEPTED, COMPLETED]),
    ("VA-MSG-003", [dispatch(), ACCEPTED, ("agent", CANCEL[1]), COMPLETED]),
    ("VA-MSG-004", [dispatch(), but(ACCEPTED, timestamp="2026-04-01T00:00:00"), COMPLETED]),
    ("VA-MSG-004", [dispatch(), but(ACCEPTED, timestamp="yesterday"), COMPLETED]),
    ("VA-MSG-005", [dispatch(), but(ACCEPTED, version="0.1"), COMPLETED]),
    ("VA-MSG-005", [dispatch(), but(ACCEPTED, version="0.1.0\n"), COMPLETED]),
    ("VA-MSG-005", [dispatch(), but(ACCEPTED, version="٠.١.٠"), COMPLETED]),
    ("VA-MSG-006", [but(dispatch(), correlationId=""), but(ACCEPTED, correlationId=""),
                    but(COMPLETED, correlationId="")]),
    ("VA-MSG-006", [dispatch(id=""), but(ACCEPTED, payload={"taskId": ""}),
                    evidence("completed", taskId="")]),
    ("VA-INT-001", [dispatch(timeout=2**53), ACCEPTED, COMPLETED]),
    ("VA-INT-001", [dispatch(timeout=-1), ACCEPTED, COMPLETED]),
    ("VA-INT-001", [dispatch(timeout=0.5), ACCEPTED, COMPLETED]),
    ("VA-INT-001", [dispatch(timeout="1"), ACCEPTED, COMPLETED]),
    ("VA-INT-001", [dispatch(), ACCEPTED,
                    evidence("completed", gateResults=[GATE | {"exitCode": -(2**53)}])]),
    ("VA-INT-001", [dispatch(), ACCEPTED, evidence("completed", gateResults=[GATE | {"durationMs": -1}])]),
    ("VA-LIF-001", [dispatch(), PROGRESS, ACCEPTED, COMPLETED]),
    ("VA-LIF-001", [dispatch(), COMPLETED]),
    ("VA-LIF-001", [dispatch(), ACCEPTED, ACCEPTED, COMPLETED]),
    ("VA-LIF-001", [dispatch(), ACCEPTED, BLOCKED, COMPLETED]),
    ("VA-LIF-001", [dispatch(), ACCEPTED, BLOCKED, BLOCKED]),
    ("VA-LIF-002", [dispatch(), ACCEPTED, COMPLETED, COMPLETED]),
    ("VA-LIF-002", [dispatch(), ACCEPTED, COMPLETED, PROGRESS]),
    ("VA-LIF-002", [dispatch(), ACCEPTED, COMPLETED, ACCEPTED]),
    ("VA-LIF-002", [dispatch(), ACCEPTED, FAILED, COMPLETED]),
    ("VA-LIF-003", [dispatch(), ACCEPTED]),
    ("VA-LIF-003", [dispatch(), ACCEPTED, PROGRESS]),
    ("VA-LIF-003", [dispatch(), ACCEPTED, BLOCKED, PROGRESS]),
    ("VA-CAN-001", [dispatch(), ACCEPTED, CANCEL, but(PROGRESS, timestamp="2026-04-01T00:00:02Z")]),
    ("VA-CAN-001", [dispatch(), ACCEPTED, CANCEL, but(PROGRESS, timestamp="2026-04-01T02:00:02+02:00")]),
    ("VA-COR-001", [dispatch(), ACCEPTED, but(PROGRESS, correlationId="c-9"), COMPLETED]),
    ("VA-COR-002", [dispatch(), but(ACCEPTED, payload={"taskId": "T-9"}), COMPLETED]),
    ("VA-COR-002", [dispatch(), ACCEPTED, evidence("completed", taskId="T-9")]),
    ("VA-EVD-001", [dispatch(), ACCEPTED, evidence("completed", status="failed")]),
    ("VA-EVD-001", [dispatch(), ACCEPTED, evidence("failed", status="completed")]),
    ("VA-EVD-001", [dispatch(), ACCEPTED, evidence("blocked", status="failed")]),
    ("VA-EVD-002", [dispatch(), ACCEPTED, evidence("failed", failureDetail=...)]),
    ("VA-EVD-003", [dispatch(), ACCEPTED, evidence("blocked", blockReason=...)]),
    ("VA-LIF-004", [("", record("completed", "00"))]),
    ("VA-LIF-005", [("", record("running", "00", startedAt=AGAIN, completedAt="2026-04-01T00:00:01Z"))]),
    ("VA-COR-003", [dispatch(), ACCEPTED, FAILED, dispatch(id="T-2")]),
    ("VA-COR-004", [dispatch(), ACCEPTED, *RETRY, but(FAILED, timestamp="2026-04-01T00:00:03Z")]),
    ("VA-EVD-004", [dispatch(), ACCEPTED, evidence("completed", failureDetail=DETAIL)]),
    ("VA-EVD-005", [dispatch(), ACCEPTED,
                    evidence("completed", gateResults=[{"gate": "g", "passed": True}])]),
    ("VA-EVD-006", [dispatch(), ACCEPTED, evidence("completed", gateResults=[GATE | {"exitCode": 1}])]),
    ("VA-EVD-007", [dispatch(), ACCEPTED, evidence("blocked", gateResults=[SCORED | {"passed": False}])]),
    ("VA-EVD-008", [dispatch(), ACCEPTED, evidence("completed", gateResults=[SOFT | {"severity": "error"}])]),
    ("VA-EVD-009", [dispatch(), ACCEPTED,
                    evidence("completed", gateResults=[GATE | {"exitCode": 1, "passed": False}])]),
    ("VA-EVD-010", [dispatch(outputContract={"keys": ["o"]}), ACCEPTED, COMPLETED]),
    ("VA-TSK-001", [dispatch(inputs={"a": REFERENCE})]),
    ("VA-TSK-002", [dispatch(), ACCEPTED, but(COMPLETED, timestamp="2026-04-01T00:00:01.1Z")]),
    ("VA-CAN-002", [dispatch(), ("orchestrator", message("cancel", {"taskId": "T-1"}))]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("requirement", "conversation"), WRONG, ids=[f"{n}-{w[0]}" for n, w in enumerate(WRONG)]
)
def test_a_rule_that_is_broken_alone_is_the_only_one(requirement: str, conversation: Conversation) -> None:
    assert broken(judged(said(*conversation), VA)) == {requirement}


def test_every_rule_with_a_check_is_broken_alone_and_seen_to_hold() -> None:
    judged_rules = {
        one.id
        for one in VA.requirements.values()
        if one.id.startswith("VA-") and any(check["kind"] != "scenario" for check in one.checks)
    }
    held = {name for conversation in RIGHT for name in shown_to_hold(judged(said(*conversation), VA))}
    gate = evidence("completed", gateResults=[GATE])
    held |= shown_to_hold(judged(said(dispatch(), ACCEPTED, gate), VA))
    times = {"startedAt": AGAIN, "completedAt": AGAIN}
    held |= shown_to_hold(judged(said(("", record("running", "00", **times))), VA))
    assert judged_rules <= {requirement for requirement, _ in WRONG}
    assert judged_rules <= held


@pytest.mark.parametrize("broken_line", ["accepted", "progress", "completed"])
def test_a_message_that_cannot_be_read_is_one_fault(broken_line: str) -> None:
    texts = [
        json.dumps(one)[:-9] if one["type"] == broken_line else json.dumps(one)
        for _, one in (dispatch(), ACCEPTED, PROGRESS, COMPLETED)
    ]
    assert broken(of_text(lines(*texts), VA)) == {"WIRE-LINE"}


def test_a_log_line_is_one_fault_and_hides_none() -> None:
    texts = [json.dumps(one) for _, one in (dispatch(), ACCEPTED)]
    assert broken(of_text(lines(*texts, "INFO working"), VA)) == {"WIRE-NOISE", "VA-LIF-003"}


def test_a_lone_surrogate_is_found_and_the_rest_of_the_message_is_judged() -> None:
    """However many other faults were noted before it."""
    twice = ",".join(f'"k{number}":1,"k{number}":1' for number in range(30))
    text = json.dumps(ACCEPTED[1])[:-1] + f',{twice},"x":"\\ud800"' + "}"
    assert broken(of_text(lines(text), VA)) == {"WIRE-KEYS", "VA-MSG-001"}
    text = json.dumps(but(ACCEPTED, correlationId="\ud800", extra=1)[1])
    assert broken(of_text(lines(text), VA)) == {"WIRE-SURROGATE", "VA-MSG-001"}


# --- The machinery ---------------------------------------------------------------------------------

CLOSED = {
    "$schema": DIALECT,
    "properties": {"type": {}, "a": {"type": "integer"}, "b": {}},
    "required": ["a", "b"],
    "additionalProperties": False,
}


def on_go(root: Path, *rows: dict[str, Any]) -> Callable[[str], list[Finding]]:
    pack = toy(root, *rows, schemas={"toy.schema.json": CLOSED})
    return lambda members: judged(said(("left", f'{{"type":"go"{members}}}')), pack)


def requiring(name: str) -> dict[str, Any]:
    return row({"kind": "requires", "on": ["go"], "then": {"required": [name]}}, f"TOY-{name.upper()}")


def test_a_schema_error_that_a_check_has_told_is_not_told_again(tmp_path: Path) -> None:
    judge = on_go(tmp_path, row({"kind": "schema", "on": ["go"]}), requiring("a"))
    assert broken(judge(',"b":1')) == {"TOY-A"}


def test_another_member_that_is_missing_from_the_same_object_is_told(tmp_path: Path) -> None:
    judge = on_go(tmp_path, row({"kind": "schema", "on": ["go"]}), requiring("a"))
    assert broken(judge("")) == {"TOY-A", "TOY-MSG-001"}


def test_a_message_from_the_wrong_side_still_has_to_be_whole(tmp_path: Path) -> None:
    pack = toy(
        tmp_path,
        row({"kind": "schema", "on": ["go"]}),
        row({"kind": "direction"}, "TOY-DIR"),
        schemas={"toy.schema.json": CLOSED},
    )
    assert broken(judged(said(("right", {"type": "go", "a": 1})), pack)) == {"TOY-DIR", "TOY-MSG-001"}


def test_what_one_requirement_has_said_of_a_message_it_does_not_say_again(tmp_path: Path) -> None:
    rows = [
        row({"kind": "schema", "on": ["go"]}),
        requiring("a") | {"claims": [{"at": "toy.schema.json#/properties/a"}]},
    ]
    judge = on_go(tmp_path, *rows)
    assert [finding.requirement for finding in against(judge(',"b":1'))] == ["TOY-A"]


def test_a_requirement_that_a_message_breaks_is_not_also_shown_by_it(tmp_path: Path) -> None:
    judge = on_go(
        tmp_path, row({"kind": "schema", "on": ["go"]}), row({"kind": "schema", "on": ["end"]}, "TOY-2")
    )
    found = [finding for finding in judge(',"a":"x","b":1,"c":1') if finding.requirement.startswith("TOY")]
    assert [(finding.requirement, finding.ok) for finding in found] == [("TOY-MSG-001", False)] * 2
    found = [finding for finding in judge(',"a":1,"b":1') if finding.requirement.startswith("TOY")]
    assert [(finding.requirement, finding.ok) for finding in found] == [("TOY-MSG-001", True)]


def test_a_finding_stands_where_its_value_stands(tmp_path: Path) -> None:
    pack = toy(tmp_path, row({"kind": "schema", "on": ["go"]}), schemas={"toy.schema.json": CLOSED})
    event = Received(1, "left", "", {}, line=7, column=20)
    (one,) = (f for f in Monitor(pack).feed(rewritten(event, '{"type":"go","a":"x","b":1}')) if not f.ok)
    assert (one.line, one.column, one.pointer) == (7, 20 + 17, "/a")
    (one,) = (f for f in Monitor(pack).feed(rewritten(event, '{"type":"go",\n "a":"x","b":1}')) if not f.ok)
    assert (one.line, one.column) == (8, 6)
    (one,) = (f for f in Monitor(pack).feed(rewritten(event, '{"type":"go","b":1}')) if not f.ok)
    assert (one.line, one.column, one.pointer) == (7, 20, "")


@pytest.mark.parametrize(
    ("pack", "name", "line", "column", "pointer"),
    [
        (AWP, "command-frame-from-the-future", 15, 180, "/params/ts_mono_ns"),
        (OSSA, "end-from-another-agent", 4, 150, "/from"),
    ],
    ids=["that a later message settles", "that the end settles"],
)
def test_a_finding_about_an_earlier_message_stands_there(
    pack: Pack, name: str, line: int, column: int, pointer: str
) -> None:
    path = pack.fixtures / "transcripts" / "invalid" / f"{name}.jsonl"
    (one,) = against(of_text(path.read_text(encoding="utf-8"), pack))
    assert (one.line, one.column, one.pointer) == (line, column, pointer)


def test_only_the_text_is_judged_of_what_is_no_object(tmp_path: Path) -> None:
    pack = toy(tmp_path, row({"kind": "schema"}))
    event = Received(1, "left", "", {})
    found = Monitor(pack).feed(rewritten(event, '"go"'))
    assert broken(found) == {"WIRE-OBJECT"}


def test_as_published_judges_text_and_schema_and_nothing_else() -> None:
    """A minimal completed message is not valid as published; the repaired schema takes it."""
    spoken = said(("agent", COMPLETED[1]), ("agent", COMPLETED[1]))
    assert broken(judged(spoken, VA)) == {"VA-LIF-002"}
    assert broken(judged(spoken, VA, as_published=True)) == {"VA-MSG-002"}
    twice = said(("agent", json.dumps(ACCEPTED[1])[:-1] + ',"type":"accepted"}'))
    assert "WIRE-KEYS" in broken(judged(twice, VA, as_published=True))


def test_stateless_leaves_out_what_only_other_messages_show() -> None:
    wrong = [dispatch(), ACCEPTED, ACCEPTED, COMPLETED, COMPLETED]
    assert broken(judged(said(*wrong), VA, stateless=True)) == set()
    assert broken(judged(said(evidence("failed", failureDetail=...)), VA, stateless=True)) == {"VA-EVD-002"}


def test_each_message_alone_stands_nowhere() -> None:
    """Two sessions may use one name; what was cancelling in one is not what is cancelled in the other."""
    states = [("world", status("cancelling")), ("world", status("cancelled"))]
    assert broken(judged(said(*states), AWP)) == {"AWP-CTL-008", "AWP-LIF-005"}
    assert broken(judged(said(*states), AWP, stateless=True)) == set()


def status(state: str) -> dict[str, Any]:
    told = {
        "action_id": "a",
        "state": state,
        "status_seq": 4,
        "ts_mono_ns": 1,
        "reason": "cancelled_by_agent",
    }
    return {"jsonrpc": "2.0", "method": "action.status", "params": told}


def numbered_states(*states: tuple[int, str]) -> list[tuple[str, Any]]:
    told = {"action_id": "a", "ts_mono_ns": 1}
    moved = [told | {"state": state, "status_seq": number} for number, state in states]
    return [("world", {"jsonrpc": "2.0", "method": "action.status", "params": one}) for one in moved]


def test_a_number_that_comes_late_is_told_once() -> None:
    """It was told to be missing; that what it says cannot follow is no second fault."""
    late = numbered_states((1, "accepted"), (3, "completed"), (2, "executing"))
    (found,) = against(judged(said(*late), AWP))
    assert (found.requirement, found.seq) == ("AWP-CTL-008", 2)
    again = numbered_states((1, "accepted"), (2, "executing"), (2, "executing"))
    assert [(one.requirement, one.seq) for one in against(judged(said(*again), AWP))] == [("AWP-CTL-008", 3)]


def test_a_number_too_great_by_one_is_told_once() -> None:
    states = numbered_states((1, "accepted"), (3, "executing"), (3, "executing"), (4, "completed"))
    assert [(one.requirement, one.seq) for one in against(judged(said(*states), AWP))] == [("AWP-CTL-008", 2)]


def test_a_number_acknowledged_too_early_is_no_fault_of_who_sends_it_then() -> None:
    def ping(number: int, last: int) -> tuple[str, Any]:
        params = {"origin_ns": 1, "last_status_seq": last}
        return "agent", {"jsonrpc": "2.0", "id": number, "method": "ping", "params": params}

    (first, second) = numbered_states((1, "accepted"), (2, "executing"))
    found = against(judged(said(first, ping(1, 2), ping(2, 2), second, ping(3, 2)), AWP))
    assert [(one.requirement, one.seq, one.party) for one in found] == [("AWP-CTL-008", 2, "agent")]


def test_frames_out_of_order_are_told_once() -> None:
    def frame(seq: int, ns: int) -> tuple[str, Any]:
        sent = {"channel_id": 1, "seq": seq, "ts_mono_ns": ns, "flags": 1, "payload_b64": "e30="}
        return "world", {"jsonrpc": "2.0", "method": "obs.frame", "params": sent}

    assert broken(judged(said(frame(1, 10), frame(3, 30), frame(2, 20)), AWP)) == {"AWP-DAT-001"}
    assert broken(judged(said(frame(1, 10), frame(2, 30), frame(3, 20)), AWP)) == {"AWP-CLK-001"}


def test_a_message_from_the_wrong_side_is_told_once() -> None:
    """Where its action stands nobody knows after it, so that what follows is no second fault."""
    states = numbered_states((1, "accepted"), (2, "executing"), (3, "completed"))
    wrong = [states[0], ("agent", states[1][1]), states[2]]
    assert [(one.requirement, one.seq) for one in against(judged(said(*wrong), AWP))] == [("AWP-MSG-001", 2)]


def test_a_message_of_no_kind_is_told_where_it_names_one() -> None:
    (found,) = against(judged(said(("agent", {"type": "acceptd", "id": "m"})), VA))
    assert (found.requirement, found.pointer, found.actual) == ("VA-MSG-001", "/type", "acceptd")
    assert found.expected[0] == "accepted"
    assert found.message.endswith('; did you mean "accepted"?')


def test_a_message_plainly_of_another_kind_than_was_given() -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"origin_ns": 1}}
    (found,) = against(judged(said(("agent", asked)), AWP, kind="action.submit"))
    assert (found.requirement, found.pointer, found.expected, found.actual) == (
        "AWP-MSG-001",
        "/method",
        ("action.submit",),
        "ping",
    )
    assert found.message == "it is of the kind ping, and not of the kind action.submit"


def test_a_kind_may_be_given() -> None:
    """A bare answer does not tell what it answers."""
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"origin_ns": 1, "receive_ns": 2}}
    monitor = Monitor(AWP)
    assert broken(monitor.feed(said(("", answer))[0])) == set()
    assert monitor.unknown == 1
    assert "it answers a request that is not in this record" in monitor.why_unknown
    assert broken(judged(said(("", answer)), AWP, kind="ping.result")) == {"AWP-CLK-007"}


def test_messages_and_edges_are_counted() -> None:
    monitor = Monitor(VA)
    for event in said(dispatch(), ACCEPTED, BLOCKED, COMPLETED, PROGRESS):
        monitor.feed(event)
    assert monitor.messages == 5
    assert dict(monitor.edges) == {
        ("task", "pending", "running"): 1,
        ("task", "running", "blocked"): 1,
        ("task", "blocked", "running"): 1,
    }
    assert dict(monitor.illegal) == {("task", "blocked", "completed"): 1}


def test_a_message_without_the_part_that_is_judged_lacks_its_members() -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    (finding,) = against(judged(said(("agent", ping)), AWP))
    assert (finding.requirement, finding.message) == ("AWP-CTL-004", 'the member "origin_ns" is missing')


def test_numbers_in_messages_are_exact() -> None:
    assert str(parse("9007199254740993.0").value) == "9007199254740993.0"
    text = json.dumps(dispatch()[1]).replace("1000", "9007199254740993.0")
    (finding,) = against(of_text(lines(text), VA))
    assert finding.requirement == "VA-INT-001"
    assert "9007199254740993.0 is greater than 9007199254740991" in finding.message
