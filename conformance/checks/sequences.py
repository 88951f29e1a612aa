"""Checks of numbers that grow by one over the messages of a session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, final

from conformance.checks import Observation, failed, passed, same
from conformance.checks.reading import Part
from conformance.correlation import ByKind, Message, Sessions
from conformance.findings import Finding, Requirement
from conformance.integers import counter
from conformance.packs import Pack
from conformance.remembered import REMEMBERED_MESSAGES, forget_oldest, recall


@final
class _Count:
    """Where one session's numbering stands. `replay_to` is the last number of a replay under way, `missed`
    are the latest that were told to be missing.
    """

    __slots__ = ("acknowledged", "epoch", "last", "missed", "replay_to")

    def __init__(self, last: int | None = None) -> None:
        self.last = last
        self.replay_to = 0
        self.missed = _NONE
        self.acknowledged = 0
        self.epoch = object()
        """What a number is of: one of an earlier session with the same key is another."""


_NONE: Final = range(0)
"""No numbers."""


def _moves(seen: Observation) -> bool:
    """Whether the message moved something that was known, and does not only report."""
    return any(not one.report and one.move.before is not None for one in seen.moved)


def _repeats(first: Message, again: Message) -> bool:
    """Whether a replayed message is what was first sent, word for word.

    What a result said first is replayed as a notification: the two agree in all that both say.
    """
    if first.name == again.name or first.kind is None or again.kind is None:
        return same(first.value, again.value)
    told, repeated = first.at(first.kind.at), again.at(again.kind.at)  # objects: the number stands in them
    return all(same(told[name], repeated[name]) for name in told.keys() & repeated.keys())


@final
class _Given:
    """A row of `fields` of a `sequence` check, read."""

    __slots__ = ("number", "report")

    def __init__(self, row: dict[str, Any]) -> None:
        self.number = Part(row["at"])
        self.report = bool(row.get("report"))


@final
class _Places:
    """Whether a kind of message begins or resumes a session, and where it tells and gives numbers."""

    __slots__ = ("begins", "given", "told")

    def __init__(self, begins: bool, told: list[str], given: list[_Given]) -> None:
        self.begins = begins
        self.told = told
        self.given = given


class Sequence:
    """Numbers start at `start` and grow by one over the messages of `fields`.

    A field row is `{"on", "at"}`; with `"report": true` its message may also repeat an earlier number
    (it then reports what already happened). After a resume, numbers go on after the one the request
    names (`after` of the pack's session row) up to `replay_to`, word for word as first sent. Rows of
    `acknowledged` say where the other side tells which number it got: one that was sent.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._spec = spec
        self._sessions = Sessions(pack.meta.get("sessions", []))
        told, given = spec.get("acknowledged", ()), spec["fields"]
        self._places = ByKind(
            lambda message: _Places(
                message.is_a(self._sessions.hears),
                [row["at"] for row in told if message.is_a(row["on"])],
                [_Given(row) for row in given if message.is_a(row["on"])],
            )
        )
        self.hears = self._sessions.hears | {name for row in (*given, *told) for name in row["on"]}
        self._counts: dict[str, _Count] = {}
        self._texts: dict[tuple[object, int], Message] = {}
        """What was first said under the latest numbers, by what they are of."""

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per numbered message."""
        message = seen.message
        if message is None or message.kind is None:
            self._lose_count(seen)
            return ()
        places = self._places.of(message)
        told, given = places.told, places.given
        row = self._sessions.begun(message) if places.begins else None
        if row is not None:
            self._begin(message, row)
        key = self._sessions.of(message)
        count = self._counts.get(key)
        if count is None:
            count = recall(self._counts, key, _Count)
        if not told and len(given) == 1:
            return self._judge(seen, message, given[0], count)
        found = [one for at in told for one in self._acknowledged(message, at, count)]
        return found + [one for place in given for one in self._judge(seen, message, place, count)]

    def _lose_count(self, seen: Observation) -> None:
        """What could not be understood may have had a number."""
        if seen.lost is None or seen.message is not None:
            for count in self._counts.values():
                count.last = None

    def _begin(self, message: Message, row: dict[str, Any]) -> None:
        key = self._sessions.of(message)
        count = recall(self._counts, key, _Count)
        if "after" not in row:
            self._counts[key] = _Count(last=self._spec["start"] - 1)
        elif message.request is not None:
            after = counter(message.request.at(row["after"]))
            count.last = after if after is not None else count.last
            count.replay_to = counter(message.at(row["replay_to"])) or 0

    def _judge(self, seen: Observation, message: Message, place: _Given, count: _Count) -> Iterable[Finding]:
        at, report = place.number.at, place.report
        last, number = count.last, counter(place.number.of(message.value))
        if number is None:
            count.last = None  # its number is unknown, and so is the one after it
            return ()
        if last is None and report:
            return ()  # nobody knows whether it reports or counts
        if last is None or number == last + 1:
            return self._next(seen, message, at, number, count)
        if report and not _moves(seen) and self._spec["start"] <= number <= last:
            return [passed(self._requirement, message)]
        if number in count.missed:
            return ()  # it was told to be missing, and is late
        if count.missed and number == last:
            # The one before was told to have the wrong number: this has the right one.
            count.missed = _NONE
            return ()
        count.missed = range(last + 1, number) or count.missed
        said = f"the number is {number}, and the one after {last} is {last + 1}"
        said += "; numbers in between are missing" if number > last else "; it was used before"
        count.last = max(last, number)
        return [failed(self._requirement, message, said, at, expected=(last + 1,), actual=number)]

    def _acknowledged(self, message: Message, at: str, count: _Count) -> Iterable[Finding]:
        last, number = count.last, counter(message.at(at))
        if number is not None and last is not None and number > max(last, count.acknowledged):
            count.acknowledged = number
            said = f"the number {number} is acknowledged, and {last} is the last one that was sent"
            yield failed(self._requirement, message, said, at, expected=(last,), actual=number)

    def _next(
        self, seen: Observation, message: Message, at: str, number: int, count: _Count
    ) -> Iterable[Finding]:
        count.last = number
        first = self._texts.setdefault((count.epoch, number), message)
        if len(self._texts) > REMEMBERED_MESSAGES:
            forget_oldest(self._texts, REMEMBERED_MESSAGES)
        if number <= count.replay_to and not _repeats(first, message):
            said = f"the replay of number {number} differs from what was first sent"
            wanted, told = (first.value,), message.value
            return [failed(self._requirement, message, said, at, expected=wanted, actual=told)]
        return [passed(self._requirement, message)] if seen.praise else ()

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each number is judged when it is seen."""
        return ()


class Gaps:
    """Tells where a number of the pack's sequences is missing: with it is what was told under it."""

    def __init__(self, pack: Pack) -> None:
        specs = [spec for requirement in pack.requirements.values() for spec in requirement.checks]
        rows = [row for spec in specs if spec["kind"] == "sequence" for row in spec["fields"]]
        self._numbers = ByKind(lambda message: [row["at"] for row in rows if message.is_a(row["on"])])
        self._last: dict[str, int] = {}
        self._missed: dict[str, range] = {}

    def forget(self) -> None:
        """No number is known any longer."""
        self._last.clear()
        self._missed.clear()

    def counts(self, message: Message) -> bool:
        """Whether messages of its kind have a number."""
        return bool(self._numbers.of(message))

    def before(self, message: Message, session: str) -> bool:
        """Whether numbers of the session are missing before the message's own, or its own was."""
        for at in self._numbers.of(message):
            number = counter(message.at(at))
            if number is not None:
                last = self._last.get(session, number - 1)
                self._last[session] = max(last, number)
                missed = range(last + 1, number) or self._missed.get(session, range(0))
                self._missed[session] = missed
                forget_oldest(self._last)
                forget_oldest(self._missed)
                return number > last + 1 or number in missed
        return False
