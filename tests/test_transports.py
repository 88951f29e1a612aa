"""The transports against real processes and sockets; each misbehaving peer is a file in `peers/`."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import cabling
import pytest
from cabling import assert_gone, children, conversation, line, members, rest, run, using
from live import peer

from conformance.errors import BadConfiguration, BadTarget, ConnectionLost, TargetUnavailable
from conformance.framing import Apart, LineStream
from conformance.headers import HeaderStream
from conformance.transports import TRANSPORTS, Ended, Options, make_transport
from conformance.transports.process import environment
from conformance.transports.stderr import excerpt

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the peers use POSIX signals")

MIB = 1024 * 1024


def stdio(name: str) -> str:
    return peer(name)


def launch(name: str) -> str:
    return peer(name, scheme="launch")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate that nobody vouches for, with its key."""
    return cabling.certificate(tmp_path)[1]


# Targets


@pytest.mark.parametrize("target", ["agent.py", "http://127.0.0.1/", "", "stdio", ":x"])
def test_a_target_without_a_known_scheme_is_told_the_schemes(target: str) -> None:
    with pytest.raises(BadTarget) as caught:
        make_transport(target, Options())
    assert repr(target) in str(caught.value)
    assert all(f"{scheme}:" in str(caught.value) for scheme in TRANSPORTS)


@pytest.mark.parametrize("target", ["stdio:", "stdio:  ", "launch:", "stdio:a 'b", "stdio:a\0b", "STDIO:"])
def test_a_command_that_cannot_be_read_is_a_bad_target(target: str) -> None:
    with pytest.raises(BadTarget, match="command"):
        make_transport(target, Options())


@pytest.mark.parametrize("target", ["ws://", "ws:/x", "ws://h:port/", "wss://h:99999/", "ws://[::1/"])
def test_a_malformed_url_is_a_bad_target(target: str) -> None:
    with pytest.raises(BadTarget, match="is no WebSocket URL"):
        make_transport(target, Options())


def test_importing_the_package_does_not_import_websockets() -> None:
    code = "import sys, conformance.transports as t; t.make_transport('stdio:x', t.Options()); "
    subprocess.run([sys.executable, "-c", code + "sys.exit('websockets' in sys.modules)"], check=True)


# Processes


def test_a_good_process_echoes_and_exits_cleanly() -> None:
    async def main() -> None:
        async with using(stdio("echo")) as transport:
            connection = await transport.open()
            assert isinstance(connection.framing(), LineStream)
            await connection.send(b'{"a": 1}')
            assert await line(connection) == b'{"a": 1}\n'
            await connection.send_raw(b"\xffraw\n")
            assert await line(connection) == b"\xffraw\n"
            await connection.finish(5)
            assert await rest(connection) == (b"", Ended(True, "the process exited with status 0", 0))
            with pytest.raises(ConnectionLost, match="exited with status 0"):
                await connection.send(b"{}")
            await connection.finish(5)
            await connection.drop()

    run(main)


def test_messages_behind_headers_go_both_ways() -> None:
    async def main() -> None:
        async with using(peer("lsp_echo", scheme="stdio+lsp")) as transport:
            connection = await transport.open()
            assert isinstance(connection.framing(), HeaderStream)
            await connection.send('{"a": "é\n"}'.encode())
            await connection.send_raw(b"Content-Length: 2\r\n\r\n{}")
            await connection.finish(5)
            data, ended = await rest(connection)
            assert data == 'Content-Length: 12\r\n\r\n{"a": "é\n"}Content-Length: 2\r\n\r\n{}'.encode()
            assert ended.clean

    run(main)


def test_each_open_starts_a_fresh_process() -> None:
    async def main() -> None:
        async with using(stdio("echo")) as transport:
            first, second = await transport.open(), await transport.open()
            assert len(set(children(transport))) == 2
            await first.drop()
            assert (await rest(first))[1].detail == "the kit dropped the connection"
            await second.send(b"still here")
            assert await line(second) == b"still here\n"

    run(main)


def test_a_long_line_goes_both_ways_while_nobody_receives() -> None:
    async def main() -> None:
        async with using(stdio("echo")) as transport:
            connection = await transport.open()
            message = b"x" * (4 * MIB)
            await connection.send(message)
            await connection.send(b"second")
            await connection.finish(5)
            assert (await rest(connection))[0] == message + b"\nsecond\n"

    run(main)


