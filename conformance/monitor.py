"""All checks of a pack over a stream of events: the one path on which everything is judged.

For each event the kind is found, the lifecycles are moved, the checks that look at meaning give their
findings, and then the schema's errors are added for their owners. A schema error on something that a
check has already reported says nothing new and is left out, so that one fault is one finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any, Final, final

from conformance import jsontext
from conformance.attribution import Attribution
from conformance.checks import Attend, Check, Follower, Moved, Observation, See, located
from conformance.checks.delivery import NO_DELIVERY, Deliveries, Delivery
from conformance.checks.screens import leads_through_items, within
from conformance.correlation import ByKind, Correlator, Message, is_call, is_from_the_wrong_side
from conformance.errors import BadPack
from conformance.events import JSON, Closed, Event, Malformed, Opened, Received, Sent
from conformance.families import CHECKS
from conformance.findings import BrokenConstraint, Finding, Level
from conformance.motion import Motion
from conformance.packs import Pack
from conformance.screening import screen

NOT_AN_OBJECT = "WIRE-OBJECT"

ENVELOPE = "jsonrpc.schema.json"
"""The document of what every message of JSON-RPC is."""

NOT_OBSERVED = ("schema", "scenario")
"""Kinds of check that are not classes: the monitor judges schemas itself, a scenario's steps the rest."""


