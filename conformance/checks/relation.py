"""Checks that relate a message to itself or to earlier ones: requires, matches, direction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.checks import Observation, failed, passed, register, same
from conformance.correlation import Message
from conformance.findings import Finding, Requirement
from conformance.packs import Pack
from conformance.wording import shown, type_name


@register("direction")
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


@register("requires")
class Requires:
    """Within one message: where `when` holds, `then` holds (both JSON Schemas on the value at `at`).

    Parameters: `on`; `at`; `when` (else always); `then`; `from` and `lifecycle` limit it to messages
    that moved an entity on from one of these states; `said` is what stands before each error.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._spec = spec
        self._conditions = pack.conditions
        self._place = f"{requirement.id}#/{requirement.checks.index(spec)}"
        self.hears = frozenset(spec["on"])

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per broken constraint, else one for a message on which `when` held."""
        message = seen.message
        if message is None or not message.is_a(self._spec["on"]) or not self._in_state(seen):
            return
        at = self._spec.get("at", "")
        value = message.at(at)
        if value is None and at:
            return
        if "when" in self._spec and not self._conditions.is_valid(f"{self._place}/when", value):
            return
        errors = self._conditions.errors(f"{self._place}/then", value)
        said = f"{self._spec['said']}: " if "said" in self._spec else ""
        for error in errors:
            yield failed(
                self._requirement,
                message,
                said + error.message,
                at + error.pointer,
                expected=error.expected,
                actual=error.actual,
            )
        if not errors:
            yield passed(self._requirement, message)

    def _in_state(self, seen: Observation) -> bool:
        wanted = self._spec.get("from")
        return wanted is None or any(
            moved.lifecycle == self._spec["lifecycle"] and moved.move.before in wanted and moved.move.edge
            for moved in seen.moved
        )

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each message is judged when it is seen."""
        return ()


@register("matches")
class Matches:
    """A field equals a field of an earlier related message.

    Parameters: messages `on` with a value at `field`; the earlier ones `with`, and `their` field.
    `related` is a pair of pointers, mine and theirs: only earlier messages that agree there count;
    `"related": "request"` means the message that this one answers. `about` is such a pair too, in which some
    earlier message has to agree: where none does, the matching one may be from before the record.
    Judged only where an earlier related message exists: a lone message proves nothing. What could not be
    understood may have been the one that matches.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._spec = spec
        self._senders = {role for kind in pack.kinds if kind.name in spec["with"] for role in kind.senders}
        self.hears = frozenset((*spec["with"], *spec["on"]))
        self._known: dict[str, list[Any]] = {}
        self._about: set[str] = set()
        self._older: set[tuple[str, str]] = set()
        self._lost: set[str] = set()
        self._gap = False

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per message that has a related earlier one."""
        self._lose(seen)
        message = seen.message
        if message is None:
            return
        if message.is_a(self._spec["with"]):
            known = self._known.setdefault(self._key(message, 1), [])
            known.append(message.at(self._spec["their"]))
            self._about.add(self._subject(message, 1))
        if message.is_a(self._spec["on"]):
            yield from self._judge(message)

    def _judge(self, message: Message) -> Iterable[Finding]:
        key, mine = self._key(message, 0), message.at(self._spec["field"])
        known, name = self._related(message, key), (key, shown(mine, 10_000))
        if any(same(mine, theirs) for theirs in reversed(known)):
            yield passed(self._requirement, message)
            return
        if not known:
            self._older.add(name)  # it goes back to something from before the record
        if mine is None or name in self._older or all(type_name(one) != type_name(mine) for one in known):
            return  # of another type than it should be is the schema's matter
        if "related" not in self._spec and self._may_be_lost(message, mine):
            return
        there_is = ", ".join(shown(value) for value in known[-5:])
        said = f"{shown(mine)} is none that {' or '.join(self._spec['with'])} named ({there_is})"
        yield failed(self._requirement, message, said, self._spec["field"], expected=known[-5:], actual=mine)

    def _lose(self, seen: Observation) -> None:
        """What could not be understood, and may have been one of the earlier messages, names what is lost."""
        if getattr(seen.event, "party", "") in ("", *self._senders):
            self._gap = self._gap or seen.lost is None
            self._lost |= {shown(name, 10_000) for name in seen.lost or ()}

    def _may_be_lost(self, message: Message, mine: Any) -> bool:
        """Whether the matching message may be one that could not be understood, or is not in the record."""
        return self._gap or shown(mine, 10_000) in self._lost or self._subject(message, 0) not in self._about

    def _subject(self, message: Message, side: int) -> str:
        about = self._spec.get("about")
        return shown(message.at(about[side]), 10_000) if about else ""

    def _related(self, message: Message, key: str) -> list[Any]:
        if self._spec.get("related") != "request":
            return self._known.get(key, [])
        return [message.request.at(self._spec["their"])] if message.request is not None else []

    def _key(self, message: Message, side: int) -> str:
        related = self._spec.get("related")
        if related == "request":
            return f"{message.event.connection} {message.seq}"
        return shown(message.at(related[side]), 10_000) if related else ""

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each message is judged when it is seen."""
        return ()
