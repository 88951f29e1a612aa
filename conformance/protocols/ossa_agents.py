"""OSSA agent-to-agent communication: which question an answer is to, when an agent may speak, and what a
subscription's counts come to.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from conformance.checks import Observation, failed, passed
from conformance.correlation import Message
from conformance.findings import Finding, Requirement
from conformance.instants import instant
from conformance.integers import integral
from conformance.packs import Pack
from conformance.protocols.ossa import created, made_before, new_message
from conformance.wording import shown, type_name


class Answered:
    """OSSA-COR-002: the queryId of an answer is the correlationId of a question.

    Judged where the record has an earlier question of the one to the other, and nothing shows that it
    lacks some. A question without correlationId cannot be named, so no answer to it can be wrong. Messages
    may overtake each other: a question that was made before the answer may come after it.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._asked: dict[tuple[str, str], list[str | None]] = {}
        self._known: set[str] = set()
        self._lost: set[str] = set()
        self._older: set[tuple[str, str]] = set()
        self._gap = False
        self._early: list[tuple[Message, Finding]] = []

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per answer to a question that was seen."""
        self._gap = self._gap or seen.lost is None
        if seen.message is not None and seen.message.kind is None:
            self._lost.add(str(seen.message.at("/correlationId")))
        message = new_message(seen)
        if message is None:
            return
        if message.is_a(["QueryRequest"]):
            self._ask(message)
        elif message.is_a(["QueryResponse"]) and isinstance(message.at("/payload/queryId"), str):
            yield from self._judge(message, str(message.at("/payload/queryId")))

    def _ask(self, message: Message) -> None:
        name = message.at("/correlationId")
        pair = str(message.at("/from")), str(message.at("/to"))
        self._asked.setdefault(pair, []).append(name if isinstance(name, str) else None)
        self._known |= {name} if isinstance(name, str) else set()
        self._early = [row for row in self._early if not _is_question_of(message, row[0])]

    def _judge(self, message: Message, name: str) -> Iterable[Finding]:
        pair = str(message.at("/to")), str(message.at("/from"))
        asked = self._asked.get(pair, [])
        if name in self._known:
            yield passed(self._requirement, message)
        elif not asked or pair in self._older:
            self._older.add(pair)  # it was asked before the record began
        elif None not in asked and name not in self._lost and not self._gap:
            there_is = ", ".join(shown(one) for one in asked[-5:])
            said = f"{shown(name)} is the correlationId of no question to {pair[1]} ({there_is})"
            finding = failed(
                self._requirement, message, said, "/payload/queryId", expected=asked[-5:], actual=name
            )
            self._early.append((message, finding))

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding per answer to what nobody asked."""
        if complete and not self._gap:
            yield from (finding for _, finding in self._early)


def _is_question_of(question: Message, answer: Message) -> bool:
    """Whether a question is the one that an answer is to, though it comes after it."""
    name = question.at("/correlationId")
    return name == answer.at("/payload/queryId") and not made_before(answer, question)


class Presence:
    """OSSA-LIF-004: an agent says AgentStarted first, and nothing after AgentStopped.

    Messages may overtake each other, and an agent may have broken down and started anew. So one is too
    early only where it was made after `startedAt` and before AgentStarted, and too late only where it was
    made after AgentStopped.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._spoken: dict[str, list[Message]] = {}
        self._stopped: dict[str, Message] = {}
        self._started: set[str] = set()

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per AgentStarted that comes too late, and per message of an agent that has said it."""
        for agent in [one for one in self._stopped if seen.loses(one)]:
            del self._stopped[agent]
        message = new_message(seen)
        if message is None or not isinstance(message.at("/from"), str):
            return
        agent = str(message.at("/from"))
        own = message.at("/payload/agentId") == agent
        if own and message.is_a(["AgentStarted"]):
            yield from self._start(message, agent)
        elif own and message.is_a(["AgentStopped"]):
            self._stopped[agent] = message
        else:
            yield from self._speak(message, agent)

    def _start(self, message: Message, agent: str) -> Iterable[Finding]:
        self._started.add(agent)
        self._stopped.pop(agent, None)
        began = instant(message.at("/payload/startedAt"))
        for early in self._spoken.pop(agent, []):
            when = created(early)
            if began is not None and when is not None and began <= when and made_before(early, message):
                said = f"{agent} had started at {message.at('/payload/startedAt')}, and its {early.name}, "
                said += f"number {early.seq}, was made before it said so"
                yield failed(self._requirement, message, said, "/createdAt", actual=message.at("/createdAt"))
                return

    def _speak(self, message: Message, agent: str) -> Iterable[Finding]:
        self._spoken.setdefault(agent, []).append(message)
        stopped = self._stopped.get(agent)
        if stopped is not None and made_before(stopped, message):
            del self._stopped[agent]
            said = f"{agent} had stopped, and says {message.name} all the same"
            yield failed(self._requirement, message, said, "/from", actual=message.name)
        elif agent in self._started:
            yield passed(self._requirement, message)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each message is judged when it is seen."""
        return ()


class SuccessRate:
    """OSSA-SUB-002: successRate is the delivered share of all that was tried, `within` so much."""

    stateless = True

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._within = Fraction(str(spec["parameters"]["within"]))

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per subscription that has both counts and the rate."""
        message = seen.message
        if message is None or not message.is_a(["Subscription"]):
            return
        at = "/deliveryStats"
        delivered, lost = (message.at(f"{at}/{name}") for name in ("totalDelivered", "totalFailed"))
        rate = message.at(f"{at}/successRate")
        if type_name(rate) != "number" or not (integral(delivered) and integral(lost)):
            return
        if min(delivered, lost) < 0 or delivered + lost == 0:
            return
        share = Fraction(int(delivered), int(delivered + lost))
        if not 0 <= rate <= 1:
            return  # it is no rate at all, which the schema says
        if abs(Fraction(str(rate)) - share) <= self._within:
            yield passed(self._requirement, message)
            return
        said = f"{shown(delivered)} of {shown(delivered + lost)} were delivered, which is no rate of {rate}"
        yield failed(self._requirement, message, said, f"{at}/successRate", actual=rate)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each subscription is judged when it is seen."""
        return ()
