"""Agent World Protocol: what the payloads of frames hold."""

from __future__ import annotations

import binascii
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from conformance import jsontext
from conformance.correlation import Message
from conformance.protocols.awp_channels import KEYFRAME, Frame, frame_of
from conformance.protocols.awp_record import Memory
from conformance.protocols.awp_rules import HOLDS, Told, rule
from conformance.protocols.awp_values import table
from conformance.schemas import embedded


@lru_cache(maxsize=8)
def _bytes(payload: str) -> bytes | None:
    try:
        return binascii.a2b_base64(payload, strict_mode=True)
    except (binascii.Error, ValueError):
        return None


@lru_cache(maxsize=8)
def _read(payload: str) -> jsontext.Parsed:
    data = _bytes(payload)
    if data is None:
        return jsontext.Parsed(None)
    value = jsontext.plain(data)
    if value is not None:
        return jsontext.Parsed(value)
    text, faults = jsontext.decode(data)
    return jsontext.parse(text) if text is not None else jsontext.Parsed(None, faults)


def _json(found: Frame | None, message: Message) -> Any:
    """The payload of a frame whose modality is JSON; None where it is another, or no JSON."""
    payload = message.at("/params/payload_b64")
    if found is None or not str(found.channel.declared.get("modality")).endswith("json"):
        return None
    return _read(payload).value if isinstance(payload, str) else None


@rule("obs.frame")
def payload(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-MOD-001: a payload is what the channel's modality and schema say."""
    found, text = frame_of(memory, message), memory.params.get("payload_b64")
    data = _bytes(text) if isinstance(text, str) else None
    if found is None or data is None:
        return
    kind, wrong = str(found.channel.declared.get("modality")), ""
    if kind.endswith("json"):
        fatal = _read(text).fatal
        wrong = f"no JSON: {fatal.message}" if fatal else _refused(memory, found, message)
    elif kind == "image/jpeg":
        wrong = "" if data.startswith(b"\xff\xd8") else "no JPEG"
    else:
        return
    yield Told(f"the payload of a {kind} channel is {wrong}", "/params/payload_b64") if wrong else HOLDS


def _refused(memory: Memory, found: Frame, message: Message) -> str:
    """Why the schema of an event channel refuses a whole state; a delta need not be one."""
    schema = table(found.channel.declared.get("schema"))
    if found.channel.declared.get("modality") != "text/event+json" or not found.flags & KEYFRAME:
        return ""
    if not schema.keys() & {"type", "properties"}:
        return ""
    if found.place not in memory.notes:
        memory.notes[found.place] = embedded(memory.pack.schemas("receiver"), schema, "")
    judge = memory.notes[found.place]
    return "" if judge is None or judge(_json(found, message)) else "not as the channel's schema has it"


@rule("obs.frame")
def metadata(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-DAT-007: ts_sim_ns and ts_send_ns are members of the frame, and not of its payload."""
    found = frame_of(memory, message)
    body = _json(found, message)
    if found is None or not isinstance(body, dict):
        return
    inside = [name for name in ("ts_sim_ns", "ts_send_ns") if name in body]
    if inside:
        declared = str(found.channel.declared.get("schema"))
        inside = [name for name in inside if name not in declared]
    if inside:
        yield Told(f"the payload holds {' and '.join(inside)}", "/params/payload_b64", (), inside)
    else:
        yield HOLDS


@rule("obs.frame")
def events(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-EVT-003: an event channel does not carry the events of the protocol's registry."""
    found = frame_of(memory, message)
    if found is None or found.channel.declared.get("modality") != "text/event+json":
        return
    body = _json(found, message)
    if not isinstance(body, dict):
        return
    event = body.get("event")
    schemas = memory.pack.schemas("receiver")
    registered = "world-event.schema.json#/properties/event/anyOf/0"
    if isinstance(event, str) and schemas.is_valid(registered, event):
        yield Told(f"the event {event} is for world.event to tell", "/params/payload_b64", (), event)
    else:
        yield HOLDS
