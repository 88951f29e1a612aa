"""Agent World Protocol: rules over a record say nothing where it does not show enough.

That each rule passes what is right and fails what is wrong is shown by the fixtures; here is what none
of them is about.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from judging import AWP, against, judged, said

from conformance.events import Event, Opened
from conformance.families import CHECKS
from conformance.monitor import Monitor

Spoken = list[tuple[str, Any]]

MS = 1_000_000


def rpc(**members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", **members}


def call(number: Any, method: str, **params: Any) -> tuple[str, Any]:
    return "agent", rpc(id=number, method=method, params=params)


def answer(number: Any, **result: Any) -> tuple[str, Any]:
    return "world", rpc(id=number, result=result)


def error(number: Any, code: int, **data: Any) -> tuple[str, Any]:
    return "world", rpc(id=number, error={"code": code, "message": "x", "data": data})


def tell(method: str, **params: Any) -> tuple[str, Any]:
    return "world", rpc(method=method, params=params)


MOVE = {
    "type": "move",
    "params_schema": {"type": "object", "required": ["to"]},
    "duration": "extended",
    "preemption": ["queue", "replace", "reject"],
    "max_queue": 2,
}


def greeted(*types: dict[str, Any], channel: dict[str, Any] | None = None, **members: Any) -> Spoken:
    manifest: dict[str, Any] = {
        "protocol_version": "0.1",
        "time_models": ["streaming", "lockstep"],
        "embodiments": [{"id": "arm"}],
        "observation_channels": [{"id": "joints", "modality": "proprio/json", **(channel or {})}],
        "action_schemas": [{**MOVE, **(types[0] if types else {})}, *types[1:]],
        "safety_policy": {},
        **members,
    }
    consumed = ["proprio/json"]
    return [
        call(1, "initialize", protocol_versions=["0.1"], consumes_modalities=consumed),
        answer(1, **manifest),
    ]


def opened(mode: str = "streaming", channels: Any = None, **asked: Any) -> Spoken:
    rate = None if mode == "lockstep" else 50
    granted = [{"channel": "joints", "rate_hz": rate, "channel_id": 1}] if channels is None else channels
    ready = {
        "session_id": "s-1",
        "session_token": "st_example_token_0001",
        "reconnect_window_ms": 1000,
        "granted": {"channels": granted, "action_types": ["move"]},
        "stream_endpoints": [{"binding": "inline"}],
    }
    return [call(2, "session.open", mode=mode, **{"embodiment": "arm", **asked}), answer(2, **ready)]


def submit(number: int, action: str = "a-1", **more: Any) -> tuple[str, Any]:
    return call(number, "action.submit", **{"action_id": action, "type": "move", "params": {"to": 1}, **more})


def admitted(
    number: int, seq: int = 1, action: str = "a-1", state: str = "accepted", ns: Any = 0
) -> tuple[str, Any]:
    return answer(
        number, action_id=action, state=state, status_seq=seq, received_ts_mono_ns=ns, ts_mono_ns=ns
    )


def status(seq: int, state: str, ns: Any = 0, action: str = "a-1", **more: Any) -> tuple[str, Any]:
    return tell("action.status", action_id=action, state=state, status_seq=seq, ts_mono_ns=ns, **more)


def frame(number: int = 1, ns: Any = 0, **more: Any) -> tuple[str, Any]:
    sent = {"channel_id": 1, "seq": number, "ts_mono_ns": ns, "flags": 1, "payload_b64": "e30="}
    return tell("obs.frame", **{**sent, **more})


def event(seq: int, name: str, ns: int = 0, **detail: Any) -> tuple[str, Any]:
    return tell("world.event", event=name, status_seq=seq, ts_mono_ns=ns, detail=detail)


def state(seq: int, name: str) -> tuple[str, Any]:
    return tell("session.state", state=name, status_seq=seq, ts_mono_ns=0)


OPEN: Spoken = [*greeted(), *opened()]
ACTING: Spoken = [*OPEN, submit(3), admitted(3), status(2, "executing", MS)]
PULL = call(9, "action.status", action_id="a-1")
TICK: Spoken = [call(5, "world.tick", expected_tick=0)]
LOCKSTEP: Spoken = [*greeted(), *opened("lockstep")]
BARE: Spoken = opened()
"""A session whose manifest is not on record."""


def marks(requirement: str, events: list[Event]) -> str:
    """What the requirement's rules alone say, without its schemas: + and -."""
    row, monitor = AWP.requirements[requirement], Monitor(AWP)
    rules = [CHECKS["code"](row, spec, AWP) for spec in row.checks if spec["kind"] == "code"]
    seen = [monitor._observe(event)[0] for event in events]
    found = [finding for one in seen for check in rules for finding in check.see(one)]
    found += [finding for check in rules for finding in check.end(True)]
    return "".join("+" if one.ok else "-" for one in found)


