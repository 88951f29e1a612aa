"""A world of another maker with one fault, `broken_world.py NAME`; its address goes to standard output.

Each fault replaces a part of one honest world, and breaks one requirement.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import signal
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from awp import jsonrpc
from awp.errors import AwpError, ErrorCode
from awp.lifecycle import ActionState
from awp_sim import audit, server, session
from awp_sim.config import WorldConfig
from awp_sim.world import World

Message = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """What breaks: a requirement, as the scenario shows it that is named, in such a world."""

    requirement: str
    scenario: str
    broken: Callable[[World], None]
    mode: str = "streaming"
    features: frozenset[str] = frozenset()


FAULTS: dict[str, Fault] = {}


def fault(
    requirement: str, scenario: str, mode: str = "streaming", feature: str = ""
) -> Callable[[Callable[[World], None]], Callable[[World], None]]:
    """Enter a function that breaks a world; its name is the fault's."""

    def enter(broken: Callable[[World], None]) -> Callable[[World], None]:
        features = frozenset({feature} if feature else ())
        name = broken.__name__.replace("_", "-")
        FAULTS[name] = Fault(requirement, scenario, broken, mode, features)
        return broken

    return enter


def instead(owner: Any, name: str, made: Callable[..., Any]) -> None:
    """Replace a method; `made` gets the one that was there first."""
    honest = getattr(owner, name)
    setattr(owner, name, lambda *given, **named: made(honest, *given, **named))


def on_the_wire(world: World, rewrite: Callable[[Message], Message | None]) -> None:
    """Send what `rewrite` makes of each message; None is not sent."""

    def send(honest: Callable[..., None], connection: Any, message: Message, **named: Any) -> None:
        rewritten = rewrite(copy.deepcopy(message))
        if rewritten is not None:
            honest(connection, rewritten, **named)

    instead(world, "_send", send)


def silently(world: World, *names: str) -> None:
    """Let methods do nothing."""
    for name in names:
        instead(world, name, lambda honest, *given, **named: None)


def untold(world: World, state: str) -> None:
    """Enter a state of the session and do not say so."""

    def enter(honest: Callable[..., None], s: Any, entered: str, *given: Any) -> None:
        if entered == state:
            s.state = state
        else:
            honest(s, entered, *given)

    instead(world, "_session_state", enter)


# What actions do.


@fault("AWP-LIF-001", "cancel-streaming")
def skips_cancelling(world: World) -> None:
    def finish(honest: Callable[..., None], s: Any, action: Any, *given: Any, **named: Any) -> None:
        named.pop("aborted", None)
        honest(s, action, *given, **named)

    def cancel(honest: Callable[..., None], c: Any, rid: Any, params: Message, now: int) -> None:
        action = c.session.actions[params["action_id"]]
        world._reply(
            c,
            rid,
            {"action_id": action.action_id, "state": "executing"}
            | {"status_seq": action.status["status_seq"]},
        )
        world._finish(c.session, action, ActionState.CANCELLED, now, reason="cancelled_by_agent")

    instead(world, "_finish", finish)
    instead(world, "_rpc_action_cancel", cancel)


@fault("AWP-LIF-004", "cancel-streaming")
def drops_the_reason(world: World) -> None:
    def rewrite(message: Message) -> Message:
        if message.get("method") == "action.status" and message["params"]["state"] == "cancelled":
            del message["params"]["reason"]
        return message

    on_the_wire(world, rewrite)


@fault("AWP-LIF-005", "cancel-streaming")
def drops_the_progress_of_an_abort(world: World) -> None:
    def rewrite(message: Message) -> Message:
        message.get("params", {}).pop("aborted_at_progress", None)
        return message

    on_the_wire(world, rewrite)


@fault("AWP-LIF-001", "cancel-streaming")
def repeats_a_terminal_state(world: World) -> None:
    def transition(
        honest: Callable[..., None], s: Any, action: Any, state: Any, *given: Any, **named: Any
    ) -> None:
        honest(s, action, state, *given, **named)
        if state.terminal:
            honest(s, action, state, *given, **named)

    instead(world, "_transition", transition)


