"""What the kit does of its own accord in every scenario: heartbeats, answers, and a farewell.

The rows are the pack's `keepalive` and `farewell`, and those of `serving`. What the implementation answers
to these is no step's affair. No I/O and no clock, as in the driver that this belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.actions import Action, Transmit
from conformance.bindings import Now
from conformance.composing import Composer, dump
from conformance.correlation import Message
from conformance.events import JSON
from conformance.packs import Pack
from conformance.serving import Service


@dataclass(slots=True)
class _Line:
    """What is under way on one connection."""

    beat_at: float | None = None
    """When the next heartbeat is due; None while none are."""
    in_session: bool = False
    """Whether something was begun that wants a farewell."""


class Courtesy:
    """The kit's own messages in one scenario. `patience` is a factor for how long a farewell may take."""

    def __init__(self, pack: Pack, party: str, composer: Composer, service: Service, patience: float) -> None:
        self._alive: dict[str, Any] = pack.meta.get("keepalive", {})
        leave: dict[str, Any] = pack.meta.get("farewell", {})
        # Who may not send the farewell leaves by ending the connection.
        self._leave = leave if leave and party in pack.kind(leave["send"]).senders else {}
        self._party = party
        self._service = service
        self._composer = composer
        self.patience = patience
        self._lines: dict[str, _Line] = {}
        self._asked: list[JSON] = []
        self._until: float | None = None
        self.silent = False
        """Whether nothing at all is to be sent."""
        self.late = 0.0
        """How late a heartbeat was at worst, in seconds."""

    def see(self, message: Message, now: Now) -> list[Action]:
        """Take note of any message; what to send at once in answer to one of the implementation's."""
        line = self._lines.setdefault(message.event.connection, _Line())
        if self._alive and message.is_a(self._alive["after"]):
            line.beat_at = now.monotonic + self._alive["every"]
        elif self._alive and message.is_a(self._alive["until"]):
            line.beat_at = None
        if self._leave and message.is_a(self._leave["after"] + self._leave["until"]):
            line.in_session = message.is_a(self._leave["after"])
        if message.party == self._party:
            self._service.see(message, now)
        elif self._service.is_answered(message) and not self.silent:
            return self._service.answer(message, now)
        return []

    def opened(self, connection: str) -> None:
        """A connection is there."""
        self._service.opened(connection)

    def closed(self, connection: str) -> None:
        """Nothing is under way any more on a connection that ended."""
        self._lines.pop(connection, None)
        self._service.closed(connection)

    def is_own_affair(self, message: Message) -> bool:
        """Whether this answers one of the kit's own messages."""
        return message.request is not None and message.request.value.get("id") in self._asked

    def deadline(self) -> float | None:
        """When `wake` is due, in seconds of `Now.monotonic`; None where nothing is."""
        beats = [line.beat_at for line in self._lines.values()]
        due = None if self.silent else self._service.deadline()
        return min((at for at in (*beats, self._until, due) if at is not None), default=None)

    def wake(self, now: Now) -> list[Action]:
        """The heartbeats that are due, and what follows from answers."""
        due = [] if self.silent else self._service.wake(now)
        for name, line in self._lines.items():
            if line.beat_at is not None and line.beat_at <= now.monotonic:
                self.late = max(self.late, now.monotonic - line.beat_at)
                line.beat_at = now.monotonic + self._alive["every"]
                due += [] if self.silent else [self._say(name, self._alive["send"], now)]
        return due

    def farewell(self, now: Now) -> list[Action]:
        """End what was begun, once; later calls give nothing."""
        begun = [name for name, line in self._lines.items() if line.in_session]
        if self._until is not None or not begun:
            return []
        self._until = now.monotonic + self._leave["within"] * self.patience
        return [self._say(name, self._leave["send"], now) for name in begun]

    @property
    def is_awaiting(self) -> bool:
        """Whether a farewell is not answered yet."""
        return self._until is not None and any(line.in_session for line in self._lines.values())

    def is_over(self, now: Now) -> bool:
        """Whether every farewell was answered, or has been waited for long enough."""
        late = self._until is not None and self._until <= now.monotonic
        return late or not any(line.in_session for line in self._lines.values())

    def _say(self, connection: str, kind: str, now: Now) -> Transmit:
        message = self._composer.message(kind, {}, now)
        if "id" in message:
            self._asked.append(message["id"])
        return Transmit(connection, dump(message))
