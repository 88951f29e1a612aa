"""va-agent-protocol: execution attempts, each with a correlationId of its own, and what replaces one.

Another attempt at a task has another correlationId, and replaces the one before if that had not ended:
its results count no longer, and nobody waits for its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from conformance import jsontext
from conformance.checks import Follower, Moved, Observation, failed, in_role, passed, same, timed
from conformance.correlation import Message
from conformance.events import JSON
from conformance.findings import Finding, Requirement
from conformance.instants import Moment, instant
from conformance.jsontext import getter
from conformance.lapses import told
from conformance.packs import Pack
from conformance.remembered import REMEMBERED_MESSAGES, forget_oldest, oldest
from conformance.wording import shown

RESULTS = ["completed", "failed", "blocked"]
"""The kinds that end an attempt, or say why it cannot go on."""

REPORTS = ["accepted", "progress", *RESULTS]
"""The kinds that an agent sends."""

ABOUT = ("dispatch", "cancel", *REPORTS)
"""The kinds that are about an attempt."""


def from_its_side(seen: Observation) -> Message | None:
    """The message that is observed, where it is of a known kind and came from a side that sends it."""
    message = seen.message
    return message if message is not None and message.kind is not None and in_role(message) else None


def time_of(message: Message) -> Moment | None:
    """The message's timestamp in seconds, or None where it is none (which is the schema's matter)."""
    return instant(stamp_of(message.value))


execution_of, stamp_of = getter("/correlationId"), getter("/timestamp")
"""What gives a message's correlationId, and its timestamp."""

_task_of, _keys_of = getter("/payload/task"), getter("/outputContract/keys")


class Stamp(NamedTuple):
    """When something was said, by the clock of who said it; `late` as events have it."""

    text: JSON
    late: float


class Replacement(NamedTuple):
    """What remains of the dispatch of another attempt at the same task."""

    name: str
    connection: str
    text: JSON
    """Its timestamp."""
    late: float


@dataclass(slots=True)
class Attempt:
    """One attempt: what its dispatch asks for, and what was said about it since."""

    name: str
    """Its correlationId."""
    task: str
    order: str
    """The text of its dispatch."""
    limit: JSON
    """The task's timeout, as it stands there."""
    keys: JSON
    """The keys of its outputContract, as they stand there."""
    heard: Message | None = None
    """The first that the agent said of it, if anybody asks for praise."""
    accepted: Stamp | None = None
    answered: bool = False
    """Whether there was a result."""
    over: bool = False
    """Whether it completed, failed or was cancelled."""
    replaced: Replacement | None = None
    """What came before it was over."""

    def is_ordered_by(self, message: Message) -> bool:
        """Whether a dispatch is this one's, and only delivered again."""
        return message.event.text == self.order or same(jsontext.parse(self.order).value, message.value)