@fault("AWP-LIF-002", "cancel-streaming")
def says_executing_at_admission(world: World) -> None:
    def rewrite(message: Message) -> Message:
        if "received_ts_mono_ns" in message.get("result", {}):
            message["result"]["state"] = "executing"
        return message

    on_the_wire(world, rewrite)


@fault("AWP-ACT-001", "resubmission")
def accepts_a_conflict(world: World) -> None:
    def submit(honest: Callable[..., None], c: Any, rid: Any, params: Message, now: int) -> None:
        known = c.session.actions.get(params["action_id"])
        honest(c, rid, known.content if known else params, now)

    instead(world, "_rpc_action_submit", submit)


@fault("AWP-ACT-002", "admission-refused")
def refuses_with_another_code(world: World) -> None:
    def rewrite(message: Message) -> Message:
        if message.get("error", {}).get("code") == 3001:
            message["error"] |= {"code": 3002, "message": "AWP_BUSY"}
        return message

    on_the_wire(world, rewrite)


@fault("AWP-ACT-004", "deadline")
def ends_actions_before_their_deadline(world: World) -> None:
    def submit(honest: Callable[..., None], c: Any, rid: Any, params: Message, now: int) -> None:
        honest(c, rid, params, now)
        action = c.session.actions[params["action_id"]]
        action.deadline_ns = action.received_ns + params["deadline_ms"] * 500_000

    instead(world, "_rpc_action_submit", submit)


@fault("AWP-EMB-004", "observer")
def lets_an_observer_act(world: World) -> None:
    def admit(honest: Callable[..., Any], s: Any, params: Message, *given: Any) -> Any:
        return honest(s, params, *given) if s.embodiment else world._decls[params["type"]]

    instead(world, "_admit", admit)


@fault("AWP-PRE-002", "preemption-streaming")
def serves_the_latest_first(world: World) -> None:
    class Stack(deque[Any]):
        def popleft(self) -> Any:
            return self.pop()

    queues: dict[tuple[int, str], Stack] = {}

    def queue(self: Any, group: str) -> Any:
        return self.queues.setdefault(group, queues.setdefault((id(self), group), Stack()))

    session.Session.queue = queue


@fault("AWP-PRE-005", "preemption-streaming")
def calls_what_is_busy_full(world: World) -> None:
    def rewrite(message: Message) -> Message:
        if message.get("error", {}).get("code") == 3002:
            message["error"] |= {"code": 3003, "message": "AWP_QUEUE_FULL"}
        return message

    on_the_wire(world, rewrite)


@fault("AWP-PRE-004", "blend-streaming", feature="blend")
def blends_in_silence(world: World) -> None:
    instead(world, "_preempt_running", lambda honest, s, group, now, blended: honest(s, group, now))


@fault("AWP-SAF-013", "stale-intent")
def takes_any_basis(world: World) -> None:
    silently(world, "_check_intent")


@fault("AWP-ENV-002", "envelope-refused")
def goes_anywhere(world: World) -> None:
    silently(world, "_check_envelope")


@fault("AWP-ENV-004", "action-rate")
def takes_any_rate(world: World) -> None:
    world.config = replace(world.config, max_action_rate_hz=1e6)


@fault("AWP-APR-001", "approval", feature="approval")
def needs_no_approval(world: World) -> None:
    world._decls["park"] = {**world._decls["park"], "requires_approval": False}


@fault("AWP-CMD-005", "command-stream", feature="servo")
def blames_itself_for_missing_commands(world: World) -> None:
    def rewrite(message: Message) -> Message:
        if message.get("params", {}).get("reason") == "watchdog":
            message["params"]["reason"] = "world_error"
        return message

    on_the_wire(world, rewrite)


# What messages say.


@fault("AWP-CTL-008", "cancel-streaming")
def leaves_out_a_status_seq(world: World) -> None:
    def next_seq(self: Any) -> int:
        self.seq += 2 if self.seq == 2 else 1
        return int(self.seq)

    session.Session.next_seq = next_seq


