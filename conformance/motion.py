"""Where the entities of a record stand: the lifecycles of a pack, moved by its messages one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from conformance.checks import Moved, in_role
from conformance.checks.order import Gaps
from conformance.correlation import ByKind, Message, Sessions
from conformance.jsontext import parse
from conformance.lifecycles import Lifecycle, Move, States
from conformance.packs import Pack
from conformance.remembered import oldest, recall


class _Delivered(NamedTuple):
    """What was first told under a number: in which kind of message, its text, and of which entity what."""

    seq: int
    name: str
    text: str
    entity: str
    state: object


class Motion:
    """Moves the lifecycles of a pack, as the rows of its `pack.json` say."""

    def __init__(self, pack: Pack) -> None:
        self._rows = list(pack.lifecycles.values())
        self._moving = ByKind(self._rows_of)
        self._naming = ByKind(self._named_by)
        self._states: dict[tuple[str, str], States] = {}
        self._sessions = Sessions(pack.meta.get("sessions", []))
        self._gaps = Gaps(pack)
        self._delivered: dict[tuple[str, str], _Delivered] = {}
        self._before: dict[str, int] = {}
        """The greatest number of each session of which nobody knows any longer what was told under it."""

    def of(self, message: Message, moves: Callable[[dict[str, Any]], bool]) -> tuple[Moved, ...]:
        """What the message says of each lifecycle's entities, by the rows by which it `moves` anything."""
        self._sessions.begun(message)
        moving = self._moving.of(message)
        if not moving or not in_role(message):
            return ()
        return tuple(
            moved
            for table, row in moving
            if moves(row)
            for moved in self._apply(message, row, self._states_of(message, table))
        )

    def _rows_of(self, message: Message) -> list[tuple[Lifecycle, dict[str, Any]]]:
        return [(table, row) for table, rows in self._rows for row in rows if message.is_a(row["on"])]

    def _named_by(self, message: Message, *, gap: bool = False) -> list[tuple[Lifecycle, list[str]]]:
        """The lifecycles, and where a message of its kind itself names each entity that it moves; with a
        `gap` before it, those too of which it moves none.
        """
        found = []
        for table, rows in self._rows:
            own = [row for row in rows if row.get("of") != "request" and message.is_a(row["on"])]
            if own or gap:
                found.append((table, [str(row["entity"]) for row in own]))
        return found

    def forget(self) -> None:
        """Nothing is known any longer, as at the beginning."""
        self._states.clear()
        self._delivered.clear()
        self._before.clear()
        self._sessions.forget()
        self._gaps.forget()

    def session(self, message: Message) -> str:
        """The key of the message's session, of which its entities are; empty where there is none."""
        return self._sessions.of(message)

    def _states_of(self, message: Message, table: Lifecycle) -> States:
        key = self.session(message), table.name
        found = self._states.get(key)
        if found is None:
            found = self._states[key] = States(table)
            for session, name in oldest(self._states):
                del self._states[session, name]
                self._sessions.lose(session)
        return found

    def lose_all(self) -> None:
        """What could not be read may have moved anything."""
        for states in self._states.values():
            states.lose()

    def lose(self, message: Message) -> frozenset[str]:
        """A message of no known kind may have moved what it is about: the entities that it names."""
        about: set[str] = set()
        for table, rows in self._rows:
            found = [message.at(str(row["entity"])) for row in rows]
            named = {name for name in found if isinstance(name, str)}
            for name in named:
                self._states_of(message, table).lose(name)
            about |= named
        return frozenset(about)

    def lose_unnamed(self, message: Message) -> frozenset[str]:
        """A message that does not say which entity it is about may be about any, and so may one that is
        missing before it: those that are lost.
        """
        about: frozenset[str] = frozenset()
        naming = self._naming.of(message)
        gap = self._gaps.before(message, self.session(message))
        if not (gap or naming):
            return about
        for table, places in self._named_by(message, gap=True) if gap else naming:
            if gap or not all(isinstance(message.at(place), str) for place in places):
                states = self._states_of(message, table)
                about |= states.known()
                states.lose()
        return about

    def _apply(self, message: Message, row: dict[str, Any], states: States) -> Iterator[Moved]:
        source = message.request if row.get("of") == "request" else message
        entity = source.at(str(row["entity"])) if source is not None else None
        if not isinstance(entity, str) or self._is_redelivery(message, row, entity):
            return
        if "create" in row:
            self._create(message, row, states, entity)
        elif "forget" in row:
            if states.state(entity) == states.lifecycle.initial:
                states.forget(entity)
        else:
            yield from self._moved(message, row, states, entity)

    def _create(self, message: Message, row: dict[str, Any], states: States, entity: str) -> None:
        if row["create"] == "once" and states.state(entity) is not None:
            states.lose(entity)  # nobody knows whether it goes on or begins again
        elif self._sessions.is_whole(message):
            states.create(entity)

    def _moved(self, message: Message, row: dict[str, Any], states: States, entity: str) -> Iterator[Moved]:
        state_at: str = row.get("state", "")
        target = row["to"] if "to" in row else message.at(state_at)
        if not isinstance(target, str):
            return
        unheard = states.never_began(entity) and self._sessions.is_whole(message)
        report = self._is_report(row, states.state(entity), target)
        reason_at: str | None = row.get("reason")
        yield Moved(
            lifecycle=states.lifecycle.name,
            move=self._move(row, states, entity, target, report),
            report=report,
            state_at=state_at,
            reason_at=reason_at,
            reason=None if reason_at is None else message.at(reason_at),
            sources=tuple(row.get("from", ())),
            out_of_nothing=unheard,
        )

    def _move(self, row: dict[str, Any], states: States, entity: str, target: str, report: bool) -> Move:
        before = states.state(entity)
        if report or not self._may(row, before):
            edge = states.lifecycle.edge(before, target) if report and before else None
            return Move(entity, before, target, edge)
        move = states.move(entity, target)
        if move.illegal and row.get("force"):
            states.force(entity, target)
        return move

    def _is_report(self, row: dict[str, Any], before: str | None, target: str) -> bool:
        if row.get("report") == "always":
            return True
        only_from = row.get("only_from")
        if only_from is not None and before is not None and before != only_from:
            return True
        return row.get("report") == "when-unchanged" and before == target

    def _may(self, row: dict[str, Any], before: str | None) -> bool:
        return before is None or "from" not in row or before in row["from"]

    def _is_redelivery(self, message: Message, row: dict[str, Any], entity: str) -> bool:
        if "number" not in row:
            return False
        number, state = message.at(str(row["number"])), message.at(str(row["state"]))
        key = (self._sessions.of(message), f"{number}")
        first = self._delivered.get(key)
        if first is None:
            self._deliver(key, _Delivered(message.seq, message.name, message.event.text, entity, state))
            return type(number) is int and 0 <= number <= self._before.get(key[0], -1)
        if first.seq == message.seq:
            return False
        if first.name == message.name:
            return first.text == message.event.text or bool(parse(first.text).value == message.value)
        # What a result reported first, a replay repeats as a notification: the same state of the same entity.
        return (first.entity, first.state) == (entity, state)

    def _deliver(self, key: tuple[str, str], delivered: _Delivered) -> None:
        self._delivered[key] = delivered
        for session, number in oldest(self._delivered):
            del self._delivered[session, number]
            if number.isdecimal():
                self._before[session] = max(int(number), recall(self._before, session, lambda: -1))
