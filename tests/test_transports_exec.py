"""`exec:` against programs that answer one message and end, each a file in `peers/`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from cabling import assert_gone, children, members, rest, run, using
from live import peer

from conformance.errors import ConformanceError, ConnectionLost, TargetUnavailable
from conformance.transports import Connection, Ended, Incoming, Options, make_transport

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the peers use POSIX signals")

FILES = ("--input", "{input}", "--output", "{output}")


def once(name: str, *arguments: str) -> str:
    return peer(name, *arguments, scheme="exec")


async def answer(connection: Connection, message: bytes = b"{}") -> bytes:
    await connection.send(message)
    got = await connection.receive()
    assert isinstance(got, Incoming), got
    return got.data


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made; whatever happens, none is left."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture(autouse=True)
def _tidy(folder: Path) -> Any:
    yield
    assert [path.name for path in folder.glob("conformance-*")] == []


@pytest.mark.parametrize("arguments", [(), FILES, FILES[:2], FILES[2:]], ids=["pipes", "files", "in", "out"])
def test_each_message_has_a_process_and_an_answer(arguments: tuple[str, ...]) -> None:
    async def main() -> None:
        async with using(once("answers_once", *arguments)) as transport:
            connection = await transport.open()
            for message in (b'{"a": 1}', b"x" * 300_000):
                assert await answer(connection, message) == message + b"\n"
            assert len(set(children(transport))) == 2
            await connection.send_raw(b"\xff")
            await connection.send_raw(b"as it is")
            await connection.finish(20)
            with pytest.raises(ConnectionLost, match="the kit has closed the connection"):
                await connection.send(b"{}")
            assert await rest(connection) == (b"\xffas it is", Ended(True, "the kit closed the connection"))
            with pytest.raises(ConnectionLost, match="the kit closed the connection"):
                await connection.send(b"{}")

    run(main)


def test_the_folder_is_private_to_one_message(folder: Path) -> None:
    async def main() -> None:
        async with using(once("answers_once", *FILES, "--pid")) as transport:
            connection = await transport.open()
            first, second = [json.loads(await answer(connection)) for _ in range(2)]
            assert first["pid"] != second["pid"]
            assert Path(first["input"]).parent == Path(first["output"]).parent
            assert Path(first["input"]).parent != Path(second["input"]).parent
            assert Path(first["input"]).parent.parent == folder

    run(main)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (b'{\n  "a": 1\n}\n', [{"a": 1}]),
        (b'Welcome\n{"a": 1}\n', [None, {"a": 1}]),
        (b'{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        (b'{\n  "a": 1,\n}\n', [None]),
        (b"oops", [None]),
    ],
)
def test_an_answer_is_a_document_or_lines(text: bytes, values: list[Any]) -> None:
    async def main() -> None:
        async with using(once("answers_once")) as transport:
            framing = (await transport.open()).framing()
            assert [reading.value for reading in framing.feed(text)] == values
            assert framing.end() == []

    run(main)


def test_a_status_is_told_and_an_answer_counts_all_the_same() -> None:
    async def main() -> None:
        async with using(once("answers_once", "--status", "3")) as transport:
            connection = await transport.open()
            assert await answer(connection) == b"{}\n"
            assert await answer(connection) == b"{}\n"
            await connection.finish(5)
            told = Ended(False, "the process exited with status 3: it did not go well", 3)
            assert await rest(connection) == (b"", told)

    run(main)


AMISS = {
    "nothing": "the process wrote no output file; the process exited with status 0",
    "empty": "the process wrote an empty output file; the process exited with status 0",
    "blank": "the process wrote an empty output file; the process exited with status 0",
    "directory": "the process made no regular file of its output; the process exited with status 0",
    "link": "the process made no regular file of its output; the process exited with status 0",
    "pipe": "the process made no regular file of its output; the process exited with status 0",
    "large": "the process wrote an output file of more than 4096 bytes; the process exited with status 0",
}


@pytest.mark.parametrize(("how", "sentence"), AMISS.items(), ids=AMISS)
def test_an_output_that_is_no_answer_ends_the_connection(how: str, sentence: str) -> None:
    async def main() -> None:
        target = once("answers_amiss", how, "{output}")
        async with using(target, max_message=4096) as transport:
            connection = await transport.open()
            await connection.send(b"{}")
            assert await rest(connection) == (b"", Ended(False, sentence, 0))
            with pytest.raises(ConnectionLost, match=sentence[:20]):
                await connection.send(b"{}")

    run(main)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads every file")
def test_an_output_that_cannot_be_read() -> None:
    async def main() -> None:
        async with using(once("answers_amiss", "secret", "{output}")) as transport:
            connection = await transport.open()
            await connection.send(b"{}")
            assert "cannot be read: permission denied" in (await rest(connection))[1].detail

    run(main)


PIPES = {
    "exits_at_once": "wrote nothing to standard output; the process exited with status 3: no licence",
    "crashes": "wrote nothing to standard output; the process was ended by signal SIGABRT",
    "floods": "wrote more than 1000000 bytes to standard output; the kit ended it",
    "says_nothing": "wrote nothing to standard output; the process exited with status 0",
}


@pytest.mark.parametrize(("name", "sentence"), PIPES.items(), ids=PIPES)
def test_a_process_without_an_answer_ends_the_connection(name: str, sentence: str) -> None:
    async def main() -> None:
        async with using(once(name), max_message=1_000_000, patience=0.2) as transport:
            connection = await transport.open()
            await connection.send(b"{}")
            data, ended = await rest(connection)
            assert (data, ended.clean) == (b"", False)
            assert ended.detail.startswith(f"the process {sentence}")

    run(main)


def test_a_message_that_waits_is_handed_over_though_the_one_before_had_no_answer() -> None:
    async def main() -> None:
        async with using(once("answers_once")) as transport:
            connection = await transport.open()
            await connection.send(b"")
            assert await answer(connection, b"{}") == b"{}\n"
            await connection.send(b"")
            await connection.finish(20)
            told = "the process wrote nothing to standard output; the process exited with status 0"
            assert await rest(connection) == (b"", Ended(False, told, 0))

    run(main)


def test_a_process_that_does_not_read_its_input_may_answer() -> None:
    async def main() -> None:
        async with using(once("half_line_then_exit")) as transport:
            assert await answer(await transport.open(), b"x" * 1_000_000) == b'{"half": '

    run(main)


@pytest.mark.parametrize("name", ["ignores_sigterm", "never_reads"])
def test_a_process_that_does_not_end_is_ended(name: str) -> None:
    async def main() -> None:
        async with using(once(name), patience=0.1) as transport:
            connection = await transport.open()
            await connection.send(b"x" * 1_000_000)
            await connection.send(b"never begun")
            await connection.finish(60)
            await connection.finish(0.3)
            sentence = (
                "the process was still running 0.3 s after the kit had said goodbye, and the kit ended it"
            )
            assert (await rest(connection))[1].detail == sentence
            assert len(children(transport)) == 1

    run(main)


def test_what_cannot_be_started_is_unavailable(tmp_path: Path) -> None:
    plain = tmp_path / "plain.txt"
    plain.write_text("not a program")
    reasons = {"/no/such/adapter": "no such file or directory", str(plain): "permission denied"}

    async def main() -> None:
        for program, reason in reasons.items():
            async with using(f"exec:{program} {{input}} {{output}}") as transport:
                connection = await transport.open()
                await connection.send(b"{}")
                for _ in range(2):
                    with pytest.raises(TargetUnavailable) as caught:
                        await connection.receive()
                    assert str(caught.value) == f"cannot start {program!r}: {reason}"

    run(main)


def test_no_room_for_a_message_is_nobodys_fault_but_ours(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(folder / "gone"))

    async def main() -> None:
        async with using(once("answers_once")) as transport:
            connection = await transport.open()
            await connection.send(b"{}")
            with pytest.raises(ConformanceError, match="could not hand a message over: no such file"):
                await connection.receive()

    run(main)


def test_dropped_in_the_middle_nothing_is_left() -> None:
    async def main() -> None:
        async with using(once("ignores_sigterm"), patience=0.1) as transport:
            connection = await transport.open()
            await connection.send(b"{}")
            while not (children(transport) and members(children(transport)[0])):
                await asyncio.sleep(0.01)
            await connection.drop()
            assert await rest(connection) == (b"", Ended(False, "the kit dropped the connection"))

    run(main)


def test_a_cancelled_shutdown_kills_at_once() -> None:
    async def main() -> None:
        transport = make_transport(once("ignores_sigterm", "{input}"), Options(patience=100))
        connection = await transport.open()
        await connection.send(b"{}")
        while not (children(transport) and members(children(transport)[0])):
            await asyncio.sleep(0.01)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(transport.shutdown(), 0.05)
        await transport.shutdown()
        assert_gone(transport)

    run(main)
