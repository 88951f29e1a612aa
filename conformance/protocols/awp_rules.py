"""Agent World Protocol: rules over what a record tells.

A rule is a function of what was known before a message, and the message. It says nothing where the
record does not show enough. `rule` makes it a check that a requirement's row can name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from conformance.checks import Check, CheckFactory, Observation, failed, passed
from conformance.correlation import Message
from conformance.events import Closed, Opened
from conformance.findings import Finding, Level, Requirement
from conformance.packs import Pack
from conformance.protocols.awp_record import TEACHING, Memory


class Told(NamedTuple):
    """What a rule says of a message, or of the earlier one that it is `about`; nothing said is praise."""

    said: str = ""
    pointer: str = ""
    expected: tuple[Any, ...] = ()
    actual: Any = None
    level: Level | None = None
    about: Message | None = None


HOLDS = Told()

Rule = Callable[[Memory, Message], Iterable[Told]]
Ending = Callable[[Memory], Iterable[Message]]


class _Ruled:
    """The check that one rule makes for one requirement."""

    def __init__(
        self,
        requirement: Requirement,
        memory: Memory,
        kinds: frozenset[str],
        judge: Rule,
        ending: Ending | None,
    ) -> None:
        self._requirement = requirement
        self._memory = memory
        self._kinds = kinds
        self._heeded = kinds | TEACHING
        self._judge = judge
        self._ending = ending

    def see(self, seen: Observation) -> Iterable[Finding]:
        """What the rule says of the message, before anything is learnt from it."""
        message = seen.message
        if message is None or message.kind is None or message.name in self._heeded:
            return self._heed(seen)
        return self._heed(seen) if message.kind.name in self._kinds else ()  # most messages, and so quickly

    def _heed(self, seen: Observation) -> Iterable[Finding]:
        message = seen.message
        if isinstance(seen.event, (Opened, Closed)):
            self._memory.connected(seen.event)
        if message is None or message.kind is None:
            if seen.lost is None or message is not None:
                self._memory.lose(seen)
            return
        if message.known_party and message.party not in message.kind.senders:
            return
        self._memory.count(message)
        if _is_spoilt(seen):  # what cannot be is another requirement's finding, and nothing follows from it
            self._memory.follow(message)
            self._memory.doubt(message)
            return
        if not self._kinds.isdisjoint((message.name, message.kind.name)):
            yield from (self._finding(message, told) for told in self._judge(self._memory, message))
        self._memory.follow(message)

    def _finding(self, message: Message, told: Told) -> Finding:
        about = told.about or message
        if not told.said:
            return passed(self._requirement, about)
        finding = failed(
            self._requirement,
            about,
            told.said,
            told.pointer,
            expected=told.expected,
            actual=told.actual,
            level=told.level,
        )
        return finding if about is message else _placed(finding, about)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Praise for what nothing was said against, if the record is complete."""
        if self._ending and complete:
            yield from (passed(self._requirement, message) for message in self._ending(self._memory))


def _is_spoilt(seen: Observation) -> bool:
    """Whether the message says of an action what its lifecycle does not allow, or does not know."""
    return any(one.move.illegal and not one.report for one in seen.moved)


def _placed(finding: Finding, about: Message) -> Finding:
    return finding._replace(line=about.event.line, column=about.event.column)


def rule(*kinds: str, ending: Ending | None = None) -> Callable[[Rule], CheckFactory]:
    """Make a function a check of messages of these kinds; `ending` gives those that stood
    when the record was over."""

    def make(judge: Rule) -> CheckFactory:
        def factory(requirement: Requirement, spec: dict[str, Any], pack: Pack) -> Check:
            memory = Memory(pack, spec.get("parameters", {}))
            return _Ruled(requirement, memory, frozenset(kinds), judge, ending)

        factory.__doc__ = judge.__doc__
        return factory

    return make
