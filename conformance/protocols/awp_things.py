"""Agent World Protocol: the channels, actions and sessions of a record, as far as it shows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from conformance.correlation import Message
from conformance.events import Event
from conformance.integers import counter as whole
from conformance.protocols.awp_course import ANY, FRESH, JUMP, MOVED, NO_TICK, PACE, STREAMED, Course
from conformance.protocols.awp_values import names, table, tables

MS: Final = 1_000_000
"""Nanoseconds in a millisecond."""

S: Final = 1000 * MS
"""Nanoseconds in a second."""


MODES: Final[tuple[str, ...]] = ("streaming", "lockstep")
"""The time models."""

MAX_FRAME_BYTES: Final = 16 * 1024 * 1024
"""So many bytes a frame may have where an endpoint does not say how many."""


@dataclass(frozen=True, eq=False)
class Situation:
    """The time model of a session, whether it was ever resumed, or begun again, and whether it was closed.

    There is one of a sort: see `situation`.
    """

    mode: str
    resumed: bool
    closed: bool


@cache
def situation(mode: str, resumed: bool, closed: bool) -> Situation:
    """The situation of this sort."""
    return Situation(mode, resumed, closed)


Place = tuple[str, int]
"""A session's key and a channel's number."""


@dataclass(slots=True, eq=False)
class Channel:
    """A channel that a session was granted: its name, its rate (None: a frame per tick), its declaration."""

    name: str
    rate: int | float | None
    declared: dict[str, Any]
    modality: str = field(init=False)
    reliable: bool = field(init=False)
    shown: Frame | None = None
    """The latest frame that the world sent on it."""
    commanded: Frame | None = None
    """The latest that the agent did."""
    payload: Any = None
    """What the latest payload was, for those who judge payloads."""
    payload_found: Any = None
    flags_found: Any = None
    """The payload and the flags of the last frame with which nothing was found to be wrong."""
    known: dict[Any, Any] = field(default_factory=dict)
    """What else follows from how it was granted, by keys of who has found it out."""

    def frame(self, session: Session, place: int, shown: bool) -> Frame:
        """The first frame that the world has shown on it, or the agent sent."""
        frame = Frame(session, self, (session.key, place))
        if shown:
            self.shown = frame
        else:
            self.commanded, frame.always = frame, STREAMED
        return frame

    def __post_init__(self) -> None:
        """Read what is asked for with every frame."""
        self.modality = str(self.declared.get("modality"))
        self.reliable = self.declared.get("loss_class") == "reliable"


@dataclass(slots=True, eq=False)
class Frame:
    """A frame of a channel that its session was granted; the next one takes its place.

    `last_seq` and `last_tick` are those of the frames before, as far as the record tells; `case` is what is
    the case with it.
    """

    session: Session
    channel: Channel
    place: Place
    seq: int | None = None
    time: int | None = None
    tick: int | None = None
    flags: int = 0
    last_seq: int | None = None
    last_tick: int | None = None
    case: int = ANY
    always: int = 0
    """What is the case with every frame of its sort."""

    def follow(self, params: dict[str, Any], tick: int | None, time: int | None) -> int:
        """Become the next frame, with what it says; what is the case with it."""
        channel, session, flags = self.channel, self.session, params.get("flags")
        if self.seq is not None:
            self.last_seq = self.seq
        self.seq, self.tick, self.time = whole(params.get("seq")), tick, time
        self.flags = whole(flags) or 0
        payload, pace = params.get("payload_b64"), session.course.pace
        same = payload is not None and payload == channel.payload_found and flags == channel.flags_found
        case = self.always if same else self.always | FRESH
        if self.last_seq is not None and self.seq != self.last_seq + 1:
            case |= JUMP
        if tick is None:
            case |= NO_TICK
        if pace.advances and (tick != pace.tick or time != pace.time):
            case |= MOVED
        if channel.rate is not None:
            case |= PACE
        elif tick is not None and time is not None and session.mode == "lockstep":
            ticks, place = session.course.ticks, self.place[1]
            self.last_tick, ticks[place] = ticks.get(place), tick
            if self.last_tick == tick:
                case |= PACE
        self.case = case
        return case


@dataclass(slots=True)
class Action:
    """An action that was admitted: what was submitted, where it stands, and since when.

    `state` is None where nobody knows it; `asked` is the submission, None for one that is not on record.
    `entered` are the session times at which each state was first reported, `told` the events that did.
    """

    id: str
    asked: Message | None = None
    state: str | None = None
    number: int = 0
    received: int | None = None
    entered: dict[str, int | None] = field(default_factory=dict)
    told: dict[str, Event] = field(default_factory=dict)

    @property
    def params(self) -> dict[str, Any]:
        """What was submitted."""
        return table(self.asked.at("/params")) if self.asked else {}


@dataclass(slots=True)
class Session:
    """One session, as far as the record shows it. A `whole` one is on record from its beginning."""

    key: str
    connection: str
    asked: dict[str, Any]
    ready: dict[str, Any]
    manifest: dict[str, Any]
    agent: dict[str, Any]
    whole: bool
    began: Message
    channels: dict[int, Channel] = field(default_factory=dict)
    actions: dict[str, Action] = field(default_factory=dict)
    closing: Message | None = None
    closed: bool = False
    resumed: int = 0
    again: bool = False
    """Whether another one had its key before."""
    number: int = 0
    framed: bool = False
    """Whether its frames are on record: an audit log holds their digests alone."""
    mode: str = field(init=False)
    """The time model that was asked for; empty where that is not on record."""
    direct: bool = field(init=False)
    """Whether no frame of it travels by another connection."""
    course: Course = field(default_factory=Course)
    """How it went so far; another one, where it is in doubt."""
    situation: Situation = field(init=False)
    most: int | None = field(init=False)
    """How many bytes a frame may have that travels with the other messages; None where none may travel so."""

    def __post_init__(self) -> None:
        """Read what is asked for with every message."""
        self.mode = str(self.asked.get("mode", ""))
        self.use(self.ready)
        self.change()

    def change(self) -> None:
        """Its situation is another one, and what was found out of its channels holds no longer."""
        mode = self.mode if self.mode in MODES else ""
        self.situation = situation(mode, self.resumed > 0 or self.again, self.closed)
        for channel in self.channels.values():
            channel.known.clear()

    def let_go(self) -> None:
        """Nothing leads from it to itself by its frames: it is gone when nobody knows it any longer."""
        for channel in self.channels.values():
            channel.shown = channel.commanded = None

    def doubt(self) -> Course:
        """Nobody knows any longer how it went; its course begins anew."""
        self.let_go()
        self.course = Course()
        return self.course

    def use(self, ready: dict[str, Any]) -> None:
        """Take over what was answered when it began, or went on."""
        self.ready = ready
        endpoints = tables(ready.get("stream_endpoints"))
        inline = [one for one in endpoints if one.get("binding") == "inline"]
        self.direct = len(inline) == len(endpoints)
        self.most = whole(inline[0].get("max_frame_bytes", MAX_FRAME_BYTES)) if inline else None

    @property
    def bodies(self) -> list[str]:
        """The embodiments that it binds; none for an observer."""
        one = self.asked.get("embodiment")
        return [one] if isinstance(one, str) else names(self.asked.get("embodiments"))

    @property
    def granted(self) -> dict[str, Any]:
        """What was granted when it began."""
        return table(self.ready.get("granted"))

    @property
    def inline(self) -> bool:
        """Whether every frame of it is on record, and none can travel by another connection."""
        return self.framed and self.direct

    def type_of(self, action: dict[str, Any]) -> dict[str, Any]:
        """The declaration of a submission's type; empty where there is none."""
        declared = tables(self.manifest.get("action_schemas"))
        return next((row for row in declared if row.get("type") == action.get("type")), {})


NUMBERED: Final[tuple[str, ...]] = (
    "action.status",
    "world.event",
    "session.state",
    "action.submit.result",
    "action.cancel.result",
)
"""What has a status_seq of its own, or reports one."""


TERMINAL: Final[tuple[str, ...]] = ("rejected", "completed", "failed", "preempted", "cancelled")
WAITING: Final[tuple[str, ...]] = ("pending_approval", "queued", "accepted")
