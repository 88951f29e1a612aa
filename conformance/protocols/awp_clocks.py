"""Agent World Protocol: advances in lockstep, and clocks that are compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from conformance.correlation import Message
from conformance.events import Event
from conformance.integers import counter as whole
from conformance.lapses import between, told
from conformance.protocols.awp_course import MOVED, Advance, Pace
from conformance.protocols.awp_record import Memory
from conformance.protocols.awp_rules import HOLDS, NEVER_ANYTHING, NOTHING, PRAISED, Told, rule, timed
from conformance.protocols.awp_things import WAITING, S, Session
from conformance.protocols.awp_values import table, tables


def _per_tick(session: Session) -> list[int]:
    """The channels that have one frame for each tick, if all frames are on record."""
    return [place for place, channel in session.channels.items() if channel.rate is None and session.inline]


@rule("world.tick", "world.tick.result", "world.tick.error", mode="lockstep")
def advance(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-TIM-003: before world.tick is answered, each per-tick channel had one frame for each tick."""
    session = memory.here
    if session is None:
        return NOTHING
    under_way, session.course.advance = session.course.advance, None
    if message.name == "world.tick":
        start = whole(memory.params.get("expected_tick"))
        if under_way is None and start is not None:
            session.course.advance = Advance(start)
        return NOTHING
    end = whole(message.at("/result/tick"))
    if under_way is None or end is None or end - under_way.start >= 10_000:
        return NOTHING
    return _advanced(session, under_way, end)


def _advanced(session: Session, under_way: Advance, end: int) -> Iterable[Told]:
    told: Iterable[Told] = NOTHING
    for place in _per_tick(session):
        for tick in range(under_way.start + 1, end + 1):
            count = under_way.frames.get((place, tick), 0)
            if count != 1:
                said = f"channel {place} had {count} frames of tick {tick} before the answer"
                return [*told, Told(said, "/result/tick", (1,), count)]
        told = PRAISED  # several are one
    return told