def approval(**more: Any) -> tuple[str, Any]:
    asked = {"approval_id": "p-1", "action_id": "a-1", "type": "move", "params": {"to": 1}}
    return tell("safety.approval_requested", **{**asked, "requester": {"session": "s-1"}, **more})


def decide(number: int, decision: str = "approve", **more: Any) -> Spoken:
    return [
        call(number, "safety.approval.respond", approval_id="p-1", decision=decision, **more),
        answer(number),
    ]


APPROVING: Spoken = [*greeted({"requires_approval": True}), *opened()]
SERVO = {"type": "servo", "duration": "streaming", "command_channel": "servo"}

CASES: list[tuple[str, str, Spoken, str]] = [
    (
        "AWP-VER-002",
        "a version that is none",
        [call(1, "initialize", protocol_versions=["0.1"]), answer(1, protocol_version="0.2.1")],
        "",
    ),
    ("AWP-AGT-001", "initialize failed otherwise", [call(1, "initialize"), error(1, -32603), *opened()], ""),
    ("AWP-SES-001", "a connection whose beginning is not on record", BARE, ""),
    (
        "AWP-SES-002",
        "a session of which the opening is not on record",
        [answer(2, session_id="s-1"), state(1, "active")],
        "",
    ),
    (
        "AWP-SES-007",
        "a state that is repeated with its number",
        [*OPEN, state(1, "ready"), state(1, "ready")],
        "",
    ),
    (
        "AWP-SES-007",
        "a state without a number",
        [*OPEN, state(1, "ready"), tell("session.state", state="ready")],
        "",
    ),
    (
        "AWP-CTL-005",
        "a resumption that is refused for another reason",
        [*OPEN, call(3, "session.resume", session_token="st_example_token_0001"), error(3, 2005)],
        "",
    ),
    (
        "AWP-CTL-005",
        "a resumption of what nobody knows",
        [call(3, "session.resume", session_token="x"), error(3, 2003)],
        "",
    ),
    (
        "AWP-CTL-007",
        "a second session is refused as no request",
        [*OPEN, call(3, "session.open", mode="x"), error(3, -32602)],
        "",
    ),
    (
        "AWP-SES-009",
        "a token that is not on record",
        [*OPEN, call(3, "session.resume", session_token="other"), answer(3, session_id="s-2")],
        "",
    ),
    (
        "AWP-SES-011",
        "an identical resubmission while closing",
        [*OPEN, submit(3), admitted(3), call(4, "session.close"), submit(5), admitted(5)],
        "",
    ),
    (
        "AWP-SES-011",
        "another error while closing",
        [*OPEN, call(4, "session.close"), submit(5), error(5, 3001)],
        "",
    ),
    ("AWP-SES-006", "a session that goes on", [*OPEN, frame()], ""),
    (
        "AWP-CTL-002",
        "no answer to a request",
        [("world", rpc(id=None, error={"code": 2006, "message": "x"}))],
        "",
    ),
    (
        "AWP-CTL-002",
        "an error that is no code",
        [call(3, "session.dance"), ("world", rpc(id=3, error={"code": "x", "message": "x"}))],
        "",
    ),
    (
        "AWP-ACT-002",
        "invalid params that are refused for another reason",
        [*OPEN, submit(3, params={}), error(3, 4001)],
        "",
    ),
    (
        "AWP-ACT-002",
        "a type that the manifest does not have",
        [*OPEN, submit(3, type="fly"), admitted(3)],
        "",
    ),
    ("AWP-ACT-002", "valid params that are refused", [*OPEN, submit(3), error(3, 3001)], ""),
    (
        "AWP-ACT-002",
        "a params_schema that is none",
        [*greeted({"params_schema": {"type": 5}}), *opened(), submit(3), admitted(3)],
        "",
    ),
    (
        "AWP-ACT-003",
        "what was not granted is refused for another reason",
        [*OPEN, submit(3, type="fly"), error(3, 3001)],
        "",
    ),
    (
        "AWP-ACT-003",
        "an embodiment that is not bound",
        [*OPEN, submit(3, embodiment_id="leg"), admitted(3)],
        "-",
    ),
    (
        "AWP-ACT-006",
        "an action that has ended may be forgotten",
        [*ACTING, status(3, "completed"), PULL, error(9, 3008)],
        "",
    ),
    (
        "AWP-ACT-006",
        "a number that was never given",
        [*ACTING, PULL, answer(9, action_id="a-1", state="executing", status_seq=9)],
        "",
    ),
    (
        "AWP-ACT-006",
        "what was told before a request that is none is forgotten",
        [
            *ACTING,
            ("agent", rpc(id=8, method="action.status", params=-1)),
            error(8, -32602),
            PULL,
            answer(9, action_id="a-1", state="executing", status_seq=2, ts_mono_ns=MS),
        ],
        "",
    ),
    ("AWP-ACT-006", "a pull without a state", [*ACTING, PULL, answer(9, action_id="a-1", status_seq=2)], ""),
    (
        "AWP-ACT-006",
        "a pull of what was never admitted",
        [*OPEN, PULL, answer(9, action_id="a-1", state="executing", status_seq=2)],
        "",
    ),
    (
        "AWP-ACT-004",
        "an action without a declaration",
        [
            *BARE,
            submit(3),
            admitted(3),
            status(2, "executing"),
            status(3, "failed", reason="deadline_exceeded"),
        ],
        "",
    ),
    (
        "AWP-ACT-004",
        "an action in time",
        [*OPEN, submit(3, deadline_ms=50), admitted(3), status(2, "executing"), status(3, "completed", MS)],
        "",
    ),
    (
        "AWP-LIF-009",
        "a transition without a time",
        [*ACTING, PULL, answer(9, action_id="a-1", state="executing", status_seq=2)],
        "",
    ),
    ("AWP-LIF-010", "an unknown action, and another error", [*OPEN, PULL, error(9, -32603)], ""),
    (
        "AWP-LIF-010",
        "a refused action",
        [*OPEN, submit(3), error(3, 3001), PULL, answer(9, action_id="a-1", state="accepted", status_seq=1)],
        "",
    ),
    (
        "AWP-LIF-010",
        "an abort of a type without max_abort_ms",
        [
            *ACTING,
            status(3, "cancelling", reason="session_closed"),
            status(4, "failed", reason="abort_failed"),
        ],
        "",
    ),
    (
        "AWP-LIF-007",
        "a streaming action goes on",
        [*greeted({}, SERVO), *opened(), submit(3, type="servo"), admitted(3), status(2, "executing")],
        "",
    ),
    (
        "AWP-EVT-002",
        "an emergency stop of another embodiment",
        [
            *OPEN,
            submit(3, embodiment_id="arm"),
            admitted(3),
            event(2, "e_stop_engaged", embodiment="leg"),
            status(3, "executing"),
        ],
        "",
    ),
    (
        "AWP-EVT-002",
        "a refusal for another reason",
        [*OPEN, event(1, "e_stop_engaged"), submit(3), error(3, 3001)],
        "",
    ),
    ("AWP-EVT-002", "another event", [*ACTING, event(3, "collision")], ""),
    ("AWP-SAF-004", "nothing was going on", [*OPEN, event(1, "safe_state_entered")], ""),
    ("AWP-SAF-008", "safe state is left and was not entered", [*OPEN, event(1, "safe_state_exited")], ""),
    ("AWP-SAF-008", "another action ends", [*ACTING, status(3, "completed", MS)], ""),
    (
        "AWP-SAF-013",
        "refused for another reason",
        [
            *greeted(safety_policy={"max_basis_age_ms": 5}),
            *opened(),
            submit(3, basis_ts_mono_ns=1),
            error(3, 3001),
        ],
        "",
    ),
    (
        "AWP-SAF-013",
        "a receipt without a time",
        [
            *greeted(safety_policy={"max_basis_age_ms": 5}),
            *opened(),
            submit(3, basis_ts_mono_ns=1),
            admitted(3, ns="x"),
        ],
        "",
    ),
    (
        "AWP-PRE-002",
        "a queue of one",
        [*OPEN, submit(3), admitted(3, state="queued"), status(2, "accepted")],
        "+",
    ),
    ("AWP-PRE-003", "preempted by a transfer", [*ACTING, status(3, "preempted", reason="transferred")], ""),
    ("AWP-PRE-004", "an action that nothing follows", [*ACTING, status(3, "preempted")], ""),
    (
        "AWP-PRE-004",
        "replaced, not blended",
        [*ACTING, submit(4, "a-2", preempt="replace"), admitted(4, 3, "a-2"), status(4, "preempted", MS)],
        "",
    ),
    (
        "AWP-PRE-005",
        "busy, and refused for another reason",
        [*ACTING, submit(4, "a-2", preempt="reject"), error(4, 3001)],
        "",
    ),
    (
        "AWP-PRE-007",
        "preempted in lockstep by nothing on record",
        [*LOCKSTEP, submit(3), admitted(3), status(2, "executing", MS), status(3, "preempted", MS)],
        "",
    ),
    (
        "AWP-PRE-007",
        "preempted after the new one ended",
        [
            *LOCKSTEP,
            submit(3),
            admitted(3),
            status(2, "executing", MS),
            submit(4, "a-2"),
            admitted(4, 3, "a-2"),
            status(4, "cancelled", MS, "a-2", reason="superseded"),
            status(5, "preempted", MS),
        ],
        "",
    ),
    (
        "AWP-APR-001",
        "a standing approval is on record",
        [*APPROVING, approval(), *decide(7, standing={}), submit(3), admitted(3)],
        "",
    ),
    (
        "AWP-APR-001",
        "a request for an action that is not on record",
        [*APPROVING, approval(action_id="a-9")],
        "",
    ),
    (
        "AWP-APR-001",
        "an identical resubmission",
        [
            *APPROVING,
            submit(3),
            admitted(3, state="pending_approval"),
            submit(4),
            admitted(4, state="pending_approval"),
        ],
        "+",
    ),
    (
        "AWP-APR-002",
        "a decision about nothing on record",
        [*APPROVING, *decide(7), submit(3), admitted(3, state="pending_approval"), status(2, "accepted")],
        "",
    ),
    (
        "AWP-APR-002",
        "two decisions",
        [
            *APPROVING,
            submit(3),
            admitted(3, state="pending_approval"),
            approval(),
            *decide(7),
            *decide(8, "deny"),
            status(2, "accepted"),
        ],
        "",
    ),
    (
        "AWP-APR-002",
        "approved, and ended by another cause",
        [
            *APPROVING,
            submit(3),
            admitted(3, state="pending_approval"),
            approval(),
            *decide(7),
            status(2, "cancelled", reason="e_stop"),
        ],
        "",
    ),
    (
        "AWP-APR-003",
        "approved in time",
        [*APPROVING, submit(3), admitted(3, state="pending_approval"), status(2, "accepted", MS)],
        "",
    ),
    (
        "AWP-APR-003",
        "an admission without a time",
        [*APPROVING, submit(3), admitted(3, state="pending_approval", ns="x"), status(2, "accepted", MS)],
        "",
    ),
    (
        "AWP-APR-007",
        "a first decision is refused",
        [call(7, "safety.approval.respond", approval_id="p-1"), error(7, 4001)],
        "",
    ),
    ("AWP-TSK-003", "no task is shown", [*APPROVING, approval()], ""),
    (
        "AWP-TSK-003",
        "a task of a session that is not on record",
        [call(7, "task.update", task={}), answer(7)],
        "",
    ),
    (
        "AWP-AGM-001",
        "a wildcard",
        [call(1, "initialize", consumes_modalities=["*"]), greeted()[1], *opened(), frame()],
        "",
    ),
    (
        "AWP-OBS-005",
        "the first frame has no time",
        [
            *OPEN,
            call(3, "obs.subscribe"),
            answer(3, granted=[{"channel": "camera", "channel_id": 2}]),
            frame(ns="x", channel_id=2),
        ],
        "",
    ),
    ("AWP-OBS-005", "a session in lockstep", [*LOCKSTEP, frame()], ""),
    ("AWP-OBS-004", "a frame without a number", [*OPEN, frame(0, seq="x", flags=0)], ""),
    (
        "AWP-OBS-004",
        "a lost frame may have been a keyframe",
        [
            *greeted(channel={"keyframe_interval": 1}),
            *opened(),
            frame(1),
            frame(2, flags=0),
            frame(4, flags=0),
            frame(5, flags=0),
        ],
        "+",
    ),
    ("AWP-TRN-006", "a channel that may lose frames", [*OPEN, frame(1), frame(3)], ""),
    (
        "AWP-TRN-008",
        "a channel that may lose frames",
        [*OPEN, call(3, "session.resume"), ("world", {**opened()[1][1], "id": 3}), frame()],
        "",
    ),
    (
        "AWP-TRN-011",
        "a limit that is none",
        [
            *greeted(),
            opened()[0],
            (
                "world",
                {
                    **opened()[1][1],
                    "result": {
                        **opened()[1][1]["result"],
                        "stream_endpoints": [{"binding": "inline", "max_frame_bytes": "x"}],
                    },
                },
            ),
            frame(),
        ],
        "",
    ),
    ("AWP-MOD-001", "a payload that is not Base64", [*OPEN, frame(payload_b64="=")], ""),
    (
        "AWP-MOD-001",
        "a modality that is not known",
        [*greeted(channel={"modality": "x-acme.lidar"}), *opened(), frame()],
        "",
    ),
    (
        "AWP-MOD-001",
        "a schema that is none",
        [*greeted(channel={"modality": "text/event+json", "schema": {"type": 5}}), *opened(), frame()],
        "+",
    ),
    ("AWP-DAT-007", "a payload that is no object", [*OPEN, frame(payload_b64="W10=")], ""),
    (
        "AWP-EVT-003",
        "an event of another kind",
        [
            *greeted(channel={"modality": "text/event+json", "schema": {}}),
            *opened(),
            frame(payload_b64="eyJldmVudCI6ICJyYWluIn0="),
        ],
        "+",
    ),
    ("AWP-ACT-007", "a frame without a time", [*OPEN, frame(ns="x"), submit(3, basis_ts_mono_ns=7)], ""),
    (
        "AWP-CMD-003",
        "a frame of no channel",
        [*OPEN, frame(), ("agent", rpc(method="cmd.frame", params={"channel_id": 9}))],
        "",
    ),
    (
        "AWP-CMD-003",
        "an action without a command channel",
        [*ACTING, frame(), status(3, "executing", stream={"frames_applied": 3})],
        "",
    ),
    (
        "AWP-TIM-003",
        "two ticks at a time",
        [*LOCKSTEP, *TICK, call(6, "world.tick", expected_tick=0), answer(5, tick=1)],
        "",
    ),
    ("AWP-TIM-003", "an advance that is refused", [*LOCKSTEP, *TICK, error(5, 3009, tick=4)], ""),
    (
        "AWP-TIM-009",
        "another session may have advanced the world",
        [
            *greeted(),
            opened("lockstep")[0],
            (
                "world",
                {**opened("lockstep")[1][1], "result": {**opened("lockstep")[1][1]["result"], "tick": 3}},
            ),
            frame(tick=5),
        ],
        "",
    ),
    (
        "AWP-TIM-010",
        "a status from before",
        [*LOCKSTEP, submit(3), admitted(3, ns=5), status(2, "executing", 4)],
        "",
    ),
    (
        "AWP-TIM-013",
        "a reset moves the tick",
        [*LOCKSTEP, *TICK, frame(1, MS, tick=1), event(1, "world_resetting"), frame(2, 2 * MS, tick=0)],
        "",
    ),
    ("AWP-TIM-013", "a tick from before", [*LOCKSTEP, *TICK, frame(1, MS, tick=1), frame(2, MS, tick=0)], ""),
    ("AWP-CLK-006", "a ping without a time", [call(3, "ping")], ""),
    (
        "AWP-CLK-008",
        "a report without an offset",
        [*OPEN, ("agent", rpc(method="obs.report", params={"sync": {}}))],
        "",
    ),
    (
        "AWP-CLK-008",
        "a session that is not on record",
        [("agent", rpc(method="obs.report", params={"sync": {"offset_ns": 5, "rtt_ns": 5}}))],
        "",
    ),
    (
        "AWP-CLK-009",
        "a ping of the world",
        [
            *OPEN,
            ("world", rpc(id="w", method="ping", params={"origin_ns": 5})),
            ("agent", rpc(id="w", result={"origin_ns": 5})),
        ],
        "",
    ),
    (
        "AWP-NEG-002",
        "two things are wrong, and one error is given",
        [*greeted(time_models=["lockstep"]), opened(embodiment="leg")[0], error(2, 2001)],
        "",
    ),
    (
        "AWP-NEG-003",
        "a rate that was not asked for",
        [*greeted(), *opened(subscribe=[{"channel": "joints"}])],
        "",
    ),
    (
        "AWP-NEG-004",
        "another number for the same channel",
        [*OPEN, call(3, "obs.subscribe"), answer(3, granted=[{"channel": "joints", "channel_id": 4}])],
        "-",
    ),
    ("AWP-EMB-001", "a handover", [*OPEN, *opened(takeover=True)], ""),
    (
        "AWP-EMB-005",
        "an embodiment that is not declared",
        [*greeted(), *opened(embodiment=None, embodiments=["arm", "leg"])],
        "",
    ),
    (
        "AWP-EMB-004",
        "an observer is refused for another reason",
        [*greeted(), *opened(embodiment=None), submit(3), error(3, 3001)],
        "",
    ),
    (
        "AWP-EMB-005",
        "one group, and no answer but an error",
        [
            *greeted(
                embodiments=[{"id": "arm", "multi_bind_group": "g"}, {"id": "leg", "multi_bind_group": "g"}]
            ),
            opened(embodiment=None, embodiments=["arm", "leg"])[0],
            error(2, 2001),
        ],
        "",
    ),
    ("AWP-MA-005", "a reset that fails otherwise", [*OPEN, call(3, "world.reset"), error(3, -32603)], ""),
    ("AWP-PRM-001", "a session that is not on record", [call(3, "world.snapshot"), answer(3)], ""),
    (
        "AWP-PRM-002",
        "a session that is not on record",
        [call(3, "session.resume"), answer(3, session_id="s-9")],
        "",
    ),
    ("AWP-PRM-006", "a reset of nobody on record", [call(3, "world.reset"), answer(3)], ""),
    ("AWP-PRM-006", "an answer to nothing", [*OPEN, event(1, "world_resetting")], ""),
    ("AWP-TSK-001", "no manifest is on record", [call(3, "task.update"), answer(3)], ""),
    ("AWP-TSK-001", "an error of another sort", [*greeted(), call(3, "task.update"), error(3, 3001)], ""),
    ("AWP-SAF-006", "no watchdog is declared", [*greeted({}, SERVO)], ""),
    (
        "AWP-UNI-002",
        "a rotation that is none",
        [
            *greeted(),
            opened()[0],
            ("world", rpc(id=2, result={"frame_tree": {"frames": [{"id": "a", "transform": {"q": "x"}}]}})),
        ],
        "",
    ),
    (
        "AWP-UNI-003",
        "two frames of one name, and an envelope in none",
        [
            *greeted(),
            opened()[0],
            (
                "world",
                rpc(
                    id=2,
                    result={
                        "frame_tree": {"frames": [{"id": "a"}, {"id": "a"}]},
                        "granted": {"envelopes": [{"spatial": {"frame": "b"}}]},
                    },
                ),
            ),
        ],
        "--",
    ),
    (
        "AWP-LIF-006",
        "nothing is to be replayed",
        [
            *OPEN,
            call(3, "session.resume", last_status_seq=4),
            answer(3, session_id="s-1", replay_to_status_seq=4),
        ],
        "",
    ),
    (
        "AWP-CTL-010",
        "a resumption without a number",
        [*ACTING, call(4, "session.resume"), answer(4, session_id="s-1")],
        "",
    ),
]


