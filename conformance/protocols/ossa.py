"""OSSA agent-to-agent communication: who was assigned which task, and how it ended.

Delivery is at least once: a message that is delivered again is no second one (`Observation.again`). A
record may begin in the middle of a conversation; of what then came before it, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from conformance.checks import Observation, failed, located, passed, same, timed
from conformance.correlation import Message
from conformance.events import Opened
from conformance.findings import Finding, Requirement
from conformance.instants import Moment, instant
from conformance.integers import counter
from conformance.lapses import told
from conformance.packs import Pack
from conformance.remembered import REMEMBERED_MESSAGES, forget_oldest, oldest
from conformance.wording import shown

ASSIGNED, COMPLETED, FAILED = "TaskAssigned", "TaskCompleted", "TaskFailed"
ENDS = (COMPLETED, FAILED)
OF_TASKS = (ASSIGNED, *ENDS)

BESIDE = 100
"""So many things of one task, or of one agent, are remembered."""


def new_message(seen: Observation) -> Message | None:
    """The message of a known kind that is not only delivered again."""
    message = seen.message
    return message if message is not None and message.kind is not None and not seen.again else None


def created(message: Message) -> Moment | None:
    """When the message was made, or None where it does not say."""
    return instant(message.at("/createdAt"))


def made_before(one: Message, other: Message) -> bool:
    """Whether one message was made before the other, as far as their times say."""
    first, second = created(one), created(other)
    return first is not None and second is not None and first < second


@dataclass(slots=True)
class _Assignment:
    """A task that an agent was to carry out. `order` is None where it is not in the record."""

    order: Message | None = None
    end: Message | None = None


class _Tasks:
    """Which agent was assigned which task; of several assignments, the newest that follows an end. Of many
    tasks the latest are remembered.
    """

    def __init__(self) -> None:
        self._held: dict[str, dict[str, _Assignment]] = {}
        self._forgotten: Moment | None = None
        """When the latest of those that are forgotten was assigned."""

    def of(self, task: Any) -> dict[str, _Assignment]:
        """Agent → its assignment of the task."""
        return self._held.get(task, {}) if isinstance(task, str) else {}

    def _of(self, task: Any) -> dict[str, _Assignment]:
        if not isinstance(task, str):
            return {}
        found = self._held.setdefault(task, {})
        for name in oldest(self._held, REMEMBERED_MESSAGES):
            self._forget(self._held.pop(name))
        return found

    def _forget(self, task: dict[str, _Assignment]) -> None:
        made = [created(one.order) for one in task.values() if one.order is not None]
        self._forgotten = max((time for time in (*made, self._forgotten) if time is not None), default=None)

    def may_be_forgotten(self, order: Message) -> bool:
        """Whether an assignment that is not known may be one that is forgotten, and only delivered again."""
        made = created(order)
        return self._forgotten is not None and (made is None or made <= self._forgotten)

    def mine(self, message: Message) -> _Assignment | None:
        """The assignment that a TaskCompleted or TaskFailed is about."""
        return self.of(message.at("/payload/taskId")).get(str(message.at("/from")))

    def see(self, message: Message) -> None:
        """Take over an assignment, or an end."""
        task = self._of(message.at("/payload/taskId"))
        if message.is_a((ASSIGNED,)):
            held = task.get(str(message.at("/to")))
            if held is None or held.end is not None:
                task[str(message.at("/to"))] = _Assignment(message)
                forget_oldest(task, BESIDE)
        elif message.is_a(ENDS) and not any(one.order for one in task.values()):
            task.setdefault(str(message.at("/from")), _Assignment()).end = message
            forget_oldest(task, BESIDE)
        elif message.is_a(ENDS) and (mine := self.mine(message)) is not None:
            mine.end = message


class Once:
    """OSSA-LIF-002: a task ends once for the agent that was assigned it, and nothing about it follows.

    What failed may be assigned again, what was completed may not. Shown by a task that was seen to
    be assigned and to end, and of which nothing more was heard.
    """

    hears = OF_TASKS

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._tasks = _Tasks()
        self._ended: dict[tuple[str, str], Message] = {}
        """For praise alone."""

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per message after the end."""
        if not seen.plain and seen.loses_any:
            for key in [key for key, end in self._ended.items() if seen.may_hide(key[0], end.party)]:
                del self._ended[key]
        message = new_message(seen)
        if message is None or not message.is_a(OF_TASKS):
            return
        task = str(message.at("/payload/taskId"))
        end = self._completed(message) if message.is_a((ASSIGNED,)) else self._ending(message)
        self._tasks.see(message)
        mine = self._tasks.mine(message)
        if end is not None and same(end.at("/id"), message.at("/id")):
            return  # that it is only delivered again is not known any longer
        if end is not None:
            self._ended.pop((task, str(end.at("/from"))), None)
            said = f"{task} had ended with {end.name}, and {message.name} says something more"
            yield failed(self._requirement, message, said, "/payload/taskId", actual=message.name)
        elif seen.praise and mine is not None and mine.order is not None and mine.end is message:
            self._ended[task, str(message.at("/from"))] = message
            forget_oldest(self._ended)

    def _completed(self, message: Message) -> Message | None:
        """The completion that an assignment comes after, by whomever it was."""
        held = self._tasks.of(message.at("/payload/taskId")).values()
        ends = (one.end for one in held if one.end is not None and one.end.is_a((COMPLETED,)))
        return next((end for end in ends if made_before(end, message)), None)

    def _ending(self, message: Message) -> Message | None:
        """The end that the agent had already told."""
        mine = self._tasks.mine(message)
        return mine.end if mine is not None else None

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding for each task that stayed ended."""
        if complete:
            yield from (passed(self._requirement, message) for message in self._ended.values())


class _Open:
    """Assignments without an end, by task and agent: found by either, in the order in which they came."""

    def __init__(self) -> None:
        self._orders: dict[tuple[str, str], Message] = {}
        self._of_task: dict[str, dict[tuple[str, str], None]] = {}
        self._of_agent: dict[str, dict[tuple[str, str], None]] = {}

    def add(self, key: tuple[str, str], order: Message) -> None:
        """One more; the oldest is forgotten for it, where there are many."""
        self._orders[key] = _without_text(order)
        for known, name in ((self._of_task, key[0]), (self._of_agent, key[1])):
            known.setdefault(name, {})[key] = None
        for old in oldest(self._orders):
            self.pop(old)

    def pop(self, key: tuple[str, str]) -> Message | None:
        """It is open no longer; the assignment, if it was open."""
        order = self._orders.pop(key, None)
        if order is not None:
            for known, name in ((self._of_task, key[0]), (self._of_agent, key[1])):
                del known[name][key]
                if not known[name]:
                    del known[name]
        return order

    def drop(self, task: str | None = None, agent: str | None = None) -> None:
        """None of the task, and none of the agent, is open any longer."""
        about = [*self._of_task.get(task or "", ()), *self._of_agent.get(agent or "", ())]
        for key in about:
            self.pop(key)

    def clear(self) -> None:
        """None is."""
        self._orders.clear()
        self._of_task.clear()
        self._of_agent.clear()

    def __iter__(self) -> Iterator[tuple[str, str, Message]]:
        return ((task, agent, order) for (task, agent), order in self._orders.items())


def _without_text(message: Message) -> Message:
    """The message as far as it is needed to say that something stands at its beginning."""
    line, column = located(message.event, "")
    return message._replace(event=message.event._replace(text="", value=None, line=line, column=column))


class Ended:
    """OSSA-LIF-003: a task that was assigned ends before the stream does. Judged of the assigned agent.

    An assignment on its own is no stream: the record has the connection's beginning, or the agent is heard
    afterwards. One that could not be delivered asks nothing of anybody, and one that is older than the end
    only arrived late. Whoever tells of an end that belongs to nothing may have meant any of his tasks; that
    is another requirement's matter.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._pack = pack
        self._tasks = _Tasks()
        self._open = _Open()
        self._heard: dict[str, int] = {}
        """The number of the last message from each agent."""
        self._from_start: dict[str, None] = {}
        self._parties: dict[str, str] = {}

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per end of an assigned task."""
        if isinstance(seen.event, Opened):
            self._from_start[seen.event.connection] = None
            forget_oldest(self._from_start)
        message = seen.message
        if message is None or message.kind is None:
            self._lose(seen)
            return
        agent = str(message.at("/from"))
        self._heard[agent] = message.seq
        forget_oldest(self._heard)
        if message.known_party:
            self._parties[agent] = message.party
            forget_oldest(self._parties)
        if message.is_a((ASSIGNED,)):
            self._assigned(message, again=seen.again)
        elif message.is_a(ENDS) and not seen.again:
            yield from self._ended(message)

    def _lose(self, seen: Observation) -> None:
        if seen.lost is None:
            self._open.clear()
        for name in seen.lost or ():
            self._open.drop(task=name)

    def _assigned(self, message: Message, *, again: bool) -> None:
        task = message.at("/payload/taskId")
        key = str(task), str(message.at("/to"))
        if message.at("/status") == "failed":
            self._open.pop(key)
        elif not again and isinstance(task, str):
            held = self._tasks.of(task).get(key[1])
            old = held is None and self._tasks.may_be_forgotten(message)
            self._tasks.see(message)
            is_new = held is None or (held.end is not None and not made_before(message, held.end))
            if is_new and not old and self._is_valid(message):
                self._open.pop(key)
                self._open.add(key, message)

    def _is_valid(self, message: Message) -> bool:
        """What is not valid asks nothing of anybody."""
        kind = message.kind
        return kind is not None and self._pack.schemas().is_valid(kind.schema, message.value)

    def _ended(self, message: Message) -> Iterable[Finding]:
        task, agent = str(message.at("/payload/taskId")), str(message.at("/from"))
        self._tasks.see(message)
        if self._open.pop((task, agent)) is not None:
            yield passed(self._requirement, message)
            return
        mine = self._tasks.mine(message)
        if mine is None or mine.order is None:
            self._open.drop(task, agent)

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding for each task that was still open."""
        for task, agent, message in self._open if complete else ():
            heard = self._heard.get(agent, 0) > message.seq
            if not heard and message.event.connection not in self._from_start:
                continue
            said = f"the stream ended, and {agent} never said how {task} did, which it was assigned"
            finding = failed(self._requirement, message, said)
            finding = finding._replace(line=message.event.line, column=message.event.column)
            yield finding._replace(party=self._party(agent, message))

    def _party(self, agent: str, message: Message) -> str:
        """The role of an agent: that in which it spoke, else the one that was spoken to."""
        return self._parties.get(agent) or (self._pack.peer_of(message.party) if message.known_party else "")


