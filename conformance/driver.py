"""The scenario interpreter: an event in, actions out. It has no socket and no clock.

The runner calls `start` once, `event` for everything that happened (what the kit itself sent
included), `wake` when a deadline came, and carries out the actions it is given, in order. A scenario
that cannot go on ends: `failed` where the implementation contradicted a step that proves something,
`inconclusive` where nothing can be said, `not-applicable` where the implementation has no such thing.
"""

from __future__ import annotations

import base64
import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance import jsontext
from conformance.actions import Action, Connect, Cut, Done, Finish, Outcome, Transmit
from conformance.bindings import Bindings, Now, Unbound, difference, merged
from conformance.composing import Composer
from conformance.correlation import Correlator, Message
from conformance.events import JSON, Closed, Event, Malformed, Opened, Received, Sent
from conformance.findings import Finding
from conformance.packs import Pack
from conformance.scenarios import Scenario, Step, seconds
from conformance.wording import shown


@dataclass(slots=True)
class _Waiting:
    """The step that waits, until when, and which request it awaits the answer of."""

    step: Step
    until: float
    asked: JSON = None
    request: bool = False


@dataclass(slots=True)
class _Line:
    """What the driver knows of one connection."""

    is_open: bool = False
    alive_at: float | None = None
    """When the next heartbeat is due; None while none are."""
    in_session: bool = False
    """Whether something was begun on it that wants a farewell."""


