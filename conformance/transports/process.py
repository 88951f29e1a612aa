"""One child process and its pipes, which `stdio` and `launch` share.

The child leads a process group of its own, and whatever is left of the group when it has exited, or
when its time is up, is ended: close standard input, wait, SIGTERM, wait, SIGKILL. All that happens
in callbacks of the event loop, so a cancelled caller changes nothing about it.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import cast

from conformance.errors import BadTarget, ConnectionLost, TargetUnavailable
from conformance.transports import Ended, Incoming, Options
from conformance.transports.flow import Deadline, Inbox, written
from conformance.transports.stderr import ErrorLog

KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "TEMP", "TMP", "VIRTUAL_ENV") + (
    ("SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "USERPROFILE", "LOCALAPPDATA")
    if sys.platform == "win32"
    else ()
)
"""The variables a child gets of ours, if set: what programs need to start, and nothing that is secret."""

INPUT, OUTPUT, ERRORS = 0, 1, 2

# Factors of `Options.patience`, in seconds.
STALL = 10.0  # for the peer to take one byte
LINGER = 0.5  # for the rest of the output after the exit, and for the exit after the output's end
WAIT = 2.0  # between the end of input and SIGTERM
TERM = 1.0  # between SIGTERM and SIGKILL
POLL = 0.02  # of whether the group is gone; not a factor

REST = 2 * 1024 * 1024
"""Bytes read at most after the exit; a pipe holds 1 MiB at most, so more comes from a descendant."""

KILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL


_living: set[int] = set()
"""Leaders of groups that may exist. A second Ctrl-C can strike where no coroutine can answer it any more."""


@atexit.register
def _kill_the_living() -> None:
    for leader in _living:
        _signal_group(leader, KILL)


def command(target: str) -> list[str]:
    """The words of the command in `scheme:COMMAND`, quoted as in a shell; no shell runs.

    Raises:
        BadTarget: no command, or a quotation without its end.
    """
    return words_of(target.partition(":")[2], target)


def words_of(text: str, written: str) -> list[str]:
    """The words of a command, quoted as in a shell; BadTarget quotes what was `written`."""
    windows = sys.platform == "win32"
    try:
        words = shlex.split(text, posix=not windows)
    except ValueError as error:
        raise BadTarget(f"cannot read the command of {written!r}: {str(error).lower()}") from None
    if not words or "\0" in text:
        raise BadTarget(f"{written!r} names no command that could be started")
    return [word.strip('"') for word in words] if windows else words


def environment(ours: Mapping[str, str], told: Mapping[str, str]) -> dict[str, str]:
    """The trimmed environment of a child: targets come from strangers, and ours may hold secrets.

    What it is `told`, by name, it finds as `$CONFORMANCE_NAME`.
    """
    kept = {name: ours[name] for name in KEPT if name in ours}
    return kept | {"PYTHONUNBUFFERED": "1"} | {f"CONFORMANCE_{name.upper()}": told[name] for name in told}


def filled(word: str, told: Mapping[str, str]) -> str:
    """A word of a command with what is `told` in place of each `{name}`."""
    return re.sub(r"\{(\w+)\}", lambda found: told.get(found[1], found[0]), word)


async def start(words: list[str], options: Options, **told: str) -> Child:
    """Start a process, which is told the scenario and whatever else is named.

    Raises:
        TargetUnavailable: there is no such program or directory, or it may not be executed.
    """
    if options.cwd is not None and not options.cwd.is_dir():
        raise TargetUnavailable(f"cannot start {words[0]!r} in '{options.cwd}': no such directory")
    child = Child(options)
    loop = asyncio.get_running_loop()
    told["scenario"] = options.scenario
    try:
        await loop.subprocess_exec(
            lambda: child,
            *(filled(word, told) for word in words),
            cwd=options.cwd,
            env=environment(os.environ, {name: value for name, value in told.items() if value}),
            start_new_session=True,
        )
    except OSError as error:
        child.log.close()
        reason = (error.strerror or str(error)).lower()
        raise TargetUnavailable(f"cannot start {words[0]!r}: {reason}") from None
    except BaseException:
        child.log.close()
        raise
    return child


def living(children: Sequence[Child]) -> int:
    """The id of the last of these processes, if it runs; else 0."""
    return children[-1].pid if children and children[-1].runs else 0


class Child(asyncio.SubprocessProtocol):
    """A running process. `inbox` holds its standard output, then how it ended."""

    def __init__(self, options: Options) -> None:
        """Made by `start`, which see."""
        self.inbox = Inbox(on_room=self._read_on)
        self.log = ErrorLog(options)
        self.pid = 0
        self._loop = asyncio.get_running_loop()
        self._patience = options.patience
        self._transport: asyncio.SubprocessTransport | None = None
        self._status: int | None = None
        self._speaking = {OUTPUT, ERRORS}
        self._listening = True
        self._rest = REST
        self._finished = False
        self._ending = False
        self._discarding = False
        self._forced = ""
        self._writable = asyncio.Event()
        self._writable.set()
        self._deadline = Deadline()
        self._swept = asyncio.Event()
        self._closed = asyncio.Event()

    # What the runner's side may ask.

    @property
    def runs(self) -> bool:
        """Whether the process itself has not exited."""
        return self._status is None

    async def write(self, data: bytes) -> None:
        """Write to standard input and wait until it is on its way; raises ConnectionLost."""
        stdin = self._input()
        if self.inbox.ended is not None:
            raise ConnectionLost(self.inbox.ended.detail)
        if not self._listening or stdin.is_closing():
            raise ConnectionLost("the standard input of the process is closed")
        stdin.write(data)
        if not self._writable.is_set():
            await written(self._writable.wait(), stdin.get_write_buffer_size, STALL * self._patience)
            if not self._listening:
                raise ConnectionLost("the process closed its standard input before it had read everything")

    def discard_output(self) -> None:
        """From now on read standard output and forget it."""
        self._discarding = True

    def close_input(self) -> None:
        """Tell the process that there is no more to read."""
        self._ending = True
        if self._listening:
            self._input().close()

    def end(self, seconds: float) -> None:
        """Close standard input, and end the process if it still runs after `seconds`."""
        self.close_input()
        if self._status is None and not self._forced:
            self._deadline.within(seconds, lambda: self._terminate(seconds))

    def kill(self, why: str = "the kit dropped the connection") -> None:
        """End the process group at once."""
        if self._status is None:
            self._ending = True
            self._forced = self._forced or why
            self._deadline.cancel()
        if not self._swept.is_set():
            _signal_group(self.pid, KILL)

    async def ended(self) -> None:
        """Wait until the process group is gone and every pipe closed; `end` or `kill` goes before.

        If cancelled, it kills, and is gone a moment later.
        """
        try:
            await self._swept.wait()
            await self._closed.wait()
            await asyncio.sleep(0)  # the loop closes its end of the pipes in its next turn
        except asyncio.CancelledError:
            self.kill()
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER + TERM):
                    await self._closed.wait()
            raise

    # What the event loop tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the pipes."""
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self.pid = self._transport.get_pid()
        _living.add(self.pid)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Standard output goes to the inbox, standard error to the log."""
        if fd == ERRORS:
            self.log.write(data)
        elif not self._discarding:
            self.inbox.put(Incoming(data))
            if self._status is not None:
                self._read_rest(len(data))
            elif self.inbox.full:
                self._output().pause_reading()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """The process, or we, closed one of the pipes."""
        if fd == INPUT:
            self._listening = False
            self._writable.set()
            return
        self._speaking.discard(fd)
        if fd == OUTPUT:
            Deadline().within(LINGER * self._patience, self._fell_silent)
        self._check_over()

    def pause_writing(self) -> None:
        """The pipe is full."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """The pipe has room."""
        self._writable.set()

    def process_exited(self) -> None:
        """The process itself is gone; what it wrote may still be in the pipes, or be held by its children."""
        assert self._transport is not None
        self._status = self._transport.get_returncode()
        self._deadline.cancel()
        self._read_on()
        self._deadline.within(LINGER * self._patience, self._over)
        self._check_over()

    def connection_lost(self, exc: Exception | None) -> None:
        """The process is gone and every pipe is closed."""
        if self._transport is not None:
            self._transport.close()  # else its finalizer reports a resource leak
        self.log.close()
        self._closed.set()

    # What follows from it.

    def _input(self) -> asyncio.WriteTransport:
        assert self._transport is not None
        return cast(asyncio.WriteTransport, self._transport.get_pipe_transport(INPUT))

    def _output(self) -> asyncio.ReadTransport:
        assert self._transport is not None
        return cast(asyncio.ReadTransport, self._transport.get_pipe_transport(OUTPUT))

    def _read_on(self) -> None:
        self._output().resume_reading()

    def _read_rest(self, size: int) -> None:
        self._rest -= size
        if self._rest < 0:
            self._over()

    def _fell_silent(self) -> None:
        """Standard output ended a while ago, and the process did not, though nobody said goodbye."""
        if self._status is None and not self._ending and not self._discarding:
            detail = "the process closed its standard output and went on running"
            self.inbox.end(Ended(clean=False, detail=detail))

    def _check_over(self) -> None:
        if self._status is not None and not self._speaking:
            self._over()

    def _over(self) -> None:
        """Nothing more can come, or nothing more will be waited for."""
        assert self._transport is not None
        if self._finished:
            return
        self._finished = True
        self._deadline.cancel()
        self.inbox.end(self._how())
        if self._listening and self._input().get_write_buffer_size():
            self._input().abort()  # close() would wait for a reader that there is no longer
        self._transport.close()
        self._sweep(signal.SIGTERM, KILL)

    def _how(self) -> Ended:
        status = self._status or 0
        if self._forced:
            return Ended(clean=False, detail=self._forced, code=status)
        detail = f"the process exited with status {status}"
        if status < 0:
            detail = f"the process was ended by signal {_signal_name(-status)}"
        last = self.log.last_line if status else ""
        return Ended(clean=status == 0, detail=f"{detail}: {last}" if last else detail, code=status)

    def _terminate(self, after: float) -> None:
        self._forced = (
            f"the process was still running {after:g} s after its standard input was closed, "
            "and the kit ended it"
        )
        self._deadline.cancel()
        self._deadline.within(TERM * self._patience, lambda: _signal_group(self.pid, KILL))
        _signal_group(self.pid, signal.SIGTERM)

    def _sweep(self, *signals: signal.Signals) -> None:
        """End what is left of the group with the first signal, and what that leaves with the next."""
        if not signals or not _group_exists(self.pid):
            self._swept.set()
            _living.discard(self.pid)
            return
        _signal_group(self.pid, signals[0])
        until = self._loop.time() + TERM * self._patience
        self._await_group(until, signals[1:])

    def _await_group(self, until: float, signals: tuple[signal.Signals, ...]) -> None:
        if _group_exists(self.pid) and self._loop.time() < until:
            self._loop.call_later(POLL, self._await_group, until, signals)
        else:
            self._sweep(*signals)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


if sys.platform == "win32":

    def _group_exists(leader: int) -> bool:
        return False

    def _signal_group(leader: int, number: signal.Signals) -> None:
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(leader)], capture_output=True, check=False)  # noqa: S607

else:

    def _group_exists(leader: int) -> bool:
        """Whether any member is left, a zombie that nobody has reaped included."""
        try:
            os.killpg(leader, 0)
        except (ProcessLookupError, PermissionError):  # macOS refuses permission where only zombies are left
            return False
        return True

    def _signal_group(leader: int, number: signal.Signals) -> None:
        """Once and not also to the leader, which as a session's leader cannot have left: a second signal
        would meet a program that is just ending itself, and make its exit status ours.
        """
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, number)
