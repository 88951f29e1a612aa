"""Bounded in both directions: what has arrived and waits to be received, what was sent and waits to leave."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from math import inf
from typing import Any

from conformance.errors import ConformanceError, InputUnread
from conformance.transports import Ended, Incoming

BACKLOG = 8 * 1024 * 1024
"""Bytes that may wait to be received; above it nothing more is read, so the peer has to wait."""

LOOK = 0.02
"""Seconds, enough for the event loop to take what has arrived meanwhile."""


class Inbox:
    """What has arrived in order, then how it ended.

    Filled without waiting as things arrive, whether or not anyone receives: a kit that is busy
    sending must not be the reason why the implementation cannot write and so cannot read.
    """

    def __init__(self, on_room: Callable[[], None] = lambda: None) -> None:
        """`on_room` is called when what waited was too much and no longer is."""
        self._waiting: deque[Incoming] = deque()
        self._size = 0
        self._ended: Ended | None = None
        self._failed: ConformanceError | None = None
        self._changed = asyncio.Event()
        self._on_room = on_room

    @property
    def full(self) -> bool:
        """Whether the filler should pause until `on_room` is called."""
        return self._size > BACKLOG

    @property
    def ended(self) -> Ended | None:
        """How it ended, if it has; some may still wait to be received."""
        return self._ended

    def put(self, item: Incoming) -> None:
        """Add what has arrived; after the end it comes too late and is forgotten."""
        if self._ended is not None:
            return
        self._waiting.append(item)
        self._size += len(item.data)
        self._changed.set()

    def end(self, how: Ended) -> None:
        """Say how it ended; the first word holds."""
        self._ended = self._ended or how
        self._changed.set()

    def fail(self, error: ConformanceError) -> None:
        """Say that it ended for a reason that is not the implementation's; `take` raises that."""
        self._failed = error
        self.end(Ended(clean=False, detail=str(error)))

    async def take(self) -> Incoming | Ended:
        """Wait for the next item; cancelling loses none."""
        while not self._waiting:
            if self._failed is not None:
                raise self._failed
            if self._ended is not None:
                return self._ended
            self._changed.clear()
            await self._changed.wait()
        was_full = self.full
        item = self._waiting.popleft()
        self._size -= len(item.data)
        if was_full and not self.full:
            self._on_room()
        return item


class Deadline:
    """A timer that looks at the wire once more before it acts: a kit that was busy blames no peer for it."""

    def __init__(self) -> None:
        """Nothing is due."""
        self._timer: asyncio.TimerHandle | None = None
        self._when = inf

    def within(self, seconds: float, act: Callable[[], None]) -> None:
        """Act in `seconds`, unless something is due sooner."""
        loop = asyncio.get_running_loop()
        when = loop.time() + seconds
        if when < self._when:
            self.cancel()
            self._when = when
            self._timer = loop.call_later(seconds, self._look, act)

    def cancel(self) -> None:
        """Nothing is due any more."""
        self._when = inf
        if self._timer is not None:
            self._timer.cancel()

    def _look(self, act: Callable[[], None]) -> None:
        self._timer = asyncio.get_running_loop().call_later(LOOK, act)


async def written(writing: Coroutine[Any, Any, object], left: Callable[[], int], seconds: float) -> None:
    """Wait for `writing` as long as the peer takes at least one byte within each `seconds`.

    `left` is how many bytes still wait to leave. A slow peer is no dead one, so it is progress that
    counts and not the whole time.

    Raises:
        InputUnread: no progress for `seconds`.
    """
    task = asyncio.ensure_future(writing)
    # Where we stop waiting, nobody else will ask how the task ended, and asyncio would complain.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        before = left()
        while not (await asyncio.wait({task}, timeout=seconds))[0]:
            if left() >= before:
                raise InputUnread(f"the implementation has not read its input for {seconds:g} s")
            before = left()
        task.result()
    finally:
        task.cancel()
