"""Agent World Protocol: how often frames come on a channel, and of which time the first one is."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from conformance.correlation import Message
from conformance.lapses import Lapse, told
from conformance.protocols.awp_channels import RESYNC, Frame, frame_of, stale_after
from conformance.protocols.awp_record import Memory
from conformance.protocols.awp_rules import HOLDS, Told, rule, timed
from conformance.protocols.awp_things import MS, S
from conformance.protocols.awp_values import tables, whole


@rule(
    "obs.frame",
    "action.status",
    "session.state",
    "ping.result",
    "obs.subscribe.result",
    "session.open.result",
    "world.tick.result",
)
def current(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-OBS-005: the first frame of a channel that was subscribed is of now, and not of the past.

    In lockstep, now is the tick. Else `grace` is how much older than the world's latest time stamp it may
    be, in ms, beside the channel's own period or stale_after_ms; and what the machine was late meanwhile.
    """
    session = memory.session(message)
    if message.name == "session.open.result":
        memory.notes["clock", str(message.at("/result/session_id"))] = whole(message.at("/result/tick")) or 0
        return
    if session is None or session.mode not in ("streaming", "lockstep"):
        return
    clock = memory.notes.get(("clock", session.key), 0)
    if message.name == "obs.subscribe.result":
        before = {channel.name for channel in session.channels.values()}
        for row in tables(message.at("/result/granted")):
            if row.get("channel") not in before:
                memory.notes["new", session.key, whole(row.get("channel_id"))] = clock
        return
    if message.name == "obs.frame":
        yield from _first(memory, message, session.mode)
    if message.party != "agent":
        at = NOW[session.mode].get(message.name, NOW[session.mode]["*"])
        memory.notes["clock", session.key] = max(clock, whole(message.at(at)) or 0)


NOW = {
    "streaming": {"ping.result": "/result/transmit_ns", "*": "/params/ts_mono_ns"},
    "lockstep": {"world.tick.result": "/result/tick", "*": "/params/tick"},
}
"""Where a message says how late it is."""


def _first(memory: Memory, message: Message, mode: str) -> Iterable[Told]:
    at = "/params/tick" if mode == "lockstep" else "/params/ts_mono_ns"
    found, time = frame_of(memory, message), whole(message.at(at))
    since = memory.notes.pop(("new", *found.place), None) if found else None
    if found is None or since is None or time is None:
        return
    allowed = 0 if mode == "lockstep" else int(stale_after(found.channel) + memory.options["grace"]) * MS
    if since - time <= allowed:
        yield HOLDS
        return
    said = f"the first frame is of {time}, and it was {since} when the channel was granted"
    wrong = Told(said, at, (), time)
    if mode == "lockstep":
        yield wrong
    else:
        older = told((since - time - allowed) / S, found.session.began.event, message.event)
        yield timed(wrong, older, older.exceeds(0.0))


AFRESH = ("world.event", "world.reset.result", "world.restore.result", "session.resume.result")
"""After which a tick may be shown once more: a reset, and a connection that took the place of another."""


@rule("obs.frame", "cmd.frame", *AFRESH)
def rate(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-DAT-003: no second has more frames of a channel than its rate, a tenth and two more aside; in
    lockstep, a channel without a rate has one frame a tick. A machine that was late lets frames of a longer
    time come together.
    """
    found, time = frame_of(memory, message), whole(message.at("/params/ts_mono_ns"))
    if message.name in AFRESH:
        session = memory.session(message)
        memory.forget(session.key if session else None)
        memory.forget(str(message.at("/result/session_id")))
        return
    if found is None or time is None:
        return
    if found.channel.rate is None:
        yield from _once_a_tick(memory, message, found)
        return
    times: deque[tuple[int, float]] = memory.notes.setdefault(found.place, deque())
    times.append((time, message.event.late))
    while times[0][0] <= time - 1000 * MS:
        times.popleft()
    most, late = found.channel.rate * 1.1 + 2, max(0.0, message.event.late - times[0][1])
    if len(times) > most:
        yield from _too_many(times, found, most, late)
    elif len(times) > 1:
        yield HOLDS


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


def _once_a_tick(memory: Memory, message: Message, found: Frame) -> Iterable[Told]:
    tick = whole(message.at("/params/tick"))
    if found.session.mode != "lockstep" or tick is None:
        return
    last = memory.notes.get(found.place)
    memory.notes[found.place] = tick
    if last is None or found.flags & RESYNC:
        return
    if tick == last:
        yield Told(f"one more frame of tick {tick}; the channel has one a tick", "/params/tick", (), tick)
    else:
        yield HOLDS
