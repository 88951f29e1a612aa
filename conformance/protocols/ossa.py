"""OSSA agent-to-agent communication: who was assigned which task, and how it ended.

Delivery is at least once: a message that is delivered again is no second one (`Observation.again`). A
record may begin in the middle of a conversation; of what then came before it, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from conformance.checks import Observation, failed, passed, timed
from conformance.correlation import Message
from conformance.events import Opened
from conformance.findings import Finding, Requirement
from conformance.instants import Moment, instant
from conformance.integers import counter
from conformance.lapses import told
from conformance.packs import Pack
from conformance.wording import shown

ASSIGNED, COMPLETED, FAILED = "TaskAssigned", "TaskCompleted", "TaskFailed"
ENDS = [COMPLETED, FAILED]

AGENT = "a2a-communication.schema.json#/definitions/Message/properties/from"
"""The schema of an agent's address."""


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
    """Which agent was assigned which task; of several assignments, the newest that follows an end."""

    def __init__(self) -> None:
        self._held: dict[str, dict[str, _Assignment]] = {}

    def of(self, task: Any) -> dict[str, _Assignment]:
        """Agent → its assignment of the task."""
        return self._held.setdefault(task, {}) if isinstance(task, str) else {}

    def mine(self, message: Message) -> _Assignment | None:
        """The assignment that a TaskCompleted or TaskFailed is about."""
        return self.of(message.at("/payload/taskId")).get(str(message.at("/from")))

    def see(self, message: Message) -> None:
        """Take over an assignment, or an end."""
        task = self.of(message.at("/payload/taskId"))
        if message.is_a([ASSIGNED]):
            held = task.get(str(message.at("/to")))
            if held is None or held.end is not None:
                task[str(message.at("/to"))] = _Assignment(message)
        elif message.is_a(ENDS) and not any(one.order for one in task.values()):
            task.setdefault(str(message.at("/from")), _Assignment()).end = message
        elif message.is_a(ENDS) and (mine := self.mine(message)) is not None:
            mine.end = message


