"""`ws://…` and `wss://…`: connect to a WebSocket server (RFC 6455)."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import re
import socket
import ssl
from contextlib import suppress
from typing import Any

from websockets.asyncio.client import connect
from websockets.asyncio.connection import Connection as Socket
from websockets.exceptions import (
    ConnectionClosed,
    InvalidStatus,
    InvalidURI,
    NegotiationError,
    WebSocketException,
)
from websockets.protocol import State
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from conformance.errors import (
    AccessRefused,
    BadTarget,
    ConnectionLost,
    NotTrusted,
    TargetUnavailable,
    WrongSubprotocol,
)
from conformance.framing import Apart, Framing
from conformance.transports import Ended, Incoming, Options
from conformance.transports.access import Access
from conformance.transports.flow import Deadline, Inbox, written
from conformance.transports.stderr import excerpt

# Factors of `Options.patience`, in seconds.
OPEN = 10.0  # for the connection and the opening handshake
STALL = 10.0  # for the peer to take one byte
CLOSE = 2.0  # for the rest of the closing handshake

FRAGMENTS = 100_000
"""Of one message; more of them end the connection."""

UNREAD = 256 * 1024 * 1024
"""Bytes that may wait to leave. The kit waits until what it sends is read; the library just answers pings."""

GOOD = {1000, 1001, 1005}
"""Close codes of a proper end: normal, going away, and a close frame that gives none (7.4.1)."""

NO_PROXY: dict[str, Any] = {"proxy": None} if "proxy" in inspect.signature(connect).parameters else {}
"""From version 15 on, websockets would use the proxy of the environment."""

logger = logging.getLogger(__name__)
logger.addHandler(logging.NullHandler())  # else warnings of the library end up on standard error
logger.propagate = False  # at its most talkative, the library tells the headers, and so the token


class WebSocketConnection:
    """One WebSocket. See `conformance.transports.Connection`.

    Either side may have been the client. A task empties the socket into the inbox, so that the end is
    noticed, and the peer can go on writing, while the kit is busy.
    """

    def __init__(self, socket: Socket, options: Options, place: str = "") -> None:
        """Speak over a socket after the opening handshake; `place` is what the kit connected to."""
        self._socket = socket
        self._place = options.access.hidden(place)
        self._options = options
        self._hidden = options.access.hidden
        self._room = asyncio.Event()
        self._inbox = Inbox(on_room=self._room.set)
        self._forced = ""
        self._goodbye: asyncio.Task[None] | None = None
        self._deadline = Deadline()
        self._watch = asyncio.get_running_loop().call_later(self._rest, self._look)
        self._pump = asyncio.create_task(self._fill())

    def place(self) -> str:
        """What the kit connected to, if it did."""
        return self._place

    def framing(self) -> Framing:
        """Each message comes whole."""
        return Apart()

    async def send(self, data: bytes) -> None:
        """Send one text message."""
        await self._send(data.decode())

    async def send_raw(self, data: bytes) -> None:
        """Send one text message, or a binary one: text must be UTF-8 (RFC 6455, 5.6)."""
        try:
            await self._send(data.decode())
        except UnicodeDecodeError:
            await self._send(data)

    async def receive(self) -> Incoming | Ended:
        """The next message, or how the connection ended."""
        return await self._inbox.take()

    async def finish(self, seconds: float) -> None:
        """Send a close frame with code 1000."""
        if self._inbox.ended is not None:
            return
        if self._goodbye is None:
            self._goodbye = asyncio.create_task(self._close())
        late = f"the implementation did not answer the kit's close frame within {seconds:g} s"
        self._deadline.within(seconds, lambda: self._abort(late))

    async def drop(self) -> None:
        """Cut the TCP connection."""
        self._abort("the kit dropped the connection")

    async def ended(self) -> None:
        """Wait until the socket is closed; `finish` or `drop` goes before. If cancelled, it drops."""
        try:
            await self._socket.wait_closed()
        finally:
            self._abort("the kit dropped the connection")
            self._pump.cancel()
            tasks = [self._pump] if self._goodbye is None else [self._pump, self._goodbye]
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _send(self, message: str | bytes) -> None:
        if self._inbox.ended is not None:
            raise ConnectionLost(self._inbox.ended.detail)
        if self._goodbye is not None:
            raise ConnectionLost("the kit has closed the connection")
        left = self._socket.transport.get_write_buffer_size
        try:
            await written(self._socket.send(message), left, STALL * self._options.patience)
        except ConnectionClosed:
            raise ConnectionLost(self._how().detail) from None

    async def _fill(self) -> None:
        try:
            with suppress(ConnectionClosed):
                while True:
                    self._inbox.put(await self._next())
                    if self._inbox.full:
                        self._room.clear()
                        await self._room.wait()
        finally:
            self._watch.cancel()
            self._deadline.cancel()
            self._inbox.end(self._how())

    async def _next(self) -> Incoming:
        """The next message. Its fragments are counted: that they are empty does not make them free."""
        parts: list[Any] = []
        async for part in self._socket.recv_streaming():
            parts.append(part)
            if len(parts) > FRAGMENTS:
                self._abort(f"a message has more than {FRAGMENTS} fragments")
        if isinstance(parts[0], str):
            return Incoming(self._hidden("".join(parts)).encode())
        return Incoming(self._options.access.hidden_in(b"".join(parts)), binary=True)

    @property
    def _rest(self) -> float:
        return CLOSE * self._options.patience

    def _look(self) -> None:
        """From time to time: what the library would wait for, or keep, for ever."""
        self._watch = asyncio.get_running_loop().call_later(self._rest, self._look)
        if self._socket.protocol.state is not State.OPEN and self._goodbye is None:
            self._socket.transport.abort()  # the server leaves the TCP connection open after the close frames
        elif self._socket.transport.get_write_buffer_size() > UNREAD:
            self._abort(f"the implementation reads nothing: {UNREAD} bytes wait for it, pongs among them")

    async def _close(self) -> None:
        with suppress(ConnectionClosed):
            await self._socket.close(1000)

    def _abort(self, why: str) -> None:
        if self._inbox.ended is None:
            self._forced = self._forced or why
            self._socket.transport.abort()

    def _how(self) -> Ended:
        """From the close frames that went each way, if they did."""
        if self._socket.protocol.state is not State.CLOSED:
            return Ended(clean=False, detail="the kit dropped the connection")
        closed = self._socket.protocol.close_exc
        sent, received = closed.sent, closed.rcvd
        if sent is not None and sent.code not in GOOD and not closed.rcvd_then_sent:
            return Ended(
                False, f"{self._fault(sent.code, self._hidden(sent.reason))}, and the kit closed", sent.code
            )
        if received is not None:
            reason = self._hidden(received.reason)
            # Who gets a close frame answers it, and says no more, whatever it was about to (5.5.1).
            cut_off = self._goodbye is not None and not closed.rcvd_then_sent
            return Ended(received.code in GOOD, _closing(received.code, reason), received.code, cut_off)
        if self._forced:
            return Ended(clean=False, detail=self._forced)
        answer = " in answer to the kit's" if sent is not None else ""
        return Ended(False, f"the connection closed without a close frame{answer} (code 1006)", 1006)

    def _fault(self, code: int, reason: str) -> str:
        """What made the library fail the connection with `code` (RFC 6455, 7.4.1)."""
        if code == 1009:
            return f"a message is larger than {self._options.max_message} bytes (code 1009)"
        what = "a text message is not UTF-8" if code == 1007 else "the WebSocket protocol was broken"
        return f"{what} (code {code}: {reason})" if reason else f"{what} (code {code})"


def _closing(code: int, reason: str) -> str:
    if code == 1005:
        return "closed with a close frame that gives no code"
    why = excerpt(reason.encode())
    return f"closed with code {code}: {why}" if why else f"closed with code {code}"


class WebSocketTransport:
    """See `conformance.transports.Transport`."""

    def __init__(self, target: str, options: Options) -> None:
        """Nothing is reached yet; raises BadTarget."""
        self._url = target
        self._options = options
        self._connections: list[WebSocketConnection] = []
        try:
            parse_uri(target)
        except (InvalidURI, ValueError, AssertionError) as error:
            reason = error.msg if isinstance(error, InvalidURI) else str(error)
            raise BadTarget(f"'{_shown(target)}' is no WebSocket URL: {reason}") from None

    @property
    def pid(self) -> int:
        """Whose process the server is, is not known: always 0."""
        return 0

    async def open(self, credential: str = "", query: str = "") -> WebSocketConnection:
        """Connect and shake hands."""
        access = self._options.credentials[credential] if credential else self._options.access
        try:
            socket = await self._connect(access, _asking(self._url, query))
        except (OSError, EOFError, ValueError, WebSocketException) as error:
            refused = error.response.status_code if isinstance(error, InvalidStatus) else 0
            raise _condition(error)(self._why(error, access), refused) from None
        connection = WebSocketConnection(socket, self._options, _shown(self._url))
        self._connections.append(connection)
        chosen = socket.subprotocol
        if chosen not in (self._options.subprotocols or (None,)):
            await connection.finish(CLOSE * self._options.patience)
            what = "no subprotocol" if chosen is None else "the token as the subprotocol"
            raise WrongSubprotocol(f"{_shown(self._url)} chose {what}; {self._offered()}")
        return connection

    async def shutdown(self) -> None:
        """Close every connection."""
        for connection in self._connections:
            await connection.finish(CLOSE * self._options.patience)
        await asyncio.gather(*(connection.ended() for connection in self._connections))

    async def _connect(self, access: Access, url: str) -> Socket:
        subprotocols = [Subprotocol(name) for name in access.offered(self._options.subprotocols)]
        secure: dict[str, Any] = {}
        if access.context is not None and parse_uri(self._url).secure:
            secure["ssl"] = access.context
        connecting = connect(
            url,
            subprotocols=subprotocols or None,
            additional_headers=access.headers,
            compression=None,  # messages are to be judged as they were sent
            open_timeout=OPEN * self._options.patience,
            ping_interval=None,  # a keep-alive of ours could hide, or cause, what the protocol's own shows
            close_timeout=None,  # finish() bounds it
            max_size=self._options.max_message,
            logger=logger,
            **NO_PROXY,
            **secure,
        )
        # What is tested is who was named; and what a redirect leads to is not to get the token.
        setattr(connecting, "process_redirect", lambda error: error)  # noqa: B010
        return await connecting

    def _offered(self) -> str:
        return "the kit offered " + ", ".join(repr(name) for name in self._options.subprotocols)

    def _why(self, error: Exception, access: Access) -> str:
        """One sentence for any way in which a WebSocket does not come to be."""
        url, said = _shown(self._url), access.hidden(str(error))
        if isinstance(error, InvalidStatus):
            status = error.response.status_code
            if status in (401, 403):
                shown = f"a token by {access.by}" if access.token else "no token"
                return f"{url} did not let the kit in, which showed {shown}: it answered HTTP {status}"
            return f"{url} is not a WebSocket server: it answered HTTP {status} where 101 was expected"
        if isinstance(error, NegotiationError):
            return f"{url} chose what the kit did not offer: {said}; {self._offered()}"
        if isinstance(error, TimeoutError) and error.errno is None:
            return f"{url} did not answer within {OPEN * self._options.patience:g} s"
        if isinstance(error, OSError) and (reason := _os_reason(error)):
            return f"cannot connect to {url}: {reason}"
        return f"{url} is not a WebSocket server: {excerpt(said.encode())}"


def _condition(error: Exception) -> type[TargetUnavailable]:
    """What has to change for a WebSocket to come to be, as far as the error shows it."""
    if isinstance(error, InvalidStatus) and error.response.status_code in (401, 403, 407):
        return AccessRefused
    if isinstance(error, ssl.SSLError):
        return NotTrusted
    return WrongSubprotocol if isinstance(error, NegotiationError) else TargetUnavailable


def _os_reason(error: OSError) -> str:
    """What the system says; empty where it is not the system that complains."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its TLS certificate does not hold: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {(error.reason or str(error)).lower().replace('_', ' ')}"
    if isinstance(error, socket.gaierror):
        return f"the name is not known ({(error.strerror or str(error)).lower()})"
    # Where several addresses were tried, asyncio gives the numbers in the text only.
    numbers = [error.errno] if error.errno else [int(n) for n in re.findall(r"\[Errno (\d+)\]", str(error))]
    return ", ".join(dict.fromkeys(os.strerror(n).lower() for n in numbers))


def _asking(url: str, query: str) -> str:
    """The URL with more in its query."""
    return url if not query else f"{url}{'&' if '?' in url else '?'}{query}"


def _shown(url: str) -> str:
    """The URL without credentials and query: both may hold secrets, and sentences are written down."""
    return re.sub(r"//[^/?#]*@", "//", re.split(r"[?#]", url)[0])
