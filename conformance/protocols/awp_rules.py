"""Agent World Protocol: rules over what a record tells.

A rule is a function of what was known before a message, and the message. It says nothing where the
record does not show enough. `rule` makes it a check that a requirement's row can name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, final

from conformance import checks
from conformance.checks import Check, CheckFactory, Follower, Observation, failed, passed
from conformance.correlation import Message
from conformance.findings import Finding, Level, Requirement
from conformance.lapses import Lapse
from conformance.packs import Pack
from conformance.protocols.awp_course import FRESH
from conformance.protocols.awp_record import Memory, Step
from conformance.protocols.awp_things import Frame, Situation


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


HOLDS: Final = Told()

NO_FINDINGS: Final[list[Finding]] = []

NOTHING: Final[tuple[Told, ...]] = ()
"""What most rules say of most messages."""

PRAISED: Final[tuple[Told, ...]] = (HOLDS,)


NEVER_ANYTHING: Final[Iterable[Told]] = []
"""What a rule says that says nothing of any frame of a channel, for as long as it is granted as it is."""

EVER_PRAISED: Final[Iterable[Told]] = [HOLDS]
"""What a rule says that every such frame keeps."""


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
    resumed: bool
    closed: bool
    case: int

    def asks(self, situation: Situation, again: bool, step: Step | None) -> bool:
        """Whether it is asked of a message of a session in this situation, which may be said again, and
        which is such a step of an action if it is a status."""
        if (again and not self.replays) or (self.mode and situation.mode != self.mode):
            return False
        if step is None:
            return True
        before, says = step
        return (self.before is None or before in self.before) and (self.says is None or says in self.says)

    def waits(self, message: Message) -> bool:
        """Whether it has nothing to say of the message's kind as long as it has no notes."""
        return self.begins is not None and not message.is_a(self.begins)

    def may_matter(self, situation: Situation, case: int) -> bool:
        """Whether there may be something to say against a message of a kind with which it does not begin."""
        unlikely = (self.resumed and not situation.resumed) or (self.closed and not situation.closed)
        return not unlikely and bool(self.case & case or not self.case)


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
        if not self.question.asks(memory.situation, memory.again, memory.step):
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


@final
class _Row:
    """A rule of a panel, with its notes and its options; and whether it has nothing to say without notes."""

    __slots__ = ("judge", "notes", "options", "rule", "waits")

    def __init__(self, rule: _Ruled, waits: bool) -> None:
        self.judge = rule.question.judge
        self.notes = rule.notes
        self.options = rule.parameters
        self.rule = rule
        self.waits = waits


_Case = tuple[Situation, bool, Step | None, int]


@final
class _Asked:
    """What is asked of the frames of one channel, by what is the case with them; and what no longer is."""

    def __init__(self) -> None:
        self.rows: dict[int, list[_Row]] = {}
        self.settled: list[_Ruled] = []


