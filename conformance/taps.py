"""A tap on a transport: it notes the raw bytes that cross, and lengthens what is sent if it is asked to.

What a session sees is cut into messages already. Whether a line ended, and whether something came before
or only after the kit's goodbye, is for whoever looks at the bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from conformance.errors import ConnectionLost, TargetUnavailable
from conformance.framing import Apart, Framing, LineStream
from conformance.transports import Connection, Ended, Incoming, Transport

KEPT = 4 * 1024 * 1024
"""So many bytes are kept of what came."""


@dataclass(slots=True)
class Tap:
    """What crossed the connections of one session. Messages are made `length` bytes long, at least."""

    length: int = 0
    opened: bool = False
    framing: Callable[[], Framing] = Apart
    """Makes what cuts the bytes that came into messages."""
    came: list[Incoming] = field(default_factory=list)
    late: list[Incoming] = field(default_factory=list)
    """What came before the kit said goodbye, and what came after."""
    kept: int = 0
    """The bytes of both."""
    goodbye: bool = False
    lost: bool = False
    """The implementation was gone, or took nothing, when the kit wanted to send."""
    ended: Ended | None = None
    """How the first connection ended that the kit did not end."""
    refused: TargetUnavailable | None = None
    """Why no connection came to be."""

    @property
    def stream(self) -> bool:
        """Whether what came are chunks of a stream of lines."""
        return isinstance(self.framing(), LineStream)

    def around(self, transport: Transport) -> Transport:
        """The transport with this tap on it."""
        return _Tapped(transport, self)

    def note(self, got: Incoming | Ended) -> None:
        """Take down what came."""
        if isinstance(got, Ended):
            if self.ended is None and (self.lost or not self.goodbye):
                self.ended = got
        elif self.kept < KEPT:
            self.kept += len(got.data)
            (self.late if self.goodbye else self.came).append(got)


@dataclass(frozen=True, slots=True)
class _Tapped:
    """See `conformance.transports.Transport`."""

    inner: Transport
    tap: Tap

    @property
    def pid(self) -> int:
        """As the transport itself has it."""
        return self.inner.pid

    async def open(self, credential: str = "", query: str = "") -> Connection:
        """Open a connection with the tap on it."""
        try:
            connection = await self.inner.open(credential, query)
        except TargetUnavailable as error:
            self.tap.refused = self.tap.refused or error
            raise
        self.tap.opened, self.tap.framing = True, connection.framing
        return _TappedConnection(connection, self.tap)

    async def shutdown(self) -> None:
        """End everything."""
        await self.inner.shutdown()


@dataclass(frozen=True, slots=True)
class _TappedConnection:
    """See `conformance.transports.Connection`."""

    inner: Connection
    tap: Tap

    def place(self) -> str:
        """Where the connection itself leads."""
        return self.inner.place()

    def framing(self) -> Framing:
        """As the connection itself has it."""
        return self.inner.framing()

    async def send(self, data: bytes) -> None:
        """Send one message, lengthened."""
        try:
            await self.inner.send(lengthened(data, self.tap.length))
        except ConnectionLost:
            self.tap.lost = True
            raise

    async def send_raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        await self.inner.send_raw(data)

    async def receive(self) -> Incoming | Ended:
        """Note what comes."""
        got = await self.inner.receive()
        self.tap.note(got)
        return got

    async def finish(self, seconds: float) -> None:
        """Say goodbye."""
        self.tap.goodbye = True
        await self.inner.finish(seconds)

    async def drop(self) -> None:
        """Cut the connection."""
        self.tap.goodbye = True
        await self.inner.drop()


def lengthened(data: bytes, length: int) -> bytes:
    """The JSON text of an object, made so long by white space that means nothing (RFC 8259, section 2)."""
    missing = length - len(data)
    if missing <= 0 or not data.startswith(b"{"):
        return data
    return b"{" + b" " * missing + data[1:]