@pytest.mark.parametrize(
    ("requirement", "spoken", "expected"),
    [(name, spoken, expected) for name, _, spoken, expected in CASES],
    ids=[f"{name} {title}" for name, title, _, _ in CASES],
)
def test_rule(requirement: str, spoken: Spoken, expected: str) -> None:
    assert marks(requirement, said(*spoken)) == expected


def test_a_session_that_begins_on_a_connection_of_which_all_is_known() -> None:
    """AWP-SES-001: without initialize, it is the world's fault; where something was unreadable, nobody's."""
    assert marks("AWP-SES-001", [Opened(0), *said(*BARE)]) == "-"
    unknown = ("world", rpc(method="session.greet"))
    assert marks("AWP-SES-001", [Opened(0), *said(unknown, *BARE)]) == ""


def test_what_cannot_be_understood_may_have_been_anything() -> None:
    """No rule goes on from what it knew before."""
    unknown = ("world", rpc(method="action.state", params={"action_id": "a-1"}))
    spoken = [*ACTING, unknown, event(3, "safe_state_entered")]
    assert marks("AWP-SAF-004", said(*spoken)) == "+"
    assert marks("AWP-SAF-004", said(*ACTING, event(3, "safe_state_entered"))) == "-"


EXPIRING: Spoken = [
    *greeted(),
    opened()[0],
    answer(2, session_id="s-1", granted={"action_types": ["move"], "expires_at": 5}),
]
DANCE = call(3, "session.dance")

