"""`ws-listen:COMMAND`: the kit is the server (RFC 6455); start an implementation that connects to it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import NegotiationError
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from conformance.errors import TargetUnavailable, WrongSubprotocol
from conformance.transports import Ended, Options
from conformance.transports.flow import LOOK
from conformance.transports.process import LINGER, WAIT, Child, command, living, start
from conformance.transports.stderr import excerpt
from conformance.transports.websocket import CLOSE, OPEN, WebSocketConnection, logger

HOST = "127.0.0.1"

CONNECT = 30.0
"""Seconds, x patience, for the implementation to connect."""

WAITING = 16
"""So many connections may wait for an `open`; more are refused with HTTP 503."""


class ListenTransport:
    """One process, started by the first `open`; each `open` gives the next connection that it makes.

    The URL to connect to stands in place of `{url}` in the command, and in `$CONFORMANCE_URL`. See
    `transports.Transport`.
    """

    def __init__(self, target: str, options: Options) -> None:
        """Nothing starts yet; raises BadTarget."""
        self._words = command(target)
        self._options = options
        self._starting = asyncio.Lock()
        self._server: Server | None = None
        self._children: list[Child] = []
        self._connections: list[WebSocketConnection] = []
        self._made: asyncio.Queue[WebSocketConnection | TargetUnavailable] = asyncio.Queue()
        self._refused = ""

    @property
    def pid(self) -> int:
        """The id of the process, while it runs."""
        return living(self._children)

    async def open(self, credential: str = "", query: str = "") -> WebSocketConnection:
        """Start the implementation unless it was started, and wait until it connects once more."""
        async with self._starting:
            if not self._children:
                await self._start()
        got = await self._next(self._children[0])
        if isinstance(got, TargetUnavailable):
            raise got
        return got

    async def shutdown(self) -> None:
        """Listen no more, close the connections, then end the process as `stdio` does."""
        try:
            await self._close()
            for connection in self._connections:
                await connection.finish(CLOSE * self._options.patience)
            await asyncio.gather(*(connection.ended() for connection in self._connections))
        except asyncio.CancelledError:
            for child in self._children:
                child.kill()
            raise
        finally:
            for child in self._children:
                child.end(WAIT * self._options.patience)
            await asyncio.gather(*(child.ended() for child in self._children))
            await self._unheard()

    async def _close(self) -> None:
        """Listen no more. Whom the loop has accepted already is let in first.

        asyncio loses, and never closes, a connection whose server is closed in the turn after
        (python/cpython#109564).
        """
        if self._server is None:
            return
        with suppress(NotImplementedError):  # a loop that has no readers, on Windows
            for listening in self._server.sockets:
                asyncio.get_running_loop().remove_reader(listening.fileno())
        try:
            await asyncio.sleep(0)
        finally:
            self._server.close(close_connections=False)

    async def _unheard(self) -> None:
        """Wait for the server's own end: whoever had not finished a handshake is gone with the process."""
        if self._server is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                await self._server.wait_closed()
        for socket in [*self._server.all_connections]:
            socket.transport.abort()  # one that came while the server closed, and was refused, say
        await asyncio.sleep(0)  # what was aborted is lost, and closed, in the next turn

    async def _start(self) -> None:
        self._server = await serve(
            self._accepted,
            HOST,
            0,
            select_subprotocol=self._choose,
            process_request=self._admit,
            process_response=self._note,
            compression=None,  # messages are to be judged as they were sent
            open_timeout=OPEN * self._options.patience,
            ping_interval=None,  # a keep-alive of ours could hide, or cause, what the protocol's own shows
            close_timeout=None,  # finish() bounds it
            max_size=self._options.max_message,
            logger=logger,
        )
        [listening] = self._server.sockets
        url = f"ws://{HOST}:{listening.getsockname()[1]}"
        child = await start(self._words, self._options, url=url)
        child.discard_output()  # what it prints is no part of the conversation
        self._children.append(child)

    async def _next(self, child: Child) -> WebSocketConnection | TargetUnavailable:
        made = asyncio.create_task(self._made.get())
        exited = asyncio.create_task(_exit(child))
        seconds = CONNECT * self._options.patience
        try:
            await asyncio.wait({made, exited}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            # It may have connected just before: a kit that was busy looks once more.
            await asyncio.wait({made}, timeout=LOOK)
            if made.done():
                return made.result()
            reason = exited.result().detail if exited.done() else f"it had {seconds:g} s"
            return TargetUnavailable(self._absent(reason))
        finally:
            made.cancel()
            exited.cancel()

    def _absent(self, reason: str) -> str:
        further = "no further" if self._connections else "no"
        refused = f"; {self._refused}" if self._refused else ""
        return f"{self._words[0]!r} made {further} WebSocket connection to the kit: {reason}{refused}"

    # What the server asks and tells.

    async def _accepted(self, socket: ServerConnection) -> None:
        connection = WebSocketConnection(socket, self._options)
        self._connections.append(connection)
        self._made.put_nowait(connection)
        await socket.wait_closed()

    def _admit(self, socket: ServerConnection, _: Request) -> Response | None:
        if self._made.qsize() < WAITING:
            return None
        return socket.respond(HTTPStatus.SERVICE_UNAVAILABLE, f"{WAITING} connections wait already\n")

    def _choose(self, _: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
        """The first of ours that is offered; an offer without any is refused, and `open` says so."""
        wanted = self._options.subprotocols
        chosen = next((name for name in wanted if name in offered), None)
        if chosen is None and wanted:
            names = excerpt(_listed(offered).encode()) if offered else "no subprotocol"
            said = f"{self._words[0]!r} offered {names}; the kit speaks {_listed(wanted)}"
            if not self._made.qsize():
                self._made.put_nowait(WrongSubprotocol(said))
            raise NegotiationError(said)
        return None if chosen is None else Subprotocol(chosen)

    def _note(self, _: ServerConnection, __: Request, response: Response) -> None:
        if response.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            said = excerpt(bytes(response.body or b""))
            self._refused = f"the kit refused one with HTTP {response.status_code}: {said}"


async def _exit(child: Child) -> Ended:
    """How the process ended, when it has; its output is discarded."""
    while not isinstance(got := await child.inbox.take(), Ended):
        pass
    return got


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(str(name)) for name in names)
