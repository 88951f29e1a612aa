"""`exec:COMMAND`: a fresh process for each message, which ends when it has answered it.

The message is written to the file whose path stands in place of `{input}` in the command, and the
answer is read from that in place of `{output}`; without them, standard input and standard output.
Processes run one after another. One that exits without an answer ends the connection, unless another
message waits already.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from conformance.errors import ConformanceError, ConnectionLost
from conformance.framing import Documents, Framing
from conformance.transports import Ended, Incoming, Options
from conformance.transports.flow import Deadline, Inbox
from conformance.transports.process import WAIT, Child, command, start

DROPPED = Ended(clean=False, detail="the kit dropped the connection")


class _NoAnswer(Exception):
    """A process ended, and there is no answer; `code` is its exit status."""

    def __init__(self, detail: str, code: int | None) -> None:
        super().__init__(detail)
        self.code = code


class ErrandConnection:
    """Messages to processes of the same command. See `conformance.transports.Connection`."""

    def __init__(self, words: list[str], options: Options, children: list[Child]) -> None:
        """Nothing starts yet; what is started is added to `children`."""
        self._words = words
        self._options = options
        self._children = children
        self._child: Child | None = None
        self._inbox = Inbox()
        self._messages: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._remark = Ended(clean=True, detail="the kit closed the connection")
        self._late = ""
        self._leaving = False
        self._deadline = Deadline()
        self._worker = asyncio.create_task(self._work())

    def place(self) -> str:
        """No URL."""
        return ""

    def framing(self) -> Framing:
        """Each answer comes whole."""
        return Documents()

    async def send(self, data: bytes) -> None:
        """Give one message to a fresh process, when those before it have ended."""
        await self.send_raw(data + b"\n")

    async def send_raw(self, data: bytes) -> None:
        """Give bytes as they are to a fresh process."""
        if self._inbox.ended is not None:
            raise ConnectionLost(self._inbox.ended.detail)
        if self._leaving:
            raise ConnectionLost("the kit has closed the connection")
        self._messages.put_nowait(data)

    async def receive(self) -> Incoming | Ended:
        """The next answer, or why there is none."""
        return await self._inbox.take()

    async def finish(self, seconds: float) -> None:
        """Send no more; end the process that still runs after `seconds`."""
        if not self._leaving:
            self._leaving = True
            self._messages.put_nowait(None)
        if not self._worker.done():
            self._deadline.within(seconds, lambda: self._expire(seconds))

    async def drop(self) -> None:
        """Kill the process group."""
        self._inbox.end(DROPPED)
        self._worker.cancel()
        if self._child is not None:
            self._child.kill()

    async def ended(self) -> None:
        """Wait until no more is begun; `finish` or `drop` goes before."""
        await asyncio.wait({self._worker})

    def _expire(self, seconds: float) -> None:
        self._late = f"the process was still running {seconds:g} s after the kit had said goodbye"
        if self._child is not None:
            self._child.end(0)

    async def _work(self) -> None:
        try:
            while (message := await self._messages.get()) is not None and not self._late:
                await self._hand_over(message)
            self._inbox.end(self._remark)
        except _NoAnswer as none:
            self._inbox.end(Ended(clean=False, detail=str(none), code=none.code))
        except ConformanceError as error:
            self._inbox.fail(error)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            self._inbox.fail(ConformanceError(f"the kit could not hand a message over: {reason}"))
        finally:
            self._deadline.cancel()
            self._inbox.end(DROPPED)

    async def _hand_over(self, message: bytes) -> None:
        """Take the answer to a message. What waits already need not suffer from one that has none."""
        try:
            self._inbox.put(Incoming(await self._answer(message)))
        except _NoAnswer:
            if self._late or self._messages.qsize() <= int(self._leaving):
                raise

    async def _answer(self, message: bytes) -> bytes:
        folder = Path(tempfile.mkdtemp(prefix="conformance-"))  # nobody else may look into it
        try:
            return await self._answer_in(folder, message)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _answer_in(self, folder: Path, message: bytes) -> bytes:
        named = {name: folder / f"{name}.json" for name in ("input", "output") if self._names(name)}
        if "input" in named:
            named["input"].write_bytes(message)
        child = await start(self._words, self._options, **{name: str(named[name]) for name in named})
        self._children.append(child)
        self._child = child
        if self._late:
            child.end(0)
        if "output" in named:
            child.discard_output()
        try:
            with suppress(ConnectionLost):  # it need not read what it is given; its answer counts
                await child.write(b"" if "input" in named else message)
            child.close_input()
            printed, ended = await self._printed(child)
        except asyncio.CancelledError:
            child.kill()
            raise
        return self._judged(_written(named["output"], self._limit) if "output" in named else printed, ended)

    def _names(self, name: str) -> bool:
        return any(f"{{{name}}}" in word for word in self._words)

    @property
    def _limit(self) -> int:
        return self._options.max_message

    async def _printed(self, child: Child) -> tuple[bytes | str, Ended]:
        """What it wrote to standard output, or what was wrong with that; and how it ended."""
        parts, size = list[bytes](), 0
        while not isinstance(got := await child.inbox.take(), Ended):
            parts.append(got.data)
            size += len(got.data)
            if size > self._limit:
                child.kill("the kit ended it")
                return f"wrote more than {self._limit} bytes to standard output", await _end_of(child)
        if not b"".join(parts).strip():
            return "wrote nothing to standard output", got
        return b"".join(parts), got

    def _judged(self, answer: bytes | str, ended: Ended) -> bytes:
        """The answer, unless there is none, or it came too late."""
        if self._late:
            raise _NoAnswer(f"{self._late}, and the kit ended it", ended.code)
        if isinstance(answer, str):
            raise _NoAnswer(f"the process {answer}; {ended.detail}", ended.code)
        if not ended.clean and self._remark.clean:
            self._remark = ended
        return answer


async def _end_of(child: Child) -> Ended:
    while not isinstance(got := await child.inbox.take(), Ended):
        pass
    return got


def _written(path: Path, limit: int) -> bytes | str:
    """What stands in the file, or in words what was wrong with it. Links are not followed, nor pipes read."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return "made no regular file of its output"
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        return "wrote no output file"
    except OSError as error:
        return f"wrote an output file that cannot be read: {(error.strerror or str(error)).lower()}"
    if len(data) > limit:
        return f"wrote an output file of more than {limit} bytes"
    return data if data.strip() else "wrote an empty output file"


class ErrandTransport:
    """See `conformance.transports.Transport`."""

    def __init__(self, target: str, options: Options) -> None:
        """Nothing starts yet; raises BadTarget."""
        self._words = command(target)
        self._options = options
        self._children: list[Child] = []
        self._connections: list[ErrandConnection] = []

    @property
    def pid(self) -> int:
        """Each message has a process of its own: always 0."""
        return 0

    async def open(self, credential: str = "", query: str = "") -> ErrandConnection:
        """A connection. That there is no such program is told when the first message was sent."""
        connection = ErrandConnection(self._words, self._options, self._children)
        self._connections.append(connection)
        return connection

    async def shutdown(self) -> None:
        """End every connection and process."""
        try:
            for connection in self._connections:
                await connection.finish(WAIT * self._options.patience)
            await asyncio.gather(*(connection.ended() for connection in self._connections))
        except asyncio.CancelledError:
            for connection in self._connections:
                await connection.drop()
            raise
        finally:
            await asyncio.gather(*(connection.ended() for connection in self._connections))
            await asyncio.gather(*(child.ended() for child in self._children))
