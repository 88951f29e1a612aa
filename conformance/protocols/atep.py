"""ATEP: what a conversation shows that no single envelope does: answers, the way of a run, its context.

An output names a step and no run, so that no table can move a run by it: the runs are followed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance.checks import Follower, Observation, failed, in_role, passed
from conformance.correlation import Message
from conformance.events import Opened
from conformance.findings import Finding, Requirement
from conformance.packs import Pack
from conformance.protocols import atep_exchange as exchange
from conformance.protocols import atep_routing as routing
from conformance.protocols.atep_exchange import Asked, Input, Line, Remark
from conformance.protocols.atep_payloads import Payloads
from conformance.remembered import REMEMBERED_MESSAGES, forget_oldest, recall
from conformance.wording import shown

STEPS = 1_000
"""So many steps of one run are remembered, the latest."""

CHANGES = 100
"""So many changes of what a run is for are."""


class Conversation:
    """One `rule` of the conversation of an engine and an adapter.

    The rules: `step` and `answer` (an output is of the step that was asked, and there is one for each
    input), `routing`, `ended`, `rollback` and `attempts` (which input may follow), `context` and
    `previous` (what an input says of its run).
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._rule = spec["parameters"]["rule"]
        self._record = _Record(pack)

    def joins(self, shared: dict[str, Any]) -> Follower:
        """The record that all rules look at."""
        self._record = shared.setdefault("atep", self._record)
        return self._record

    def see(self, seen: Observation) -> Iterable[Finding]:
        """The findings of the rule that this event settles."""
        self._record.attend(seen)
        remarks = self._record.remarks.get(self._rule)
        return [self._finding(one) for one in remarks if seen.praise or not one.ok] if remarks else ()

    def end(self, complete: bool) -> Iterable[Finding]:
        """The findings of the rule that only the end settles."""
        self._record.finish(complete)
        return map(self._finding, self._record.remarks.get(self._rule, ()))

    def _finding(self, one: Remark) -> Finding:
        if one.ok:
            return passed(self._requirement, one.message)
        about = self._requirement, one.message, one.text, one.pointer
        finding = failed(*about, expected=one.expected, actual=one.actual)
        return finding._replace(party=one.party) if one.party else finding


@dataclass(slots=True)
class _Followed:
    """A run with what its steps made and what it is for."""

    run: routing.Run
    payloads: Payloads = field(default_factory=Payloads)
    steps: dict[str, None] = field(default_factory=dict)
    all_steps: bool = True
    """Whether none of its steps is forgotten."""
    workflow: str | None = None
    objective: Any = None
    said: set[tuple[str, str]] = field(default_factory=set)
    """What its inputs said it is for, and of which workflow: a change back is no second change."""
    losses: tuple[int, int] = (0, 0)
    """How many losses of its record it knows of."""