@dataclass(slots=True)
class Driver:
    """Interprets one scenario. `fresh` makes ids; `ics` holds what the implementation says of itself."""

    scenario: Scenario
    pack: Pack
    ics: Mapping[str, Any]
    fresh: Callable[[], str]
    findings: list[Finding] = field(default_factory=list)
    outcome: Outcome | None = None
    met: JSON = None
    """The message that met the last awaited step."""
    patience: float = 1.0
    """Factor for every time that a step allows, except for deadlines that the protocol states."""
    interactive: bool = False
    """Whether steps are added one by one from outside, so that running out of them is no ending."""
    _bindings: Bindings = field(init=False)
    _composer: Composer = field(init=False)
    _correlator: Correlator = field(init=False)
    _steps: deque[Step] = field(init=False)
    _waiting: _Waiting | None = None
    _inbox: list[Message] = field(default_factory=list)
    _cursor: int = 0
    _ids: int = 0
    _lines: dict[str, _Line] = field(default_factory=dict)
    _current: str = "main"
    _silent: bool = False
    _actions: list[Action] = field(default_factory=list)
    _heard: bool = False
    _last: Event | None = None
    _leaving: float | None = None
    """Until when the kit waits for its farewell to be answered; None before it takes leave."""

    def __post_init__(self) -> None:
        """Make what depends on the scenario and the pack."""
        own = tuple(self.pack.meta.get("fresh", ()))
        self._bindings = Bindings(self.ics, self.fresh, own=own)
        self._composer = Composer(self.pack, self._bindings)
        self._correlator = Correlator(self.pack)
        self._steps = deque(self.scenario.steps)

    @property
    def party(self) -> str:
        """The role of the implementation."""
        return self.pack.peer_of(self.scenario.role)

    def start(self) -> list[Action]:
        """The first action: a connection."""
        self._lines["main"] = _Line()
        return [Connect("main")]

    def deadline(self) -> float | None:
        """When `wake` is due, in seconds of `Now.monotonic`; None where only an event leads on."""
        times = [self._waiting.until] if self._waiting else []
        times += [self._leaving] if self._leaving is not None else []
        times += [line.alive_at for line in self._lines.values() if line.alive_at is not None]
        return min(times, default=None)

    def event(self, event: Event, now: Now) -> list[Action]:
        """What to do after something happened on the wire."""
        self._last = event
        if isinstance(event, Opened):
            self._lines[event.connection].is_open = True
            if self._waiting is not None and self._waiting.step.verb == "connect":
                self._waiting = None
            self._go_on(now)
        elif isinstance(event, Closed):
            self._closed(event, now)
        elif isinstance(event, Malformed):
            self._heard = self._heard or event.party == self.party
        else:
            self._message(event, now)
        return self._flush(now)

    def wake(self, now: Now) -> list[Action]:
        """What to do when the deadline came."""
        for name, line in self._lines.items():
            if line.alive_at is not None and line.alive_at <= now.monotonic:
                self._beat(name, line, now)
        if self._waiting is not None and self._waiting.until <= now.monotonic:
            self._expired(self._waiting, now)
        return self._flush(now)

    def add(self, step: Step, now: Now) -> list[Action]:
        """Append a step to a scenario that has run out of them, and go on."""
        self._steps.append(step)
        self.met = None
        self._go_on(now)
        return self._flush(now)

    def leave(self, now: Now) -> list[Action]:
        """End a session whose steps came from outside: with its farewell."""
        self.interactive = False
        return self._flush(now)

    def stop(self, reason: str, now: Now) -> list[Action]:
        """End the scenario because the kit cannot go on; nothing is said against the implementation."""
        if self.outcome is None:
            self._end("inconclusive", reason)
        return self._flush(now)

    # ── events ────────────────────────────────────────────────────────────────────────────────────

    def _message(self, event: Sent | Received, now: Now) -> None:
        message = self._correlator.message(event)
        self._heartbeats(message, now)
        if event.party != self.party:
            return
        self._heard = True
        self._answer(message, now)
        self._inbox.append(message)
        if self._waiting is not None:
            self._try(self._waiting, len(self._inbox) - 1, now)

    def _heartbeats(self, message: Message, now: Now) -> None:
        line = self._lines.get(message.event.connection)
        alive, leave = self.pack.meta.get("keepalive"), self.pack.meta.get("farewell")
        if line is None:
            return
        if alive and message.is_a(alive["after"]):
            line.alive_at = now.monotonic + alive["every"]
        elif alive and message.is_a(alive["until"]):
            line.alive_at = None
        if leave and message.is_a(leave["after"] + leave["until"]):
            line.in_session = message.is_a(leave["after"])

    def _beat(self, name: str, line: _Line, now: Now) -> None:
        row = self.pack.meta["keepalive"]
        line.alive_at = now.monotonic + row["every"]
        if not self._silent and line.is_open:
            self._actions.append(Transmit(name, self._composer.text(row["send"], {}, now)))

    def _answer(self, message: Message, now: Now) -> None:
        kind = self.pack.meta.get("answers", {}).get(message.name)
        if kind and not self._silent:
            answer = self._composer.answer(kind, message.value, now)
            self._actions.append(Transmit(message.event.connection, answer))

    def _closed(self, event: Closed, now: Now) -> None:
        line = self._lines.get(event.connection)
        if line is not None:
            line.is_open, line.alive_at, line.in_session = False, None, False
        waiting = self._waiting
        about = waiting.step.args.get(waiting.step.verb) if waiting else None
        if waiting is None or (waiting.step.verb in ("close", "drop") and about == event.connection):
            self._waiting = None
            self._go_on(now)
        elif event.connection == self._current and waiting.step.verb in ("never", "wait", "silence"):
            self._expired(waiting, now)
        elif event.connection == self._current:
            self._missed(waiting, event)

    def _missed(self, waiting: _Waiting, event: Closed) -> None:
        self._unmet(
            waiting.step, f"{event.detail or 'the connection was closed'} before {self._wanted(waiting)} came"
        )

    # ── steps ─────────────────────────────────────────────────────────────────────────────────────

    def _go_on(self, now: Now) -> None:
        """Take steps until one has to wait, or all are done."""
        while self.outcome is None and self._waiting is None:
            if not self._steps:
                return
            step = self._steps.popleft()
            try:
                _STEPS[step.verb](self, step, now)
            except Unbound as unbound:
                self._end("not-applicable", f"nothing says what ${{{unbound.args[0]}}} is", step)

    def _time(self, step: Step) -> float:
        return step.patience * (1.0 if "deadline" in step.args else self.patience)

    def _send(self, step: Step, now: Now) -> None:
        overlay = {name: step.args[name] for name in ("payload", "params") if name in step.args}
        data = self._composer.text(step.args["send"], merged(overlay, step.args.get("message", {})), now)
        self._transmit(step, data)

    def _raw(self, step: Step, now: Now) -> None:
        raw = step.args["raw"]
        text = isinstance(raw, str)
        data = self._bindings.fill(raw, now).encode() if text else base64.b64decode(raw["base64"])
        self._transmit(step, data, raw=not text)

    def _transmit(self, step: Step, data: bytes, *, raw: bool = False) -> None:
        connection = step.args.get("over", self._current)
        line = self._lines.get(connection)
        if line is None or not line.is_open:
            self._unmet(step, f"the connection was closed before {step.verb} could send")
            return
        self._actions.append(Transmit(connection, data, raw))

    def _request(self, step: Step, now: Now) -> None:
        overlay = {"params": step.args["params"]} if "params" in step.args else {}
        data = self._composer.text(step.args["request"], merged(overlay, step.args.get("message", {})), now)
        self._transmit(step, data)
        if self.outcome is None:
            asked = json.loads(data)["id"]
            self._waiting = _Waiting(step, now.monotonic + self._time(step), asked, True)

    def _expect(self, step: Step, now: Now) -> None:
        waiting = self._waiting = _Waiting(step, now.monotonic + self._time(step))
        for place in range(self._cursor, len(self._inbox)):
            if self._waiting is not waiting:
                return
            self._try(waiting, place, now)
        line = self._lines.get(self._current)
        if self._waiting is waiting and line is not None and not line.is_open:
            self._unmet(step, f"the connection was closed before {self._wanted(waiting)} came")

    def _never(self, step: Step, now: Now) -> None:
        self._cursor = len(self._inbox)
        self._waiting = _Waiting(step, now.monotonic + seconds(step.args["for"]))

    def _wait(self, step: Step, now: Now) -> None:
        self._silent = step.verb == "silence"
        self._waiting = _Waiting(step, now.monotonic + seconds(step.args[step.verb]))

    def _given(self, step: Step, now: Now) -> None:
        value = self._bindings.fill(step.args["given"], now)
        wanted = {"$is": self._bindings.fill(step.args["is"], now)}
        if difference(wanted, value):
            self._end("not-applicable", self._bindings.fill(step.args["because"], now), step)

    def _set(self, step: Step, now: Now) -> None:
        for name, value in step.args["set"].items():
            self._bindings.names[name] = self._bindings.fill(value, now)

    def _connect(self, step: Step, now: Now) -> None:
        self._current = step.args["connect"]
        self._lines[self._current] = _Line()
        self._actions.append(Connect(self._current))
        self._waiting = _Waiting(step, now.monotonic + self._time(step))

    def _close(self, step: Step, now: Now) -> None:
        self._waiting = _Waiting(step, now.monotonic + self._time(step))
        name = step.args[step.verb]
        self._actions.append(Finish(name) if step.verb == "close" else Cut(name))

    # ── waiting ───────────────────────────────────────────────────────────────────────────────────

    def _try(self, waiting: _Waiting, place: int, now: Now) -> None:
        """See whether the message at this place of the inbox is what the step waits for."""
        step, message = waiting.step, self._inbox[place]
        if step.verb == "request":
            if message.request is not None and message.request.at("/id") == waiting.asked:
                self._answered(waiting, message, now)
        elif step.verb == "expect":
            self._maybe_met(step, place, now)
        elif step.verb == "never" and self._fits(step.args["never"], step.args.get("match"), message, now):
            self._contradicted(step, message, f"{message.name} came, which must not come here")

    def _fits(self, kind: str, match: JSON, message: Message, now: Now) -> bool:
        if not message.is_a([kind]):
            return False
        return match is None or difference(self._bindings.fill(match, now), message.value) is None

    def _answered(self, waiting: _Waiting, message: Message, now: Now) -> None:
        step = waiting.step
        wanted = "error" if "error" in step.args else "result"
        if jsontext.resolve(message.value, f"/{wanted}") is jsontext.MISSING:
            got = shown(message.at("/error") or message.at("/result"))
            self._contradicted(
                step, message, f"{step.args['request']} was to be answered with a {wanted}; it got {got}"
            )
            return
        match = {wanted: self._bindings.fill(step.args.get(wanted) or {}, now)}
        found = difference(match, message.value)
        if found:
            self._contradicted(step, message, f"the answer to {step.args['request']} is otherwise: {found}")
        else:
            self._met(step, message, now)

    def _maybe_met(self, step: Step, place: int, now: Now) -> None:
        message = self._inbox[place]
        if self._fits(step.args["expect"], step.args.get("match"), message, now):
            self._cursor = place + 1
            self._met(step, message, now)
            return
        for name, match in step.args.get("instead", {}).items():
            if self._fits(name, match, message, now):
                said = f"{message.name} {self._gist(message)} came instead of {step.args['expect']}"
                self._contradicted(step, message, said)
                return

    def _gist(self, message: Message) -> str:
        kind = message.kind
        return shown(message.at(kind.at) if kind is not None else message.value)

    def _met(self, step: Step, message: Message, now: Now) -> None:
        for name, pointer in step.args.get("save", {}).items():
            found = jsontext.resolve(message.value, pointer)
            if found is not jsontext.MISSING:
                self._bindings.names[name] = found
        self.met = message.value
        self._waiting = None
        self._proved(step, True, message.seq)
        self._go_on(now)

    def _expired(self, waiting: _Waiting, now: Now) -> None:
        step = waiting.step
        if step.verb in ("wait", "silence", "never"):
            self._waiting, self._silent = None, False
            self._proved(step, True, self._last.seq if self._last else 0)
            self._go_on(now)
        elif "deadline" in step.args:
            self._contradicted(
                step, None, f"{self._wanted(waiting)} did not come within {step.args['deadline']}"
            )
        else:
            mute = "" if self._heard else "the implementation said nothing: "
            self._stalled(step, f"{mute}{self._wanted(waiting)} did not come within {self._time(step):g} s")

    def _wanted(self, waiting: _Waiting) -> str:
        step = waiting.step
        if step.verb == "request":
            return f"the answer to {step.args['request']}"
        return str(step.args[step.verb])

    # ── endings ───────────────────────────────────────────────────────────────────────────────────

    def _unmet(self, step: Step, said: str) -> None:
        """A step that can no longer be met. Before the first message, nothing is known of anyone."""
        if self._heard and step.proves:
            self._contradicted(step, None, said)
        else:
            self._stalled(step, said)

    def _contradicted(self, step: Step, message: Message | None, said: str) -> None:
        if step.args.get("otherwise") == "not-applicable":
            self._end("not-applicable", step.args.get("because", said), step)
        elif step.proves:
            seq = message.seq if message else (self._last.seq if self._last else 0)
            self._proved(step, False, seq, said)
            self._end("failed", said, step)
        else:
            self._end("inconclusive", said, step)

    def _stalled(self, step: Step, said: str) -> None:
        for requirement in step.proves:
            self.findings.append(Finding(requirement, False, self.party, message=said, inconclusive=True))
        self._end("inconclusive", said, step)

    def _proved(self, step: Step, ok: bool, seq: int, said: str = "") -> None:
        self.findings += [Finding(name, ok, self.party, seq, said) for name in step.proves]

    def _end(self, status: str, reason: str, step: Step | None = None) -> None:
        self._waiting = None
        self._steps.clear()
        self.outcome = Outcome(status, reason, step.line if step else 0)

    def _flush(self, now: Now) -> list[Action]:
        """The actions of this turn; when there is nothing left to do, a farewell and then `Done`."""
        if self._waiting is None and not self._steps:
            if self._leaving is None:
                self._take_leave(now)
            if self._leaving is None or self._has_left(now):
                self._actions.append(Done())
        actions, self._actions = self._actions, []
        return actions

    def _take_leave(self, now: Now) -> None:
        row = self.pack.meta.get("farewell")
        lines = [name for name, line in self._lines.items() if line.in_session and line.is_open]
        if row is None or not lines or self.interactive:
            return
        self._actions += [Transmit(name, self._composer.text(row["send"], {}, now)) for name in lines]
        self._leaving = now.monotonic + row["within"] * self.patience

    def _has_left(self, now: Now) -> bool:
        assert self._leaving is not None
        return self._leaving <= now.monotonic or not any(line.in_session for line in self._lines.values())


_STEPS: dict[str, Callable[[Driver, Step, Now], None]] = {
    "send": Driver._send,
    "raw": Driver._raw,
    "request": Driver._request,
    "expect": Driver._expect,
    "never": Driver._never,
    "wait": Driver._wait,
    "silence": Driver._wait,
    "given": Driver._given,
    "set": Driver._set,
    "connect": Driver._connect,
    "close": Driver._close,
    "drop": Driver._close,
}
