"""Where the entities of a record stand: the lifecycles of a pack, moved by its messages one after another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, final

from conformance.checks import Moved, in_role
from conformance.checks.sequences import Gaps
from conformance.correlation import ByKind, Message, Sessions
from conformance.events import JSON
from conformance.jsontext import getter, parse
from conformance.lifecycles import Lifecycle, Move, States
from conformance.packs import Pack
from conformance.remembered import oldest, recall

Get = Callable[[JSON], JSON]
"""What reads a part of a message's value."""

Moves = Callable[[dict[str, Any]], bool]
"""Whether a message moves anything by a row of a lifecycle."""


@final
class _Row:
    """A row of a lifecycle in `pack.json`, read: what a message of its kinds says of an entity.

    It `moves` the entity, or else creates or forgets it. It `is_plain` if it reports nothing, and moves from
    everywhere that the table allows.
    """

    __slots__ = (
        *("entity", "is_plain", "moves", "number", "of_request"),
        *("reason", "reason_at", "said", "sources", "state", "state_at", "target"),
    )

    def __init__(self, said: dict[str, Any]) -> None:
        """The row as it stands in a pack."""
        number: str | None = said.get("number")
        self.said: Final = said
        self.state_at: Final[str] = said.get("state", "")
        self.reason_at: Final[str | None] = said.get("reason")
        self.entity: Final[Get] = getter(str(said["entity"]))
        self.state: Final[Get] = getter(self.state_at)
        self.reason: Final[Get | None] = None if self.reason_at is None else getter(self.reason_at)
        self.number: Final[Get | None] = None if number is None else getter(number)
        self.sources: Final[tuple[str, ...]] = tuple(said.get("from", ()))
        self.target: Final[str | None] = said.get("to")
        self.of_request: Final = said.get("of") == "request"
        self.moves: Final = not said.keys() & {"create", "forget"}
        self.is_plain: Final = not said.keys() & {"report", "only_from", "from", "force"}

    def is_report(self, before: str | None, target: str) -> bool:
        """Whether it repeats what an earlier message reached."""
        if self.said.get("report") == "always":
            return True
        only_from = self.said.get("only_from")
        if only_from is not None and before is not None and before != only_from:
            return True
        return self.said.get("report") == "when-unchanged" and before == target

    def may_move(self, before: str | None) -> bool:
        """Whether it moves anything from there."""
        return before is None or "from" not in self.said or before in self.sources


@final
class _Part:
    """What messages of one kind have to do with the lifecycles.

    `moving` are those that they move, `naming` where they name the entities themselves; `counts` says whether
    they have a number of a sequence.
    """

    __slots__ = ("begins", "counts", "moving", "naming")

    def __init__(
        self,
        moving: list[tuple[Lifecycle, _Row]],
        naming: list[tuple[Lifecycle, list[Get]]],
        begins: bool,
        counts: bool,
    ) -> None:
        self.moving: Final = moving
        self.naming: Final = naming
        self.begins: Final = begins
        self.counts: Final = counts


_NOTHING: frozenset[str] = frozenset()


class _Delivered(NamedTuple):
    """What was first told under a number: in which kind of message, its text, and of which entity what."""

    seq: int
    name: str
    text: str
    entity: str
    state: JSON