class Monitor:
    """Judges one stream. `form` is what messages are held to: `sender` or `receiver`.

    `as_published` judges the text and the schemas as their authors published them, and nothing else (where
    the pack names the definition that is `published`, by that one, whatever the kind); `stateless` leaves
    out what only other messages can show; `kind` is the kind of every message. Without `praise` there are
    findings against requirements alone.
    """

    def __init__(
        self,
        pack: Pack,
        *,
        form: str = "sender",
        as_published: bool = False,
        stateless: bool = False,
        kind: str = "",
        praise: bool = True,
    ) -> None:
        self._pack = pack
        self._praise = praise
        self._schemas = pack.schemas(form, as_published=as_published)
        self._forced, self._alone = kind, stateless
        self._attribution = Attribution(pack.requirements.values(), pack.unknown_kind_id)
        rows = _schema_rows(pack)
        self._places = {name: place for place, name in enumerate(pack.requirements)}
        self._judging = ByKind(lambda message: _judged(rows, message))
        self._published = str(pack.meta.get("published", "")) if as_published else ""
        limited = {"json-text"} if as_published else _STATELESS if stateless else None
        alone = stateless and not as_published
        self._checks = [
            check
            for kind, check in _checks(pack)
            if limited is None or kind in limited or (alone and getattr(check, "stateless", False))
        ]
        shared: dict[str, Any] = {}
        joined = [_joined(check, shared) for check in self._checks]
        self._followers = [*{id(one): one for one in joined if one is not None}.values()]
        self._courses = ByKind(self._course)
        self._everybody = _Course(
            [follower.attend for follower in self._followers], [check.see for check in self._checks]
        )
        self._shown = self._everybody
        """Who is shown the event that is judged."""
        self._complete = True
        self._redelivers = "redelivery" in pack.meta
        self._rpc = pack.meta.get("envelope") == "json-rpc"
        self._envelope: list[BrokenConstraint] = []
        self.forget()
        self.messages = 0
        self.message: Message | None = None
        """The message that was judged last; without its kind where it is no whole one."""
        self.edges: Counter[tuple[str, str, str]] = Counter()
        """How often each (lifecycle, from, to) of a table was taken."""
        self.illegal: Counter[tuple[str, str, str]] = Counter()
        """The same for moves that the table does not have."""
        self.reasons: Counter[tuple[str, str, str]] = Counter()
        """How often each (lifecycle, to, reason) was given for a move that the table has."""
        self.unknown = 0
        """How many messages are of a kind that only other records could tell, and so were not judged."""
        self.why_unknown = ""

    def forget(self) -> None:
        """Judge what follows as if nothing had been heard before; for who judges `stateless`, since the
        checks of messages alone keep nothing."""
        self._correlator = Correlator(self._pack, self._forced, alone=self._alone)
        self._motion = Motion(self._pack)
        self._deliveries = Deliveries(self._pack.meta.get("redelivery"))

    def feed(self, event: Event) -> list[Finding]:
        """The findings that this event settles, each with its place in the input."""
        seen, delivery = self._observe(event)
        message = self.message = seen.message
        for attend in self._shown.attending:
            attend(seen)
        findings: list[Finding] = []
        for see in self._shown.seeing:
            found = see(seen)
            if found:
                findings += found
        if findings and not self._praise:
            findings = [finding for finding in findings if not finding.ok]
        if len(findings) > 1:  # some checks are shown it together
            findings.sort(key=self._place)
        if message is not None:
            self.messages += 1
            if not findings and seen.fits and not self._praise:
                return findings
            findings += self._structure(message, seen.fits, findings)
            findings = self._deliveries.news(delivery, findings) if delivery.key else findings
        return [*_told_once(findings)] if findings else findings

    def _place(self, finding: Finding) -> int:
        """Where the pack has the requirement of a finding."""
        return self._places[finding.requirement]

    def _course(self, message: Message) -> _Plain:
        """Those to whom a message of this kind can matter, if there is nothing odd about it."""
        attending: list[Attend] = [one.attend for one in self._followers if _hears(one, message)]
        checks = [check for check in self._checks if self._praise or not getattr(check, "praises", False)]
        hearing = [check for check in checks if _hears(check, message)]
        unscreened = _Course(attending, [check.see for check in hearing])
        naming = self._motion.naming(message)
        if self._praise or self._published or any(map(leads_through_items, naming)):
            return _Plain(_accepts_none, unscreened, unscreened)
        besides = [within(at, {"type": "string"}, needed=True) for at in naming]
        besides += [{"$ref": self._schemas.uri(ENVELOPE)}] if self._rpc else []
        made = screen(message, hearing, self._schemas, besides)
        if made is None:
            return _Plain(_accepts_none, unscreened, unscreened)
        return _Plain(made.accepts, _Course(attending, made.shown), unscreened)

    def end(self) -> list[Finding]:
        """The findings that only the end of the record settles."""
        return [finding for check in self._checks for finding in check.end(self._complete)]

    def _observe(self, event: Event) -> tuple[Observation, Delivery]:
        if not isinstance(event, (Received, Sent)):
            self._shown = self._everybody
            return self._observe_no_message(event), NO_DELIVERY
        message = self._correlator.message(event)
        exact = not (self._praise or event.faults) and (event.exact or jsontext.is_exact(event.value))
        course = self._courses.of(message) if exact and message.kind is not None else None
        screened = course is not None and course.accepts(message.value)
        self._shown = self._everybody
        self._envelope = self._envelope_errors(message) if self._rpc and not screened else []
        if message.kind is None or self._envelope:
            # What is no whole message is none of its kind: one fault, and nothing else is said of it.
            bare = message._replace(kind=None, name="" if self._envelope else message.name, request=None)
            lost, session = self._motion.lose(message), self._motion.session(message)
            return Observation(event, bare, lost=lost, session=session), NO_DELIVERY
        if self._alone:
            self._motion.forget()  # where anything stood, other messages say
        delivery = self._deliveries.of(message) if self._redelivers else NO_DELIVERY
        lost = self._motion.lose_unnamed(message, named=screened)
        moves = partial(self._deliveries.moves, delivery) if delivery.key else None
        moved = self._motion.of(message, moves)
        fits = screened or self._fits(message)
        if is_from_the_wrong_side(message):
            lost |= self._motion.lose(message)
            fits = False
        if moved:
            self._count(moved)
        session = self._motion.session(message)
        again, praise = delivery.again, self._praise
        plain = fits and exact and not lost
        if plain and course is not None:
            self._shown = course.screened if screened else course.unscreened
        return Observation(event, message, moved, lost, again, session, fits, praise, plain), delivery

    def _observe_no_message(self, event: Opened | Malformed | Closed) -> Observation:
        if isinstance(event, Closed):
            self._complete = self._complete and event.final
        elif isinstance(event, Opened):
            self._correlator.opened(event.connection)
        elif event.fault.code != "WIRE-NOISE":
            self._motion.lose_all()
            self._correlator.lose(event.connection, event.party)
            return Observation(event, lost=None)
        return Observation(event)

    def _fits(self, message: Message) -> bool:
        """Whether the message's schema accepts it, if that is what it is judged by."""
        kind = message.kind
        if kind is None or self._published:
            return False
        part = message.value if not kind.at else jsontext.resolve(message.value, kind.at)
        return self._schemas.is_valid(kind.schema, {} if part is jsontext.MISSING else part)

    def _count(self, moved: Iterable[Moved]) -> None:
        for one in moved:
            before, target, edge = one.move.before, one.move.target, one.move.edge
            if not one.report and before is not None:
                counter = self.illegal if edge is None else self.edges
                counter[one.lifecycle, before, target] += 1
                if isinstance(one.reason, str) and edge is not None:
                    self.reasons[one.lifecycle, target, one.reason] += 1

    def _structure(self, message: Message, fits: bool, findings: list[Finding]) -> Iterator[Finding]:
        """Findings of the message's schema, or that it has none."""
        if fits:
            yield from self._passing(message, _NOTHING)
        elif self._envelope:
            error = self._envelope[0]
            yield _from_error(message, self._attribution.of(error, ""), error)
        elif message.name == "?":
            self.unknown += 1
            self.why_unknown = self.why_unknown or message.problem.said
        elif message.kind is not None or self._published:
            against = [finding for finding in findings if not (finding.ok or finding.inconclusive)]
            yield from self._by_schema(message, against)
        elif isinstance(message.value, dict):
            yield _of_none(message, self._pack.unknown_kind_id)

    def _by_schema(self, message: Message, broken: list[Finding]) -> Iterator[Finding]:
        """What the schema says of the message and none of the findings against it tells already."""
        owners = {finding.requirement for finding in broken}
        refuted: set[str] = set()
        kind = message.kind
        name = kind.name if kind else ""
        location, at = (kind.schema, kind.at) if kind and not self._published else (self._published, "")
        for error in self._errors(message, location, at):
            owner = self._attribution.of(error, name)
            refuted.add(owner)
            told = [finding for finding in broken if self._is_as_binding(finding, owner)]
            if owner not in owners and not any(_tells(finding, error) for finding in told):
                yield _from_error(message, owner, error)
        # What is not told again is no evidence for its owner all the same.
        yield from self._passing(message, refuted)

    def _is_as_binding(self, finding: Finding, owner: str) -> bool:
        """Whether the finding can stand for one of the owner: a warning stands for no failure."""
        known = self._pack.requirements
        must = owner in known and known[owner].level is Level.MUST
        return not must or (finding.level or known[finding.requirement].level) is Level.MUST

    def _passing(self, message: Message, refuted: AbstractSet[str]) -> Iterator[Finding]:
        for requirement in self._judging.of(message) if self._praise else ():
            if requirement not in refuted:
                yield Finding(
                    requirement, True, message.party, message.seq, connection=message.event.connection
                )

    def _envelope_errors(self, message: Message) -> list[BrokenConstraint]:
        """What keeps the message from being JSON-RPC, where it means to be (and the protocol is)."""
        if not is_call(message.value):
            return []
        return self._schemas.errors(ENVELOPE, message.value)

    def _errors(self, message: Message, location: str, at: str) -> Iterator[BrokenConstraint]:
        part = jsontext.resolve(message.value, at)
        part = {} if part is jsontext.MISSING else part
        for error in self._schemas.errors(location, part):
            yield error._replace(pointer=at + error.pointer)


