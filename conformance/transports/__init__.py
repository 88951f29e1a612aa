"""The cables: how bytes reach an implementation and come back. `TRANSPORTS` is the table by scheme.

A *transport* knows how to reach one target; each `open()` gives one *connection* to it. The whole
life of both, as a runner lives it:

    transport = make_transport("stdio:python agent.py", Options())
    try:
        connection = await transport.open()
        await connection.send(b'{"hello": 1}')
        async with asyncio.timeout(5):           # receive() may be cancelled at any time
            got = await connection.receive()     # Incoming, or Ended
        await connection.finish(2.0)             # begins the goodbye and returns at once
        while not isinstance(got := await connection.receive(), Ended):
            ...                                  # what the implementation still had to say
    finally:
        await transport.shutdown()               # also when cancelled: nothing is left behind

After `finish` no deadline is needed around `receive`: the transport itself ends a peer that does
not end in time, and `Ended` then says so. Errors are about the cable and never a finding; how a
connection ended is a fact (`Ended`), which the runner records and the checks judge.

Only sentences for people leave this package as text. They never contain the credentials or the
query of a URL, and nothing that leaves it contains the token that the kit shows (`access`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from conformance.errors import BadTarget
from conformance.framing import Framing
from conformance.transports.access import Access

__all__ = ["TRANSPORTS", "Connection", "Ended", "Incoming", "Options", "Transport", "make_transport"]


@dataclass(frozen=True, slots=True)
class Incoming:
    """Bytes from the implementation: a chunk of a stream, or one whole message.

    `binary` is True for a binary WebSocket message, False for a text one and for every chunk.
    """

    data: bytes
    binary: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """How a connection ended, seen from the kit.

    `clean`: the implementation ended as it should (exit status 0, close code 1000, 1001 or none).
    It is False where the kit had to end the connection, whatever the reason. `detail` is one
    sentence without a full stop. `code` is the exit status (negative: the signal, as in
    `subprocess`) or the WebSocket close code (RFC 6455, 7.4), None where there is neither.
    `cut_off`: the kit ended it in a way that leaves the implementation no word. Over a pipe that the
    kit has closed, what it still has to say comes all the same.
    """

    clean: bool
    detail: str
    code: int | None = None
    cut_off: bool = False


class Connection(Protocol):
    """One conversation with the implementation. One task sends and one receives, or one does both."""

    def place(self) -> str:
        """The URL that it leads to, without credentials and query; empty where there is none."""

    def framing(self) -> Framing:
        """What cuts the bytes of `Incoming` into messages."""

    async def send(self, data: bytes) -> None:
        """Send one message text in UTF-8; what frames it on a stream is added here.

        Returns when the bytes are on their way, which is no proof that they were read.

        Raises:
            ConnectionLost: the peer is gone, or took no byte for 10 s x `Options.patience`.
        """

    async def send_raw(self, data: bytes) -> None:
        """Send bytes as they are: a stream adds nothing; else as one text message if they are
        UTF-8 and as one binary message if not. Raises as `send` does.
        """

    async def receive(self) -> Incoming | Ended:
        """Wait for what comes next, without a time limit of its own.

        Cancelling loses nothing. Everything that arrived before the end comes before `Ended`; after
        `Ended` comes the same `Ended` again.

        Raises:
            TargetUnavailable: what a message was to be given to could not be started.
        """

    async def finish(self, seconds: float) -> None:
        """Begin to say goodbye as the protocol of the cable has it: end of input, or a close frame.

        Returns at once; go on with `receive` until `Ended`. Whatever has not ended after `seconds` is
        ended by the transport: a process by SIGTERM and, 1 s x `Options.patience` later, SIGKILL; a
        socket by dropping it. May be called again, also after the end; the shorter time holds.
        """

    async def drop(self) -> None:
        """Cut the connection without a goodbye: SIGKILL for the process group, or no close frame.

        Go on with `receive` until `Ended`, which follows without delay.
        """


class Transport(Protocol):
    """A way to reach one target."""

    @property
    def pid(self) -> int:
        """The id of the process that the target is, if this began it and it runs; else 0."""

    async def open(self, credential: str = "", query: str = "") -> Connection:
        """Open one more connection: `stdio` starts a fresh process for each.

        To a server, it is opened with the credential of this name of `Options.credentials`, and `query`,
        as a URL has it, beside what the URL of the target has.

        Raises:
            TargetUnavailable: it cannot be started or reached; `str()` says why in one sentence.
        """

    async def shutdown(self) -> None:
        """End every connection and process that this transport began; idempotent.

        Returns when all are gone. A process gets an end of input, 2 s x `Options.patience`, SIGTERM,
        1 s x patience, SIGKILL (one of `launch` gets SIGTERM at once); its whole process group is
        ended with it. If cancelled, it kills at once. Connections give `Ended` afterwards.
        """


@dataclass(frozen=True, slots=True)
class Options:
    """What a transport is told beside its target.

    `patience` is a factor for every time limit here; sizes are in bytes. `stderr` is the file that
    collects what processes write to standard error (appended, at most `stderr_limit`); without one
    it is read and dropped. A WebSocket message over `max_message` ends its connection.
    `subprotocols`, if any, are offered, and the server must choose one of them. `scenario` is the name of
    the scenario that is carried out: a command has it in place of `{scenario}`, a process as
    `$CONFORMANCE_SCENARIO`. `access` is how a server lets the kit in, and `credentials` are other such
    means, by name, for connections that are opened as somebody else.
    """

    stderr: Path | None = None
    patience: float = 1.0
    subprotocols: tuple[str, ...] = ()
    scenario: str = ""
    access: Access = field(default_factory=Access)
    credentials: Mapping[str, Access] = field(default_factory=dict)
    cwd: Path | None = None
    max_message: int = 64 * 1024 * 1024
    stderr_limit: int = 1_048_576


Factory: TypeAlias = Callable[[str, Options], Transport]


def _stdio(target: str, options: Options) -> Transport:
    from conformance.transports.stdio import StdioTransport

    return StdioTransport(target, options)


def _headers(target: str, options: Options) -> Transport:
    from conformance.transports.stdio import HEADERS, StdioTransport

    return StdioTransport(target, options, HEADERS)


def _websocket(target: str, options: Options) -> Transport:
    from conformance.transports.websocket import WebSocketTransport  # websockets takes 50 ms to import

    return WebSocketTransport(target, options)


def _launch(target: str, options: Options) -> Transport:
    from conformance.transports.launch import LaunchTransport

    return LaunchTransport(target, options)


def _listen(target: str, options: Options) -> Transport:
    from conformance.transports.listen import ListenTransport

    return ListenTransport(target, options)


def _errand(target: str, options: Options) -> Transport:
    from conformance.transports.errand import ErrandTransport

    return ErrandTransport(target, options)


TRANSPORTS: dict[str, Factory] = {
    "stdio": _stdio,
    "stdio+lsp": _headers,
    "exec": _errand,
    "ws": _websocket,
    "wss": _websocket,
    "launch": _launch,
    "ws-listen": _listen,
}
"""By scheme, in lower case; a factory takes the whole target. To add a transport is to add a row."""


def make_transport(target: str, options: Options) -> Transport:
    """The transport for `target`; nothing is started or reached yet.

    Raises:
        BadTarget: no scheme that exists, or a command or URL that cannot be read.
    """
    scheme, colon, _ = target.partition(":")
    factory = TRANSPORTS.get(scheme.lower()) if colon else None
    if factory is None:
        schemes = ", ".join(f"{name}:" for name in TRANSPORTS)
        raise BadTarget(f"{target!r} is no target: it must begin with one of {schemes}")
    return factory(target, options)
