"""Any input that a person may hold, as events, read as it comes.

The first text that is JSON tells what it is: a transcript of ours begins with its header, a record in
a protocol's own format has lines of that shape (the `traces` of its pack), and everything else is
messages: one JSON text, or one a line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from conformance import jsontext, recognition, transcript
from conformance.errors import InputUnreadable, NoSuchPack, UnknownProtocol
from conformance.events import JSON, Closed, Event
from conformance.framing import LineStream, Reading, read_message
from conformance.packs import Pack, find, pointer_value
from conformance.recognition import HELD, Recogniser, Trace, trace_of
from conformance.tokens import Broken, Scanner
from conformance.wording import shown

LOOKED_AT = 1_000_000
"""So many bytes of an input are looked at to tell one text on many lines from many texts."""


class Record(NamedTuple):
    """An input that was recognised: its pack, and its events in order.

    `others` are older revisions that it may as well be of, where nothing says which it is.
    """

    pack: Pack
    events: Iterator[Event]
    others: tuple[Pack, ...] = ()


class Unrecognised(NamedTuple):
    """An input of no known protocol: its texts as events all the same, and why it is none."""

    why: UnknownProtocol
    events: Iterator[Event]


def open_record(data: bytes, where: str, pack: Pack | None = None) -> Record:
    """The record in `data`. `where` names the input in errors; `pack` is the protocol if it is known.

    Raises UnknownProtocol where no message tells which protocol it is, and InputUnreadable where a
    transcript is broken.
    """
    found = open_stream([data], where, pack)
    if isinstance(found, Unrecognised):
        raise found.why
    return found


def open_stream(chunks: Iterable[bytes], where: str, pack: Pack | None = None) -> Record | Unrecognised:
    """The record in bytes as they come; no more of them are read than are needed to tell what it is.

    Raises InputUnreadable where a transcript is broken.
    """
    texts, held, recogniser = _texts(iter(chunks)), list[_Text](), Recogniser(where)
    first: _Text | None = None
    others: tuple[Pack, ...] = ()
    for text in islice(texts, HELD):
        held.append(text)
        if text.reading.fatal is not None:
            continue
        if first is None and transcript.is_header(text.reading.value):
            known = pack or _named(text.reading.value, where)
            rest = (one.reading for one in chain(held[:-1], texts))
            return Record(known, transcript.read(rest, where))
        first = first or text
        if pack is None:
            pack = recogniser.look(text.reading.value)
            others = recognition.older(pack, text.reading.value) if pack else ()
        if pack is not None:
            break
    whole = chain(held, texts)
    if pack is None:
        return Unrecognised(recogniser.undecided(), _from_messages(whole))
    trace = trace_of(first.reading.value, pack) if first else None
    return Record(pack, _from_trace(whole, trace, where) if trace else _from_messages(whole), others)


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


def _texts(chunks: Iterator[bytes]) -> Iterator[_Text]:
    """Every text of the input: one if it is one JSON text, else one a line.

    Where the first line is a message, lines are read as they come; else as much is read as it takes to
    tell one text from many.
    """
    data, ended = _until_line(chunks)
    reading = read_message(data.strip(_BLANK).partition(b"\n")[0])
    if not ended and not isinstance(reading.value, dict):
        data, ended = _until_decided(data, chunks)
    if ended:
        yield from _at_once(data)
    else:
        yield from map(_Text, _lines(chain([data], chunks)))


_BLANK = b"\r\n \t"


def _until_line(chunks: Iterator[bytes]) -> tuple[bytes, bool]:
    """The first bytes with a line that is not blank and its end; whether that is all there is."""
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if (b"\n" in chunk and b"\n" in data.lstrip(_BLANK)) or len(data) > jsontext.LIMITS.length:
            return bytes(data), False
    return bytes(data), True


def _until_decided(data: bytes, chunks: Iterator[bytes]) -> tuple[bytes, bool]:
    """More bytes, until they can be no single text; or all of them, and that they are."""
    opening, pieces = _Opening(), [data]
    while opening.goes_on(pieces[-1]):
        piece = next(chunks, None)
        if piece is None:
            return b"".join(pieces), True
        pieces.append(piece)
    return b"".join(pieces), False


class _Opening:
    """Whether bytes may still be one JSON text: told line by line, for the first of them."""

    def __init__(self) -> None:
        self._scanner = Scanner(jsontext.LIMITS.depth)
        self._rest = b""
        self._left = LOOKED_AT
        self._size = 0

    def goes_on(self, piece: bytes) -> bool:
        """Whether it may, with this piece too."""
        self._size += len(piece)
        if self._left <= 0:
            return self._size <= jsontext.LIMITS.length
        *lines, self._rest = (self._rest + piece).split(b"\n")
        return all(map(self._takes, lines))

    def _takes(self, line: bytes) -> bool:
        self._left -= len(line) + 1
        text = jsontext.decode(line)[0]
        if text is None:
            return False
        try:
            for _ in self._scanner.tokens(text):
                pass
        except Broken:
            return False
        return True


def _at_once(data: bytes) -> Iterator[_Text]:
    """The texts of a whole input."""
    head, newline, rest = data.strip(_BLANK).partition(b"\n")
    if newline and rest.strip() and read_message(head).fatal is not None:
        whole = read_message(data)
        if whole.fatal is None:
            yield from _elements(whole)
            return
    lines = list(_lines([data]))
    yield from _elements(lines[0]) if len(lines) == 1 else map(_Text, lines)


def _lines(chunks: Iterable[bytes]) -> Iterator[Reading]:
    stream = LineStream(jsontext.LIMITS)
    for chunk in chunks:
        yield from stream.feed(chunk)
    yield from stream.end()


def _elements(reading: Reading) -> Iterator[_Text]:
    """The messages of an array, each with its own place; anything else as it is."""
    if not isinstance(reading.value, list) or not reading.value:
        yield _Text(reading)
        return
    text, line, at, margin = reading.text, reading.line, 0, 0
    for start, end in _spans(text):
        line, margin = line + text.count("\n", at, start), text.rfind("\n", at, start) + 1 or margin
        at = start
        yield _Text(read_message(text[start:end].encode("utf-8", "surrogatepass"), line), start - margin + 1)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the elements of an array begin and end in its text, which is JSON."""
    at = _next(text, text.index("[") + 1)
    while text[at] != "]":
        end = _PLAIN.raw_decode(text, at)[1]
        yield at, end
        at = _next(text, end)