MORE: list[tuple[str, str, Spoken, str]] = [
    ("AWP-PRM-003", "another event", [*EXPIRING, event(1, "collision")], ""),
    ("AWP-PRM-003", "in time", [*EXPIRING, submit(3), admitted(3, ns=4)], ""),
    ("AWP-PRM-006", "an event without a reset", [*OPEN, event(1, "world_resetting", initiator="s-1")], ""),
    ("AWP-PRM-006", "an answer whose question is not on record", [*OPEN, answer(9, tick=3)], ""),
    (
        "AWP-PRM-006",
        "a reset from before the session",
        [call(9, "world.reset"), *OPEN, answer(9, tick=3)],
        "",
    ),
    (
        "AWP-SAF-004",
        "an impossible move outside a session",
        [status(1, "executing"), status(2, "accepted")],
        "",
    ),
    ("AWP-MAN-003", "no manifest before", [call(3, "world.manifest"), answer(3, world={})], ""),
    ("AWP-NEG-004", "no session", [call(3, "obs.subscribe"), answer(3, granted=[])], ""),
    ("AWP-CTL-002", "as it should be", [DANCE, error(3, -32601)], "+"),
    ("AWP-CTL-002", "no valid request either", [DANCE, error(3, -32600)], ""),
    ("AWP-CTL-002", "an integer out of range", [DANCE, error(3, 2006)], ""),
    (
        "AWP-SAF-004",
        "what is lost is another action",
        [
            *ACTING,
            ("world", rpc(method="action.state", params={"action_id": "a-9"})),
            event(3, "safe_state_entered"),
        ],
        "-",
    ),
    ("AWP-ACT-005", "a submission outside a session", [submit(3, preempt="blend"), admitted(3)], ""),
    (
        "AWP-SAF-004",
        "an impossible state of what is not on record",
        [*OPEN, submit(3), status(1, "flying")],
        "",
    ),
]


