"""What the kit's own messages were meant to break, and whether they broke that and nothing else.

A step `breaks` what its message breaks on purpose. What else the checks find in the kit's messages is a
mistake of the scenario or of the kit, and so is an announcement that nothing came of, since either way
the implementation was tried with something else than the scenario says.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from conformance.actions import Action, Transmit
from conformance.events import Closed, Event, Malformed, Sent
from conformance.findings import Finding
from conformance.scenarios import Step


class Said(NamedTuple):
    """A step whose message is event `seq`, and the requirements that this was to break.

    `seq` is 0 where a step breaks something by what it leaves out; its announcement then holds for the
    whole scenario. `line` is the step's.
    """

    seq: int
    line: int
    breaks: tuple[str, ...]


class Announcements:
    """Which step each message on record is of; the kit plays `party`."""

    def __init__(self, party: str) -> None:
        self._party = party
        self._under_way: dict[str, deque[Step | None]] = {}
        self.said: list[Said] = []
        """The messages of steps, in the order in which they left."""

    def leave(self, actions: Iterable[Action]) -> None:
        """Messages are to be sent, in this order."""
        for action in actions:
            if isinstance(action, Transmit):
                self._under_way.setdefault(action.connection, deque()).append(action.step)

    def see(self, event: Event) -> None:
        """A message of the kit's is on record, or none will follow on a connection that ended."""
        if isinstance(event, Closed):
            self._under_way.pop(event.connection, None)
        elif isinstance(event, (Sent, Malformed)) and event.party == self._party:
            line = self._under_way.get(event.connection)
            step = line.popleft() if line else None
            if step is not None:
                self.said.append(Said(event.seq, step.line, step.breaks))

    def keep_back(self, step: Step) -> None:
        """A step begins that breaks something by what it leaves out."""
        if step.breaks:
            self.said.append(Said(0, step.line, step.breaks))


class Mistake(NamedTuple):
    """What is wrong with the kit's own messages, from which event on.

    `line` is the step's; 0 where no step is to blame.
    """

    said: str
    line: int
    seq: int = 0


def mistake(ours: Iterable[Finding], theirs: Iterable[Finding], said: Sequence[Said]) -> Mistake | None:
    """The first thing that the kit broke and no step announces; None where there is none.

    `ours` are the findings against the kit, `theirs` those against the implementation. What the kit says
    once the implementation has broken something may be wrong for that reason.
    """
    steps = {one.seq: one for one in said if one.seq}
    excused = min((one.seq for one in theirs if not one.ok), default=None)
    for one in sorted((one for one in ours if not one.inconclusive), key=lambda one: one.seq):
        if excused is not None and one.seq >= excused:
            return None
        if one.requirement not in _announced(one.seq, steps, said):
            step = steps.get(one.seq)
            who = "the step's message" if step else "a message of the kit's own accord"
            told = f"{who} breaks {one.requirement} and nothing announces it: {one.message}"
            return Mistake(f"{told} (event {one.seq})", step.line if step else 0, one.seq)
    return None


def _announced(seq: int, steps: dict[int, Said], said: Sequence[Said]) -> set[str]:
    """What may be broken there: by the step itself; by other messages, what an earlier step has broken."""
    own = steps.get(seq)
    if own is not None and own.seq:
        return {*own.breaks, *(name for one in said if not one.seq for name in one.breaks)}
    return {name for one in said if one.seq <= seq for name in one.breaks}


def unmet(ours: Iterable[Finding], said: Sequence[Said]) -> Mistake | None:
    """The first announcement that nothing came of, in a scenario that was played to its end.

    What was left out may not show, where nothing came after it.
    """
    steps = {one.seq for one in said if one.seq}
    broken = [(one.seq, one.requirement) for one in ours]
    for one in (one for one in said if one.seq):
        # It may show only later, but not in what another step said.
        shown = {name for seq, name in broken if seq == one.seq or (seq > one.seq and seq not in steps)}
        for name in one.breaks:
            if name not in shown:
                told = f"the step announces that it breaks {name}, and nothing did"
                return Mistake(told, one.line, one.seq)
    return None