@final
class _Panel:
    """Rules that are asked of one kind of plain message together: what they share is looked up once.

    Nobody asks them for praise. Which of them are asked depends on what is the case with the session and with
    the message, and is worked out once for each; what a rule says of a channel for ever, it is asked once.
    """

    def __init__(self, rules: list[_Ruled], message: Message) -> None:
        self._memory = rules[0].memory
        self._doubted = 0
        self._rules = [(rule, rule.question.waits(message)) for rule in rules]
        self._beginning = [rule for rule, waits in self._rules if rule.question.begins and not waits]
        self._shows = message.name == "obs.frame"
        self._asked: dict[_Case, list[_Row]] = {}
        self._situation: Situation | None = None
        self._again, self._case = False, 0
        self._step: Step | None = None
        self._rows: list[_Row] = []

    def see(self, seen: Observation) -> Iterable[Finding]:
        """What the rules have against the message."""
        memory, message = self._memory, seen.message
        if not memory.judged or message is None:
            return NO_FINDINGS
        if self._doubted != memory.doubted:
            self._forget_doubtful()
        frame = memory.frame
        if frame is not None:
            return self._see_frame(frame, message)
        if (
            memory.situation is not self._situation
            or memory.case != self._case
            or memory.again != self._again
            or memory.step != self._step
        ):
            self._turn_to_what_is_the_case()
        return self._hear(self._rows, message) if self._rows else NO_FINDINGS

    def _turn_to_what_is_the_case(self) -> None:
        """Remember what is the case with the message, and what is asked then: so it is with the next."""
        memory = self._memory
        self._situation, self._again = memory.situation, memory.again
        self._step, self._case = memory.step, memory.case
        self._rows = self._to_ask((memory.situation, memory.again, memory.step, memory.case))

    def _see_frame(self, frame: Frame, message: Message) -> Iterable[Finding]:
        """The same of a frame of a channel: what is the case with its session changes seldom."""
        memory, channel = self._memory, frame.channel
        asked: _Asked | None = channel.known.get(self)
        if asked is None:
            asked = channel.known[self] = _Asked()
        rows = asked.rows.get(frame.case)
        if rows is None:
            every = self._to_ask((memory.situation, False, None, frame.case))
            rows = asked.rows[frame.case] = [row for row in every if row.rule not in asked.settled]
        found = self._hear(rows, message) if rows else NO_FINDINGS
        if frame.case & FRESH and self._shows and not found:
            channel.payload_found, channel.flags_found = (
                memory.params.get("payload_b64"),
                memory.params.get("flags"),
            )
        return found

    def _hear(self, rows: list[_Row], message: Message) -> list[Finding]:
        memory, found = self._memory, NO_FINDINGS
        for row in rows:
            notes = row.notes
            if row.waits and not notes:
                continue
            memory.notes, memory.options = notes, row.options
            told = row.judge(memory, message)
            if told is NOTHING or told is PRAISED:
                continue
            if told is NEVER_ANYTHING or told is EVER_PRAISED:
                self._settle(row.rule)
            else:
                found = found + row.rule.findings(message, told, praise=False)
        return found

    def _to_ask(self, case: _Case) -> list[_Row]:
        rows = self._asked.get(case)
        if rows is None:
            rows = self._asked[case] = [*self._that_matter(*case)]
        return rows

    def _that_matter(self, situation: Situation, again: bool, step: Step | None, what: int) -> Iterable[_Row]:
        for rule, waits in self._rules:
            question = rule.question
            begins = rule in self._beginning
            if question.asks(situation, again, step) and (begins or question.may_matter(situation, what)):
                yield _Row(rule, waits)

    def _settle(self, rule: _Ruled) -> None:
        frame = self._memory.frame
        asked: _Asked | None = frame.channel.known.get(self) if frame is not None else None
        if asked is not None:
            asked.settled.append(rule)
            asked.rows.clear()

    def _forget_doubtful(self) -> None:
        for rule, _ in self._rules:
            rule.forget_doubtful()
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
    resumed: bool = False,
    closed: bool = False,
    case: int = 0,
) -> Callable[[Rule], CheckFactory]:
    """Make a function a check of messages of these kinds.

    `ending` gives those that stood when the record was over. With `replays`, it is also asked about
    notifications that are only said again; with `mode`, only about sessions of this time model; with
    `before` and `says`, only about statuses of actions that are known to have stood in one of these states,
    and that say one of those. Without notes of its own, it has nothing to say of kinds that are not among
    those of `begins`. Against others it has nothing to say but where the session was ever `resumed`, or is
    `closed`, or where something of `case` is the case with the message.
    """

    def make(judge: Rule) -> CheckFactory:
        told = _set(before), _set(says), _set(begins)
        question = _Question(judge, frozenset(kinds), ending, replays, mode, *told, resumed, closed, case)

        def factory(requirement: Requirement, spec: dict[str, Any], pack: Pack) -> Check:
            return _Ruled(requirement, spec.get("parameters", {}), pack, question)

        factory.__doc__ = judge.__doc__
        return factory

    return make


def _set(words: Iterable[str] | None) -> frozenset[str] | None:
    return None if words is None else frozenset(words)
