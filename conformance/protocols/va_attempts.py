"""va-agent-protocol: execution attempts, each with a correlationId of its own, and what replaces one.

Another attempt at a task has another correlationId, and replaces the one before if that had not ended:
its results count no longer, and nobody waits for its end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from conformance import jsontext
from conformance.checks import Follower, Moved, Observation, failed, in_role, passed, same, timed
from conformance.checks.movement import Moves
from conformance.correlation import Message
from conformance.events import JSON
from conformance.findings import Finding, Requirement
from conformance.instants import instant
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


def time_of(message: Message) -> Fraction | None:
    """The message's timestamp in seconds, or None where it is none (which is the schema's matter)."""
    return instant(message.at("/timestamp"))


@dataclass(slots=True)
class Attempt:
    """One attempt: its dispatch, and the first messages of each sort about it."""

    dispatch: Message
    heard: Message | None = None
    """The first that the agent said of it."""
    accepted: Message | None = None
    result: Message | None = None
    over: bool = False
    """Whether it completed, failed or was cancelled."""
    replaced: Message | None = None
    """The dispatch of the same task that came before it was over."""


class Attempts:
    """The attempts of a record by correlationId, as far as they were seen to be dispatched.

    It is shown every observation, and knows what was said before the one that it was shown last: `message`
    is what that one says of an attempt, `attempt` the one that it is about, `replaces` the one that it
    replaces. Of those that are over, the latest are remembered.
    """

    def __init__(self) -> None:
        self.message: Message | None = None
        self.attempt: Attempt | None = None
        self.replaces: Attempt | None = None
        self._known: dict[str, Attempt] = {}
        self._latest: dict[str, Attempt] = {}
        self._over: dict[str, None] = {}
        self._now: Observation | None = None

    @staticmethod
    def shared_in(shared: dict[str, Any]) -> Attempts:
        """The attempts that all checks of one stream have in common."""
        attempts: Attempts = shared.setdefault("va attempts", Attempts())
        return attempts

    def attend(self, seen: Observation) -> bool:
        """Take over what was said before; whether this is a message about an attempt, from its own side."""
        if seen is not self._now:
            self.catch_up()
            self._now = seen
            message = from_its_side(seen)
            self.message = message = message if message and message.is_a(ABOUT) else None
            self.attempt = self._of(message) if message else None
            self.replaces = self._replaced_by(message) if message and message.is_a(("dispatch",)) else None
        return self.message is not None

    def catch_up(self) -> None:
        """Take over what was said last."""
        message, attempt = self.message, self.attempt
        self.message = None
        if message is None:
            return
        if message.is_a(("dispatch",)):
            self._begin(message)
        elif attempt is not None:
            _follow(attempt, message)
            if attempt.over:
                self._end(attempt)

    def _of(self, message: Message) -> Attempt | None:
        correlation = message.at("/correlationId")
        return self._known.get(correlation) if isinstance(correlation, str) else None

    def _replaced_by(self, message: Message) -> Attempt | None:
        """The attempt at the same task that was not over, if this is another order and no repetition."""
        known, task = self.attempt, message.at("/payload/task/id")
        if not isinstance(message.at("/correlationId"), str) or not isinstance(task, str):
            return None
        before = self._latest.get(task)
        if before is None or before is known or before.over or (known and _is_same_order(known, message)):
            return None
        return before

    def _begin(self, message: Message) -> None:
        correlation, task = message.at("/correlationId"), message.at("/payload/task/id")
        if not isinstance(correlation, str) or not isinstance(task, str):
            return
        if self.attempt is not None and _is_same_order(self.attempt, message):
            return
        self._known[correlation] = self._latest[task] = Attempt(message)
        self._over.pop(correlation, None)
        if self.replaces is not None:
            self.replaces.replaced = message

    def _end(self, attempt: Attempt) -> None:
        self._over[str(attempt.dispatch.at("/correlationId"))] = None
        for name in oldest(self._over, REMEMBERED_MESSAGES):
            forgotten, _ = self._known.pop(name), self._over.pop(name)
            task = str(forgotten.dispatch.at("/payload/task/id"))
            if self._latest.get(task) is forgotten:
                del self._latest[task]


def _is_same_order(attempt: Attempt, message: Message) -> bool:
    """Whether a dispatch is one that is only delivered again."""
    return same(attempt.dispatch.value, message.value)


def _follow(attempt: Attempt, message: Message) -> None:
    if message.is_a(REPORTS):
        attempt.heard = attempt.heard or message
    if message.is_a(("accepted",)):
        attempt.accepted = attempt.accepted or message
    elif message.is_a(RESULTS):
        attempt.result = attempt.result or message
    attempt.over = attempt.over or message.is_a(_OVER)


_OVER = ("completed", "failed", "cancel")


class Superseded:
    """VA-COR-004: no result comes from an attempt that was replaced while it ran.

    What was under way counts for nothing: it has a timestamp that is later than that of the dispatch
    by no more than the parameter `grace` (in seconds). Judged where the later dispatch went over the
    connection on which the result comes, since otherwise its speaker may not know of it. Shown by a
    replaced attempt of which the agent had spoken and no result came.
    """

    hears = ("dispatch", *RESULTS)

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
        if seen.loses_any:
            self._replaced = [one for one in self._replaced if not _may_be_heard(one, seen)]
        attempts = self._attempts
        attempts.attend(seen)
        message, attempt = attempts.message, attempts.attempt
        if attempts.replaces is not None and seen.praise:
            self._replaced.append(attempts.replaces)
        if message is None or attempt is None or attempt.over or not message.is_a(RESULTS):
            return ()
        return self._judge(message, attempt)

    def _judge(self, message: Message, attempt: Attempt) -> Iterable[Finding]:
        by = attempt.replaced
        if by is None or by.event.connection != message.event.connection:
            return
        when, since = time_of(message), time_of(by)
        if when is None or since is None:
            return
        lapse = told(when - since, by.event, message.event)
        late = lapse.exceeds(self._grace)
        if late is False:
            return
        said = (
            f"{message.name} of {shown(message.at('/correlationId'))}, which a later attempt at the same "
            f"task, {shown(by.at('/correlationId'))}, has replaced"
        )
        told_id = message.at("/correlationId")
        found = failed(self._requirement, message, said, "/correlationId", actual=told_id)
        yield timed(found, lapse, late)

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding for each replaced attempt that kept silent."""
        self._attempts.catch_up()
        for attempt in self._replaced if complete else ():
            if attempt.heard is not None and attempt.result is None and not attempt.over:
                yield passed(self._requirement, attempt.heard)