@fault("AWP-CTL-009", "cancel-streaming")
def tells_half_nanoseconds(world: World) -> None:
    def rewrite(message: Message) -> Message:
        if "received_ts_mono_ns" in message.get("result", {}):
            message["result"]["received_ts_mono_ns"] += 0.5
        return message

    on_the_wire(world, rewrite)


@fault("AWP-CTL-009", "integer-range")
def takes_any_integer(world: World) -> None:
    import json

    jsonrpc.decode = json.loads


@fault("WIRE-KEYS", "handshake")
def says_a_member_twice(world: World) -> None:
    def encode(honest: Callable[[Message], str], message: Message) -> str:
        text = honest(message)
        twice = "origin_ns" in message.get("result", {})
        return text.replace("{", '{"id":"0",', 1) if twice else text

    instead(server.jsonrpc, "encode", encode)


@fault("AWP-CLK-001", "cancel-streaming")
def goes_back_in_time(world: World) -> None:
    def rewrite(message: Message) -> Message:
        if message.get("method") == "action.status" and message["params"]["state"] == "cancelled":
            message["params"]["ts_mono_ns"] = 1
        return message

    on_the_wire(world, rewrite)


@fault("AWP-VER-004", "handshake")
def has_members_of_its_own(world: World) -> None:
    def rewrite(message: Message) -> Message:
        if message.get("method") == "session.state":
            message["params"]["note"] = "all is well"
        return message

    on_the_wire(world, rewrite)


@fault("AWP-ERR-001", "admission-refused")
def does_not_say_whether_to_retry(world: World) -> None:
    def rewrite(message: Message) -> Message:
        message.get("error", {}).pop("data", None)
        return message

    on_the_wire(world, rewrite)


@fault("AWP-CTL-002", "handshake")
def calls_an_unknown_method_invalid(world: World) -> None:
    def rewrite(message: Message) -> Message:
        if message.get("error", {}).get("code") == -32601:
            message["error"]["code"] = -32600
        return message

    on_the_wire(world, rewrite)


@fault("AWP-CLK-007", "handshake")
def answers_another_ping(world: World) -> None:
    def rewrite(message: Message) -> Message:
        if "origin_ns" in message.get("result", {}):
            message["result"]["origin_ns"] += 1
        return message

    on_the_wire(world, rewrite)


@fault("AWP-TSK-001", "task", feature="task")
def declares_tasks_and_knows_none(world: World) -> None:
    def update(*given: Any) -> None:
        raise AwpError(ErrorCode.METHOD_NOT_FOUND, "task.update")

    instead(world, "_rpc_task_update", update)


# What sessions do.


@fault("AWP-MAN-001", "handshake")
def declares_less_than_it_names(world: World) -> None:
    world.manifest = copy.deepcopy(world.manifest)
    world.manifest["embodiments"][0]["channels"].append("radar")


@fault("AWP-SES-002", "handshake")
def is_never_ready(world: World) -> None:
    untold(world, "ready")


@fault("AWP-SES-011", "close-while-acting")
def answers_close_at_once(world: World) -> None:
    def close(honest: Callable[..., None], c: Any, rid: Any, params: Message, now: int) -> None:
        world._reply(c, rid, {})
        world._close_session(c.session, now, "session_closed")

    instead(world, "_rpc_session_close", close)


@fault("AWP-EMB-001", "two-sessions")
def binds_the_arm_twice(world: World) -> None:
    def opened(honest: Callable[..., None], *given: Any) -> None:
        world._holder = None
        honest(*given)

    instead(world, "_rpc_session_open", opened)


@fault("AWP-CTL-008", "resume")
def replays_nothing(world: World) -> None:
    session.Session.replay_after = lambda self, number: []


@fault("AWP-SES-003", "resume")
def never_says_suspended(world: World) -> None:
    untold(world, "suspended")


@fault("AWP-TIM-007", "watchdog")
def has_no_watchdog(world: World) -> None:
    silently(world, "_check_watchdog")


