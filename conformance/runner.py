"""The only place that awaits: it carries out a driver's actions and writes down what happened.

Each scenario has its own transport, connections and transcript. A transcript line is on disk before
the driver sees the event; nothing is judged here. However a scenario ends, what it started is ended.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from conformance import __version__, transcript
from conformance.actions import Action, Connect, Cut, Done, Finish, Outcome, Transmit
from conformance.bindings import Now, difference
from conformance.driver import Driver
from conformance.errors import ConformanceError, ConnectionLost, TargetUnavailable
from conformance.events import Closed, Event, Fault, Malformed, Opened
from conformance.findings import Finding
from conformance.framing import LineStream, Reading, read_message
from conformance.packs import Pack
from conformance.scenarios import Scenario, Step
from conformance.transports import Connection, Ended, Incoming, Options, Transport, make_transport

MESSAGES = 20_000
"""An implementation that sends more messages than this in one scenario is cut off."""

VOLUME = 128 * 1024 * 1024
"""The same for bytes."""

GOODBYE = 2.0
"""How long an implementation may take to end after the kit has said goodbye, in seconds."""


@dataclass(frozen=True, slots=True)
class Result:
    """How one scenario went. `findings` are those of its steps; everything else is in its transcript.

    `status` is `passed`, `failed`, `inconclusive`, `not-applicable`, `interrupted`, `unreachable` or
    `error` (of the kit). `heard` says whether the implementation said anything at all.
    """

    scenario: Scenario
    status: str
    reason: str = ""
    line: int = 0
    seconds: float = 0.0
    transcript: str = ""
    stderr: str = ""
    findings: tuple[Finding, ...] = ()
    heard: bool = False

    def instead_of(self, scenario: Scenario) -> Result:
        """The result of a scenario that was not run, because this one showed that it is useless."""
        reason = f"not run, since in scenario {self.scenario.name}: {self.reason}"
        return Result(scenario, self.status, reason)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run needs to know: the pack, the implementation's role, where it is, what it says of itself."""

    pack: Pack
    role: str
    target: str
    ics: dict[str, Any]
    out: Path
    patience: float = 1.0
    cwd: Path | None = None
    key: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    """The key of the pseudonyms that replace credentials in this run's transcripts."""


Watcher = Callable[[Scenario, Result | None], None]


def run_all(plan: Plan, scenarios: list[Scenario], results: list[Result], watch: Watcher) -> None:
    """Run scenarios one after another, appending to `results`; stop where going on is useless.

    `watch` is told of each scenario before (with None) and after. Raises KeyboardInterrupt when
    interrupted, with the interrupted scenario's result appended.
    """
    for scenario in scenarios:
        watch(scenario, None)
        try:
            result = run_one(plan, scenario)
        except KeyboardInterrupt:
            results.append(
                Result(scenario, "interrupted", "the run was interrupted", transcript=_name(scenario))
            )
            raise
        results.append(result)
        watch(scenario, result)
        if ended_early(result):
            return


def ended_early(result: Result) -> bool:
    """Whether going on after this result is useless: nobody is there, nobody speaks, or the kit failed."""
    mute = result.status == "inconclusive" and not result.heard
    return mute or result.status in ("unreachable", "error")


def run_one(plan: Plan, scenario: Scenario) -> Result:
    """Run one scenario to its end. Errors of the kit become a result of status `error`."""
    return not_applicable(plan, scenario) or asyncio.run(_guarded(plan, scenario))


def not_applicable(plan: Plan, scenario: Scenario) -> Result | None:
    """The result of a scenario whose needs the ICS does not meet; None where it meets them."""
    unmet = difference(dict(scenario.needs), plan.ics)
    return (
        Result(scenario, "not-applicable", f"the ICS does not say what this needs: {unmet}")
        if unmet
        else None
    )


async def _guarded(plan: Plan, scenario: Scenario) -> Result:
    session = Session(plan, scenario)
    began = time.monotonic()
    try:
        outcome = await session.run()
    except TargetUnavailable as error:
        outcome = Outcome("unreachable", str(error))
    except ConformanceError as error:
        outcome = Outcome("error", str(error))
    except Exception as error:  # a fault of the kit must never look like one of the implementation
        outcome = Outcome("error", f"the kit failed: {type(error).__name__}: {error}")
    finally:
        await session.close()
    return session.result(outcome, round(time.monotonic() - began, 3))


def _name(scenario: Scenario) -> str:
    return f"transcripts/{scenario.name}.jsonl"