def test_a_process_gets_a_trimmed_environment_its_directory_and_its_own_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "secret")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")

    async def main() -> None:
        said = json.loads((await conversation(stdio("says_environment"), cwd=tmp_path))[0])
        assert said["environ"]["PATH"] == os.environ["PATH"]
        assert said["environ"]["PYTHONUNBUFFERED"] == "1"
        assert not {"API_TOKEN", "PYTHONPATH"} & said["environ"].keys()
        assert Path(said["cwd"]) == tmp_path.resolve()
        assert said["leads"]

    run(main)


def test_the_environment_holds_only_what_is_set() -> None:
    assert environment({"HOME": "/h", "AWS_SECRET_ACCESS_KEY": "s"}, {"url": "ws://h"}) == {
        "HOME": "/h",
        "PYTHONUNBUFFERED": "1",
        "CONFORMANCE_URL": "ws://h",
    }


def test_a_child_is_told_the_scenario() -> None:
    async def main() -> None:
        target = stdio("says_environment") + " {scenario}.x"
        said = json.loads((await conversation(target, scenario="cancel"))[0])
        assert said["environ"]["CONFORMANCE_SCENARIO"] == "cancel"
        assert said["arguments"] == ["cancel.x"]

    run(main)


def test_what_cannot_be_started_is_unavailable(tmp_path: Path) -> None:
    plain = tmp_path / "plain.txt"
    plain.write_text("not a program")
    cases = {
        ("stdio:/no/such/agent --flag", None): "cannot start '/no/such/agent': no such file or directory",
        (f"stdio:{plain}", None): f"cannot start '{plain}': permission denied",
        ("stdio:echo", tmp_path / "gone"): f"cannot start 'echo' in '{tmp_path / 'gone'}': no such directory",
        ("launch:/no/such/server", None): "cannot start '/no/such/server': no such file or directory",
    }

    async def main() -> None:
        for (target, cwd), sentence in cases.items():
            async with using(target, cwd=cwd, stderr=tmp_path / "log") as transport:
                with pytest.raises(TargetUnavailable) as caught:
                    await transport.open()
                assert str(caught.value) == sentence

    run(main)


def test_a_process_that_exits_at_once_is_an_end_with_its_last_words() -> None:
    async def main() -> None:
        data, ended = await conversation(stdio("exits_at_once"))
        assert (data, ended.clean, ended.code) == (b"", False, 3)
        assert ended.detail.startswith("the process exited with status 3: no licence  [31mfound!!!")
        assert len(ended.detail.partition("3: ")[2]) == 200

    run(main)


def test_a_process_that_crashes_is_named_with_its_signal() -> None:
    async def main() -> None:
        assert await conversation(stdio("crashes")) == (
            b"",
            Ended(False, "the process was ended by signal SIGABRT", -6),
        )

    run(main)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("half_line_then_exit", b'{"half": '), ("not_utf8", b'{"name": "\xff\xfe"}\n')],
)
def test_odd_output_arrives_as_it_was_written(name: str, expected: bytes) -> None:
    async def main() -> None:
        assert await conversation(stdio(name)) == (
            expected,
            Ended(True, "the process exited with status 0", 0),
        )

    run(main)


def test_a_banner_arrives_before_any_answer() -> None:
    async def main() -> None:
        async with using(stdio("prints_banner")) as transport:
            connection = await transport.open()
            assert await line(connection) == b"Welcome to Agent 1.0\n"

    run(main)


def test_receive_may_be_cancelled_without_loss() -> None:
    async def main() -> None:
        async with using(stdio("echo")) as transport:
            connection = await transport.open()
            for _ in range(3):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(connection.receive(), 0.01)
            await connection.send(b"a")
            assert await line(connection) == b"a\n"

    run(main)


def test_a_silent_process_ends_with_its_input() -> None:
    async def main() -> None:
        async with using(stdio("says_nothing")) as transport:
            connection = await transport.open()
            await connection.send(b"anyone?")
            await connection.finish(5)
            assert (await rest(connection))[1].clean

    run(main)


def test_a_flood_waits_for_the_kit_and_is_ended() -> None:
    async def main() -> None:
        async with using(stdio("floods"), patience=0.2) as transport:
            connection = await transport.open()
            await asyncio.sleep(0.3)
            await connection.finish(0.1)
            data, ended = await rest(connection)
            assert 0 < len(data) < 64 * MIB
            assert not ended.clean
            assert ended.detail == (
                "the process was still running 0.1 s after its standard input was closed, "
                "and the kit ended it"
            )

    run(main)


