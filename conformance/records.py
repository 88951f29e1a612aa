"""Any input that a person may hold, as events: a message, an array, JSON Lines, a transcript, a trace.

What an input is shows in its first text: a transcript has a header, a protocol's own trace has the
members that its pack names (`trace`), and everything else is messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from conformance import jsontext, transcript
from conformance.errors import InputUnreadable, NoSuchPack, UnknownProtocol
from conformance.events import JSON, Closed, Event
from conformance.framing import LineStream, Reading, read_message
from conformance.packs import Pack, find, find_all, pointer_value, simply_fits
from conformance.tokens import Scanner
from conformance.wording import shown


class Record(NamedTuple):
    """An input that was recognised: its pack, and its events in order.

    `others` are older revisions that it may as well be of, where nothing says which it is.
    """

    pack: Pack
    events: Iterator[Event]
    others: tuple[Pack, ...] = ()


def open_record(data: bytes, where: str, pack: Pack | None = None) -> Record:
    """The record in `data`. `where` names the input in errors; `pack` is the protocol if it is known.

    Raises UnknownProtocol where no message tells which protocol it is, and InputUnreadable where a
    transcript is broken.
    """
    texts = list(_texts(data))
    first = next((text.reading for text in texts if text.reading.fatal is None), None)
    if first is not None and transcript.is_header(first.value):
        known = pack or _named(first.value, where)
        rest = (text.reading for text in texts if text.reading is not first)
        return Record(known, transcript.read(rest, where))
    values = (text.reading.value for text in texts if text.reading.fatal is None)
    known, *others = [pack] if pack else recognise(values, where)
    trace = known.meta.get("trace")
    if trace and first is not None and _is_trace(first.value, trace):
        return Record(known, _from_trace([text.reading for text in texts], trace, where), tuple(others))
    return Record(known, _from_messages(texts), tuple(others))


def open_texts(data: bytes) -> Iterator[Event]:
    """The texts of an input as events, whatever protocol they belong to, if to any."""
    return _from_messages(list(_texts(data)))


def _named(header: dict[str, JSON], where: str) -> Pack:
    """The pack that the header of a transcript names."""
    if header["transcript"] != transcript.FORMAT:
        said = f"is written in format {shown(header['transcript'])}; this kit reads {transcript.FORMAT}"
        raise InputUnreadable(f"{where}: the transcript {said}")
    try:
        return find(f"{header['protocol']}@{header['revision']}")
    except (KeyError, NoSuchPack) as error:
        raise InputUnreadable(f"{where}: the transcript's header names no known pack: {error}") from None


class _Text(NamedTuple):
    """One text of the input, and the column in which it begins."""

    reading: Reading
    column: int = 1


def _texts(data: bytes) -> Iterator[_Text]:
    """Every text of the input: one if it is one JSON text, else one a line."""
    head, newline, rest = data.strip(b"\r\n \t").partition(b"\n")
    if newline and rest.strip() and read_message(head).fatal is not None:
        whole = read_message(data)
        if whole.fatal is None:
            yield from _elements(whole)
            return
    stream = LineStream()
    lines = [*stream.feed(data), *stream.end()]
    yield from _elements(lines[0]) if len(lines) == 1 else map(_Text, lines)


def _elements(reading: Reading) -> Iterator[_Text]:
    """The messages of an array, each with its own place; anything else as it is."""
    if not isinstance(reading.value, list) or not reading.value:
        yield _Text(reading)
        return
    text, line, at = reading.text, reading.line, 0
    for start, end in _spans(text):
        line, at = line + text.count("\n", at, start), start
        column = start - text.rfind("\n", 0, start)
        yield _Text(read_message(text[start:end].encode("utf-8", "surrogatepass"), line), column)


def _spans(text: str) -> list[tuple[int, int]]:
    """Where the elements of an array begin and end in its text."""
    scanner, spans = Scanner(jsontext.LIMITS.depth), list[tuple[int, int]]()
    for kind, start, end, _ in scanner.tokens(text):
        if len(scanner.steps) == 1 and kind in "}]":
            spans[-1] = spans[-1][0], end
        elif len(scanner.steps) == 1:
            spans.append((start, end))
    return spans


def recognise(values: Iterable[JSON], where: str) -> list[Pack]:
    """The packs of the first protocol that knows one of the values, the newest first.

    They are several where a value does not tell its revision. UnknownProtocol says what the values
    look like instead.
    """
    seen: JSON = None
    for value in values:
        inner = [value]
        for pack in find_all():
            trace = pack.meta.get("trace")
            if trace and _is_trace(value, trace):
                inner.append(pointer_value(value, trace["message"]))
        for candidate in inner:
            known = [one for one in find_all() if one.recognises(candidate) or _is_document(one, candidate)]
            if known:
                return [pack for pack in known if pack.protocol == known[0].protocol]
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


def _from_messages(texts: list[_Text]) -> Iterator[Event]:
    for seq, text in enumerate(texts, 1):
        yield transcript.event_of(text.reading, seq, "", column=text.column)
    yield Closed(len(texts) + 1)


def _is_trace(value: JSON, trace: dict[str, str]) -> bool:
    if not isinstance(value, dict):
        return False
    if isinstance(pointer_value(value, trace["marker"]), str):
        return True
    return isinstance(pointer_value(value, trace["party"]), str) and (
        jsontext.resolve(value, trace["message"]) is not jsontext.MISSING
    )


def _from_trace(readings: list[Reading], trace: dict[str, str], where: str) -> Iterator[Event]:
    """The messages of a protocol's own trace, without its markers and messages that never arrived."""
    seq = 0
    for reading in readings:
        seq += 1
        if reading.fatal is not None:
            yield transcript.event_of(reading, seq, "")
            continue
        if not _is_line_of(reading.value, trace):
            said = "neither a message of the trace nor one of its markers"
            raise InputUnreadable(f"{where}:{reading.line}: this line is {said}")
        place = jsontext.locate(reading.text, trace["message"])
        lost = pointer_value(reading.value, trace["undelivered"]) is False
        if lost or jsontext.resolve(reading.value, trace["message"]) is jsontext.MISSING or place is None:
            continue
        yield _traced(reading, place, seq, trace)
    # A trace does not say how its connection ended, only where the recording did.
    yield Closed(seq + 1, final=False)


def _is_line_of(value: JSON, trace: dict[str, str]) -> bool:
    """Whether a line of a trace is a marker or holds a message."""
    return any(jsontext.resolve(value, trace[name]) is not jsontext.MISSING for name in ("marker", "message"))


def _traced(reading: Reading, place: Any, seq: int, trace: dict[str, str]) -> Event:
    text = reading.text[place.offset : place.end].encode("utf-8", "surrogatepass")
    party = pointer_value(reading.value, trace["party"])
    known = party if isinstance(party, str) else ""
    return transcript.event_of(
        read_message(text), seq, known, line=reading.line + place.line - 1, column=place.column
    )
