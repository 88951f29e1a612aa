"""ATEP: the way of a run over its steps, as far as the record shows it.

The order of the steps is known where a wrapped input lists them, else as the run shows it. What is not
known is taken as it is found, and so is everything after a fault: one fault is one finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from conformance.correlation import Message
from conformance.lifecycles import Lifecycle
from conformance.protocols.atep_exchange import Input, Remark
from conformance.remembered import forget_oldest
from conformance.wording import shown

LINKS = 200
"""So many steps that a run showed are remembered in their order; of more, less is known of their order."""


@dataclass(slots=True)
class Order:
    """Which step comes after which: as the workflow lists them, or by the `links` that a run showed."""

    listed: tuple[str, ...] = ()
    links: dict[str, str] = field(default_factory=dict)
    begun_at: str | None = None

    @property
    def first(self) -> str | None:
        """The first step, where it is known."""
        return self.listed[0] if self.listed else self.begun_at

    def may_begin(self, step: str) -> bool:
        """Whether a run may begin with the step."""
        if self.first is not None:
            return step == self.first
        return step not in self.links.values()

    def may_end(self, step: str) -> bool:
        """Whether a run may end with the step."""
        return step == self.listed[-1] if self.listed else step not in self.links

    def ends(self, step: str) -> bool:
        """Whether the step is known to be the last."""
        return bool(self.listed) and step == self.listed[-1]

    def after(self, step: str) -> str | None:
        """The step after this one, where it is known."""
        if not self.listed:
            return self.links.get(step)
        place = self.listed.index(step) + 1 if step in self.listed else len(self.listed)
        return self.listed[place] if place < len(self.listed) else None

    def before(self, step: str) -> str | None:
        """The step before this one, where it is known."""
        if not self.listed:
            return next((one for one, other in self.links.items() if other == step), None)
        place = self.listed.index(step) if step in self.listed else 0
        return self.listed[place - 1] if place else None

    def may_follow(self, step: str, other: str) -> bool:
        """Whether `other` may be the step after `step`."""
        known = self.after(step)
        if self.listed or known is not None:
            return other == known
        if other in (step, self.first) or self.before(other) is not None:
            return False
        return other not in self._all_before(step)

    def _all_before(self, step: str) -> Iterator[str]:
        before = self.before(step)
        while before is not None:
            yield before
            before = self.before(before)

    def learn(self, step: str, other: str) -> None:
        """A run went from one step to the other."""
        if not self.listed and other != step:
            self.links[step] = other
            forget_oldest(self.links, LINKS)


class Answer(NamedTuple):
    """What an output said of a step. `status` and `action` are two of the listed words, or None."""

    step: str
    status: object
    action: object


class Route(NamedTuple):
    """Where a run goes from an answer.

    `way` is `next`, `same`, `previous`, `first`, `resumed`, or `nowhere`; `rule` judges an input that
    goes another way; `state` is the run's state in the table; `why` says it for a person.
    """

    way: str
    rule: str
    state: str
    why: str

    def leads_to(self, step: str, here: str, order: Order) -> bool:
        """Whether `step` may be what is asked after `here`."""
        if self.way == "nowhere":
            return False
        if self.way == "first":
            return order.may_begin(step)
        if order.listed and here not in order.listed and self.way != "same":
            return True  # a step that the workflow does not list stands nowhere in its order
        if self.way == "previous":
            return order.may_follow(step, here)
        if step == here:
            return self.way in ("same", "resumed")
        return self.way in ("next", "resumed") and order.may_follow(here, step)

    def wanted(self, here: str, order: Order) -> tuple[str, ...]:
        """The steps that it names, where they are known."""
        named: dict[str, list[str | None]] = {
            "next": [order.after(here)],
            "same": [here],
            "previous": [order.before(here)],
            "first": [order.first],
            "resumed": [here, order.after(here)],
        }
        return tuple(step for step in named.get(self.way, ()) if step is not None)


@dataclass(slots=True)
class Run:
    """One run, as far as it is known.

    `answer` is what the last input's output said; None before it came, or where nobody knows. `attempt`
    is at least which attempt at its step the last input was, `limit` how many there may be, if it is
    said. It is `astray` with an input that did not follow, and then its answer leads nowhere: what comes
    next may go on from either place.
    """

    table: Lifecycle
    order: Order = field(default_factory=Order)
    last: Input | None = None
    answer: Answer | None = None
    attempt: int = 1
    limit: int | None = None
    astray: bool = False

    def lose(self) -> None:
        """Something could not be read: nobody knows any longer where the run stands."""
        self.answer = None
        self.last = None

    def route(self) -> Route | None:
        """Where the run goes now, by "Routing semantics"; None where that is not known."""
        if self.answer is None:
            return None
        step, status, action = self.answer
        if status == "FAILED":
            return Route("nowhere", "ended", "failed", f"{step} FAILED")
        if status == "YIELD_EXTERNAL" and action == "PROCEED":
            return Route("resumed", "routing", "waiting_for_approval", f"{step} waited for somebody")
        if status == "SUCCESS" and action == "PROCEED":
            if self.order.ends(step):
                return Route("nowhere", "ended", "succeeded", f"{step}, the last step, succeeded")
            return Route("next", "routing", "running", f"{step} succeeded")
        return self._again(step, str(action)) if status == "QA_REJECTED" else None

    def _again(self, step: str, action: str) -> Route | None:
        why = f"{step} was rejected with {action}"
        if action == "RETRY_CURRENT":
            if self.limit is not None and self.attempt >= self.limit:
                return Route("nowhere", "attempts", "failed", f"{why} at attempt {self.attempt}")
            return Route("same", "routing", "running", why)
        if action == "ROLLBACK_PREVIOUS":
            if step == self.order.first:
                return Route("nowhere", "rollback", "failed", f"{why}, and no step is before it")
            return Route("previous", "routing", "running", why)
        return Route("first", "routing", "running", why) if action == "RESTART_ALL" else None

    def may_begin_anew(self, new: Input, route: Route | None) -> bool:
        """Whether an input may be the first of another run under the same id.

        One may be where the last run is over, or may be, or was given up with its connection; a run
        that has an id of its own is never another one.
        """
        if new.step is None or new.run is not None or new.attempt not in (None, 1):
            return False
        if not self.order.may_begin(new.step):
            return False
        if route is None or self.last is None or self.answer is None or self._may_be_over(route, self.answer):
            return True
        return new.message.event.connection != self.last.message.event.connection

    def _may_be_over(self, route: Route, answer: Answer) -> bool:
        """Whether nothing may come after the answer: where it waits, nobody need give what is awaited."""
        if route.way == "next":
            return self.order.may_end(answer.step)
        if route.way == "same":
            return self.limit is None
        if route.way == "previous":
            return self.order.before(answer.step) is None
        return route.way in ("nowhere", "resumed")


class Step(NamedTuple):
    """How an input follows from what its run had come to.

    It is of `another` run, or the `same` one for certain, or neither; `way` is the route that it took.
    """

    another: bool
    same: bool
    way: str = ""
    fault: Remark | None = None


def begin(run: Run, new: Input, whole: bool) -> Iterable[Remark]:
    """The first input of a run in the record; `whole` if the record has its connection from the start."""
    if not whole or not new.is_fresh or new.step is None:
        return
    if new.listed and new.step != new.listed[0]:
        said = f"the run begins with {shown(new.step)}, and the first step is {shown(new.listed[0])}"
        yield _against("routing", new, said, (new.listed[0],))
    elif not new.listed and new.needs:
        said = f"the run begins with {shown(new.step)}, which depends on {', '.join(map(shown, new.needs))}"
        yield _against("routing", new, said, new.needs)
    else:
        run.order.begun_at = new.step
        if new.listed:
            yield Remark("routing", True, new.message)


def go_on(run: Run, new: Input, route: Route | None) -> Step:
    """How another input of a run follows from the last answer; teaches the order what it shows."""
    anew = run.may_begin_anew(new, route)
    if route is None or run.answer is None or new.step is None:
        return Step(another=False, same=not anew)
    if route.way == "same" and new.step == run.answer.step and _is_too_often(run, new):
        return Step(another=False, same=False, fault=_too_often(run, new, new.step))
    if route.leads_to(new.step, run.answer.step, run.order):
        if not anew:
            _teach(run.order, route, run.answer.step, new.step)
        return Step(another=False, same=not anew, way=route.way)
    if anew:
        return Step(another=True, same=False)
    return Step(another=False, same=False, fault=_astray(run, new, new.step, route, run.answer.step))


def _is_too_often(run: Run, new: Input) -> bool:
    limit = new.limit if new.limit is not None else run.limit
    return limit is not None and max(run.attempt + 1, new.attempt or 1) > limit


def _too_often(run: Run, new: Input, step: str) -> Remark:
    limit = new.limit if new.limit is not None else run.limit
    attempt = max(run.attempt + 1, new.attempt or 1)
    said = f"this is attempt {attempt} at {shown(step)}, and the run allows {limit}"
    return _against("attempts", new, said, (limit,))


def _teach(order: Order, route: Route, here: str, step: str) -> None:
    if route.way == "previous":
        order.learn(step, here)
    elif route.way in ("next", "resumed"):
        order.learn(here, step)


def _astray(run: Run, new: Input, step: str, route: Route, here: str) -> Remark:
    """What is wrong with an input that goes another way than its run."""
    if not run.table.is_terminal(route.state):
        wanted = route.wanted(here, run.order)
        which = " or ".join(map(shown, wanted)) or f"the {route.way} step"
        said = f"{route.why}, which leads to {which}, and {shown(step)} is asked"
        return _against("routing", new, said, wanted)
    if route.rule == "attempts" and step == here:
        return _too_often(run, new, step)
    rule = "ended" if route.rule == "attempts" else route.rule
    said = f"the run has {route.state}: {route.why}; and {shown(step)} is asked all the same"
    return _against(rule, new, said)


def _against(rule: str, new: Input, said: str, expected: tuple[object, ...] = ()) -> Remark:
    return Remark(rule, False, new.message, said, f"{new.at}/step_context/step_id", expected, new.step)


def of_output(step: str | None, output: Message) -> Answer | None:
    """What an output says of the step that it answers; None where it does not say which step."""
    if step is None:
        return None
    return Answer(step, output.at("/execution_status"), output.at("/qa_routing/action"))
