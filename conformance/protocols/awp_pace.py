"""Agent World Protocol: how often frames come on a channel, and of which time the first one is."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from conformance.correlation import Message
from conformance.integers import counter as whole
from conformance.lapses import Lapse, told
from conformance.protocols.awp_channels import RESYNC, stale_after
from conformance.protocols.awp_course import PACE
from conformance.protocols.awp_record import Memory
from conformance.protocols.awp_rules import HOLDS, NEVER_ANYTHING, NOTHING, PRAISED, Told, rule, timed
from conformance.protocols.awp_things import MS, Frame, S, Session
from conformance.protocols.awp_values import tables


@rule(
    *("obs.frame", "obs.subscribe.result"),
    begins=["obs.subscribe.result"],
)
def current(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-OBS-005: the first frame of a channel that was subscribed is of now, and not of the past.

    In lockstep, now is the tick. Else `grace` is how much older than the world's latest time stamp it may
    be, in ms, beside the channel's own period or stale_after_ms; and what the machine was late meanwhile.
    """
    session, frame = memory.here, memory.frame
    if session is None or session.mode not in ("streaming", "lockstep"):
        return NOTHING
    if message.name == "obs.subscribe.result":
        _expect(memory, message, session)
        return NOTHING
    return _first(memory, message, frame) if frame is not None and frame.place in memory.notes else NOTHING


def _expect(memory: Memory, message: Message, session: Session) -> None:
    """Note when each channel was granted that was not before."""
    before = [channel.name for channel in session.channels.values()]
    for row in tables(message.at("/result/granted")):
        if row.get("channel") not in before:
            memory.notes[session.key, whole(row.get("channel_id"))] = session.course.clock


def _first(memory: Memory, message: Message, found: Frame) -> Iterable[Told]:
    lockstep = memory.mode == "lockstep"
    at, time = ("/params/tick", found.tick) if lockstep else ("/params/ts_mono_ns", found.time)
    since = memory.notes.pop(found.place)
    if time is None:
        return
    allowed = 0 if lockstep else int(stale_after(found.channel) + memory.options["grace"]) * MS
    if since - time <= allowed:
        yield HOLDS
        return
    said = f"the first frame is of {time}, and it was {since} when the channel was granted"
    wrong = Told(said, at, (), time)
    if lockstep:
        yield wrong
    else:
        older = told((since - time - allowed) / S, found.session.began.event, message.event)
        yield timed(wrong, older, older.exceeds(0.0))


AFRESH: Final[tuple[str, ...]] = (
    "world.event",
    "world.reset.result",
    "world.restore.result",
    "session.resume.result",
)
"""After which a tick may be shown once more: a reset, and a connection that took the place of another."""


@rule("obs.frame", "cmd.frame", *AFRESH, case=PACE)
def rate(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-DAT-003: no second has more frames of a channel than its rate, a tenth and two more aside; in
    lockstep, a channel without a rate has one frame a tick. A machine that was late lets frames of a longer
    time come together.
    """
    found = memory.frame
    if message.name in AFRESH:
        if memory.here is not None:
            _begin_afresh(memory, memory.here.key)
        if message.name == "session.resume.result":
            _begin_afresh(memory, str(message.at("/result/session_id")))
        return NOTHING
    if found is None:
        return NOTHING
    if found.channel.rate is not None:
        return NOTHING if found.time is None else _in_a_second(memory, message, found, found.time)
    if memory.mode != "lockstep":
        return NEVER_ANYTHING
    last, tick = found.last_tick, found.tick
    if found.time is None or tick is None or last is None or found.flags & RESYNC:
        return NOTHING
    if tick != last:
        return PRAISED
    return [Told(f"one more frame of tick {tick}; the channel has one a tick", "/params/tick", (), tick)]


def _begin_afresh(memory: Memory, session: str) -> None:
    """Nothing is known of the pace of a session."""
    memory.notes.pop(session, None)
    known = memory.sessions.get(session)
    if known is not None:
        known.course.ticks.clear()


def _in_a_second(memory: Memory, message: Message, found: Frame, time: int) -> Iterable[Told]:
    session, place = found.place
    all_times = memory.notes.get(session)
    if all_times is None:
        all_times = memory.notes[session] = {}
    times: deque[tuple[int, float]] | None = all_times.get(place)
    if times is None:
        times = all_times[place] = deque()
    times.append((time, message.event.late))
    while times[0][0] <= time - 1000 * MS:
        times.popleft()
    most = (found.channel.rate or 0) * 1.1 + 2
    if len(times) > most:
        return _too_many(times, found, most, max(0.0, message.event.late - times[0][1]))
    return PRAISED if len(times) > 1 else NOTHING


def _too_many(times: deque[tuple[int, float]], found: Frame, most: float, late: float) -> Iterable[Told]:
    """What is told of more frames within a second than there may be, the first time and when it is sure."""
    rate, many = found.channel.rate or 0, len(times)
    said = f"{many} frames within a second; the channel was granted {rate} Hz"
    wrong = Told(said, "/params/ts_mono_ns", (rate,))
    if many > most + rate * 1.1 * late:
        times.clear()
        yield wrong
    elif many - 1 <= most:
        span = (times[-1][0] - times[0][0]) / S
        yield timed(wrong, Lapse(span, span, late), None)
