"""Checks of calls by JSON-RPC: every request is answered, and no id means two requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, final

from conformance.checks import Check, Observation, failed, passed, timed
from conformance.correlation import ByKind, Message, id_key
from conformance.events import Received, Sent
from conformance.findings import Finding, Requirement
from conformance.lapses import Lapse, between
from conformance.packs import Pack
from conformance.remembered import forget_oldest, recall

AT_ONCE: Final = 100
"""So many requests of one connection are waited for at a time; of more, the latest."""


@final
class _Waiting:
    """A request without an answer; whether the other side had its time, as what it said since shows.

    None where that depends on how late the kit was, in `lapse`.
    """

    __slots__ = ("lapse", "overdue", "party", "request")

    def __init__(self, request: Message) -> None:
        self.request = request
        self.party = request.party
        self.overdue: bool | None = False
        self.lapse: Lapse | None = None


class Answered:
    """Every request of `on` gets its answer, a result or an error, before the record ends.

    A record may end while a request is on its way, so one is missed only if the other side went on for
    more than `within` seconds on the same connection; where the record has no times, if it answered a
    later request there. What could not be understood may have been the answer.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._roles = pack.roles
        self.asks = ByKind(lambda message: message.is_a(spec["on"]))
        self._within: float = spec["within"]
        self.waits: dict[str, dict[int, _Waiting]] = {}
        """The requests without an answer of each connection, by the number of their event."""

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding for each answer."""
        message = seen.message
        if seen.lost is None or message is None or message.kind is None:
            self._lose(seen)
            return ()
        here = self.waits.get(message.event.connection)
        answered = self._hear(here, message) if here else False
        if self.asks.of(message):
            self.wait(message)
        return [passed(self._requirement, message)] if answered and seen.praise else ()

    @staticmethod
    def gather(checks: list[Answered], message: Message) -> Check:
        """One check in place of several, of messages of this one's kind."""
        return _Answers([check for check in checks if check.asks.of(message)], checks)

    def hear(self, message: Message) -> None:
        """Take note of a message of which nobody wants to know whether it answers one."""
        here = self.waits.get(message.event.connection)
        if here:
            self._hear(here, message)

    def wait(self, message: Message) -> None:
        """Wait for the answer to a request."""
        here = recall(self.waits, message.event.connection, dict)
        here[message.seq] = _Waiting(message)
        forget_oldest(here, AT_ONCE)

    def _hear(self, here: dict[int, _Waiting], message: Message) -> bool:
        """Take note of a message for those of its connection that wait; whether it answers one."""
        request, party = message.request, message.party
        answered = here.pop(request.seq, None) if request is not None else None
        for waiting in here.values():
            if not waiting.overdue and party != waiting.party:
                self._note(waiting, message)
        return answered is not None

    def _lose(self, seen: Observation) -> None:
        party = getattr(seen.event, "party", None)
        if party is None:  # a connection that opens or closes
            return
        here = self.waits.get(seen.event.connection, {})
        for number, waiting in list(here.items()):
            if waiting.party != party:
                del here[number]

    def _note(self, waiting: _Waiting, later: Message) -> None:
        """Take note of whether the other side had its time when it said something later."""
        lapse = between(waiting.request.event, later.event)
        if lapse is None:
            waiting.overdue = later.request is not None and later.request.seq > waiting.request.seq
            return
        overdue = lapse.exceeds(self._within)
        if overdue is not False:
            waiting.overdue, waiting.lapse = overdue, lapse

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding for each request that was left without an answer."""
        left = {number: one for here in self.waits.values() for number, one in here.items()}
        for number in sorted(left) if complete else ():
            request, overdue, lapse = left[number].request, left[number].overdue, left[number].lapse
            if overdue is not False:
                said = f"{request.name} {request.at('/id')!r} was never answered"
                finding = failed(self._requirement, request, said)
                finding = finding._replace(party=self._other(request.party))
                yield timed(finding, lapse, overdue) if lapse else finding

    def _other(self, party: str) -> str:
        return next((role for role in self._roles if role != party), "")


class _Answers:
    """Several checks of answers, of which some wait for that to a message of this kind."""

    def __init__(self, asking: list[Answered], every: list[Answered]) -> None:
        self._asking = asking
        self._every = every

    def see(self, seen: Observation) -> Iterable[Finding]:
        """Nothing: what was not answered is known when all is over."""
        message = seen.message
        if message is not None:
            for check in self._every:
                if check.waits:
                    check.hear(message)
            for check in self._asking:
                check.wait(message)
        return ()

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each check speaks for itself then."""
        return ()


class UniqueIds:
    """A party uses each JSON-RPC id for one request of a connection, whatever became of the first."""

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._used: dict[tuple[str, str, tuple[str, Any]], None] = {}
        self.hears = frozenset(kind.name for kind in pack.kinds if kind.when.get("part") == "request")

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per request."""
        message, event = seen.message, seen.event
        if message is None or not isinstance(event, (Sent, Received)) or not _is_request(event.value):
            return ()
        if not message.party:  # it may be either side's own
            return ()
        number = (event.connection, message.party, id_key(event.value["id"]))
        if number in self._used:
            said = f"the id {event.value['id']!r} was used for an earlier request on this connection"
            return [failed(self._requirement, message, said, "/id", actual=event.value["id"])]
        self._used[number] = None
        forget_oldest(self._used)
        return [passed(self._requirement, message)] if seen.praise else ()

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each request is judged when it is seen."""
        return ()


def _is_request(value: Any) -> bool:
    return isinstance(value, dict) and "method" in value and "id" in value