@fault("AWP-PRM-006", "reset")
def resets_unannounced(world: World) -> None:
    def event(honest: Callable[..., None], s: Any, name: str, *given: Any) -> None:
        if name != "world_resetting":
            honest(s, name, *given)

    instead(world, "_event", event)


@fault("AWP-EMB-003", "transfer", feature="transfer")
def goes_on_after_a_handover(world: World) -> None:
    def take_over(honest: Callable[..., None], params: Message, now: int) -> None:
        holder = world.sessions[world._transfers.pop(params["transfer_token"])[0]]
        world._holder = None
        world._event(holder, "embodiment_transferred", now, {"embodiment": holder.embodiment})

    instead(world, "_take_over", take_over)


# What time does.


@fault("AWP-TIM-006", "telemetry")
def sends_no_telemetry(world: World) -> None:
    silently(world, "_send_telemetry")


@fault("AWP-DAT-003", "reliable-channel")
def sends_everything_often(world: World) -> None:
    def frames(honest: Callable[..., None], s: Any, now: int) -> None:
        due = [grant for grant in s.grants.values() if now >= grant.next_due_ns]
        honest(s, now)
        for grant in due * 20:
            world._emit_frame(s, grant, now)

    instead(world, "_stream_frames", frames)


@fault("AWP-TIM-011", "action-lockstep", mode="lockstep")
def takes_any_tick(world: World) -> None:
    def tick(honest: Callable[..., None], c: Any, rid: Any, params: Message, now: int) -> None:
        honest(c, rid, params | {"expected_tick": world.tick}, now)

    instead(world, "_rpc_world_tick", tick)


@fault("AWP-TIM-010", "cancel-lockstep", mode="lockstep")
def does_not_stage(world: World) -> None:
    def submit(honest: Callable[..., None], c: Any, rid: Any, params: Message, now: int) -> None:
        honest(c, rid, params, now)
        for action in [*c.session.staged]:
            c.session.staged.remove(action)
            world._execute(c.session, action, now)

    instead(world, "_rpc_action_submit", submit)


@fault("AWP-TRN-008", "resume-lockstep", mode="lockstep")
def goes_on_without_resync(world: World) -> None:
    def emit(honest: Callable[..., None], s: Any, grant: Any, now: int) -> None:
        grant.resync = False
        honest(s, grant, now)

    instead(world, "_emit_frame", emit)


@fault("AWP-REP-002", "snapshot", mode="lockstep", feature="sim")
def restores_nothing(world: World) -> None:
    def load(honest: Callable[..., None], state: Message) -> None:
        world.tick = state["tick"]

    instead(world, "load_state", load)


@fault("AWP-REP-001", "seed", mode="lockstep", feature="sim")
def heeds_no_seed(world: World) -> None:
    instead(world.rng, "seed", lambda honest, *given: None)


@fault("AWP-MA-004", "two-sessions")
def a_refusal_takes_the_channels_of_another(world: World) -> None:
    refused: list[Message] = []

    def rewrite(message: Message) -> Message:
        if message.get("error", {}).get("code") == 2007:
            refused.append(message)
        if refused and "granted" in message.get("result", {}):
            return {"jsonrpc": "2.0", "id": message["id"], "error": refused[0]["error"]}
        return message

    on_the_wire(world, rewrite)


# What an operator and an approver do, and what is written down.


@fault("AWP-EVT-001", "estop-streaming")
def does_not_tell_of_an_emergency_stop(world: World) -> None:
    def event(honest: Callable[..., None], s: Any, name: str, *given: Any) -> None:
        if name != "e_stop_engaged":
            honest(s, name, *given)

    instead(world, "_event", event)


def at_an_emergency_stop(world: World, state: ActionState, become: Callable[..., None]) -> None:
    """What becomes of an action that would end in this state for an emergency stop."""

    def finish(honest: Callable[..., None], s: Any, action: Any, end: Any, now: int, **named: Any) -> None:
        if named.get("reason") == "e_stop" and end is state:
            become(honest, s, action, now)
        else:
            honest(s, action, end, now, **named)

    instead(world, "_finish", finish)


