"""Applies one mutation to the messages of one session, once, at the first message where it can be.

It knows no clock: who holds it says when a message that is held back has waited long enough.
"""

from __future__ import annotations

from conformance.checks.delivery import Deliveries
from conformance.correlation import Correlator, Message
from conformance.events import Received, Sent
from conformance.framing import read_message
from conformance.motion import Motion
from conformance.mutations import Change, Mutation, Rules, Seen
from conformance.packs import Pack

Data = list[bytes]
"""The messages that arrive, in order."""


class Mutator:
    """The messages of a session on their way; `role` is the implementation's."""

    def __init__(self, pack: Pack, role: str, mutation: Mutation) -> None:
        self.applied: Change | None = None
        """What was done, once it was."""
        self._mutation = mutation
        self._rules = Rules(pack, role)
        self._peer = pack.peer_of(role)
        self._correlator = Correlator(pack)
        self._motion = Motion(pack)
        self._deliveries = Deliveries(pack.meta.get("redelivery"))
        self._asked: dict[str, Message] = {}
        self._held: tuple[str, bytes, Seen] | None = None
        self._count = 0

    def opened(self, connection: str) -> None:
        """A connection begins."""
        self._correlator.opened(connection)

    def sent(self, connection: str, data: bytes) -> None:
        """Take note of a message of the kit's."""
        seen = self._seen(connection, data, is_sent=True)
        if seen is not None:
            self._asked[connection] = seen.message

    def received(self, connection: str, data: bytes) -> Data:
        """What arrives in place of a message of the implementation's."""
        seen = self._seen(connection, data, is_sent=False) if self.applied is None else None
        if seen is None:
            return [*self.release(connection), data]
        return self._pair(connection, data, seen) if self._mutation.pair else self._alter(data, seen)

    def holds(self, connection: str) -> bool:
        """Whether a message is held back there."""
        return self._held is not None and self._held[0] == connection

    def release(self, connection: str) -> Data:
        """Let go what is held back there."""
        if self._held is None or not self.holds(connection):
            return []
        data, self._held = self._held[1], None
        return [data]

    def _alter(self, data: bytes, seen: Seen) -> Data:
        assert self._mutation.alter is not None
        change = self._mutation.alter(self._rules, seen)
        return self._made(change) if change else [data]

    def _pair(self, connection: str, data: bytes, seen: Seen) -> Data:
        """Hold back what moves something on, until the next word about the same; other things go past it."""
        if self._held is None:
            return self._hold(connection, data, seen)
        held = self._held[2]
        change = self._mutation.pair(self._rules, held, seen) if self._mutation.pair else None
        if change is not None:
            self._held = None
            return self._made(change)
        if self.holds(connection) and not (_about(held) & _about(seen)):
            return [data]
        return [*self.release(self._held[0]), *self._hold(connection, data, seen)]

    def _hold(self, connection: str, data: bytes, seen: Seen) -> Data:
        if not any(one.move.before is not None and one.move.edge for one in seen.moved):
            return [data]
        self._held = (connection, data, seen)
        return []

    def _made(self, change: Change) -> Data:
        self.applied = change
        return [text.encode("utf-8", "surrogatepass") for text in change.texts]

    def _seen(self, connection: str, data: bytes, *, is_sent: bool) -> Seen | None:
        """The message in its place; None where it is none that the pack knows."""
        reading = read_message(data)
        if reading.fatal is not None or not isinstance(reading.value, dict):
            return None
        self._count += 1
        made, party = (Sent, self._peer) if is_sent else (Received, self._rules.role)
        message = self._correlator.message(made(self._count, party, reading.text, reading.value, connection))
        if message.kind is None:
            return None
        delivery = self._deliveries.of(message)
        moved = tuple(self._motion.of(message, lambda row: self._deliveries.moves(delivery, row)))
        return Seen(message, moved, self._asked.get(connection))


def _about(seen: Seen) -> set[tuple[str, str]]:
    return {(one.lifecycle, one.move.entity) for one in seen.moved}