class Attempts:
    """The attempts of a record by correlationId, as far as they were seen to be dispatched.

    It is shown every observation before those who look at it: `attempt` is the one of which the agent tells
    a result, and `was_over` and `was_answered` say how it stood before; `replaces` is the one that a dispatch
    replaces. Of those that are over, the latest are remembered, and of those that never end.
    """

    def __init__(self) -> None:
        self.attempt: Attempt | None = None
        self.replaces: Attempt | None = None
        self.was_over = self.was_answered = False
        self._known: dict[str, Attempt] = {}
        self._latest: dict[str, Attempt] = {}
        self._over: dict[str, None] = {}
        self._following: dict[str, Callable[[Message, bool], None]] = {
            "dispatch": self._begin,
            "accepted": self._accept,
            "progress": self._hear,
            "cancel": self._cancel,
            **dict.fromkeys(RESULTS, self._answer),
        }

    @staticmethod
    def shared_in(shared: dict[str, Any]) -> Attempts:
        """The attempts that all checks of one stream have in common."""
        attempts: Attempts = shared.setdefault("va attempts", Attempts())
        return attempts

    def attend(self, seen: Observation) -> bool:
        """Whether this is a message about an attempt, from its own side; if so, it is taken in."""
        message = seen.message
        self.attempt = self.replaces = None
        follow = self._following.get(message.name) if message is not None else None
        if message is None or follow is None or message.kind is None:
            return False
        if message.known_party and not in_role(message):
            return False
        follow(message, seen.praise)
        return True

    def _of(self, message: Message) -> Attempt | None:
        name = execution_of(message.value)
        return self._known.get(name) if type(name) is str else None

    def _begin(self, message: Message, _: bool) -> None:
        name, whole = execution_of(message.value), _task_of(message.value)
        task = whole.get("id") if type(whole) is dict else None
        if type(name) is not str or type(task) is not str:
            return
        known, before = self._known.get(name), self._latest.get(task)
        if known is not None and known.is_ordered_by(message):
            return
        event, value = message.event, message.value
        if before is not None and before is not known and not before.over:
            before.replaced = Replacement(name, event.connection, stamp_of(value), event.late)
            self.replaces = before
        attempt = Attempt(name, task, event.text, whole.get("timeout"), _keys_of(whole))
        self._known[name] = self._latest[task] = attempt
        self._over.pop(name, None)
        self._forget(oldest(self._known))

    def _hear(self, message: Message, praise: bool) -> None:
        attempt = self._of(message) if praise else None
        if attempt is not None:
            attempt.heard = attempt.heard or message

    def _accept(self, message: Message, praise: bool) -> None:
        attempt = self._of(message)
        if attempt is not None and attempt.accepted is None:
            attempt.accepted = Stamp(stamp_of(message.value), message.event.late)
        if praise:
            self._hear(message, praise)

    def _answer(self, message: Message, praise: bool) -> None:
        self.attempt = attempt = self._of(message)
        if attempt is not None:
            self.was_over, self.was_answered = attempt.over, attempt.answered
            attempt.answered = True
            if message.name != "blocked":
                self._end(attempt)
        if praise:
            self._hear(message, praise)

    def _cancel(self, message: Message, _: bool) -> None:
        attempt = self._of(message)
        if attempt is not None:
            self._end(attempt)

    def _end(self, attempt: Attempt) -> None:
        attempt.over = True
        self._over[attempt.name] = None
        self._forget(oldest(self._over, REMEMBERED_MESSAGES))

    def _forget(self, names: list[str]) -> None:
        for name in names:
            forgotten = self._known.pop(name)
            self._over.pop(name, None)
            if self._latest.get(forgotten.task) is forgotten:
                del self._latest[forgotten.task]


class Superseded:
    """VA-COR-004: no result comes from an attempt that was replaced while it ran.

    What was under way counts for nothing: it has a timestamp that is later than that of the dispatch
    by no more than the parameter `grace` (in seconds). Judged where the later dispatch went over the
    connection on which the result comes, since otherwise its speaker may not know of it. Shown by a
    replaced attempt of which the agent had spoken and no result came.
    """

    hears: ClassVar[Iterable[str]] = ("dispatch", *RESULTS)

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._grace = Fraction(str(spec["parameters"]["grace"]))
        self._attempts = Attempts()
        self._replaced: list[Attempt] = []

    def joins(self, shared: dict[str, Any]) -> Follower:
        """The attempts that others look at too."""
        self._attempts = Attempts.shared_in(shared)
        return self._attempts

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per result that comes too late."""
        if not seen.plain and seen.loses_any:
            self._replaced = [one for one in self._replaced if not _may_be_heard(one, seen)]
        attempts, message = self._attempts, seen.message
        if attempts.replaces is not None and seen.praise:
            self._replaced.append(attempts.replaces)
        attempt = attempts.attempt
        if message is None or attempt is None or attempt.replaced is None or attempts.was_over:
            return ()
        return self._judge(message, attempt.replaced)

    def _judge(self, message: Message, by: Replacement) -> Iterable[Finding]:
        when, since = time_of(message), instant(by.text)
        if by.connection != message.event.connection or when is None or since is None:
            return
        lapse = told(when - since, by, message.event)
        late = lapse.exceeds(self._grace)
        if late is False:
            return
        told_id = message.at("/correlationId")
        said = (
            f"{message.name} of {shown(told_id)}, which a later attempt at the same "
            f"task, {shown(by.name)}, has replaced"
        )
        found = failed(self._requirement, message, said, "/correlationId", actual=told_id)
        yield timed(found, lapse, late)

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding for each replaced attempt that kept silent."""
        for attempt in self._replaced if complete else ():
            if attempt.heard is not None and not attempt.answered and not attempt.over:
                yield passed(self._requirement, attempt.heard)


