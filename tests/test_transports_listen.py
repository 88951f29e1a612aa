"""`ws-listen:` against implementations that connect, each a file in `peers/`."""

from __future__ import annotations

import asyncio
import socket
import sys

import pytest
from cabling import assert_gone, children, members, rest, run, using
from live import peer

from conformance.errors import BadTarget, ConnectionLost, TargetUnavailable
from conformance.framing import Apart
from conformance.transports import Connection, Ended, Incoming, Options, make_transport
from conformance.transports.listen import WAITING, ListenTransport

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the peers use POSIX signals")

MIB = 1024 * 1024


def listen(name: str, *arguments: str) -> str:
    return peer(name, *arguments, scheme="ws-listen")


async def said(connection: Connection) -> bytes:
    got = await connection.receive()
    assert isinstance(got, Incoming), got
    assert not got.binary
    return got.data


@pytest.mark.parametrize("arguments", [(), ("{url}",)], ids=["environment", "argument"])
def test_a_good_implementation_connects_echoes_and_ends_with_the_connection(
    arguments: tuple[str, ...],
) -> None:
    async def main() -> None:
        async with using(listen("dials", *arguments), subprotocols=("echo", "other")) as transport:
            connection = await transport.open()
            assert isinstance(connection.framing(), Apart)
            for message in (b'{"a": "\xc3\xa9"}', b"x" * (2 * MIB)):
                await connection.send(message)
                assert await said(connection) == message
            await connection.send_raw(b"\xff")
            assert await connection.receive() == Incoming(b"\xff", binary=True)
            await connection.finish(5)
            assert await rest(connection) == (b"", Ended(True, "closed with code 1000", 1000, cut_off=True))
            with pytest.raises(ConnectionLost, match="closed with code 1000"):
                await connection.send(b"{}")
            with pytest.raises(TargetUnavailable) as caught:
                await transport.open()
            assert "made no further WebSocket connection to the kit: the process exited with status 0" in str(
                caught.value
            )

    run(main)


@pytest.mark.parametrize("turns", range(5))
def test_a_connection_that_comes_while_the_kit_closes_is_closed(turns: int) -> None:
    """However far the event loop has got with it; one that is left open is a warning, and so an error."""

    async def main() -> None:
        async with using(listen("never_reads"), patience=0.05) as transport:
            assert isinstance(transport, ListenTransport)
            await transport._start()
            assert transport._server is not None
            [listening] = transport._server.sockets
            dialled.append(socket.create_connection(listening.getsockname()))
            for _ in range(turns):
                await asyncio.sleep(0)

    dialled: list[socket.socket] = []
    run(main)
    for one in dialled:
        one.close()


def test_each_open_gives_the_next_connection() -> None:
    async def main() -> None:
        async with using(listen("dials_again"), subprotocols=("echo",)) as transport:
            first = await transport.open()
            assert await said(first) == b"connection 0"
            await first.drop()
            assert await rest(first) == (b"", Ended(False, "the kit dropped the connection"))
            second = await transport.open()
            assert await said(second) == b"connection 1"
            await second.send(b"still here")
            assert await said(second) == b"still here"
            await second.finish(5)
            assert (await rest(second))[1].clean
            third = await transport.open()
            assert await said(third) == b"connection 2"
            assert len(children(transport)) == 1

    run(main)


@pytest.mark.parametrize(
    ("names", "offered"), [((), "no subprotocol"), (("other", "x"), "'other', 'x'")], ids=["none", "others"]
)
def test_who_offers_no_subprotocol_of_ours_is_refused(names: tuple[str, ...], offered: str) -> None:
    async def main() -> None:
        target = listen("dials_without_subprotocol", *names)
        async with using(target, subprotocols=("echo", "awp")) as transport:
            with pytest.raises(TargetUnavailable) as caught:
                await transport.open()
            assert str(caught.value).endswith(f" offered {offered}; the kit speaks 'echo', 'awp'")

    run(main)


def test_where_the_kit_has_no_subprotocol_any_will_do() -> None:
    async def main() -> None:
        async with using(listen("dials")) as transport:
            connection = await transport.open()
            await connection.send(b"hello")
            assert await said(connection) == b"hello"

    run(main)


@pytest.mark.parametrize(
    ("name", "patience", "sentence"),
    [
        (
            "exits_at_once",
            1.0,
            "made no WebSocket connection to the kit: the process exited with status 3: no licence",
        ),
        ("crashes", 1.0, "made no WebSocket connection to the kit: the process was ended by signal SIGABRT"),
        ("never_reads", 0.02, "made no WebSocket connection to the kit: it had 0.6 s"),
        ("closes_stdout", 0.02, "made no WebSocket connection to the kit: it had 0.6 s"),
    ],
)
def test_who_does_not_connect_is_unavailable(name: str, patience: float, sentence: str) -> None:
    async def main() -> None:
        async with using(listen(name), patience=patience) as transport:
            with pytest.raises(TargetUnavailable) as caught:
                await transport.open()
            assert sentence in str(caught.value)

    run(main)


def test_what_was_refused_meanwhile_is_told() -> None:
    async def main() -> None:
        async with using(listen("dials_by_http"), patience=0.05) as transport:
            with pytest.raises(TargetUnavailable) as caught:
                await transport.open()
            assert "it had 1.5 s; the kit refused one with HTTP 426: " in str(caught.value)

    run(main)


def test_a_flood_of_connections_is_bounded() -> None:
    async def main() -> None:
        async with using(listen("dials_many"), subprotocols=("echo",), patience=0.1) as transport:
            first = await transport.open()
            assert isinstance(transport, ListenTransport)
            while transport._children[0].log.last_line != "done":
                await asyncio.sleep(0.01)
            assert WAITING <= len(transport._connections) <= WAITING + 1
            await first.drop()

    run(main)


def test_no_program_and_no_command() -> None:
    async def main() -> None:
        async with using("ws-listen:/no/such/agent {url}") as transport:
            with pytest.raises(TargetUnavailable, match="'/no/such/agent': no such file or directory"):
                await transport.open()

    run(main)
    with pytest.raises(BadTarget, match="names no command"):
        make_transport("ws-listen:", Options())


@pytest.mark.parametrize("name", ["dials", "never_reads"])
def test_a_cancelled_open_leaves_nothing(name: str) -> None:
    transport = make_transport(listen(name), Options(patience=0.5))

    async def main() -> None:
        opening = asyncio.create_task(transport.open())
        while not children(transport):
            await asyncio.sleep(0.01)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        await transport.shutdown()
        assert_gone(transport)

    run(main)


def test_a_cancelled_shutdown_kills_at_once() -> None:
    async def main() -> None:
        transport = make_transport(listen("ignores_sigterm"), Options(patience=0.1))
        opening = asyncio.create_task(transport.open())
        while not (children(transport) and members(children(transport)[0])):
            await asyncio.sleep(0.01)
        opening.cancel()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(transport.shutdown(), 0.05)
        assert_gone(transport)

    run(main)