def _next(text: str, at: int) -> int:
    """Where the next token begins that is no comma."""
    found = _MARK.search(text, at)
    assert found is not None, "an array ends with a bracket"
    return found.start()


_PLAIN = json.JSONDecoder()
_MARK = re.compile(r"[^ \t\r\n,]")


def _from_messages(texts: Iterable[_Text]) -> Iterator[Event]:
    seq = 0
    for seq, text in enumerate(texts, 1):
        yield transcript.event_of(text.reading, seq, "", column=text.column)
    yield Closed(seq + 1)


def _from_trace(texts: Iterable[_Text], trace: Trace, where: str) -> Iterator[Event]:
    """The messages of a protocol's own record, without what else its lines tell."""
    seq = 0
    for seq, (reading, _) in enumerate(texts, 1):
        if reading.fatal is not None:
            yield transcript.event_of(reading, seq, "")
        elif not trace.is_line(reading.value):
            said = f"this is no line of {trace.name}, as the first one is"
            raise InputUnreadable(f"{where}:{reading.line}: {said}")
        elif trace.holds_message(reading.value):
            yield _traced(reading, seq, trace)
    # Such a record does not say how its connection ended, only where the recording did.
    yield Closed(seq + 1, final=False)


def _traced(reading: Reading, seq: int, trace: Trace) -> Event:
    place = jsontext.locate(reading.text, trace.message)
    assert place is not None, "a line that was parsed is JSON"
    text = reading.text[place.offset : place.end].encode("utf-8", "surrogatepass")
    party = pointer_value(reading.value, trace.party)
    known = party if isinstance(party, str) else ""
    return transcript.event_of(
        read_message(text), seq, known, line=reading.line + place.line - 1, column=place.column
    )
