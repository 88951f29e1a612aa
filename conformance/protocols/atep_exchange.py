"""ATEP: what an input says of its run, and which input each output answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from conformance.correlation import Message
from conformance.integers import counter
from conformance.patterns import matches
from conformance.remembered import REMEMBERED_MESSAGES, forget_oldest
from conformance.wording import shown


class Remark(NamedTuple):
    """What was seen of one rule of the conversation, by the rule's name; about the message's speaker
    unless `party` says whom.
    """

    rule: str
    ok: bool
    message: Message
    text: str = ""
    pointer: str = ""
    expected: tuple[Any, ...] = ()
    actual: Any = None
    party: str = ""


class Input(NamedTuple):
    """What an input says of its run; None, or nothing, where it does not say it as it should.

    `at` is the pointer of its envelope, `run` the run's own id (a wrapped input alone may have one),
    `attempt` and `limit` the attempt that it is and how many there may be, `listed` the ids of the
    workflow's steps in order, `needs` those that the step depends on.
    """

    message: Message
    at: str
    workflow: str | None
    step: str | None
    run: str | None = None
    attempt: int | None = None
    limit: int | None = None
    listed: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str] | None:
        """What keeps its run apart from others."""
        if self.run is not None:
            return "run", self.run
        return None if self.workflow is None else ("workflow", self.workflow)

    @property
    def previous(self) -> Any:
        """What the step before is said to have made."""
        return self.message.at(f"{self.at}/step_context/previous_output")

    @property
    def objective(self) -> Any:
        """What the run is for."""
        return self.message.at(f"{self.at}/global_context/primary_objective")

    @property
    def is_fresh(self) -> bool:
        """Whether nothing seems to have happened in its run: no output yet, no state, a first attempt."""
        state = self.message.at(f"{self.at}/global_context/global_state")
        return self.previous == {} and state == {} and self.attempt in (None, 1)


def read(message: Message) -> Input:
    """The input that a message is, bare or wrapped."""
    at = "/input_envelope" if message.is_a(["InputFile"]) else ""
    workflow = _text(message.at(f"{at}/global_context/workflow_id"))
    step = name(message.at(f"{at}/step_context/step_id"))
    if not at:
        return Input(message, at, workflow, step)
    return Input(
        message,
        at,
        workflow,
        step,
        run=_text(message.at("/run/runId")),
        attempt=counter(message.at("/run/attempt")),
        limit=_limit(message),
        listed=_listed(message),
        needs=tuple(_names(message.at("/step/dependsOn"))),
    )


def name(value: Any) -> str | None:
    """A step's id, or None where it is blank or none at all (which is the schema's matter)."""
    return value if isinstance(value, str) and matches(r"\S", value) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _names(values: Any) -> Iterator[str]:
    yield from (one for one in (values if isinstance(values, list) else ()) if isinstance(one, str))


def _limit(message: Message) -> int | None:
    """How many attempts the step may have: its own policy, else the workflow's, else the run's."""
    places = ("/step/retryPolicy/maxAttempts", "/workflow/defaultRetryPolicy/maxAttempts", "/run/maxAttempts")
    stated = (counter(message.at(place)) for place in places)
    return next((limit for limit in stated if limit is not None), None)


def _listed(message: Message) -> tuple[str, ...]:
    """The steps in the order in which they run; nothing where that is not certain.

    A list in which a step stands before one that it depends on is no order of running.
    """
    steps = message.at("/workflow/steps")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        return ()
    done: list[str] = []
    for step in steps:
        key = name(step.get("key"))
        if key is None or key in done or not set(_names(step.get("dependsOn"))) <= set(done):
            return ()
        done.append(key)
    return tuple(done)


ASKED = 100
"""So many inputs of one connection, of any run, wait for an output at a time; of more, the oldest is as one
that could not be read."""


@dataclass(slots=True, eq=False)
class Asked:
    """An input that has no output yet.

    It is not `sure` to have none where something could not be read since, and not `clear` which
    output is its own where another run asked for a step of the same id.
    """

    input: Input
    sure: bool = True
    clear: bool = True


@dataclass(slots=True)
class Line:
    """What was asked on one connection, and what came back.

    A line is `whole` if the record has it from its beginning. `strays` are outputs that named no step
    that was asked: each is an answer under a wrong id, or one too many; what comes next shows which.
    `early` are outputs before any input: the inputs may come another way, unless one comes this way too.
    `lost` counts what could not be read and may have been an input.
    """

    whole: bool = False
    heard: bool = False
    asked: list[Asked] = field(default_factory=list)
    steps: dict[str, None] = field(default_factory=dict)
    strays: list[tuple[Message, Asked]] = field(default_factory=list)
    early: deque[Message] = field(default_factory=lambda: deque(maxlen=REMEMBERED_MESSAGES))
    lost: int = 0
    late: deque[Remark] = field(default_factory=lambda: deque(maxlen=REMEMBERED_MESSAGES))

    def lose(self, party: str) -> None:
        """Something could not be read: an output, or an input, or either if nobody knows whose it was."""
        for one in self.asked:
            one.sure = False
        self.lost += party != "adapter"
        self.strays = []

    def ask(self, new: Input) -> None:
        """An input was sent."""
        for stray, wanted in list(self.strays):
            # Whoever goes on with a run has taken the stray for the answer.
            if wanted.input.key == new.key:
                self._misnamed(stray, wanted)
        if self.early:
            self.late += [self._unexplained(output) for output in self.early if self.whole]
            self.early.clear()
        self.heard = True
        self.asked.append(Asked(new))
        if len(self.asked) > ASKED:
            self._let_go(self.asked[0])
        if new.step is not None:
            self.steps[new.step] = None
            forget_oldest(self.steps)

    def _let_go(self, old: Asked) -> None:
        self.asked.remove(old)
        self.strays = [row for row in self.strays if row[1] is not old]
        self.lost += 1

    def answer(self, output: Message) -> tuple[Asked | None, list[Remark]]:
        """The input that an output answers, if it is certain which, and what is to be said of that."""
        step = name(output.at("/step_id"))
        named = [one for one in self.asked if step is not None and step == one.input.step]
        fitting = named or [one for one in self.asked if None in (step, one.input.step)]
        if not fitting:
            return None, [*self._unasked(output, step)]
        if step is not None and not named:
            self._doubt(one for one in self.asked if one not in fitting)
        if len({one.input.key for one in fitting}) > 1:
            for one in fitting:
                one.clear = False
        # What may have been answered already, by what could not be read, is not what this answers.
        first = next((one for one in fitting if one.sure), fitting[0])
        self.asked.remove(first)
        self._one_too_many(first)
        remarks = [Remark("answer", True, output)]
        if step is not None and step == first.input.step:
            remarks.append(Remark("step", True, output))
        return first, remarks

    def _unasked(self, output: Message, step: str | None) -> Iterator[Remark]:
        free = [one for one in self.asked if all(one is not wanted for _, wanted in self.strays)]
        if self.lost:
            self.lost -= 1
            self._doubt(free)
        elif self.asked:
            if len(free) == 1 and free[0].sure:
                self.strays.append((output, free[0]))
            else:
                self._doubt(free)
        elif not self.heard:
            self.early.append(output)
        elif self.whole or step in self.steps or step is None:
            yield self._unexplained(output)

    def _doubt(self, asked: Iterable[Asked]) -> None:
        """One of them, and nobody knows which, may have been answered under a wrong id."""
        for one in asked:
            one.sure = False

    def _unexplained(self, output: Message) -> Remark:
        said = f"an output of {shown(output.at('/step_id'))}, and no input before it waits for one"
        return Remark("answer", False, output, said)

    def _one_too_many(self, answered: Asked) -> None:
        """An input is answered after all, so what was taken for its answer answered nothing."""
        for stray, wanted in self.strays:
            if wanted is answered and (self.whole or stray.at("/step_id") in self.steps):
                self.late.append(self._unexplained(stray))
        self.strays = [row for row in self.strays if row[1] is not answered]

    def _misnamed(self, stray: Message, wanted: Asked) -> None:
        self.strays.remove((stray, wanted))
        self.asked.remove(wanted)
        step, found = wanted.input.step, stray.at("/step_id")
        said = f"the output names the step {shown(found)}, and {shown(step)} was asked"
        self.late.append(Remark("step", False, stray, said, "/step_id", (step,), found))

    def end(self, complete: bool) -> Iterable[Remark]:
        """What only the end shows: answers under a wrong id, and inputs without an answer."""
        for stray, wanted in list(self.strays) if complete else ():
            self._misnamed(stray, wanted)
        yield from self.late
        for one in self.asked if complete and self.whole else ():
            if one.sure and one.input.step is not None:  # what asks for no step need not be answered
                said = f"the step {shown(one.input.step)} was asked, and no output ever came"
                yield Remark("answer", False, one.input.message, said, party="adapter")
