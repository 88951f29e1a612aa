"""Any input that a person may hold, as events: a message, an array, JSON Lines, a transcript, a trace.

What an input is shows in its first text: a transcript has a header, a protocol's own trace has the
members that its pack names (`trace`), and everything else is messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from conformance import jsontext, transcript
from conformance.errors import UnknownProtocol
from conformance.events import JSON, Closed, Event
from conformance.framing import LineStream, Reading, read_message
from conformance.packs import Pack, find, find_all, pointer_value, simply_fits
from conformance.wording import shown


@dataclass(frozen=True, slots=True)
class Record:
    """An input that was recognised: its pack, and its events in order."""

    pack: Pack
    events: Iterator[Event]


def open_record(data: bytes, where: str, pack: Pack | None = None) -> Record:
    """The record in `data`. `where` names the input in errors; `pack` is the protocol if it is known.

    Raises UnknownProtocol where no message tells which protocol it is, and InputUnreadable where a
    transcript is broken.
    """
    readings = list(_readings(data))
    first = next((reading for reading in readings if reading.fatal is None), None)
    if first is not None and transcript.is_header(first.value):
        header = first.value
        known = pack or find(f"{header.get('protocol')}@{header.get('revision')}")
        after = readings[readings.index(first) + 1 :]
        return Record(known, transcript.read(iter(after), where))
    known = pack or recognise((reading.value for reading in readings if reading.fatal is None), where)
    trace = known.meta.get("trace")
    if trace and first is not None and _is_trace(first.value, trace):
        return Record(known, _from_trace(readings, trace))
    return Record(known, _from_messages(readings))


def _readings(data: bytes) -> Iterator[Reading]:
    """Every text of the input: one if it is one JSON text, else one a line."""
    head, newline, rest = data.strip(b"\r\n \t").partition(b"\n")
    if newline and rest.strip() and read_message(head).fatal is not None:
        whole = read_message(data)
        if whole.fatal is None:
            yield from _elements(whole)
            return
    stream = LineStream()
    lines = [*stream.feed(data), *stream.end()]
    yield from _elements(lines[0]) if len(lines) == 1 else lines


def _elements(reading: Reading) -> Iterator[Reading]:
    """The messages of an array, each with its own place; anything else as it is."""
    if not isinstance(reading.value, list) or not reading.value:
        yield reading
        return
    for index in range(len(reading.value)):
        place = jsontext.locate(reading.text, f"/{index}")
        assert place is not None
        text = reading.text[place.offset : place.end]
        yield read_message(text.encode("utf-8", "surrogatepass"), reading.line + place.line - 1)


def recognise(values: Iterable[JSON], where: str) -> Pack:
    """The newest pack that knows one of the values; UnknownProtocol says what they look like instead."""
    seen: JSON = None
    for value in values:
        inner = [value]
        for pack in find_all():
            trace = pack.meta.get("trace")
            if trace and _is_trace(value, trace):
                inner.append(pointer_value(value, trace["message"]))
        for candidate in inner:
            for pack in find_all():
                if pack.recognises(candidate) or _is_document(pack, candidate):
                    return pack
        seen = value if seen is None else seen
    names = ", ".join(dict.fromkeys(pack.protocol for pack in find_all()))
    held = f"it begins with {shown(seen)}" if seen is not None else "it holds no JSON message"
    raise UnknownProtocol(
        f"{where}: no known protocol recognises this input ({held}); name one of {names} with -p"
    )


def _is_document(pack: Pack, value: JSON) -> bool:
    return any(
        kind.document and "schema" in kind.when and simply_fits(kind.when["schema"], value)
        for kind in pack.kinds
    )


def _from_messages(readings: list[Reading]) -> Iterator[Event]:
    for seq, reading in enumerate(readings, 1):
        yield transcript.event_of(reading, seq, "")
    yield Closed(len(readings) + 1)


def _is_trace(value: JSON, trace: dict[str, str]) -> bool:
    if not isinstance(value, dict):
        return False
    if isinstance(pointer_value(value, trace["marker"]), str):
        return True
    return isinstance(pointer_value(value, trace["party"]), str) and (
        jsontext.resolve(value, trace["message"]) is not jsontext.MISSING
    )


def _from_trace(readings: list[Reading], trace: dict[str, str]) -> Iterator[Event]:
    """The messages of a protocol's own trace; its markers, and messages that never arrived, are passed over."""
    seq = 0
    for reading in readings:
        seq += 1
        if reading.fatal is not None:
            yield transcript.event_of(reading, seq, "")
            continue
        place = jsontext.locate(reading.text, trace["message"])
        lost = pointer_value(reading.value, trace["undelivered"]) is False
        if lost or jsontext.resolve(reading.value, trace["message"]) is jsontext.MISSING or place is None:
            continue
        yield _traced(reading, place, seq, trace)
    # A trace does not say how its connection ended, only where the recording did.
    yield Closed(seq + 1, final=False)


def _traced(reading: Reading, place: Any, seq: int, trace: dict[str, str]) -> Event:
    text = reading.text[place.offset : place.end].encode("utf-8", "surrogatepass")
    party = pointer_value(reading.value, trace["party"])
    return transcript.event_of(
        read_message(text), seq, str(party), line=reading.line + place.line - 1, column=place.column
    )