def test_all_that_was_written_before_the_exit_arrives() -> None:
    async def main() -> None:
        async with using(stdio("floods_then_exits")) as transport:
            connection = await transport.open()
            await asyncio.sleep(0.5)  # long enough for the backlog to fill
            data, ended = await rest(connection)
            assert (len(data), ended.clean) == (20 * MIB, True)

    run(main)


def test_a_process_that_ignores_everything_is_killed() -> None:
    async def main() -> None:
        async with using(stdio("ignores_sigterm"), patience=0.1) as transport:
            connection = await transport.open()
            await line(connection)
            await connection.finish(0.1)
            ended = (await rest(connection))[1]
            assert (ended.clean, ended.code) == (False, -9)

    run(main)


def test_a_process_that_needs_sigterm_has_not_ended_cleanly() -> None:
    async def main() -> None:
        async with using(stdio("ignores_end_of_input")) as transport:
            connection = await transport.open()
            await line(connection)
            await connection.finish(60)
            await connection.finish(0.05)  # the shorter time holds
            await connection.finish(60)
            ended = (await rest(connection))[1]
            assert (ended.clean, ended.code) == (False, 0)
            assert "still running 0.05 s after" in ended.detail

    run(main)


def test_a_grandchild_that_keeps_stdout_is_ended() -> None:
    async def main() -> None:
        async with using(stdio("grandchild_keeps_stdout"), patience=0.2) as transport:
            connection = await transport.open()
            assert await line(connection) == b"ready\n"
            assert len(members(children(transport)[0])) == 2
            await connection.finish(5)
            assert await rest(connection) == (b"", Ended(True, "the process exited with status 0", 0))

    run(main)


def test_a_grandchild_that_floods_is_cut() -> None:
    async def main() -> None:
        data, ended = await conversation(stdio("grandchild_floods"), patience=0.2)
        assert len(data) < 64 * MIB
        assert ended.clean

    run(main)


def test_a_grandchild_out_of_reach_is_not_waited_for() -> None:
    async def main() -> None:
        before = time.monotonic()
        _, ended = await conversation(stdio("grandchild_escapes"), patience=0.2)
        assert ended.clean
        assert time.monotonic() - before < 2

    run(main)


def test_stderr_is_kept_up_to_its_limit_and_never_blocks(tmp_path: Path) -> None:
    log = tmp_path / "deep" / "stderr.log"

    async def main() -> None:
        async with using(stdio("fills_stderr"), stderr=log, stderr_limit=100_000) as transport:
            connection = await transport.open()
            await connection.send(b"a")
            assert await line(connection) == b"a\n"
        assert log.read_bytes().startswith(b"e" * 65_535 + b"\n")
        assert log.read_bytes()[100_000:] == b"\n[the kit keeps 100000 bytes of standard error, no more]\n"
        await conversation(stdio("exits_at_once"), stderr=log.with_name("other"))
        await conversation(stdio("exits_at_once"), stderr=log.with_name("other"))
        assert log.with_name("other").read_bytes().count(b"no licence") == 2

    run(main)


def test_a_log_that_cannot_be_written_is_our_configuration(tmp_path: Path) -> None:
    async def main() -> None:
        async with using(stdio("echo"), stderr=tmp_path) as transport:
            with pytest.raises(BadConfiguration, match="cannot record standard error"):
                await transport.open()

    run(main)


def test_an_excerpt_is_the_last_line_that_says_something() -> None:
    assert excerpt(b"") == ""
    assert excerpt(b" \n\n") == ""
    assert excerpt(b"one\ntwo \xff\x07!\n \n") == "two \ufffd !"


def test_sending_to_closed_input_is_a_lost_connection() -> None:
    async def main() -> None:
        async with using(stdio("closes_stdin"), patience=0.1) as transport:
            connection = await transport.open()
            await line(connection)
            with pytest.raises(ConnectionLost, match="standard input"):
                await connection.send(b"x" * MIB)

    run(main)


def test_a_process_that_dies_in_the_middle_of_a_message() -> None:
    async def main() -> None:
        async with using(stdio("dies_mid_message")) as transport:
            connection = await transport.open()
            with pytest.raises(ConnectionLost, match="before it had read everything"):
                await connection.send(b"x" * MIB)
            assert await rest(connection) == (b"", Ended(False, "the process exited with status 4", 4))

    run(main)