@fault("AWP-EVT-002", "estop-lockstep", mode="lockstep")
def lets_wait_what_waits_at_an_emergency_stop(world: World) -> None:
    at_an_emergency_stop(world, ActionState.CANCELLED, lambda *_: None)


@fault("AWP-LIF-008", "estop-lockstep", mode="lockstep")
def goes_on_to_abort_at_an_emergency_stop(world: World) -> None:
    def cancelled(honest: Callable[..., None], s: Any, action: Any, now: int) -> None:
        honest(s, action, ActionState.CANCELLED, now, reason="cancelled_by_agent", aborted=True)

    at_an_emergency_stop(world, ActionState.FAILED, cancelled)


@fault("AWP-EVT-002", "estop-streaming")
def admits_during_an_emergency_stop(world: World) -> None:
    def submit(honest: Callable[..., None], *given: Any) -> None:
        engaged, world.estop = world.estop, False
        honest(*given)
        world.estop = engaged

    instead(world, "_rpc_action_submit", submit)


@fault("AWP-APR-002", "approval-streaming", feature="approval")
def approves_of_what_is_denied(world: World) -> None:
    def respond(honest: Callable[..., None], c: Any, rid: Any, params: Message, now: int) -> None:
        honest(c, rid, params | {"decision": "approve"}, now)

    instead(world, "_rpc_approval_respond", respond)


@fault("AWP-APR-007", "approval-streaming", feature="approval")
def lets_everybody_approve(world: World) -> None:
    def respond(honest: Callable[..., None], c: Any, *given: Any) -> None:
        c.approver = True
        honest(c, *given)

    instead(world, "_rpc_approval_respond", respond)


@fault("AWP-LIF-008", "close-outranks-cancel-streaming")
def ends_for_the_cancel_what_its_session_ends(world: World) -> None:
    def close(honest: Callable[..., None], s: Any, *given: Any) -> None:
        causes = {one.action_id: one.cancel_reason for one in s.running.values()}
        honest(s, *given)
        for one in s.running.values():
            one.cancel_reason = causes[one.action_id] or one.cancel_reason

    instead(world, "_close_session", close)


@fault("AWP-SEC-006", "credential-in-url")
def lets_in_by_url(world: World) -> None:
    def split(honest: Callable[..., Any], url: str) -> Any:
        return honest(url)._replace(query="")

    instead(server, "urlsplit", split)


@fault("AWP-AUD-006", "audit")
def writes_down_the_token(world: World) -> None:
    audit.redact = lambda message, *given: message


def unwritten(world: World, method: str) -> None:
    """Leave messages of a method out of the log."""

    def record(
        honest: Callable[..., None], session_id: str, now: int, direction: str, message: Message
    ) -> None:
        if message.get("method") != method:
            honest(session_id, now, direction, message)

    instead(world._audit, "record", record)


@fault("AWP-AUD-001", "audit")
def writes_down_no_statuses(world: World) -> None:
    unwritten(world, "action.status")


@fault("AWP-CMD-008", "audit-commands", feature="servo")
def writes_down_no_commands(world: World) -> None:
    unwritten(world, "cmd.frame")


@fault("AWP-TSK-005", "audit-task", feature="task")
def writes_down_no_new_task(world: World) -> None:
    unwritten(world, "task.update")


APPROVER = "the-token-of-an-approver"


async def serve(name: str, folder: str) -> None:
    """Serve the world that is broken in this way until the process is told to end; it logs to a folder."""
    logging.disable()
    chosen = FAULTS[name]
    mode: Any = chosen.mode
    config = WorldConfig(mode=mode, features=chosen.features, watchdog_ms=1500)
    world = World(config, audit=audit.AuditLog(folder))
    chosen.broken(world)
    async with server.Server(world, port=0, approver_token=APPROVER) as served:
        for number, act in ((signal.SIGUSR1, served.engage_estop), (signal.SIGUSR2, served.release_estop)):
            asyncio.get_running_loop().add_signal_handler(number, act)
        print(served.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:]))