@final
class _Course:
    """Who is shown an observation: the followers, and then the checks."""

    __slots__ = ("attending", "seeing")

    def __init__(self, attending: list[Attend], seeing: list[See]) -> None:
        self.attending: Final = attending
        self.seeing: Final = seeing


@final
class _Plain:
    """Who is shown messages of one kind that are plain: by whether their screen accepts them."""

    __slots__ = ("accepts", "screened", "unscreened")

    def __init__(self, accepts: Callable[[JSON], bool], screened: _Course, unscreened: _Course) -> None:
        self.accepts: Final = accepts
        self.screened: Final = screened
        self.unscreened: Final = unscreened


def _accepts_none(_: JSON) -> bool:
    return False


def _hears(one: object, message: Message) -> bool:
    """Whether a plain message of its kind can matter to a check or a follower."""
    hears: Collection[str] | None = getattr(one, "hears", None)
    return hears is None or message.is_a(hears)


_STATELESS = {"json-text", "integer-bounds", "requires", "ordered", "reason-required", "direction"}
"""Kinds that look at one message; a check of another kind that does has the attribute `stateless`."""


def _checks(pack: Pack) -> Iterator[tuple[str, Check]]:
    for requirement in pack.requirements.values():
        for spec in requirement.checks:
            kind = spec["kind"]
            if kind in NOT_OBSERVED:
                continue
            if kind not in CHECKS:
                raise BadPack(f"{requirement.id} has the unknown kind of check {kind!r}")
            yield kind, CHECKS[kind](requirement, spec, pack)


