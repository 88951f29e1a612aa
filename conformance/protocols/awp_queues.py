"""Agent World Protocol: actions that stand in each other's way, and actions that wait for approval."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.checks import same
from conformance.correlation import Message
from conformance.findings import Level
from conformance.lapses import told
from conformance.protocols.awp_actions import policies
from conformance.protocols.awp_record import Memory
from conformance.protocols.awp_rules import HOLDS, Told, rule, timed
from conformance.protocols.awp_sessions import refused
from conformance.protocols.awp_things import MS, TERMINAL, WAITING, Action, S, Session
from conformance.protocols.awp_values import table, whole


def _policy(session: Session, params: dict[str, Any]) -> Any:
    """The policy of a submission: the one it names, or the only one that its type has."""
    offered = policies(session, params)
    return params.get("preempt") or (offered[0] if len(offered) == 1 else None)


def _group(session: Session, params: dict[str, Any]) -> tuple[Any, Any] | None:
    """What a submission shares with those that it stands in the way of; None where nobody knows."""
    declared, body = session.type_of(params), params.get("embodiment_id")
    if not declared or len(session.bodies) != 1:
        return None
    return declared.get("concurrency_group"), body or session.bodies[0]


def _rivals(session: Session, params: dict[str, Any], but: str = "") -> list[Action]:
    """The other actions of the session that share the group, in the order of their submission."""
    group = _group(session, params)
    known = [one for one in session.actions.values() if one.asked and one.id != but]
    return [one for one in known if group is not None and _group(session, one.params) == group]


def _number(action: Action) -> int:
    return action.asked.seq if action.asked else 0


@rule("action.submit.result", "action.status")
def queue(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-PRE-002: what waits in a queue is accepted in the order of submission, and max_queue bounds it."""
    session, request = memory.here, message.request
    if session is None or not memory.complete:
        return
    params = table(request.at("/params")) if request else {}
    if request is not None:
        most = whole(session.type_of(params).get("max_queue"))
        waiting = [one for one in _rivals(session, params) if one.state == "queued"]
        if (
            most is None
            or message.at("/result/state") != "queued"
            or str(params.get("action_id")) in session.actions
        ):
            return
        if len(waiting) < most:
            yield HOLDS
        else:
            yield Told(f"{len(waiting)} actions wait, and max_queue is {most}", "/result/state", (most,))
        return
    action = memory.action(message)
    if action is None or action.state != "queued" or memory.params.get("state") != "accepted":
        return
    others = [one for one in _rivals(session, action.params, action.id) if one.state == "queued"]
    ahead = [one.id for one in others if _number(one) < _number(action)]
    if ahead:
        yield Told(f"{', '.join(ahead)} has waited longer", "/params/action_id", tuple(ahead), action.id)
    elif others:
        yield HOLDS


