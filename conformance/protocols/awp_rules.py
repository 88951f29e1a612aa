"""Agent World Protocol: rules over what a record tells.

A rule is a function of what was known before a message, and the message. It says nothing where the
record does not show enough. `rule` makes it a check that a requirement's row can name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from conformance import checks
from conformance.checks import Check, CheckFactory, Follower, Observation, failed, passed
from conformance.correlation import Message
from conformance.findings import Finding, Level, Requirement
from conformance.lapses import Lapse
from conformance.packs import Pack
from conformance.protocols.awp_record import Memory


class Told(NamedTuple):
    """What a rule says of a message, or of the earlier one that it is `about`; nothing said is praise."""

    said: str = ""
    pointer: str = ""
    expected: tuple[Any, ...] = ()
    actual: Any = None
    level: Level | None = None
    about: Message | None = None
    doubt: Lapse | None = None
    """The time in which the kit was late, where it depends on that."""


HOLDS = Told()


def timed(told: Told, lapse: Lapse, broken: bool | None) -> Told:
    """What is told of a time that was not kept, or of one of which nobody knows (None) whether it was."""
    return told._replace(doubt=lapse) if broken is None else told


Rule = Callable[[Memory, Message], Iterable[Told]]
Ending = Callable[[Memory], Iterable[Message]]


class _Ruled:
    """The check that one rule makes for one requirement."""

    def __init__(
        self,
        requirement: Requirement,
        parameters: dict[str, Any],
        pack: Pack,
        kinds: frozenset[str],
        judge: Rule,
        ending: Ending | None,
        replays: bool,
        mode: str,
    ) -> None:
        self._requirement = requirement
        self._mode = mode
        self._replays = replays
        self._parameters = parameters
        self._kinds = kinds
        self._judge = judge
        self._ending = ending
        self._memory = Memory(pack)
        self._notes: dict[Any, Any] = {}
        self._doubts = 0

    @property
    def hears(self) -> frozenset[str]:
        """The messages that the rule is about."""
        return self._kinds

    def joins(self, shared: dict[str, Any]) -> Follower:
        """The memory that all rules of one stream share."""
        self._memory = shared.setdefault("awp", self._memory)
        self._memory.noted.append(self._notes)
        return self._memory

    def see(self, seen: Observation) -> Iterable[Finding]:
        """What the rule says of the message."""
        memory, message = self._memory, seen.message
        judged = memory.judged if memory.now is seen else memory.attend(seen)
        if not judged or message is None or (memory.again and not self._replays):
            return ()
        if not (seen.plain or message.is_a(self._kinds)):
            return ()
        if self._mode and (memory.here is None or memory.here.mode != self._mode):
            return ()
        if self._doubts != memory.doubted:
            self._forget_doubtful()
        memory.notes, memory.options = self._notes, self._parameters
        found: list[Finding] = []
        for one in self._judge(memory, message):
            if one.said or seen.praise:
                found.append(self._finding(message, one))
        return found

    def _forget_doubtful(self) -> None:
        """Drop the notes on what may have changed since, unheard."""
        memory = self._memory
        memory.notes = self._notes
        for doubtful, number in memory.doubts.items():
            if number > self._doubts:
                memory.forget(doubtful)
        self._doubts = memory.doubted

    def _finding(self, message: Message, told: Told) -> Finding:
        about = told.about or message
        if not told.said:
            return passed(self._requirement, about)
        found = failed(
            self._requirement,
            about,
            told.said,
            told.pointer,
            expected=told.expected,
            actual=told.actual,
            level=told.level,
        )
        return checks.timed(found, told.doubt, None) if told.doubt else found

    def end(self, complete: bool) -> Iterable[Finding]:
        """Praise for what nothing was said against, if the record is complete."""
        memory = self._memory
        memory.catch_up()
        if self._ending is None or not complete:
            return []
        if self._doubts != memory.doubted:
            self._forget_doubtful()
        memory.notes = self._notes
        return [passed(self._requirement, message) for message in self._ending(memory)]


def rule(
    *kinds: str, ending: Ending | None = None, replays: bool = False, mode: str = ""
) -> Callable[[Rule], CheckFactory]:
    """Make a function a check of messages of these kinds; `ending` gives those that stood when the record
    was over. With `replays`, it is also asked about notifications that are only said again; with `mode`,
    only about sessions of this time model."""

    def make(judge: Rule) -> CheckFactory:
        def factory(requirement: Requirement, spec: dict[str, Any], pack: Pack) -> Check:
            parameters, of = spec.get("parameters", {}), frozenset(kinds)
            return _Ruled(requirement, parameters, pack, of, judge, ending, replays, mode)

        factory.__doc__ = judge.__doc__
        return factory

    return make
