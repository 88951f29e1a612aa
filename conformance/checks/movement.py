"""Checks of lifecycles: legal transitions, reasons, silence after the end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.checks import Moved, Observation, failed, passed
from conformance.correlation import Message
from conformance.findings import Finding, Level, Requirement
from conformance.packs import Pack
from conformance.patterns import matches
from conformance.remembered import forget_oldest


def _listed(states: Iterable[str]) -> str:
    return ", ".join(states) or "nothing"


Entity = tuple[str, str]
"""The key of its session, and its name: two sessions may have entities of one name."""


class Moves:
    """The moves of one lifecycle that a check is to judge, by its parameters `lifecycle` and `on`."""

    def __init__(self, spec: dict[str, Any], pack: Pack) -> None:
        self.lifecycle, rows = pack.lifecycles[spec["lifecycle"]]
        self._on = frozenset(spec.get("on", ["*"]))
        moving = frozenset(name for row in rows for name in row["on"])
        self.hears = moving if "*" in self._on else self._on

    def of(self, seen: Observation) -> Iterable[tuple[Message, Moved]]:
        """What the message that is observed said of this lifecycle's entities."""
        message = seen.message
        if not seen.moved or message is None or not message.is_a(self._on):
            return ()
        return [(message, moved) for moved in seen.moved if moved.lifecycle == self.lifecycle.name]


class Transition:
    """Every move is listed in the table.

    An entity that is spoken of as if it had left its initial state lacks one step, and that is told once.
    Parameters: `lifecycle`; `on` limits it to some kinds; `unless` names states whose successors are
    judged by another requirement; with `"begun": true`, a state of what never began is no move either.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._moves = Moves(spec, pack)
        self.hears = self._moves.hears
        self._unless = frozenset(spec.get("unless", ()))
        self._begun = spec.get("begun", False)
        self._told: dict[Entity, None] = {}

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per move of a known entity; of illegal moves in a row, the first alone."""
        if not seen.praise and not self._told and self._are_listed(seen):
            return ()
        return [*self._judge(seen)]

    def _are_listed(self, seen: Observation) -> bool:
        for moved in seen.moved:  # noqa: SIM110 - every message is asked, and `all` makes a generator
            if not self._is_listed(moved):
                return False
        return True

    def _is_listed(self, moved: Moved) -> bool:
        """Whether the table has the move, if it is one; there is nothing to say of it then."""
        before, edge = moved.move.before, moved.move.edge
        return (edge is not None or before is None) and not (self._begun and moved.out_of_nothing)

    def _judge(self, seen: Observation) -> Iterable[Finding]:
        for message, moved in self._moves.of(seen):
            move = moved.move
            if self._begun and moved.out_of_nothing:
                said = f"{message.name} says that {move.entity} is {move.target}, and it never began"
                yield failed(self._requirement, message, said, moved.state_at, actual=move.target)
                continue
            if moved.report or move.before is None or move.before in self._unless:
                continue
            entity = seen.session, move.entity
            if not move.illegal:
                self._told.pop(entity, None)
                if seen.praise:
                    yield passed(self._requirement, message)
                continue
            if entity in self._told:
                continue  # it goes on from where the first one left the table
            self._told[entity] = None
            forget_oldest(self._told)
            yield self._unlisted(message, moved, move.before)

    def _unlisted(self, message: Message, moved: Moved, before: str) -> Finding:
        move, allowed = moved.move, self._moves.lifecycle.allowed(before)
        said = f"{move.entity} goes from {before} to {move.target}"
        if moved.sources and before not in moved.sources:
            said = f"{move.entity} is {before}, and {message.name} follows {_listed(moved.sources)}"
        said += f"; from {before} the table allows {_listed(allowed)}"
        return failed(self._requirement, message, said, moved.state_at, expected=allowed, actual=move.target)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each move is judged when it is seen."""
        return ()


class TerminalSilence:
    """Nothing about an entity after it reached one of `states`.

    Shown by an entity that ended and of which nothing more was heard when the record was over, nor anything
    that could not be understood.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._moves = Moves(spec, pack)
        self.hears = self._moves.hears
        self._states = frozenset(spec["states"])
        self._ended: dict[Entity, Message] = {}

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per message after the end."""
        if not seen.plain and seen.loses_any:
            self._lose(seen)
        if not (seen.praise or self._had_ended(seen)):
            return ()
        return [*self._judge(seen)]

    def _had_ended(self, seen: Observation) -> bool:
        for moved in seen.moved:  # noqa: SIM110 - every message is asked, and `any` makes a generator
            if moved.move.before in self._states:
                return True
        return False

    def _judge(self, seen: Observation) -> Iterable[Finding]:
        for message, moved in self._moves.of(seen):
            move = moved.move
            if moved.report:
                continue
            if move.before in self._states:
                said = f"{move.entity} had ended as {move.before}, and {message.name} says something more"
                yield failed(self._requirement, message, said, moved.state_at, actual=message.name)
            elif seen.praise and move.edge is not None and move.target in self._states:
                self._ended[seen.session, move.entity] = message
                forget_oldest(self._ended)

    def _lose(self, seen: Observation) -> None:
        for (session, name), end in list(self._ended.items()):
            if seen.may_hide(name, end.party, session):
                del self._ended[session, name]

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding for each entity that stayed ended."""
        if complete:
            yield from (passed(self._requirement, message) for message in self._ended.values())


class ReasonRequired:
    """A status that reports one of `states` carries a reason."""

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._moves = Moves(spec, pack)
        self.hears = self._moves.hears
        self._states = frozenset(spec["states"])

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per status of such a state."""
        for moved in seen.moved:
            if moved.move.target in self._states:
                return [*self._judge(seen)]
        return ()

    def _judge(self, seen: Observation) -> Iterable[Finding]:
        for message, moved in self._moves.of(seen):
            if moved.move.target not in self._states or moved.reason_at is None:
                continue
            if moved.reason is not None:
                yield passed(self._requirement, message)
                continue
            expected = (moved.move.edge.reasons if moved.move.edge else None) or ()
            said = f"{moved.move.entity} is {moved.move.target} and no reason is given"
            if expected:
                said += f"; permitted here: {_listed(expected)}"
            yield failed(self._requirement, message, said, moved.reason_at, expected=expected)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each status is judged when it is seen."""
        return ()


class ReasonAllowed:
    """A reason is one that the transition permits; `vendor` is a pattern of reasons permitted anywhere.

    A reason on a transition that lists none is a warning, not a failure.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._moves = Moves(spec, pack)
        self.hears = self._moves.hears
        self._vendor = spec["vendor"]

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per reason on a legal transition."""
        for moved in seen.moved:
            if moved.reason is not None:
                return [*self._judge(seen)]
        return ()

    def _judge(self, seen: Observation) -> Iterable[Finding]:
        for message, moved in self._moves.of(seen):
            edge, reason = moved.move.edge, moved.reason
            if moved.report or edge is None or not isinstance(reason, str):
                continue
            if reason in (edge.reasons or ()) or matches(self._vendor, reason):
                yield passed(self._requirement, message)
                continue
            said = f"the reason {reason} is not permitted from {edge.source} to {edge.target}"
            said += f"; permitted: {_listed(edge.reasons)}" if edge.reasons else ", which lists no reason"
            yield failed(
                self._requirement,
                message,
                said,
                moved.reason_at or "",
                expected=edge.reasons or (),
                actual=reason,
                level=None if edge.reasons else Level.SHOULD,
            )

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each reason is judged when it is seen."""
        return ()
