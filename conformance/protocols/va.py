"""va-agent-protocol: what may still be said of an execution that was cancelled."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, ClassVar

from conformance.checks import Observation, failed, passed, timed
from conformance.correlation import Message
from conformance.findings import Finding, Requirement
from conformance.lapses import told
from conformance.packs import Pack
from conformance.protocols.va_attempts import ABOUT, REPORTS, execution_of, from_its_side, time_of
from conformance.remembered import REMEMBERED_MESSAGES, forget_oldest


class Cancellation:
    """VA-CAN-001: after cancel nothing is said of the execution but what was already under way.

    What was under way has a timestamp that is not later than the cancel's. A cancel takes its time to
    arrive, so what is later by no more than the parameter `grace` (in seconds) tells nothing. Shown by a
    cancelled execution of which nothing later was said when the record was over.
    """

    hears: ClassVar[Iterable[str]] = ABOUT

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._grace = Fraction(str(spec["parameters"]["grace"]))
        self._running: dict[str, Message] = {}
        self._cancelled: dict[str, Message] = {}
        self._broken: dict[str, None] = {}

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per later message."""
        if not seen.plain and seen.loses_any:
            for name in [name for name, said in self._running.items() if seen.may_hide(name, said.party)]:
                del self._running[name]
        message = seen.message
        if message is None or not (seen.praise or self._cancelled or message.name == "cancel"):
            return ()  # nothing was cancelled, of which anything could be said
        message = from_its_side(seen)
        if message is None:
            return ()
        execution = str(execution_of(message.value))
        if message.name == "cancel":
            self._cancel(message, execution)
        elif message.name == "dispatch":
            self._forget(execution)
        elif message.name in REPORTS:
            found = self._judge(message, execution) if execution in self._cancelled else ()
            if message.name in ("completed", "failed"):
                self._running.pop(execution, None)  # whether it heeds a cancel is not shown any more
            elif seen.praise:
                self._running.setdefault(execution, message)
            return found
        return ()

    def _cancel(self, message: Message, execution: str) -> None:
        if time_of(message) is not None:
            self._cancelled.setdefault(execution, message)
            forget_oldest(self._cancelled, REMEMBERED_MESSAGES)

    def _forget(self, execution: str) -> None:
        self._running.pop(execution, None)
        self._cancelled.pop(execution, None)

    def _judge(self, message: Message, execution: str) -> Iterable[Finding]:
        cancel, when = self._cancelled[execution], time_of(message)
        since = time_of(cancel)
        if since is None or when is None:
            return []
        lapse = told(when - since, cancel.event, message.event)
        late = lapse.exceeds(self._grace)
        if late is False:
            return []
        self._broken[execution] = None
        forget_oldest(self._broken)
        at = message.at("/timestamp")
        said = f"{message.name} of {execution} is of {at}, and it was cancelled at {cancel.at('/timestamp')}"
        found = failed(self._requirement, message, said, "/timestamp", actual=at)
        return [timed(found, lapse, late)]

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding for each execution that was cancelled while it ran, and then was silent."""
        for execution, message in self._running.items():
            if complete and execution in self._cancelled and execution not in self._broken:
                yield passed(self._requirement, message)
