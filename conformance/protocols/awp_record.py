"""Agent World Protocol: what a record tells of its connections, sessions, grants and actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from conformance.checks import Observation
from conformance.correlation import Message, is_from_the_wrong_side
from conformance.events import Closed, Event, Opened
from conformance.packs import Pack
from conformance.protocols.awp_values import names, number, table, tables, whole

MS = 1_000_000
"""Nanoseconds in a millisecond."""

S = 1000 * MS
"""Nanoseconds in a second."""


class Channel(NamedTuple):
    """A channel that a session was granted: its name, its rate (None: a frame per tick), its declaration."""

    name: str
    rate: float | None
    declared: dict[str, Any]


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

    @property
    def mode(self) -> str:
        """The time model that was asked for; empty where that is not on record."""
        return str(self.asked.get("mode", ""))

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
        endpoints = tables(self.ready.get("stream_endpoints"))
        return self.framed and all(one.get("binding") == "inline" for one in endpoints)

    def type_of(self, action: dict[str, Any]) -> dict[str, Any]:
        """The declaration of a submission's type; empty where there is none."""
        declared = tables(self.manifest.get("action_schemas"))
        return next((row for row in declared if row.get("type") == action.get("type")), {})


NUMBERED = ("action.status", "world.event", "session.state", "action.submit.result", "action.cancel.result")
"""What has a status_seq of its own, or reports one."""


def numbered(message: Message) -> int | None:
    """The status_seq of a message of `NUMBERED`, or None where it has none."""
    part = "/result" if message.name.endswith(".result") else "/params"
    return whole(message.at(f"{part}/status_seq"))


TERMINAL = ("rejected", "completed", "failed", "preempted", "cancelled")
WAITING = ("pending_approval", "queued", "accepted")


