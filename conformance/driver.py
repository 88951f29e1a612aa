"""The scenario interpreter: an event in, actions out. It has no socket and no clock.

The runner calls `start` once, `event` for everything that happened (what the kit itself sent included),
`wake` when a deadline came, `done` when what a step wanted beside the session is done, and carries out the
actions it is given, in order. How a scenario ends that cannot go on is in docs/scenarios.md.

What arrives is kept for each connection until a step takes it, so a notification that comes before the
answer to a request is there for the `expect` after it. What one step took is there for no other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any

from conformance import protocols
from conformance.actions import Action, Aside, Connect, Cut, Done, Finish, Outcome, Transmit
from conformance.announcing import Announcements
from conformance.bindings import Bindings, Now, Unbound, difference
from conformance.composing import Composer, dump
from conformance.correlation import Correlator, Message
from conformance.courtesy import Courtesy
from conformance.errors import BadScenario
from conformance.events import JSON, Closed, Event, Malformed, Opened, Received, Sent
from conformance.findings import Finding
from conformance.packs import Pack
from conformance.scenarios import Scenario, Step, seconds
from conformance.serving import Service
from conformance.waiting import APART, TIMED, Line, Waiting, allowed, part, undecided, unproved, wanted


@dataclass(slots=True)
class Driver:
    """Interprets one scenario. `fresh` makes ids; `ics` holds what the implementation says of itself."""

    scenario: Scenario
    pack: Pack
    ics: Mapping[str, Any]
    fresh: Callable[[], str]
    findings: list[Finding] = field(default_factory=list)
    outcome: Outcome | None = None
    met: JSON = None  # the message that met the last awaited step
    patience: float = 1.0  # factor for every time that a step allows, but for deadlines of the protocol
    stretched: float = 1.0  # another such factor, for a slow machine; see `stretch`
    interactive: bool = False  # steps are added from outside, so that running out of them is no ending
    names: dict[str, JSON] = field(default_factory=dict)  # and the values that steps gave them
    _bindings: Bindings = field(init=False)
    _composer: Composer = field(init=False)
    _correlator: Correlator = field(init=False)
    _service: Service = field(init=False)
    courtesy: Courtesy = field(init=False)
    announcements: Announcements = field(init=False)
    _steps: deque[Step] = field(init=False)
    _waiting: Waiting | None = None
    _lines: dict[str, Line] = field(default_factory=dict)
    _current: str = "main"
    _actions: list[Action] = field(default_factory=list)
    _heard: bool = False
    _seq: int = 0

    def __post_init__(self) -> None:
        """Make what depends on the scenario and the pack."""
        own = tuple(self.pack.meta.get("fresh", ()))
        self._bindings = Bindings(self.ics, self.fresh, self.names, own=own, code=protocols.value)
        self._composer = Composer(self.pack, self._bindings)
        self._correlator = Correlator(self.pack)
        self._service = Service(self.pack, self._composer, self._bindings)
        self.courtesy = Courtesy(self.pack, self.scenario.role, self._composer, self._service, self.patience)
        self.announcements = Announcements(self.scenario.role)
        self._steps = deque(self.scenario.steps)

    @property
    def party(self) -> str:
        """The role of the implementation."""
        return self.pack.peer_of(self.scenario.role)

    def start(self) -> list[Action]:
        """The first action: a connection."""
        self._lines["main"] = Line()
        return [Connect("main")]

    def deadline(self) -> float | None:
        """When `wake` is due, in seconds of `Now.monotonic`; None where only an event leads on."""
        times = (self._waiting.until if self._waiting else None, self.courtesy.deadline())
        return min((at for at in times if at is not None), default=None)

    def is_patience(self, due: float | None) -> bool:
        """Whether the patience of a step ends then, and not only something of the kit's own is due."""
        return self._waiting is not None and due == self._waiting.until

    def since(self, due: float) -> float:
        """Since when the kit waits for what has to come by `due`; `due` itself where nothing has to."""
        waiting = self._waiting if self._waiting and self._waiting.until == due else None
        return waiting.since(self.patience * self.stretched) if waiting else due

    def event(self, event: Event, now: Now) -> list[Action]:
        """What to do after something happened on the wire."""
        self._seq = event.seq
        self.announcements.see(event)
        if isinstance(event, Opened):
            self._lines[event.connection].is_open = True
            self.courtesy.opened(event.connection)
        elif isinstance(event, Closed):
            self._closed(event)
        elif isinstance(event, Malformed):
            self._heard = self._heard or event.party == self.party
        else:
            self._message(event, now)
        self._go_on(now)
        return self._flush(now)

    def wake(self, now: Now, hindered: float = 0.0) -> list[Action]:
        """What to do when the deadline came, during which the kit could not act for `hindered` seconds."""
        self._actions += self.courtesy.wake(now)
        if self._waiting is not None and self._waiting.until <= now.monotonic:
            self._expired(self._waiting, hindered)
            self._go_on(now)
        return self._flush(now)

    def stretch(self, factor: float) -> None:
        """Wait `factor` times as long as on a quiet machine, for what is awaited already too."""
        if self._waiting is not None:
            self._waiting.stretch(self.patience * (factor - self.stretched))
        self.stretched, self.courtesy.patience = factor, self.patience * factor

    def done(self, now: Now, found: Sequence[Finding] = (), outcome: Outcome | None = None) -> list[Action]:
        """Go on, or end, after what the step that waits asked for was done beside the session."""
        self.findings += found
        if outcome is not None and self.outcome is None:
            self._end(outcome.status, outcome.reason, self._waiting.step if self._waiting else None)
        self._waiting = None
        self._go_on(now)
        return self._flush(now)

    def add(self, step: Step, now: Now) -> list[Action]:
        """Take one more step, unless the scenario has ended."""
        self.met = None
        if self.outcome is None:
            self._steps.append(step)
        self._go_on(now)
        return self._flush(now)

    def leave(self, now: Now) -> list[Action]:
        """End a session whose steps came from outside: with its farewell."""
        self.interactive = False
        return self._flush(now)

    def stop(self, reason: str, now: Now) -> list[Action]:
        """End the scenario because the kit cannot go on; nothing is said against the implementation."""
        return self.done(now, outcome=Outcome("inconclusive", reason))

    # ── events ────────────────────────────────────────────────────────────────────────────────────

    def _message(self, event: Sent | Received, now: Now) -> None:
        message = self._correlator.message(event)
        if self._waiting is not None and self._waiting.is_request(message):
            self._waiting.sent = True
        if self._waiting is None or not self._waiting.replies_to(message):
            self._actions += self.courtesy.see(message, now)
        if event.party == self.party:
            self._heard = True
            if not self.courtesy.is_own_affair(message):
                self._lines[event.connection].inbox.append(message)

    def _closed(self, event: Closed) -> None:
        how = event.detail or "the connection was closed"
        self._lines[event.connection].end(how, by_kit=event.by == self.scenario.role)
        self.courtesy.closed(event.connection)

    # ── steps ─────────────────────────────────────────────────────────────────────────────────────

    def _go_on(self, now: Now) -> None:
        """Take steps until one has to wait, or all are done."""
        while self.outcome is None and (self._waiting is not None or self._steps):
            if self._waiting is None:
                step = self._steps.popleft()
                self._try(step, partial(_STEPS[step.verb], self, step, now))
            elif not self._is_settled(self._waiting, now):
                return

    def _try(self, step: Step, what: Callable[[], None]) -> None:
        try:
            what()
        except Unbound as unbound:
            self._end("not-applicable", self._bindings.unsaid(unbound.args[0]), step)

    def _time(self, step: Step) -> float:
        return allowed(step, self.patience * self.stretched)

    def _line(self, step: Step) -> tuple[str, Line]:
        name = step.args.get("over", self._current)
        if name not in self._lines:
            raise BadScenario(f"there is no connection {name!r}; there is {', '.join(self._lines)}")
        return name, self._lines[name]

    def _wait_for(self, step: Step, until: float, **details: Any) -> None:
        self._waiting = Waiting(step, self._line(step)[0], until, **details)

    def _send(self, step: Step, now: Now) -> None:
        self._transmit(step, dump(self._composer.of_step(step, now)))

    def _raw(self, step: Step, now: Now) -> None:
        self._transmit(step, *self._composer.raw(step.args["raw"], now))

    def _transmit(self, step: Step, data: bytes, raw: bool = False) -> None:
        name, line = self._line(step)
        if line.is_open:
            self._actions.append(Transmit(name, data, raw, step))
        else:
            said = f"{line.ended} before {step.verb} could send"
            self._contradicted(step, None, said) if "otherwise" in step.args else self._stalled(step, said)

    def _request(self, step: Step, now: Now) -> None:
        value = self._composer.of_step(step, now)
        if "id" not in value:
            raise BadScenario(f"{step.args['request']} is no request, so nothing answers it")
        result = part(step)
        match = {result: self._bindings.fill(step.args[result], now)} if result in step.args else {}
        self._transmit(step, dump(value))
        if self.outcome is None:
            until, seen = now.monotonic + self._time(step), len(self._line(step)[1].inbox)
            self._wait_for(step, until, seen=seen, match=match, asked=value["id"], sent=False)

    def _expect(self, step: Step, now: Now) -> None:
        match = self._bindings.fill(step.args.get("match", {"$is": True}), now)
        instead = self._bindings.fill(step.args.get("instead", {}), now)
        seen = len(self._line(step)[1].inbox) if step.verb == "reply" else 0  # earlier ones are answered
        self._wait_for(step, now.monotonic + self._time(step), seen=seen, match=match, instead=instead)

    def _answer(self, step: Step, message: Message, now: Now) -> None:
        """Answer as the step says, and where it does not say, as the pack does."""
        value = self._composer.reply(step, message, now)
        if value is not None:
            self._transmit(step, dump(value))
        self._actions += self._service.answer(message, now) if value is None else []

    def _never(self, step: Step, now: Now) -> None:
        match = self._bindings.fill(step.args.get("match", {"$is": True}), now)
        seen = len(self._line(step)[1].inbox)
        self._wait_for(step, now.monotonic + seconds(step.args["for"]), seen=seen, match=match)

    def _wait(self, step: Step, now: Now) -> None:
        self.courtesy.silent = step.verb == "silence"
        self.announcements.keep_back(step)
        until, seen = self._bindings.fill(step.args.get("until", {}), now), len(self._line(step)[1].inbox)
        lasting = seconds(self._bindings.fill(step.args[step.verb], now))
        self._wait_for(step, now.monotonic + lasting, seen=seen, instead=until)

    def _given(self, step: Step, now: Now) -> None:
        schema = {"$is": self._bindings.fill(step.args["is"], now)}
        if difference(schema, self._bindings.fill(step.args["given"], now)):
            self._end("not-applicable", self._bindings.fill(step.args["because"], now), step)

    def _set(self, step: Step, now: Now) -> None:
        for name, value in step.args["set"].items():
            self._bindings.names[name] = self._bindings.fill(value, now)

    def _connect(self, step: Step, now: Now) -> None:
        name = step.args["connect"]
        if name in self._lines and self._lines[name].ended is None:
            self._end("inconclusive", f"the connection {name} is still open", step)
            return
        self._current, self._lines[name] = name, Line()
        self._actions.append(Connect(name, step.args.get("credential", "")))
        self._waiting = Waiting(step, name, inf)  # how long that may take is for the transport to say

    def _close(self, step: Step, now: Now) -> None:
        name = step.args[step.verb]
        self._waiting = Waiting(step, name, now.monotonic + self._time(step))
        if self._lines[name].is_open and step.verb != "ends":
            self._actions.append(Finish(name) if step.verb == "close" else Cut(name))

    def _aside(self, step: Step, now: Now) -> None:
        self._actions.append(Aside(step, self._bindings.fill(dict(step.args), now)))
        self._waiting = Waiting(step, self._current, inf)  # the runner bounds it

    # ── waiting ───────────────────────────────────────────────────────────────────────────────────

    def _is_settled(self, waiting: Waiting, now: Now) -> bool:
        """Look at what has arrived since; whether the step has nothing more to wait for."""
        step, line = waiting.step, self._lines[waiting.connection]
        while self._waiting is waiting and waiting.seen < len(line.inbox):
            message = line.inbox[waiting.seen]
            waiting.seen += 1
            self._look(waiting, message, line.inbox, now)
        if self._waiting is not waiting:
            return True
        if step.verb == "connect" and line.is_open:
            self._waiting = None
        elif line.ended is not None and step.verb == "ends":
            self._settle(step, self._seq)
        elif line.ended is not None and step.verb not in APART:
            self._cut_off(waiting, line)
        return self._waiting is None

    def _look(self, waiting: Waiting, message: Message, inbox: list[Message], now: Now) -> None:
        is_it = waiting.is_for(message)
        if is_it:  # a request takes its answer, an `expect` also what came before
            del inbox[waiting.seen - 1 if waiting.step.verb == "request" else 0 : waiting.seen]
        said = waiting.against(message, self.pack.secrets)
        if said:
            self._contradicted(waiting.step, message, said)
        elif is_it or waiting.is_over(message):
            self._met(waiting.step, message)
            if waiting.step.verb == "reply":
                self._try(waiting.step, lambda: self._answer(waiting.step, message, now))

    def _met(self, step: Step, message: Message) -> None:
        self._bindings.save(step.args.get("save", {}), message.value, message.name)
        self.met = message.value
        self._settle(step, message.seq)

    def _settle(self, step: Step, seq: int) -> None:
        """The step is done, and what it proves is proved."""
        self._waiting, self.courtesy.silent = None, False
        self.findings += [Finding(name, True, self.party, seq) for name in step.proves]

    def _expired(self, waiting: Waiting, hindered: float) -> None:
        step = waiting.step
        if step.verb in TIMED:
            self._settle(step, self._seq)
        elif step.verb in ("expect", "reply") and "otherwise" in step.args and self._heard:
            self._end("not-applicable", step.args.get("because", f"no {wanted(step)} came"), step)
        elif "deadline" in step.args and self._heard and hindered <= step.patience / 2:
            self._contradicted(step, None, f"{wanted(step)} did not come within {step.args['deadline']}")
        else:
            self._stalled(step, undecided(step, self.patience, hindered, self._heard))

    def _cut_off(self, waiting: Waiting, line: Line) -> None:
        """The connection ended while the step waited."""
        step, ended = waiting.step, line.ended or ""
        if step.verb in ("close", "drop", "silence") or (step.verb == "never" and not step.proves):
            self._waiting, self.courtesy.silent = None, False
        elif step.verb == "never":
            # That nothing comes over a connection that is gone shows nothing.
            self._stalled(step, f"{ended} before {step.args['for']} without {step.args['never']} were over")
        elif self._heard and step.proves and waiting.sent and not line.ended_by_kit:
            self._failed(step, self._seq, f"{ended} before {wanted(step)} came")
        else:
            # Before the first message, of a request that was not read, or by the kit: nothing is known.
            self._stalled(step, f"{ended} before {wanted(step)} came")

    # ── endings ───────────────────────────────────────────────────────────────────────────────────

    def _contradicted(self, step: Step, message: Message | None, said: str) -> None:
        """What came, or did not come in the protocol's own time, is not what the step wants."""
        if step.args.get("otherwise") == "not-applicable":
            self._end("not-applicable", step.args.get("because", said), step)
        elif step.proves:
            self._failed(step, message.seq if message else self._seq, said)
        else:
            self._end("inconclusive", said, step)

    def _failed(self, step: Step, seq: int, said: str) -> None:
        self.findings += [Finding(name, False, self.party, seq, said) for name in step.proves]
        self._end("failed", said, step)

    def _stalled(self, step: Step, said: str) -> None:
        self.findings += unproved(step, self.party, self._seq, said)
        self._end("inconclusive", said, step)

    def _end(self, status: str, reason: str, step: Step | None = None) -> None:
        self._waiting, self.courtesy.silent = None, False
        self._steps.clear()
        self.outcome = Outcome(status, reason, step.line, step.timed) if step else Outcome(status, reason)

    def _flush(self, now: Now) -> list[Action]:
        """The actions of this turn; when there is nothing left to do, a farewell and then `Done`."""
        if self._waiting is None and not self._steps:
            if not self.interactive:
                self._actions += self.courtesy.farewell(now)
            if self.interactive or self.courtesy.is_over(now):
                self._actions.append(Done())
        actions, self._actions = self._actions, []
        self.announcements.leave(actions)
        return actions


_STEPS: dict[str, Callable[[Driver, Step, Now], None]] = {
    "send": Driver._send,
    "raw": Driver._raw,
    "request": Driver._request,
    **dict.fromkeys(("expect", "reply"), Driver._expect),
    "never": Driver._never,
    **dict.fromkeys(("wait", "silence"), Driver._wait),
    "given": Driver._given,
    "set": Driver._set,
    "connect": Driver._connect,
    "close": Driver._close,
    "drop": Driver._close,
    "ends": Driver._close,
    **dict.fromkeys(("knock", "take", "leave", "operate", "read"), Driver._aside),
}
