"""What the steps of one session ask for beside its connections: commands of the operator, and logs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from conformance.actions import Aside
from conformance.driver import Driver
from conformance.events import Event
from conformance.logs import Librarian
from conformance.operating import Operator
from conformance.transports import Options


class Attendance:
    """Does it while the session goes on; what came of it is put into `queue`, as an Attended.

    `exchanged` are the events of the session as it goes on, `pid` gives the implementation's process or 0.
    """

    def __init__(
        self,
        queue: asyncio.Queue[Any],
        options: Options,
        driver: Driver,
        exchanged: Sequence[Event],
        pid: Callable[[], int],
    ) -> None:
        """Nothing is done yet."""
        self._operator = Operator(queue, options, pid)
        self._librarian = Librarian(queue, options.patience, driver, exchanged, pid)

    def begin(self, action: Aside) -> None:
        """Begin with what the step asks for."""
        if action.step.verb == "operate":
            self._operator.begin(action.args["operate"], action.args.get("undo", ""))
        else:
            self._librarian.begin(action)

    async def end(self) -> str:
        """Stop what goes on, and put back what was changed; why that was not done, or nothing."""
        await self._librarian.stop()
        return await self._operator.restore()
