"""Checks of order over a session: sequence numbers, clocks, ids that are used once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from conformance import jsontext
from conformance.checks import Observation, failed, passed, register, same
from conformance.correlation import Message, Sessions, id_key
from conformance.findings import Finding, Requirement
from conformance.packs import Pack


def _whole(value: Any) -> int | None:
    """A value as a counter, or None where it is none (which is another requirement's matter)."""
    if value is None or jsontext.bounds_fault(value, *jsontext.U53) is not None:
        return None
    return int(value)


@dataclass(slots=True)
class _Count:
    """Where one session's numbering stands. `replay_to` is the last number of a replay under way."""

    last: int | None = None
    replay_to: int = 0
    texts: dict[int, Message] = field(default_factory=dict)


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


@register("sequence")
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
        self._counts: dict[str, _Count] = {}

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per numbered message."""
        message = seen.message
        if message is None or message.kind is None:
            self._lose_count(seen)
            return
        row = self._sessions.begun(message)
        if row is not None:
            self._begin(message, row)
        count = self._counts.setdefault(self._sessions.of(message), _Count())
        for place in self._spec.get("acknowledged", ()):
            if message.is_a(place["on"]):
                yield from self._acknowledged(message, place["at"], count)
        for place in self._spec["fields"]:
            if message.is_a(place["on"]):
                yield from self._judge(message, place, count, _moves(seen))

    def _lose_count(self, seen: Observation) -> None:
        """What could not be understood may have had a number."""
        if seen.lost is None or seen.message is not None:
            for count in self._counts.values():
                count.last = None

    def _begin(self, message: Message, row: dict[str, Any]) -> None:
        key = self._sessions.of(message)
        count = self._counts.setdefault(key, _Count())
        if "after" not in row:
            self._counts[key] = _Count(last=self._spec["start"] - 1)
        elif message.request is not None:
            after = _whole(message.request.at(row["after"]))
            count.last = after if after is not None else count.last
            count.replay_to = _whole(message.at(row["replay_to"])) or 0

    def _judge(
        self, message: Message, place: dict[str, Any], count: _Count, moves: bool
    ) -> Iterable[Finding]:
        at, last, number = place["at"], count.last, _whole(message.at(place["at"]))
        if number is None:
            count.last = None  # its number is unknown, and so is the one after it
        elif last is None and place.get("report"):
            return  # nobody knows whether it reports or counts
        elif last is None or number == last + 1:
            yield self._next(message, at, number, count)
        elif place.get("report") and not moves and self._spec["start"] <= number <= last:
            yield passed(self._requirement, message)
        else:
            said = f"the number is {number}, and the one after {last} is {last + 1}"
            said += "; numbers in between are missing" if number > last else "; it was used before"
            count.last = max(last, number)
            yield failed(self._requirement, message, said, at, expected=(last + 1,), actual=number)

    def _acknowledged(self, message: Message, at: str, count: _Count) -> Iterable[Finding]:
        last, number = count.last, _whole(message.at(at))
        if number is not None and last is not None and number > last:
            count.last = number
            said = f"the number {number} is acknowledged, and {last} is the last one that was sent"
            yield failed(self._requirement, message, said, at, expected=(last,), actual=number)

    def _next(self, message: Message, at: str, number: int, count: _Count) -> Finding:
        count.last = number
        first = count.texts.setdefault(number, message)
        if number <= count.replay_to and not _repeats(first, message):
            said = f"the replay of number {number} differs from what was first sent"
            return failed(self._requirement, message, said, at, expected=(first.value,), actual=message.value)
        return passed(self._requirement, message)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each number is judged when it is seen."""
        return ()


@register("monotonic")
class Monotonic:
    """A value never goes back within a series of a session; in a `strict` series it also moves on.

    A row of `series` is `{"on", "at"}`; `order` is the pointer of a number that orders the series
    (a redelivered message is passed over), `per` the pointer of what keeps series apart.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._series = spec["series"]
        self._sessions = Sessions(pack.meta.get("sessions", []))
        self._last: dict[tuple[str, int, tuple[str, Any]], tuple[int, int]] = {}

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per value."""
        message = seen.message
        if message is None:
            return
        self._sessions.begun(message)
        for index, row in enumerate(self._series):
            if message.is_a(row["on"]):
                yield from self._judge(message, index, row)

    def _judge(self, message: Message, index: int, row: dict[str, Any]) -> Iterable[Finding]:
        value = _whole(message.at(row["at"]))
        order = _whole(message.at(row["order"])) if "order" in row else None
        if value is None:
            return
        per = id_key(message.at(row["per"])) if "per" in row else ("", "")  # 1 and 1.0 are one series
        key = (self._sessions.of(message), index, per)
        last, last_order = self._last.get(key, (value, -1))
        if order is not None and order <= last_order:
            return
        first = key not in self._last
        self._last[key] = (value, last_order if order is None else order)
        if value > last or (value == last and (first or not row.get("strict"))):
            yield passed(self._requirement, message)
            return
        said = f"the value is {value}, and the message before had {last}"
        yield failed(self._requirement, message, said, row["at"], expected=(last,), actual=value)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each value is judged when it is seen."""
        return ()


@register("ordered")
class Ordered:
    """Within one message of `on`, the numbers at the pointers `at` do not fall, in that order.

    One that is missing or no counter is passed over; shown by a message that has two or more.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._spec = spec

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per message that has two such numbers."""
        message = seen.message
        if message is None or not message.is_a(self._spec["on"]):
            return
        found = [(at, _whole(message.at(at))) for at in self._spec["at"]]
        numbers = [(at, number) for at, number in found if number is not None]
        pairs = [*pairwise(numbers)]
        for (before, low), (at, high) in pairs:
            if high < low:
                said = f"the value is {high}, and {before} is {low}, which comes first"
                yield failed(self._requirement, message, said, at, expected=(low,), actual=high)
                return
        if pairs:
            yield passed(self._requirement, message)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each message is judged when it is seen."""
        return ()
