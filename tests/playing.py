"""A driver that is fed by hand: what it did and sent, and a clock that only a test moves."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from conformance import packs, scenarios
from conformance.actions import Action, Connect, Done, Outcome, Transmit
from conformance.bindings import Now
from conformance.driver import Driver
from conformance.events import Closed, Event, Opened
from conformance.framing import read_message
from conformance.packs import Pack
from conformance.scenarios import Scenario
from conformance.transcript import event_of

AWP = packs.find("awp@0.1-draft.7")
VA = packs.find("va-agent-protocol")


@dataclass
class Play:
    """A driver, what it sent and did, and a clock that only `waits` moves."""

    scenario: Scenario
    ics: dict[str, Any] = field(default_factory=dict)
    patience: float = 1.0
    interactive: bool = False
    cable: bool = True
    """Whether what the driver sends gets through."""
    pack: Pack | None = None

    def __post_init__(self) -> None:
        pack = self.pack or (VA if self.scenario.role == "orchestrator" else AWP)
        ids = count(1)
        self.driver = Driver(
            self.scenario,
            pack,
            self.ics,
            lambda: f"id-{next(ids)}",
            patience=self.patience,
            interactive=self.interactive,
        )
        self.time, self.seq, self.done = 0.0, 0, False
        self.sent: list[tuple[str, Any]] = []
        self.did: list[Action] = []
        self.carry_out(self.driver.start())

    @property
    def now(self) -> Now:
        return Now(self.time, "2026-04-01T00:00:00Z")

    def tell(self, event: Event) -> None:
        self.carry_out(self.driver.event(event, self.now))

    def number(self) -> int:
        self.seq += 1
        return self.seq

    def carry_out(self, actions: list[Action]) -> None:
        for action in actions:
            if isinstance(action, Connect):
                self.tell(Opened(self.number(), action.connection))
            elif isinstance(action, Transmit):
                reading = read_message(action.data)
                self.sent.append((action.connection, action.data if action.raw else reading.value))
                party, connection = self.scenario.role, action.connection
                if self.cable:
                    self.tell(event_of(reading, self.number(), party, sent=True, connection=connection))
            elif isinstance(action, Done):
                self.done = True
            else:
                self.did.append(action)

    def hears(self, message: Any, connection: str = "main") -> Play:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.tell(event_of(read_message(data), self.number(), self.driver.party, connection=connection))
        return self

    def ends(self, connection: str = "main", detail: str = "", clean: bool = True) -> Play:
        self.tell(Closed(self.number(), connection, None, self.driver.party, clean, detail))
        return self

    def waits(self, until: float) -> Play:
        """Time passes; the driver is woken whenever it asked for it."""
        while (due := self.driver.deadline()) is not None and due <= until and not self.done:
            self.time = max(self.time, due)
            self.carry_out(self.driver.wake(self.now))
        self.time = until
        return self

    @property
    def outcome(self) -> tuple[str, str]:
        """Status and reason; everything is expected to be over."""
        assert self.done
        outcome = self.driver.outcome or Outcome("passed")
        return outcome.status, outcome.reason

    @property
    def found(self) -> dict[str, str]:
        """What the steps found: requirement → pass, fail or inconclusive."""
        return {
            one.requirement: "pass" if one.ok else "inconclusive" if one.inconclusive else "fail"
            for one in self.driver.findings
        }


def world(steps: str, **options: Any) -> Play:
    """The kit plays an agent of AWP, towards a world."""
    head = "title: x\nrole: agent\ncovers: [AWP-MSG-001]\nsteps:\n"
    return Play(scenarios.read(head + steps, "x.yaml", AWP), **options)


def agent(steps: str, **options: Any) -> Play:
    """The kit plays an orchestrator of va-agent-protocol, towards an agent."""
    head = "title: x\nrole: orchestrator\ncovers: [VA-MSG-001]\nsteps:\n"
    return Play(scenarios.read(head + steps, "x.yaml", VA), **options)


def result(number: Any, value: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": {} if value is None else value}


def error(number: Any, code: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": "no"}}


def notice(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def said(kind: str, **payload: Any) -> dict[str, Any]:
    return {"protocol": "va-agent-protocol", "type": kind, "payload": payload}
