"""Ctrl-C while a loop runs: it cancels what runs, in an orderly way, and never tears the loop itself.

Left to itself, Python raises KeyboardInterrupt wherever it happens to be, in the middle of making or
closing a loop too, and then complains on the terminal about what was left half done.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

NUMBERS = (signal.SIGINT, signal.SIGTERM)


def run(main: Callable[[], Coroutine[Any, Any, T]]) -> tuple[T, bool]:
    """Run to the end what `main` begins; its result, and whether a Ctrl-C came (SIGINT, in the main thread).

    Each Ctrl-C cancels it once more; KeyboardInterrupt, when everything is closed, where it gave no result.
    """
    turn = _Turn()
    with _handled(turn.interrupt), asyncio.Runner() as runner:
        turn.loop = runner.get_loop()
        try:
            result = runner.run(turn.begin(main))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
    return result, turn.interrupted


class _Turn:
    """What runs, and whether it was interrupted."""

    def __init__(self) -> None:
        self.interrupted = False
        self.loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None

    async def begin(self, main: Callable[[], Coroutine[Any, Any, T]]) -> T:
        self._task = asyncio.current_task()
        if self.interrupted:
            self._cancel()
        return await main()

    def interrupt(self, *_: Any) -> None:
        self.interrupted = True
        if self.loop is not None and self._task is not None and not self._task.done():
            self.loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        assert self._task is not None
        self._task.cancel()


@contextmanager
def _handled(handler: Callable[..., None]) -> Iterator[None]:
    """Meanwhile the handler answers SIGINT, unless somebody else does already."""
    own = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not own or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def ignored() -> Iterator[None]:
    """Meanwhile nobody can interrupt: what is left takes no time, and must not be torn."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in NUMBERS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ignore() -> None:
    """From now on nobody can interrupt."""
    for number in NUMBERS:
        signal.signal(number, signal.SIG_IGN)
