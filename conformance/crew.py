"""Several scenarios at once, on one loop in a thread of its own; their results are asked for one by one.

Each has its own transport, connections and transcript, as if it were alone. Whoever asks judges in a
thread of its own, so that judging keeps no conversation waiting.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import TypeAlias

from conformance.interruption import ignored
from conformance.runner import Plan, Result, ended_early, interrupted, result_of
from conformance.scenarios import Scenario

Awaited: TypeAlias = Future[Result | None]
"""The result of a run, when it is there; None where it was not wanted any more when it had its turn."""

LEAVE = 0.5
"""Seconds for everything to end in an orderly way before it is killed, where nobody cares how it ends."""


class Shift:
    """Runs scenarios of any plans, at most `jobs` at a time, in the order in which they are begun.

    It has to be closed. What still goes on then is ended.
    """

    def __init__(self, jobs: int) -> None:
        """Nothing is begun."""
        self._room = asyncio.Semaphore(jobs)
        self._tasks: set[asyncio.Task[Result | None]] = set()
        self._all: list[Awaited] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="conformance", daemon=True)
        self._thread.start()

    def begin(
        self,
        plan: Plan,
        scenario: Scenario,
        attempt: int = 1,
        *,
        is_wanted: Callable[[], bool] = lambda: True,
        told: Callable[[Result], None] = lambda _: None,
    ) -> Awaited:
        """Run a scenario when there is room, if it `is_wanted` then; `told` hears before there is room again.

        Both are called in the thread of the loop.
        """
        running = self._run(plan, scenario, attempt, is_wanted, told)
        future = asyncio.run_coroutine_threadsafe(running, self._loop)
        self._all.append(future)
        return future

    def cancel(self) -> None:
        """End everything, in an orderly way the first time and at once the second; any thread may call."""
        self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in list(self._tasks)])

    def abandon(self) -> None:
        """End everything within a moment, since nobody asks for what comes of it; safe to call again."""
        if self._loop.is_closed():
            return
        self.cancel()
        if wait(self._all, timeout=LEAVE).not_done:
            self.cancel()
        self.close()

    def close(self) -> None:
        """Wait for what still goes on, and end the thread."""
        wait(self._all)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _run(
        self,
        plan: Plan,
        scenario: Scenario,
        attempt: int,
        is_wanted: Callable[[], bool],
        told: Callable[[Result], None],
    ) -> Result | None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            async with self._room:
                if not is_wanted():
                    return None
                result = await result_of(plan, scenario, attempt)
                told(result)
                return result
        finally:
            self._tasks.discard(task)


@contextmanager
def at_work(jobs: int) -> Iterator[Shift]:
    """A shift of which nothing goes on any more when this is left, by Ctrl-C too, which cannot tear that."""
    shift = Shift(jobs)
    try:
        yield shift
    except KeyboardInterrupt:
        with ignored():
            shift.abandon()
        raise
    finally:
        shift.abandon()


class Crew:
    """Runs `scenarios` of one plan, at most `jobs` at a time, in their order; it has to be closed.

    After one that shows that going on is useless, it begins only what is asked for.
    """

    def __init__(self, plan: Plan, scenarios: list[Scenario], jobs: int) -> None:
        self._plan = plan
        self._shift = Shift(jobs)
        self._is_full = False
        self._begun: set[tuple[str, int]] = set()
        self._asked: dict[tuple[str, int], tuple[Scenario, Awaited]] = {}
        for scenario in scenarios:
            self._begin(scenario, 1)

    def ask(self, scenario: Scenario, attempt: int) -> Result:
        """The result of a run of the scenario, when it is there; a further attempt begins now."""
        key = (scenario.name, attempt)
        result = self._asked[key][1].result() if key in self._asked else None
        if result is None:  # whoever asks knows that it is of use
            self._begin(scenario, attempt, asked=True)
            result = self._asked[key][1].result()
        assert result is not None, "what was asked for is run"
        return result

    def rest(self) -> Iterator[Result]:
        """Begin nothing more; the results of all that was begun, asked for or not, when they are there."""
        self._is_full = True
        wait([future for _, future in self._asked.values()])
        yield from self._results()

    def cancel(self) -> None:
        """End everything, in an orderly way the first time and at once the second; any thread may call."""
        self._is_full = True
        self._shift.cancel()

    def close(self) -> None:
        """End everything that still goes on, and the thread."""
        self.cancel()
        self._shift.close()

    def _begin(self, scenario: Scenario, attempt: int, *, asked: bool = False) -> None:
        key = (scenario.name, attempt)

        def is_wanted() -> bool:
            wanted = asked or not self._is_full
            self._begun |= {key} if wanted else set()
            return wanted

        future = self._shift.begin(self._plan, scenario, attempt, is_wanted=is_wanted, told=self._look)
        self._asked[key] = (scenario, future)

    def _look(self, result: Result) -> None:
        self._is_full = self._is_full or ended_early(result)

    def _results(self) -> Iterator[Result]:
        for key, (scenario, future) in self._asked.items():
            if future.cancelled():  # in the middle of its ending, if it was begun
                if key in self._begun:
                    yield interrupted(scenario, key[1])
            elif (result := future.result()) is not None:
                yield result
