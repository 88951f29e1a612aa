"""OSSA agent-to-agent communication: when an agent may speak, and what a subscription's counts come to."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from conformance.checks import Observation, failed, passed
from conformance.correlation import Message
from conformance.events import JSON
from conformance.findings import Finding, Requirement
from conformance.instants import instant
from conformance.integers import integral
from conformance.packs import Pack
from conformance.protocols.ossa import created, new_message
from conformance.remembered import forget_oldest, recall
from conformance.wording import shown, type_name

SAID = 10
"""So many messages of an agent that has not said that it started are remembered, the latest."""


class _Said(NamedTuple):
    """A message of an agent: its name and number, and when it was made, as it is written."""

    name: str
    seq: int
    made: JSON


def _is_before(one: JSON, other: JSON) -> bool:
    first, second = instant(one), instant(other)
    return first is not None and second is not None and first < second


class Presence:
    """OSSA-LIF-004: an agent says AgentStarted first, and nothing after AgentStopped.

    Messages may overtake each other, and an agent may have broken down and started anew. So one is too
    early only where it was made after `startedAt` and before AgentStarted, and too late only where it was
    made after AgentStopped.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._spoken: dict[str, deque[_Said]] = {}
        self._stopped: dict[str, JSON] = {}
        """When each agent that had stopped said so, as it is written."""
        self._started: dict[str, None] = {}
        """For praise alone."""

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per AgentStarted that comes too late, and per message of an agent that has said it."""
        for agent in [*self._stopped] if seen.lost is None else seen.lost:
            self._stopped.pop(agent, None)
        message = new_message(seen)
        if message is None or not isinstance(message.at("/from"), str):
            return
        agent = str(message.at("/from"))
        own = message.at("/payload/agentId") == agent
        if own and message.is_a(["AgentStarted"]):
            yield from self._start(message, agent)
        elif own and message.is_a(["AgentStopped"]):
            self._stopped[agent] = message.at("/createdAt")
            forget_oldest(self._stopped)
        else:
            yield from self._speak(seen, message, agent)

    def _start(self, message: Message, agent: str) -> Iterable[Finding]:
        self._started[agent] = None
        forget_oldest(self._started)
        self._stopped.pop(agent, None)
        began = instant(message.at("/payload/startedAt"))
        made = created(message)
        for early in self._spoken.pop(agent, ()):
            when = instant(early.made)
            if began is not None and when is not None and made is not None and began <= when < made:
                said = f"{agent} had started at {message.at('/payload/startedAt')}, and its {early.name}, "
                said += f"number {early.seq}, was made before it said so"
                yield failed(self._requirement, message, said, "/createdAt", actual=message.at("/createdAt"))
                return

    def _speak(self, seen: Observation, message: Message, agent: str) -> Iterable[Finding]:
        said = _Said(message.name, message.seq, message.at("/createdAt"))
        recall(self._spoken, agent, partial(deque, maxlen=SAID)).append(said)
        if agent in self._stopped and _is_before(self._stopped[agent], message.at("/createdAt")):
            del self._stopped[agent]
            text = f"{agent} had stopped, and says {message.name} all the same"
            yield failed(self._requirement, message, text, "/from", actual=message.name)
        elif seen.praise and agent in self._started:
            yield passed(self._requirement, message)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each message is judged when it is seen."""
        return ()


class SuccessRate:
    """OSSA-SUB-002: successRate is the delivered share of all that was tried, `within` so much."""

    stateless = True
    hears = ("Subscription",)

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
