"""Agent World Protocol: the sessions of a record, and the connections that serve them."""

from __future__ import annotations

from typing import Any, Final

from conformance.correlation import Message
from conformance.events import Closed, Opened
from conformance.integers import counter as whole
from conformance.protocols.awp_course import Course
from conformance.protocols.awp_things import Channel, Session
from conformance.protocols.awp_values import names, number, table, tables
from conformance.remembered import forget_oldest

ENDED: Final = 250
"""So many sessions are remembered at least that are over."""


WRITTEN: Final = 16
"""So many manifests are remembered word for word."""


class Registry:
    """Which sessions there are, and which of them each connection serves.

    `courses` are those of the sessions, by their keys. Of a session that is forgotten, nothing is left in
    the dicts of `noted`.
    """

    def __init__(self, courses: dict[str, Course], noted: list[dict[Any, Any]]) -> None:
        self._courses = courses
        self._noted = noted
        self.sessions: dict[str, Session] = {}
        self.current: dict[str, str] = {}
        """The key of the session that each connection serves."""
        self.opened: dict[str, str] = {}  # connection → where it leads, where that is known
        self.ended: dict[str, Closed] = {}
        self._by_token: dict[str, dict[str, None]] = {}
        self._over: dict[str, None] = {}
        self._live: dict[str, Session] = {}
        self._with: dict[tuple[str, str], dict[str, Session]] = {}
        """Those of these that bind an embodiment, and those that hold a grant, by its name."""
        self._greetings: dict[str, Message] = {}
        self._manifests: dict[str, dict[str, Any]] = {}
        self._written: dict[str, dict[str, Any]] = {}
        """The manifests that were given, by the texts of the messages that gave them."""

    def session(self, message: Message) -> Session | None:
        """The session of the message's connection, if one is known."""
        key = self.current.get(message.event.connection)
        return None if key is None else self.sessions.get(key)

    def greeting(self, message: Message) -> Message | None:
        """The last answer to initialize on the message's connection."""
        return self._greetings.get(message.event.connection)

    def manifest(self, message: Message) -> dict[str, Any]:
        """The manifest that was last given on the message's connection."""
        return self._manifests.get(message.event.connection, {})

    def others_with(self, what: str, name: str, message: Message) -> list[Session]:
        """Other sessions that are open, on connections that are, with an `embodiment` or a `grant`."""
        place = message.event.connection
        return [one for one in self._with.get((what, name), {}).values() if one.connection != place]

    def are_others(self, message: Message) -> bool:
        """Whether there are other sessions that are open, on connections that are."""
        mine = self._live.get(self.current.get(message.event.connection, ""))
        return len(self._live) > (0 if mine is None else 1)

    def _live_on(self, session: Session) -> None:
        """The session is open."""
        key = session.key
        self._die(key)
        self._over.pop(key, None)
        self._live[key] = session
        for place in _held(session):
            self._with.setdefault(place, {})[key] = session

    def _die(self, key: str) -> None:
        session = self._live.pop(key, None)
        for place in () if session is None else _held(session):
            known = self._with.get(place, {})
            known.pop(key, None)
            if not known:
                self._with.pop(place, None)

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
        self._die(key)
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
            session.let_go()
            self._by_token.pop(str(session.ready.get("session_token")), None)
            if self.ended.pop(session.connection, None) is not None:
                gone.add(session.connection)
                self.opened.pop(session.connection, None)
                for known in (self.current, self._greetings, self._manifests):
                    known.pop(session.connection, None)
        for notes in self._noted:
            for about in [
                one for one in notes if one in gone or (type(one) is tuple and not gone.isdisjoint(one))
            ]:
                del notes[about]

    def connected(self, event: Opened | Closed) -> None:
        """A connection begins or ends."""
        if isinstance(event, Opened):
            self.opened[event.connection] = event.detail
            self.ended.pop(event.connection, None)
            for known in (self.current, self._greetings, self._manifests):
                known.pop(event.connection, None)
        else:
            self.ended[event.connection] = event
            key = self.current.get(event.connection)
            if key is not None:
                self._end(key)

    def greet(self, message: Message) -> None:
        """Learn from an answer to initialize."""
        self._greetings[message.event.connection] = message
        if not message.name.endswith(".error"):
            self._manifests[message.event.connection] = self._given(message)

    def remanifest(self, message: Message) -> None:
        """Learn from a manifest that is given again."""
        self._manifests[message.event.connection] = self._given(message)

    def _given(self, message: Message) -> dict[str, Any]:
        """The manifest that a message gives: one and the same for all that are so word for word."""
        text = message.event.text
        manifest = self._written.get(text)
        if manifest is None:
            manifest = self._written[text] = table(message.at("/result"))
            forget_oldest(self._written, WRITTEN)
        return manifest

    def open(self, message: Message) -> None:
        """Learn from a session that begins."""
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
        self.current[connection] = session.key
        if session.again:
            self.sessions[session.key].let_go()
        self.sessions[session.key] = session
        self._live_on(session)
        self._note_token(session)
        self._grant(session, table(ready.get("granted")).get("channels"))
        return session

    def resume(self, message: Message) -> None:
        """Learn from a session that goes on."""
        ready = table(message.at("/result"))
        session = self.sessions.get(str(ready.get("session_id")))
        if session is None:
            session = self._begin(message, {}, whole=False)
        session.connection = message.event.connection
        session.resumed += 1
        session.change()
        self._die(session.key)
        session.use({**ready, "granted": session.granted or ready.get("granted")})
        self._live_on(session)
        self._note_token(session)
        self.current[message.event.connection] = session.key
        self._grant(session, table(ready.get("granted")).get("channels"))

    def subscribe(self, message: Message) -> None:
        """Learn from a subscription that is changed."""
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

    def closing(self, message: Message) -> None:
        """Learn from a session that is asked to close."""
        session = self.session(message)
        if session is not None and session.closing is None:
            session.closing = message

    def closed(self, message: Message) -> None:
        """Learn from a session that is closed, if it is."""
        session = self.session(message)
        if session is not None and (
            message.name != "session.state" or message.at("/params/state") == "closed"
        ):
            session.closed = True
            session.change()
            self._end(session.key)


def _held(session: Session) -> list[tuple[str, str]]:
    grants = names(session.granted.get("admin"))
    return [*(("embodiment", body) for body in session.bodies), *(("grant", grant) for grant in grants)]
