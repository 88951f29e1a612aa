"""Bytes → messages: one to a line, or one to a WebSocket message. (Behind headers: `headers`.)

A line ends with a newline and nothing else: U+2028, U+2029 and U+0085 inside a string are text. What
is no message gives a `Reading` with a fatal fault, and whatever follows it is still read. However
the bytes are cut into chunks, the readings are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, Protocol, final

from conformance.events import JSON, Fault, Fields
from conformance.jsontext import BOM, LIMITS, Limits, decode, parse, plain
from conformance.locating import Place, locate
from conformance.tokens import Broken, Scanner, line_column, shortened

HELD_LINES: Final = 10_000  # an object spread over more of them is not put together
KEPT: Final = 1000  # bytes of a line that is too long

_CUT = "the line ends in the middle of a message"

# What begins with a bracket was meant to be JSON, unless it is a log line: `[info] …`, `[12:34:56] …`.
_JSON_LIKE = re.compile(
    r"[ \t\r\n]*(?:\{|\[(?:true|false|null)\b|\[(?![A-Za-z]|[0-9]+[-/:.][0-9]+[-/:.])|\Z)"
)


@final
class Reading(Fields):
    """One message, or what came in place of one.

    `data` is what came, without the newline at its end; `text` what was judged: decoded, without a
    byte order mark, without carriage returns at its end. `line` and `column`, from 1, are where it
    begins in the stream; the positions of the faults are those within `text`. `exact` are those that
    `jsontext.plain` read: floats and 64 bits hold their numbers as they are.
    """

    _fields = ("data", "line", "text", "value", "faults", "column", "exact")
    __slots__ = _fields

    def __init__(
        self,
        data: bytes,
        line: int,
        text: str,
        value: JSON,
        faults: tuple[Fault, ...] = (),
        column: int = 1,
        exact: bool = False,
    ) -> None:
        self.data: Final[bytes] = data
        self.line: Final[int] = line
        self.text: Final[str] = text
        self.value: Final[JSON] = value
        self.faults: Final[tuple[Fault, ...]] = faults
        self.column: Final[int] = column
        self.exact: Final[bool] = exact

    @property
    def fatal(self) -> Fault | None:
        """The fault that leaves no value to judge, if there is one."""
        return next((fault for fault in self.faults if fault.fatal), None)


def read_message(data: bytes, line: int = 1, limits: Limits = LIMITS) -> Reading:
    """Read bytes that are to be one message. JSON that is no object keeps its value."""
    value = plain(data) if limits is LIMITS else None
    if value is not None:
        return Reading(data, line, data.decode(), value, exact=True)
    text, faults = decode(data)
    if text is None:
        return Reading(data, line, _legible(data), None, faults)
    parsed = parse(text, limits)
    fatal = parsed.fatal
    if fatal is not None and fatal.code == "WIRE-JSON" and not _JSON_LIKE.match(text):
        return Reading(data, line, text, None, (*faults, _noise(text)))
    faults += parsed.faults
    if fatal is None and not isinstance(parsed.value, dict):
        message = f"expected a JSON object but found {_kind(parsed.value)}"
        faults += (Fault("WIRE-OBJECT", message, fatal=False),)
    return Reading(data, line, text, parsed.value, faults)


def read_part(whole: Reading, place: Place) -> Reading:
    """Read a part of another message's text as a message that stands where the part does."""
    text = whole.text[place.offset : place.end].encode("utf-8", "surrogatepass")
    column = place.column + (whole.column - 1 if place.line == 1 else 0)
    return read_message(text, whole.line + place.line - 1)._replace(column=column)


def part_at(whole: Reading, pointer: str) -> Reading:
    """Read the value at a pointer of a faultless text, which has it, as a message of its own.

    Mostly it is the last member of an object, and before it stands nothing in brackets: its name is then the
    first such text after a comma, since in a string a quote has a backslash before it.
    """
    name, text = pointer[1:], whole.text
    if whole.exact and next(reversed(whole.value)) == name:
        head, _, rest = text.partition(f'"{name}":')
        rest = rest.removeprefix(" ")
        alone = head.endswith((",", ", ")) and "{" not in head[1:] and "[" not in head
        if alone and rest.startswith("{") and rest.endswith("}}"):
            column = whole.column + len(text) - len(rest)
            return Reading(rest[:-1].encode(), whole.line, rest[:-1], whole.value[name], (), column, True)
    place = locate(whole.text, pointer)
    assert place is not None, "a line that was parsed is JSON"
    return read_part(whole, place)


