"""How requirements are judged: one small class per kind of check; `families` names them all.

A check is made for one requirement from its row's parameters. It sees every observation of a stream
in order and yields findings for and against; `end` is called once when the record is over. It knows
no clock, no socket and no protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol, final

from conformance import locating
from conformance.correlation import Message, is_from_the_wrong_side
from conformance.events import JSON, Event, Spoken, in_input
from conformance.findings import Finding, Level, Requirement
from conformance.lapses import Lapse
from conformance.lifecycles import Move
from conformance.packs import Pack
from conformance.wording import type_name


@final
class Moved:
    """What a message said of one entity's state. Nothing changes it.

    A `report` repeats a state that an earlier message reached, and moves nothing. `reason_at` is the
    pointer where a reason would stand, or None where this kind of message has no place for one. `sources` are
    the states from which alone this kind of message moves anything; empty where the table decides.
    `out_of_nothing` says that the record is whole, and nothing in it ever began the entity.
    """

    __slots__ = (
        "lifecycle",
        "move",
        "out_of_nothing",
        "reason",
        "reason_at",
        "report",
        "sources",
        "state_at",
    )

    def __init__(
        self,
        lifecycle: str,
        move: Move,
        report: bool,
        state_at: str,
        reason_at: str | None,
        reason: Any,
        sources: tuple[str, ...] = (),
        out_of_nothing: bool = False,
    ) -> None:
        self.lifecycle = lifecycle
        self.move = move
        self.report = report
        self.state_at = state_at
        self.reason_at = reason_at
        self.reason = reason
        self.sources = sources
        self.out_of_nothing = out_of_nothing


_NONE_LOST: Final[frozenset[str]] = frozenset()


@final
class Observation:
    """One event, the message it carries if any, and what that did to the lifecycles. Nothing changes it.

    `lost` are the entities of the `session` of which nobody knows any longer where they stand, since
    something that may have been about them could not be understood; None is all of them, in every session.
    `session` is the key of the session that the message is of; empty where the protocol or the record has
    none. `fits` says whether the schema of its kind accepts the message, `praise` whether anybody asks for
    findings that a requirement holds, and `plain` whether nothing at all is odd about it: it is a message,
    all was understood, its text has no faults and no number that a float would round, and its schema
    accepts it.
    """

    # A class of its own for what is made of every event: compiled, its attributes are where they are.
    __slots__ = ("again", "event", "fits", "lost", "message", "moved", "plain", "praise", "session")

    def __init__(
        self,
        event: Event,
        message: Message | None = None,
        moved: tuple[Moved, ...] = (),
        lost: frozenset[str] | None = _NONE_LOST,
        again: bool = False,
        session: str = "",
        fits: bool = False,
        praise: bool = True,
        plain: bool = False,
    ) -> None:
        self.event = event
        self.message = message
        self.moved = moved
        self.lost = lost
        self.again = again
        self.session = session
        self.fits = fits
        self.praise = praise
        self.plain = plain

    @property
    def loses_any(self) -> bool:
        """Whether anything is lost by this event."""
        return self.lost is None or bool(self.lost)

    def loses(self, entity: str, session: str = "") -> bool:
        """Whether the entity of that session is lost by this event."""
        return self.lost is None or (session == self.session and entity in self.lost)

    def may_hide(self, entity: str, party: str, session: str = "") -> bool:
        """Whether something that could not be understood may be what `party` says of the entity."""
        return self.loses(entity, session) and getattr(self.event, "party", "") in ("", party)


class Check(Protocol):
    """One requirement's judge over one stream.

    A check may have `hears`, the names or kinds of the messages that can matter to it: it then need not be
    shown others that are `plain`. One with `praises` does nothing then but praise. With `joins(shared)`, it
    takes up what it has in common with others; that may be a `Follower`, which is shown everything. Checks
    of one kind of message that have one function `gather(checks, message)` are shown a plain one as the one
    check that this makes of them, if nobody asks for praise.
    """

    def see(self, seen: Observation) -> Iterable[Finding]:
        """Findings that this observation settles."""
        ...

    def end(self, complete: bool) -> Iterable[Finding]:
        """Findings that only the end settles; `complete` is False where the record merely stops."""
        ...


See = Callable[[Observation], Iterable[Finding]]
"""How a check sees an observation."""

Attend = Callable[[Observation], bool]
"""How a follower does."""


class Follower(Protocol):
    """What several checks of one stream have in common: it is shown every observation, before them.

    One that has `hears`, as a check has it, need not be shown other messages that are `plain`.
    """

    def attend(self, seen: Observation) -> bool:
        """Learn from the observation; whether its message can be judged."""
        ...


def gathered(checks: Iterable[Check], message: Message) -> list[Check]:
    """The checks of a kind of message, with one in place of those that are shown it together."""
    places: dict[Any, list[Check]] = {}
    for check in checks:
        gather: Callable[..., Check] | None = getattr(check, "gather", None)
        places.setdefault(gather or check, []).append(check)
    return [few[0] if key is few[0] else key(few, message) for key, few in places.items()]


CheckFactory = Callable[[Requirement, dict[str, Any], Pack], Check]


def in_role(message: Message) -> bool:
    """Whether the message is of a kind that its speaker's role sends, as far as both are known."""
    return not is_from_the_wrong_side(message)


def passed(requirement: Requirement, message: Message) -> Finding:
    """A finding for the requirement, about the message's speaker."""
    event = message.event
    return Finding(requirement.id, True, message.party, message.seq, connection=event.connection)


def failed(
    requirement: Requirement,
    message: Message,
    text: str,
    pointer: str = "",
    *,
    expected: Iterable[Any] = (),
    actual: Any = None,
    level: Level | None = None,
) -> Finding:
    """A finding against the requirement, about the message's speaker, at the value at `pointer`."""
    line, column = located(message.event, pointer)
    return Finding(
        requirement.id,
        False,
        message.party,
        message.seq,
        text,
        pointer,
        tuple(expected),
        actual,
        level,
        connection=message.event.connection,
        line=line,
        column=column,
    )


def timed(finding: Finding, lapse: Lapse, broken: bool | None) -> Finding:
    """The finding that a time was not kept; inconclusive where it is not known (None) whether it was.

    `broken` is what the lapse says of the limit, whose delays are the kit's, or the machine's.
    """
    if broken is not None:
        return finding
    said = f"{finding.message}, but the kit itself was {lapse.unsure:.1f} s late"
    return finding._replace(message=said, inconclusive=True)


def located(event: Spoken, pointer: str) -> tuple[int, int]:
    """Line and column, from 1, where the value at a pointer of a message stands in the input."""
    place = locating.locate(event.text, pointer)
    return in_input(event, place.line, place.column) if place else in_input(event, 1, 1)


def same(one: JSON, other: JSON) -> bool:
    """Whether two JSON values are equal: 1 and 1.0 are, 1 and true are not."""
    pairs = [(one, other)]
    while pairs:
        mine, theirs = pairs.pop()
        kind = type_name(mine)
        if kind != type_name(theirs):
            return False
        if kind == "object" and mine.keys() == theirs.keys():
            pairs += [(mine[name], theirs[name]) for name in mine]
        elif kind == "array" and len(mine) == len(theirs):
            pairs += zip(mine, theirs, strict=True)
        elif mine != theirs:
            return False
    return True
