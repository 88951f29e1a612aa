"""What the steps of one session ask for beside its connections: its turn, commands, logs, who is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from conformance.actions import Aside
from conformance.driver import Driver
from conformance.events import Event
from conformance.knocking import Visitor
from conformance.logs import Librarian
from conformance.operating import Attended, Operator, give_up
from conformance.scenarios import seconds
from conformance.transports import Options, Transport
from conformance.turns import Turn


class Attendance:
    """Does it while the session goes on; what came of it is put into `queue`, as an Attended.

    `exchanged` are the events of the session as it goes on, `transport` is what leads to `target`.
    """

    def __init__(
        self,
        queue: asyncio.Queue[Any],
        options: Options,
        driver: Driver,
        exchanged: Sequence[Event],
        transport: Transport,
        target: str,
        turn: Turn,
    ) -> None:
        """Nothing is done yet."""
        self._queue, self._turn = queue, turn
        self._taking: list[asyncio.Task[None]] = []
        self._operator = Operator(queue, options, lambda: transport.pid)
        self._librarian = Librarian(queue, options.patience, driver, exchanged, lambda: transport.pid)
        self._visitor = Visitor(queue, transport, target, driver.party, options.patience)

    def begin(self, action: Aside) -> None:
        """Begin with what the step asks for."""
        if action.step.verb == "operate":
            self._operator.begin(action.args["operate"], action.args.get("undo", ""))
        elif action.step.verb == "knock":
            self._visitor.begin(action)
        elif action.step.verb in ("take", "leave"):
            after = seconds(action.args["after"]) if "after" in action.args else None
            self._taking.append(asyncio.create_task(self._have(action, after)))
        else:
            self._librarian.begin(action)

    async def end(self) -> str:
        """Stop what goes on, and put back what was changed; why that was not done, or nothing."""
        await self._visitor.stop()
        await give_up(self._taking)
        await self._librarian.stop()
        return await self._operator.restore()

    async def _have(self, action: Aside, after: float | None) -> None:
        if "leave" in action.args:
            self._turn.leave(action.args["leave"])
        elif after is None:
            await self._turn.take(action.args["take"])
        else:
            self._turn.reserve(action.args["take"], after)
        await self._queue.put(Attended())
