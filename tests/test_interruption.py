"""Ctrl-C at awkward moments: the exit code, the report, and nothing left behind or said that frightens."""

from __future__ import annotations

import asyncio
import json
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from live import COMMAND, assert_sound, peer, processes

from conformance import interruption

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the peers use POSIX signals")

VA = "va-agent-protocol"


@pytest.fixture
def _python_answers() -> Iterator[None]:
    """SIGINT is answered as Python does of itself."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


# ── a loop ───────────────────────────────────────────────────────────────────────────────────────


async def answer() -> int:
    return 42


@pytest.mark.usefixtures("_python_answers")
def test_a_loop_gives_its_result() -> None:
    assert interruption.run(answer) == (42, False)


@pytest.mark.usefixtures("_python_answers")
@pytest.mark.parametrize("times", [1, 2])
def test_what_was_interrupted_may_end_as_it_likes(times: int) -> None:
    """Once for its work, and once more for its ending; a second one does not tear the first one's answer."""

    async def stubborn() -> int:
        endured = 0
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                endured += 1
        return endured

    assert interruption.run(stubborn) == (times, True)


@pytest.mark.usefixtures("_python_answers")
def test_what_gives_no_result_is_interrupted_when_everything_is_closed() -> None:
    ended = []

    async def main() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(60)
        finally:
            ended.append(asyncio.get_running_loop())

    with pytest.raises(KeyboardInterrupt):
        interruption.run(main)
    assert ended[0].is_closed()


@pytest.mark.usefixtures("_python_answers")
def test_before_it_begins_and_after_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the loop is made, and while it is closed, a Ctrl-C waits."""
    made = asyncio.new_event_loop

    def slowly() -> asyncio.AbstractEventLoop:
        signal.raise_signal(signal.SIGINT)
        return made()

    async def main() -> str:
        await asyncio.sleep(60)
        return "never"

    with monkeypatch.context() as patched:
        patched.setattr("asyncio.events.new_event_loop", slowly)
        with pytest.raises(KeyboardInterrupt):
            interruption.run(main)

    async def with_an_end() -> str:
        asyncio.create_task(late())  # noqa: RUF006  it is ended with the loop
        await asyncio.sleep(0)
        return "done"

    async def late() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            signal.raise_signal(signal.SIGINT)

    assert interruption.run(with_an_end) == ("done", True)


@pytest.mark.usefixtures("_python_answers")
def test_what_is_not_to_be_torn_is_not() -> None:
    with interruption.ignored():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_who_answers_already_goes_on_doing_so() -> None:
    came = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(1))
    try:

        async def main() -> str:
            signal.raise_signal(signal.SIGINT)
            return "done"

        assert interruption.run(main) == ("done", False)
    finally:
        signal.signal(signal.SIGINT, before)
    assert came == [1]


# ── a run ────────────────────────────────────────────────────────────────────────────────────────

MOMENTS = {
    "while nobody connects": (peer("never_reads", scheme="ws-listen"), [signal.SIGINT]),
    "while a process has a message": (peer("never_reads", scheme="exec"), [signal.SIGINT, signal.SIGINT]),
    "while a handshake is not answered": (
        peer("ws_never_answers", scheme="launch"),
        [signal.SIGINT, signal.SIGTERM],
    ),
}


def children(parent: int) -> list[int]:
    """The living processes that a process has started."""
    words = ["ps", "-A", "-o", "ppid=,pid=,args="]
    listing = subprocess.run(words, capture_output=True, text=True, check=True)
    rows = [row.split(maxsplit=2) for row in listing.stdout.splitlines()]
    return [int(row[1]) for row in rows if int(row[0]) == parent and "--list-faults" not in row[-1]]


def is_there(pid: int) -> bool:
    """Whether a process lives; one that has ended and waits for its parent does not."""
    said = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return said.stdout.strip() != "" and not said.stdout.startswith("Z")


MANY = {
    "selftest": ["selftest", "awp@0.1-draft.7", "--role", "world", "--fault", "watchdog-never"],
    "mutate": ["run", "awp@0.1-draft.7", "-s", "s*", "--mutate", "all", "--jobs", "4"],
}


def test_many_scenarios_at_once_are_interrupted_at_once(tmp_path: Path) -> None:
    """Some of them are silent for ten seconds; nobody waits for that."""
    running = {}
    for name, words in MANY.items():
        (tmp_path / name).mkdir()
        running[name] = subprocess.Popen(
            [*COMMAND, *words], cwd=tmp_path / name, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    for name, kit in running.items():
        until = time.monotonic() + 60
        while len(started := children(kit.pid)) < 4:
            assert time.monotonic() < until
            assert kit.poll() is None, name
            time.sleep(0.02)
        kit.send_signal(signal.SIGINT)
        _, said = kit.communicate(timeout=60)
        assert (kit.returncode, said.splitlines()[-1]) == (130, "conformance: interrupted"), said
        assert "Traceback" not in said
        assert not any(map(is_there, started))


def test_a_run_is_interrupted_at_awkward_moments(tmp_path: Path) -> None:
    runs = {}
    for name, (target, signals) in MOMENTS.items():
        mark = f"mark-{secrets.token_hex(6)}"
        command = [*COMMAND, "run", VA, "--target", f"{target} {mark}", "--out", "report", "-s", "happy-path"]
        folder = tmp_path / name
        folder.mkdir()
        child = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        runs[name] = (folder, child, mark, signals)
    for name, (folder, child, mark, signals) in runs.items():
        until = time.monotonic() + 60
        while not [one for one in processes(mark) if " run " not in one]:  # the target runs
            assert time.monotonic() < until
            assert child.poll() is None, name
            time.sleep(0.02)
        for number in signals:
            child.send_signal(number)
        text, said = child.communicate(timeout=60)
        assert child.returncode == 130, (name, said)
        assert "scenario happy-path: interrupted: the run was interrupted" in text
        assert "Traceback" not in text + said
        assert "Error" not in text + said
        assert processes(mark) == []
        assert_sound(folder / "report")
        assert json.loads((folder / "report" / "report.json").read_text("utf-8"))["complete"] is False