class Memory:
    """What the record has told so far, which all rules share; nothing of the message that is judged.

    `again` says that the message is a notification whose number was given before, as in a replay.
    `notes` are the own knowledge, and `options` the parameters, of the rule that is asked at the moment.
    Whenever something could not be understood, `doubted` counts it, and `doubts` has with this number what
    it may have been about: a connection and its session, or None for anything. The notes on that are void.
    """

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        self.options: dict[str, Any] = {}
        self.notes: dict[Any, Any] = {}
        self.doubts: dict[str | None, int] = {}
        self.doubted = 0
        self.again = False
        self.now: Observation | None = None
        self.judged = False
        """Whether the message that is observed now can be judged."""
        self._due: Message | None = None
        self._found: dict[str, Any] = {}
        self.sessions: dict[str, Session] = {}
        self.opened: set[str] = set()
        self.ended: dict[str, Closed] = {}
        self._current: dict[str, str] = {}
        self._greetings: dict[str, Message] = {}
        self._manifests: dict[str, dict[str, Any]] = {}

    def attend(self, seen: Observation) -> bool:
        """Learn from what came before; whether this message can be judged, of which nothing is learnt yet."""
        if seen is not self.now:
            self.catch_up()
            self.now = seen
            self._found.clear()
            self.judged = self._meet(seen)
        return self.judged

    def catch_up(self) -> None:
        """Learn from the message that was judged last."""
        due, self._due = self._due, None
        if due is not None:
            self._follow(due)

    def _meet(self, seen: Observation) -> bool:
        message = seen.message
        if isinstance(seen.event, (Opened, Closed)):
            self._connected(seen.event)
        if message is None or message.kind is None:
            if seen.lost is None or message is not None:
                self._lose(seen)
            return False
        if is_from_the_wrong_side(message):
            self._lose(seen)
            return False
        if message.name in NUMBERED:
            self._count(message)
        else:
            self.again = False
        if message.name == "obs.frame":
            self._see_frame(message)
        if seen.moved and any(one.move.illegal and not one.report for one in seen.moved):
            # What cannot be is another requirement's finding, and nothing follows from it.
            self._follow(message)
            self._doubt(message)
            return False
        self._due = message
        return True

    def once(self, name: str, message: Message, look: Callable[[Memory, Message], Any]) -> Any:
        """What `look` finds of the message that is judged, which is looked for once for all rules."""
        if name not in self._found:
            self._found[name] = look(self, message)
        return self._found[name]

    @property
    def complete(self) -> bool:
        """Whether everything was understood that may matter to the message that is judged."""
        message = self.now.message if self.now else None
        if not self.doubts:
            return True
        return not any(one in self.doubts for one in (None, *(self._scope(message) if message else ())))

    def forget(self, name: str | None) -> None:
        """Drop the notes on a session or a connection, which have its name in their key, or all."""
        for key in [key for key in self.notes if name is None or _is_about(key, name)]:
            del self.notes[key]

    def _note_doubt(self, about: Iterable[str | None]) -> None:
        self.doubted += 1
        self.doubts.update(dict.fromkeys(about, self.doubted))

    def _scope(self, message: Message) -> list[str]:
        """What the message is about: its connection, and the session of that, if one is known."""
        session = self.session(message)
        return [message.event.connection, *([session.key] if session else [])]

    def session(self, message: Message) -> Session | None:
        """The session of the message's connection, if one is known."""
        key = self._current.get(message.event.connection)
        return None if key is None else self.sessions.get(key)

    def greeting(self, message: Message) -> Message | None:
        """The last answer to initialize on the message's connection."""
        return self._greetings.get(message.event.connection)

    def manifest(self, message: Message) -> dict[str, Any]:
        """The manifest that was last given on the message's connection."""
        return self._manifests.get(message.event.connection, {})

    def action(self, message: Message) -> Action | None:
        """The action that a status or a result names."""
        session = self.session(message)
        named = table(message.at("/params") or message.at("/result")).get("action_id")
        return session.actions.get(str(named)) if session else None

    def status(self, message: Message) -> tuple[Session, Action, int] | None:
        """The session, the action and the session time of a status; None where one of them is not known."""
        session, action = self.session(message), self.action(message)
        now = whole(message.at("/params/ts_mono_ns"))
        return None if session is None or action is None or now is None else (session, action, now)

    def others(self, message: Message) -> Iterable[Session]:
        """Other sessions that are open, on connections that are."""
        for session in self.sessions.values():
            elsewhere = session.connection != message.event.connection
            if elsewhere and not session.closed and session.connection not in self.ended:
                yield session

    def _lose(self, seen: Observation) -> None:
        """Something could not be understood, and may have been anything."""
        self._note_doubt([None])
        for session in self.sessions.values():
            for action in session.actions.values():
                if seen.loses(action.id, session.key):
                    action.state = None

    def _doubt(self, message: Message) -> None:
        """Nobody knows where the action stands that the message is about."""
        self._note_doubt(self._scope(message))
        action = self.action(message)
        if action is not None:
            action.state = None

    def _count(self, message: Message) -> None:
        """Where a number is missing, so is what was told under it, and nobody knows what that was."""
        session, self.again = self.session(message), False
        if session is None:
            return
        given = numbered(message)
        self.again = message.request is None and given is not None and given <= session.number
        first = session.number == 0 and not session.whole
        if given is None or (given > session.number + 1 and not first):
            self._note_doubt(self._scope(message))
            for action in session.actions.values():
                action.state = None
        session.number = max(session.number, given or 0)

    def _see_frame(self, message: Message) -> None:
        session = self.session(message)
        if session is not None:
            session.framed = True

    def _connected(self, event: Opened | Closed) -> None:
        """A connection begins or ends."""
        if isinstance(event, Opened):
            self.opened.add(event.connection)
            self.ended.pop(event.connection, None)
            for known in (self._current, self._greetings, self._manifests):
                known.pop(event.connection, None)
        else:
            self.ended[event.connection] = event

    def _follow(self, message: Message) -> None:
        """Learn from a message."""
        learn = _LESSONS.get(message.name)
        if learn is not None:
            learn(self, message)

    def _greet(self, message: Message) -> None:
        self._greetings[message.event.connection] = message
        if not message.name.endswith(".error"):
            self._manifests[message.event.connection] = table(message.at("/result"))

    def _remanifest(self, message: Message) -> None:
        self._manifests[message.event.connection] = table(message.at("/result"))

    def _open(self, message: Message) -> None:
        request = message.request
        self._begin(message, table(request.at("/params")) if request else {}, whole=request is not None)

    def _begin(self, message: Message, asked: dict[str, Any], *, whole: bool) -> Session:
        connection, ready = message.event.connection, table(message.at("/result"))
        greeting = self._greetings.get(connection)
        greeted = greeting.request if greeting else None
        agent = table(greeted.at("/params")) if greeted else {}
        session = Session(
            str(ready.get("session_id")),
            connection,
            asked,
            ready,
            self._manifests.get(connection, {}),
            agent,
            whole,
            message,
            framed=connection in self.opened,
        )
        self._current[connection] = session.key
        self.sessions[session.key] = session
        self._grant(session, table(ready.get("granted")).get("channels"))
        return session

    def _resume(self, message: Message) -> None:
        ready = table(message.at("/result"))
        session = self.sessions.get(str(ready.get("session_id")))
        if session is None:
            session = self._begin(message, {}, whole=False)
        session.connection = message.event.connection
        session.resumed += 1
        session.ready = {**ready, "granted": session.granted or ready.get("granted")}
        self._current[message.event.connection] = session.key
        self._grant(session, table(ready.get("granted")).get("channels"))

    def _subscribe(self, message: Message) -> None:
        session = self.session(message)
        if session is not None:
            self._grant(session, message.at("/result/granted"))

    def _grant(self, session: Session, rows: Any) -> None:
        declared = tables(session.manifest.get("observation_channels"))
        declared += tables(session.manifest.get("command_channels"))
        session.channels = {
            place: Channel(
                str(row.get("channel")),
                number(row.get("rate_hz")),
                next((one for one in declared if one.get("id") == row.get("channel")), {}),
            )
            for row in tables(rows)
            if (place := whole(row.get("channel_id"))) is not None
        }

    def _closing(self, message: Message) -> None:
        session = self.session(message)
        if session is not None and session.closing is None:
            session.closing = message

    def _closed(self, message: Message) -> None:
        session = self.session(message)
        if session is not None and (message.name != "session.state" or _says(message) == "closed"):
            session.closed = True

    def _admit(self, message: Message) -> None:
        session, request = self.session(message), message.request
        if session is None or request is None:
            return
        name = str(request.at("/params/action_id"))
        if name not in session.actions:
            session.actions[name] = Action(
                name, request, received=whole(message.at("/result/received_ts_mono_ns"))
            )
            _take(session.actions[name], message, "/result")

    def _status(self, message: Message) -> None:
        session = self.session(message)
        at = "/result" if message.request else "/params"
        if session is not None:
            name = str(message.at(f"{at}/action_id"))
            _take(session.actions.setdefault(name, Action(name)), message, at)


