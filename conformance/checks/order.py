"""Checks of order over a session: clocks, ids that are used once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, Final, NamedTuple, final

from conformance import jsontext
from conformance.checks import Check, Observation, failed, passed
from conformance.checks.delivery import said_again
from conformance.checks.reading import Part
from conformance.correlation import ByKind, Message, id_key
from conformance.events import JSON
from conformance.findings import Finding, Requirement
from conformance.instants import instant
from conformance.integers import counter
from conformance.packs import Pack
from conformance.remembered import forget_oldest
from conformance.wording import shown

Measure = Callable[[JSON], Any]
"""A value as something that can be compared, or None where it is nothing of the sort."""


def measure(form: str | list[str]) -> Measure:
    """How values of a form are compared: `counter`, `time` (RFC 3339), or words in rising order."""
    if form == "counter":
        return counter
    if form == "time":
        return instant
    ranks = {word: rank for rank, word in enumerate(form)}
    return lambda value: ranks.get(value) if isinstance(value, str) else None


@final
class _Series:
    """A row of a `monotonic` check, read. It `counts` where its values are counters."""

    __slots__ = ("at", "counts", "measured", "number", "on", "order", "per", "strict", "value")

    def __init__(self, number: int, row: dict[str, Any]) -> None:
        per, order = row.get("per", ()), row.get("order")
        self.number = number
        self.on = frozenset[str](row["on"])
        self.at: str = row["at"]
        self.value = Part(self.at)
        self.order: Part | None = Part(order) if order else None
        self.per: list[Part] = [Part(at) for at in ((per,) if isinstance(per, str) else per)]
        self.measured = measure(row.get("as", "counter"))
        self.counts = self.measured is counter
        self.strict: bool = row.get("strict", False)


@final
class _Latest:
    """The latest value of a series, as it is compared and as it was said, and the number that orders it."""

    __slots__ = ("order", "said", "value")

    def __init__(self, value: Any, said: JSON, order: int) -> None:
        self.value = value
        self.said = said
        self.order = order


def _apart(value: JSON) -> Any:
    """What two values have in common that name one series: 1 and 1.0 do."""
    if type(value) is int or type(value) is str or value is None:
        return value
    kind, same_value = id_key(value)
    return same_value if kind == "number" else (kind, same_value)


class Monotonic:
    """A value never goes back within a series of a session; in a `strict` series it also moves on.

    A row of `series` is `{"on", "at"}`; `order` is the pointer of a number that orders the series
    (a redelivered message is passed over), `per` the pointer (or pointers) of what keeps series apart;
    `as` says what the values are (see `measure`).
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        series = [_Series(index, row) for index, row in enumerate(spec["series"])]
        self.rows = ByKind(lambda message: [one for one in series if message.is_a(one.on)])
        self.hears = frozenset(name for one in series for name in one.on)
        self._last: dict[tuple[Any, ...], _Latest] = {}

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per value that has one before it in its series."""
        message = seen.message
        if message is None:
            return ()
        return [finding for row in self.rows.of(message) for finding in self.judge(seen, message, row)]

    @staticmethod
    def gather(checks: list[Monotonic], message: Message) -> Check:
        """One check in place of several, of messages of this one's kind."""
        return _Rising([_Asked(check, row) for check in checks for row in check.rows.of(message)])

    def judge(self, seen: Observation, message: Message, row: _Series) -> list[Finding]:
        """What is to be said of the value of one series."""
        said = message.value
        raw = row.value.of(said)
        if raw is None:
            return _NOTHING
        value = counter(raw) if row.counts else row.measured(raw)
        if value is None:
            return _NOTHING
        key = _key(seen.session, row, said)
        if key is None:
            return _NOTHING  # nobody knows to which series it belongs
        order = counter(row.order.of(said)) if row.order is not None else None
        last = self._last.get(key)
        if last is None:  # one value alone goes neither on nor back
            self._last[key] = _Latest(value, raw, -1 if order is None else order)
            forget_oldest(self._last)
            return _NOTHING
        if order is not None:
            if order <= last.order:
                return _NOTHING
            last.order = order
        before, said_before = last.value, last.said
        last.value, last.said = value, raw
        if value > before or (value == before and not row.strict):
            return [passed(self._requirement, message)] if seen.praise else _NOTHING
        return [self._broken(message, row, raw, said_before)]

    def _broken(self, message: Message, row: _Series, raw: JSON, before: JSON) -> Finding:
        of = f" of {', '.join(shown(one.of(message.value)) for one in row.per)}" if row.per else ""
        text = f"the value is {shown(raw)}, and the message before{of} had {shown(before)}"
        return failed(self._requirement, message, text, row.at, expected=(before,), actual=raw)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each value is judged when it is seen."""
        return ()


_NOTHING: Final[list[Finding]] = []


def _key(session: str, row: _Series, said: JSON) -> tuple[Any, ...] | None:
    """What keeps a series apart from others; None where the message does not say it."""
    if not row.per:
        return session, row.number
    part = row.per[0].of(said)
    if type(part) is not int:
        part = _apart(part)
    if part is None:
        return None
    if len(row.per) == 1:
        return session, row.number, part
    others = [_apart(one.of(said)) for one in row.per[1:]]
    return None if None in others else (session, row.number, part, *others)


@final
class _Asked:
    """A series that messages of one kind belong to, and the check that judges it."""

    __slots__ = ("check", "row")

    def __init__(self, check: Monotonic, row: _Series) -> None:
        self.check = check
        self.row = row


@final
class _Rising:
    """The series of several checks that messages of one kind belong to."""

    def __init__(self, asked: list[_Asked]) -> None:
        self._asked = asked

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per value that has one before it in its series."""
        message = seen.message
        if message is None:
            return ()
        found = _NOTHING
        for one in self._asked:
            told = one.check.judge(seen, message, one.row)
            if told:
                found = found + told
        return found

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each value is judged when it is seen."""
        return ()


class Ordered:
    """Within one message: the values at `at`, in this order, do not go back.

    Parameters: `on`; `at`, the pointers; `each`, the pointer of an array whose items are looked at one
    after the other, `at` then being pointers within an item; `as` (see `measure`). Values that are not
    there, or are nothing of the sort, are passed over.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._spec = spec
        self._measure = measure(spec.get("as", "counter"))
        self._counts = self._measure is counter
        self._places = [Part(at) for at in spec["at"]]
        self._each: str | None = spec.get("each")
        self.hears = frozenset(spec["on"])

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per value that is before the one before it, else one for two values or more."""
        message = seen.message
        if message is None or not (seen.plain or message.is_a(self.hears)):
            return ()
        if not seen.praise and self._each is None and self._rises(message.value):
            return ()
        values = self._found(message.value) if self._each is None else self._found_in_each(message)
        if len(values) < 2:
            return ()
        if all(value >= least for (_, _, least), (_, _, value) in pairwise(values)):
            return [passed(self._requirement, message)] if seen.praise else ()
        return [*self._broken(message, values)]

    def _rises(self, said: JSON) -> bool:
        """Whether no value of the message is before the one before it."""
        last = None
        for place in self._places:
            raw = place.of(said)
            value = None if raw is None else counter(raw) if self._counts else self._measure(raw)
            if value is not None:
                if last is not None and value < last:
                    return False
                last = value
        return True

    def _found(self, said: JSON, at: str = "") -> list[tuple[str, JSON, Any]]:
        """The values of a message, or of the part of it at a pointer, with their pointers."""
        found = []
        for place in self._places:
            raw = place.of(said)
            value = None if raw is None else self._measure(raw)
            if value is not None:
                found.append((at + place.at, raw, value))
        return found

    def _found_in_each(self, message: Message) -> list[tuple[str, JSON, Any]]:
        items = message.at(str(self._each))
        rows = enumerate(items if isinstance(items, list) else ())
        return [one for index, item in rows for one in self._found(item, f"{self._each}/{index}")]

    def _broken(self, message: Message, values: list[tuple[str, JSON, Any]]) -> Iterable[Finding]:
        for (earlier, before, least), (pointer, raw, value) in pairwise(values):
            if value < least:
                than = "before" if self._spec.get("as") == "time" else "less than"
                said = f"{shown(raw)} is {than} {shown(before)}, which stands at {earlier}"
                yield failed(self._requirement, message, said, pointer, expected=(before,), actual=raw)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each message is judged when it is seen."""
        return ()