@pytest.mark.parametrize(
    ("requirement", "spoken", "expected"),
    [(name, spoken, expected) for name, _, spoken, expected in MORE],
    ids=[f"{name} {title}" for name, title, _, _ in MORE],
)
def test_rule_once_more(requirement: str, spoken: Spoken, expected: str) -> None:
    assert marks(requirement, said(*spoken)) == expected


JOGGING: Spoken = [
    *greeted({"command_channel": "jog"}, command_channels=[{"id": "jog"}]),
    *opened(channels=[{"channel": "jog", "rate_hz": 50, "channel_id": 2}]),
    frame(),
]


def jog(**more: Any) -> tuple[str, Any]:
    return "agent", rpc(method="cmd.frame", params={"channel_id": 2, "ts_mono_ns": 0, **more})


@pytest.mark.parametrize(("applied", "expected"), [(4, "+"), (5, "-")])
def test_command_frames_whose_numbers_are_missing_were_sent_all_the_same(applied: int, expected: str) -> None:
    """AWP-CMD-003: the record lacks two of four, and says so."""
    told = status(2, "executing", MS, stream={"frames_applied": applied, "last_seq": 4})
    spoken = [*JOGGING, submit(3), admitted(3), jog(seq=1), jog(seq=4), told]
    assert marks("AWP-CMD-003", said(*spoken)) == expected


