"""Several scenarios at once, on one loop in a thread of its own; their results are asked for one by one.

Each has its own transport, connections and transcript, as if it were alone; those that take the same of an
implementation that they share wait for each other. Whoever asks judges in a thread of its own, so that
judging keeps no conversation waiting.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import AsyncExitStack
from dataclasses import replace

from conformance.runner import Plan, Result, ended_early, interrupted, result_of
from conformance.scenarios import Scenario


class Crew:
    """Runs `scenarios`, at most `jobs` at a time, in their order; it has to be closed.

    All reach one implementation if it is `shared`, and what one takes of that, no other has meanwhile.
    After one that shows that going on is useless, it begins only what is asked for.
    """

    def __init__(self, plan: Plan, scenarios: list[Scenario], jobs: int, *, shared: bool = False) -> None:
        self._plan = plan
        self._is_shared = shared
        self._targets = [plan.target, *plan.more]
        self._taken: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._room = asyncio.Semaphore(jobs)
        # Who waited for what others had is let in at once: there is always a place left.
        places = jobs - 1 if shared and any(one.takes for one in scenarios) else jobs
        self._others = asyncio.Semaphore(max(places, 1))
        self._is_full = False
        self._tasks: set[asyncio.Task[Result | None]] = set()
        self._begun: set[tuple[str, int]] = set()
        self._asked: dict[tuple[str, int], tuple[Scenario, Future[Result | None]]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="conformance", daemon=True)
        self._thread.start()
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
        self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in list(self._tasks)])

    def close(self) -> None:
        """End everything that still goes on, and the thread."""
        self.cancel()
        wait([future for _, future in self._asked.values()])
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _begin(self, scenario: Scenario, attempt: int, *, asked: bool = False) -> None:
        running = self._run(scenario, attempt, asked=asked)
        future = asyncio.run_coroutine_threadsafe(running, self._loop)
        self._asked[scenario.name, attempt] = (scenario, future)

    async def _run(self, scenario: Scenario, attempt: int, *, asked: bool) -> Result | None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            async with AsyncExitStack() as stack:
                for name in (
                    scenario.takes if self._is_shared else ()
                ):  # in order, so that none waits in a circle
                    await stack.enter_async_context(self._taken[name])
                await stack.enter_async_context(self._room)
                if self._is_full and not asked:
                    return None
                self._begun.add((scenario.name, attempt))
                result = await self._result(scenario, attempt)
                self._is_full = self._is_full or ended_early(result)
                return result
        finally:
            self._tasks.discard(task)

    async def _result(self, scenario: Scenario, attempt: int) -> Result:
        """The result; where there are several targets, of one that has no other scenario."""
        if not self._plan.more:
            return await result_of(self._plan, scenario, attempt)
        target = self._targets.pop(0)
        try:
            return await result_of(replace(self._plan, target=target), scenario, attempt)
        finally:
            self._targets.append(target)

    def _places(self, scenario: Scenario) -> list[asyncio.Lock | asyncio.Semaphore]:
        """What the scenario has to have before there is room; sorted, so that none waits in a circle."""
        taken = [self._taken[name] for name in scenario.takes] if self._is_shared else []
        return [*taken] or [self._others]

    def _results(self) -> Iterator[Result]:
        for key, (scenario, future) in self._asked.items():
            if future.cancelled():  # in the middle of its ending, if it was begun
                if key in self._begun:
                    yield interrupted(scenario, key[1])
            elif (result := future.result()) is not None:
                yield result