class Once:
    """OSSA-LIF-002: a task ends once for the agent that was assigned it, and nothing about it follows.

    What failed may be assigned again, what was completed may not. Shown by a task that was seen to
    be assigned and to end, and of which nothing more was heard.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._tasks = _Tasks()
        self._ended: dict[tuple[str, str], Message] = {}

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per message after the end."""
        for key in [key for key, end in self._ended.items() if seen.may_hide(key[0], end.party)]:
            del self._ended[key]
        message = new_message(seen)
        if message is None or not message.is_a([ASSIGNED, *ENDS]):
            return
        task = str(message.at("/payload/taskId"))
        end = self._completed(message) if message.is_a([ASSIGNED]) else self._ending(message)
        self._tasks.see(message)
        mine = self._tasks.mine(message)
        if end is not None:
            self._ended.pop((task, str(end.at("/from"))), None)
            said = f"{task} had ended with {end.name}, and {message.name} says something more"
            yield failed(self._requirement, message, said, "/payload/taskId", actual=message.name)
        elif mine is not None and mine.order is not None and mine.end is message:
            self._ended[task, str(message.at("/from"))] = message

    def _completed(self, message: Message) -> Message | None:
        """The completion that an assignment comes after, by whomever it was."""
        held = self._tasks.of(message.at("/payload/taskId")).values()
        ends = (one.end for one in held if one.end is not None and one.end.is_a([COMPLETED]))
        return next((end for end in ends if made_before(end, message)), None)

    def _ending(self, message: Message) -> Message | None:
        """The end that the agent had already told."""
        mine = self._tasks.mine(message)
        return mine.end if mine is not None else None

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding for each task that stayed ended."""
        if complete:
            yield from (passed(self._requirement, message) for message in self._ended.values())


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
        self._open: dict[tuple[str, str], Message] = {}
        self._heard: set[tuple[str, str]] = set()
        self._from_start: set[str] = set()
        self._parties: dict[str, str] = {}

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per end of an assigned task."""
        if isinstance(seen.event, Opened):
            self._from_start.add(seen.event.connection)
        message = seen.message
        if message is None or message.kind is None:
            self._drop(key for key in self._open if seen.loses(key[0]))
            return
        agent = str(message.at("/from"))
        self._heard |= {key for key in self._open if key[1] == agent}
        if message.known_party:
            self._parties[agent] = message.party
        if message.is_a([ASSIGNED]):
            self._assigned(message, again=seen.again)
        elif message.is_a(ENDS) and not seen.again:
            yield from self._ended(message)

    def _assigned(self, message: Message, *, again: bool) -> None:
        task = message.at("/payload/taskId")
        key = str(task), str(message.at("/to"))
        if message.at("/status") == "failed":
            self._drop([key])
        elif not again and isinstance(task, str):
            held = self._tasks.of(task).get(key[1])
            self._tasks.see(message)
            is_new = held is None or (held.end is not None and not made_before(message, held.end))
            if is_new and self._is_valid(message):
                self._open[key] = message

    def _is_valid(self, message: Message) -> bool:
        """What is not valid asks nothing of anybody."""
        kind = message.kind
        return kind is not None and self._pack.schemas().is_valid(kind.schema, message.value)

    def _ended(self, message: Message) -> Iterable[Finding]:
        task, agent = str(message.at("/payload/taskId")), str(message.at("/from"))
        self._tasks.see(message)
        if self._open.pop((task, agent), None) is not None:
            yield passed(self._requirement, message)
            return
        mine = self._tasks.mine(message)
        if mine is None or mine.order is None:
            self._drop(key for key in self._open if task == key[0] or agent == key[1])

    def _drop(self, keys: Iterable[tuple[str, str]]) -> None:
        for key in list(keys):
            self._open.pop(key, None)

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding for each task that was still open."""
        for (task, agent), message in self._open.items() if complete else ():
            if (task, agent) not in self._heard and message.event.connection not in self._from_start:
                continue
            said = f"the stream ended, and {agent} never said how {task} did, which it was assigned"
            finding = failed(self._requirement, message, said)
            yield finding._replace(party=self._party(agent, message))

    def _party(self, agent: str, message: Message) -> str:
        """The role of an agent: that in which it spoke, else the one that was spoken to."""
        return self._parties.get(agent) or (self._pack.peer_of(message.party) if message.known_party else "")


class Assigned:
    """OSSA-COR-001: an end is of a task that was assigned, and comes from the agent to which it was.

    Judged where the record has the task's assignment, or an earlier one to the same agent, and nothing
    shows that it lacks some. Messages may overtake each other: an assignment that was made before the end
    may come after it.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._schemas = pack.schemas()
        self._assignees: dict[str, list[str]] = {}
        self._busy: set[str] = set()
        self._older: set[str] = set()
        self._lost: set[str] = set()
        self._gap = False
        self._early: list[tuple[Message, Finding]] = []

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per end of a task that was assigned to who tells it."""
        self._gap = self._gap or seen.lost is None
        if seen.message is not None and seen.message.kind is None:
            self._lost |= seen.lost or frozenset()
        message = new_message(seen)
        if message is None or not message.is_a([ASSIGNED, *ENDS]):
            return
        task = message.at("/payload/taskId")
        if message.is_a([ASSIGNED]):
            self._assignees.setdefault(str(task), []).append(str(message.at("/to")))
            self._busy.add(str(message.at("/to")))
            self._early = [row for row in self._early if not _is_order_of(message, row[0])]
        elif isinstance(task, str) and self._schemas.is_valid(AGENT, message.at("/from")):
            for finding in self._judge(message, task, str(message.at("/from"))):
                if finding.ok:
                    yield finding
                else:
                    self._early.append((message, finding))

    def _judge(self, message: Message, task: str, agent: str) -> Iterable[Finding]:
        assignees = self._assignees.get(task, [])
        if agent in assignees:
            yield passed(self._requirement, message)
        elif task in self._lost or self._gap:
            return
        elif assignees:
            said = f"{task} was assigned to {', '.join(assignees)}, and {agent} tells of its end"
            yield failed(self._requirement, message, said, "/from", expected=assignees, actual=agent)
        elif agent not in self._busy or agent in self._older:
            self._older.add(agent)  # it was assigned tasks before the record began
        else:
            said = f"{task} was never assigned to {agent}"
            yield failed(self._requirement, message, said, "/payload/taskId", actual=task)

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding per end of a task that was not assigned to who told it."""
        if complete and not self._gap:
            yield from (finding for _, finding in self._early)


def _is_order_of(order: Message, end: Message) -> bool:
    """Whether an assignment is the one that an end is about, though it comes after it."""
    mine = order.at("/payload/taskId"), order.at("/to")
    return mine == (end.at("/payload/taskId"), end.at("/from")) and not made_before(end, order)


class Retries:
    """OSSA-TSK-002: retryCount of a failed task is not above maxRetries of its assignment."""

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._tasks = _Tasks()

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per failure of a task whose assignment says how often it may be tried again."""
        message = new_message(seen)
        if message is None:
            return
        mine = self._tasks.mine(message) if message.is_a([FAILED]) else None
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
        at = "/payload/completedAt" if message.is_a([COMPLETED]) else "/payload/failedAt"
        ended, assigned = instant(message.at(at)), created(order)
        due = instant(order.at("/payload/deadline")) if message.is_a([COMPLETED]) else None
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
