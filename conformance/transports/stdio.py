"""`stdio:COMMAND`: a fresh process for each connection, spoken to through standard input and output."""

from __future__ import annotations

import asyncio

from conformance.transports import Ended, Incoming, Options
from conformance.transports.process import WAIT, Child, command, start


class StdioConnection:
    """The pipes of one process. See `conformance.transports.Connection`."""

    stream = True

    def __init__(self, child: Child) -> None:
        """Speak to a process that was started."""
        self.child = child

    async def send(self, data: bytes) -> None:
        """Write one line."""
        await self.child.write(data + b"\n")

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

    def __init__(self, target: str, options: Options) -> None:
        """Nothing starts yet; raises BadTarget."""
        self._words = command(target)
        self._options = options
        self._children: list[Child] = []

    async def open(self) -> StdioConnection:
        """Start a process. That it exits at once is no error here: `receive` tells."""
        child = await start(self._words, self._options)
        self._children.append(child)
        return StdioConnection(child)

    async def shutdown(self) -> None:
        """End every process."""
        for child in self._children:
            child.end(WAIT * self._options.patience)
        await asyncio.gather(*(child.ended() for child in self._children))