_NOTHING: frozenset[str] = frozenset()


def _joined(check: Check, shared: dict[str, Any]) -> Follower | None:
    joins: Callable[[dict[str, Any]], Follower] | None = getattr(check, "joins", None)
    return joins(shared) if joins is not None else None


def _judged(rows: Iterable[tuple[str, frozenset[str] | None]], message: Message) -> list[str]:
    """The requirements of which the schema of the message's kind says whether they hold."""
    name = message.kind.name if message.kind else ""
    return [requirement for requirement, kinds in rows if kinds is None or name in kinds]


def _schema_rows(pack: Pack) -> list[tuple[str, frozenset[str] | None]]:
    return [
        (requirement.id, frozenset(spec["on"]) if "on" in spec else None)
        for requirement in pack.requirements.values()
        for spec in requirement.checks
        if spec["kind"] == "schema"
    ]


def _told_once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings without the passes of requirements that this same event broke, and without repeats."""
    told = list(findings)
    broken = {finding.requirement for finding in told if not finding.ok}
    # That a message is no object says nothing new where the protocol forbids this very form of it.
    form = any(not one.ok and not one.pointer and one.requirement != NOT_AN_OBJECT for one in told)
    passes: set[str] = set()
    for finding in told:
        if not finding.ok:
            if not (form and finding.requirement == NOT_AN_OBJECT):
                yield finding
        elif finding.requirement not in broken and finding.requirement not in passes:
            passes.add(finding.requirement)
            yield finding


def _tells(finding: Finding, error: BrokenConstraint) -> bool:
    """Whether the finding already says what the error does: the same place, or the same missing member."""
    if error.keyword == "required":
        return (finding.pointer, finding.expected) == (error.pointer, error.expected)
    return finding.pointer == error.pointer


def _against(message: Message, requirement: str, text: str, pointer: str = "") -> Finding:
    event = message.event
    line, column = located(event, pointer)
    found = Finding(requirement, False, message.party, event.seq, text, pointer, connection=event.connection)
    return found._replace(line=line, column=column)


def _of_none(message: Message, requirement: str) -> Finding:
    said, pointer, expected = message.problem
    actual = message.at(pointer) if pointer else None
    return _against(message, requirement, said, pointer)._replace(expected=expected, actual=actual)


def _from_error(message: Message, requirement: str, error: BrokenConstraint) -> Finding:
    finding = _against(message, requirement, error.message, error.pointer)
    return finding._replace(expected=error.expected, actual=error.actual)
