"""Which of several revisions a record is judged by, where it does not say of which it is.

A revision that it may not be of is no reason to blame it. While one of them has nothing against the
record, what others have waits; in the end the one counts that has the least against it, and of several
such the newest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from conformance.errors import NoSuchKind
from conformance.events import Event
from conformance.findings import Finding
from conformance.monitor import Monitor
from conformance.packs import Pack
from conformance.recognition import HELD

WAITING = 1_000
"""So many findings of the newest revision, and none of an older one, decide for the older one."""

Against = tuple[Finding, Event | None]
"""A finding against a record, and the event that it was found on; None at the end."""


class Alternative:
    """One revision's judgement of the record, as far as it has seen it."""

    def __init__(self, pack: Pack, monitor: Monitor) -> None:
        self.pack = pack
        self.monitor = monitor
        self.held: list[Against] = []

    def see(self, events: Iterable[Event]) -> None:
        """Judge these events."""
        self.held += (
            (one, event) for event in events for one in self.monitor.feed(event) if _is_against(one)
        )

    def end(self) -> None:
        """Judge the end."""
        self.held += ((one, None) for one in self.monitor.end() if _is_against(one))

    def released(self) -> list[Against]:
        """What is held, which is then told."""
        held, self.held = self.held, []
        return held


class Alternatives:
    """Judges one record by each of these revisions (newest first) until one of them is decided for.

    `HELD` events with which nothing is wrong decide for the newest. Older ones look at nothing, and nothing
    of them is read, before the newest finds something.
    """

    def __init__(self, packs: Iterable[Pack], monitor_of: Callable[[Pack], Monitor]) -> None:
        first, *self._older = packs
        self._monitor_of = monitor_of
        self._all = [Alternative(first, monitor_of(first))]
        self._unseen: list[Event] = []
        self._decided = not self._older

    @property
    def chosen(self) -> Alternative:
        """The one that was decided for; until then, the newest."""
        return self._all[0]

    def feed(self, event: Event) -> list[Against]:
        """What can be told after this event."""
        if self._decided:
            found = self._all[0].monitor.feed(event)
            return [(one, event) for one in found if _is_against(one)] if found else []
        newest = self.chosen
        newest.see([event])
        self._unseen.append(event)
        if not newest.held and len(self._unseen) < HELD:
            return []
        if newest.held and not self._are_refuted(self._others()):
            return []
        self._decide()
        return self.chosen.released()

    def end(self) -> list[Against]:
        """What is to be told at the end."""
        newest = self.chosen
        newest.end()
        if newest.held:
            for other in self._others():
                other.see(self._unseen)
                other.end()
        self._decide()
        return self.chosen.released()

    def _others(self) -> list[Alternative]:
        """The older ones, of which there may be none that has the kind that was named: it may be new."""
        older, self._older = self._older, []
        for pack in older:
            with suppress(NoSuchKind):
                self._all.append(Alternative(pack, self._monitor_of(pack)))
        return self._all[1:]

    def _are_refuted(self, others: list[Alternative]) -> bool:
        """Whether something is against each of these, or as much against the newest as can wait."""
        for other in others:
            other.see(self._unseen)
        self._unseen.clear()
        return all(other.held for other in others) or len(self.chosen.held) >= WAITING

    def _decide(self) -> None:
        self._all = [min(self._all, key=lambda one: len(one.held))]
        self._older = []
        self._unseen.clear()
        self._decided = True


def _is_against(finding: Finding) -> bool:
    """Whether it is to be told: what could not be decided, since the kit was late, says nothing."""
    return not finding.ok and not finding.inconclusive
