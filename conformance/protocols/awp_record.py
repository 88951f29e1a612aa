"""Agent World Protocol: what a record tells of its connections, sessions, grants and actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from conformance.checks import Observation
from conformance.correlation import Message, is_from_the_wrong_side
from conformance.events import Closed, Opened
from conformance.packs import Pack
from conformance.protocols.awp_course import ANY, MOVED, Course
from conformance.protocols.awp_things import (
    NUMBERED,
    Action,
    Channel,
    Frame,
    Session,
    numbered,
    situation,
)
from conformance.protocols.awp_values import number, table, tables, whole

ENDED = 250
"""So many sessions are remembered at least that are over."""

Step = tuple[str | None, str | None]
"""A status: the state in which its action is known to have stood before, and the one that it says."""

FRAMES: Final = ("obs.frame", "cmd.frame")

_NO_PARAMS: Final[dict[str, Any]] = {}

_NOWHERE: Final = situation("", False, True)


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
        self.params = _NO_PARAMS
        """The params of the message that is judged; none where it has none."""
        self.here: Session | None = None
        """The session of its connection, if one is known."""
        self.situation = _NOWHERE
        """That of the session."""
        self.tick: int | None = None
        """The tick that a frame, or a message of `NUMBERED`, says."""
        self.time: int | None = None
        """The session time that such a message says."""
        self.case = ANY
        """What is the case with a frame or a status, as far as that is known."""
        self.number: int | None = None
        """Its status_seq, if it is one of `NUMBERED` and has one."""
        self.is_news = False
        """Whether that is greater than all that the session gave before."""
        self.given: dict[str, int] = {}
        """The greatest number that each session gave, since something of it was in doubt."""
        self.frame: Frame | None = None
        """What it is if it is a frame of a channel that its session was granted."""
        self.of: Action | None = None
        """The action that it is a status of, if that is known."""
        self.step: Step | None = None
        """Which step of an action it is, if it is a status."""
        self.now: Observation | None = None
        self.judged = False
        """Whether the message that is observed now can be judged."""
        self._due: Message | None = None
        self._courses: dict[str, Course] = {}
        self.noted: list[dict[Any, Any]] = [self.given, self._courses]
        """The notes of all rules."""
        self.sessions: dict[str, Session] = {}
        self._by_token: dict[str, dict[str, None]] = {}
        self._over: dict[str, None] = {}
        self.opened: dict[str, str] = {}  # connection → where it leads, where that is known
        self.ended: dict[str, Closed] = {}
        self._current: dict[str, str] = {}
        self._greetings: dict[str, Message] = {}
        self._manifests: dict[str, dict[str, Any]] = {}

    def attend(self, seen: Observation) -> bool:
        """Learn from what came before; whether this message can be judged, of which nothing is learnt yet."""
        if seen is not self.now:
            if self._due is not None:
                self.catch_up()
            self.now = seen
            self.judged = self._meet(seen)
        return self.judged

    def catch_up(self) -> None:
        """Learn from the message that was judged last."""
        due, self._due = self._due, None
        if due is not None:
            self._follow(due)

    def _meet(self, seen: Observation) -> bool:
        message = seen.message
        if message is None or message.kind is None:
            self._miss(seen)
            return False
        if not seen.plain and is_from_the_wrong_side(message):
            self._lose(seen)
            return False
        self._look_at(message)
        for moved in seen.moved:
            if moved.move.illegal and not moved.report:
                # What cannot be is another requirement's finding, and nothing follows from it.
                self._follow(message)
                self._doubt(message)
                return False
        if message.name in _LESSONS:
            self._due = message
        if self.here is not None and message.name in _TELLING:
            self._take(message, self.here)
        return True

    def _miss(self, seen: Observation) -> None:
        """What is observed is no message that could be understood."""
        if seen.message is None and isinstance(seen.event, (Opened, Closed)):
            self._connected(seen.event)
        if seen.lost is None or seen.message is not None:
            self._lose(seen)

    def _look_at(self, message: Message) -> None:
        """What rules ask of every message, or of many."""
        name, key = message.name, self._current.get(message.event.connection)
        here = self.here = None if key is None else self.sessions.get(key)
        params = message.value.get("params") if type(message.value) is dict else None
        self.params = params if type(params) is dict else _NO_PARAMS
        self.again = self.is_news = False
        self.number = self.frame = self.of = self.step = None
        self.situation, self.case = _NOWHERE if here is None else here.situation, ANY
        if name in FRAMES:
            self._look_at_frame(here, shown=name == "obs.frame")
        elif name in NUMBERED:
            self.number = numbered(message)
            self._count(message, self.number)
            self.tick, self.time = whole(self.params.get("tick")), whole(self.params.get("ts_mono_ns"))
            if name == "action.status":
                self._look_at_status(here)

    def _look_at_frame(self, here: Session | None, *, shown: bool) -> None:
        params = self.params
        tick, time = self.tick, self.time = whole(params.get("tick")), whole(params.get("ts_mono_ns"))
        place = whole(params.get("channel_id"))
        if here is None:
            return
        channel = None if place is None else here.channels.get(place)
        if channel is not None and place is not None:
            frame = channel.shown if shown else channel.commanded
            frame = self.frame = frame or channel.frame(here, place, shown=shown)
            self.case = frame.follow(params, tick, time)
        if shown:
            here.framed = True
            here.course.show(place, tick, time, noted=here.whole and here.direct)
            here.course.tell(tick if here.mode == "lockstep" else time)

    def _look_at_status(self, here: Session | None) -> None:
        state = self.params.get("state")
        action = None if here is None else here.actions.get(str(self.params.get("action_id")))
        self.of, before = action, None if action is None else action.state
        self.step = before, state if isinstance(state, str) else None
        if here is not None:
            pace = here.course.pace
            moved = pace.advances and (self.tick != pace.tick or self.time != pace.time)
            self.case = MOVED if moved else 0

    def _take(self, message: Message, here: Session) -> None:
        """Take over how late it is, and which number was given, from a message that can be judged."""
        here.course.tell(_now(self, message))
        if self.number is not None and not self.again:
            before = self.given.get(here.key, -1)
            if self.number > before:
                self.given[here.key] = self.number
            self.is_news = self.number > max(before, 0)

    @property
    def mode(self) -> str:
        """The time model of the session; empty where that is not known."""
        return self.situation.mode

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
        for one in about:
            self.doubts[one] = self.doubted
            self._void(one)

    def _void(self, about: str | None) -> None:
        """What is known of the course of a session, or of all of them, may be wrong."""
        for key in [*self._courses, *self.given] if about is None else [about]:
            self.given.pop(key, None)
            session = self.sessions.get(key)
            if session is not None:
                self._courses[key] = session.doubt()
            else:
                self._courses.pop(key, None)

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
        """The action that the message that is judged names, a status or a result."""
        return self.of if message.name == "action.status" else _named(self, message)

    def status(self) -> tuple[Session, Action, int] | None:
        """The session, the action and the session time of a status; None where one of them is not known."""
        session, action, now = self.here, self.of, self.time
        return None if session is None or action is None or now is None else (session, action, now)

    def others(self, message: Message) -> Iterable[Session]:
        """Other sessions that are open, on connections that are."""
        for session in self.sessions.values():
            elsewhere = session.connection != message.event.connection
            if elsewhere and not session.closed and session.connection not in self.ended:
                yield session

    def with_token(self, token: Any) -> list[Session]:
        """The sessions that have this token."""
        keys = self._by_token.get(token, ()) if isinstance(token, str) else self.sessions
        known = (self.sessions.get(key) for key in keys)
        return [one for one in known if one is not None and one.ready.get("session_token") == token]

    def _note_token(self, session: Session) -> None:
        token = session.ready.get("session_token")
        if isinstance(token, str):
            self._by_token.setdefault(token, {})[session.key] = None

    def _end(self, key: str) -> None:
        """The session is over, or its connection is; the latest of those are remembered."""
        self._over[key] = None
        if len(self._over) >= 2 * ENDED:
            self._drop([*self._over][:ENDED])

    def _drop(self, keys: list[str]) -> None:
        gone: set[Any] = set(keys)
        for key in keys:
            del self._over[key]
            session = self.sessions.pop(key, None)
            if session is None:
                continue
            self._by_token.pop(str(session.ready.get("session_token")), None)
            if self.ended.pop(session.connection, None) is not None:
                gone.add(session.connection)
                self.opened.pop(session.connection, None)
                for known in (self._current, self._greetings, self._manifests):
                    known.pop(session.connection, None)
        for notes in self.noted:
            for about in [
                one for one in notes if one in gone or (type(one) is tuple and not gone.isdisjoint(one))
            ]:
                del notes[about]

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
        action = _named(self, message)
        if action is not None:
            action.state = None

    def _count(self, message: Message, given: int | None) -> None:
        """Where a number is missing, so is what was told under it, and nobody knows what that was."""
        session = self.here
        if session is None:
            return
        self.again = message.request is None and given is not None and given <= session.number
        first = session.number == 0 and not session.whole
        if given is None or (given > session.number + 1 and not first):
            self._note_doubt(self._scope(message))
            for action in session.actions.values():
                action.state = None
        session.number = max(session.number, given or 0)

    def _connected(self, event: Opened | Closed) -> None:
        """A connection begins or ends."""
        if isinstance(event, Opened):
            self.opened[event.connection] = event.detail
            self.ended.pop(event.connection, None)
            for known in (self._current, self._greetings, self._manifests):
                known.pop(event.connection, None)
        else:
            self.ended[event.connection] = event
            key = self._current.get(event.connection)
            if key is not None:
                self._end(key)

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
        asked = table(request.at("/params")) if request else {}
        session = self._begin(message, asked, whole=request is not None)
        session.course.clock = whole(message.at("/result/tick")) or 0

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
        session.again = session.key in self.sessions
        session.change()
        session.course = self._courses.setdefault(session.key, session.course)
        self._current[connection] = session.key
        self.sessions[session.key] = session
        self._note_token(session)
        self._grant(session, table(ready.get("granted")).get("channels"))
        return session

    def _resume(self, message: Message) -> None:
        ready = table(message.at("/result"))
        session = self.sessions.get(str(ready.get("session_id")))
        if session is None:
            session = self._begin(message, {}, whole=False)
        session.connection = message.event.connection
        session.resumed += 1
        session.change()
        self._over.pop(session.key, None)
        session.use({**ready, "granted": session.granted or ready.get("granted")})
        self._note_token(session)
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
            session.change()
            self._end(session.key)

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
            name = str(table(message.at(at)).get("action_id"))
            action = session.actions.get(name)
            if action is None:
                action = session.actions[name] = Action(name)
            _take(action, message, at)


def _named(memory: Memory, message: Message) -> Action | None:
    session, name = memory.here, table(memory.params or message.at("/result")).get("action_id")
    return session.actions.get(str(name)) if session else None


def _is_about(key: Any, name: str) -> bool:
    return bool(key == name or (isinstance(key, tuple) and name in key))


def _says(message: Message) -> Any:
    return message.at("/params/state")


def _take(action: Action, message: Message, at: str) -> None:
    """Take over what a message says of an action, unless it is older than what is known."""
    told = table(message.at(at))
    state, seq = told.get("state"), whole(told.get("status_seq"))
    if seq is None or not isinstance(state, str):
        action.state = None
    elif seq > action.number:
        action.state, action.number = state, seq
        if state not in action.entered:
            action.entered[state] = whole(told.get("ts_mono_ns"))
            action.told[state] = message.event


_TELLING = frozenset((*NUMBERED, "world.tick.result", "ping.result"))
"""What gives a number, or says how late it is."""


def _now(memory: Memory, message: Message) -> int | None:
    """How late it is by what the world says: the tick in lockstep, else the time."""
    lockstep, name = memory.mode == "lockstep", message.name
    if name in ("action.status", "session.state"):
        return memory.tick if lockstep else memory.time
    if name == "world.tick.result" and lockstep:
        return whole(message.at("/result/tick"))
    if name == "ping.result" and not lockstep and message.party != "agent":
        return whole(message.at("/result/transmit_ns"))
    return None


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
