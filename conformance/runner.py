"""The only place that awaits: it carries out a driver's actions and writes down what happened.

Each scenario has its own transport, connections and transcript. A transcript line is on disk before
the driver sees the event; nothing is judged here. However a scenario ends, what it started is ended.
"""

from __future__ import annotations

import asyncio
import secrets
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from conformance import KIT, interruption, statements, transcript
from conformance.actions import Action, Aside, Connect, Cut, Done, Finish, Outcome, Transmit
from conformance.announcing import Said
from conformance.attending import Attendance
from conformance.cables import Arrival, Cables, Reached
from conformance.driver import Driver
from conformance.errors import ConformanceError, TargetUnavailable
from conformance.events import JSON, Event
from conformance.filing import Filing
from conformance.findings import Finding
from conformance.operating import Attended
from conformance.packs import Pack
from conformance.scenarios import Scenario, Step
from conformance.transports import Options, Transport, make_transport
from conformance.transports.access import Access
from conformance.turns import Turn

INTERRUPTED = "the run was interrupted"

GOODBYE = 2.0
"""How long an implementation may take to end after the kit has said goodbye, in seconds."""

QUEUE = 64
"""So much may wait to be taken before the readers wait too."""


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
    said: tuple[Said, ...] = ()
    """What the kit's steps sent, and what it was to break."""
    late: float = 0.0
    """How late the kit itself was with anything, at worst, in seconds."""
    missed: float = 0.0
    """The same with what a step's finding may be due to: heartbeats, or anything where it depends on time."""
    attempt: int = 1
    """Which of the scenario's runs it was, from 1."""
    stretched: float = 1.0
    """How many times as patient as usual the kit was, since the machine was slow."""
    names: Mapping[str, JSON] = field(default_factory=dict)
    """The values that steps gave names."""

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
    access: Access = field(default_factory=Access)
    credentials: Mapping[str, Access] = field(default_factory=dict)
    """Other means of access, by name, for connections that are opened as somebody else."""
    more: tuple[str, ...] = ()
    """Where the same implementation runs too."""
    turn: Turn = field(default_factory=Turn)
    """What the scenario has of the implementation for itself alone."""
    key: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    """The key of the pseudonyms that replace credentials in this run's transcripts."""
    through: Callable[[Transport], Transport] = lambda transport: transport
    """What a scenario's transport is led through, such as a tap, or a proxy that changes what it carries."""