@pytest.mark.parametrize(("numbers", "expected"), [(({}, {}), "+"), (({"seq": 3}, {"seq": 2}), "+")])
def test_command_frames_without_numbers_are_counted(numbers: Any, expected: str) -> None:
    told = status(2, "executing", MS, stream={"frames_applied": 2, "last_seq": 4})
    spoken = [*JOGGING, submit(3), admitted(3), *(jog(**one) for one in numbers), told]
    assert marks("AWP-CMD-003", said(*spoken)) == expected


@pytest.mark.parametrize(
    ("granted", "agent", "world"),
    [({}, "", ""), ({"action_types": [], "channels": []}, "-", "-"), ({"action_types": "x"}, "", "")],
)
def test_what_was_granted_nobody_knows_where_it_is_not_said(granted: Any, agent: str, world: str) -> None:
    """AWP-AGT-003, AWP-NEG-001: that it is not said is a fault of the answer alone."""
    ready = answer(2, session_id="s-1", granted=granted)
    spoken = said(*greeted()[:1], opened()[0], ready, submit(3), admitted(3), frame())
    assert marks("AWP-AGT-003", spoken) == agent
    assert marks("AWP-ACT-003", spoken) == world
    assert marks("AWP-NEG-001", spoken) == world


def test_frames_are_missed_only_where_frames_are_on_record() -> None:
    """AWP-TIM-003: an audit log holds digests of frames, and no frame."""
    spoken = said(*LOCKSTEP, *TICK, answer(5, tick=1))
    assert marks("AWP-TIM-003", spoken) == ""
    assert marks("AWP-TIM-003", [Opened(0), *spoken]) == "-"
    framed = said(*LOCKSTEP, frame(tick=0), *TICK, answer(5, tick=1))
    assert marks("AWP-TIM-003", framed) == "-"