def test_sending_to_a_process_that_never_reads_is_bounded() -> None:
    async def main() -> None:
        async with using(stdio("never_reads"), patience=0.02) as transport:
            connection = await transport.open()
            with pytest.raises(ConnectionLost) as caught:
                await connection.send(b"x" * MIB)
            assert str(caught.value) == "the implementation has not read its input for 0.2 s"
            await connection.finish(0.05)
            assert not (await rest(connection))[1].clean
            with pytest.raises(ConnectionLost, match="and the kit ended it"):
                await connection.send(b"x")

    run(main)


def test_a_slow_reader_is_no_lost_connection() -> None:
    async def main() -> None:
        async with using(stdio("reads_slowly"), patience=0.02) as transport:
            connection = await transport.open()
            await connection.send(b"x" * MIB)  # 0.3 s, which is longer than the 0.2 s without progress

    run(main)


def test_sending_after_the_goodbye_is_refused() -> None:
    async def main() -> None:
        async with using(stdio("ignores_end_of_input"), patience=0.1) as transport:
            connection = await transport.open()
            await connection.finish(1)
            with pytest.raises(ConnectionLost, match="the standard input of the process is closed"):
                await connection.send(b"x")

    run(main)


def test_closed_output_is_an_end_though_the_process_runs() -> None:
    async def main() -> None:
        assert await conversation(stdio("closes_stdout"), patience=0.2) == (
            b"",
            Ended(False, "the process closed its standard output and went on running"),
        )

    run(main)


@pytest.mark.parametrize("name", ["ignores_sigterm", "grandchild_keeps_stdout"])
def test_interrupted_in_the_middle_of_everything_nothing_is_left(name: str) -> None:
    transport = make_transport(stdio(name), Options(patience=0.2))

    async def talk(ready: asyncio.Event) -> None:
        try:
            connection = await transport.open()
            await line(connection)
            ready.set()
            await connection.receive()
        finally:
            await transport.shutdown()

    async def main() -> None:
        ready = asyncio.Event()
        task = asyncio.create_task(talk(ready))
        await ready.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert_gone(transport)

    run(main)


def test_a_shutdown_that_is_cancelled_kills_at_once() -> None:
    async def main() -> None:
        transport = make_transport(stdio("ignores_sigterm"), Options(patience=100))
        await line(await transport.open())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(transport.shutdown(), 0.05)
        assert_gone(transport)

    run(main)


