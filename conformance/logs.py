"""Logs that an implementation keeps of its own: found in a folder, and judged beside what was exchanged.

A log may come late, since whoever writes it need not hurry: the kit looks again until nothing is open any
more, or its patience is over. What is open then stays so, and is held against nobody.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from conformance import protocols
from conformance.actions import Aside, Outcome
from conformance.driver import Driver
from conformance.errors import BadConfiguration, ConformanceError
from conformance.events import Event
from conformance.findings import Finding
from conformance.operating import Attended, give_up
from conformance.transports.process import filled
from conformance.wording import shown

AGAIN = 0.2
"""Seconds between two looks."""

FILES, SIZE = 200, 64 * 1024 * 1024
"""So many files of a folder are looked into, the newest; none that has more bytes."""


class Librarian:
    """Reads the logs that the steps of one session ask for; what comes of each is put into `queue`."""

    def __init__(
        self,
        queue: asyncio.Queue[Any],
        patience: float,
        driver: Driver,
        exchanged: Sequence[Event],
        pid: Callable[[], int],
    ) -> None:
        """`exchanged` grows as the session goes on; `pid` gives the id of the implementation's process."""
        self._queue, self._patience = queue, patience
        self._driver, self._exchanged, self._pid = driver, exchanged, pid
        self._tasks: list[asyncio.Task[None]] = []

    def begin(self, action: Aside) -> None:
        """Look for a log while the session goes on."""
        self._tasks.append(asyncio.create_task(self._carry_out(action)))

    async def stop(self) -> None:
        """Look no more."""
        await give_up(self._tasks)

    async def _carry_out(self, action: Aside) -> None:
        try:
            found = await self._looked(action)
            await self._queue.put(Attended.of(found))
        except (ConformanceError, OSError) as error:
            await self._queue.put(Attended(Outcome("inconclusive", str(error))))

    async def _looked(self, action: Aside) -> list[Finding]:
        told = {"pid": str(self._pid()), "tmp": tempfile.gettempdir()}
        folder, mark = Path(filled(action.args["read"], told)), str(action.args["mentioning"])
        clock = asyncio.get_running_loop().time
        until = clock() + action.step.patience * self._patience
        while True:
            path = await asyncio.to_thread(newest, folder, mark.encode())
            found = self._judged(action, path, f"no file of {str(folder)!r} mentions {shown(mark)}")
            if clock() >= until or not any(one.inconclusive for one in found):
                return found
            await asyncio.sleep(AGAIN)

    def _judged(self, action: Aside, path: Path | None, absent: str) -> list[Finding]:
        """A finding for each requirement of the step."""
        pack, party, proves = self._driver.pack, self._driver.party, action.step.proves
        if path is None:
            return [Finding(name, False, party, message=absent, inconclusive=True) for name in proves]
        remarks = protocols.remarks(action.args["by"], path.read_bytes(), self._exchanged, pack)
        return list(_findings(proves, remarks, party, path.name))


def _findings(
    proves: Iterable[str], remarks: Sequence[protocols.Remark], party: str, name: str
) -> Iterator[Finding]:
    """The first remark on each requirement, where one is not open that one; else nothing is wrong with it."""
    for requirement in proves:
        own = sorted((one for one in remarks if one.requirement == requirement), key=lambda one: one.open)
        if own:
            said = f"{name}: {own[0].said}"
            yield Finding(requirement, False, party, message=said, inconclusive=own[0].open)
        else:
            yield Finding(requirement, True, party)


def newest(folder: Path, mark: bytes) -> Path | None:
    """The newest file of the folder in whose name or content `mark` stands; raises BadConfiguration."""
    try:
        with os.scandir(folder) as entries:
            files = [(entry.stat(), Path(entry.path)) for entry in entries if entry.is_file()]
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadConfiguration(f"the folder {str(folder)!r} of the ICS cannot be read: {reason}") from None
    files.sort(key=lambda one: (-one[0].st_mtime, one[1].name))
    small = (path for stat, path in files[:FILES] if stat.st_size <= SIZE)
    return next((path for path in small if mark in path.name.encode() or mark in path.read_bytes()), None)