class Session:
    """One scenario against one transport: the loop between a driver and its connections."""

    def __init__(self, plan: Plan, scenario: Scenario, *, interactive: bool = False) -> None:
        self._plan = plan
        self._scenario = scenario
        self.driver = Driver(
            scenario,
            plan.pack,
            plan.ics,
            lambda: secrets.token_hex(8),
            patience=plan.patience,
            interactive=interactive,
        )
        self._asked: _Asked | None = None
        self._broken: Exception | None = None
        self._began = time.monotonic()
        self._transport: Transport | None = None
        self._cables: dict[str, _Cable] = {}
        self._arrived: asyncio.Queue[tuple[str, Incoming | Ended | _Asked]] = asyncio.Queue(maxsize=64)
        self._seq = 0
        self._messages = self._bytes = 0
        self.heard = False
        self._file = self._open_file()
        header = {
            "kit": {"name": "agent-conformance-kit", "version": __version__},
            "protocol": plan.pack.protocol,
            "revision": plan.pack.revision,
            "scenario": scenario.name,
            "role": plan.role,
            "began": datetime.now(UTC).isoformat(timespec="milliseconds"),
        }
        redaction = transcript.Redaction(plan.pack.secrets, plan.key)
        self._writer = transcript.Writer(self._file, header, redaction)

    @property
    def stderr_name(self) -> str:
        """Where the implementation's standard error went, relative to the report; empty where it said nothing."""
        path = self._stderr_path
        return f"stderr/{path.name}" if path.is_file() and path.stat().st_size else ""

    @property
    def _stderr_path(self) -> Path:
        return self._plan.out / "stderr" / f"{self._scenario.name}.txt"

    def _open_file(self) -> Any:
        for folder in ("transcripts", "stderr"):
            (self._plan.out / folder).mkdir(parents=True, exist_ok=True)
        self._stderr_path.unlink(missing_ok=True)
        path = self._plan.out / _name(self._scenario)
        return path.open("w", encoding="utf-8", newline="\n")

    def now(self) -> Now:
        """The clocks, read once for each event."""
        wall = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return Now(time.monotonic() - self._began, wall)

    async def run(self) -> Outcome:
        """Drive the scenario to its end and say goodbye; the outcome is the driver's."""
        done = await self.begin()
        while not done:
            done = await self._next()
        await self._say_goodbye()
        return self.driver.outcome or Outcome("passed")

    async def begin(self) -> bool:
        """Make the transport and do what the driver wants first; True when the scenario is over."""
        options = Options(
            stderr=self._stderr_path,
            patience=self._plan.patience,
            subprotocols=tuple(self._plan.pack.meta.get("subprotocols", ())),
            cwd=self._plan.cwd,
        )
        self._transport = make_transport(self._plan.target, options)
        return await self._carry_out(self.driver.start())

    async def serve(self) -> None:
        """Keep an interactive session going until it leaves: steps arrive as everything else does."""
        try:
            while not (await self._next() and self._is_over()):
                pass
        except Exception as error:
            self._broken = error
            if self._asked is not None and not self._asked.answer.done():
                self._asked.answer.set_exception(error)

    def _is_over(self) -> bool:
        """The driver has nothing to do: tell whoever asked for the last step."""
        asked = self._asked
        if asked is not None and not asked.answer.done():
            asked.answer.set_result(self.driver.met)
        return asked is not None and asked.step is None

    async def perform(self, step: Step | None) -> Any:
        """Have an interactive session take one step; the message that met it, or None.

        None in place of a step is the farewell, after which `serve` returns.
        """
        if self._broken is not None:
            raise self._broken
        asked = _Asked(step, asyncio.get_running_loop().create_future())
        await self._arrived.put(("", asked))
        return await asked.answer

    def result(self, outcome: Outcome, seconds: float) -> Result:
        """What the session leaves behind."""
        return Result(
            self._scenario,
            outcome.status,
            outcome.reason,
            outcome.line,
            seconds,
            _name(self._scenario),
            self.stderr_name,
            tuple(self.driver.findings),
            self.heard,
        )

    async def leave(self) -> Outcome:
        """Take leave of an interactive session and end everything; what became of the scenario."""
        try:
            if self._broken is None:
                await self.perform(None)
                await self._say_goodbye()
        finally:
            await self.close()
        return self.driver.outcome or Outcome("passed")

    async def _next(self) -> bool:
        """Wait for the next thing to happen, or for a deadline; True when the scenario is over."""
        due = self.driver.deadline()
        pause = None if due is None else max(0.0, due - self.now().monotonic)
        try:
            name, got = await asyncio.wait_for(self._arrived.get(), pause)
        except TimeoutError:
            return await self._carry_out(self.driver.wake(self.now()))
        return await self._take(name, got)

    async def _take(self, name: str, got: Incoming | Ended | _Asked) -> bool:
        if isinstance(got, _Asked):
            self._asked = got
            now = self.now()
            return await self._carry_out(
                self.driver.add(got.step, now) if got.step else self.driver.leave(now)
            )
        done = False
        for event in self._events(name, got):
            done = await self._carry_out(self._record(event)) or done
        if self._messages > MESSAGES or self._bytes > VOLUME:
            said = f"the implementation sent {self._messages} messages, {self._bytes} bytes; the kit stopped reading"
            await self._cables[name].connection.drop()
            return await self._carry_out(self.driver.stop(said, self.now()))
        return done

    def _record(self, event: Event) -> list[Action]:
        self._writer.append(event)
        return self.driver.event(event, self.now())

    async def _carry_out(self, actions: list[Action]) -> bool:
        done = False
        for action in actions:
            done = await self._act(action) or done
        return done

    async def _act(self, action: Action) -> bool:
        if isinstance(action, Done):
            return True
        if isinstance(action, Connect):
            return await self._connect(action.connection)
        cable = self._cables[action.connection]
        if isinstance(action, Transmit):
            return await self._transmit(cable, action)
        cable.ended_by_kit = True
        if isinstance(action, Finish):
            await cable.connection.finish(GOODBYE * self._plan.patience)
        elif isinstance(action, Cut):
            await cable.connection.drop()
        return False

    async def _connect(self, name: str) -> bool:
        assert self._transport is not None
        cable = _Cable(name, await self._transport.open())
        self._cables[name] = cable
        cable.reader = asyncio.create_task(self._read(cable))
        return await self._carry_out(self._record(Opened(self._number(), name, self._time())))

    async def _read(self, cable: _Cable) -> None:
        got: Incoming | Ended | None = None
        while not isinstance(got, Ended):
            got = await cable.connection.receive()
            await self._arrived.put((cable.name, got))

    async def _transmit(self, cable: _Cable, action: Transmit) -> bool:
        send = cable.connection.send_raw if action.raw else cable.connection.send
        try:
            await send(action.data)
        except ConnectionLost as error:
            cable.lost = str(error)
            await cable.connection.finish(0.0)
            return False
        role = self._scenario.role
        event = transcript.event_of(
            read_message(action.data),
            self._number(),
            role,
            sent=True,
            connection=cable.name,
            time=self._time(),
        )
        return await self._carry_out(self._record(event))

    def _events(self, name: str, got: Incoming | Ended) -> list[Event]:
        cable = self._cables[name]
        if isinstance(got, Ended):
            cable.closed = True
            last = [self._event(cable, reading) for reading in cable.lines.end()]
            return [*last, self._closed(cable, got)]
        self._bytes += len(got.data)
        if got.binary:
            fault = Fault("WIRE-NOISE", "a binary message where messages are texts")
            event = Malformed(self._number(), self._plan.role, got.data[:1000], fault, name, self._time())
            return [event]
        readings = cable.lines.feed(got.data) if cable.connection.stream else [read_message(got.data)]
        return [self._event(cable, reading) for reading in readings]

    def _event(self, cable: _Cable, reading: Reading) -> Event:
        self.heard = True
        self._messages += 1
        return transcript.event_of(
            reading, self._number(), self._plan.role, connection=cable.name, time=self._time(), line=1
        )

    def _closed(self, cable: _Cable, ended: Ended) -> Closed:
        by = self._scenario.role if cable.ended_by_kit else self._plan.role
        detail = f"{cable.lost}; {ended.detail}" if cable.lost else ended.detail
        return Closed(self._number(), cable.name, self._time(), by, ended.clean, detail)

    def _number(self) -> int:
        self._seq += 1
        return self._seq

    def _time(self) -> float:
        return round(time.monotonic() - self._began, 6)

    async def _say_goodbye(self) -> None:
        """Close what is open and write down what still comes; the transport bounds how long that takes."""
        for cable in self._cables.values():
            if not cable.closed and not cable.ended_by_kit:
                cable.ended_by_kit = True
                await cable.connection.finish(GOODBYE * self._plan.patience)
        while any(not cable.closed for cable in self._cables.values()):
            name, got = await self._arrived.get()
            for event in () if isinstance(got, _Asked) else self._events(name, got):
                self._writer.append(event)
            if self._messages > MESSAGES or self._bytes > VOLUME:
                await self._cables[name].connection.drop()
                return

    async def close(self) -> None:
        """End everything that was started; safe to call at any time."""
        for cable in self._cables.values():
            if cable.reader is not None:
                cable.reader.cancel()
                with suppress(asyncio.CancelledError):
                    await cable.reader
        if self._transport is not None:
            await self._transport.shutdown()
        self._file.close()


@dataclass(slots=True)
class _Cable:
    """A connection with what cuts its bytes into messages."""

    name: str
    connection: Connection
    lines: LineStream = field(default_factory=LineStream)
    reader: asyncio.Task[None] | None = None
    ended_by_kit: bool = False
    closed: bool = False
    lost: str = ""


@dataclass(slots=True)
class _Asked:
    """A step that a test asked for, and where its answer is awaited."""

    step: Step | None
    answer: asyncio.Future[Any]
