"""A lifecycle is a table: states, the transitions between them, and the reasons each permits.

One file owns all movement of state. An illegal move leaves the entity where it was, so that one
fault is one finding and not a cascade.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, final

from conformance.errors import BadPack
from conformance.events import Fields
from conformance.remembered import REMEMBERED, forget_oldest, oldest

OPEN: int = REMEMBERED + REMEMBERED // 2
"""So many entities of one lifecycle are remembered at most, whether they are over or not."""


@final
class Transition(Fields):
    """One edge. `reasons` are those it permits; None where it lists none.

    `wire` is `error` where an error response takes the edge, and so no report of a state may.
    """

    _fields = ("source", "target", "reasons", "wire")
    __slots__ = _fields

    def __init__(
        self,
        source: str,
        target: str,
        reasons: tuple[str, ...] | None = None,
        wire: str = "",
    ) -> None:
        self.source: Final[str] = source
        self.target: Final[str] = target
        self.reasons: Final[tuple[str, ...] | None] = reasons
        self.wire: Final[str] = wire


@final
class Lifecycle(Fields):
    """The table of one kind of entity. `classes` gives each state its class, `terminal` among them."""

    _fields = ("name", "initial", "classes", "transitions", "repeat")
    __slots__ = _fields

    def __init__(
        self,
        name: str,
        initial: str,
        classes: Mapping[str, str],
        transitions: Mapping[tuple[str, str], Transition],
        repeat: frozenset[str] = frozenset(),
    ) -> None:
        self.name: Final[str] = name
        self.initial: Final[str] = initial
        self.classes: Final[Mapping[str, str]] = classes
        self.transitions: Final[Mapping[tuple[str, str], Transition]] = transitions
        self.repeat: Final[frozenset[str]] = repeat

    def edge(self, source: str, target: str) -> Transition | None:
        """The transition that a reported state makes; staying in a repeatable state is one."""
        found = self.transitions.get((source, target))
        if found is not None and found.wire == "error":
            return None
        if found is None and source == target and source in self.repeat:
            return Transition(source, target)
        return found

    def allowed(self, source: str) -> tuple[str, ...]:
        """The states that may be reported after `source`, in the table's order."""
        onward = [target for start, target in self.transitions if start == source]
        if source in self.repeat:
            onward.append(source)
        return tuple(target for target in onward if self.edge(source, target))

    def is_terminal(self, state: str) -> bool:
        """Whether nothing may follow the state."""
        return self.classes.get(state) == "terminal"

    def edges(self) -> Iterator[Transition]:
        """Every edge that two messages can show, repeats included."""
        yield from self.transitions.values()
        yield from (Transition(state, state) for state in sorted(self.repeat))


def read(table: Mapping[str, Any]) -> Lifecycle:
    """A lifecycle from its JSON form; BadPack where a state is named that is not listed."""
    classes = table["states"]
    edges = {}
    for row in table["transitions"]:
        reasons = tuple(row["reasons"]) if "reasons" in row else None
        edges[row["from"], row["to"]] = Transition(row["from"], row["to"], reasons, row.get("wire", ""))
    named = {table["initial"], *table.get("repeat", ()), *(state for pair in edges for state in pair)}
    unknown = sorted(named - set(classes))
    if unknown:
        raise BadPack(f"lifecycle {table['name']!r} names the unlisted state {', '.join(unknown)}")
    return Lifecycle(table["name"], table["initial"], classes, edges, frozenset(table.get("repeat", ())))


@final
class Move(Fields):
    """What one message did to one entity.

    `before` is None for an entity that no earlier message created; `edge` is None where the table
    has no such transition (then the entity stays where it was).
    """

    _fields = ("entity", "before", "target", "edge")
    __slots__ = _fields

    def __init__(
        self,
        entity: str,
        before: str | None,
        target: str,
        edge: Transition | None,
    ) -> None:
        self.entity: Final[str] = entity
        self.before: Final[str | None] = before
        self.target: Final[str] = target
        self.edge: Final[Transition | None] = edge

    @property
    def illegal(self) -> bool:
        """Whether the table was broken: the state before is known and no edge leads on."""
        return self.before is not None and self.edge is None


class States:
    """Where each entity of one lifecycle stands, moved by one message at a time."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self.lifecycle = lifecycle
        self._at: dict[str, str | None] = {}
        self._over: dict[str, None] = {}
        self._refused: dict[str, None] = {}
        self._complete = True

    def state(self, entity: str) -> str | None:
        """The entity's state; None while nothing is known of it."""
        return self._at.get(entity)

    def create(self, entity: str) -> None:
        """The entity begins, in the table's initial state; a known one stays as it is."""
        self._at.setdefault(entity, self.lifecycle.initial)
        self._forget_oldest()

    def forget(self, entity: str) -> None:
        """The entity never came to be (its creation was refused)."""
        self._at.pop(entity, None)
        self._refused[entity] = None
        forget_oldest(self._refused)

    def lose(self, entity: str | None = None) -> None:
        """Nobody knows any longer where the entity stands, or, where none is named, any of them."""
        self._at.update(dict.fromkeys(self._at if entity is None else [entity]))
        self._complete = self._complete and entity is not None
        self._forget_oldest()

    def known(self) -> frozenset[str]:
        """The entities of which anything was said."""
        return frozenset(self._at)

    def never_began(self, entity: str) -> bool:
        """Whether nothing was ever said of the entity, and nothing that was said was lost."""
        return self._complete and entity not in self._at and entity not in self._refused

    def move(self, entity: str, target: str) -> Move:
        """Move the entity if the table allows it; an entity not known before is taken as it is."""
        before = self._at.get(entity)
        edge = self.lifecycle.edge(before, target) if before is not None else None
        if target in self.lifecycle.classes and (before is None or edge is not None):
            self._put(entity, target)
        return Move(entity, before, target, edge)

    def _put(self, entity: str, state: str) -> None:
        """Of those that are over, the latest are remembered; of the others it is then not known any longer
        that they never began."""
        self._at[entity] = state
        if len(self._at) > OPEN:
            self._forget_oldest()
        if self.lifecycle.classes[state] == "terminal":
            self._over[entity] = None
            for name in oldest(self._over):
                del self._over[name]
                self._at.pop(name, None)
                self._complete = False
        else:
            self._over.pop(entity, None)

    def _forget_oldest(self) -> None:
        if len(self._at) > OPEN:
            for name in oldest(self._at, OPEN):
                del self._at[name]
                self._over.pop(name, None)
            self._complete = False

    def force(self, entity: str, target: str) -> None:
        """Take over a state that the table does not lead to, where another requirement judges the move."""
        if target in self.lifecycle.classes:
            self._put(entity, target)
