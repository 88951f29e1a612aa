"""The proxy around a real cable: streams and whole messages, in both cases changed as the mutator says."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys

from websockets.asyncio.server import ServerConnection, serve

from conformance import packs
from conformance.mutations import MUTATIONS
from conformance.mutator import Mutator
from conformance.transports import Ended, Options, make_transport
from conformance.transports.mutation import MutatingTransport

VA = packs.find("va-agent-protocol@0.1.0")
AWP = packs.find("awp@0.1-draft.7")


def va_message(kind: str, **payload: object) -> str:
    envelope = {"protocol": "va-agent-protocol", "version": "0.1.0", "timestamp": "2026-01-01T00:00:00Z"}
    return json.dumps({**envelope, "type": kind, "correlationId": "c-1", "payload": payload})


DISPATCH = va_message("dispatch", task={"id": "T", "objective": "o", "acceptanceCriteria": ["a"]})
ACCEPTED = va_message("accepted", taskId="T")
PROGRESS = va_message("progress", taskId="T")


async def everything(target: str, pack: packs.Pack, name: str, first: str) -> tuple[list[bytes], Mutator]:
    """Send one message, and take all that comes until the end."""
    mutator = Mutator(pack, pack.certifies, MUTATIONS[name])
    transport = MutatingTransport(make_transport(target, Options()), mutator)
    got: list[bytes] = []
    try:
        connection = await transport.open()
        await connection.send(first.encode())
        await connection.finish(5.0)
        async with asyncio.timeout(20):
            while not isinstance(one := await connection.receive(), Ended):
                got.append(one.data)
            assert await connection.receive() == one
    finally:
        await transport.shutdown()
    return got, mutator


def printing(*lines: str, end: str = "") -> str:
    """A process that reads one line, prints these in odd pieces, and exits."""
    code = (
        "import sys\nsys.stdin.readline()\n"
        f"for text in {[*(line + chr(10) for line in lines), end]!r}:\n"
        "    for part in text[:7], text[7:]:\n        sys.stdout.write(part)\n        sys.stdout.flush()\n"
    )
    return f"stdio:{shlex.quote(sys.executable)} -c {shlex.quote(code)}"


def test_lines_of_a_stream_are_swapped() -> None:
    got, mutator = asyncio.run(everything(printing(ACCEPTED, PROGRESS), VA, "reorder", DISPATCH))
    assert [json.loads(one)["type"] for one in got] == ["progress", "accepted"]
    assert mutator.applied is not None


def test_what_is_held_back_comes_when_nothing_else_does() -> None:
    got, mutator = asyncio.run(everything(printing(ACCEPTED), VA, "skip-state", DISPATCH))
    assert [json.loads(one)["type"] for one in got] == ["accepted"]
    assert mutator.applied is None


def test_a_last_line_without_its_newline_is_changed_too() -> None:
    got, _ = asyncio.run(everything(printing(end=ACCEPTED), VA, "byte-order-mark", DISPATCH))
    assert got == [b"\xef\xbb\xbf" + ACCEPTED.encode()]


def test_a_message_of_a_websocket_is_changed_and_a_binary_one_passes() -> None:
    async def answer(socket: ServerConnection) -> None:
        request = json.loads(await socket.recv())
        await socket.send(b"\x00\x01")
        await socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {}}))
        await socket.close()

    async def run() -> list[bytes]:
        async with serve(answer, "127.0.0.1", 0, subprotocols=None) as server:
            [listening] = server.sockets
            target = f"ws://127.0.0.1:{listening.getsockname()[1]}"
            request = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {}})
            return (await everything(target, AWP, "answer-id", request))[0]

    binary, answer_ = asyncio.run(run())
    assert binary == b"\x00\x01"
    assert json.loads(answer_)["id"] == 1_000_007
