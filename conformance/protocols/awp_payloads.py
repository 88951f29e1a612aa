"""Agent World Protocol: what the payloads of frames hold."""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterable
from typing import Any, Final, final

from conformance import jsontext
from conformance.correlation import Message
from conformance.protocols.awp_channels import KEYFRAME
from conformance.protocols.awp_course import FRESH
from conformance.protocols.awp_record import Memory
from conformance.protocols.awp_rules import NEVER_ANYTHING, NOTHING, PRAISED, Told, rule
from conformance.protocols.awp_things import Channel, Frame
from conformance.protocols.awp_values import table
from conformance.schemas import embedded

EVENTS: Final = "text/event+json"


@final
class _Payload:
    """A payload, as its text in base64; None as `data` where it is no such text.

    `read` is what it is if its channel's payloads are JSON.
    """

    __slots__ = ("data", "read", "text")

    def __init__(self, text: str, data: bytes | None, read: jsontext.Parsed) -> None:
        self.text = text
        self.data = data
        self.read = read


def _payload(memory: Memory) -> _Payload | None:
    """The payload of a frame of a channel that is known."""
    frame, text = memory.frame, memory.params.get("payload_b64")
    if frame is None or not isinstance(text, str):
        return None
    channel = frame.channel
    last: _Payload | None = channel.payload
    if last is None or last.text != text:
        data = _bytes(text)
        read = _read(data) if channel.modality.endswith("json") else jsontext.Parsed(None)
        last = channel.payload = _Payload(text, data, read)
    return last


def _bytes(payload: str) -> bytes | None:
    try:
        return binascii.a2b_base64(payload, strict_mode=True)
    except (binascii.Error, ValueError):
        return None


def _read(data: bytes | None) -> jsontext.Parsed:
    if data is None:
        return jsontext.Parsed(None)
    value = jsontext.plain(data)
    if value is not None:
        return jsontext.Parsed(value)
    text, faults = jsontext.decode(data)
    return jsontext.parse(text) if text is not None else jsontext.Parsed(None, faults)


@rule("obs.frame", case=FRESH)
def payload(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-MOD-001: a payload is what the channel's modality and schema say."""
    found, frame = _payload(memory), memory.frame
    if found is None or frame is None or found.data is None:
        return NOTHING
    kind = frame.channel.modality
    if kind.endswith("json"):
        fatal = found.read.fatal
        wrong = f"no JSON: {fatal.message}" if fatal else _refused(memory, frame, found)
    elif kind == "image/jpeg":
        wrong = "" if found.data.startswith(b"\xff\xd8") else "no JPEG"
    else:
        return NEVER_ANYTHING
    if wrong:
        return [Told(f"the payload of a {kind} channel is {wrong}", "/params/payload_b64")]
    return PRAISED


def _refused(memory: Memory, frame: Frame, found: _Payload) -> str:
    """Why the schema of an event channel refuses a whole state; a delta need not be one."""
    if frame.channel.modality != EVENTS or not frame.flags & KEYFRAME:
        return ""
    judge = _judge(memory, frame.channel)
    return "" if judge is None or judge(found.read.value) else "not as the channel's schema has it"


def _judge(memory: Memory, channel: Channel) -> Callable[[Any], bool] | None:
    """What judges by the channel's schema, if that is one."""
    schema = table(channel.declared.get("schema"))
    if not schema.keys() & {"type", "properties"}:
        return None
    if "schema" not in channel.known:
        channel.known["schema"] = embedded(memory.pack.schemas("receiver"), schema, "")
    judge: Callable[[Any], bool] | None = channel.known["schema"]
    return judge


@rule("obs.frame", case=FRESH)
def metadata(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-DAT-007: ts_sim_ns and ts_send_ns are members of the frame, and not of its payload."""
    found, frame = _payload(memory), memory.frame
    body = found.read.value if found is not None else None
    if frame is None or not isinstance(body, dict):
        return NOTHING
    if "ts_sim_ns" not in body and "ts_send_ns" not in body:
        return PRAISED
    declared = str(frame.channel.declared.get("schema"))
    inside = [name for name in ("ts_sim_ns", "ts_send_ns") if name in body and name not in declared]
    if not inside:
        return PRAISED
    return [Told(f"the payload holds {' and '.join(inside)}", "/params/payload_b64", (), inside)]


@rule("obs.frame", case=FRESH)
def events(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-EVT-003: an event channel does not carry the events of the protocol's registry."""
    frame = memory.frame
    if frame is None:
        return NOTHING
    if frame.channel.modality != EVENTS:
        return NEVER_ANYTHING
    found = _payload(memory)
    body = found.read.value if found is not None else None
    if not isinstance(body, dict):
        return NOTHING
    event = body.get("event")
    registered = "world-event.schema.json#/properties/event/anyOf/0"
    if not isinstance(event, str) or not memory.pack.schemas("receiver").is_valid(registered, event):
        return PRAISED
    return [Told(f"the event {event} is for world.event to tell", "/params/payload_b64", (), event)]
