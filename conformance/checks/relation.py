"""Checks that relate a message to itself or to earlier ones: requires, matches, direction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.checks import Follower, Observation, failed, passed
from conformance.checks.earlier import Earlier, Key, Named, key_of
from conformance.checks.screens import is_quotable, leads_through_items, within
from conformance.correlation import Message
from conformance.events import JSON
from conformance.findings import BrokenConstraint, Finding, Requirement
from conformance.jsontext import getter
from conformance.packs import Pack
from conformance.remembered import REMEMBERED
from conformance.schemas import Schema
from conformance.wording import shown, type_name


class Direction:
    """Each kind is sent by a role that may send it. Judged where the record says who spoke."""

    praises = True

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per message of a known kind and speaker."""
        message = seen.message
        if message is None or message.kind is None or not message.known_party or message.kind.document:
            return
        senders = message.kind.senders
        if message.party in senders:
            yield passed(self._requirement, message)
            return
        said = f"{message.name} is for {' or '.join(senders)} to send, and {message.party} sent it"
        yield failed(self._requirement, message, said, expected=senders, actual=message.party)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each message is judged when it is seen."""
        return ()


class Requires:
    """Within one message: where `when` holds, `then` holds (both JSON Schemas on the value at `at`).

    Parameters: `on`; `at`; `when` (else always); `then`; `from` and `lifecycle` limit it to messages
    that moved an entity on from one of these states; `said` is what stands before each error.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._spec = spec
        self._conditions = pack.conditions
        place = f"{requirement.id}#/{requirement.checks.index(spec)}"
        self._when, self._then = f"{place}/when" if "when" in spec else "", f"{place}/then"
        self._at: str = spec.get("at", "")
        self.hears = frozenset(spec["on"])

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per broken constraint, else one for a message on which `when` held."""
        message = seen.message
        if message is None or not message.is_a(self.hears) or not self._in_state(seen):
            return ()
        value = message.at(self._at)
        if value is None and self._at:
            return ()
        if self._when and not self._conditions.is_valid(self._when, value):
            return ()
        errors = self._conditions.errors(self._then, value)
        if errors:
            return [self._broken(message, error) for error in errors]
        return [passed(self._requirement, message)] if seen.praise else ()

    def screen(self, message: Message) -> Schema | None:
        """That the rule holds, whatever the message moved."""
        rule = self._spec["then"]
        if "when" in self._spec:
            rule = {"if": self._spec["when"], "then": rule}
        return within(self._at, rule) if is_quotable(rule) and not leads_through_items(self._at) else None

    def _broken(self, message: Message, error: BrokenConstraint) -> Finding:
        said = f"{self._spec['said']}: " if "said" in self._spec else ""
        return failed(
            self._requirement,
            message,
            said + error.message,
            self._at + error.pointer,
            expected=error.expected,
            actual=error.actual,
        )

    def _in_state(self, seen: Observation) -> bool:
        wanted = self._spec.get("from")
        return wanted is None or any(
            moved.lifecycle == self._spec["lifecycle"] and moved.move.before in wanted and moved.move.edge
            for moved in seen.moved
        )

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each message is judged when it is seen."""
        return ()


class Matches:
    """A field equals a field of an earlier related message.

    Parameters: messages `on` with a value at `field`; the earlier ones `with`, and `their` field.
    `related` is a pair of pointers, mine and theirs: only earlier messages that agree there count;
    `"related": "request"` means the message that this one answers. `about` is such a pair too, in which some
    earlier message has to agree: where none does, the matching one may be from before the record.
    Judged only where an earlier related message exists: a lone message proves nothing. What could not be
    understood may have been the one that matches, and so may what is no longer remembered.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._spec = spec
        self._senders = {role for kind in pack.kinds if kind.name in spec["with"] for role in kind.senders}
        self.hears = frozenset(spec["on"])
        self._mine = getter(spec["field"])
        self._by_request = spec.get("related") == "request"  # then the message that is answered is at hand
        mine, theirs = ("", "") if self._by_request else spec.get("related", ("", ""))
        self._key = getter(mine) if mine else None
        self._related = theirs
        self._look(Earlier())
        self._older: dict[tuple[Key, str], None] = {}
        self._lost: set[str] = set()
        self._gap = False

    def _look(self, earlier: Earlier) -> None:
        kinds, about = self._spec["with"], self._spec.get("about")
        self._subject = getter(about[0]) if about else None
        self._subjects = earlier.subjects(kinds, about[1]) if about else None
        self._field = None if self._by_request else earlier.field(kinds, self._spec["their"], self._related)

    def joins(self, shared: dict[str, Any]) -> Follower:
        """The earlier messages, which others look back at too."""
        earlier = Earlier.shared_in(shared)
        self._look(earlier)
        return earlier

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per message that has a related earlier one."""
        if not seen.plain and seen.loses_any:
            self._lose(seen)
        message = seen.message
        if message is None or not (message.name in self.hears or message.is_a(self.hears)):
            return ()
        mine = self._mine(message.value)
        theirs = self._requested(message) if self._field is None else self._field.of(self._relation(message))
        if theirs == mine if type(theirs) is str else isinstance(theirs, Named) and theirs.has(mine):
            return [passed(self._requirement, message)] if seen.praise else ()
        return self._judge(message, mine, theirs)

    def _requested(self, message: Message) -> str | Named | None:
        """What the request that is answered has there; None where there is no request."""
        if message.request is None:
            return None
        value = message.request.at(self._spec["their"])
        return value if type(value) is str else Named(value)

    def _judge(self, message: Message, mine: JSON, theirs: str | Named | None) -> Iterable[Finding]:
        """What a message shows that has none of their values."""
        known = theirs if isinstance(theirs, Named) else Named(*(() if theirs is None else (theirs,)))
        name = self._relation(message), shown(mine, 10_000)
        if not known.types and len(self._older) < REMEMBERED:
            self._older[name] = None  # it goes back to something from before the record
        forgot = known.forgot or len(self._older) == REMEMBERED
        if forgot or mine is None or name in self._older or type_name(mine) not in known.types:
            return ()  # of another type than it should be is the schema's matter
        if "related" not in self._spec and self._may_be_lost(message, mine):
            return ()
        latest = [*known.latest]
        there_is = ", ".join(shown(value) for value in latest)
        said = f"{shown(mine)} is none that {' or '.join(self._spec['with'])} named ({there_is})"
        return [failed(self._requirement, message, said, self._spec["field"], expected=latest, actual=mine)]

    def _relation(self, message: Message) -> Key:
        """What the message has in common with those that it is related to."""
        if self._key is None:
            return f"{message.event.connection} {message.seq}" if self._by_request else ""
        value = self._key(message.value)
        return value if type(value) is str else key_of(value)

    def _lose(self, seen: Observation) -> None:
        """What could not be understood, and may have been one of the earlier messages, names what is lost."""
        party: str = getattr(seen.event, "party", "")
        if not party or party in self._senders:
            self._gap = self._gap or seen.lost is None
            self._lost |= {shown(name, 10_000) for name in seen.lost or ()}

    def _may_be_lost(self, message: Message, mine: Any) -> bool:
        """Whether the matching message may be one that could not be understood, or is not in the record."""
        if self._gap or shown(mine, 10_000) in self._lost:
            return True
        if self._subjects is None or self._subject is None:
            return False
        return not self._subjects.has(self._subject(message.value))

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each message is judged when it is seen."""
        return ()
