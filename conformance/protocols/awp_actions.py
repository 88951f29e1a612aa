"""Agent World Protocol: what becomes of a submission: admission, deadlines, reports, ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from conformance.correlation import Message
from conformance.events import Event
from conformance.integers import counter as whole
from conformance.lapses import told
from conformance.protocols.awp_record import Memory
from conformance.protocols.awp_rules import HOLDS, NOTHING, PRAISED, Told, rule, timed
from conformance.protocols.awp_sessions import refused
from conformance.protocols.awp_things import MS, NUMBERED, TERMINAL, WAITING, Action, S, Session
from conformance.protocols.awp_values import names, table, tables
from conformance.schemas import embedded


def _first(memory: Memory, message: Message) -> tuple[Session, dict[str, Any]] | None:
    """The session and the params of a submission that this answers, unless its id was admitted before."""
    session, request = memory.here, message.request
    if session is None or request is None or not memory.complete:
        return None
    params = table(request.at("/params"))
    return None if str(params.get("action_id")) in session.actions else (session, params)


def policies(session: Session, params: dict[str, Any]) -> list[str]:
    """The preemption policies that the type of a submission offers; none where it is not declared."""
    offered = session.type_of(params).get("preemption")
    return [offered] if isinstance(offered, str) else names(offered)


@rule("action.submit.result", "action.submit.error")
def params(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-ACT-002: params that the type's params_schema refuses are refused with 3001."""
    first = _first(memory, message)
    judge = _judge(memory, *first) if first else None
    if first is None or judge is None or not isinstance(first[1].get("params"), dict):
        return
    if judge(first[1]["params"]):
        yield from [HOLDS] if message.name.endswith(".result") else []
    elif message.name.endswith(".result") or message.at("/error/code") == 3001:
        yield from refused(message, 3001, f"the params_schema of {first[1].get('type')} refuses the params")


def _judge(memory: Memory, session: Session, params: dict[str, Any]) -> Callable[[Any], bool] | None:
    key = (session.key, str(params.get("type")))
    if key not in memory.notes:
        memory.notes[key] = _judge_of(memory, session.manifest, params.get("type"))
    judge: Callable[[Any], bool] | None = memory.notes[key]
    return judge


def _judge_of(memory: Memory, manifest: dict[str, Any], name: Any) -> Callable[[Any], bool] | None:
    """What judges by the params_schema of a type of a manifest; None where that has none of the name."""
    found, key = memory.found_of(manifest), (type(name), str(name))
    if key not in found:
        declared = tables(manifest.get("action_schemas"))
        place = next((at for at, row in enumerate(declared) if row.get("type") == name), None)
        schemas, pointer = memory.pack.schemas("receiver"), f"/action_schemas/{place}/params_schema"
        found[key] = None if place is None else embedded(schemas, manifest, pointer)
    judge: Callable[[Any], bool] | None = found[key]
    return judge


