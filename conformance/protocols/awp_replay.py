"""Agent World Protocol: what a world still knows after a lost connection, and what an agent tries again."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.checks import same
from conformance.correlation import Message
from conformance.integers import counter as whole
from conformance.protocols.awp_record import Memory
from conformance.protocols.awp_rules import HOLDS, NOTHING, PRAISED, Told, rule
from conformance.protocols.awp_things import NUMBERED
from conformance.protocols.awp_values import table


@rule("session.resume.result")
def retained(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-CTL-010: a world that resumes a session knows of every number that it gave before."""
    key, last = str(message.at("/result/session_id")), whole(message.at("/result/replay_to_status_seq"))
    given = memory.given.get(key)
    if given is None or last is None:
        return NOTHING
    if last >= given:
        return PRAISED
    said = f"the last number is said to be {last}, and {given} was given before"
    return [Told(said, "/result/replay_to_status_seq", (given,), last)]


@rule(
    "session.resume.result",
    "session.close.result",
    *NUMBERED,
    replays=True,
    begins=["session.resume.result"],
)
def replayed(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-LIF-006: what a resumption has to say again has been said when the session is closed.

    That no number is left out on the way is AWP-CTL-008's.
    """
    notes = memory.notes
    if message.name == "session.resume.result":
        after = whole(message.request.at("/params/last_status_seq")) if message.request else None
        last = whole(message.at("/result/replay_to_status_seq"))
        if after is not None and last is not None and after < last:
            notes[str(message.at("/result/session_id"))] = last
        return
    session = memory.here
    last = notes.get(session.key) if session is not None else None
    if session is None or last is None:
        return
    number = memory.number
    if message.name == "session.close.result":
        yield Told(f"the session is closed, and the replay up to {last} never came to its end")
        del notes[session.key]
    elif number is not None and number >= last:
        yield HOLDS
        del notes[session.key]


@rule("action.submit", "action.submit.error", begins=["action.submit.error"])
def retried(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-ERR-001: an agent does not submit again, word for word, what was refused as not retryable."""
    session, notes = memory.here, memory.notes
    if session is None:
        return
    if message.name == "action.submit.error":
        if message.at("/error/data/retryable") is False and message.request is not None:
            params = table(message.request.at("/params"))
            notes[session.key, str(params.get("action_id"))] = params
        return
    params = memory.params
    refused = notes.get((session.key, str(params.get("action_id"))))
    if refused is not None and same(refused, params):
        yield Told("the same submission was refused, and not as retryable", "/params")