@pytest.mark.parametrize(("asker", "expected"), [("agent", "+"), ("", "+"), ("world", "-")])
def test_an_exchange_may_be_of_who_is_not_on_record(asker: str, expected: str) -> None:
    """AWP-CLK-008: without speakers, the agent may have been the one who asked."""
    answerer = {"agent": "world", "world": "agent"}.get(asker, "")
    spoken = [
        *OPEN,
        (asker, rpc(id=9, method="ping", params={"origin_ns": 0})),
        (answerer, rpc(id=9, result={"origin_ns": 0, "receive_ns": 100, "transmit_ns": 100})),
        ("agent", rpc(method="obs.report", params={"sync": {"offset_ns": 100, "rtt_ns": 0}})),
    ]
    assert marks("AWP-CLK-008", said(*spoken)) == expected


def test_what_a_replay_says_again_is_not_new() -> None:
    """AWP-SAF-008: it executed before the safe state, and no world has to say that it has left that."""
    before = [*ACTING, status(3, "completed", MS), event(4, "safe_state_entered")]
    assert marks("AWP-SAF-008", said(*before, status(2, "executing", MS), status(3, "completed", MS))) == ""
    after = [submit(5, "a-2"), admitted(5, 5, "a-2"), status(6, "executing", MS, "a-2")]
    assert marks("AWP-SAF-008", said(*before, *after, status(7, "completed", MS, "a-2"))) == "-"


def test_telemetry_is_not_due_in_lockstep() -> None:
    events = said(*LOCKSTEP, tell("session.telemetry", window_ms=1), tell("session.telemetry", window_ms=1))
    assert marks("AWP-TIM-006", [one._replace(time=float(at * 9)) for at, one in enumerate(events)]) == ""


def test_a_ping_without_a_stated_interval_is_due_at_no_time() -> None:
    events = said(*OPEN, call(3, "ping", origin_ns=1), call(4, "ping", origin_ns=2))
    timed = [one._replace(time=float(place * 100)) for place, one in enumerate(events)]
    assert marks("AWP-AGT-006", timed) == ""


