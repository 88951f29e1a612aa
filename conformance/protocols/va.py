"""va-agent-protocol: what may still be said of an execution that was cancelled."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from conformance.checks import Observation, failed, passed
from conformance.correlation import Message
from conformance.findings import Finding, Requirement
from conformance.packs import Pack


class Cancellation:
    """VA-CAN-001: after cancel nothing is said of the execution but what was already under way.

    What was under way has a timestamp that is not later than the cancel's. A cancel takes its time to
    arrive, so what is later by no more than the parameter `grace` (in seconds) tells nothing. Shown by a
    cancelled execution of which nothing later was said when the record was over.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._grace = timedelta(seconds=spec["parameters"]["grace"])
        self._running: dict[str, Message] = {}
        self._cancelled: dict[str, datetime] = {}
        self._broken: set[str] = set()

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per later message."""
        message = seen.message
        if message is None:
            return
        execution = str(message.at("/correlationId"))
        if message.kind is None or (message.known_party and message.party not in message.kind.senders):
            return
        if message.is_a(["cancel"]):
            self._cancel(message, execution)
        elif message.is_a(["dispatch"]):
            self._forget(execution)
        elif message.is_a(["accepted", "progress", "completed", "failed", "blocked"]):
            self._running.setdefault(execution, message)
            yield from self._judge(message, execution)

    def _cancel(self, message: Message, execution: str) -> None:
        when = _time(message)
        if when is not None and execution not in self._cancelled:
            self._cancelled[execution] = when

    def _forget(self, execution: str) -> None:
        self._running.pop(execution, None)
        self._cancelled.pop(execution, None)

    def _judge(self, message: Message, execution: str) -> Iterable[Finding]:
        cancelled, when = self._cancelled.get(execution), _time(message)
        if cancelled is None or when is None or when <= cancelled + self._grace:
            return
        self._broken.add(execution)
        said = f"{message.name} of {execution} is of a later time than its cancel"
        yield failed(self._requirement, message, said, "/timestamp", actual=message.at("/timestamp"))

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding for each execution that was cancelled while it ran, and then was silent."""
        for execution, message in self._running.items():
            if complete and execution in self._cancelled and execution not in self._broken:
                yield passed(self._requirement, message)


def _time(message: Message) -> datetime | None:
    """The message's timestamp, or None where it is none (which is the schema's matter)."""
    try:
        when = datetime.fromisoformat(str(message.at("/timestamp")).upper())
    except ValueError:
        return None
    return when if when.tzinfo else None
