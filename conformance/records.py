"""Any input that a person may hold, as events, read as it comes.

The first text that is JSON tells what it is: a transcript of ours begins with its header, a record in
a protocol's own format has lines of that shape (the `traces` of its pack), and everything else is
messages: one JSON text, or one a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from conformance import jsontext, locating, recognition, transcript
from conformance.errors import InputUnreadable, NoSuchPack, UnknownProtocol
from conformance.events import JSON, Closed, Event
from conformance.framing import LineStream, Reading, part_at, read_message, read_part
from conformance.locating import Place
from conformance.packs import Pack, find
from conformance.recognition import HELD, Recogniser, Trace, trace_of
from conformance.tokens import Broken, Scanner
from conformance.wording import shown

LOOKED_AT = 1_000_000
"""So many bytes of an input are looked at to tell one text on many lines from many texts."""

FED = 1 << 16
"""So many bytes are cut into lines at once: the readings of all that is there would not fit in memory."""


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

    Raises InputUnreadable where a transcript is broken, or nothing is text that could be messages.
    """
    texts, held, recogniser = _texts(iter(chunks)), list[Reading](), Recogniser(where)
    first: Reading | None = None
    others: tuple[Pack, ...] = ()
    room = jsontext.LIMITS.length
    for text in islice(texts, HELD):
        held.append(text)
        room -= len(text.data)
        if text.fatal is not None:
            continue
        if first is None and transcript.is_header(text.value):
            known = pack or _named(text.value, where)
            return Record(known, transcript.read(chain(held[:-1], texts), where))
        first = first or text
        if pack is None:
            pack = recogniser.look(text.value)
            others = recognition.older(pack, text.value) if pack else ()
        if pack is not None or room < 0:
            break
    whole = chain(held, texts)
    if pack is None:
        if held and (packed := recognition.packed(held[0].data)):
            raise InputUnreadable(f"{where}: this holds no messages that can be read: it is {packed}")
        return Unrecognised(recogniser.undecided(), _from_messages(whole, _Connections()))
    trace = trace_of(first.value, pack) if first else None
    over = _Connections(pack)
    events = _from_trace(whole, trace, pack, where, over) if trace else _from_messages(whole, over)
    return Record(pack, events, others)


def _named(header: dict[str, JSON], where: str) -> Pack:
    """The pack that the header of a transcript names."""
    if header["transcript"] != transcript.FORMAT:
        said = f"is written in format {shown(header['transcript'])}; this kit reads {transcript.FORMAT}"
        raise InputUnreadable(f"{where}: the transcript {said}")
    try:
        return find(f"{header['protocol']}@{header['revision']}")
    except (KeyError, NoSuchPack) as error:
        raise InputUnreadable(f"{where}: the transcript's header names no known pack: {error}") from None


def _texts(chunks: Iterator[bytes]) -> Iterator[Reading]:
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
        yield from _lines(chain([data], chunks))


_BLANK = b"\r\n \t"


def _until_line(chunks: Iterator[bytes]) -> tuple[bytes, bool]:
    """The first bytes with a line that is not blank and its end; whether that is all there is."""
    data, begun = bytearray(), False
    for chunk in chunks:
        data += chunk
        rest = chunk if begun else chunk.lstrip(_BLANK)
        begun = begun or bool(rest)
        if b"\n" in rest or len(data) > jsontext.LIMITS.length:
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
        self._rest = bytearray()
        self._left = LOOKED_AT
        self._size = 0

    def goes_on(self, piece: bytes) -> bool:
        """Whether it may, with this piece too."""
        self._size += len(piece)
        if self._size > jsontext.LIMITS.length:
            return False
        if self._left <= 0:
            return True
        self._rest += piece
        if b"\n" not in piece:
            return True
        *lines, self._rest = self._rest.split(b"\n")
        return all(map(self._takes, map(bytes, lines)))

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


def _at_once(data: bytes) -> Iterator[Reading]:
    """The texts of a whole input."""
    head, newline, rest = data.strip(_BLANK).partition(b"\n")
    if newline and rest.strip() and read_message(head).fatal is not None:
        whole = read_message(data)
        if whole.fatal is None:
            yield from _elements(whole)
            return
    lines = _lines([data])
    first = list(islice(lines, 2))
    yield from _elements(first[0]) if len(first) == 1 else chain(first, lines)


def _lines(chunks: Iterable[bytes]) -> Iterator[Reading]:
    stream = LineStream(jsontext.LIMITS)
    for chunk in chunks:
        for at in range(0, len(chunk), FED):
            yield from stream.feed(chunk[at : at + FED])
    yield from stream.end()


def _elements(reading: Reading) -> Iterator[Reading]:
    """The messages of an array, each with its own place; anything else as it is."""
    if not isinstance(reading.value, list) or not reading.value:
        yield reading
        return
    text, line, at, margin = reading.text, 1, 0, 0
    marks = tuple(fault for fault in reading.faults if fault.code == "WIRE-BOM")  # what is in no element
    for _, start, end in locating.spans(text, text.index("[")):
        line, margin = line + text.count("\n", at, start), text.rfind("\n", at, start) + 1 or margin
        at = start
        element = read_part(reading, Place(start, end, line, start - margin + 1))
        yield element._replace(faults=(*marks, *element.faults))
        marks = ()


class _Connections:
    """The connections of a record that does not say which of them each message is of.

    A message with which connections begin, begins another one; what was going on before is over then.
    """

    def __init__(self, pack: Pack | None = None) -> None:
        self.current = "main"
        self._number, self._begun = 1, False
        self.begins = recognition.beginning(pack) if pack else None
        """The shape of a message with which a connection begins, if there is one."""

    def before(self, value: JSON, seq: int) -> Iterable[Event]:
        """What happened before this message came."""
        if self.begins is None:
            return ()
        again = self._begun and self.begins(value)
        self._begun = True
        if not again:
            return ()
        closed = Closed(seq, self.current)
        self._number += 1
        self.current = str(self._number)
        return [closed]


def _from_messages(texts: Iterable[Reading], over: _Connections) -> Iterator[Event]:
    seq, of = 0, transcript.event_of
    for seq, text in enumerate(texts, 1):
        if over.begins is not None and (not text.faults or text.fatal is None):
            yield from over.before(text.value, seq)
        yield of(text, seq, "", connection=over.current)
    yield Closed(seq + 1, over.current)


def _from_trace(
    texts: Iterable[Reading], trace: Trace, pack: Pack, where: str, over: _Connections
) -> Iterator[Event]:
    """The messages of a protocol's own record, without what else its lines tell."""
    seq, is_line, holds_message, party_of = 0, trace.is_line, trace.holds, jsontext.getter(trace.party)
    for seq, reading in enumerate(texts, 1):
        if reading.faults and reading.fatal is not None:
            yield transcript.event_of(reading, seq, "", connection=over.current)
        elif not is_line(reading.value):
            said = f"this is no line of {trace.name}, as the first one is"
            raise InputUnreadable(f"{where}:{reading.line}: {said}")
        elif holds_message(reading.value):
            message, party = part_at(reading, trace.message), party_of(reading.value)
            if not isinstance(party, str) or party in pack.roles:
                yield from over.before(message.value, seq)
                party = party if isinstance(party, str) else ""
                yield transcript.event_of(message, seq, party, connection=over.current)
            else:  # a third party, in a role that the record alone knows: it has a connection of its own
                yield transcript.event_of(message, seq, "", connection=party)
    # Such a record does not say how its connection ended, only where the recording did.
    yield Closed(seq + 1, over.current, final=False)