def _may_be_heard(attempt: Attempt, seen: Observation) -> bool:
    """Whether something that could not be understood may be more of what was said of the attempt."""
    heard = attempt.heard
    return heard is not None and seen.may_hide(attempt.name, heard.party)


class Ending:
    """VA-LIF-003: an execution that began ends, or says why it cannot go on, before the stream ends.

    Judged for those that were seen to begin. Who moves one out of the `open` states of the `lifecycle` has
    ended it; where the other side does so (a cancel), nothing is shown of anyone. Nobody waits for an
    attempt that was replaced.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._table, rows = pack.lifecycles[spec["parameters"]["lifecycle"]]
        self.hears = frozenset(["dispatch", *(name for row in rows for name in row["on"])])
        self._states = frozenset(spec["parameters"]["open"])
        self._attempts = Attempts()
        self._begun: dict[str, None] = {}
        self._open: dict[str, Message] = {}
        self._replaced: dict[str, None] = {}

    def joins(self, shared: dict[str, Any]) -> Follower:
        """The attempts that others look at too."""
        self._attempts = Attempts.shared_in(shared)
        return self._attempts

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per execution that its own side moves out of the open states."""
        if not seen.plain and seen.loses_any:
            for name in [name for name, said in self._open.items() if seen.may_hide(name, said.party)]:
                del self._open[name]  # what could not be understood may have ended it
        replaced = self._attempts.replaces
        if replaced is not None:
            self._replaced[replaced.name] = None
            forget_oldest(self._replaced)
        message = seen.message
        if message is None or not seen.moved:
            return ()
        found = []
        for moved in seen.moved:
            if self._ends(message, moved) and seen.praise:
                found.append(passed(self._requirement, message))
        return found

    def _ends(self, message: Message, moved: Moved) -> bool:
        """Whether its own side ends an execution that was open."""
        move = moved.move
        entity, before, target, edge = move.entity, move.before, move.target, move.edge
        is_open = target in self._states
        if is_open and (before is None or entity in self._open):
            return False  # as mostly: it goes on
        if moved.report or (edge is None and before is not None) or moved.lifecycle != self._table.name:
            return False
        if before == self._table.initial:
            self._begun[entity] = None
            forget_oldest(self._begun)
        if not is_open:
            begun = self._open.pop(entity, None)
            return begun is not None and message.party == begun.party
        if entity in self._begun:
            self._open[entity] = message
        return False

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding for each execution that was still open when the stream ended."""
        for entity, message in self._open.items() if complete else ():
            if entity not in self._replaced:
                states = " or ".join(sorted(self._states))
                said = f"the stream ended, and {entity} was still {states}: no message ever ended it"
                yield failed(self._requirement, message, said)


class OneAttempt:
    """VA-COR-003: records of executions with one correlationId are of one attempt of one task."""

    hears: ClassVar[Iterable[str]] = ("TaskExecution",)

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._first: dict[str, Message] = {}

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per record that has its correlationId in common with an earlier one."""
        message = seen.message
        if message is None or not message.is_a(["TaskExecution"]):
            return
        correlation = message.at("/correlationId")
        if not isinstance(correlation, str):
            return
        first = self._first.setdefault(correlation, message)
        if first is message:
            return
        if same(_which(first), _which(message)):
            yield passed(self._requirement, message)
            return
        said = f"{shown(correlation)} names {_words(first)}, and here {_words(message)}"
        yield failed(self._requirement, message, said, "/correlationId", actual=correlation)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each record is judged when it is seen."""
        return ()


def _which(record: Message) -> list[JSON]:
    """The task and the number of the attempt, which is 1 where none is given."""
    number = jsontext.resolve(record.value, "/attempt")
    return [record.at("/taskId"), 1 if number is jsontext.MISSING else number]


def _words(record: Message) -> str:
    task, number = _which(record)
    return f"attempt {shown(number)} of {shown(task)}"
