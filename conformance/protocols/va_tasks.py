"""va-agent-protocol: where a task's inputs come from, and how long it may take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from conformance import jsontext
from conformance.checks import Follower, Observation, failed, passed, timed
from conformance.correlation import Message
from conformance.events import JSON
from conformance.findings import Finding, Requirement
from conformance.instants import Moment, instant
from conformance.integers import counter
from conformance.jsontext import getter
from conformance.lapses import told
from conformance.packs import Pack
from conformance.protocols.va_attempts import RESULTS, Attempts, Stamp, stamp_of, time_of
from conformance.wording import shown

REFERENCE = {"fromTask", "outputKey"}
"""The members of an InputRef; a value that has these and no others is one."""


class Inputs:
    """VA-TSK-001: an input that refers to another task's output names a task of `dependsOn`."""

    stateless = True
    hears: ClassVar[Iterable[str]] = ("dispatch", "TaskUnit")

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per reference to another task, else one for a task that has references."""
        message = seen.message
        if message is None or message.name not in self.hears:
            return ()
        is_whole = message.name == "TaskUnit"
        task = message.value if is_whole else _task_of(message.value)
        references = _references(task.get("inputs")) if type(task) is dict else ()
        depends = task.get("dependsOn", []) if references else None
        if type(depends) is not list:
            return ()
        broken = [reference for reference in references if reference[1] not in depends]
        if not (broken or seen.praise) or not all(isinstance(one, str) for one in depends):
            return ()
        if not broken:
            return [passed(self._requirement, message)]
        at = "/inputs" if is_whole else "/payload/task/inputs"
        return [self._broken(message, at, name, source, depends) for name, source in broken]

    def _broken(self, message: Message, at: str, name: str, source: JSON, depends: list[JSON]) -> Finding:
        said = f"{shown(source)} is no task of dependsOn, which has {_listed(depends)}"
        place = at + jsontext.pointer([name, "fromTask"])
        return failed(self._requirement, message, said, place, expected=depends, actual=source)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each task is judged when it is seen."""
        return ()


_task_of = getter("/payload/task")

References: TypeAlias = list[tuple[str, JSON]]
"""The input that refers to another task's output, and that task."""


def _references(inputs: JSON) -> References:
    if type(inputs) is not dict:
        return []
    return [
        (name, value["fromTask"])
        for name, value in inputs.items()
        if type(value) is dict and len(value) == 2 and value.keys() == REFERENCE
    ]


def _listed(depends: list[JSON]) -> str:
    return ", ".join(shown(one) for one in depends) or "none"


class Timeout:
    """VA-TSK-002: the first result comes within `timeout` milliseconds of acceptance, by the agent's clock.

    Judged by the timestamps of `accepted` and of the first completed, failed or blocked message, where
    the dispatch was seen and its timeout is above 0. What an attempt does after it was blocked, replaced
    or cancelled has no limit that anybody stated.
    """

    hears: ClassVar[Iterable[str]] = RESULTS

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._attempts = Attempts()

    def joins(self, shared: dict[str, Any]) -> Follower:
        """The attempts that others look at too."""
        self._attempts = Attempts.shared_in(shared)
        return self._attempts

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per first result of an attempt that has a limit."""
        attempts, message = self._attempts, seen.message
        attempt = attempts.attempt
        if message is None or attempt is None or attempts.was_answered or attempts.was_over:
            return ()
        if attempt.accepted is None or attempt.replaced is not None:
            return ()
        limit = counter(attempt.limit)
        if not limit or (not seen.praise and _is_plainly_in_time(attempt.accepted, message, limit)):
            return ()
        return self._judge(message, attempt.accepted, limit)

    def _judge(self, message: Message, accepted: Stamp, limit: int) -> Iterable[Finding]:
        begun, ended = instant(accepted.text), time_of(message)
        if begun is None or ended is None or ended < begun:
            return
        took = ended - begun
        lapse = told(took, accepted, message.event)
        late = lapse.exceeds(Fraction(limit, 1000))
        if late is False:
            yield passed(self._requirement, message)
            return
        said = (
            f"{message.name} is of {_milliseconds(took)} ms after accepted, and the task's timeout is {limit}"
        )
        found = failed(self._requirement, message, said, "/timestamp", actual=message.at("/timestamp"))
        yield timed(found, lapse, late)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: an attempt that never ends is another requirement's matter."""
        return ()


def _is_plainly_in_time(accepted: Stamp, message: Message, limit: int) -> bool:
    """Whether it is sure at once that a result did not take more than so many milliseconds.

    Python reads more texts as date-times than are; of those, nothing is said anyway. It cuts what is less
    than a microsecond, so the last second does not count.
    """
    try:
        took = datetime.fromisoformat(stamp_of(message.value)) - datetime.fromisoformat(accepted.text)
    except (TypeError, ValueError):
        return False
    return (took.days * 86_400 + took.seconds + 1) * 1000 <= limit


def _milliseconds(seconds: Moment) -> str:
    return f"{float(seconds * 1000):.15g}"


class History:
    """VA-LIF-004: the transitions of a TaskExecution begin at the initial state, each goes on from where
    the one before arrived, the last arrives at `currentState`, and the lifecycle's table lists each.

    The parameter `lifecycle` names the table. Staying in a state is no transition.
    """

    stateless = True
    hears: ClassVar[Iterable[str]] = ("TaskExecution",)

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._table = pack.lifecycles[spec["parameters"]["lifecycle"]][0]

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per break of the chain, else one for a record that has one and can be read."""
        message = seen.message
        if message is None or not message.is_a(["TaskExecution"]):
            return
        rows = message.at("/transitions")
        if isinstance(rows, list):
            holds = bool(rows) and self._is_readable(message.value, rows)
            yield from [*self._broken(message, rows)] or [passed(self._requirement, message)] * holds

    def _is_readable(self, record: JSON, rows: list[JSON]) -> bool:
        """Whether every state of the record is one; else nobody can say that its chain is whole."""
        named = [(record, "currentState"), *((row, name) for row in rows for name in ("from", "to"))]
        return all(self._state(row, name) is not None for row, name in named)

    def _broken(self, message: Message, rows: list[JSON]) -> Iterator[Finding]:
        state: JSON = self._table.initial
        for index, row in enumerate(rows):
            source, target = (self._state(row, name) for name in ("from", "to"))
            at = f"/transitions/{index}"
            if None not in (state, source) and source != state:
                said = f"it goes on from {source}, and the execution was {state}"
                yield failed(self._requirement, message, said, f"{at}/from", expected=(state,), actual=source)
            elif None not in (source, target) and (source, target) not in self._table.transitions:
                yield self._unlisted(message, f"{at}/to", str(source), target)
            state = target
        current = self._state(message.value, "currentState")
        if None not in (state, current) and current != state:
            said = f"the execution is said to be {current}, and its transitions leave it {state}"
            yield failed(self._requirement, message, said, "/currentState", expected=(state,), actual=current)

    def _state(self, row: JSON, name: str) -> str | None:
        """A state by its name; None where it is none, which is the schema's matter."""
        state = row.get(name) if isinstance(row, dict) else None
        return state if isinstance(state, str) and state in self._table.classes else None

    def _unlisted(self, message: Message, at: str, source: str, target: JSON) -> Finding:
        allowed = [arrives for starts, arrives in self._table.transitions if starts == source]
        said = f"from {source} the table allows {', '.join(allowed) or 'nothing'}, and not {target}"
        return failed(self._requirement, message, said, at, expected=allowed, actual=target)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each record is judged when it is seen."""
        return ()
