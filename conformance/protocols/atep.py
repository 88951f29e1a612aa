"""ATEP: what a conversation shows that no single envelope does: answers, the way of a run, its context.

An output names a step and no run, so that no table can move a run by it: the runs are followed here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance.checks import Observation, failed, in_role, passed
from conformance.correlation import Message
from conformance.events import Opened
from conformance.findings import Finding, Requirement
from conformance.packs import Pack
from conformance.protocols import atep_exchange as exchange
from conformance.protocols import atep_routing as routing
from conformance.protocols.atep_exchange import Asked, Input, Line, Remark
from conformance.protocols.atep_payloads import Payloads
from conformance.wording import shown


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

    def see(self, seen: Observation) -> Iterable[Finding]:
        """The findings of the rule that this event settles."""
        return [self._finding(one) for one in self._record.see(seen) if one.rule == self._rule]

    def end(self, complete: bool) -> Iterable[Finding]:
        """The findings of the rule that only the end settles."""
        return [self._finding(one) for one in self._record.end(complete) if one.rule == self._rule]

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
    steps: set[str] = field(default_factory=set)
    workflow: str | None = None
    objective: Any = None
    said: set[tuple[str, str]] = field(default_factory=set)
    """What its inputs said it is for, and of which workflow: a change back is no second change."""


class _Record:
    """All connections and runs of one record. Runs are kept apart by their ids, wherever they go on."""

    def __init__(self, pack: Pack) -> None:
        self._table = pack.lifecycles["run"][0]
        self._lines: defaultdict[str, Line] = defaultdict(Line)
        self._runs: dict[tuple[str, str], _Followed] = {}

    def see(self, seen: Observation) -> Iterator[Remark]:
        message = seen.message
        if isinstance(seen.event, Opened):
            self._lines[seen.event.connection].whole = True
        elif message is not None and message.kind is not None:
            if in_role(message):
                yield from self._told(message)
        elif message is not None or seen.lost is None:
            self._lose(seen.event)

    def _lose(self, event: Any) -> None:
        self._lines[event.connection].lose(event.party)
        self._forget_all(asked=event.party != "adapter")

    def _forget_all(self, *, asked: bool) -> None:
        """Nobody knows any longer where the runs stand, nor, if something may have been asked, which."""
        for followed in self._runs.values():
            _forget(followed)
            if asked:
                followed.workflow = followed.objective = None
                followed.said.clear()

    def _told(self, message: Message) -> Iterator[Remark]:
        line = self._lines[message.event.connection]
        if message.is_a(["OutputEnvelope"]):
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
        followed = self._runs.get(key) if key is not None else None
        if followed is None or followed.run.last is not asked.input:
            return
        answer = routing.of_output(asked.input.step, output)
        if not asked.clear or answer is None or followed.run.astray:
            _forget(followed)
            return
        followed.run.answer = answer
        followed.payloads.take(*answer, output.at("/mutated_payload"))

    def _asked(self, new: Input, key: tuple[str, str], whole: bool) -> Iterator[Remark]:
        followed = self._runs.get(key)
        if followed is None:
            followed = self._runs[key] = _Followed(routing.Run(self._table))
            yield from routing.begin(followed.run, new, whole)
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

    def end(self, complete: bool) -> Iterator[Remark]:
        for line in self._lines.values():
            yield from line.end(complete)
        for followed in self._runs.values() if complete else ():
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
    followed.steps |= {*new.listed, *([new.step] if new.step is not None else ())}


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
        awaited = route is None or route.way == "resumed"
        yield from followed.payloads.judge(new, before, followed.steps, awaited)


def _unchanged(followed: _Followed, new: Input) -> Iterator[Remark]:
    """Whether the input says of its run what the one before said."""
    rows = [
        ("workflow_id", followed.workflow, new.workflow),
        ("primary_objective", followed.objective, new.objective),
    ]
    told = [row for row in rows if isinstance(row[1], str) and isinstance(row[2], str)]
    followed.said |= {(name, before) for name, before, _ in told}
    changed = [row for row in told if row[1] != row[2] and (row[0], row[2]) not in followed.said]
    for name, before, now in changed:
        said = f"{name} is {shown(now)}, and in the run's input before it was {shown(before)}"
        yield Remark("context", False, new.message, said, f"{new.at}/global_context/{name}", (before,), now)
    if told and all(before == now for _, before, now in told):
        yield Remark("context", True, new.message)