class _Record:
    """All connections and runs of one record. Runs are kept apart by their ids, wherever they go on. The
    latest runs are remembered: one that goes on after that is as one from before the record.
    """

    def __init__(self, pack: Pack) -> None:
        self._table = pack.lifecycles["run"][0]
        self._lines: dict[str, Line] = {}
        self._runs: dict[tuple[str, str], _Followed] = {}
        self._forgot = False
        self._losses = (0, 0)
        """How often nobody knew any longer where the runs stand; and how often, which there are."""
        self._now: Observation | None = None
        self._finished = False
        self.remarks: dict[str, list[Remark]] = {}
        """What the observation settles that it was shown last, by the rule."""

    def attend(self, seen: Observation) -> bool:
        """See the observation, once; whether it settles anything."""
        if seen is not self._now:
            self._now = seen
            self._say(self._see(seen))
        return bool(self.remarks)

    def finish(self, complete: bool) -> None:
        """See the end, once."""
        if not self._finished:
            self._finished = True
            self._say(self._end(complete))

    def _say(self, remarks: Iterable[Remark]) -> None:
        self.remarks = {}
        for one in remarks:
            self.remarks.setdefault(one.rule, []).append(one)

    def _line(self, connection: str) -> Line:
        return recall(self._lines, connection, Line)

    def _run(self, key: tuple[str, str]) -> _Followed | None:
        """A run by its id, as far as it is known now."""
        followed = self._runs.get(key)
        if followed is not None and followed.losses != self._losses:
            _forget(followed)
            if followed.losses[1] != self._losses[1]:
                followed.workflow = followed.objective = None
                followed.said.clear()
            followed.losses = self._losses
        return followed

    def _see(self, seen: Observation) -> Iterator[Remark]:
        message = seen.message
        if isinstance(seen.event, Opened):
            self._line(seen.event.connection).whole = True
        elif message is not None and message.kind is not None:
            if in_role(message):
                yield from self._told(message)
        elif message is not None or seen.lost is None:
            self._lose(seen.event)

    def _lose(self, event: Any) -> None:
        self._line(event.connection).lose(event.party)
        self._forget_all(asked=event.party != "adapter")

    def _forget_all(self, *, asked: bool) -> None:
        """Nobody knows any longer where the runs stand, nor, if something may have been asked, which."""
        self._losses = self._losses[0] + 1, self._losses[1] + asked

    def _told(self, message: Message) -> Iterator[Remark]:
        line = self._line(message.event.connection)
        if message.is_a(("OutputEnvelope",)):
            asked, remarks = line.answer(message)
            yield from remarks
            if asked is not None:
                self._answered(asked, message)
            return
        new = exchange.read(message)
        line.ask(new)
        if new.key is None:  # it may be of any run
            self._forget_all(asked=True)
            return
        yield from self._asked(new, new.key, line.whole)

    def _answered(self, asked: Asked, output: Message) -> None:
        key = asked.input.key
        followed = self._run(key) if key is not None else None
        if followed is None or followed.run.last is not asked.input:
            return
        answer = routing.of_output(asked.input.step, output)
        if not asked.clear or answer is None or followed.run.astray:
            _forget(followed)
            return
        followed.run.answer = answer
        followed.payloads.take(*answer, output.at("/mutated_payload"))

    def _asked(self, new: Input, key: tuple[str, str], whole: bool) -> Iterator[Remark]:
        followed = self._run(key)
        if followed is None:
            followed = self._runs[key] = _Followed(routing.Run(self._table), losses=self._losses)
            self._forgot = forget_oldest(self._runs, REMEMBERED_MESSAGES) or self._forgot
            yield from routing.begin(followed.run, new, whole and not self._forgot)
            _take(followed, new)
            return
        run = followed.run
        run.order.listed = new.listed or run.order.listed
        route = run.route()
        step = routing.go_on(run, new, route)
        yield from _of_step(new, route, step, run)
        if step.another:
            followed.said.clear()
        if step.another or step.fault is not None:
            followed.payloads.clear()
        else:
            yield from _of_context(followed, new, step, route)
        _take(followed, new, again=step.way == "same", astray=step.fault is not None)

    def _end(self, complete: bool) -> Iterator[Remark]:
        for line in self._lines.values():
            yield from line.end(complete)
        runs = (self._run(key) for key in self._runs) if complete else ()
        for followed in runs:
            assert followed is not None, "it is one of them"
            last, route = followed.run.last, followed.run.route()
            if last is not None and route is not None and route.way == "nowhere":
                yield Remark(route.rule, True, last.message)


def _forget(followed: _Followed) -> None:
    followed.run.lose()
    followed.payloads.clear()


def _take(followed: _Followed, new: Input, *, again: bool = False, astray: bool = False) -> None:
    """The input is what its run now waits for an answer to; `again` if it repeats the step before."""
    run = followed.run
    run.attempt = max(run.attempt + 1 if again else 1, new.attempt or 1)
    run.limit = new.limit if new.limit is not None or not again else run.limit
    run.last, run.answer, run.astray = new, None, astray
    run.order.listed = new.listed or run.order.listed
    followed.workflow, followed.objective = new.workflow, new.objective
    if new.step is not None and new.step not in followed.steps:
        followed.steps[new.step] = None
    for step in new.listed:
        followed.steps[step] = None
    followed.all_steps = not forget_oldest(followed.steps, STEPS) and followed.all_steps


def _of_step(
    new: Input, route: routing.Route | None, step: routing.Step, run: routing.Run
) -> Iterator[Remark]:
    if step.fault is not None:
        yield step.fault
    elif route is not None and step.another and route.way == "nowhere":
        if run.answer is not None and new.step != run.answer.step:  # else it may be tried again
            yield Remark(route.rule, True, new.message)
    elif step.way and step.same:
        yield Remark("routing", True, new.message)
        if step.way == "same" and run.limit is not None:
            yield Remark("attempts", True, new.message)


def _of_context(
    followed: _Followed, new: Input, step: routing.Step, route: routing.Route | None
) -> Iterator[Remark]:
    if step.same:
        yield from _unchanged(followed, new)
    if new.step is not None:
        followed.payloads.drop(step.way, new.step)
        before = followed.run.order.before(new.step)
        awaited = route is None or route.way == "resumed" or not followed.all_steps
        yield from followed.payloads.judge(new, before, followed.steps, awaited)


def _unchanged(followed: _Followed, new: Input) -> Iterator[Remark]:
    """Whether the input says of its run what the one before said."""
    rows = [
        ("workflow_id", followed.workflow, new.workflow),
        ("primary_objective", followed.objective, new.objective),
    ]
    told = [row for row in rows if isinstance(row[1], str) and isinstance(row[2], str)]
    if len(followed.said) < CHANGES:
        followed.said |= {(name, before) for name, before, _ in told}
    known = len(followed.said) < CHANGES
    changed = [row for row in told if known and row[1] != row[2] and (row[0], row[2]) not in followed.said]
    for name, before, now in changed:
        said = f"{name} is {shown(now)}, and in the run's input before it was {shown(before)}"
        yield Remark("context", False, new.message, said, f"{new.at}/global_context/{name}", (before,), now)
    if told and all(before == now for _, before, now in told):
        yield Remark("context", True, new.message)