@rule("action.submit.result")
def preempt(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-ACT-005: the preempt value of an action that is admitted is one that its type declares."""
    first = _first(memory, message)
    chosen = first[1].get("preempt") if first else None
    if first is None or chosen is None or not policies(*first):
        return
    if chosen in policies(*first):
        yield HOLDS
    else:
        said = f"an action is admitted with preempt {chosen}, which its type does not declare"
        yield Told(said, "/result", tuple(policies(*first)), chosen)


Due = tuple[int, str]


def _due(session: Session, action: Action) -> Due | None:
    """When the time of an action is up, and which member says so; None where nothing does."""
    limits = [(whole(action.params.get("deadline_ms")), "deadline_ms")]
    declared = session.type_of(action.params)
    if declared.get("duration") == "extended":
        limits.append((whole(declared.get("max_duration_ms")), "max_duration_ms"))
    known = [(limit, name) for limit, name in limits if limit is not None]
    if not known or action.received is None:
        return None
    limit, name = min(known)
    return action.received + limit * MS, name


@rule("action.status", mode="streaming")
def deadline(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-ACT-004, AWP-ACT-008: when the time that the member `by` gives is up, the action ends with
    deadline_exceeded, and not before. In lockstep the time is advisory.
    """
    found = memory.status()
    if found is None or found[1].asked is None:
        return
    session, action, now = found
    due, state = _due(session, action), memory.params.get("state")
    exceeded = memory.params.get("reason") == "deadline_exceeded"
    if due is None:
        known = action.received is not None and bool(session.type_of(action.params))
        if exceeded and memory.options["by"] == "deadline_ms" and known:
            yield Told("a deadline is exceeded, and the action has none", "/params/reason")
    elif due[1] == memory.options["by"]:
        if exceeded:
            early = Told(f"time is up at {due[0]}", "/params/ts_mono_ns", due[:1], now)
            yield HOLDS if now >= due[0] else early
        elif state == "completed" or (state == "executing" and action.state in WAITING):
            yield from _in_time(due[0], now, found[1].asked.event, message)


def _in_time(due: int, now: int, asked: Event, message: Message) -> Iterable[Told]:
    """What goes on when time was up; what was under way then is let pass."""
    over, state = told((now - due) / S, asked, message.event), message.at("/params/state")
    late = over.exceeds(0.1)
    if late is not False:
        said = f"the action is {state} at {now}, and its time was up at {due}"
        yield timed(Told(said, "/params/state", (), state), over, late)


@rule(
    "action.submit.result",
    "action.status",
    "action.cancel.result",
    "action.status.request",
    "action.status.result",
    "action.status.error",
)
def held(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-ACT-006: a pull of an action that the world has to remember tells its current state."""
    session, notes, name = memory.here, memory.notes, message.name
    if session is None:
        return NOTHING
    told = notes.get(session.key)
    if told is None:
        told = notes[session.key] = {}
    if name in NUMBERED:
        if memory.number is not None and memory.number not in told:
            told[memory.number] = table(memory.params or message.at("/result")).get("state")
    elif name == "action.status.request":
        asked = session.actions.get(str(memory.params.get("action_id")))
        notes["asked", session.key, message.seq] = asked.number if asked else None
    elif message.request is not None:
        action = session.actions.get(str(message.request.at("/params/action_id")))
        since = notes.pop(("asked", session.key, message.request.seq), None)
        if action is not None and since is not None and action.state is not None:
            return _pulled(told, action, message, since)
    return NOTHING


def _pulled(told: dict[int, Any], action: Action, message: Message, since: int) -> Iterable[Told]:
    state, number = message.at("/result/state"), whole(message.at("/result/status_seq"))
    if message.name.endswith(".error"):
        if message.at("/error/code") == 3008 and action.state not in TERMINAL:
            yield Told(f"{action.id} is {action.state}, and is said to be unknown", "/error/code", (), 3008)
    elif number is None or not isinstance(state, str) or number > max(told, default=-1):
        return  # a number that was never given is another requirement's matter
    elif number >= since and number not in told:
        return  # what was told under it was forgotten, since the record was in doubt
    elif number < since or told[number] != state:
        said = f"{action.id} is {action.state} of status_seq {action.number}, and {state} of {number} is told"
        yield Told(said, "/result", (action.state, action.number), (state, number))
    else:
        yield HOLDS


@rule("action.submit.result", "action.status", "action.status.result", replays=True)
def once(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-LIF-009: a transition has one time, also where it is told again on request."""
    session, is_status = memory.here, message.name == "action.status"
    if is_status:
        said, number, time = memory.params, memory.number, memory.time
    else:
        said = table(message.at("/result"))
        number, time = whole(said.get("status_seq")), whole(said.get("ts_mono_ns"))
    if session is None or number is None or time is None:
        return NOTHING
    # Where the state is another one, that is the fault, and another requirement's.
    told = session.key, number, str(said.get("action_id")), str(said.get("state"))
    known = memory.notes.setdefault(told, time)
    if is_status or (message.name == "action.submit.result" and told[2] not in session.actions):
        return NOTHING
    if known == time:
        return PRAISED
    wrong = f"the transition {number} was at {known}, and is now told to have been at {time}"
    return [Told(wrong, "/result/ts_mono_ns", (known,), time)]


@rule(
    "action.submit",
    "action.cancel.result",
    "action.status.result",
    "action.cancel.error",
    "action.status.error",
)
def unknown(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-LIF-010: who names an action that was never submitted gets 3008.

    One that was submitted and refused is AWP-ACT-010's, one of another session AWP-PRM-001's.
    """
    session, request = memory.here, message.request
    place = session.key if session else message.event.connection
    if message.name == "action.submit":
        memory.notes[place, str(memory.params.get("action_id"))] = True
    if session is None or request is None or not session.whole or not memory.complete:
        return
    name = str(request.at("/params/action_id"))
    answered = message.name.endswith(".result") or message.at("/error/code") == 3008
    submitted = not {(session.key, name), (message.event.connection, name)}.isdisjoint(memory.notes)
    foreign = any(name in other.actions for other in memory.sessions.values() if other is not session)
    if not (submitted or foreign or name in session.actions) and answered:
        yield from refused(message, 3008, f"no action {name} was submitted")


@rule("action.status", before=["cancelling"], says=TERMINAL)
def abort(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-LIF-010: an abort is over within the max_abort_ms that the type declares."""
    found = memory.status()
    if found is None:
        return
    session, action, now = found
    most, since = whole(session.type_of(action.params).get("max_abort_ms")), action.entered.get("cancelling")
    if most is None or since is None:
        return
    lapse = told((now - since) / S, action.told["cancelling"], message.event)
    late = lapse.exceeds((most + 100) / 1000)
    if late is False:
        yield HOLDS
    else:
        took = (now - since) // MS
        said = f"the abort took {took} ms; at most {most} are declared"
        yield timed(Told(said, "/params/ts_mono_ns", (most,), took), lapse, late)


@rule("action.status", says=TERMINAL)
def streaming(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-LIF-007: an action of duration streaming never completes by itself."""
    session, action = memory.here, memory.action(message)
    if session is None or action is None or session.type_of(action.params).get("duration") != "streaming":
        return
    state = memory.params.get("state")
    if state == "completed":
        yield Told("an action of duration streaming does not complete", "/params/state", (), state)
    else:
        yield HOLDS


def _concerns(message: Message, action: Action) -> bool:
    body, own = message.at("/params/detail/embodiment"), action.params.get("embodiment_id")
    return body is None or own is None or body == own


@rule("world.event", "action.status", begins=["world.event"])
def stopped(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-EVT-002, AWP-LIF-008: an emergency stop ends each action that stood in one of `from`: one that
    executes or aborts fails, one that waits is cancelled, with the reason e_stop.
    """
    session = memory.here
    if session is None:
        return
    if message.name == "world.event":
        if memory.params.get("event") == "e_stop_engaged":
            for one in session.actions.values():
                if one.state in memory.options["from"] and _concerns(message, one):
                    memory.notes[session.key, one.id] = one.state
        return
    action, number = memory.action(message), whole(memory.params.get("status_seq"))
    if action is None or number is None or number <= action.number:
        return
    before = memory.notes.pop((session.key, action.id), None)
    if before is not None:
        yield from _stop(message, "cancelled" if before in WAITING else "failed", before)


def _stop(message: Message, wanted: str, before: str) -> Iterable[Told]:
    state, reason = message.at("/params/state"), message.at("/params/reason")
    if state == wanted and reason in ("e_stop", None):  # that a reason is missing is another's matter
        yield HOLDS
    else:
        said = f"it was {before} at the emergency stop, and is {state} for {reason}"
        yield Told(said, "/params/state", (wanted, "e_stop"), (state, reason))


@rule("world.event", "action.submit.result", "action.submit.error", begins=["world.event"])
def suspended(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-EVT-002: while an emergency stop is engaged, no action is admitted."""
    session = memory.here
    if session is None:
        return
    if message.name == "world.event":
        event = memory.params.get("event")
        if event in ("e_stop_engaged", "e_stop_released"):
            memory.notes[session.key] = event == "e_stop_engaged"
        return
    told = message.name.endswith(".result") or message.at("/error/code") == 3005
    if memory.notes.get(session.key) and _first(memory, message) and len(session.bodies) < 2 and told:
        yield from refused(message, 3005, "the emergency stop is engaged")


@rule("world.event")
def safe_state(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-SAF-004: safe_state_entered is told when every action has ended."""
    session = memory.here
    if session is None or memory.params.get("event") != "safe_state_entered":
        return
    going = [one.id for one in session.actions.values() if one.state and one.state not in TERMINAL]
    if going:
        yield Told(f"safe state is entered, and no end of {', '.join(going)} was reported", "/params/event")
    elif session.actions:
        yield HOLDS


@rule("world.event", "action.status", begins=["world.event"])
def safe_again(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-SAF-008: the first action to execute after safe_state_entered brings safe_state_exited."""
    session = memory.here
    if session is None:
        return
    notes, key, state = memory.notes, session.key, memory.params.get("state")
    if message.name == "world.event":
        event = memory.params.get("event")
        if event == "safe_state_entered":
            notes[key] = ""
        elif event == "safe_state_exited" and notes.pop(key, None) is not None:
            yield HOLDS
    elif notes.get(key) == "" and state == "executing":
        notes[key] = str(memory.params.get("action_id"))
    elif notes.get(key) and notes[key] == memory.params.get("action_id") and state in TERMINAL:
        del notes[key]
        yield Told("it executed after safe_state_entered and has ended, and no safe_state_exited was told")


@rule("action.submit.result", "action.submit.error", mode="streaming")
def stale(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-SAF-013: a streaming world with max_basis_age_ms admits no intent that is older or over."""
    first, received = _first(memory, message), whole(message.at("/result/received_ts_mono_ns"))
    if first is None:
        return
    session, params = first
    most = whole(table(session.manifest.get("safety_policy")).get("max_basis_age_ms"))
    basis, until = whole(params.get("basis_ts_mono_ns")), whole(params.get("valid_until_ns"))
    if most is None or (basis is None and until is None):
        return
    if message.name.endswith(".error"):
        yield from [HOLDS] if message.at("/error/code") == 3007 else []
    elif received is not None and basis is not None and received - basis > most * MS:
        yield Told(f"the basis is {(received - basis) // MS} ms old; at most {most} are declared", "/result")
    elif received is not None and until is not None and received > until:
        yield Told(f"an intent is admitted at {received} that was valid until {until}", "/result")


@rule("action.status", mode="streaming", before=WAITING, says=["executing"])
def valid(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-ACT-007: in a streaming world with max_basis_age_ms, no intent begins after its valid_until_ns."""
    found = memory.status()
    if found is None:
        return
    session, action, now = found
    until = whole(action.params.get("valid_until_ns"))
    bound = table(session.manifest.get("safety_policy")).get("max_basis_age_ms")
    if bound is None or until is None or action.received is None or action.received > until:
        return
    over = told((now - until) / S, action.asked.event if action.asked else message.event, message.event)
    late = over.exceeds(0.0)
    if late is False:
        yield HOLDS
    else:
        said = f"it begins at {now}, and was valid until {until}"
        yield timed(Told(said, "/params/ts_mono_ns", (until,), now), over, late)