class _Used(NamedTuple):
    """The message that had a value first: it takes less room as a text than as what that says."""

    name: str
    seq: int
    text: str


class Unique:
    """A value is used for one message of a session; only that message, said again, may have it too.

    Parameters: `on`; `field`, the pointer of the value; `except`, pointers of what may differ when a
    message is said again.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._spec = spec
        self.hears = frozenset(spec["on"])
        self._first: dict[tuple[str, str], _Used] = {}

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per value that is not the first of its session."""
        message = seen.message
        value = message.at(self._spec["field"]) if message and message.is_a(self.hears) else None
        return self._judge(seen, message, value) if message and isinstance(value, str) else ()

    def _judge(self, seen: Observation, message: Message, value: str) -> Iterable[Finding]:
        others, key = bool(self._first), (seen.session, value)
        first = self._first.get(key)
        if first is None:
            self._first[key] = _Used(message.name, message.seq, message.event.text)
            forget_oldest(self._first)
            if others and seen.praise:
                yield passed(self._requirement, message)
        elif said_again(jsontext.parse(first.text).value, message.value, self._spec.get("except", ())):
            yield passed(self._requirement, message)
        else:
            said = f"{shown(value)} was used for another message: {first.name}, number {first.seq}"
            yield failed(self._requirement, message, said, self._spec["field"], actual=value)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each message is judged when it is seen."""
        return ()
