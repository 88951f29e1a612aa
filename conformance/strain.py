"""How much the machine hinders the kit: how late its own timers fire, and how long the first answer takes.

A kit that is late itself must not call anybody else late. What it can tell from the times that it is
told (it has no clock) is how much earlier something may have come than it was noticed, and by which
factor it should be more patient than it is on a machine with nothing else to do.
"""

from __future__ import annotations

from collections import deque

TICK = 0.05
"""Seconds between two firings of the timer that is watched."""

SLACK = 0.01
"""So late a timer may fire without anything being the matter, in seconds."""

HELD_UP = 0.1
"""Whoever is later than that, in seconds, was kept from acting. Less is what every limit has to spare, and a
kit with many conversations is as late by its own doing, on a machine with time for others."""

WINDOW = 1.0
"""Lateness is counted over so many seconds; as much again makes the kit twice as patient."""

ROUND_TRIP = 1.0
"""So long a first answer may take, in seconds, a process being started included; more is slow."""

LIMIT = 4.0
"""The kit is at most so many times as patient; what is slower than that is for `--patience` to say."""

KEPT = 2000
"""So many late firings are remembered."""


class Strain:
    """The lateness of one session. All times are in seconds of the same clock."""

    def __init__(self) -> None:
        self._due: float | None = None
        self._late: deque[tuple[float, float]] = deque(maxlen=KEPT)
        self.stretch = 1.0
        """How many times as patient as usual the kit should be; it only ever grows, up to LIMIT."""
        self._total = 0.0
        self.worst = 0.0
        """How late a timer fired at worst, in seconds."""

    def set(self, due: float) -> None:
        """The timer is set, and should fire at `due`."""
        self._due = due

    def fired(self, now: float) -> None:
        """The timer fired."""
        late, self._due = self._overdue(now), None
        if late > SLACK:
            self._late.append((now, late))
            self._total += late if late > HELD_UP else 0.0
            self.worst = max(self.worst, late)
            self._grow(1 + self.late_since(now - late - WINDOW, now) / WINDOW)

    def answered(self, seconds: float) -> None:
        """The first answer took so long."""
        self._grow(seconds / ROUND_TRIP)

    def lag(self, now: float) -> float:
        """How long ago something may have come that is noticed now: 0 where the kit kept up."""
        # What came during a delay is noticed right after it, by whichever the loop calls first.
        recent = 0.0
        for fired, late in reversed(self._late):
            if now - fired > TICK:
                break
            recent = max(recent, now - fired + late)
        overdue = self._overdue(now)
        self.worst = max(self.worst, overdue)
        lag = max(overdue, recent)
        return lag if lag > SLACK else 0.0

    def total(self, now: float) -> float:
        """For how long in all the kit was kept from acting until now; it never gets less."""
        overdue = self._overdue(now)
        return self._total + (overdue if overdue > HELD_UP else 0.0)

    def late_since(self, then: float, now: float) -> float:
        """For how long in all the kit was late since then."""
        return self._overdue(now) + sum(late for fired, late in self._late if fired >= then)

    def _overdue(self, now: float) -> float:
        return 0.0 if self._due is None else max(0.0, now - self._due)

    def _grow(self, factor: float) -> None:
        self.stretch = max(self.stretch, min(factor, LIMIT))