class Interrupted(KeyboardInterrupt):
    """A scenario was interrupted; `result` is what came of it so far."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.reason)
        self.result = result


def ended_early(result: Result) -> bool:
    """Whether going on after this result is useless: nobody is there, nobody speaks, or the kit failed."""
    mute = result.status == "inconclusive" and not result.heard
    return mute or result.status in ("unreachable", "error")


def run_one(plan: Plan, scenario: Scenario, attempt: int = 1) -> Result:
    """Run one scenario to its end. Errors of the kit become a result of status `error`.

    Raises Interrupted on SIGINT, when everything that was started is ended.
    """
    result, came = interruption.run(lambda: result_of(plan, scenario, attempt))
    if came or result.status == "interrupted":
        raise Interrupted(result)
    return result


async def result_of(plan: Plan, scenario: Scenario, attempt: int = 1) -> Result:
    """The same within a loop; to be cancelled ends the scenario, with a result of status `interrupted`."""
    unmet = statements.unmet(plan.ics, scenario, plan.credentials)
    return Result(scenario, "not-applicable", unmet) if unmet else await _guarded(plan, scenario, attempt)


def interrupted(scenario: Scenario, attempt: int = 1) -> Result:
    """The result of a scenario of which nothing more is known than that it was interrupted."""
    name = Filing(Path(), scenario.name, attempt).transcript
    return Result(scenario, "interrupted", INTERRUPTED, transcript=name, attempt=attempt)


async def _guarded(plan: Plan, scenario: Scenario, attempt: int) -> Result:
    session = Session(plan, scenario, attempt)
    began = time.monotonic()
    try:
        outcome = await _outcome(session)
    finally:
        await session.close()
    outcome = session.unrestored or outcome
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        outcome = Outcome("interrupted", INTERRUPTED)
    return session.result(outcome, round(time.monotonic() - began, 3))


async def _outcome(session: Session) -> Outcome:
    """What became of the scenario; only a second interruption is raised."""
    try:
        return await session.run()
    except asyncio.CancelledError:
        return Outcome("interrupted", INTERRUPTED)
    except TargetUnavailable as error:
        return Outcome("unreachable", str(error))
    except ConformanceError as error:
        return Outcome("error", str(error))
    except Exception as error:  # a fault of the kit must never look like one of the implementation
        return Outcome("error", f"the kit failed: {type(error).__name__}: {error}")


class Session:
    """One scenario against one transport: the loop between a driver and its connections."""

    def __init__(
        self, plan: Plan, scenario: Scenario, attempt: int = 1, *, interactive: bool = False
    ) -> None:
        self._plan = plan
        self._scenario = scenario
        self._attempt = attempt
        self._files = Filing(plan.out, scenario.name, attempt)
        self.driver = Driver(
            scenario,
            plan.pack,
            plan.ics,
            lambda: str(uuid.uuid4()),
            patience=plan.patience,
            interactive=interactive,
        )
        self._asked: _Asked | None = None
        self._broken: Exception | None = None
        self._transport: Transport | None = None
        self._attendance: Attendance | None = None
        self.unrestored: Outcome | None = None
        """That something of the implementation could not be put back to what it was, if so."""
        self._queue: asyncio.Queue[_Taken] = asyncio.Queue(maxsize=QUEUE)
        self._file = self._files.begin()
        header = {
            "kit": KIT,
            "protocol": plan.pack.protocol,
            "revision": plan.pack.revision,
            "scenario": scenario.name,
            "role": plan.role,
            "began": datetime.now(UTC).isoformat(timespec="milliseconds"),
        }
        writer = transcript.Writer(self._file, header, transcript.Redaction(plan.pack.secrets, plan.key))
        keeps = any(step.verb == "read" for step in scenario.steps)
        self._cables = Cables(self._queue, writer, plan.role, scenario.role, keeps=keeps)

    async def run(self) -> Outcome:
        """Drive the scenario to its end and say goodbye; the outcome is the driver's."""
        done = await self.begin()
        while not done:
            done = await self._next()
        await self._say_goodbye()
        return self.driver.outcome or Outcome("passed")

    async def _say_goodbye(self) -> None:
        # A scenario that did not come to its own end leaves open what may still have been to come.
        self._cables.gave_up = self.driver.outcome is not None or self.driver.courtesy.is_awaiting
        await self._cables.say_goodbye(self._goodbye)

    @property
    def _goodbye(self) -> float:
        return GOODBYE * self._plan.patience * self._cables.strain.stretch

    async def begin(self) -> bool:
        """Make the transport and do what the driver wants first; True when the scenario is over."""
        options = Options(
            stderr=self._files.stderr,
            patience=self._plan.patience,
            subprotocols=tuple(self._plan.pack.meta.get("subprotocols", ())),
            scenario=self._scenario.name,
            access=self._plan.access,
            credentials=self._plan.credentials,
        )
        transport = self._transport = self._plan.through(make_transport(self._plan.target, options))
        around = (self._queue, options, self.driver, self._cables.exchanged)
        self._attendance = Attendance(*around, transport, self._plan.target, self._plan.turn)
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
        await self._queue.put(asked)
        return await asked.answer

    def result(self, outcome: Outcome, seconds: float) -> Result:
        """What the session leaves behind."""
        missed, worst = self.driver.courtesy.late, self._cables.strain.worst
        return Result(
            self._scenario,
            outcome.status,
            outcome.reason,
            outcome.line,
            seconds,
            self._files.transcript,
            self._files.stderr_name,
            tuple(self.driver.findings),
            self._cables.heard,
            tuple(self.driver.announcements.said),
            max(missed, worst),
            max(missed, worst) if outcome.timed else missed,
            attempt=self._attempt,
            stretched=round(self._cables.strain.stretch, 2),
            names=self.driver.names,
        )

    async def leave(self) -> Outcome:
        """Take leave of an interactive session and end everything; what became of the scenario."""
        try:
            if self._broken is None:
                await self.perform(None)
                await self._say_goodbye()
        finally:
            await self.close()
        return self.unrestored or self.driver.outcome or Outcome("passed")

    async def _next(self) -> bool:
        """Wait for the next thing to happen, or for a deadline; True when the scenario is over."""
        self.driver.stretch(self._cables.strain.stretch)
        due = self.driver.deadline()
        since = 0.0 if due is None else self.driver.since(due)
        arrival = await self._cables.arrival(due, since, look=self.driver.is_patience(due))
        done = False
        if due is not None and (arrival is None or self._cables.is_late(arrival, due)):
            self.driver.stretch(self._cables.strain.stretch)  # it may have become slow meanwhile
            now = self._cables.now()
            hindered = self._cables.strain.late_since(since, now.monotonic)
            done = await self._carry_out(self.driver.wake(now, hindered))
        return done if arrival is None else await self._take(arrival) or done

    async def _take(self, arrival: _Taken) -> bool:
        if isinstance(arrival, Reached):
            return await self._carry_out(self._reached(arrival))
        if isinstance(arrival, Attended):
            now = self._cables.now()
            return await self._carry_out(self.driver.done(now, arrival.found, arrival.outcome))
        if isinstance(arrival, _Asked):
            self._asked = arrival
            now = self._cables.now()
            step = arrival.step
            return await self._carry_out(self.driver.add(step, now) if step else self.driver.leave(now))
        done = False
        for event in self._cables.events(arrival):
            done = await self._carry_out(self._drive(event)) or done
        if self._cables.too_much:
            await self._cables.drop(arrival.connection)
            return await self._carry_out(self.driver.stop(self._cables.too_much, self._cables.now()))
        return done

    def _drive(self, event: Event | None) -> list[Action]:
        return [] if event is None else self.driver.event(event, self._cables.now())

    async def _carry_out(self, actions: list[Action]) -> bool:
        done = False
        for action in actions:
            done = await self._act(action) or done
        return done

    async def _act(self, action: Action) -> bool:
        if isinstance(action, Done):
            return True
        if isinstance(action, Connect):
            return await self._connect(action)
        if isinstance(action, Transmit):
            sent = await self._cables.send(action.connection, action.data, raw=action.raw)
            return await self._carry_out(self._drive(sent))
        if isinstance(action, Finish):
            await self._cables.finish(action.connection, self._goodbye)
        elif isinstance(action, Aside):
            assert self._attendance is not None
            self._attendance.begin(action)
        elif isinstance(action, Cut):
            await self._cables.drop(action.connection)
        return False

    async def _connect(self, action: Connect) -> bool:
        assert self._transport is not None
        name = action.connection
        if self._cables.opened:
            self._cables.reach(name, self._transport, action.credential)
            return False
        return await self._carry_out(self._drive(await self._cables.open(name, self._transport)))

    def _reached(self, reached: Reached) -> list[Action]:
        if isinstance(reached.got, TargetUnavailable):
            return self.driver.stop(str(reached.got), self._cables.now())
        if isinstance(reached.got, Exception):
            raise reached.got
        return self._drive(self._cables.adopt(reached.connection, reached.got))

    async def close(self) -> None:
        """End everything that was started; safe to call at any time."""
        try:
            await self._cables.close()
            wrong = await self._attendance.end() if self._attendance is not None else ""
            self.unrestored = Outcome("error", wrong) if wrong else None
        finally:
            try:
                if self._transport is not None:
                    await self._transport.shutdown()
            finally:
                self._file.close()
                self._files.end()


@dataclass(slots=True)
class _Asked:
    """A step that a test asked for, and where its answer is awaited."""

    step: Step | None
    answer: asyncio.Future[Any]


_Taken: TypeAlias = Arrival | Reached | Attended | _Asked
