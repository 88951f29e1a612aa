"""Whose turn it is: what of an implementation one scenario at a time has for itself alone.

All of it is used on one loop. A scenario has what it takes from its beginning, from a step on, or from a
time that it says beforehand; then nobody who would not be through by then begins any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

BRIEF = 0.25
"""Seconds that one lasts, as it seems, that has something from a step on: it only takes its leave."""

LONG = 2.0
"""Seconds from which on there may be no time for one later, while many short ones find theirs."""


class Turns:
    """One thing that scenarios take, first come, first served, unless their time is too short."""

    def __init__(self) -> None:
        """Nobody has it."""
        self._holder: Turn | None = None
        self._waiting: list[_Waiting] = []
        self._due: dict[Turn, float] = {}

    async def take(self, turn: Turn, lasting: float, *, first: bool = False) -> None:
        """Have it when nobody has, for so many seconds as it seems; before all that wait if `first`."""
        if self._is_free(turn, lasting):
            self._holder = turn
            return
        waiting = _Waiting(turn, lasting, first, asyncio.get_running_loop().create_future())
        self._waiting.insert(0 if first else len(self._waiting), waiting)
        try:
            await waiting.ready
        except asyncio.CancelledError:
            self._waiting = [one for one in self._waiting if one is not waiting]
            self.leave(turn)
            raise

    def reserve(self, turn: Turn, after: float) -> None:
        """Have it in so many seconds, whoever has it still: that one then is disturbed."""
        loop = asyncio.get_running_loop()
        self._due[turn] = loop.time() + after
        loop.call_later(after, self._disturb, turn)

    def leave(self, turn: Turn) -> None:
        """Have it no longer, now or later; whoever waits and can have it has it now."""
        self._due.pop(turn, None)
        if self._holder is turn:
            self._holder = None
        free = [one for one in self._waiting if self._is_free(one.turn, one.lasting)]
        if free:
            chosen = self._chosen(free)
            self._waiting.remove(chosen)
            self._holder = chosen.turn
            chosen.ready.set_result(None)

    def _chosen(self, free: list[_Waiting]) -> _Waiting:
        """The first; while there is a time by which one has to be through, one that lasts before those."""
        longest = max(free, key=lambda one: one.lasting)
        return longest if self._due and longest.lasting >= LONG and not free[0].first else free[0]

    def _is_free(self, turn: Turn, lasting: float) -> bool:
        until = asyncio.get_running_loop().time() + lasting
        others = (due for other, due in self._due.items() if other is not turn)
        return self._holder in (None, turn) and all(until <= due for due in others)

    def _disturb(self, turn: Turn) -> None:
        if turn in self._due and self._holder not in (None, turn):
            assert self._holder is not None
            self._holder.is_disturbed = True


@dataclass(eq=False, frozen=True, slots=True)
class _Waiting:
    turn: Turn
    lasting: float
    first: bool
    ready: asyncio.Future[None]


@dataclass(eq=False, slots=True)
class Turn:
    """One scenario's: it `takes` these names of all that there is, and lasts so many seconds as it seems.

    While it is entered, it has what it takes.
    """

    there_is: dict[str, Turns] = field(default_factory=dict)
    takes: Sequence[str] = ()
    lasting: float = 0.0
    is_disturbed: bool = False
    """Whether another had it too meanwhile, so that what came of the scenario shows nothing."""

    async def take(self, name: str) -> None:
        """Have one thing more from now on, before those that have not begun."""
        await self._of(name).take(self, BRIEF, first=True)

    def reserve(self, name: str, after: float) -> None:
        """Have one thing more in so many seconds."""
        self._of(name).reserve(self, after)

    def leave(self, name: str) -> None:
        """Have one thing no longer, unless it is what the scenario takes."""
        if name not in self.takes:
            self._of(name).leave(self)

    async def is_taken_anew(self) -> bool:
        """Whether it was disturbed, and has everything anew, for another run."""
        if not self.is_disturbed:
            return False
        await self.__aexit__()
        await self._begin(first=True)  # whoever asked for what came of it waits already
        return True

    async def __aenter__(self) -> Self:
        """Wait for what it takes."""
        await self._begin()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Leave everything."""
        for turns in self.there_is.values():
            turns.leave(self)

    async def _begin(self, *, first: bool = False) -> None:
        self.is_disturbed = False
        for name in sorted(self.takes):  # in this order, so that none waits in a circle
            await self._of(name).take(self, self.lasting, first=first)

    def _of(self, name: str) -> Turns:
        return self.there_is.setdefault(name, Turns())
