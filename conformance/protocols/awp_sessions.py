"""Agent World Protocol: how sessions begin, go on and end, and over which connections."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from conformance.correlation import Message
from conformance.events import Event
from conformance.integers import counter as whole
from conformance.lapses import Lapse, between
from conformance.patterns import matches
from conformance.protocols.awp_record import Memory
from conformance.protocols.awp_rules import HOLDS, NOTHING, PRAISED, Told, rule, timed
from conformance.protocols.awp_things import TERMINAL, Session
from conformance.protocols.awp_values import names, table, tables

OURS: Final = range(1000, 5000)
"""The codes of the protocol's own errors."""

RANGE: Final = 2006
"""The error that answers an integer out of range, whatever else was wrong."""


def refused(message: Message, code: int, why: str) -> Iterable[Told]:
    """What to say of the answer to a request that has to be refused with `code`."""
    found = whole(message.at("/error/code"))
    if not message.name.endswith(".error"):
        yield Told(f"{why}, so {code} is the answer, and this is a result", expected=(code,))
    elif found == code:
        yield HOLDS
    elif found in OURS and found != RANGE:
        yield Told(f"{why}, so {code} is the answer, and this is {found}", "/error/code", (code,), found)


@rule("initialize.result")
def version(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-VER-002: the world answers with a version that the agent offered."""
    offered = names(message.request.at("/params/protocol_versions")) if message.request else []
    chosen = message.at("/result/protocol_version")
    if not offered or not isinstance(chosen, str) or not matches("^[0-9]+\\.[0-9]+$", chosen):
        return
    if chosen in offered:
        yield HOLDS
    else:
        said = f"the version {chosen} was not offered; offered: {', '.join(offered)}"
        yield Told(said, "/result/protocol_version", tuple(offered), chosen)


@rule("session.open")
def refused_version(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-AGT-001: an agent whose versions were all refused opens no session on that connection."""
    greeting = memory.registry.greeting(message)
    if greeting is None:
        return
    if whole(greeting.at("/error/code")) == 1001:
        yield Told("a session is asked for, and initialize found no version in common")
    elif not greeting.name.endswith(".error"):
        yield HOLDS


@rule("session.open")
def manifest(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-AGT-002: an agent opens no session against a manifest that the published schema refuses."""
    declared = memory.registry.manifest(message)
    if not declared:
        return NOTHING
    found = memory.found_of(declared)
    if "valid" not in found:
        schemas = memory.pack.schemas("receiver")
        found["valid"] = schemas.is_valid("world-manifest.schema.json", declared)
    if found["valid"]:
        return PRAISED
    return [Told("a session is asked for, and the manifest that was given is not valid")]


@rule("session.open.result", "session.resume.result")
def initialized(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-SES-001: a session is opened or resumed on a connection on which initialize succeeded."""
    greeting = memory.registry.greeting(message)
    if greeting is not None and not greeting.name.endswith(".error"):
        yield HOLDS
    elif message.event.connection in memory.opened and memory.complete:
        yield Told("a session begins, and initialize did not succeed on this connection before")


@dataclass(slots=True)
class _Standing:
    """The state that a session last reported, and over how many resumptions."""

    state: str
    resumed: int = 0


@rule("session.state")
def states(memory: Memory, message: Message) -> Iterable[Told]:
    """Session states follow each other as the table `moves` says; this judges what follows `from`.

    With `resumed` it judges alone what is first said after a resumption, else all that is not.
    """
    session, state = memory.here, memory.params.get("state")
    if session is None:
        return NOTHING
    stood: _Standing | None = memory.notes.get(session.key)
    if stood is None:
        begun = "negotiating" if session.whole and memory.complete else ""
        stood = memory.notes[session.key] = _Standing(begun)
    if not memory.is_news or not isinstance(state, str):
        return NOTHING  # it is said again
    return _state(memory, session, stood, state)


def _state(memory: Memory, session: Session, stood: _Standing, state: str) -> Iterable[Told]:
    # That it was active before it was suspended may have been lost with the connection, and is said again.
    missed = state == "active" and memory.params.get("reason") == "first_activity"
    before, resumed = stood.state, session.resumed > stood.resumed and not missed
    stood.state = state
    if state == "active" and not missed:
        stood.resumed = session.resumed  # so the resumption is over
    if before not in memory.options["from"] or memory.options.get("resumed", resumed) != resumed:
        return NOTHING
    allowed = memory.options["moves"].get(before, [])
    if state in allowed:
        return PRAISED
    said = f"the session goes from {before} to {state}; allowed: {', '.join(allowed) or 'nothing'}"
    return [Told(said, "/params/state", tuple(allowed), state)]


@rule("session.open.result", "session.open.error")
def second(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-CTL-007: a second session.open on a connection that holds a session fails with 2004."""
    session = memory.here
    if session is not None and not session.closed and session.connection == message.event.connection:
        yield from refused(message, 2004, f"the connection holds the session {session.key}")


@rule("session.resume.result", "session.resume.error")
def resumable(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-CTL-005: a session whose connection was lost can be resumed within its reconnect_window_ms."""
    token = message.request.at("/params/session_token") if message.request else None
    session = next(iter(memory.registry.with_token(token)), None)
    if session is None or session.closed or session.closing:
        return
    if message.name.endswith(".result"):
        yield HOLDS
    elif whole(message.at("/error/code")) == 2003:
        lost, window = memory.ended.get(session.connection), whole(session.ready.get("reconnect_window_ms"))
        lapse = between(lost, message.event) if lost else None
        early = lapse.falls_short((window - 500) / 1000) if lapse and window is not None else False
        if lapse and early is not False:
            said = "the session is refused as expired, and its reconnect window is open"
            yield timed(Told(said, "/error/code"), lapse, early)


@rule(
    *("session.resume.error", "session.open", "action.submit", "action.cancel"),
    *("obs.subscribe", "world.tick"),
    begins=["session.resume.error"],
)
def unknown(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-SES-008: an agent whose session is unknown to the world opens a new one before anything else."""
    place = message.event.connection
    if message.name == "session.resume.error":
        memory.notes[place] = whole(message.at("/error/code")) == 2005
    elif memory.notes.get(place) and memory.here is None:
        if message.name == "session.open":
            yield HOLDS
        else:
            yield Told(f"{message.name} goes on with a session that the world does not know (2005)")


@rule("session.open.result", "session.resume.result")
def identity(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-SES-009: a session keeps its session_id, and no other has the same."""
    name, token = message.at("/result/session_id"), None
    if message.name == "session.open.result":
        if isinstance(name, str) and name in memory.sessions:
            yield Told(f"the session_id {name} is that of an earlier session", "/result/session_id", (), name)
        return
    token = message.request.at("/params/session_token") if message.request else None
    for session in memory.registry.with_token(token):
        if session.key == name:
            yield HOLDS
        else:
            said = f"the session was {session.key}, and is resumed as {name}"
            yield Told(said, "/result/session_id", (session.key,), name)


@rule(
    *("obs.frame", "action.status", "session.state", "world.event", "session.telemetry"),
    "session.resume.result",
    resumed=True,
)
def replaced(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-SES-010: a session that was resumed on a new connection says nothing more on the old one."""
    session, place = memory.here, message.event.connection
    if message.name == "session.resume.result":
        known = memory.sessions.get(str(message.at("/result/session_id")))
        return NOTHING if known is None or known.connection == place else PRAISED
    if session is None or session.connection == place:
        return NOTHING
    return [Told(f"{message.name} comes on a connection that was replaced by {session.connection}")]


@rule("action.submit.result", "action.submit.error")
def closing(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-SES-011: a session that was asked to close admits no further action."""
    session, request = memory.here, message.request
    if session is None or request is None or session.closing is None or request.seq < session.closing.seq:
        return
    known = session.actions.get(str(request.at("/params/action_id")))
    if message.name.endswith(".result") and known is None:
        yield Told("an action is admitted that was submitted after session.close", expected=(2003,))
    elif whole(message.at("/error/code")) == 2003:
        yield HOLDS


def _stayed_closed(memory: Memory) -> Iterable[Message]:
    return list(memory.notes.values())


NOTIFIED: Final[tuple[str, ...]] = ("obs.frame", "action.status", "world.event", "session.telemetry")


ANSWERED: Final[tuple[str, ...]] = ("session.close.result", "session.open.result", "session.resume.result")


@rule(*ANSWERED, *NOTIFIED, ending=_stayed_closed, begins=["session.close.result"], closed=True)
def silent(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-SES-006: after the answer to session.close, nothing more is said of the session.

    An answer that came too early, while an action had not ended, is AWP-SES-011's finding alone.
    """
    place, session, notes = message.event.connection, memory.here, memory.notes
    if message.name not in ANSWERED:
        if notes.pop(place, None) is None:
            return NOTHING
        return [Told(f"{message.name} comes after session.close was answered")]
    if message.name != "session.close.result":
        notes.pop(place, None)
    elif session and all(action.state in TERMINAL for action in session.actions.values()):
        notes[place] = message
    return NOTHING


LOOPBACK: Final[tuple[str, ...]] = ("localhost", "127.0.0.1", "::1")


@rule("session.open.result", "session.resume.result")
def plaintext(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-SEC-001: a session, or a stream endpoint, on another machine is encrypted."""
    yield from _encrypted(memory.opened.get(message.event.connection, ""), "")
    for place, endpoint in enumerate(tables(message.at("/result/stream_endpoints"))):
        yield from _encrypted(str(endpoint.get("url", "")), f"/result/stream_endpoints/{place}/url")


def _encrypted(text: str, pointer: str) -> Iterable[Told]:
    if not text:
        return
    url = urlsplit(text)
    if url.scheme in ("ws", "http") and url.hostname not in LOOPBACK:
        yield Told(f"{url.scheme}://{url.hostname} is neither encrypted nor on this machine", pointer)
    elif url.scheme in ("ws", "http", "wss", "https"):
        yield HOLDS


@rule("session.open.result", "session.resume.result")
def credential(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-SEC-006: the URL of a stream endpoint holds no credential."""
    for place, endpoint in enumerate(tables(message.at("/result/stream_endpoints"))):
        text = str(endpoint.get("url", ""))
        if not text and message.at("/result/session_token"):
            continue
        url = urlsplit(text)
        named = any("token" in name.lower() for name, _ in parse_qsl(url.query, keep_blank_values=True))
        if named or url.username or str(message.at("/result/session_token")) in text:
            yield Told("the URL holds a credential", f"/result/stream_endpoints/{place}/url")
        elif text:
            yield HOLDS


@rule("session.open.result")
def token(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-SEC-003: a session token is for one session, and is not its public name."""
    mine = message.at("/result/session_token")
    if memory.registry.with_token(mine):
        yield Told("another session has the same session_token", "/result/session_token")
    elif mine == message.at("/result/session_id"):
        yield Told("the session_token is the session_id, which is no secret", "/result/session_token")
    elif isinstance(mine, str):
        yield HOLDS


@rule("session.open.result")
def window(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-SAF-003: reconnect_window_ms is not shorter than the safe state's watchdog_ms."""
    safe = table(table(memory.registry.manifest(message).get("safety_policy")).get("safe_state"))
    watchdog, open_for = whole(safe.get("watchdog_ms")), whole(message.at("/result/reconnect_window_ms"))
    if watchdog is None or open_for is None:
        return
    if open_for >= watchdog:
        yield HOLDS
    else:
        said = f"the reconnect window is {open_for} ms, and the watchdog {watchdog} ms"
        yield Told(said, "/result/reconnect_window_ms", (watchdog,), open_for)


@dataclass(slots=True)
class _Beat:
    """When a side last sent a ping in a session, and how often it should."""

    last: Event
    every: float
    about: Message


@rule("session.open.result", "session.resume.result", "ping", "session.close")
def beats(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-SAF-001, AWP-AGT-006: `party` pings at least every heartbeat_interval_ms.

    Judged by the times of the record. They tell when a message was seen, not when it was sent, so it is
    missed only after `intervals` of them.
    """
    place = message.event.connection
    if message.name.endswith(".result"):
        every = whole(message.at("/result/heartbeat_interval_ms"))
        memory.notes[place] = _Beat(message.event, every / 1000, message) if every else None
        return NOTHING
    beat: _Beat | None = memory.notes.get(place)
    if beat is None or (message.name == "ping" and message.party != memory.options["party"]):
        return NOTHING
    lapse = between(beat.last, message.event)
    return NOTHING if lapse is None else _beaten(memory, message, beat, lapse)


def _beaten(memory: Memory, message: Message, beat: _Beat, lapse: Lapse) -> Iterable[Told]:
    missed = lapse.exceeds(beat.every * memory.options["intervals"] + 0.5)
    if missed is not False:
        silent = f"{memory.options['party']} sent no ping for {lapse.least if missed else lapse.most:.1f} s"
        said = f"the {silent}; the interval is {beat.every} s"
        about = message if message.party == memory.options["party"] else beat.about
        yield timed(Told(said, about=about), lapse, missed)
    elif message.name == "ping":
        yield HOLDS
    beat.last = message.event


@rule("error")
def unknown_method(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-CTL-002: a request for a method that the protocol does not have is answered with -32601."""
    request = message.request
    if request is None or request.kind is not None:
        return
    method, code = str(request.at("/method")), whole_code(message)
    if method.startswith("x-") or any(kind.when.get("method") == method for kind in memory.pack.kinds):
        return
    if code == -32601:
        yield HOLDS
    elif code in OURS and code != RANGE:
        yield Told(f"the unknown method {method} is answered with {code}", "/error/code", (-32601,), code)


def whole_code(message: Message) -> int | None:
    """The code of an error response."""
    code = message.at("/error/code")
    return code if isinstance(code, int) else None
