"""Agent World Protocol: actions that stand in each other's way, and actions that wait for approval."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from conformance.checks import same
from conformance.correlation import Message
from conformance.findings import Level
from conformance.integers import counter as whole
from conformance.lapses import told
from conformance.protocols.awp_actions import policies
from conformance.protocols.awp_record import Memory
from conformance.protocols.awp_rules import HOLDS, NOTHING, PRAISED, Told, rule, timed
from conformance.protocols.awp_sessions import refused
from conformance.protocols.awp_things import MS, TERMINAL, WAITING, Action, S, Session
from conformance.protocols.awp_values import table


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


@rule("action.submit.result", "action.status", before=["queued"], says=["accepted"])
def queue(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-PRE-002: what waits in a queue is accepted in the order of submission, and max_queue bounds it."""
    session = memory.here
    if session is None or not memory.complete:
        return NOTHING
    if message.request is not None:
        return _queued(session, message, table(message.request.at("/params")))
    action = memory.of
    if action is None or message.name != "action.status":
        return NOTHING
    others = [one for one in _rivals(session, action.params, action.id) if one.state == "queued"]
    ahead = [one.id for one in others if _number(one) < _number(action)]
    if not ahead:
        return PRAISED if others else NOTHING
    return [Told(f"{', '.join(ahead)} has waited longer", "/params/action_id", tuple(ahead), action.id)]


def _queued(session: Session, message: Message, params: dict[str, Any]) -> Iterable[Told]:
    """What to say of the answer to a submission that may have to wait."""
    most = whole(session.type_of(params).get("max_queue"))
    admitted_before = str(params.get("action_id")) in session.actions
    if most is None or message.at("/result/state") != "queued" or admitted_before:
        return NOTHING
    waiting = [one for one in _rivals(session, params) if one.state == "queued"]
    if len(waiting) < most:
        return PRAISED
    return [Told(f"{len(waiting)} actions wait, and max_queue is {most}", "/result/state", (most,))]


@rule("action.status", before=["executing"])
def replace(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-PRE-003: an action that executes ends as preempted where one that replaces it begins."""
    session = memory.here
    if session is None or len(session.actions) < 2:
        return NOTHING
    found = memory.status()
    newer = _replacing(found[0], found[1]) if found is not None else ()
    if found is None or not newer:
        return NOTHING
    state, now = memory.params.get("state"), found[2]
    if state == "preempted":
        return PRAISED if memory.params.get("reason") is None else NOTHING
    times = [time for one in newer if (time := one.entered.get("executing")) is not None]
    if state not in ("executing", "completed") or not times or now <= min(times):
        return NOTHING
    said = f"another action replaced it at {min(times)}, and it is {state} at {now}"
    return [Told(said, "/params/state", ("preempted",), state)]


def _replacing(session: Session, action: Action) -> list[Action]:
    """Later actions of the group that replace it."""
    later = _later(session, action)
    return [one for one in later if _policy(session, one.params) == "replace"]


def _later(session: Session, action: Action) -> list[Action]:
    """The actions that were submitted after one, and that share its group."""
    if len(session.actions) < 2:
        return []
    return [one for one in _rivals(session, action.params, action.id) if _number(one) > _number(action)]


@rule("action.status", says=["preempted"])
def blend(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-PRE-004: an action that another is blended with ends as preempted, and blended."""
    session, action = memory.here, memory.of
    later = _later(session, action) if session is not None and action is not None else []
    if session is None or memory.params.get("reason") is not None or not later:
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


@rule("action.status", mode="lockstep", before=["executing"], says=["preempted"])
def staged(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-PRE-007: in lockstep, an action is not replaced before the advance after the admission of the new.

    The session clock moves with advances alone, so the two do not have the same time.
    """
    found = memory.status()
    if found is None or memory.params.get("reason") is not None:
        return
    session, action, now = found
    later = _later(session, action)
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


APPROVING: Final[tuple[str, ...]] = ("safety.approval_requested", "safety.approval.respond")


@rule(*APPROVING, "action.status", before=["pending_approval"], begins=APPROVING)
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
        action, session = memory.of, memory.here
        if action is not None and session is not None:
            yield from _decision(notes.pop(("decision", session.key, action.id), None), message)


def _decision(decision: Any, message: Message) -> Iterable[Told]:
    state, reason = message.at("/params/state"), message.at("/params/reason")
    went_on, denied = state in ("accepted", "queued"), reason == "approval_denied"
    if (decision == "approve" and denied) or (decision == "deny" and went_on):
        said = f"the decision was {decision}, and the action is {state}"
        yield Told(said, "/params/state", (), state)
    elif decision is not None and (went_on or denied):
        yield HOLDS


DEFAULT_TIMEOUT_MS: Final = 60_000


@rule("action.status", before=["pending_approval"])
def timeout(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-APR-003: an approval that does not come times out after approval_timeout_ms, and not before."""
    found = memory.status()
    if found is None or not found[0].manifest:
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
    if not isinstance(about, str):
        return
    if about in memory.notes:
        yield from refused(message, 3001, f"the approval {about} was decided before")
    elif message.name.endswith(".result"):
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
