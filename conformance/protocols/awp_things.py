"""Agent World Protocol: the channels, actions and sessions of a record, as far as it shows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from conformance.correlation import Message
from conformance.events import Event
from conformance.protocols.awp_values import names, table, tables, whole

MS = 1_000_000
"""Nanoseconds in a millisecond."""

S = 1000 * MS
"""Nanoseconds in a second."""


MAX_FRAME_BYTES = 16 * 1024 * 1024
"""So many bytes a frame may have where an endpoint does not say how many."""

Place = tuple[str, int]
"""A session's key and a channel's number."""


@dataclass(slots=True, eq=False)
class Channel:
    """A channel that a session was granted: its name, its rate (None: a frame per tick), its declaration."""

    name: str
    rate: float | None
    declared: dict[str, Any]
    modality: str = field(init=False)
    reliable: bool = field(init=False)
    frame: Frame | None = None
    """The latest frame of it."""
    payload: Any = None
    """What the latest payload was, for those who judge payloads."""
    known: dict[Any, Any] = field(default_factory=dict)
    """What else follows from how it was granted, by keys of who has found it out."""

    def __post_init__(self) -> None:
        """Read what is asked for with every frame."""
        self.modality = str(self.declared.get("modality"))
        self.reliable = self.declared.get("loss_class") == "reliable"


@dataclass(slots=True, eq=False)
class Frame:
    """A frame of a channel that its session was granted; the next one takes its place."""

    session: Session
    channel: Channel
    place: Place
    seq: int | None = None
    time: int | None = None
    tick: int | None = None
    flags: int = 0

    def says(self, params: dict[str, Any]) -> Frame:
        """The same place, with what the params of the latest message say."""
        self.seq, self.time = whole(params.get("seq")), whole(params.get("ts_mono_ns"))
        self.tick, self.flags = whole(params.get("tick")), whole(params.get("flags")) or 0
        return self


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
    number: int = 0
    framed: bool = False
    """Whether its frames are on record: an audit log holds their digests alone."""
    mode: str = field(init=False)
    """The time model that was asked for; empty where that is not on record."""
    direct: bool = field(init=False)
    """Whether no frame of it travels by another connection."""
    most: int | None = field(init=False)
    """How many bytes a frame may have that travels with the other messages; None where none may travel so."""

    def __post_init__(self) -> None:
        """Read what is asked for with every message."""
        self.mode = str(self.asked.get("mode", ""))
        self.use(self.ready)

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

    def frame(self, params: dict[str, Any]) -> Frame | None:
        """The frame that these params of a message are; None where its channel was not granted."""
        place = whole(params.get("channel_id"))
        channel = None if place is None else self.channels.get(place)
        if channel is None or place is None:
            return None
        if channel.frame is None:
            channel.frame = Frame(self, channel, (self.key, place))
        return channel.frame.says(params)

    def type_of(self, action: dict[str, Any]) -> dict[str, Any]:
        """The declaration of a submission's type; empty where there is none."""
        declared = tables(self.manifest.get("action_schemas"))
        return next((row for row in declared if row.get("type") == action.get("type")), {})


NUMBERED = ("action.status", "world.event", "session.state", "action.submit.result", "action.cancel.result")
"""What has a status_seq of its own, or reports one."""


def numbered(message: Message) -> int | None:
    """The status_seq of a message of `NUMBERED`, or None where it has none."""
    part = message.at("/result" if message.name.endswith(".result") else "/params")
    return whole(part.get("status_seq")) if type(part) is dict else None


TERMINAL = ("rejected", "completed", "failed", "preempted", "cancelled")
WAITING = ("pending_approval", "queued", "accepted")