class Retries:
    """OSSA-TSK-002: retryCount of a failed task is not above maxRetries of its assignment."""

    hears = OF_TASKS

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._tasks = _Tasks()

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per failure of a task whose assignment says how often it may be tried again."""
        message = new_message(seen)
        if message is None:
            return
        mine = self._tasks.mine(message) if message.is_a((FAILED,)) else None
        self._tasks.see(message)
        most = counter(mine.order.at("/payload/retryPolicy/maxRetries")) if mine and mine.order else None
        count = counter(message.at("/payload/retryCount"))
        if most is None or count is None:
            return
        if count <= most:
            yield passed(self._requirement, message)
            return
        said = f"it was tried again {shown(count)} times, and the assignment allows {shown(most)}"
        yield failed(self._requirement, message, said, "/payload/retryCount", expected=(most,), actual=count)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each failure is judged when it is seen."""
        return ()


class Times:
    """OSSA-TSK-003: a task ends after it was assigned, and is completed by its deadline.

    A deadline that was over when the task was assigned is none that anybody can keep.
    """

    hears = OF_TASKS

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._tasks = _Tasks()

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per end of a task whose assignment is in the record."""
        message = new_message(seen)
        if message is None:
            return
        mine = self._tasks.mine(message) if message.is_a(ENDS) else None
        self._tasks.see(message)
        if mine is not None and mine.order is not None and mine.end is message:
            yield from self._judge(message, mine.order)

    def _judge(self, message: Message, order: Message) -> Iterable[Finding]:
        at = "/payload/completedAt" if message.is_a((COMPLETED,)) else "/payload/failedAt"
        ended, assigned = instant(message.at(at)), created(order)
        due = instant(order.at("/payload/deadline")) if message.is_a((COMPLETED,)) else None
        if ended is None or assigned is None:
            return
        hopeless = due is not None and due < assigned
        over = told(ended - due, order.event, message.event) if due is not None else None
        late = over.exceeds(0.0) if over is not None else False
        said = ""
        if ended < assigned:
            said = f"the task ended at {message.at(at)}, and was assigned at {order.at('/createdAt')}"
        elif late is not False and not hopeless:
            said = f"the task was completed at {message.at(at)}, and due at {order.at('/payload/deadline')}"
        if said:
            found = failed(self._requirement, message, said, at, actual=message.at(at))
            yield timed(found, over, late) if over and ended >= assigned else found
        elif not hopeless:
            yield passed(self._requirement, message)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each end is judged when it is seen."""
        return ()
