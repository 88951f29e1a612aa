"""What happened on the wire: frozen, numbered, with the party that did it and the time it was seen.

`party` is the role that spoke (`agent`, `world`, …), whoever of the two is the kit. `time` is in
seconds since the session began, or None where a record has no times. What comes may have been there
`lag` seconds before the kit noticed, and `late` is for how long in all, since the session began, the
machine kept the kit from acting (see `lapses`). `connection` names the connection within the session;
numbers run over the whole session.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, NamedTuple, Self, TypeAlias, final

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


class Fields:
    """What nothing changes, and what is equal where all its fields are; they are named in their order.

    Every message becomes some: as classes of their own they are made and read in half the time of tuples, and
    in a tenth where they are compiled. mypy sees that no field is assigned.
    """

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()

    def _replace(self, **changes: Any) -> Self:
        """The same with other values of these fields; TypeError where there is no such field."""
        return type(self)(**{**dict(zip(self._fields, self._values(), strict=True)), **changes})

    def _values(self) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in self._fields])

    def __eq__(self, other: object) -> bool:
        """Whether the other is one of these too, and their fields are equal."""
        return type(other) is type(self) and isinstance(other, Fields) and other._values() == self._values()

    def __hash__(self) -> int:
        """TypeError where a field is a list or an object of JSON."""
        return hash(self._values())

    def __repr__(self) -> str:
        """As it would be made anew."""
        shown = zip(self._fields, self._values(), strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        """How it goes to another process."""
        return type(self), self._values()


@final
class Opened(Fields):
    """A connection exists."""

    _fields = ("seq", "connection", "time", "detail", "late")
    __slots__ = _fields

    def __init__(
        self,
        seq: int,
        connection: str = "main",
        time: float | None = None,
        detail: str = "",
        late: float = 0.0,
    ) -> None:
        self.seq: Final[int] = seq
        self.connection: Final[str] = connection
        self.time: Final[float | None] = time
        self.detail: Final[str] = detail
        self.late: Final[float] = late


@final
class Sent(Fields):
    """The kit, playing `party`, sent one message."""

    _fields = (
        "seq",
        "party",
        "text",
        "value",
        "connection",
        "time",
        "faults",
        "line",
        "column",
        "late",
        "exact",
    )
    __slots__ = _fields

    def __init__(
        self,
        seq: int,
        party: str,
        text: str,
        value: JSON,
        connection: str = "main",
        time: float | None = None,
        faults: tuple[Fault, ...] = (),
        line: int = 1,
        column: int = 1,
        late: float = 0.0,
        exact: bool = False,
    ) -> None:
        self.seq: Final[int] = seq
        self.party: Final[str] = party
        self.text: Final[str] = text
        self.value: Final[JSON] = value
        self.connection: Final[str] = connection
        self.time: Final[float | None] = time
        self.faults: Final[tuple[Fault, ...]] = faults
        self.line: Final[int] = line
        self.column: Final[int] = column
        self.late: Final[float] = late
        self.exact: Final[bool] = exact


@final
class Received(Fields):
    """`party` sent one message; `line` and `column` are where its text begins in its input.

    `exact` says that floats and 64 bits hold its numbers as they are; where it is false, nobody has looked.
    """

    _fields = (
        "seq",
        "party",
        "text",
        "value",
        "connection",
        "time",
        "faults",
        "line",
        "column",
        "lag",
        "late",
        "exact",
    )
    __slots__ = _fields

    def __init__(
        self,
        seq: int,
        party: str,
        text: str,
        value: JSON,
        connection: str = "main",
        time: float | None = None,
        faults: tuple[Fault, ...] = (),
        line: int = 1,
        column: int = 1,
        lag: float = 0.0,
        late: float = 0.0,
        exact: bool = False,
    ) -> None:
        self.seq: Final[int] = seq
        self.party: Final[str] = party
        self.text: Final[str] = text
        self.value: Final[JSON] = value
        self.connection: Final[str] = connection
        self.time: Final[float | None] = time
        self.faults: Final[tuple[Fault, ...]] = faults
        self.line: Final[int] = line
        self.column: Final[int] = column
        self.lag: Final[float] = lag
        self.late: Final[float] = late
        self.exact: Final[bool] = exact


@final
class Malformed(Fields):
    """`party` sent bytes that are no message."""

    _fields = ("seq", "party", "data", "fault", "connection", "time", "line", "column", "lag", "late")
    __slots__ = _fields

    def __init__(
        self,
        seq: int,
        party: str,
        data: bytes,
        fault: Fault,
        connection: str = "main",
        time: float | None = None,
        line: int = 1,
        column: int = 1,
        lag: float = 0.0,
        late: float = 0.0,
    ) -> None:
        self.seq: Final[int] = seq
        self.party: Final[str] = party
        self.data: Final[bytes] = data
        self.fault: Final[Fault] = fault
        self.connection: Final[str] = connection
        self.time: Final[float | None] = time
        self.line: Final[int] = line
        self.column: Final[int] = column
        self.lag: Final[float] = lag
        self.late: Final[float] = late

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The one fault, as the faults of a message are given."""
        return (self.fault,)


@final
class Closed(Fields):
    """A connection ended. `by` is the party that ended it, `clean` whether it did so as it should.

    `final` is False where the record merely stops, or the kit ended it by force: silence then proves nothing.
    """

    _fields = ("seq", "connection", "time", "by", "clean", "detail", "final", "lag", "late")
    __slots__ = _fields

    def __init__(
        self,
        seq: int,
        connection: str = "main",
        time: float | None = None,
        by: str = "",
        clean: bool = True,
        detail: str = "",
        final: bool = True,
        lag: float = 0.0,
        late: float = 0.0,
    ) -> None:
        self.seq: Final[int] = seq
        self.connection: Final[str] = connection
        self.time: Final[float | None] = time
        self.by: Final[str] = by
        self.clean: Final[bool] = clean
        self.detail: Final[str] = detail
        self.final: Final[bool] = final
        self.lag: Final[float] = lag
        self.late: Final[float] = late


Event: TypeAlias = Opened | Sent | Received | Malformed | Closed
Spoken: TypeAlias = Sent | Received


def in_input(event: Sent | Received | Malformed, line: int, column: int) -> tuple[int, int]:
    """A place within the event's text as a place in its input; lines and columns count from 1."""
    return event.line + line - 1, column + (event.column - 1 if line == 1 else 0)
