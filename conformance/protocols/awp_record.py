"""Agent World Protocol: what a record tells of its connections, sessions, grants and actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from conformance.checks import Observation
from conformance.correlation import Message, is_from_the_wrong_side
from conformance.events import Closed, Opened
from conformance.integers import counter as whole
from conformance.packs import Pack
from conformance.protocols.awp_course import ANY, MOVED, STREAMED, Course
from conformance.protocols.awp_registry import Registry
from conformance.protocols.awp_things import (
    NUMBERED,
    Action,
    Frame,
    Session,
    situation,
)
from conformance.protocols.awp_values import table

Step = tuple[str | None, str | None]
"""A status: the state in which its action is known to have stood before, and the one that it says."""

FRAMES: Final[tuple[str, ...]] = ("obs.frame", "cmd.frame")

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
        self._manifest: dict[str, Any] = {}
        self._found: dict[Any, Any] = {}
        self._courses: dict[str, Course] = {}
        self.noted: list[dict[Any, Any]] = [self.given, self._courses]
        """The notes of all rules."""
        self.registry = Registry(self._courses, self.noted)
        self.sessions, self.opened, self.ended = (
            self.registry.sessions,
            self.registry.opened,
            self.registry.ended,
        )

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
        sort = _SORTS.get(message.name, 0)
        self._look_at(message, sort)
        for moved in seen.moved:
            if moved.move.illegal and not moved.report:
                # What cannot be is another requirement's finding, and nothing follows from it.
                self._follow(message)
                self._doubt(message)
                return False
        if sort & _TEACHES:
            self._due = message
        if sort & _TELLS and self.here is not None:
            self._take(message, self.here)
        return True

    def _miss(self, seen: Observation) -> None:
        """What is observed is no message that could be understood."""
        if seen.message is None and isinstance(seen.event, (Opened, Closed)):
            self.registry.connected(seen.event)
        if seen.lost is None or seen.message is not None:
            self._lose(seen)

    def _look_at(self, message: Message, sort: int) -> None:
        """What rules ask of every message of its sort, or of many."""
        value, key = message.value, self.registry.current.get(message.event.connection)
        here = self.here = None if key is None else self.sessions.get(key)
        params = value.get("params") if type(value) is dict else None
        self.params = params if type(params) is dict else _NO_PARAMS
        self.again = self.is_news = False
        self.number = self.frame = self.of = self.step = None
        self.situation, self.case = _NOWHERE if here is None else here.situation, ANY
        if sort & _FRAME:
            self._look_at_frame(here, bool(sort & _SHOWN))
        elif sort & _NUMBERED:
            told = message.at("/result") if sort & _ANSWERS else self.params
            self.number = whole(told.get("status_seq")) if type(told) is dict else None
            self._count(message, self.number)
            self.tick, self.time = whole(self.params.get("tick")), whole(self.params.get("ts_mono_ns"))
            if sort & _STATUS:
                self._look_at_status(here)

    def _look_at_frame(self, here: Session | None, shown: bool) -> None:
        params = self.params
        tick, time = self.tick, self.time = whole(params.get("tick")), whole(params.get("ts_mono_ns"))
        place = whole(params.get("channel_id"))
        if here is None:
            return
        channel = None if place is None else here.channels.get(place)
        if channel is not None and place is not None:
            frame = channel.shown if shown else channel.commanded
            if frame is None:
                frame = channel.frame(here, place, shown)
            self.frame = frame
            self.case = frame.follow(params, tick, time)
        if shown:
            here.framed = True
            course = here.course
            course.show(place, tick, time, here.whole and here.direct)
            course.tell(tick if here.mode == "lockstep" else time)

    def _look_at_status(self, here: Session | None) -> None:
        state = self.params.get("state")
        action = None if here is None else here.actions.get(str(self.params.get("action_id")))
        self.of, before = action, None if action is None else action.state
        self.step = before, state if isinstance(state, str) else None
        if here is not None:
            pace = here.course.pace
            moved = pace.advances and (self.tick != pace.tick or self.time != pace.time)
            self.case = (MOVED if moved else 0) | (STREAMED if "stream" in self.params else 0)

    def _take(self, message: Message, here: Session) -> None:
        """Take over how late it is, and which number was given, from a message that can be judged."""
        here.course.tell(_now(self, message))
        if self.number is not None and not self.again:
            before = self.given.get(here.key, -1)
            if self.number > before:
                self.given[here.key] = self.number
            self.is_news = self.number > max(before, 0)

    def found_of(self, manifest: dict[str, Any]) -> dict[Any, Any]:
        """What follows from a manifest, by keys of who has found it out: most sessions have the same one."""
        if manifest is not self._manifest:
            self._manifest, self._found = manifest, {}
        return self._found

    @property
    def mode(self) -> str:
        """The time model of the session; empty where that is not known."""
        return self.situation.mode

    @property
    def complete(self) -> bool:
        """Whether everything was understood that may matter to the message that is judged."""
        if not self.doubts:
            return True
        message = self.now.message if self.now else None
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
        session = self.registry.session(message)
        return [message.event.connection, *([session.key] if session else [])]

    def action(self, message: Message) -> Action | None:
        """The action that the message that is judged names, a status or a result."""
        return self.of if message.name == "action.status" else _named(self, message)

    def status(self) -> tuple[Session, Action, int] | None:
        """The session, the action and the session time of a status; None where one of them is not known."""
        session, action, now = self.here, self.of, self.time
        return None if session is None or action is None or now is None else (session, action, now)

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

    def _follow(self, message: Message) -> None:
        """Learn from a message."""
        learn = _LESSONS.get(message.name)
        if learn is not None:
            learn(self, message)

    def _admit(self, message: Message) -> None:
        session, request = self.registry.session(message), message.request
        if session is None or request is None:
            return
        name = str(request.at("/params/action_id"))
        if name not in session.actions:
            session.actions[name] = Action(
                name, request, received=whole(message.at("/result/received_ts_mono_ns"))
            )
            _take(session.actions[name], message, table(message.at("/result")))

    def _status(self, message: Message) -> None:
        session = self.registry.session(message)
        if session is not None:
            told = table(message.at("/result")) if message.request is not None else self.params
            name = str(told.get("action_id"))
            action = session.actions.get(name)
            if action is None:
                action = session.actions[name] = Action(name)
            _take(action, message, told)


def _named(memory: Memory, message: Message) -> Action | None:
    session, name = memory.here, table(memory.params or message.at("/result")).get("action_id")
    return session.actions.get(str(name)) if session else None


def _is_about(key: Any, name: str) -> bool:
    return bool(key == name or (isinstance(key, tuple) and name in key))


def _take(action: Action, message: Message, told: dict[str, Any]) -> None:
    """Take over what a message says of an action, unless it is older than what is known."""
    state, seq = told.get("state"), whole(told.get("status_seq"))
    if seq is None or not isinstance(state, str):
        action.state = None
    elif seq > action.number:
        action.state, action.number = state, seq
        if state not in action.entered:
            action.entered[state] = whole(told.get("ts_mono_ns"))
            action.told[state] = message.event


def _now(memory: Memory, message: Message) -> int | None:
    """How late it is by what the world says: the tick in lockstep, else the time."""
    lockstep, name = memory.situation.mode == "lockstep", message.name
    if name == "action.status" or name == "session.state":
        return memory.tick if lockstep else memory.time
    if name == "world.tick.result" and lockstep:
        return whole(message.at("/result/tick"))
    if name == "ping.result" and not lockstep and message.party != "agent":
        return whole(message.at("/result/transmit_ns"))
    return None


_TIMED: Final[tuple[str, ...]] = ("world.tick.result", "ping.result")
"""What says how late it is, and has no number."""

_LESSONS: Final[dict[str, Callable[[Memory, Message], None]]] = {
    "initialize.result": lambda memory, message: memory.registry.greet(message),
    "initialize.error": lambda memory, message: memory.registry.greet(message),
    "world.manifest.result": lambda memory, message: memory.registry.remanifest(message),
    "session.open.result": lambda memory, message: memory.registry.open(message),
    "session.resume.result": lambda memory, message: memory.registry.resume(message),
    "obs.subscribe.result": lambda memory, message: memory.registry.subscribe(message),
    "obs.unsubscribe.result": lambda memory, message: memory.registry.subscribe(message),
    "session.close": lambda memory, message: memory.registry.closing(message),
    "session.close.result": lambda memory, message: memory.registry.closed(message),
    "session.state": lambda memory, message: memory.registry.closed(message),
    "action.submit.result": Memory._admit,
    "action.status": Memory._status,
    "action.cancel.result": Memory._status,
}


_FRAME: Final = 1
_SHOWN: Final = 2
_NUMBERED: Final = 4
_STATUS: Final = 8
_ANSWERS: Final = 16
_TEACHES: Final = 32
_TELLS: Final = 64


def _sort(name: str) -> int:
    """What there is to be done with messages of this name."""
    gives = name in NUMBERED
    return (
        (_FRAME if name in FRAMES else 0)
        | (_SHOWN if name == "obs.frame" else 0)
        | (_NUMBERED if gives else 0)
        | (_STATUS if name == "action.status" else 0)
        | (_ANSWERS if name.endswith(".result") else 0)
        | (_TEACHES if name in _LESSONS else 0)
        | (_TELLS if gives or name in _TIMED else 0)
    )


_SORTS: Final[dict[str, int]] = {name: _sort(name) for name in (*FRAMES, *NUMBERED, *_TIMED, *_LESSONS)}
"""The sorts of messages of which something is learnt, by their names."""
