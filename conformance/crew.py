"""Several scenarios at once, on one loop in a thread of its own; their results are asked for one by one.

Each has its own transport, connections and transcript, as if it were alone; those that take the same of an
implementation that they share wait for each other. Whoever asks judges in a thread of its own, so that
judging keeps no conversation waiting.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    contextmanager,
    nullcontext,
)
from dataclasses import replace
from typing import TypeAlias

from conformance.interruption import ignored
from conformance.runner import Plan, Result, ended_early, interrupted, result_of
from conformance.scenarios import Scenario
from conformance.turns import Turn, Turns
from conformance.waiting import lasts

Place: TypeAlias = AbstractAsyncContextManager[object]
"""What a scenario waits for before it begins, and has until it ends."""

Awaited: TypeAlias = Future[Result | None]
"""The result of a run, when it is there; None where it was not wanted any more when it had its turn."""

SLACK, STEP = 0.2, 0.03
"""Seconds that a scenario may take beside the time that its steps let pass: once, and for each step."""

PROMPT = 0.0005
"""Seconds for which judging may keep the conversations waiting that have something to say."""

LEAVE = 0.5
"""Seconds for everything to end in an orderly way before it is killed, where nobody cares how it ends."""


class Shift:
    """Runs scenarios of any plans, at most `jobs` at a time, in the order in which they are begun.

    It has to be closed. What still goes on then is ended.
    """

    def __init__(self, jobs: int) -> None:
        """Nothing is begun."""
        self._before = sys.getswitchinterval()
        sys.setswitchinterval(PROMPT)
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
        taken: Sequence[Place] = (),
        lent: Callable[[Plan], AbstractContextManager[Plan]] = nullcontext,
    ) -> Awaited:
        """Run a scenario when there is room, if it `is_wanted` then; `told` hears before there is room again.

        It waits for what is to be `taken` first. `lent` gives the plan as it is while the scenario runs. All
        are called in the thread of the loop.
        """
        running = self._run(plan, scenario, attempt, is_wanted, told, taken, lent)
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
        sys.setswitchinterval(self._before)

    async def _run(
        self,
        plan: Plan,
        scenario: Scenario,
        attempt: int,
        is_wanted: Callable[[], bool],
        told: Callable[[Result], None],
        taken: Sequence[Place],
        lent: Callable[[Plan], AbstractContextManager[Plan]],
    ) -> Result | None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            async with AsyncExitStack() as held:
                for place in (*taken, self._room):
                    await held.enter_async_context(place)
                if not is_wanted():
                    return None
                with lent(plan) as own:
                    result = await result_of(own, scenario, attempt)
                    while await own.turn.is_taken_anew():
                        result = await result_of(own, scenario, attempt)
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


def _rank(scenario: Scenario) -> float:
    """Where it stands among those that reach one implementation: what takes nothing, the longest first.

    What takes something waits for its turn anyway, and is best had in the order in which it is told of.
    """
    return 0.0 if scenario.takes else -lasts(scenario)


class Crew:
    """Runs `scenarios` of one plan, at most `jobs` at a time, in their order; it has to be closed.

    All reach one implementation if it is `shared`, and what one takes of that, no other has meanwhile:
    those that take something are what a run waits for in the end, so one place is theirs, and of the others
    those that last long begin first.
    After one that shows that going on is useless, it begins only what is asked for.
    """

    def __init__(
        self,
        plan: Plan,
        scenarios: list[Scenario],
        jobs: int,
        *,
        shared: bool = False,
        meanwhile: Callable[[Result], object] = lambda _: None,
    ) -> None:
        """`meanwhile` gets what is there already while what is asked for is not, each at most once."""
        self._plan = plan
        self._meanwhile = meanwhile
        self._early: list[Awaited] = []
        self._shift = Shift(jobs)
        self._is_shared = shared
        self._targets = [plan.target, *plan.more]
        self._turns: dict[str, Turns] = {}
        self._beside = asyncio.Semaphore(max(jobs - any(one.takes for one in scenarios), 1))
        self._is_full = False
        self._begun: set[tuple[str, int]] = set()
        self._asked: dict[tuple[str, int], tuple[Scenario, Awaited]] = {}
        for scenario in sorted(scenarios, key=_rank) if shared else scenarios:
            self._begin(scenario, 1)

    def ask(self, scenario: Scenario, attempt: int) -> Result:
        """The result of a run of the scenario, when it is there; a further attempt begins now."""
        key = (scenario.name, attempt)
        result = self._awaited(key) if key in self._asked else None
        if result is None:  # whoever asks knows that it is of use
            self._begin(scenario, attempt, asked=True)
            result = self._awaited(key)
        assert result is not None, "what was asked for is run"
        return result

    def _awaited(self, key: tuple[str, int]) -> Result | None:
        """The result of a run; while it is not there, what came of others is handed on."""
        wanted = self._asked[key][1]
        self._early = [one for one in self._early if one is not wanted]
        while not wanted.done():
            wait([wanted, *self._early], return_when=FIRST_COMPLETED)
            for one in [one for one in self._early if one.done()][:1]:
                self._early.remove(one)
                if not one.cancelled() and (result := one.result()) is not None:
                    self._meanwhile(result)
        return wanted.result()

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

        plan, places = self._placed(scenario)
        future = self._shift.begin(
            plan, scenario, attempt, taken=places, is_wanted=is_wanted, told=self._look, lent=self._lent
        )
        self._asked[key] = (scenario, future)
        self._early.append(future)

    def _placed(self, scenario: Scenario) -> tuple[Plan, list[Place]]:
        """The plan with the scenario's own turn, and what it waits for: that, and the room for the others."""
        if not self._is_shared:
            return self._plan, []
        lasting = lasts(scenario) + SLACK + STEP * len(scenario.steps)
        turn = Turn(self._turns, scenario.takes, lasting)
        return replace(self._plan, turn=turn), [turn] if scenario.takes else [turn, self._beside]

    @contextmanager
    def _lent(self, plan: Plan) -> Iterator[Plan]:
        """The plan; where there are several targets, with one that has no other scenario meanwhile."""
        if not plan.more:
            yield plan
            return
        target = self._targets.pop(0)
        try:
            yield replace(plan, target=target)
        finally:
            self._targets.append(target)

    def _look(self, result: Result) -> None:
        self._is_full = self._is_full or ended_early(result)

    def _results(self) -> Iterator[Result]:
        for key, (scenario, future) in self._asked.items():
            if future.cancelled():  # in the middle of its ending, if it was begun
                if key in self._begun:
                    yield interrupted(scenario, key[1])
            elif (result := future.result()) is not None:
                yield result
