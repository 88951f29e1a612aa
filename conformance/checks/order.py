"""Checks of order over a session: sequence numbers, clocks, ids that are used once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from conformance import jsontext
from conformance.checks import Check, Observation, failed, passed, register, same
from conformance.checks.delivery import said_again
from conformance.correlation import ByKind, Message, Sessions, id_key
from conformance.events import JSON
from conformance.findings import Finding, Requirement
from conformance.instants import instant
from conformance.integers import counter
from conformance.jsontext import Getter, getter
from conformance.packs import Pack
from conformance.remembered import REMEMBERED_MESSAGES, forget_oldest, recall
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


@dataclass(slots=True)
class _Count:
    """Where one session's numbering stands. `replay_to` is the last number of a replay under way, `missed`
    are the latest that were told to be missing.
    """

    last: int | None = None
    replay_to: int = 0
    missed: range = range(0)
    acknowledged: int = 0
    epoch: object = field(default_factory=object)
    """What a number is of: one of an earlier session with the same key is another."""


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


class _Given(NamedTuple):
    """A row of `fields` of a `sequence` check, read."""

    at: str
    number: Getter
    report: bool

    @classmethod
    def of(cls, row: dict[str, Any]) -> _Given:
        """The row as it stands in a pack."""
        return cls(row["at"], getter(row["at"]), bool(row.get("report")))


class _Places(NamedTuple):
    """Whether a kind of message begins or resumes a session, and where it tells and gives numbers."""

    begins: bool
    told: list[str]
    given: list[_Given]


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
        told, given = spec.get("acknowledged", ()), spec["fields"]
        self._places = ByKind(
            lambda message: _Places(
                message.is_a(self._sessions.hears),
                [row["at"] for row in told if message.is_a(row["on"])],
                [_Given.of(row) for row in given if message.is_a(row["on"])],
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
        begins, told, given = self._places.of(message)
        row = self._sessions.begun(message) if begins else None
        if row is not None:
            self._begin(message, row)
        count = recall(self._counts, self._sessions.of(message), _Count)
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
        at, read, report = place
        last, number = count.last, counter(read(message.value))
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
            count.missed = range(
                0
            )  # the one before was told to have the wrong number: this has the right one
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


@register("monotonic")
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


@register("ordered")
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


@register("unique")
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