def _is_about(key: Any, name: str) -> bool:
    return bool(key == name or (isinstance(key, tuple) and name in key))


def _says(message: Message) -> Any:
    return message.at("/params/state")


def _take(action: Action, message: Message, at: str) -> None:
    """Take over what a message says of an action, unless it is older than what is known."""
    state, seq = message.at(f"{at}/state"), whole(message.at(f"{at}/status_seq"))
    if seq is None or not isinstance(state, str):
        action.state = None
    elif seq > action.number:
        action.state, action.number = state, seq
        action.entered.setdefault(state, whole(message.at(f"{at}/ts_mono_ns")))
        action.told.setdefault(state, message.event)


_LESSONS: dict[str, Callable[[Memory, Message], None]] = {
    "initialize.result": Memory._greet,
    "initialize.error": Memory._greet,
    "world.manifest.result": Memory._remanifest,
    "session.open.result": Memory._open,
    "session.resume.result": Memory._resume,
    "obs.subscribe.result": Memory._subscribe,
    "obs.unsubscribe.result": Memory._subscribe,
    "session.close": Memory._closing,
    "session.close.result": Memory._closed,
    "session.state": Memory._closed,
    "action.submit.result": Memory._admit,
    "action.status": Memory._status,
    "action.cancel.result": Memory._status,
}
