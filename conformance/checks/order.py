"""Checks of order over a session: clocks, ids that are used once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

from conformance import jsontext
from conformance.checks import Check, Observation, failed, passed
from conformance.checks.delivery import said_again
from conformance.correlation import ByKind, Message, id_key
from conformance.events import JSON
from conformance.findings import Finding, Requirement
from conformance.instants import instant
from conformance.integers import counter
from conformance.jsontext import Getter, getter
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


class _Series(NamedTuple):
    """A row of a `monotonic` check, read."""

    number: int
    on: frozenset[str]
    at: str
    value: Getter
    order: Getter | None
    per: tuple[Getter, ...]
    measured: Measure
    strict: bool

    @classmethod
    def of(cls, number: int, row: dict[str, Any]) -> _Series:
        """The row as it stands in a pack."""
        per, order = row.get("per", ()), row.get("order")
        return cls(
            number,
            frozenset(row["on"]),
            row["at"],
            getter(row["at"]),
            getter(order) if order else None,
            tuple(map(getter, (per,) if isinstance(per, str) else per)),
            measure(row.get("as", "counter")),
            row.get("strict", False),
        )


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
        series = [_Series.of(index, row) for index, row in enumerate(spec["series"])]
        self.rows = ByKind(lambda message: [one for one in series if message.is_a(one.on)])
        self.hears = frozenset(name for one in series for name in one.on)
        self._last: dict[tuple[Any, ...], tuple[Any, JSON, int]] = {}

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per value that has one before it in its series."""
        message = seen.message
        if message is None:
            return ()
        return [finding for row in self.rows.of(message) for finding in self.judge(seen, message, row)]

    @staticmethod
    def gather(checks: list[Monotonic], message: Message) -> Check:
        """One check in place of several, of messages of this one's kind."""
        return _Rising([(check.judge, row) for check in checks for row in check.rows.of(message)])

    def judge(self, seen: Observation, message: Message, row: _Series) -> Iterable[Finding]:
        """What is to be said of the value of one series."""
        number, _, at, read, order_of, per, measured, strict = row
        said = message.value
        raw = read(said)
        value = None if raw is None else measured(raw)
        if value is None:
            return ()
        key: tuple[Any, ...]
        if not per:
            key = seen.session, number
        elif len(per) == 1:
            part = per[0](said)
            key = seen.session, number, part if type(part) is int else _apart(part)
        else:
            key = seen.session, number, *[_apart(one(said)) for one in per]
        if per and None in key:
            return ()  # nobody knows to which series it belongs
        before = self._last.get(key)
        order = counter(order_of(said)) if order_of is not None else None
        if before is None:  # one value alone goes neither on nor back
            self._last[key] = (value, raw, -1 if order is None else order)
            forget_oldest(self._last)
            return ()
        last, said_last, last_order = before
        if order is None:
            order = last_order
        elif order <= last_order:
            return ()
        self._last[key] = (value, raw, order)
        if value > last or (value == last and not strict):
            return [passed(self._requirement, message)] if seen.praise else ()
        of = f" of {', '.join(shown(one(said)) for one in per)}" if per else ""
        text = f"the value is {shown(raw)}, and the message before{of} had {shown(said_last)}"
        return [failed(self._requirement, message, text, at, expected=(said_last,), actual=raw)]

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each value is judged when it is seen."""
        return ()


class _Rising:
    """The series of several checks that messages of one kind belong to."""

    def __init__(self, rows: list[tuple[Callable[..., Iterable[Finding]], _Series]]) -> None:
        self._rows = rows

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per value that has one before it in its series."""
        message = seen.message
        found: list[Finding] = []
        for judge, row in self._rows:
            told = judge(seen, message, row)
            if told:
                found += told
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
        self._places: list[tuple[str, Getter]] = [(at, getter(at)) for at in spec["at"]]
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
        for _, read in self._places:
            raw = read(said)
            value = None if raw is None else self._measure(raw)
            if value is not None:
                if last is not None and value < last:
                    return False
                last = value
        return True

    def _found(self, said: JSON, at: str = "") -> list[tuple[str, JSON, Any]]:
        """The values of a message, or of the part of it at a pointer, with their pointers."""
        found = []
        for pointer, read in self._places:
            raw = read(said)
            value = None if raw is None else self._measure(raw)
            if value is not None:
                found.append((at + pointer, raw, value))
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
