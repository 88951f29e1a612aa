"""`launch:COMMAND`: start a server, read its URL from the first line it prints, connect to that."""

from __future__ import annotations

import asyncio

from conformance.errors import BadTarget, TargetUnavailable
from conformance.transports import Connection, Ended, Options
from conformance.transports.process import Child, command, living, start
from conformance.transports.stderr import excerpt
from conformance.transports.websocket import WebSocketTransport

SPEAK = 10.0
"""Seconds, x patience, for the first line."""

LINE = 65_536


class LaunchTransport:
    """One process for all connections, started by the first `open`. See `transports.Transport`."""

    def __init__(self, target: str, options: Options) -> None:
        """Nothing starts yet; raises BadTarget."""
        self._words = command(target)
        self._options = options
        self._starting = asyncio.Lock()
        self._children: list[Child] = []
        self._server: WebSocketTransport | None = None

    @property
    def pid(self) -> int:
        """The id of the process, while it runs."""
        return living(self._children)

    async def open(self, credential: str = "", query: str = "") -> Connection:
        """Start the server unless it was started, and connect to it."""
        async with self._starting:
            if self._server is None:
                self._server = await self._start()
        return await self._server.open(credential, query)

    async def shutdown(self) -> None:
        """Close the connections, then end the server by SIGTERM, as is usual for servers."""
        try:
            if self._server is not None:
                await self._server.shutdown()
        except asyncio.CancelledError:
            for child in self._children:
                child.kill()
            raise
        finally:
            for child in self._children:
                child.end(0)
            await asyncio.gather(*(child.ended() for child in self._children))

    async def _start(self) -> WebSocketTransport:
        child = await start(self._words, self._options)
        self._children.append(child)
        try:
            line = await self._first_line(child)
            return WebSocketTransport(line.decode(), self._options)
        except (BadTarget, UnicodeDecodeError):
            raise TargetUnavailable(
                f"{self._words[0]!r} printed {excerpt(line)!r} on its first line instead of a ws:// URL"
            ) from None
        finally:
            child.discard_output()  # a server may write what it likes there; it must never block on it

    async def _first_line(self, child: Child) -> bytes:
        seconds = SPEAK * self._options.patience
        seen = b""
        try:
            async with asyncio.timeout(seconds):
                while b"\n" not in seen and len(seen) < LINE:
                    got = await child.inbox.take()
                    if isinstance(got, Ended):
                        raise TargetUnavailable(f"{self._words[0]!r} gave no URL: {got.detail}")
                    seen += got.data
        except TimeoutError:
            raise TargetUnavailable(f"{self._words[0]!r} printed no ws:// URL within {seconds:g} s") from None
        return seen.partition(b"\n")[0].strip()
