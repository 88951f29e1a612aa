"""A proxy around another transport that changes what the implementation says, on its way to the kit.

What changes is the matter of a `Mutator`; here bytes are cut into messages, and what is held back is let
go when nothing has come for a while.
"""

from __future__ import annotations

import asyncio
from collections import deque

from conformance.framing import Apart, Framing
from conformance.mutator import Mutator
from conformance.transports import Connection, Ended, Incoming, Transport

PAUSE = 0.25
"""So long, in seconds, a message is held back when nothing else comes."""


class MutatingConnection:
    """Another connection, its messages changed. See `conformance.transports.Connection`."""

    def __init__(self, connection: Connection, name: str, mutator: Mutator) -> None:
        """`name` tells the connections of a session apart."""
        self._inner, self._name, self._mutator = connection, name, mutator
        self._framing = connection.framing()
        self._ready: deque[Incoming | Ended] = deque()

    def place(self) -> str:
        """Where the other leads."""
        return self._inner.place()

    def framing(self) -> Framing:
        """Whatever the other has, each `Incoming` here is one message."""
        return Apart()

    async def send(self, data: bytes) -> None:
        """Send it as it is."""
        self._mutator.sent(self._name, data)
        await self._inner.send(data)

    async def send_raw(self, data: bytes) -> None:
        """Send it as it is."""
        self._mutator.sent(self._name, data)
        await self._inner.send_raw(data)

    async def receive(self) -> Incoming | Ended:
        """The next message, changed or not."""
        while not self._ready:
            try:
                async with asyncio.timeout(PAUSE if self._mutator.holds(self._name) else None):
                    self._take(await self._inner.receive())
            except TimeoutError:
                self._put(self._mutator.release(self._name))
        return self._ready.popleft()

    def _take(self, got: Incoming | Ended) -> None:
        if isinstance(got, Ended):
            for reading in self._framing.end():
                self._put(self._mutator.received(self._name, reading.data))
            self._put(self._mutator.release(self._name))
            self._ready.append(got)
        elif got.binary:
            self._ready.append(got)
        else:
            for reading in self._framing.feed(got.data):
                self._put(self._mutator.received(self._name, reading.data))

    def _put(self, messages: list[bytes]) -> None:
        self._ready.extend(map(Incoming, messages))

    async def finish(self, seconds: float) -> None:
        """As the other does."""
        await self._inner.finish(seconds)

    async def drop(self) -> None:
        """As the other does."""
        await self._inner.drop()


class MutatingTransport:
    """Another transport, each of its connections changed. See `conformance.transports.Transport`."""

    def __init__(self, transport: Transport, mutator: Mutator) -> None:
        """All connections share the mutator, which acts once."""
        self._inner, self._mutator = transport, mutator
        self._opened = 0

    @property
    def pid(self) -> int:
        """As the other has it."""
        return self._inner.pid

    async def open(self, credential: str = "", query: str = "") -> MutatingConnection:
        """Open one more connection."""
        connection = await self._inner.open(credential, query)
        self._opened += 1
        self._mutator.opened(str(self._opened))
        return MutatingConnection(connection, str(self._opened), self._mutator)

    async def shutdown(self) -> None:
        """As the other does."""
        await self._inner.shutdown()
