"""Agent World Protocol: how the frames and the clock of a session went so far.

Whole series of messages are remembered here, once for all rules that are about them: what it takes is done
for every frame. Where something of a session is in doubt, its course begins anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from conformance.remembered import forget_oldest

REMEMBERED: Final = 10_000
"""So many times of a session's frames are remembered; what is older is not known any longer."""

NO_TICK: Final = 1
"""A frame says no tick."""

PACE: Final = 2
"""A frame comes at a tick that had one, or on a channel that has a rate."""

JUMP: Final = 4
"""The number of a frame is not the one after that of the frame before."""

FRESH: Final = 8
"""A frame holds something else than one that was found to be right."""

MOVED: Final = 16
"""The session's clock, or its tick, is not where it was before."""

STREAMED: Final = 32
"""A status tells of command frames, or one comes."""

ANY: Final = -1
"""Anything may be the case."""


@dataclass(slots=True)
class Advance:
    """An advance under way: from which tick, and how many frames came of each channel and tick."""

    start: int
    frames: dict[tuple[int | None, int | None], int] = field(default_factory=dict)


@dataclass(slots=True)
class Pace:
    """The last tick of a session, if one is known, and its time, and how long a tick is, once that is known.
    Nobody asks before the session `advances`.
    """

    advances: bool = False
    tick: int | None = None
    time: int = 0
    step: int | None = None


@dataclass(slots=True, eq=False)
class Course:
    """What went on in a session: nothing that is in doubt.

    `clock` is the latest that the world has said of how late it is: a tick in lockstep, else a time. `times`
    are those of its frames, unless some were `forgotten`; `ticks` is the latest of each channel.
    """

    clock: int = 0
    times: dict[int | None, bool] = field(default_factory=dict)
    forgotten: bool = False
    ticks: dict[int, int] = field(default_factory=dict)
    advance: Advance | None = None
    pace: Pace = field(default_factory=Pace)

    def tell(self, now: int | None) -> None:
        """The world has said how late it is."""
        if now is not None and now > self.clock:
            self.clock = now

    def show(self, place: int | None, tick: int | None, time: int | None, noted: bool) -> None:
        """A frame of this channel, tick and time came; its time is `noted` if all frames are on record."""
        if noted and time not in self.times:
            self.times[time] = True
            if time is None or (len(self.times) > REMEMBERED and forget_oldest(self.times, REMEMBERED)):
                self.forgotten = True
        if self.advance is not None:
            frames, key = self.advance.frames, (place, tick)
            frames[key] = frames.get(key, 0) + 1