class Motion:
    """Moves the lifecycles of a pack, as the rows of its `pack.json` say."""

    def __init__(self, pack: Pack) -> None:
        self._rows = [(table, [*map(_Row, rows)]) for table, rows in pack.lifecycles.values()]
        self._parts = ByKind(self._part)
        self._states: dict[tuple[str, str], States] = {}
        self._sessions = Sessions(pack.meta.get("sessions", []))
        self._gaps = Gaps(pack)
        self._delivered: dict[tuple[str, str], _Delivered] = {}
        self._before: dict[str, int] = {}
        """The greatest number of each session of which nobody knows any longer what was told under it."""

    def of(self, message: Message, moves: Moves | None = None) -> tuple[Moved, ...]:
        """What the message says of each lifecycle's entities, by the rows by which it `moves` anything: all,
        where nothing is said of that.
        """
        part = self._parts.of(message)
        if part.begins:
            self._sessions.begun(message)
        if not part.moving or not in_role(message):
            return ()
        found = []
        for table, row in part.moving:
            if moves is None or moves(row.said):
                moved = self._apply(message, row, self._states_of(message, table))
                if moved is not None:
                    found.append(moved)
        return tuple(found)

    def _part(self, message: Message) -> _Part:
        moving = [(table, row) for table, rows in self._rows for row in rows if message.is_a(row.said["on"])]
        naming = [(table, own) for table, own in self._named_by(message) if own]
        begins = message.is_a(self._sessions.hears)
        return _Part(moving, naming, begins, self._gaps.counts(message))

    def _named_by(self, message: Message) -> list[tuple[Lifecycle, list[Get]]]:
        """All lifecycles, and where a message of its kind itself names each entity that it moves."""
        return [
            (table, [row.entity for row in rows if not row.of_request and message.is_a(row.said["on"])])
            for table, rows in self._rows
        ]

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
        key = self._sessions.of(message), table.name
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
            found = [row.entity(message.value) for row in rows]
            named = {name for name in found if isinstance(name, str)}
            for name in named:
                self._states_of(message, table).lose(name)
            about |= named
        return frozenset(about)

    def naming(self, message: Message) -> list[str]:
        """Where messages of its kind themselves name the entities that they move."""
        return [row.said["entity"] for _, row in self._parts.of(message).moving if not row.of_request]

    def lose_unnamed(self, message: Message, *, named: bool = False) -> frozenset[str]:
        """A message that does not say which entity it is about may be about any, and so may one that is
        missing before it: those that are lost. `named` is one of which it is known that it says so.
        """
        part = self._parts.of(message)
        if part.counts or (part.naming and not named):
            return self._lose_unnamed(message, part)
        return _NOTHING

    def _lose_unnamed(self, message: Message, part: _Part) -> frozenset[str]:
        about = _NOTHING
        gap = part.counts and self._gaps.before(message, self._sessions.of(message))
        for table, places in self._named_by(message) if gap else part.naming:
            named = [place for place in places if isinstance(place(message.value), str)]
            if gap or len(named) < len(places):
                states = self._states_of(message, table)
                about |= states.known()
                states.lose()
        return about

    def _apply(self, message: Message, row: _Row, states: States) -> Moved | None:
        source = message.request if row.of_request else message
        entity = row.entity(source.value) if source is not None else None
        if not isinstance(entity, str) or (row.number and self._is_redelivery(message, row, entity)):
            return None
        if row.moves:
            return self._moved(message, row, states, entity)
        if "create" in row.said:
            self._create(message, row, states, entity)
        elif states.state(entity) == states.lifecycle.initial:
            states.forget(entity)
        return None

    def _create(self, message: Message, row: _Row, states: States, entity: str) -> None:
        if row.said["create"] == "once" and states.state(entity) is not None:
            states.lose(entity)  # nobody knows whether it goes on or begins again
        elif self._sessions.is_whole(message):
            states.create(entity)

    def _moved(self, message: Message, row: _Row, states: States, entity: str) -> Moved | None:
        target = row.target if row.target is not None else row.state(message.value)
        if not isinstance(target, str):
            return None
        before = states.state(entity)
        unheard = before is None and states.never_began(entity) and self._sessions.is_whole(message)
        report = not row.is_plain and row.is_report(before, target)
        return Moved(
            states.lifecycle.name,
            states.move(entity, target) if row.is_plain else _move(row, states, entity, target, report),
            report,
            row.state_at,
            row.reason_at,
            None if row.reason is None else row.reason(message.value),
            row.sources,
            unheard,
        )

    def _is_redelivery(self, message: Message, row: _Row, entity: str) -> bool:
        assert row.number is not None
        number, state = row.number(message.value), row.state(message.value)
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


def _move(row: _Row, states: States, entity: str, target: str, report: bool) -> Move:
    """The move that is asked for, made where the row and the table let it be."""
    before = states.state(entity)
    if report or not row.may_move(before):
        edge = states.lifecycle.edge(before, target) if report and before else None
        return Move(entity, before, target, edge)
    move = states.move(entity, target)
    if move.illegal and row.said.get("force"):
        states.force(entity, target)
    return move
