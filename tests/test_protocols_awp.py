"""Agent World Protocol: what no table can say, by the protocol's text."""

from __future__ import annotations

from typing import Any

import pytest
from judging import AWP, judged, said

from conformance.events import Closed, Fault, Malformed
from conformance.findings import Finding

Spoken = list[tuple[str, Any]]


def rpc(**members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", **members}


def session(name: str = "s-1") -> Spoken:
    return [
        ("agent", rpc(id=1, method="session.open", params={})),
        ("world", rpc(id=1, result={"session_id": name})),
    ]


def submit(number: int, action: str = "a-1", **content: Any) -> tuple[str, Any]:
    params = {"action_id": action, "type": "move", "params": {"to": 1}, **content}
    return "agent", rpc(id=number, method="action.submit", params=params)


def admitted(number: int, state: str = "accepted", seq: Any = 2, action: str = "a-1") -> tuple[str, Any]:
    return "world", rpc(id=number, result={"action_id": action, "state": state, "status_seq": seq})


def refused(number: int, code: int, *, retryable: bool = False) -> tuple[str, Any]:
    return "world", rpc(id=number, error={"code": code, "message": "x", "data": {"retryable": retryable}})


def status(state: str, seq: Any, action: str = "a-1") -> tuple[str, Any]:
    return "world", rpc(
        method="action.status", params={"action_id": action, "state": state, "status_seq": seq}
    )


def pull(number: int, action: str = "a-1") -> tuple[str, Any]:
    return "agent", rpc(id=number, method="action.status", params={"action_id": action})


def marks(requirements: str, spoken: Spoken) -> str:
    """For each finding of the requirements, whose it is (a, w), and + or -."""
    found = judged(said(*spoken), AWP)
    return " ".join(
        f"{one.party[0]}{'+' if one.ok else '-'}" for one in found if one.requirement in requirements.split()
    )


def only(requirement: str, spoken: Spoken) -> Finding:
    (finding,) = (one for one in judged(said(*spoken), AWP) if one.requirement == requirement and not one.ok)
    return finding


UNKNOWN = "world", rpc(method="action.state", params={"action_id": "a-1"})
ADMITTED: Spoken = [*session(), submit(2), admitted(2)]

IDEMPOTENCE: list[tuple[str, Spoken, str]] = [
    ("a first submission is no resubmission", ADMITTED, ""),
    ("identical, same state", [*ADMITTED, submit(3), admitted(3)], "a+ w+"),
    ("identical, current state",
     [*ADMITTED, status("executing", 3), submit(3), admitted(3, "executing", 3)], "a+ w+"),
    ("identical, old state", [*ADMITTED, status("executing", 3), submit(3), admitted(3)], "a+ w-"),
    ("identical, refused", [*ADMITTED, submit(3), refused(3, 3004)], "a+ w-"),
    ("other content, conflict", [*ADMITTED, submit(3, params={"to": 2}), refused(3, 3004)], "a- w+"),
    ("other content, admitted", [*ADMITTED, submit(3, params={"to": 2}), admitted(3)], "a- w-"),
    ("other content, another error", [*ADMITTED, submit(3, params={"to": 2}), refused(3, 2001)], "a- w-"),
    ("another deadline is other content", [*ADMITTED, submit(3, deadline_ms=5), refused(3, 3004)], "a- w+"),
    ("true is not 1", [*ADMITTED, submit(3, params={"to": True}), refused(3, 3004)], "a- w+"),
    ("1.0 is 1", [*ADMITTED, submit(3, params={"to": 1.0}), admitted(3)], "a+ w+"),
    ("an extension is no content", [*ADMITTED, submit(3, **{"x-acme.note": 1}), admitted(3)], "a+ w+"),
    ("another action", [*ADMITTED, submit(3, "a-2"), admitted(3, seq=3, action="a-2")], ""),
    ("another session", [*ADMITTED, *session("s-2"), submit(3, params={}), admitted(3)], ""),
    ("refused at first", [*session(), submit(2), refused(2, 2001), submit(3, params={}), admitted(3)], ""),
    ("two at a time", [*session(), submit(2), submit(3), admitted(2), admitted(3)], "w+"),
    (
        "after a cancel",
        [
            *ADMITTED,
            ("agent", rpc(id=3, method="action.cancel", params={"action_id": "a-1"})),
            admitted(3, "cancelled", 3),
            submit(4),
            admitted(4, "cancelled", 3),
        ],
        "a+ w+",
    ),
    ("an older status comes late", [*ADMITTED, status("executing", 1), submit(3), admitted(3)], "a+ w+"),
    ("a status without a number", [*ADMITTED, status("executing", "x"), submit(3), admitted(3)], "a+"),
    ("a status that cannot be",
     [*ADMITTED, status("flying", 3), submit(3), admitted(3, "executing", 3)], "a+"),
    ("something about it that nobody knows",
     [*ADMITTED, UNKNOWN, submit(3), admitted(3, "executing", 3)], "a+"),
    ("refused, whatever its state", [*ADMITTED, UNKNOWN, submit(3), refused(3, 2001)], "a+ w-"),
    ("a status of an unknown action",
     [*ADMITTED, status("executing", 3, "a-9"), submit(3), admitted(3)], "a+ w+"),
    ("numbers are compared as numbers", [*session(), submit(2), admitted(2, seq="x"), status("executing", 3),
                                         submit(3), admitted(3, "executing", 3)], "a+ w+"),
    ("content that is no object", [*session(), ("agent", rpc(id=2, method="action.submit", params=[])),
                                   admitted(2)], "a-"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spoken", "expected"), [case[1:] for case in IDEMPOTENCE], ids=[c[0] for c in IDEMPOTENCE]
)
def test_an_action_id_means_one_action(spoken: Spoken, expected: str) -> None:
    assert marks("AWP-ACT-001 AWP-ACT-009 AWP-AGT-004", spoken) == expected


def test_what_a_resubmission_should_have_been_told_is_said() -> None:
    finding = only("AWP-ACT-001", [*ADMITTED, status("executing", 3), submit(3), admitted(3)])
    assert (finding.expected, finding.actual) == (("executing", 3), ("accepted", 2))
    assert "current state executing of status_seq 3, and this reports accepted of 2" in finding.message
    assert only("AWP-ACT-001", [*ADMITTED, submit(3), refused(3, 2002)]).actual == 2002
    for answer, word in ((admitted(3), "a result"), (refused(3, 2001), "error 2001")):
        found = judged(said(*ADMITTED, submit(3, type="stop"), answer), AWP)
        (finding,) = (
            one for one in found if one.requirement == "AWP-ACT-001" and one.party == "world" and not one.ok
        )
        assert finding.expected == (3004,)
        assert finding.message.endswith(f"and this is {word}")


REFUSED: Spoken = [*session(), submit(2), refused(2, 2001)]

REFUSAL: list[tuple[str, Spoken, str]] = [
    ("nothing more is heard", REFUSED, "w+"),
    ("a status follows", [*REFUSED, status("executing", 3)], "w- w+"),
    ("a pull is answered", [*REFUSED, pull(3), admitted(3)], "w- w+"),
    ("a pull is told that it is unknown", [*REFUSED, pull(3), refused(3, 3008)], "w+ w+"),
    ("a pull gets another error", [*REFUSED, pull(3), refused(3, 2001)], "w- w+"),
    ("a pull is put off", [*REFUSED, pull(3), refused(3, 2001, retryable=True)], "w+"),
    ("it is admitted after all",
     [*REFUSED, submit(3), admitted(3), status("executing", 3), pull(4), admitted(4)], ""),
    ("it was admitted before", [*ADMITTED, submit(3), refused(3, 2001), status("executing", 3)], ""),
    ("another action", [*REFUSED, status("executing", 3, "a-2"), pull(3, "a-2"), admitted(3)], "w+"),
    ("another session", [*REFUSED, *session("s-2"), status("executing", 1)], "w+"),
    ("a conflict is with what exists", [*session(), submit(2), refused(2, 3004), status("executing", 3)], ""),
    ("an earlier one is still to be answered",
     [*session(), submit(2), submit(3), refused(3, 3001), status("executing", 3)], ""),
    ("a later one is still to be answered", [*REFUSED, submit(3), status("executing", 3)], "w+"),
    ("both are refused", [*session(), submit(2), submit(3), refused(2, 2001), refused(3, 2001)], "w+"),
    ("the session began before the record", [submit(2), refused(2, 2001), status("executing", 3)], ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spoken", "expected"), [case[1:] for case in REFUSAL], ids=[case[0] for case in REFUSAL]
)
def test_a_refused_submission_leaves_no_trace(spoken: Spoken, expected: str) -> None:
    assert marks("AWP-ACT-010", spoken) == expected


def test_a_trace_of_a_refused_submission_is_shown() -> None:
    assert only("AWP-ACT-010", [*REFUSED, status("executing", 3)]).pointer == "/params/action_id"
    assert only("AWP-ACT-010", [*REFUSED, pull(3), admitted(3)]).expected == (3008,)


def test_nothing_is_shown_by_a_record_that_stops() -> None:
    found = judged([*said(*REFUSED)[:-1], Closed(9, final=False)], AWP)
    assert [one for one in found if one.requirement == "AWP-ACT-010"] == []


BODY = {"id": "arm", "kind": "manipulator", "channels": ["joints"], "action_types": ["move"]}


def manifest(**members: Any) -> Spoken:
    result = {
        "observation_channels": [{"id": "joints"}],
        "action_schemas": [{"type": "move"}],
        "embodiments": [BODY],
        **members,
    }
    return [("agent", rpc(id=1, method="initialize", params={})), ("world", rpc(id=1, result=result))]


@pytest.mark.parametrize(
    ("members", "pointers"),
    [
        ({}, []),
        ({"embodiments": [BODY, {"id": "observer"}]}, []),
        ({"embodiments": [BODY | {"channels": ["joints", "camera"]}]}, ["/result/embodiments/0/channels/1"]),
        ({"embodiments": [{}, BODY | {"action_types": ["fly"]}]}, ["/result/embodiments/1/action_types/0"]),
        ({"observation_channels": [], "command_channels": [{"id": "joints"}]}, []),
        ({"action_schemas": []}, ["/result/embodiments/0/action_types/0"]),
        ({"embodiments": "none"}, []),
        ({"embodiments": [5, BODY | {"channels": 5, "action_types": "move"}]}, []),
    ],
    ids=str,
)
def test_what_an_embodiment_names_is_defined(members: dict[str, Any], pointers: list[str]) -> None:
    found = [one for one in judged(said(*manifest(**members)), AWP) if one.requirement == "AWP-MAN-001"]
    named = [one for one in found if "the embodiment names" in one.message]
    assert [one.pointer for one in named] == pointers


def test_a_manifest_that_defines_all_it_names_speaks_for_the_world() -> None:
    found = judged(said(*manifest()), AWP)
    assert [one.party for one in found if one.requirement == "AWP-MAN-001" and one.ok] == ["world"]


def test_an_undefined_name_is_shown_with_those_that_are_defined() -> None:
    found = judged(said(*manifest(embodiments=[BODY | {"channels": ["camera"]}])), AWP)
    (finding,) = (one for one in found if one.requirement == "AWP-MAN-001" and not one.ok)
    assert finding.message == "the embodiment names 'camera', which observation_channels does not define"
    assert (finding.expected, finding.actual) == (("joints",), "camera")


# --- AWP-SES-011 -----------------------------------------------------------------------------------

CLOSE = "agent", rpc(id=7, method="session.close")
CLOSED = "world", rpc(id=7, result={})
EXECUTING: Spoken = [*ADMITTED, status("executing", 3)]

CLOSINGS: list[tuple[str, Spoken, str]] = [
    ("nothing to end", [*session(), CLOSE, CLOSED], ""),
    ("all had ended", [*EXECUTING, status("completed", 4), CLOSE, CLOSED], ""),
    ("ended in between", [*EXECUTING, CLOSE, status("cancelling", 4), status("cancelled", 5), CLOSED], "w+"),
    ("not ended", [*EXECUTING, CLOSE, CLOSED], "w-"),
    ("not quite ended", [*EXECUTING, CLOSE, status("cancelling", 4), CLOSED], "w-"),
    ("admitted and not begun", [*ADMITTED, CLOSE, CLOSED], "w-"),
    ("another session's", [*EXECUTING, *session("s-2"), CLOSE, CLOSED], ""),
    ("ended impossibly", [*EXECUTING, CLOSE, status("flying", 4), CLOSED], ""),
    ("ended, perhaps", [*EXECUTING, CLOSE, UNKNOWN, CLOSED], ""),
]


@pytest.mark.parametrize(
    ("spoken", "expected"), [case[1:] for case in CLOSINGS], ids=[c[0] for c in CLOSINGS]
)
def test_a_session_is_closed_when_its_actions_have_ended(spoken: Spoken, expected: str) -> None:
    assert marks("AWP-SES-011", spoken) == expected


def test_an_action_that_was_left_open_is_named() -> None:
    finding = only("AWP-SES-011", [*EXECUTING, CLOSE, CLOSED])
    assert finding.message == "session.close is answered, and no end of a-1 was reported"
    assert finding.actual == ["a-1"]


def test_an_unreadable_message_may_have_been_the_end() -> None:
    events = said(*EXECUTING, CLOSE, CLOSED)
    lost = Malformed(99, "world", b"{", Fault("WIRE-JSON", "no JSON"))
    found = judged([*events[:-2], lost, *events[-2:]], AWP)
    assert [one for one in found if one.requirement == "AWP-SES-011"] == []


# --- AWP-OBS-006 -----------------------------------------------------------------------------------


def frame(**members: Any) -> tuple[str, Any]:
    return "world", rpc(method="obs.frame", params={"channel_id": 1, **members})


def opened(mode: str) -> Spoken:
    (asker, request), answer = session()
    return [(asker, request | {"params": {"mode": mode}}), answer]


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        ([*opened("streaming"), frame(ts_send_ns=1)], "w+"),
        ([*opened("streaming"), frame()], "w-"),
        ([*opened("lockstep"), frame()], ""),
        ([frame()], ""),
    ],
    ids=["sent", "not sent", "lockstep", "mode not in the record"],
)
def test_a_frame_of_a_streaming_session_has_its_send_time(spoken: Spoken, expected: str) -> None:
    assert marks("AWP-OBS-006", spoken) == expected


# --- AWP-TIM-011 -----------------------------------------------------------------------------------


def tick(number: int, start: Any, result: Any, **members: Any) -> Spoken:
    params = {"expected_tick": start, **members}
    return [
        ("agent", rpc(id=number, method="world.tick", params=params)),
        ("world", rpc(id=number, result={"tick": result})),
    ]


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        (tick(1, 0, 1), "w+"),
        (tick(1, 0, 4, count=4), "w+"),
        (tick(1, 7, 8) + tick(2, 8, 10, count=2), "w+ w+"),
        (tick(1, 0, 1, count=4), "w-"),
        (tick(1, 0, 2), "w-"),
        (tick(1, "0", 1), ""),
        (tick(1, 0, None), ""),
        (tick(1, 0, 1, count="1"), "a-"),  # the schema's matter, and the agent's
        (tick(1, 0, 1)[1:], ""),
    ],
)
def test_an_advance_leads_as_far_as_was_asked(spoken: Spoken, expected: str) -> None:
    assert marks("AWP-TIM-011", spoken) == expected
