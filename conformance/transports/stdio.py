"""`stdio:COMMAND`, `stdio+lsp:COMMAND`: a fresh process for each connection, spoken to through its pipes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from conformance.framing import Framing, LineStream
from conformance.headers import HeaderStream, enclosed
from conformance.transports import Ended, Incoming, Options
from conformance.transports.process import WAIT, Child, command, living, start


@dataclass(frozen=True, slots=True)
class Frames:
    """How messages stand on a stream: what is written for one, and what cuts those that come."""

    written: Callable[[bytes], bytes]
    cut: Callable[[], Framing]


LINES = Frames(lambda message: message + b"\n", LineStream)
HEADERS = Frames(enclosed, HeaderStream)


class StdioConnection:
    """The pipes of one process. See `conformance.transports.Connection`."""

    def __init__(self, child: Child, frames: Frames) -> None:
        """Speak to a process that was started."""
        self.child = child
        self._frames = frames

    def place(self) -> str:
        """No URL."""
        return ""

    def framing(self) -> Framing:
        """What cuts standard output into messages."""
        return self._frames.cut()

    async def send(self, data: bytes) -> None:
        """Write one message."""
        await self.child.write(self._frames.written(data))

    async def send_raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        await self.child.write(data)

    async def receive(self) -> Incoming | Ended:
        """The next chunk of standard output, or how the process ended."""
        return await self.child.inbox.take()

    async def finish(self, seconds: float) -> None:
        """Close standard input."""
        self.child.end(seconds)

    async def drop(self) -> None:
        """Kill the process group."""
        self.child.kill()


class StdioTransport:
    """See `conformance.transports.Transport`."""

    def __init__(self, target: str, options: Options, frames: Frames = LINES) -> None:
        """Nothing starts yet; raises BadTarget."""
        self._words = command(target)
        self._options = options
        self._frames = frames
        self._children: list[Child] = []

    @property
    def pid(self) -> int:
        """The id of the process that was started last, while it runs."""
        return living(self._children)

    async def open(self, credential: str = "", query: str = "") -> StdioConnection:
        """Start a process. That it exits at once is no error here: `receive` tells."""
        child = await start(self._words, self._options)
        self._children.append(child)
        return StdioConnection(child, self._frames)

    async def shutdown(self) -> None:
        """End every process."""
        for child in self._children:
            child.end(WAIT * self._options.patience)
        await asyncio.gather(*(child.ended() for child in self._children))