@pytest.mark.parametrize("name", ["echo", "ignores_sigterm"])
def test_an_open_that_is_cancelled_leaves_nothing(name: str) -> None:
    async def main() -> None:
        async with using(stdio(name), patience=0.1) as transport:
            task = asyncio.create_task(transport.open())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run(main)


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_leaves_nothing(times: int) -> None:
    code = f"""
import asyncio
from conformance.transports import Options, make_transport

async def main():
    transport = make_transport({stdio("ignores_sigterm")!r}, Options(patience={0.1 if times == 1 else 100}))
    try:
        connection = await transport.open()
        print(connection.child.pid, await connection.receive(), flush=True)
        await connection.receive()
    finally:
        print("ending", flush=True)
        await transport.shutdown()

asyncio.run(main())
"""
    command = [sys.executable, "-X", "dev", "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as kit:
        assert kit.stdout
        assert kit.stderr
        leader = int(kit.stdout.readline().split()[0])
        kit.send_signal(signal.SIGINT)
        assert kit.stdout.readline() == "ending\n"
        if times == 2:
            kit.send_signal(signal.SIGINT)
        said = kit.stderr.read()
    deadline = time.monotonic() + 2
    while members(leader) and time.monotonic() < deadline:
        time.sleep(0.01)  # SIGKILL was sent; dying takes a moment
    assert members(leader) == []
    if times == 1:
        assert "\nKeyboardInterrupt\n" in said
        assert not any(
            word in said for word in ("ResourceWarning", "never retrieved", "destroyed", "is closed")
        )


# WebSockets


def test_a_good_server_echoes_text_and_binary() -> None:
    async def main() -> None:
        async with using(launch("ws_echo"), subprotocols=("echo",)) as transport:
            connection = await transport.open()
            assert isinstance(connection.framing(), Apart)
            await connection.send(b'{"a": "\xc3\xa9"}')
            got = await connection.receive()
            assert not isinstance(got, Ended)
            assert (got.data, got.binary) == (b'{"a": "\xc3\xa9"}', False)
            await connection.send_raw(b"\xff")
            got = await connection.receive()
            assert not isinstance(got, Ended)
            assert (got.data, got.binary) == (b"\xff", True)
            await connection.finish(5)
            with pytest.raises(ConnectionLost, match="the kit has closed the connection"):
                await connection.send(b"{}")
            assert await rest(connection) == (b"", Ended(True, "closed with code 1000", 1000, cut_off=True))
            with pytest.raises(ConnectionLost, match="closed with code 1000"):
                await connection.send(b"{}")
            await connection.finish(5)
            await connection.drop()

    run(main)


def test_launch_starts_one_process_for_all_connections() -> None:
    async def main() -> None:
        async with using(launch("ws_echo")) as transport:
            first, second = await asyncio.gather(transport.open(), transport.open())
            assert len(children(transport)) == 1
            await first.drop()
            assert await rest(first) == (b"", Ended(False, "the kit dropped the connection"))
            await second.send(b"still here")
            got = await second.receive()
            assert not isinstance(got, Ended)
            assert got.data == b"still here"

    run(main)


@pytest.mark.parametrize(
    ("target", "place"),
    [
        (launch("ws_echo"), r"ws://127\.0\.0\.1:[0-9]+"),
        (peer("ws_echo", "/own?key=value-of-a-key", scheme="launch"), r"ws://127\.0\.0\.1:[0-9]+/own"),
        (peer("echo"), ""),
    ],
    ids=["url", "query", "process"],
)
def test_a_connection_says_where_it_leads_and_no_secret(target: str, place: str) -> None:
    async def main() -> None:
        async with using(target) as transport:
            assert re.fullmatch(place, (await transport.open()).place())

    run(main)


def test_messages_go_both_ways_while_nobody_receives() -> None:
    async def main() -> None:
        async with using(launch("ws_echo")) as transport:
            connection = await transport.open()
            sent = [b"x" * 65_536] * 70 + [b"y" * (9 * MIB), b"z"]
            for message in sent:
                await connection.send(message)
            got = [await connection.receive() for _ in sent]
            assert [item.data for item in got if not isinstance(item, Ended)] == sent
            await connection.finish(5)
            assert (await rest(connection))[1].clean

    run(main)


@pytest.mark.parametrize(
    ("name", "data", "ended"),
    [
        ("ws_closes_at_once", b"", Ended(True, "closed with code 1000", 1000)),
        ("ws_closes_without_code", b"", Ended(True, "closed with a close frame that gives no code", 1005)),
        ("ws_closes_with_1002", b"", Ended(False, "closed with code 1002: protocol error", 1002)),
        ("ws_keeps_tcp_open", b"", Ended(True, "closed with code 1000", 1000)),
        (
            "ws_closes_without_frame",
            b"hello",
            Ended(False, "the connection closed without a close frame (code 1006)", 1006),
        ),
    ],
)
def test_how_a_server_ended_the_connection(name: str, data: bytes, ended: Ended) -> None:
    async def main() -> None:
        assert await conversation(launch(name), patience=0.3) == (data, ended)

    run(main)


@pytest.mark.parametrize(
    ("name", "data", "code", "detail"),
    [
        ("ws_not_utf8", b"before", 1007, "a text message is not UTF-8 (code 1007"),
        ("ws_breaks_framing", b"", 1002, "the WebSocket protocol was broken (code 1002"),
        ("ws_huge_message", b"", 1009, "a message is larger than 1000 bytes (code 1009)"),
    ],
)
def test_what_breaks_the_websocket_is_named(name: str, data: bytes, code: int, detail: str) -> None:
    async def main() -> None:
        got, ended = await conversation(launch(name), patience=0.3, max_message=1000)
        assert (got, ended.clean, ended.code) == (data, False, code)
        assert ended.detail.startswith(detail)

    run(main)


def test_a_binary_message_says_so() -> None:
    async def main() -> None:
        async with using(launch("ws_binary"), patience=0.1) as transport:
            got = await (await transport.open()).receive()
            assert not isinstance(got, Ended)
            assert (got.data, got.binary) == (b"\x00\xff", True)

    run(main)


def test_a_close_frame_without_an_answer_is_bounded() -> None:
    async def main() -> None:
        async with using(launch("ws_ignores_close")) as transport:
            connection = await transport.open()
            await connection.finish(60)
            await connection.finish(0.1)
            detail = "the implementation did not answer the kit's close frame within 0.1 s"
            assert await rest(connection) == (b"", Ended(False, detail))

    run(main)


def test_sending_to_a_server_that_never_reads_is_bounded() -> None:
    async def main() -> None:
        async with using(launch("ws_never_reads"), patience=0.03) as transport:
            connection = await transport.open()
            with pytest.raises(ConnectionLost, match=r"has not read its input for 0\.3 s"):
                await connection.send(b"x" * (32 * MIB))

    run(main)


def test_a_server_that_dies_in_the_middle_of_a_message() -> None:
    async def main() -> None:
        async with using(launch("ws_dies_mid_message")) as transport:
            connection = await transport.open()
            with pytest.raises(ConnectionLost, match=r"without a close frame \(code 1006\)"):
                await connection.send(b"x" * (32 * MIB))

    run(main)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ws_answers_404", "is not a WebSocket server: it answered HTTP 404 where 101 was expected"),
        ("ws_not_http", "is not a WebSocket server: "),
        ("ws_hangs_up", "is not a WebSocket server: "),
        ("ws_never_answers", "did not answer within 1 s"),
        ("ws_wrong_subprotocol", "other; the kit offered 'awp', 'echo'"),
        ("ws_no_subprotocol", "chose no subprotocol; the kit offered 'awp', 'echo'"),
        ("ws_refuses", ": connection refused"),
    ],
)
def test_a_server_that_cannot_be_spoken_to_is_unavailable(name: str, sentence: str) -> None:
    async def main() -> None:
        async with using(launch(name), patience=0.1, subprotocols=("awp", "echo")) as transport:
            with pytest.raises(TargetUnavailable) as caught:
                await transport.open()
            assert "ws://127.0.0.1:" in str(caught.value)
            assert sentence in str(caught.value)

    run(main)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("prints_banner", "printed 'Welcome to Agent 1.0' on its first line instead of a ws:// URL"),
        ("not_utf8", 'printed \'{"name": "\ufffd\ufffd"}\' on its first line instead of a ws:// URL'),
        ("says_nothing", "printed no ws:// URL within 0.5 s"),
        ("floods", "on its first line instead of a ws:// URL"),
        ("ws_exits_before_url", "gave no URL: the process exited with status 2: port already in use"),
    ],
)
def test_a_server_that_gives_no_url_is_unavailable(name: str, sentence: str) -> None:
    async def main() -> None:
        async with using(launch(name), patience=0.05) as transport:
            with pytest.raises(TargetUnavailable) as caught:
                await transport.open()
            assert sentence in str(caught.value)
            assert len(str(caught.value)) < 500

    run(main)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_nobody_listens_and_secrets_of_the_url_are_not_repeated() -> None:
    async def main() -> None:
        port = free_port()
        for host in ("127.0.0.1", "localhost"):
            async with using(f"ws://user:pass@{host}:{port}/a?token=t") as transport:
                with pytest.raises(TargetUnavailable) as caught:
                    await transport.open()
                assert str(caught.value) == f"cannot connect to ws://{host}:{port}/a: connection refused"

    run(main)


