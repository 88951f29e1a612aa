"""Checks of calls by JSON-RPC: every request is answered, and no id means two requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from conformance.checks import Observation, failed, passed, register
from conformance.correlation import Message, id_key
from conformance.events import Received, Sent, earliest
from conformance.findings import Finding, Requirement
from conformance.packs import Pack


class _Waiting(NamedTuple):
    """A request without an answer, and what the other side said since that shows it had its time."""

    request: Message
    overdue: Message | None = None


@register("answered")
class Answered:
    """Every request of `on` gets its answer, a result or an error, before the record ends.

    A record may end while a request is on its way, so one is missed only if the other side went on for
    `within` seconds on the same connection; where the record has no times, if it answered a later
    request there. What could not be understood may have been the answer.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._roles = pack.roles
        self._on = spec["on"]
        self._within: float = spec["within"]
        self._open: dict[int, _Waiting] = {}

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding for each answer."""
        message = seen.message
        if seen.lost is None or message is None or message.kind is None:
            self._lose(seen)
            return
        answered = self._open.pop(message.request.seq, None) if message.request else None
        if answered is not None:
            yield passed(self._requirement, message)
        for number, waiting in self._open.items():
            if waiting.overdue is None and self._is_overdue(waiting.request, message):
                self._open[number] = waiting._replace(overdue=message)
        if message.is_a(self._on):
            self._open[message.seq] = _Waiting(message)

    def _lose(self, seen: Observation) -> None:
        connection, party = seen.event.connection, getattr(seen.event, "party", None)
        if party is None:  # a connection that opens or closes
            return
        for number, (request, _) in list(self._open.items()):
            if request.event.connection == connection and request.party != party:
                del self._open[number]

    def _is_overdue(self, request: Message, later: Message) -> bool:
        if later.event.connection != request.event.connection or later.party == request.party:
            return False
        now = earliest(later.event)  # what the kit was late itself is nobody's delay
        if now is not None and request.event.time is not None:
            return now - request.event.time >= self._within
        return later.request is not None and later.request.seq > request.seq

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding for each request that was left without an answer."""
        for request, overdue in self._open.values() if complete else ():
            if overdue is not None:
                said = f"{request.name} {request.at('/id')!r} was never answered"
                finding = failed(self._requirement, request, said)
                yield finding._replace(party=self._other(request.party))

    def _other(self, party: str) -> str:
        return next((role for role in self._roles if role != party), "")


@register("unique-ids")
class UniqueIds:
    """A party uses each JSON-RPC id for one request of a connection, whatever became of the first."""

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._used: dict[tuple[str, str], set[tuple[str, Any]]] = {}
        self.hears = frozenset(kind.name for kind in pack.kinds if kind.when.get("part") == "request")

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per request."""
        message, event = seen.message, seen.event
        if message is None or not isinstance(event, (Sent, Received)) or not _is_request(event.value):
            return
        if not message.party:  # it may be either side's own
            return
        number = id_key(event.value["id"])
        used = self._used.setdefault((event.connection, message.party), set())
        if number in used:
            said = f"the id {event.value['id']!r} was used for an earlier request on this connection"
            yield failed(self._requirement, message, said, "/id", actual=event.value["id"])
        else:
            used.add(number)
            yield passed(self._requirement, message)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each request is judged when it is seen."""
        return ()


def _is_request(value: Any) -> bool:
    return isinstance(value, dict) and "method" in value and "id" in value
