"""What the scenario interpreter asks of the runner, and how a scenario ended: frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from conformance.scenarios import Step


@dataclass(frozen=True, slots=True)
class Connect:
    """Open a connection by this name, with a credential of the ICS's by its name, or as the ICS has it."""

    connection: str
    credential: str = ""


@dataclass(frozen=True, slots=True)
class Transmit:
    """Send these bytes: one message, or `raw` bytes as they are."""

    connection: str
    data: bytes
    raw: bool = False
    step: Step | None = None
    """The step whose message it is; None of what the kit says of its own accord."""


@dataclass(frozen=True, slots=True)
class Finish:
    """Close a connection as its transport has it."""

    connection: str


@dataclass(frozen=True, slots=True)
class Cut:
    """Drop a connection without a goodbye."""

    connection: str


@dataclass(frozen=True, slots=True)
class Aside:
    """Do what a step asks for beside the connections; `args` are its members, filled."""

    step: Step
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing more is to be done; open connections may be closed."""


Action: TypeAlias = Connect | Transmit | Finish | Cut | Aside | Done


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a scenario ended: `passed`, `failed`, `inconclusive` or `not-applicable`, and why."""

    status: str
    reason: str = ""
    line: int = 0
    timed: bool = False
    """Whether that depends on time."""
