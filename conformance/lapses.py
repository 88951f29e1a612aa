"""How long something took, whoever may have been late: the one place where time is judged.

A record tells when the kit noticed what came (`time`), how long before that it may have been there (`lag`),
and for how long the machine kept the kit from acting until then (`late`, which only grows). An
implementation on the same machine is kept from acting as the kit is. So what the kit was late between two
events is taken off the time that an implementation took, and where that decides, nothing is said.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple, Protocol, TypeAlias

from conformance.events import Event

Seconds: TypeAlias = float | Fraction
"""Fractions where an implementation's own words are more exact than a float."""


class Delayed(Protocol):
    """What has the delays of the machine until then, as every event does."""

    @property
    def late(self) -> float:
        """For how long in all the machine kept the kit from acting."""
        ...


class Lapse(NamedTuple):
    """From `least` to `most` seconds, during `hindered` of which whoever spoke may have been unable to.

    Less than none is how long before the beginning the end may have been.
    """

    least: Seconds
    most: Seconds
    hindered: float = 0.0

    def exceeds(self, limit: Seconds) -> bool | None:
        """Whether it was longer than is allowed; None where that depends on how late the kit was."""
        if self.most <= limit:
            return False
        own = self.least - self.hindered if self.hindered else self.least  # a fraction stays one
        return True if own > limit else None

    def falls_short(self, limit: Seconds) -> bool | None:
        """Whether it was shorter than it has to be; None where that depends on how late the kit was."""
        if self.least >= limit:
            return False
        return True if self.most < limit else None

    @property
    def unsure(self) -> float:
        """How many seconds of it may be nobody's delay but the kit's, or the machine's."""
        return float(self.most - self.least) + self.hindered


def hindered(begun: Delayed, ended: Delayed) -> float:
    """For how many seconds the machine kept the kit from acting between two events of one record."""
    return max(0.0, ended.late - begun.late)


def between(begun: Event, ended: Event) -> Lapse | None:
    """The time between two events by the record; None where it has no times."""
    if begun.time is None or ended.time is None:
        return None
    since, lag = ended.time - begun.time, _lag(ended)
    # What was there before the kit noticed came during a delay, which counts once.
    return Lapse(since - lag, since + _lag(begun), max(0.0, hindered(begun, ended) - lag))


def told(seconds: Seconds, begun: Delayed, ended: Delayed) -> Lapse:
    """So many seconds by a clock of the implementation's own, which took from one event to another."""
    return Lapse(seconds, seconds, hindered(begun, ended))


def _lag(event: Event) -> float:
    return float(getattr(event, "lag", 0.0))