def _legible(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _noise(text: str) -> Fault:
    said = text.strip(" \t\r\n")
    at = len(text) - len(text.lstrip(" \t\r\n"))
    message = f"a line of something else on the protocol stream: {shortened(said)}"
    return Fault("WIRE-NOISE", message, at, *line_column(text, at))


def _kind(value: JSON) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return "an array" if isinstance(value, list) else "a string" if isinstance(value, str) else "a number"


class Framing(Protocol):
    """What cuts the bytes of a connection into messages; however they are cut, the readings are the same."""

    def feed(self, data: bytes) -> list[Reading]:
        """The readings that these bytes complete."""

    def end(self) -> list[Reading]:
        """The readings that are left when no more bytes come."""


class Apart:
    """Messages that come one by one already: what is fed is a whole one."""

    def feed(self, data: bytes) -> list[Reading]:
        """The reading of one message."""
        return [read_message(data)]

    def end(self) -> list[Reading]:
        """Nothing is ever left."""
        return []


class Documents:
    """Messages that come one by one, each as a document, which may have many lines.

    A document that is no message holds what its lines are, if any of them is one: a banner stands before
    it, or there are several.
    """

    def feed(self, data: bytes) -> list[Reading]:
        """The readings of one document."""
        whole = read_message(data)
        if whole.fatal is None:
            return [whole]
        stream = LineStream()
        lines = [*stream.feed(data), *stream.end()]
        return lines if any(isinstance(line.value, dict) for line in lines) else [whole]

    def end(self) -> list[Reading]:
        """Nothing is ever left."""
        return []


class LineStream:
    """Messages on lines: `feed` it bytes as they come, and tell it the `end`.

    A line that holds a whole message is returned by the `feed` that brings its newline. The lines of
    an object that is spread over several are held until it is complete, or can no longer be, and
    make one reading. Each byte is looked at a fixed number of times.
    """

    def __init__(self, limits: Limits = LIMITS, line: int = 1) -> None:
        """A line of more than `limits.length` bytes is a fault, and skipped; `line` is the first's number."""
        self._limits = limits
        self._line = line  # the number of the line that is coming in
        self._rest = bytearray()  # what there is of it
        self._skipping = False  # it is too long
        self._held: _Held | None = None
        self._carriage = False  # a carriage return before a newline has been reported

    def feed(self, data: bytes) -> list[Reading]:
        """The readings that these bytes complete."""
        *lines, rest = data.split(b"\n")
        readings: list[Reading] = []
        quick = self._limits is LIMITS
        for piece in lines:
            is_whole = not (self._rest or self._skipping or self._held)
            if is_whole and not piece:
                self._line += 1
                continue
            # A whole line that is a message, of which nothing is to be said, is most of what there is.
            value = plain(piece) if quick and is_whole else None
            if value is not None:
                readings.append(Reading(piece, self._line, piece.decode(), value, (), 1, True))
                self._line += 1
                continue
            come = [*self._grow(piece), *self._end_line(_CUT)]
            readings += map(self._finished, come)
        readings += map(self._finished, self._grow(rest))
        return readings

    def end(self) -> list[Reading]:
        """The readings that are left when no more bytes come. A last line needs no newline."""
        cut = "the stream ends in the middle of a message"
        readings = list(self._end_line(cut)) if self._rest else []
        readings += self._release(cut)
        return [self._finished(reading) for reading in readings]

    def _grow(self, piece: bytes) -> Iterator[Reading]:
        if self._skipping:
            return
        self._rest += piece
        if len(self._rest) > self._limits.length:
            self._skipping = True
            head = bytes(self._rest[: min(KEPT, self._limits.length)])
            self._rest = bytearray()
            yield from self._release(_CUT)
            message = f"the line is longer than {self._limits.length} bytes"
            yield Reading(head, self._line, _legible(head), None, (Fault("WIRE-LIMIT", message),))

    def _end_line(self, cut: str) -> Iterator[Reading]:
        """`cut` says what happened, should a message not be complete where this line ends."""
        raw, line = bytes(self._rest), self._line
        self._rest.clear()
        self._line += 1
        skipped, self._skipping = self._skipping, False
        if skipped or (self._held is None and not raw.strip(b" \t\r")):
            return
        reading = read_message(raw.rstrip(b"\r"), line, self._limits)
        reading = reading if reading.data is raw else reading._replace(data=raw)
        if self._held is None:
            yield from self._begin(reading, cut)
        # A message begins at the margin. Indented, it may be a part of what is held.
        elif isinstance(reading.value, dict) and raw.startswith(b"{"):
            yield from self._release(_CUT)
            yield reading
        else:
            yield from self._hold(self._held, reading, cut)

    def _begin(self, reading: Reading, cut: str) -> Iterator[Reading]:
        fatal = reading.fatal
        if fatal and _stops_early(fatal, reading.text) and reading.text.lstrip().startswith("{"):
            yield from self._hold(_Held(reading.line, self._limits), reading, cut)
        else:
            yield reading

    def _hold(self, held: _Held, reading: Reading, cut: str) -> Iterator[Reading]:
        state = held.take(reading)
        self._held = held if state == "open" else None
        if state == "cut":
            yield from held.apart(cut)
        elif state == "refused":
            yield from held.apart(_CUT)
            yield from self._begin(reading, cut)
        elif state == "complete":
            yield held.together()
        elif held.size > self._limits.length or len(held.lines) > HELD_LINES:
            self._held = None
            yield from held.apart(
                f"message spans more than {HELD_LINES} lines or {self._limits.length} bytes"
            )

    def _release(self, cut: str) -> Iterator[Reading]:
        held, self._held = self._held, None
        if held is not None:
            yield from held.apart(cut)

    def _finished(self, reading: Reading) -> Reading:
        """With a fault, once in a stream, for a carriage return before the newline."""
        if self._carriage or not (reading.data.endswith(b"\r") or b"\r\n" in reading.data):
            return reading
        self._carriage = True
        before = _legible(reading.data.partition(b"\r\n")[0]).rstrip("\r").removeprefix(BOM)
        at = len(before)
        message = "a carriage return before the newline; reported for the first such line only"
        fault = Fault("WIRE-LINE", message, at, *line_column(before, at), fatal=False)
        return reading._replace(faults=(*reading.faults, fault))


class _Held:
    """Lines that are together the beginning of one object, so far."""

    def __init__(self, line: int, limits: Limits) -> None:
        self.line = line
        self.lines: list[bytes] = []
        self.size = 0
        self._scanner = Scanner(limits.depth)
        self._whole: dict[int, Reading] = {}  # by index, lines that are messages if this comes to nothing

    def take(self, reading: Reading) -> Literal["open", "complete", "cut", "refused"]:
        """Add a line, unless it is refused; `cut` means that no line can follow it."""
        undecoded = any(fault.code in ("WIRE-BOM", "WIRE-UTF8") for fault in reading.faults)
        state = "refused" if undecoded and self.lines else self._scan(reading.text)
        if state != "refused":
            if isinstance(reading.value, dict):
                self._whole[len(self.lines)] = reading
            self.lines.append(reading.data)
            self.size += len(reading.data)
        return state

    def _scan(self, text: str) -> Literal["open", "complete", "cut", "refused"]:
        try:
            for _ in self._scanner.tokens(text):
                pass
        except Broken as broken:
            return "cut" if _stops_early(broken.fault, text) else "refused"
        return "open" if self._scanner.steps else "complete"

    def together(self) -> Reading:
        """One reading for all the lines; where the first one ends, the message should."""
        return _fragment(self.lines, self.line, f"message spans {len(self.lines)} lines", 1)

    def apart(self, message: str) -> Iterator[Reading]:
        """The messages among the lines, and a reading for each stretch of other lines."""
        start = 0
        for index in [*self._whole, len(self.lines)]:
            lines = self.lines[start:index]
            if any(line.strip() for line in lines):
                yield _fragment(lines, self.line + start, message, len(lines))
            if index in self._whole:
                yield self._whole[index]
            start = index + 1


def _stops_early(fault: Fault, text: str) -> bool:
    return fault.code == "WIRE-JSON" and fault.offset == len(text)


def _fragment(lines: list[bytes], line: int, message: str, until: int) -> Reading:
    """What lines hold that are not one message each; the fault stands at the end of line `until`."""
    data = b"\n".join(lines)
    text, faults = decode(data.rstrip(b"\r"))
    assert text is not None, "a line that is not UTF-8 is never held"
    at = len("\n".join(text.split("\n", until)[:until]))
    return Reading(data, line, text, None, (*faults, Fault("WIRE-LINE", message, at, *line_column(text, at))))
