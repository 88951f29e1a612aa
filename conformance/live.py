"""A session that a Python test drives step by step, while the kit keeps the conversation going.

The loop runs in a thread of its own: between two steps heartbeats are sent, pings are answered and
everything that comes is written to the transcript, however long the test thinks.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from conformance import scenarios
from conformance.events import JSON
from conformance.runner import Plan, Result, Session
from conformance.scenarios import Scenario

R = TypeVar("R")


class StepFailed(AssertionError):
    """A step was not met: the implementation answered otherwise, or not at all."""


class LiveSession:
    """One session with the implementation. Its steps are those of a scenario, as calls.

    Every call blocks until the step is met, and raises StepFailed where it cannot be, or BadScenario
    where the step itself is wrong (a kind that there is not, a time that is none). `close` ends the
    session; what its transcript shows is judged by whoever holds the `result`.
    """

    def __init__(self, plan: Plan, name: str, title: str) -> None:
        peer = plan.pack.peer_of(plan.role)
        self.scenario = Scenario(name, title, peer, (), ())
        self._pack = plan.pack
        self.transcript = plan.out / "transcripts" / f"{name}.jsonl"
        """The record, as far as it goes; `stderr` is where standard error is kept, if there is any."""
        self.stderr = plan.out / "stderr" / f"{name}.txt"
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="conformance", daemon=True)
        self._thread.start()
        self._began = time.monotonic()
        self._result: Result | None = None
        try:
            self._session: Session = self._call(self._make(plan))
            self._call(self._session.begin())
        except BaseException:
            self._stop()
            raise
        self._pump: Future[None] = asyncio.run_coroutine_threadsafe(self._session.serve(), self._loop)

    async def _make(self, plan: Plan) -> Session:
        return Session(plan, self.scenario, interactive=True)

    def send(self, kind: str, **members: JSON) -> None:
        """Send a message of this kind, filled from the pack's template; `payload`, `params`, `message`."""
        __tracebackhide__ = True
        self._step("send", kind, members)

    def raw(self, text: str) -> None:
        """Send a text exactly as it is."""
        __tracebackhide__ = True
        self._step("raw", text, {})

    def request(self, kind: str, **members: JSON) -> Any:
        """Send a request and return its answer (`params`; a match as `result` or `error`; `within`)."""
        __tracebackhide__ = True
        return self._step("request", kind, members)

    def expect(self, kind: str, **members: JSON) -> Any:
        """Wait for a message of this kind and return it (`match`, `within="5 s"`, `instead`)."""
        __tracebackhide__ = True
        return self._step("expect", kind, members)

    def never(self, kind: str, during: str, **members: JSON) -> None:
        """See to it that no such message comes `during` a time such as "500 ms" (`match`)."""
        __tracebackhide__ = True
        self._step("never", kind, {"for": during, **members})

    def wait(self, during: str) -> None:
        """Let time pass; heartbeats go on."""
        __tracebackhide__ = True
        self._step("wait", during, {})

    def _step(self, verb: str, argument: JSON, members: dict[str, JSON]) -> Any:
        __tracebackhide__ = True  # pytest shows the line of the test, which is where the step stands
        if self._result is not None:
            raise StepFailed("the session is closed")
        step = scenarios.step({verb: argument, **members}, self._pack, self.scenario.role)
        met = self._call(self._session.perform(step))
        outcome = self._session.driver.outcome
        if outcome is not None:
            raise StepFailed(f"{outcome.status}: {outcome.reason}")
        return met

    def close(self) -> Result:
        """End the session and everything it started; the result names its transcript."""
        if self._result is None:
            try:
                outcome = self._call(self._session.leave())
            finally:
                self._stop()
            seconds = round(time.monotonic() - self._began, 3)
            self._result = self._session.result(outcome, seconds)
        return self._result

    def _call(self, coroutine: Coroutine[Any, Any, R]) -> R:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
