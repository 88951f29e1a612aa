"""What happened on the wire: frozen, numbered, with the party that did it and the time it was seen.

`party` is the role that spoke (`agent`, `world`, …), whoever of the two is the kit. `time` is in
seconds since the session began, or None where a record has no times. What comes may have been there
`lag` seconds before the kit noticed, and `late` is for how long in all, since the session began, the
machine kept the kit from acting (see `lapses`). `connection` names the connection within the session;
numbers run over the whole session.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

JSON: TypeAlias = Any
"""A JSON value: None, bool, int, float, Decimal (where a float would round), str, list or dict."""


class Fault(NamedTuple):
    """Something wrong with a text as JSON, whatever the protocol.

    `code` is one of the kit's own ids (`WIRE-KEYS`, …); `offset` counts characters of the text, or
    bytes where the text could not be decoded, from 0; `line` and `column` count from 1 within the
    text. A `fatal` fault leaves no value to judge.
    """

    code: str
    message: str
    offset: int = 0
    line: int = 1
    column: int = 1
    fatal: bool = True
    pointer: str = ""


class Opened(NamedTuple):
    """A connection exists."""

    seq: int
    connection: str = "main"
    time: float | None = None
    detail: str = ""
    late: float = 0.0


class Sent(NamedTuple):
    """The kit, playing `party`, sent one message."""

    seq: int
    party: str
    text: str
    value: JSON
    connection: str = "main"
    time: float | None = None
    faults: tuple[Fault, ...] = ()
    line: int = 1
    column: int = 1
    late: float = 0.0
    exact: bool = False


class Received(NamedTuple):
    """`party` sent one message; `line` and `column` are where its text begins in its input.

    `exact` says that floats and 64 bits hold its numbers as they are; where it is false, nobody has looked.
    """

    seq: int
    party: str
    text: str
    value: JSON
    connection: str = "main"
    time: float | None = None
    faults: tuple[Fault, ...] = ()
    line: int = 1
    column: int = 1
    lag: float = 0.0
    late: float = 0.0
    exact: bool = False


class Malformed(NamedTuple):
    """`party` sent bytes that are no message."""

    seq: int
    party: str
    data: bytes
    fault: Fault
    connection: str = "main"
    time: float | None = None
    line: int = 1
    column: int = 1
    lag: float = 0.0
    late: float = 0.0

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The one fault, as the faults of a message are given."""
        return (self.fault,)


class Closed(NamedTuple):
    """A connection ended. `by` is the party that ended it, `clean` whether it did so as it should."""

    seq: int
    connection: str = "main"
    time: float | None = None
    by: str = ""
    clean: bool = True
    detail: str = ""
    final: bool = True
    """False where the record merely stops, or the kit ended it by force: silence then proves nothing."""
    lag: float = 0.0
    late: float = 0.0


Event: TypeAlias = Opened | Sent | Received | Malformed | Closed
Spoken: TypeAlias = Sent | Received


def in_input(event: Sent | Received | Malformed, line: int, column: int) -> tuple[int, int]:
    """A place within the event's text as a place in its input; lines and columns count from 1."""
    return event.line + line - 1, column + (event.column - 1 if line == 1 else 0)
