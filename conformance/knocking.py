"""Connections that are to be refused: asked for beside a session, amiss on purpose, and never spoken over.

That a server refuses one is told by the status of HTTP in its answer (RFC 6455, 4.2.2). Whoever lets one
in, and ends it at once, may mean the same: then nothing can be said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from conformance.actions import Aside, Outcome
from conformance.bindings import difference
from conformance.errors import ConformanceError, TargetUnavailable
from conformance.findings import Finding
from conformance.operating import Attended, give_up
from conformance.scenarios import Step
from conformance.transports import Connection, Ended, Transport
from conformance.transports.access import SERVERS

GOODBYE = 2.0
"""Seconds, x patience, for the end of a connection that was let in."""


class Visitor:
    """Asks for the connections that the steps of one session describe; what comes of each goes to `queue`.

    `party` is the role of the implementation.
    """

    def __init__(
        self, queue: asyncio.Queue[Any], transport: Transport, target: str, party: str, patience: float
    ) -> None:
        """Nothing is asked for yet."""
        self._queue, self._transport, self._party, self._patience = queue, transport, party, patience
        self._has_url = target.partition(":")[0].lower() in SERVERS
        self._tasks: list[asyncio.Task[None]] = []

    def begin(self, action: Aside) -> None:
        """Ask for a connection while the session goes on."""
        self._tasks.append(asyncio.create_task(self._carry_out(action)))

    async def stop(self) -> None:
        """Ask for no more."""
        await give_up(self._tasks)

    async def _carry_out(self, action: Aside) -> None:
        if not self._has_url:
            why = "the kit connects to no URL here, in which something could be amiss"
            await self._queue.put(Attended(Outcome("not-applicable", why)))
            return
        try:
            await self._queue.put(Attended.of(await self._found(action)))
        except ConformanceError as error:
            await self._queue.put(Attended(Outcome("inconclusive", str(error))))

    async def _found(self, action: Aside) -> list[Finding]:
        try:
            connection = await self._transport.open(query=urlencode(action.args["knock"]))
        except TargetUnavailable as error:
            return self._of_refusal(action.step, action.args["refused"], error)
        return await self._of_admission(action.step, connection)

    def _of_refusal(self, step: Step, match: Any, error: TargetUnavailable) -> list[Finding]:
        if not error.status:
            return self._each(step, ok=False, open_=True, said=str(error))
        said = f"a connection by {_amiss(step.args['knock'])} was refused with HTTP {error.status}"
        if difference(match, error.status):
            return self._each(step, ok=False, open_=True, said=f"{said}, which may have another reason")
        return self._each(step, ok=True, said=said)

    async def _of_admission(self, step: Step, connection: Connection) -> list[Finding]:
        ended = await _end_of(connection, step.patience * self._patience)
        await connection.finish(GOODBYE * self._patience)
        said = f"a connection by {_amiss(step.args['knock'])} was let in"
        if ended is None:
            return self._each(step, ok=False, said=f"{said}, where it has to be refused")
        return self._each(step, ok=False, open_=True, said=f"{said}, and then {ended.detail}")

    def _each(self, step: Step, *, ok: bool, said: str, open_: bool = False) -> list[Finding]:
        """A finding for each requirement of the step."""
        return [Finding(one, ok, self._party, message=said, inconclusive=open_) for one in step.proves]


async def _end_of(connection: Connection, seconds: float) -> Ended | None:
    """How the connection ends in this time; None where it does not, or the implementation speaks."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            got = await connection.receive()
            return got if isinstance(got, Ended) else None
    return None


def _amiss(query: Mapping[str, str]) -> str:
    """What is amiss, by the names of the query alone: what stands in a URL is not told."""
    return f"a URL with {' and '.join(query)} in its query"
