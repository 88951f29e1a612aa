"""What a vendor's operator is told to do: commands of the ICS, run beside a session, in bounded time.

A command that does not do its work is a mistake of the configuration and no finding. What it changed is
changed back when the scenario ends, however it ends, where a step says how.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from conformance.actions import Outcome
from conformance.errors import BadTarget, TargetUnavailable
from conformance.findings import Finding
from conformance.transports import Ended, Options
from conformance.transports.process import Child, start, words_of

ENOUGH = 10.0
"""Seconds, x patience, for a command to end."""

PROCESS = "{pid}"
"""Stands for the id of the implementation's process in a command."""


@dataclass(frozen=True, slots=True)
class Attended:
    """What was to be done beside the session is done, and showed `found`; `outcome` ends the scenario."""

    outcome: Outcome | None = None
    found: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, found: Sequence[Finding]) -> Attended:
        """What was found, and how the scenario ends for that, if it does."""
        against = [one for one in found if not one.ok]
        worst = min(against, key=lambda one: one.inconclusive, default=None)
        if worst is None:
            return cls(None, tuple(found))
        status = "inconclusive" if worst.inconclusive else "failed"
        return cls(Outcome(status, worst.message), tuple(found))


class Operator:
    """Runs the commands of one session. `pid` gives the id of the implementation's process, or 0."""

    def __init__(self, queue: asyncio.Queue[Any], options: Options, pid: Callable[[], int]) -> None:
        """What becomes of each command is put into `queue`, as an Attended."""
        self._queue, self._options, self._pid = queue, options, pid
        self._running: list[asyncio.Task[None]] = []
        self._owed: list[str] = []

    def begin(self, command: str, undo: str) -> None:
        """Run a command while the session goes on. `undo` is owed from then on, until it is run itself."""
        self._running.append(asyncio.create_task(self._carry_out(command, undo)))

    async def restore(self) -> str:
        """Stop what runs, and run what is owed, the last first; why that was not done, or nothing."""
        await give_up(self._running)
        while self._owed:
            if wrong := await self._wrong(self._owed.pop()):
                return f"{wrong}; the implementation may still be as the scenario left it"
        return ""

    async def _carry_out(self, command: str, undo: str) -> None:
        if undo:
            self._owed.append(undo)  # before it is known what came of the command
        wrong = await self._wrong(command)
        if not wrong:
            self._owed = [one for one in self._owed if one != command]
        await self._queue.put(Attended(Outcome("inconclusive", wrong) if wrong else None))

    async def _wrong(self, command: str) -> str:
        """Run a command to its end; why it has not done its work, or nothing."""
        pid = self._pid()
        if PROCESS in command and not pid:
            why = f"the kit has started no process that runs and could be {PROCESS}"
        else:
            try:
                child = await start(words_of(command, command), self._options, pid=str(pid or ""))
                ended = await _end_of(child, ENOUGH * self._options.patience)
                why = "" if ended.clean else ended.detail
            except (BadTarget, TargetUnavailable) as error:
                why = str(error)
        return f"the command {command!r} of the ICS did not do its work: {why}" if why else ""


async def give_up(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel these, and await their ends; what one of them raises is raised."""
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _end_of(child: Child, seconds: float) -> Ended:
    """How the process ended by itself, or was ended when its time was up. If cancelled, it is killed."""
    try:
        child.discard_output()
        child.end(seconds)
        while not isinstance(got := await child.inbox.take(), Ended):
            pass
        return got
    finally:
        child.kill()
        await child.ended()