def _may_be_heard(attempt: Attempt, seen: Observation) -> bool:
    """Whether something that could not be understood may be more of what was said of the attempt."""
    heard = attempt.heard
    return heard is not None and seen.may_hide(str(heard.at("/correlationId")), heard.party)


class Ending:
    """VA-LIF-003: an execution that began ends, or says why it cannot go on, before the stream ends.

    Judged for those that were seen to begin. Who moves one out of the `open` states of the `lifecycle` has
    ended it; where the other side does so (a cancel), nothing is shown of anyone. Nobody waits for an
    attempt that was replaced.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._moves = Moves(spec["parameters"], pack)
        self.hears = self._moves.hears | {"dispatch"}
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
        if seen.loses_any:
            for name in [name for name, said in self._open.items() if seen.may_hide(name, said.party)]:
                del self._open[name]  # what could not be understood may have ended it
        self._attempts.attend(seen)
        replaced = self._attempts.replaces
        if replaced is not None:
            self._replaced[str(replaced.dispatch.at("/correlationId"))] = None
            forget_oldest(self._replaced)
        return [
            passed(self._requirement, spoken)
            for spoken, moved in self._moves.of(seen)
            if self._ends(spoken, moved) and seen.praise
        ]

    def _ends(self, message: Message, moved: Moved) -> bool:
        """Whether its own side ends an execution that was open."""
        move = moved.move
        is_open = move.target in self._states
        if moved.report or move.illegal or (move.before is None and is_open):
            return False
        if move.before == self._moves.lifecycle.initial:
            self._begun[move.entity] = None
            forget_oldest(self._begun)
        if is_open and move.entity in self._begun:
            self._open.setdefault(move.entity, message)
        elif not is_open and move.entity in self._open:
            return message.party == self._open.pop(move.entity).party
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

    hears = ("TaskExecution",)

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
