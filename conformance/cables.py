"""The connections of one session, as events: numbered, timed, and on disk before anyone acts on them."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from conformance import transcript
from conformance.bindings import Now
from conformance.errors import ConformanceError, ConnectionLost, InputUnread
from conformance.events import Closed, Event, Fault, Malformed, Opened, Sent
from conformance.framing import Framing, Reading, read_message
from conformance.strain import SLACK, TICK, Strain
from conformance.transports import Connection, Ended, Incoming, Transport

MESSAGES = 20_000
"""An implementation that sends more messages than this in one scenario is cut off."""

VOLUME = 64 * 1024 * 1024
"""The same for bytes."""

GRACE = 0.5
"""Seconds for what broke to end by itself, so that it is told how it did."""

LOOK = 0.05
"""How long, in seconds, the kit looks at the wire once more before it says that nothing came in time."""

NOISE = 1000
"""So many bytes of a binary message are kept."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """What came over a connection, and when: `at` is in seconds since the session began."""

    connection: str
    got: Incoming | Ended | ConformanceError
    at: float
    lag: float = 0.0
    """How long before it may have been there; see `Strain`."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What became of opening a further connection."""

    connection: str
    got: Connection | Exception


class Cables:
    """What crosses the connections of one session. `role` is the implementation's, `peer` the kit's.

    What arrives is put into `queue`, which may hold other things too. The `events` of an arrival are
    written down one by one as they are taken, so the record has them in the order in which the kit
    acted on them.
    """

    def __init__(
        self,
        queue: asyncio.Queue[Any],
        writer: transcript.Writer,
        role: str,
        peer: str,
        *,
        keeps: bool = False,
    ) -> None:
        self.heard = False
        self.exchanged: list[Event] = []
        """All events, secrets included, if it `keeps` them, for whoever needs more than the record."""
        self._keeps = keeps
        self.gave_up = False
        """Whether the kit waits no longer for what it awaited."""
        self._queue = queue
        self._writer = writer
        self._role, self._peer = role, peer
        self._began = time.monotonic()
        self._open: dict[str, _Cable] = {}
        self._readers: list[asyncio.Task[None]] = []
        self.strain = Strain()
        self._asked: float | None = None
        """When the kit began to wait for the first answer; None when it has come."""
        self._noticed = (-1.0, -1.0)
        """The last deadline that passed, and until when the kit looked at the wire once more."""
        self._seq = 0
        self._messages = self._bytes = 0

    def now(self) -> Now:
        """The clocks, read once for each event."""
        wall = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return Now(time.monotonic() - self._began, wall)

    @property
    def opened(self) -> bool:
        """Whether there ever was a connection."""
        return bool(self._open)

    @property
    def too_much(self) -> str:
        """How the implementation sent more than the kit reads; empty while it did not."""
        if self._messages <= MESSAGES and self._bytes <= VOLUME:
            return ""
        return (
            f"the implementation sent {self._messages} messages of {self._bytes} bytes, "
            "more than the kit reads in one scenario"
        )

    async def open(self, name: str, transport: Transport) -> Event:
        """Open a connection by this name; raises TargetUnavailable."""
        return self.adopt(name, await transport.open())

    def reach(self, name: str, transport: Transport, credential: str = "") -> None:
        """Open a further connection, which may take its time, while the others go on; a Reached arrives."""
        self._readers.append(asyncio.create_task(self._reach(name, transport, credential)))

    async def _reach(self, name: str, transport: Transport, credential: str) -> None:
        got: Connection | Exception
        try:
            got = await transport.open(credential)
        except Exception as error:
            got = error
        await self._queue.put(Reached(name, got))

    def adopt(self, name: str, connection: Connection) -> Event:
        """Go on with an open connection by this name."""
        if not self._readers:
            self._asked = self.now().monotonic
            self.strain.set(self._asked + TICK)
            self._readers.append(asyncio.create_task(self._watch()))
        cable = self._open[name] = _Cable(name, connection, connection.framing())
        self._readers.append(asyncio.create_task(self._read(cable)))
        return self._written(Opened(self._number(), name, self._time(), connection.place()))

    async def send(self, name: str, data: bytes, *, raw: bool) -> Event | None:
        """Send one message, or raw bytes; None where the connection broke, whose end then arrives."""
        cable = self._open[name]
        try:
            await (cable.connection.send_raw(data) if raw else cable.connection.send(data))
        except ConnectionLost as error:
            cable.lost = str(error)
            cable.gave_up = cable.ended_by_kit = cable.ended_by_kit or isinstance(error, InputUnread)
            await cable.connection.finish(GRACE)
            return None
        if self._asked is not None and not self._messages:
            self._asked = self.now().monotonic
        return self._written(self._event(cable, read_message(data), self._peer))

    async def finish(self, name: str, seconds: float) -> None:
        """Say goodbye on a connection; its end arrives within about `seconds`."""
        self._open[name].ended_by_kit = True
        await self._open[name].connection.finish(seconds)

    async def drop(self, name: str) -> None:
        """Cut a connection; its end arrives."""
        self._open[name].ended_by_kit = True
        await self._open[name].connection.drop()

    def events(self, arrival: Arrival) -> Iterator[Event]:
        """The events of an arrival, each on record when it is taken; raises what the cable could not do."""
        cable, got = self._open[arrival.connection], arrival.got
        if isinstance(got, ConformanceError):
            raise got
        if isinstance(got, Ended):
            yield from (self._received(cable, reading, arrival) for reading in cable.framing.end())
            cable.closed = True
            yield self._written(self._late(self._closed(cable, got), arrival))
            return
        self._bytes += len(got.data)
        if got.binary:
            yield self._binary(cable, got.data, arrival)
            return
        yield from (self._received(cable, reading, arrival) for reading in cable.framing.feed(got.data))

    async def arrival(self, due: float | None, since: float, *, look: bool = True) -> Any:
        """What is next in the queue, or None if it does not come by `due`, for which the kit waits `since`.

        A kit that was busy when the deadline came looks at the wire once more, for as long as it could
        not before, and blames nobody; but only once, since other messages must not put a deadline off. It
        need not `look` where nothing has to come, and only something of its own is due.
        """
        if due is None:
            return await self._queue.get()
        pause = due - self.now().monotonic
        if pause > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    return await self._queue.get()
        if self._noticed[0] != due:
            now = self.now().monotonic
            until = max(now + LOOK, due + self.strain.late_since(since, now))
            self._noticed = (due, until if look else now)
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, self._until(due) - self.now().monotonic)):
                return await self._queue.get()
        return None

    def is_late(self, arrival: Any, due: float) -> bool:
        """Whether it came too late, for what had to come by `due`, and not only was noticed too late."""
        return isinstance(arrival, Arrival) and arrival.at - arrival.lag > self._until(due)

    def _until(self, due: float) -> float:
        """Until when what arrives counts as in time."""
        return self._noticed[1] if self._noticed[0] == due else due

    async def say_goodbye(self, seconds: float) -> None:
        """Close what is open and write down what still comes; the transport bounds how long that takes."""
        for name, cable in self._open.items():
            if not cable.closed and not cable.ended_by_kit:
                await self.finish(name, seconds)
        while not all(cable.closed for cable in self._open.values()) and not self.too_much:
            arrival = await self._queue.get()
            if isinstance(arrival, Arrival):
                deque(self.events(arrival), maxlen=0)

    async def close(self) -> None:
        """Read no more."""
        for reader in self._readers:
            reader.cancel()
            with suppress(asyncio.CancelledError):
                await reader

    async def _read(self, cable: _Cable) -> None:
        got: Incoming | Ended | ConformanceError | None = None
        held = 0.0
        while not isinstance(got, Ended | ConformanceError):
            try:
                got = await cable.connection.receive()
            except ConformanceError as error:
                got = error
            at = self.now().monotonic
            await self._queue.put(Arrival(cable.name, got, at, self.strain.lag(at) + held))
            held = self.now().monotonic - at  # so long the next one may have waited here
            held = held if held > SLACK else 0.0

    async def _watch(self) -> None:
        """See how late a timer of the kit's own fires."""
        while True:
            await asyncio.sleep(TICK)
            self.strain.fired(self.now().monotonic)
            self.strain.set(self.now().monotonic + TICK)

    def _received(self, cable: _Cable, reading: Reading, arrival: Arrival) -> Event:
        self.heard = True
        self._messages += 1
        if self._asked is not None:
            self.strain.answered(arrival.at - arrival.lag - self._asked)
            self._asked = None
        return self._written(self._late(self._event(cable, reading, self._role), arrival))

    def _late(self, event: Event, arrival: Arrival) -> Event:
        """The event with how long before it was taken it may have been there."""
        lag = self._time() - arrival.at + arrival.lag
        if lag <= SLACK or isinstance(event, (Opened, Sent)):
            return event
        return event._replace(lag=round(lag, 3))

    def _event(self, cable: _Cable, reading: Reading, party: str) -> Event:
        return transcript.event_of(
            reading._replace(line=1),
            self._number(),
            party,
            sent=party == self._peer,
            connection=cable.name,
            time=self._time(),
        )

    def _binary(self, cable: _Cable, data: bytes, arrival: Arrival) -> Event:
        self.heard = True
        self._messages += 1
        fault = Fault("WIRE-NOISE", "a binary message where messages are texts")
        event = Malformed(self._number(), self._role, data[:NOISE], fault, cable.name, self._time())
        return self._written(self._late(event, arrival))

    def _closed(self, cable: _Cable, ended: Ended) -> Closed:
        by = self._peer if cable.ended_by_kit else self._role
        told = dict.fromkeys(filter(None, (cable.lost, ended.detail)))  # often the same
        detail = "; ".join(told)
        # What one had still to say, which the kit did not wait for and which could not come, nobody knows.
        forced = cable.ended_by_kit and (ended.cut_off or not ended.clean)
        final = not (forced and (self.gave_up or cable.gave_up))
        return Closed(self._number(), cable.name, self._time(), by, ended.clean, detail, final)

    def _written(self, event: Event) -> Event:
        event = event._replace(late=round(self.strain.total(self._time()), 3))
        self._writer.append(event)
        if self._keeps:
            self.exchanged.append(event)
        return event

    def _number(self) -> int:
        self._seq += 1
        return self._seq

    def _time(self) -> float:
        return round(time.monotonic() - self._began, 6)


@dataclass(slots=True)
class _Cable:
    """A connection with what cuts its bytes into messages."""

    name: str
    connection: Connection
    framing: Framing
    ended_by_kit: bool = False
    closed: bool = False
    gave_up: bool = False
    lost: str = ""