def turns(*spoken: Spoken) -> list[Event]:
    """What is said in turns on two connections, the second for another session, of the same names else."""
    events = []
    for place, one in enumerate(spoken):
        renamed = json.loads(json.dumps(one).replace("s-1", "s-2")) if place % 2 else one
        connection = "two" if place % 2 else "one"
        events += [event._replace(connection=connection) for event in said(*renamed)[:-1]]
    return [event._replace(seq=seq) for seq, event in enumerate(events, 1)]


RELIABLE: Spoken = [*greeted(channel={"loss_class": "reliable"}), *opened(), frame(1)]
STILL = answer(3, granted=[{"channel": "joints", "rate_hz": 50, "channel_id": 1}])
NAMELESS = tell("action.status", state="executing", status_seq=3)
UNKNOWN = [call(9, "action.status", action_id="a-9"), answer(9)]

APART: list[tuple[str, Spoken, Spoken, Spoken, str]] = [
    # What both sessions say, what the one says then, and the other after that: + and - of the last.
    ("AWP-LIF-010", ACTING, [status(3, "accepted")], UNKNOWN, "-"),
    ("AWP-LIF-010", ACTING, [status(5, "completed")], UNKNOWN, "-"),
    ("AWP-SES-011", ACTING, [NAMELESS], [call(5, "session.close"), answer(5)], "-"),
    ("AWP-ACT-001", ACTING, [NAMELESS], [submit(6), admitted(6)], "-"),
    ("AWP-LIF-010", OPEN, [submit(3)], [PULL, answer(9)], "-"),
    ("AWP-TRN-006", RELIABLE, [call(3, "obs.subscribe"), answer(3, granted=[])], [frame(3)], "-"),
    ("AWP-OBS-004", RELIABLE, [call(3, "obs.unsubscribe"), STILL], [frame(2, flags=0)], ""),
]


@pytest.mark.parametrize(
    ("requirement", "both", "one", "other", "expected"),
    APART,
    ids=[f"{case[0]} {place}" for place, case in enumerate(APART)],
)
def test_what_is_doubtful_of_one_session_is_known_of_another(
    requirement: str, both: Spoken, one: Spoken, other: Spoken, expected: str
) -> None:
    """The other session is judged as if it were alone, and not as if it were the one."""
    before = marks(requirement, turns(both, both))
    assert marks(requirement, turns(both, both, one, other)) == before + expected
    assert marks(requirement, said(*both, *one, *other)[:-1]) != marks(requirement, said(*both)) + expected


def test_an_impossible_move_is_told_of_each_session() -> None:
    """Of several in a row the first alone, and the same name in another session is another action."""
    wrong = [status(3, "accepted"), status(4, "accepted")]
    found = against(judged(turns(ACTING, ACTING, wrong, wrong), AWP))
    assert [one.connection for one in found if one.requirement == "AWP-LIF-001"] == ["one", "two"]


def test_a_decision_is_about_what_its_approver_was_asked() -> None:
    """AWP-APR-002: where something of the approver's session is missing, so may be an earlier decision."""
    waiting = [*APPROVING, submit(3), admitted(3, state="pending_approval")]
    asked, goes_on = approval(requester={"session": "s-2"}), [status(2, "accepted")]
    missing = state(9, "active")
    assert marks("AWP-APR-002", turns(OPEN, waiting, [asked, *decide(4, "deny")], goes_on)) == "-"
    assert marks("AWP-APR-002", turns(OPEN, waiting, [asked, missing, *decide(4, "deny")], goes_on)) == ""


def test_each_session_is_judged_by_the_manifest_that_it_was_given() -> None:
    """AWP-ACT-002: what was found out of one manifest is no word about another, and holds for its like."""
    strict, lax = greeted(), greeted({"params_schema": {"type": "object"}})
    wrong = [submit(3, params={}), admitted(3)]
    assert marks("AWP-ACT-002", turns([*strict, *opened(), *wrong], [*lax, *opened(), *wrong])) == "-+"
    assert marks("AWP-ACT-002", turns([*strict, *opened(), *wrong], [*strict, *opened(), *wrong])) == "--"
    assert marks("AWP-ACT-002", turns([*lax, *opened(), *wrong], [*strict, *opened(), *wrong])) == "+-"


def test_each_session_begins_with_the_manifest_that_its_connection_was_given() -> None:
    """AWP-AGT-002: one that the schema refuses is refused each time, whatever another one was."""
    twice = turns([*greeted(), *opened()], [*greeted(), *opened()])
    assert marks("AWP-AGT-002", twice) == "--"


def test_a_session_id_that_is_no_text_is_the_schemas_matter() -> None:
    """AWP-SES-009: it is none that an earlier session had."""
    nameless = [call(2, "session.open", mode="streaming"), answer(2, session_id=["s-1"])]
    assert marks("AWP-SES-009", said(*greeted(), *nameless)) == ""