def test_an_unknown_name_is_said_to_be_unknown() -> None:
    async def main() -> None:
        async with using("ws://no-such-host.invalid/") as transport:
            with pytest.raises(TargetUnavailable, match="the name is not known"):
                await transport.open()

    run(main)


def test_tls_with_a_server_that_has_none_fails() -> None:
    async def main() -> None:
        async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"220 mail\r\n")
            writer.close()
            await writer.wait_closed()

        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            async with using(f"wss://127.0.0.1:{port}/") as transport:
                with pytest.raises(
                    TargetUnavailable, match=f"wss://127.0.0.1:{port}/: TLS failed: wrong version"
                ):
                    await transport.open()

    run(main)


def test_a_certificate_that_nobody_vouches_for_is_named(certificate: Path) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)

    def refused_handshake(server: socket.socket) -> None:
        with server.accept()[0] as connection, suppress(OSError):
            context.wrap_socket(connection, server_side=True)

    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            handshake = asyncio.create_task(asyncio.to_thread(refused_handshake, server))
            async with using(f"wss://127.0.0.1:{server.getsockname()[1]}/") as transport:
                with pytest.raises(TargetUnavailable, match="its TLS certificate does not hold: self"):
                    await transport.open()
            await handshake

    run(main)


def test_a_cancelled_shutdown_of_a_server_leaves_nothing() -> None:
    async def main() -> None:
        transport = make_transport(launch("ws_ignores_close"), Options(patience=100))
        connection = await transport.open()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(transport.shutdown(), 0.05)
        assert_gone(transport)
        assert await rest(connection) == (b"", Ended(False, "the kit dropped the connection"))

    run(main)