@rule("action.status")
def replace(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-PRE-003: an action that executes ends as preempted where one that replaces it begins."""
    found = memory.status(message)
    if found is None or found[1].state != "executing":
        return
    session, action, now = found
    state, newer = memory.params.get("state"), _replacing(session, action)
    times = [time for one in newer if (time := one.entered.get("executing")) is not None]
    if state == "preempted" and memory.params.get("reason") is None and newer:
        yield HOLDS
    elif state in ("executing", "completed") and times and now > min(times):
        said = f"another action replaced it at {min(times)}, and it is {state} at {now}"
        yield Told(said, "/params/state", ("preempted",), state)


def _replacing(session: Session, action: Action) -> list[Action]:
    """Later actions of the group that replace it."""
    later = [one for one in _rivals(session, action.params, action.id) if _number(one) > _number(action)]
    return [one for one in later if _policy(session, one.params) == "replace"]


@rule("action.status")
def blend(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-PRE-004: an action that another is blended with ends as preempted, and blended."""
    session, action = memory.here, memory.action(message)
    if session is None or action is None or memory.params.get("state") != "preempted":
        return
    later = [one for one in _rivals(session, action.params, action.id) if _number(one) > _number(action)]
    if memory.params.get("reason") is not None or not later:
        return
    if all(_policy(session, one.params) == "blend" for one in later):
        if memory.params.get("blended") is True:
            yield HOLDS
        else:
            yield Told("another action is blended with it, and blended is not true", "/params", ("blended",))


@rule("action.submit.result", "action.submit.error")
def reject(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-PRE-005: a submission of policy reject gets 3002 while its group has an action that goes on."""
    session, request = memory.here, message.request
    params = table(request.at("/params")) if request else {}
    if (
        session is None
        or params.get("preempt") != "reject"
        or str(params.get("action_id")) in session.actions
    ):
        return
    going = [one.id for one in _rivals(session, params) if one.state and one.state not in TERMINAL]
    if going and (message.name.endswith(".result") or message.at("/error/code") == 3002):
        yield from refused(message, 3002, f"{going[0]} goes on in the same group")


@rule("action.status", mode="lockstep")
def staged(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-PRE-007: in lockstep, an action is not replaced before the advance after the admission of the new.

    The session clock moves with advances alone, so the two do not have the same time.
    """
    found = memory.status(message)
    if found is None or found[1].state != "executing":
        return
    session, action, now = found
    if memory.params.get("state") != "preempted" or memory.params.get("reason") is not None:
        return
    later = [one for one in _rivals(session, action.params, action.id) if _number(one) > _number(action)]
    admitted = [one.entered.get("accepted") for one in later if one.state not in TERMINAL]
    times = [time for time in admitted if time is not None]
    if times and now > min(times):
        yield HOLDS
    elif times:
        said = "it is preempted at the time of the new action's admission, without an advance between"
        yield Told(said, "/params/ts_mono_ns", (), now)


@rule("safety.approval_requested", "safety.approval.respond", "action.submit.result")
def asked(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-APR-001: what requires approval waits for it, and its approver sees what was submitted.

    That it does not wait is a warning, since a standing approval may be older than the record. Whether one
    that was given covers more than it should is AWP-APR-004's.
    """
    if message.name == "safety.approval.respond":
        given = memory.params.get("decision") == "approve" or memory.params.get("standing") is not None
        memory.notes["standing"] = memory.notes.get("standing") or given
    elif message.name == "safety.approval_requested":
        yield from _requested(memory, message)
    else:
        session = memory.here
        params = table(message.request.at("/params")) if message.request else {}
        if session is None or session.type_of(params).get("requires_approval") is not True:
            return
        state = message.at("/result/state")
        standing = memory.notes.get("standing") or message.at("/result/approval_id") is not None
        if str(params.get("action_id")) in session.actions or standing:
            return
        if state == "pending_approval":
            yield HOLDS
        else:
            said = f"its type requires approval, and it is {state}"
            yield Told(said, "/result/state", ("pending_approval",), state, Level.SHOULD)


def _action(memory: Memory, message: Message) -> tuple[Session, Action] | None:
    session = memory.sessions.get(str(message.at("/params/requester/session")))
    action = session.actions.get(str(memory.params.get("action_id"))) if session else None
    return (session, action) if session is not None and action is not None and action.asked else None


def _requested(memory: Memory, message: Message) -> Iterable[Told]:
    found = _action(memory, message)
    if found is None:
        return
    for member in ("type", "params"):
        shown, submitted = message.at(f"/params/{member}"), found[1].params.get(member)
        if not same(shown, submitted):
            said = f"the approver is shown another {member} than was submitted"
            yield Told(said, f"/params/{member}", (submitted,), shown)
            return
    yield HOLDS


@rule("safety.approval_requested", "safety.approval.respond", "action.status")
def decided(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-APR-002: an action that is approved goes on, and one that is denied is rejected for that."""
    notes = memory.notes
    asked = "of", message.event.connection, str(memory.params.get("approval_id"))
    if message.name == "safety.approval_requested":
        notes[asked] = (
            str(message.at("/params/requester/session")),
            str(memory.params.get("action_id")),
        )
    elif message.name == "safety.approval.respond":
        about = notes.get(asked)
        if about is not None:
            notes["decision", *about] = (
                None if ("decision", *about) in notes else memory.params.get("decision")
            )
    else:
        action, session = memory.action(message), memory.here
        if action is not None and session is not None and action.state == "pending_approval":
            yield from _decision(notes.pop(("decision", session.key, action.id), None), message)


def _decision(decision: Any, message: Message) -> Iterable[Told]:
    state, reason = message.at("/params/state"), message.at("/params/reason")
    went_on, denied = state in ("accepted", "queued"), reason == "approval_denied"
    if (decision == "approve" and denied) or (decision == "deny" and went_on):
        said = f"the decision was {decision}, and the action is {state}"
        yield Told(said, "/params/state", (), state)
    elif decision is not None and (went_on or denied):
        yield HOLDS


DEFAULT_TIMEOUT_MS = 60_000


@rule("action.status")
def timeout(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-APR-003: an approval that does not come times out after approval_timeout_ms, and not before."""
    found = memory.status(message)
    if found is None or found[1].state != "pending_approval" or not found[0].manifest:
        return
    session, action, now = found
    policy, since = table(session.manifest.get("safety_policy")), action.entered.get("pending_approval")
    most = whole(policy.get("approval_timeout_ms", DEFAULT_TIMEOUT_MS))
    if since is None or most is None:
        return
    timed_out, waited = memory.params.get("reason") == "approval_timeout", (now - since) // MS
    lapse = told((now - since) / S, action.told["pending_approval"], message.event)
    late = memory.params.get("state") in WAITING and lapse.exceeds(most / 1000 + 1)
    if timed_out and waited < most:
        yield Told(
            f"it timed out after {waited} ms; {most} are allowed", "/params/ts_mono_ns", (most,), waited
        )
    elif late is not False:
        said = f"it was approved after {waited} ms; {most} are allowed"
        yield timed(Told(said, "/params/ts_mono_ns", (most,), waited), lapse, late)
    elif timed_out:
        yield HOLDS


@rule("safety.approval.respond.result", "safety.approval.respond.error")
def again(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-APR-007: an approval that was decided is not decided again: the answer is 3001."""
    about = message.request.at("/params/approval_id") if message.request else None
    if about in memory.notes:
        yield from refused(message, 3001, f"the approval {about} was decided before")
    elif message.name.endswith(".result") and isinstance(about, str):
        memory.notes[about] = True


@rule("session.open.result", "task.update.result", "safety.approval_requested")
def task(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-TSK-003: a task that was acknowledged replaces the one before, as an approver sees."""
    if message.name == "safety.approval_requested":
        key, shown = str(message.at("/params/requester/session")), memory.params.get("task")
        current = memory.notes.get(key)
        if current is None or shown is None:
            return
        yield (
            HOLDS
            if same(current, shown)
            else Told("the approver is shown another task than the current", "/params/task")
        )
        return
    session = memory.here
    of = (
        str(message.at("/result/session_id"))
        if message.name == "session.open.result"
        else session and session.key
    )
    if message.request is not None and of:
        memory.notes[of] = message.request.at("/params/task")
