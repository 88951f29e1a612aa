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
from conformance.protocols.awp_record import Memory, Step


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

NOTHING: tuple[Told, ...] = ()
"""What most rules say of most messages."""

PRAISED = (HOLDS,)


class _Ever(tuple[Told, ...]):
    """What a rule says of each frame of a channel alike, for as long as the channel is granted as it is."""

    __slots__ = ()


NEVER_ANYTHING = _Ever()

EVER_PRAISED = _Ever(PRAISED)


def timed(told: Told, lapse: Lapse, broken: bool | None) -> Told:
    """What is told of a time that was not kept, or of one of which nobody knows (None) whether it was."""
    return told._replace(doubt=lapse) if broken is None else told


Rule = Callable[[Memory, Message], Iterable[Told]]
Ending = Callable[[Memory], Iterable[Message]]


class _Question(NamedTuple):
    """A rule, and of what it is asked: see `rule`."""

    judge: Rule
    kinds: frozenset[str]
    ending: Ending | None
    replays: bool
    mode: str
    before: frozenset[str] | None
    says: frozenset[str] | None
    begins: frozenset[str] | None

    def asks(self, mode: str, again: bool, step: Step | None) -> bool:
        """Whether it is asked of a message of a session of this time model, which may be said again, and
        which is such a step of an action if it is a status."""
        if (again and not self.replays) or (self.mode and mode != self.mode):
            return False
        if step is None:
            return True
        before, says = step
        return (self.before is None or before in self.before) and (self.says is None or says in self.says)

    def waits(self, message: Message) -> bool:
        """Whether it has nothing to say of the message's kind as long as it has no notes."""
        return self.begins is not None and not message.is_a(self.begins)


class _Ruled:
    """The check that one rule makes for one requirement."""

    def __init__(
        self, requirement: Requirement, parameters: dict[str, Any], pack: Pack, question: _Question
    ) -> None:
        self._requirement = requirement
        self.parameters = parameters
        self.question = question
        self.memory = Memory(pack)
        self.notes: dict[Any, Any] = {}
        self._doubts = 0
        self.hears = question.kinds

    @staticmethod
    def gather(rules: list[_Ruled], message: Message) -> Check:
        """One check in place of several rules, of messages of this one's kind."""
        return _Panel(rules, message)

    def joins(self, shared: dict[str, Any]) -> Follower:
        """The memory that all rules of one stream share."""
        self.memory = shared.setdefault("awp", self.memory)
        self.memory.noted.append(self.notes)
        return self.memory

    def see(self, seen: Observation) -> Iterable[Finding]:
        """What the rule says of the message."""
        memory, message = self.memory, seen.message
        judged = memory.judged if memory.now is seen else memory.attend(seen)
        if not judged or message is None or not (seen.plain or message.is_a(self.hears)):
            return ()
        if not self.question.asks(memory.mode, memory.again, memory.step):
            return ()
        self.forget_doubtful()
        memory.notes, memory.options = self.notes, self.parameters
        return self.findings(message, self.question.judge(memory, message), praise=seen.praise)

    def forget_doubtful(self) -> None:
        """Drop the notes on what may have changed since, unheard."""
        memory = self.memory
        if self._doubts == memory.doubted:
            return
        memory.notes = self.notes
        for doubtful, number in memory.doubts.items():
            if number > self._doubts:
                memory.forget(doubtful)
        self._doubts = memory.doubted

    def findings(self, message: Message, told: Iterable[Told], *, praise: bool) -> list[Finding]:
        """What the rule said, as findings for its requirement and against it."""
        return [self._finding(message, one) for one in told if one.said or praise]

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
        memory = self.memory
        memory.catch_up()
        if self.question.ending is None or not complete:
            return []
        self.forget_doubtful()
        memory.notes = self.notes
        return [passed(self._requirement, message) for message in self.question.ending(memory)]


class _Row(NamedTuple):
    """A rule of a panel; `waits` says that it has nothing to say of the kind without notes."""

    judge: Rule
    notes: dict[Any, Any]
    options: dict[str, Any]
    rule: _Ruled
    waits: bool


class _Panel:
    """Rules that are asked of one kind of plain message together: what they share is looked up once.

    Nobody asks them for praise. Which of them are asked depends on the session and on the step of an action
    alone, and is worked out once for each; what a rule says of a channel for ever, it is asked once.
    """

    def __init__(self, rules: list[_Ruled], message: Message) -> None:
        self._memory = rules[0].memory
        self._doubted = 0
        self._asked: dict[tuple[str, bool, Step | None], list[_Row]] = {}
        self._rows = [
            _Row(rule.question.judge, rule.notes, rule.parameters, rule, rule.question.waits(message))
            for rule in rules
        ]

    def see(self, seen: Observation) -> Iterable[Finding]:
        """What the rules have against the message."""
        memory, message = self._memory, seen.message
        if not memory.judged or message is None:
            return ()
        if self._doubted != memory.doubted:
            self._forget_doubtful()
        found: list[Finding] = []
        settled: list[_Ruled] = []
        for judge, notes, options, rule, waits in self._to_ask():
            if waits and not notes:
                continue
            memory.notes, memory.options = notes, options
            told = judge(memory, message)
            if told is NOTHING or told is PRAISED:
                continue
            if type(told) is _Ever:
                settled.append(rule)
            else:
                found += rule.findings(message, told, praise=False)
        if settled:
            self._settle(settled)
        return found

    def _to_ask(self) -> list[_Row]:
        memory = self._memory
        frame = memory.frame
        if frame is not None:
            rows = frame.channel.known.get(self)
            if rows is not None:
                return rows  # type: ignore[no-any-return]
        key = memory.mode, memory.again, memory.step
        found = self._asked.get(key)
        if found is None:
            found = self._asked[key] = [row for row in self._rows if row.rule.question.asks(*key)]
        return found

    def _settle(self, settled: list[_Ruled]) -> None:
        frame = self._memory.frame
        if frame is not None:
            frame.channel.known[self] = [row for row in self._to_ask() if row.rule not in settled]

    def _forget_doubtful(self) -> None:
        for row in self._rows:
            row.rule.forget_doubtful()
        self._doubted = self._memory.doubted

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each rule speaks for itself then."""
        return ()


def rule(
    *kinds: str,
    ending: Ending | None = None,
    replays: bool = False,
    mode: str = "",
    before: Iterable[str] | None = None,
    says: Iterable[str] | None = None,
    begins: Iterable[str] | None = None,
) -> Callable[[Rule], CheckFactory]:
    """Make a function a check of messages of these kinds.

    `ending` gives those that stood when the record was over. With `replays`, it is also asked about
    notifications that are only said again; with `mode`, only about sessions of this time model; with
    `before` and `says`, only about statuses of actions that are known to have stood in one of these states,
    and that say one of those. Without notes of its own, it has nothing to say of kinds that are not among
    those of `begins`.
    """

    def make(judge: Rule) -> CheckFactory:
        question = _Question(
            judge, frozenset(kinds), ending, replays, mode, _set(before), _set(says), _set(begins)
        )

        def factory(requirement: Requirement, spec: dict[str, Any], pack: Pack) -> Check:
            return _Ruled(requirement, spec.get("parameters", {}), pack, question)

        factory.__doc__ = judge.__doc__
        return factory

    return make


def _set(words: Iterable[str] | None) -> frozenset[str] | None:
    return None if words is None else frozenset(words)
