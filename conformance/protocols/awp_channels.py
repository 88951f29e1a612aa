"""Agent World Protocol: what frames carry, and how they follow each other on a channel."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from conformance.correlation import Message
from conformance.events import Event
from conformance.integers import counter as whole
from conformance.lapses import between
from conformance.protocols.awp_course import FRESH, JUMP, NO_TICK, REMEMBERED, STREAMED
from conformance.protocols.awp_record import Memory
from conformance.protocols.awp_rules import (
    EVER_PRAISED,
    HOLDS,
    NEVER_ANYTHING,
    NOTHING,
    PRAISED,
    Told,
    rule,
    timed,
)
from conformance.protocols.awp_things import MS, Channel, Place, Session
from conformance.protocols.awp_values import names, table, tables

KEYFRAME, RESYNC = 1, 8
"""Bits of a frame's flags."""


@rule("obs.frame")
def modality(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-AGM-001: frames come only in modalities that the agent said it consumes."""
    found = memory.frame
    if found is None:
        return NOTHING
    consumed = names(found.session.agent.get("consumes_modalities"))
    mine = found.channel.declared.get("modality")
    if not consumed or mine is None or any("*" in one for one in consumed):
        return NEVER_ANYTHING
    if mine in consumed:
        return EVER_PRAISED
    return [Told(f"a frame in {mine}, which the agent does not consume", "/params", tuple(consumed), mine)]


@rule("obs.frame", mode="lockstep", case=NO_TICK)
def tick(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-OBS-002: a frame of a per-tick channel in lockstep carries its tick."""
    found = memory.frame
    if found is None:
        return NOTHING
    if found.channel.rate is not None:
        return NEVER_ANYTHING
    if found.tick is not None or memory.params.get("tick") is not None:
        return PRAISED
    return [Told("a frame of a per-tick channel without tick", "/params", ("tick",))]


@rule("obs.frame", "obs.unsubscribe.result")
def keyframes(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-OBS-004: a subscription starts with a keyframe; keyframe_interval bounds the frames between."""
    if message.name != "obs.frame":
        _start_again(memory, message)
        return NOTHING
    found = memory.frame
    if found is None or not (found.session.whole and memory.complete and found.session.inline):
        return NOTHING
    seq, notes = found.seq, memory.notes
    if seq is None:
        return NOTHING
    if found.flags & KEYFRAME:
        notes[found.place] = (seq, seq)
        return PRAISED if "keyframe_interval" in found.channel.declared else EVER_PRAISED
    last = notes.get(found.place)
    if last is None:
        notes[found.place] = (None, seq)
        return [Told("the first frame of a subscription is no keyframe", "/params/flags", (), found.flags)]
    notes[found.place] = (last[0] if seq == last[1] + 1 else None, seq)
    return _between(memory, found.place, seq, whole(found.channel.declared.get("keyframe_interval")))


def _start_again(memory: Memory, message: Message) -> None:
    """What a session subscribes again starts again."""
    named = message.at("/result/session_id")
    session = memory.here if named is None else memory.sessions.get(str(named))
    if session is not None:
        for place in session.channels:
            memory.notes.pop((session.key, place), None)


def _between(memory: Memory, place: Place, seq: int, most: int | None) -> Iterable[Told]:
    since = memory.notes[place][0]
    if most is None or since is None or seq - since <= most:
        return NOTHING
    memory.notes[place] = (None, seq)
    return [Told(f"{seq - since} frames since the keyframe; {most} are declared", "/params/flags", (most,))]


_EVER: Final = 1e15
"""Milliseconds of more years than any record has; a rate of next to nothing would make it infinity."""


def stale_after(channel: Channel) -> float:
    """The age in ms from which a channel's frames are stale: as declared, else two periods."""
    stated, rate = whole(channel.declared.get("stale_after_ms")), channel.rate
    if stated is not None:
        return float(stated)
    return min(2000 / rate, _EVER) if rate else 0.0


@rule("obs.frame", case=JUMP)
def gaps(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-TRN-006: on a reliable channel no frame is missing, except before one that resynchronizes."""
    found = memory.frame
    if found is None or not found.session.inline:
        return NOTHING
    if not found.channel.reliable:
        return NEVER_ANYTHING
    seq, last = found.seq, found.last_seq
    if seq is None or last is None or found.flags & RESYNC or seq <= last:
        return NOTHING  # that it does not grow is another requirement's matter
    if seq == last + 1:
        return PRAISED
    return [Told(f"frame {seq} follows {last} on a reliable channel", "/params/seq", (last + 1,), seq)]


@rule("obs.frame", "session.resume.result", begins=["session.resume.result"], resumed=True)
def resync(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-TRN-008: after a resumption, a reliable channel goes on with a keyframe that resynchronizes."""
    if message.name != "obs.frame":
        for row in tables(message.at("/result/granted/channels")):
            memory.notes[str(message.at("/result/session_id")), whole(row.get("channel_id"))] = True
        return
    found = memory.frame
    if found is None or not memory.notes.pop(found.place, False) or not found.channel.reliable:
        return
    if found.flags & (KEYFRAME | RESYNC) == KEYFRAME | RESYNC:
        yield HOLDS
    else:
        said = "the first frame of a reliable channel after a resumption is no keyframe with resync"
        yield Told(said, "/params/flags", (KEYFRAME | RESYNC,), found.flags)


@rule("obs.frame", case=FRESH)
def size(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-TRN-011: no frame is greater than the max_frame_bytes of the endpoint that carries it."""
    session, payload = memory.here, memory.params.get("payload_b64")
    most = session.most if session is not None else None
    if most is None or not isinstance(payload, str):
        return NOTHING
    length = len(payload) * 3 // 4
    if length <= most:
        return PRAISED
    length -= payload.count("=")
    if length <= most:
        return PRAISED
    said = f"a frame of {length} bytes; at most {most} are allowed"
    return [Told(said, "/params/payload_b64", (most,), length)]


@rule("action.submit")
def basis(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-ACT-007: basis_ts_mono_ns is the ts_mono_ns of a frame that the session got."""
    session, stated = memory.here, whole(memory.params.get("basis_ts_mono_ns"))
    if session is None or stated is None or not (session.whole and session.inline and memory.complete):
        return NOTHING
    if session.course.forgotten:
        return NOTHING
    if stated in session.course.times:
        return PRAISED
    said = f"no frame of the session is of {stated}"
    return [Told(said, "/params/basis_ts_mono_ns", (), stated)]


@rule("obs.frame", "action.submit", mode="streaming")
def fresh(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-SAF-010: the basis of a submission was not stale yet: of its channel, no frame that came since
    is newer by more than stale_after_ms.
    """
    session, found = memory.here, memory.frame
    if session is None:
        return NOTHING
    if message.name != "obs.frame":
        return _stale(memory, message, session)
    if found is not None and found.time is not None:
        frames = memory.notes.get(found.place)
        if frames is None:
            frames = memory.notes[found.place] = deque(maxlen=REMEMBERED)
        frames.append((found.time, message.event))
    return NOTHING


def _stale(memory: Memory, message: Message, session: Session) -> Iterable[Told]:
    stated = whole(memory.params.get("basis_ts_mono_ns"))
    outdated: list[Event] = []  # of each channel, the frame with which the basis became stale
    for place, channel in session.channels.items():
        frames = memory.notes.get((session.key, place), ())
        if stated is None or all(time != stated for time, _ in frames):
            continue
        last = stated + stale_after(channel) * MS
        if frames[-1][0] <= last:
            yield HOLDS
            return
        outdated.append(next(event for time, event in frames if time > last))
    if outdated:
        # What the kit sent while it was late may not have been there when the agent made up its mind.
        said = "the basis is stale: newer frames came since"
        wrong = Told(said, "/params/basis_ts_mono_ns", (), stated)
        lapse = between(max(outdated, key=lambda event: event.seq), message.event)
        yield timed(wrong, lapse, lapse.exceeds(0.0) or None) if lapse else wrong


@rule("cmd.frame", "action.status", case=STREAMED)
def applied(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-CMD-003: no more command frames are applied than were sent on the action's channel."""
    session = memory.here
    if session is None or not (session.whole and session.inline and memory.complete):
        return NOTHING
    if message.name == "cmd.frame":
        found = memory.frame
        if found is not None:
            key, seq = (session.key, found.channel.name), found.seq
            sent, last = memory.notes.get(key, (0, None))
            # Those whose numbers are missing were sent all the same.
            grown = seq - last if seq is not None and last is not None and seq > last else 1
            memory.notes[key] = sent + grown, last if seq is None else max(seq, last or 0)
        return NOTHING
    action, said = memory.of, whole(table(memory.params.get("stream")).get("frames_applied"))
    if action is None or action.asked is None or said is None:
        return NOTHING
    channel = session.type_of(action.params).get("command_channel")
    if not isinstance(channel, str):
        return NOTHING
    sent, _ = memory.notes.get((session.key, channel), (0, None))
    if said <= sent:
        return PRAISED
    text = f"{said} command frames are said to be applied, and {sent} were sent"
    return [Told(text, "/params/stream/frames_applied", (sent,), said)]
