"""What the kit does of its own accord in every scenario: heartbeats, answers, and a farewell.

The rows are the pack's `keepalive`, `answers` and `farewell`. What the implementation answers to these
is no step's affair. No I/O and no clock, as in the driver that this belongs to.
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


@dataclass(slots=True)
class _Line:
    """What is under way on one connection."""

    beat_at: float | None = None
    """When the next heartbeat is due; None while none are."""
    in_session: bool = False
    """Whether something was begun that wants a farewell."""


class Courtesy:
    """The kit's own messages in one scenario. `patience` is a factor for how long a farewell may take."""

    def __init__(self, pack: Pack, composer: Composer, patience: float) -> None:
        self._alive: dict[str, Any] = pack.meta.get("keepalive", {})
        self._leave: dict[str, Any] = pack.meta.get("farewell", {})
        self._answers: dict[str, str] = pack.meta.get("answers", {})
        self._composer = composer
        self.patience = patience
        self._lines: dict[str, _Line] = {}
        self._asked: list[JSON] = []
        self._until: float | None = None
        self.silent = False
        """Whether nothing at all is to be sent."""
        self.late = 0.0
        """How late a heartbeat was at worst, in seconds."""

    def see(self, message: Message, party: str, now: Now) -> list[Action]:
        """Take note of any message; what to send at once in answer to one of the implementation's."""
        line = self._lines.setdefault(message.event.connection, _Line())
        if self._alive and message.is_a(self._alive["after"]):
            line.beat_at = now.monotonic + self._alive["every"]
        elif self._alive and message.is_a(self._alive["until"]):
            line.beat_at = None
        if self._leave and message.is_a(self._leave["after"] + self._leave["until"]):
            line.in_session = message.is_a(self._leave["after"])
        kind = self._answers.get(message.name) if message.party == party else None
        if kind is None or self.silent:
            return []
        answer = self._composer.answer(kind, message.value, now)
        return [Transmit(message.event.connection, dump(answer))]

    def closed(self, connection: str) -> None:
        """Nothing is under way any more on a connection that ended."""
        self._lines.pop(connection, None)

    def is_own_affair(self, message: Message) -> bool:
        """Whether this answers one of the kit's own messages."""
        return message.request is not None and message.request.value.get("id") in self._asked

    def deadline(self) -> float | None:
        """When `wake` is due, in seconds of `Now.monotonic`; None where nothing is."""
        times = [line.beat_at for line in self._lines.values() if line.beat_at is not None]
        return min([*times, *([] if self._until is None else [self._until])], default=None)

    def wake(self, now: Now) -> list[Action]:
        """The heartbeats that are due."""
        due: list[Action] = []
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

    def is_over(self, now: Now) -> bool:
        """Whether every farewell was answered, or has been waited for long enough."""
        late = self._until is not None and self._until <= now.monotonic
        return late or not any(line.in_session for line in self._lines.values())

    def _say(self, connection: str, kind: str, now: Now) -> Transmit:
        message = self._composer.message(kind, {}, now)
        if "id" in message:
            self._asked.append(message["id"])
        return Transmit(connection, dump(message))
