"""What the kit answers by itself, and what follows from that: the pack's `answers` and `streams`.

A row of `answers` says with what a request is answered, what is said before and after, and what is kept
of the thing that it is about (an action, a task), so that later rows can depend on it. A row of `streams`
says what goes out again and again. No I/O and no clock, as in the driver that this belongs to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from conformance import jsontext
from conformance.actions import Action, Transmit
from conformance.bindings import Bindings, Now, Scope, difference, merged, written
from conformance.composing import Composer, dump
from conformance.correlation import Message
from conformance.events import JSON
from conformance.packs import Pack

MOST = 1000
"""What goes on with each of several times in one request goes on so often at most."""


@dataclass(frozen=True, slots=True)
class _Due:
    """A message that follows: `at` is in seconds of `Now.monotonic`, None where it waits for a request."""

    row: dict[str, Any]
    key: str
    scope: Scope
    connection: str
    at: float | None


@dataclass(slots=True)
class _Stream:
    """A stream that flows: of one item, next `at`; None where only requests make it go on."""

    row: dict[str, Any]
    item: JSON
    connection: str
    at: float | None
    is_new: bool = True


class Service:
    """The kit's answers in one scenario, and all that follows from them."""

    def __init__(self, pack: Pack, composer: Composer, bindings: Bindings) -> None:
        self._answers: dict[str, Any] = pack.meta.get("answers", {})
        self._streams: list[dict[str, Any]] = pack.meta.get("streams", [])
        self._replay: dict[str, str] = pack.meta.get("replay", {})
        self._composer = composer
        self._bindings = bindings
        self._kept: dict[str, JSON] = {}
        self._due: list[_Due] = []
        self._flowing: list[_Stream] = []
        self._numbered: dict[int, JSON] = {}
        self._open: set[str] = set()

    def opened(self, connection: str) -> None:
        """A connection is there."""
        self._open.add(connection)

    def closed(self, connection: str) -> None:
        """What follows waits for another connection; what flows ends."""
        self._open.discard(connection)
        self._flowing = [one for one in self._flowing if one.connection != connection]

    def see(self, message: Message, now: Now) -> None:
        """Take note of one of the kit's own messages."""
        self._note(message.value)
        for row in self._streams:
            if message.is_a(row["after"] + row["until"]):
                self._flowing = [one for one in self._flowing if one.row is not row]
            if message.is_a(row["after"]) and self._applies(row, {}, now):
                self._flowing += self._begin(row, message.event.connection, now)

    def is_answered(self, message: Message) -> bool:
        """Whether the kit answers this of its own accord."""
        value = message.value
        asks = isinstance(value, dict) and "method" in value and isinstance(value.get("id"), (int, str))
        return message.name in self._answers or (asks and "*" in self._answers)

    def answer(self, message: Message, now: Now) -> list[Action]:
        """What to send at once for a request of the implementation."""
        request, connection = message.value, message.event.connection
        return [
            Transmit(connection, dump(value)) for value in self._said(message.name, request, connection, now)
        ]

    def deadline(self) -> float | None:
        """When `wake` is due, in seconds of `Now.monotonic`; None where nothing is."""
        follows = (one.at for one in self._due if one.connection in self._open)
        times = [at for at in (*follows, *(one.at for one in self._flowing)) if at is not None]
        return min(times, default=None)

    def wake(self, now: Now) -> list[Action]:
        """What is due."""
        made: list[Action] = []
        ready = [one for one in self._due if one.connection in self._open and _is_past(one.at, now)]
        self._due = [one for one in self._due if one not in ready]
        for due in sorted(ready, key=lambda one: one.at or 0.0):
            made += [Transmit(due.connection, dump(value)) for value in self._follow(due, now)]
        for stream in self._flowing:
            if _is_past(stream.at, now):
                pause = _pause(stream.row, stream.item)
                stream.at = None if pause is None else now.monotonic + pause
                made.append(Transmit(stream.connection, dump(self._flow(stream, now))))
        return made

    # ── answers ───────────────────────────────────────────────────────────────────────────────────

    def _said(self, kind: str, request: JSON, connection: str, now: Now) -> Iterator[JSON]:
        rows = self._answers[kind if kind in self._answers else "*"]
        if isinstance(rows, str):
            rows = [{"result": rows}]
        for row in rows if isinstance(rows, list) else [rows]:
            key = written(jsontext.resolve(request, row["of"])) if "of" in row else ""
            scope = {"request": request, "kept": self._kept.get(key)}
            if self._applies(row, scope, now):
                yield from self._carried_out(row, kind, key, scope, connection, now)
                return

    def _applies(self, row: dict[str, Any], scope: Scope, now: Now) -> bool:
        known = {**scope, "names": self._bindings.names, "things": list(self._kept.values())}
        return difference(self._bindings.fill(row.get("given", {}), now, known), known) is None

    def _carried_out(
        self, row: dict[str, Any], kind: str, key: str, scope: Scope, connection: str, now: Now
    ) -> Iterator[JSON]:
        self._set(row, scope, now)
        self._stop(row, key)
        for _ in range(_number(self._bindings.fill(row.get("times"), now, scope))):
            for name, by in row.get("counts", {}).items():
                self._bindings.count(name, by)
            yield from self._waited(kind, now)
        yield from self._before(row, scope, connection, now)
        scope = self._keep(row, key, scope, now)
        if "error" in row:
            yield self._composer.refusal(row["error"], now, scope)
        else:
            yield self._composer.result(row["result"], row.get("with", {}), now, scope)
        yield from self._missed(row, scope, connection)
        for follow in row.get("then", ()):
            yield from self._later(_Due(follow, key, scope, connection, _time(follow, now)), now)

    def _set(self, row: dict[str, Any], scope: Scope, now: Now) -> None:
        for name, value in row.get("set", {}).items():
            self._bindings.names[name] = self._bindings.fill(value, now, scope)

    def _stop(self, row: dict[str, Any], key: str) -> None:
        """What was to follow about the same, or at all, does not."""
        if row.get("stops"):
            self._due = [one for one in self._due if row["stops"] != "all" and one.key != key]

    def _waited(self, kind: str, now: Now) -> Iterator[JSON]:
        """What was waiting for such a request."""
        due = [one for one in self._due if one.row.get("on") == kind]
        self._due = [one for one in self._due if one not in due]
        for one in due:
            yield from self._follow(one, now)
        for stream in self._flowing:
            if kind in stream.row.get("on", ()):
                yield self._flow(stream, now)

    def _before(self, row: dict[str, Any], scope: Scope, connection: str, now: Now) -> Iterator[JSON]:
        """What is said before the answer."""
        for first in row.get("first", ()):
            for key in self._keys(first, scope, now):
                said = list(self._follow(_Due(first, key, scope, connection, None), now))
                yield from () if first.get("missed") else said

    def _keys(self, row: dict[str, Any], scope: Scope, now: Now) -> list[str]:
        """What the message is about: each kept thing that fits, else nothing of the sort."""
        if "each" not in row:
            return [""]
        match = self._bindings.fill(row["each"], now, scope)
        return [key for key, kept in self._kept.items() if difference(match, kept) is None]

    def _missed(self, row: dict[str, Any], scope: Scope, connection: str) -> Iterator[JSON]:
        """What was said while there was no connection, where the row says after which number it goes on."""
        if "replays" not in row:
            return
        after = jsontext.resolve(scope["request"], row["replays"])
        known = after if isinstance(after, int) else 0
        yield from [self._numbered[number] for number in sorted(self._numbered) if number > known]
        self._due = [replace(one, connection=connection) for one in self._due]

    # ── what follows ──────────────────────────────────────────────────────────────────────────────

    def _note(self, value: JSON) -> None:
        """Remember a message that has a number, to say it again."""
        number = jsontext.resolve(value, self._replay["number"]) if self._replay else None
        if isinstance(number, int):
            self._numbered.setdefault(number, value)

    def _later(self, due: _Due, now: Now) -> Iterator[JSON]:
        if due.at is None or due.at > now.monotonic:
            self._due.append(due)
        else:
            yield from self._follow(due, now)

    def _follow(self, due: _Due, now: Now) -> Iterator[JSON]:
        if not self._applies(due.row, {**due.scope, "kept": self._kept.get(due.key)}, now):
            return
        self._set(due.row, due.scope, now)
        self._stop(due.row, due.key)
        scope = self._keep(due.row, due.key, {**due.scope, "kept": self._kept.get(due.key)}, now)
        value = self._composer.message(due.row["send"], {"params": due.row.get("params", {})}, now, scope)
        self._note(value)  # it counts, whether or not it gets through
        yield value
        for follow in due.row.get("then", ()):
            yield from self._later(_Due(follow, due.key, scope, due.connection, _time(follow, now)), now)

    def _keep(self, row: dict[str, Any], key: str, scope: Scope, now: Now) -> Scope:
        if "keep" not in row:
            return scope
        self._kept[key] = merged(scope["kept"] or {}, self._bindings.fill(row["keep"], now, scope))
        return {**scope, "kept": self._kept[key]}

    # ── what flows ────────────────────────────────────────────────────────────────────────────────

    def _begin(self, row: dict[str, Any], connection: str, now: Now) -> Iterator[_Stream]:
        items = self._bindings.fill(row["each"], now) if "each" in row else [None]
        for item in items:
            yield _Stream(row, item, connection, now.monotonic)

    def _flow(self, stream: _Stream, now: Now) -> JSON:
        counter = f"{stream.row['send']} {written(stream.item)}"  # which goes on where the stream begins anew
        item = stream.item if isinstance(stream.item, dict) else {}
        scope = {"item": {**item, "nth": self._bindings.count(counter), "first": stream.is_new}}
        stream.is_new = False
        return self._composer.message(
            stream.row["send"], {"params": stream.row.get("params", {})}, now, scope
        )


def _time(follow: dict[str, Any], now: Now) -> float | None:
    return None if "on" in follow else now.monotonic + follow.get("after", 0.0)


def _number(times: JSON) -> int:
    return min(times, MOST) if isinstance(times, int) and not isinstance(times, bool) else 1


def _is_past(at: float | None, now: Now) -> bool:
    return at is not None and at <= now.monotonic


def _pause(row: dict[str, Any], item: JSON) -> float | None:
    """Seconds between two; None where only requests make the stream go on."""
    if "every" in row:
        return float(row["every"])
    rate = jsontext.resolve(item, row["rate"]) if "rate" in row else None
    return None if rate in (None, jsontext.MISSING) else 1.0 / float(rate)
