"""OSSA agent-to-agent communication: that an end is of what was assigned, and an answer to what was asked.

Messages may overtake each other, so what nothing explains may be explained yet. There may be more of all
this than is remembered: what is not known then says nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from conformance.checks import Observation, failed, passed
from conformance.correlation import Message
from conformance.findings import Finding, Requirement
from conformance.instants import Moment
from conformance.packs import Pack
from conformance.protocols.ossa import ASSIGNED, BESIDE, OF_TASKS, created, new_message
from conformance.remembered import REMEMBERED_MESSAGES, forget_oldest, oldest, recall
from conformance.wording import shown

AGENT = "a2a-communication.schema.json#/definitions/Message/properties/from"
"""The schema of an agent's address."""

QUESTION, ANSWER = "QueryRequest", "QueryResponse"


class Early:
    """Findings against what came before what may explain it, by what that would have to name."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[object, Moment | None]] = {}
        self._named: dict[object, dict[int, Finding]] = {}

    def add(self, name: object, message: Message, finding: Finding) -> None:
        """One more; the oldest is forgotten for it, where there are many."""
        self._waiting[message.seq] = name, created(message)
        self._named.setdefault(name, {})[message.seq] = finding
        for seq in oldest(self._waiting, REMEMBERED_MESSAGES):
            self._drop(seq)

    def _drop(self, seq: int) -> None:
        name, _ = self._waiting.pop(seq)
        del self._named[name][seq]
        if not self._named[name]:
            del self._named[name]

    def explain(self, name: object, by: Message) -> None:
        """What was named came after all, and had been made before."""
        when = created(by)
        for seq in [*self._named.get(name, ())]:
            made = self._waiting[seq][1]
            if made is None or when is None or made >= when:
                self._drop(seq)

    def left(self) -> list[Finding]:
        """What nothing explained, in order."""
        return [self._named[name][seq] for seq, (name, _) in self._waiting.items()]


class Assigned:
    """OSSA-COR-001: an end is of a task that was assigned, and comes from the agent to which it was.

    Judged where the record has the task's assignment, or an earlier one to the same agent, and nothing
    shows that it lacks some. Messages may overtake each other: an assignment that was made before the end
    may come after it. Where more was assigned than is remembered, what is not known may be what is forgotten.
    """

    hears = OF_TASKS

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._schemas = pack.schemas()
        self._assignees: dict[str, dict[str, None]] = {}
        self._busy: dict[str, None] = {}
        self._older: dict[str, None] = {}
        self._lost: dict[str, None] = {}
        self._gap = self._forgot = False
        self._early = Early()

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per end of a task that was assigned to who tells it."""
        self._gap = self._gap or seen.lost is None
        if seen.message is not None and seen.message.kind is None:
            self._lost.update(dict.fromkeys(seen.lost or ()))
            self._gap = forget_oldest(self._lost) or self._gap
        message = new_message(seen)
        if message is None or not message.is_a(OF_TASKS):
            return ()
        task, agent = message.at("/payload/taskId"), str(message.at("/from"))
        if message.is_a((ASSIGNED,)):
            self._assign(message, str(task), str(message.at("/to")))
        elif isinstance(task, str) and self._schemas.is_valid(AGENT, message.at("/from")):
            if agent in self._assignees.get(task, ()):
                return [passed(self._requirement, message)] if seen.praise else ()
            self._judge(message, task, agent)
        return ()

    def _assign(self, message: Message, task: str, agent: str) -> None:
        known = self._assignees.setdefault(task, {})
        known[agent] = self._busy[agent] = None
        forgot = [forget_oldest(self._assignees), forget_oldest(known, BESIDE), forget_oldest(self._busy)]
        self._forgot = self._forgot or any(forgot)
        self._early.explain((task, agent), message)

    def _judge(self, message: Message, task: str, agent: str) -> None:
        assignees = [*self._assignees.get(task, ())]
        if task in self._lost or self._gap or self._forgot:
            return
        if assignees:
            said = f"{task} was assigned to {', '.join(assignees)}, and {agent} tells of its end"
            finding = failed(self._requirement, message, said, "/from", expected=assignees, actual=agent)
            self._early.add((task, agent), message, finding)
        elif agent not in self._busy or agent in self._older:
            self._older[agent] = None  # it was assigned tasks before the record began
            self._forgot = forget_oldest(self._older) or self._forgot
        else:
            said = f"{task} was never assigned to {agent}"
            finding = failed(self._requirement, message, said, "/payload/taskId", actual=task)
            self._early.add((task, agent), message, finding)

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding per end of a task that was not assigned to who told it."""
        return self._early.left() if complete and not self._gap else ()


@dataclass(slots=True)
class _Asked:
    """The latest names of questions of one agent to another, and whether one of all of them had none."""

    latest: deque[str] = field(default_factory=lambda: deque(maxlen=5))
    unnamed: bool = False


class Answered:
    """OSSA-COR-002: the queryId of an answer is the correlationId of a question.

    Judged where the record has an earlier question of the one to the other, and nothing shows that it
    lacks some. A question without correlationId cannot be named, so no answer to it can be wrong. Messages
    may overtake each other: a question that was made before the answer may come after it.
    """

    hears = (QUESTION, ANSWER)

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._asked: dict[tuple[str, str], _Asked] = {}
        self._known: dict[str, None] = {}
        self._lost: dict[str, None] = {}
        self._older: dict[tuple[str, str], None] = {}
        self._gap = self._forgot = False
        self._early = Early()

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per answer to a question that was seen."""
        self._gap = self._gap or seen.lost is None
        if seen.message is not None and seen.message.kind is None:
            self._lost[str(seen.message.at("/correlationId"))] = None
            self._gap = forget_oldest(self._lost) or self._gap
        message = new_message(seen)
        if message is None or not message.is_a(self.hears):
            return ()
        if message.is_a((QUESTION,)):
            self._ask(message)
            return ()
        name = message.at("/payload/queryId")
        if not isinstance(name, str):
            return ()
        if name in self._known:
            return [passed(self._requirement, message)] if seen.praise else ()
        self._judge(message, name)
        return ()

    def _ask(self, message: Message) -> None:
        name = message.at("/correlationId")
        asked = recall(self._asked, (str(message.at("/from")), str(message.at("/to"))), _Asked)
        if not isinstance(name, str):
            asked.unnamed = True
            return
        asked.latest.append(name)
        self._known[name] = None
        self._forgot = forget_oldest(self._known) or self._forgot
        self._early.explain(name, message)

    def _judge(self, message: Message, name: str) -> None:
        pair = str(message.at("/to")), str(message.at("/from"))
        asked = self._asked.get(pair)
        if asked is None or pair in self._older or self._forgot:
            self._older[pair] = None  # it was asked before the record began, or what is remembered does
            self._forgot = forget_oldest(self._older) or self._forgot
        elif not asked.unnamed and name not in self._lost and not self._gap:
            latest = [*asked.latest]
            there_is = ", ".join(map(shown, latest))
            said = f"{shown(name)} is the correlationId of no question to {pair[1]} ({there_is})"
            at = "/payload/queryId"
            finding = failed(self._requirement, message, said, at, expected=latest, actual=name)
            self._early.add(name, message, finding)

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding per answer to what nobody asked."""
        return self._early.left() if complete and not self._gap else ()