@rule("session.open.result", "world.tick", "obs.frame", begins=["session.open.result"])
def initial(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-TIM-009: a lockstep session starts with a frame of the current tick on each per-tick channel."""
    notes = memory.notes
    if message.name == "session.open.result":
        _begin(memory, message)
        return NOTHING
    session, frame = memory.here, memory.frame
    if session is None or session.key not in notes:
        return NOTHING
    now, asked_on, awaited = notes[session.key]
    if message.name == "world.tick":
        if not asked_on:
            notes[session.key] = (now, True, awaited)
        return NOTHING
    if frame is None:
        return NOTHING
    place, tick = frame.place[1], frame.tick
    if place not in awaited:
        return NEVER_ANYTHING
    if frame.channel.rate is not None or not session.inline or tick is None:
        return NOTHING
    awaited.discard(place)
    if tick == now:
        return PRAISED
    if tick > now and not asked_on:
        return NOTHING  # another session may have advanced the world
    said = f"the first frame is of tick {tick}, and the session began at {now}"
    return [Told(said, "/params/tick", (now,), tick)]


def _begin(memory: Memory, message: Message) -> None:
    asked = table(message.request.at("/params")) if message.request else {}
    now = whole(message.at("/result/tick"))
    if asked.get("mode") == "lockstep" and now is not None:
        # A channel that is subscribed later begins with the tick of then.
        rows = tables(message.at("/result/granted/channels"))
        begun = {whole(row.get("channel_id")) for row in rows}
        memory.notes[str(message.at("/result/session_id"))] = (now, False, begun)


@rule("action.status", mode="lockstep", before=WAITING, says=["executing"])
def staged(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-TIM-010: in lockstep, an action does not execute before the advance after its admission.

    The session clock moves with advances alone, so the two do not have the same time.
    """
    found = memory.status()
    admitted = found[1].entered.get("accepted") if found else None
    if found is None or admitted is None:
        return
    now = found[2]
    if now > admitted:
        yield HOLDS
    elif now == admitted:
        yield Told(
            "it executes at the time of its admission, without an advance", "/params/ts_mono_ns", (), now
        )


RESETS: Final[tuple[str, ...]] = ("world.reset.result", "world.restore.result")


@rule(
    *("world.tick", "obs.frame", "action.status", "world.event", *RESETS),
    mode="lockstep",
    case=MOVED,
)
def steps(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-TIM-013: in lockstep, the session clock moves with advances alone, by the same amount each.

    Judged from the first advance on: which tick a session begins with is AWP-TIM-009's.
    """
    course = memory.here.course if memory.here is not None else None
    if course is None:
        return NOTHING
    if message.name == "world.tick":
        course.pace.advances = True
        return NOTHING
    pace = course.pace
    if not pace.advances:
        return NOTHING
    if message.name in RESETS or memory.params.get("event") == "world_resetting":
        pace.tick = pace.step = None  # a reset may move the tick, even back
        return NOTHING
    return _at(pace, memory.tick, memory.time)


def _at(last: Pace, tick: int | None, time: int | None) -> Iterable[Told]:
    """What to say of a message of this tick and time."""
    if tick is None or time is None or (last.tick is not None and tick < last.tick):
        return NOTHING
    told: Iterable[Told] = NOTHING
    if last.tick is not None:
        told = _stepped(last, last.tick, tick, time)
    last.tick, last.time = tick, time
    return told


def _stepped(last: Pace, before: int, tick: int, time: int) -> Iterable[Told]:
    took, count = time - last.time, tick - before
    if count == 0:
        fits = took == 0
    elif last.step is None:
        fits = took > 0 and took % count == 0
        last.step = took // count if fits else None
    else:
        fits = took == last.step * count
    if fits:
        return PRAISED
    wanted = f"; a tick is {last.step} ns" if last.step else ""
    said = f"the clock went from {last.time} to {time} between tick {before} and {tick}{wanted}"
    return [Told(said, "/params/ts_mono_ns", (), time)]


@rule("ping", "ping.result")
def agent_clock(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-CLK-006: the agent's own clock does not go back, as its pings and its pongs show."""
    if message.party != "agent":
        return
    at = "/params/origin_ns" if message.name == "ping" else "/result/transmit_ns"
    key, time = (message.event.connection, message.name), whole(message.at(at))
    if time is None:
        return
    last = memory.notes.get(key)
    memory.notes[key] = time
    if last is None or time >= last:
        yield HOLDS
    else:
        yield Told(f"the agent's clock is at {time}, and was at {last}", at, (last,), time)


@dataclass(slots=True)
class _Burst:
    """Pings that were under way together: when each was received, in the order they were sent."""

    received: dict[int, int | None]


@rule("ping", "ping.result", "session.open.result", "session.resume.result")
def received(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-TRN-002: pings that are under way together are received in the order in which they were sent."""
    place = message.event.connection
    if message.name.startswith("session."):
        memory.notes.pop(place, None)  # the clock is another one
        return
    asked = message if message.name == "ping" else message.request
    if asked is None:
        return
    burst: _Burst = memory.notes.setdefault(place, {}).setdefault(asked.party, _Burst({}))
    if message.name == "ping":
        if None not in burst.received.values():
            burst.received.clear()
        burst.received[asked.seq] = None
        return
    time = whole(message.at("/result/receive_ns"))
    if time is None or asked.seq not in burst.received:
        return
    burst.received[asked.seq] = time
    yield from _in_order(burst.received, asked.seq, time)


def _in_order(received: dict[int, int | None], seq: int, time: int) -> Iterable[Told]:
    known = {one: at for one, at in received.items() if at is not None and one != seq}
    late = [at for one, at in known.items() if (one < seq and at > time) or (one > seq and at < time)]
    if late:
        sent = "before" if late[0] > time else "after"
        said = f"it was received at {time}, and one that was sent {sent} it at {late[0]}"
        yield Told(said, "/result/receive_ns", (), time)
    elif known:
        yield HOLDS


SAMPLES: Final = 8
"""The estimate is of one of so many of the latest exchanges (AWP-CLK-008)."""


class _Exchange(NamedTuple):
    """When a ping was sent by the agent's clock, when it came by the session's, and its answer."""

    origin: int
    received: int
    answer: Event


def _exchanges(memory: Memory, session: Session) -> list[_Exchange]:
    exchanges: list[_Exchange] = memory.notes.setdefault(session.key, [])
    return exchanges


def _is_known(answer: Event, later: Message) -> bool:
    """Whether an agent had surely got the answer when it sent what came later, however late the kit was."""
    lapse = between(answer, later.event)
    return lapse is None or lapse.exceeds(0.0) is True


def _learn(memory: Memory, session: Session, message: Message) -> None:
    """Note an exchange that the agent began within the session."""
    request = message.request
    origin, received = whole(message.at("/result/origin_ns")), whole(message.at("/result/receive_ns"))
    # Who asked is not always on record.
    inside = request is not None and request.party != "world" and request.seq > session.began.seq
    if inside and origin is not None and received is not None:
        _exchanges(memory, session).append(_Exchange(origin, received, message.event))


@rule("ping.result", "obs.report")
def estimate(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-CLK-008: the offset and round trip that an agent reports follow from one of its last exchanges.

    With offset = ((receive - origin) + (transmit - destination)) / 2 and the round trip, which has the
    destination in it, offset = receive - origin - rtt / 2. `slack` is what rounding may do, in ns; an
    answer that is on its way may not be in the report yet, so one more exchange counts. A kit that is late
    answers many pings at once, and then sees a report that was made before any of the answers came.
    """
    session = memory.here
    if session is None or not session.whole or not memory.complete:
        return
    if message.name == "ping.result":
        _learn(memory, session, message)
        return
    offset, trip = message.at("/params/sync/offset_ns"), whole(message.at("/params/sync/rtt_ns"))
    if type(offset) is not int or trip is None:
        return
    known = _exchanges(memory, session)
    twice = 2 * memory.options["slack"]  # whole numbers, since a float does not hold every offset
    fits = [abs(2 * (one.received - one.origin - offset) - trip) <= twice for one in known]
    if any(fits[-SAMPLES - 1 :]):
        yield HOLDS
        return
    said = f"the offset {offset} with a round trip of {trip} follows from none of the last exchanges"
    wrong = Told(said, "/params/sync/offset_ns", (), offset)
    unsure = [one.answer for one in known if not _is_known(one.answer, message)]
    lapse = between(unsure[0], message.event) if unsure and any(fits[-SAMPLES - 1 - len(unsure) :]) else None
    yield timed(wrong, lapse, None) if lapse else wrong


@rule("ping.result", "cmd.frame", "action.submit", mode="streaming")
def synchronized(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-AGT-008: an agent gives a session time of its own only after an exchange of pings."""
    session = memory.here
    if session is None or not session.whole or not memory.complete:
        return
    if message.name == "ping.result":
        _learn(memory, session, message)
        return
    at = "/params/ts_mono_ns" if message.name == "cmd.frame" else "/params/valid_until_ns"
    if message.at(at) is None:
        return
    if _exchanges(memory, session):
        yield HOLDS
    elif ("told", session.key) not in memory.notes:
        memory.notes["told", session.key] = True
        yield Told("a time on the session clock, and no ping was answered before it", at)


@rule("cmd.frame", "ping", "ping.result", mode="streaming")
def issued(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-CLK-009: a command frame was issued before the world stamps a ping that was sent after it.

    `grace` is how much the two clocks may differ by an honest estimate, in ms.
    """
    session = memory.here
    if session is None:
        return
    if message.name == "cmd.frame":
        memory.notes[session.key] = message
    elif message.name == "ping" and message.party == "agent":
        memory.notes["ping", session.key, message.seq] = memory.notes.pop(session.key, None)
    elif message.request is not None:
        frame = memory.notes.pop(("ping", session.key, message.request.seq), None)
        received = whole(message.at("/result/receive_ns"))
        issue = whole(frame.at("/params/ts_mono_ns")) if frame else None
        if received is not None and issue is not None:
            # An exchange of which the kit was late with one half has misled whoever estimates by it.
            ahead = told((issue - received) / S, session.began.event, message.event)
            early = ahead.exceeds(memory.options["grace"] / 1000)
            said = f"it was issued at {issue}, and a later message arrived at {received}"
            wrong = Told(said, "/params/ts_mono_ns", (), issue, about=frame)
            yield Told(about=frame) if early is False else timed(wrong, ahead, early)


@rule("session.open.result", "session.resume.result", "session.telemetry", "session.close")
def telemetry(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-TIM-006: in a streaming session, telemetry comes every second.

    Judged by the times of the record, and missed after `seconds`, since they tell when it was seen.
    """
    place = message.event.connection
    asked = table(message.request.at("/params")) if message.request else {}
    known = memory.sessions.get(str(message.at("/result/session_id")))
    if message.name.endswith(".result"):
        streams = asked.get("mode") == "streaming" or (known is not None and known.mode == "streaming")
        memory.notes[place] = message if streams else None
        return
    last: Message | None = memory.notes.get(place)
    lapse = between(last.event, message.event) if last else None
    if last is None or lapse is None:
        return
    is_it = message.name == "session.telemetry"
    memory.notes[place] = message if is_it else None
    missed = lapse.exceeds(memory.options["seconds"])
    if missed is not False:
        said = f"no telemetry for {lapse.least if missed else lapse.most:.1f} s"
        yield timed(Told(said, about=message if is_it else last), lapse, missed)
    elif is_it:
        yield HOLDS
