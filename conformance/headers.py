"""Bytes → messages where each stands behind a header with its length, as in the base protocol of LSP.

    Content-Length: 17\\r\\n
    \\r\\n
    {"jsonrpc":"2.0"}

What is no header and no message gives a `Reading` with a fatal fault, once for each stretch of it, and
the next header that can be found is where reading goes on: what belongs to a broken header is passed
over, and a header within a message that is none shows that its length was wrong. However the bytes are
cut into chunks, the readings are the same.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

from conformance.events import Fault
from conformance.framing import KEPT, Reading, read_message
from conformance.jsontext import LIMITS, Limits
from conformance.tokens import shortened

HEADER: Final = 8192  # bytes of one header; what is longer is none

_LENGTH = re.compile(rb"(?i)content-length:")
_FIELD = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:")  # RFC 7230, 3.2
_KNOWN = re.compile(rb"(?i)content-(?:length|type):")
_DIGITS = re.compile(rb"[0-9]{1,15}")
_WITHIN = re.compile(rb"(?i)content-length:[ \t]*[0-9]+\r?\n")
_TAIL = len("Content-Length")  # so many bytes may be the beginning of the field
_CUT = re.compile(  # a header's beginning, at the end
    rb"(?i)(?:content-length:[ \t]*[0-9]*\r?|"
    + b"|".join(re.escape(b"content-length"[:size]) for size in range(_TAIL, 0, -1))
    + rb")\Z"
)


def enclosed(message: bytes) -> bytes:
    """The message behind its header."""
    return b"Content-Length: %d\r\n\r\n%s" % (len(message), message)


class HeaderStream:
    """Messages behind headers: `feed` it bytes as they come, and tell it the `end`.

    Each byte is looked at a fixed number of times; what is looked at again, because a header lied, is
    no more than the greatest message in all.
    """

    def __init__(self, limits: Limits = LIMITS) -> None:
        """A message of more than `limits.length` bytes is a fault, and passed over."""
        self._limits = limits
        self._rest = bytearray()
        self._block: list[bytes] = []  # the lines of a header that is coming in
        self._need: int | None = None  # the length of the message that is coming in
        self._header = b""  # what said so
        self._lost = False  # what comes belongs to something that was reported
        self._skipping = False  # a line is too long to be one of a header
        self._told: set[str] = set()
        self._again = limits.length  # bytes that may be looked at again

    def feed(self, data: bytes) -> list[Reading]:
        """The readings that these bytes complete."""
        self._rest += data
        readings: list[Reading] = []
        while (found := self._step()) is not None:
            readings += found
        return readings

    def end(self) -> list[Reading]:
        """The readings that are left when no more bytes come."""
        readings: list[Reading] = []
        while self._need is not None:
            body, need = self._taken(len(self._rest)), self._need
            self._need = None
            said = f"the stream ends after {len(body)} of the {need} bytes of a message"
            readings += self._too_long(body, self._next_header(body), said) + self.feed(b"")
        rest = self._taken(len(self._rest))
        if self._block:
            data = b"".join([*self._block, rest])
            return [*readings, _fault(data, "WIRE-LINE", "the stream ends in the middle of a header")]
        return [*readings, *self._noise(rest)]

    def _step(self) -> list[Reading] | None:
        """Take what is next from the bytes that have come; None where it is not complete."""
        if self._need is not None:
            if len(self._rest) < self._need:
                return None
            body, self._need = self._taken(self._need), None
            return self._message(body)
        if self._skipping:
            return self._skip()
        newline = self._rest.find(b"\n", 0, HEADER + 1)
        if newline >= 0:
            return self._line(self._taken(newline + 1))
        return self._overlong() if len(self._rest) > HEADER else None

    def _taken(self, size: int) -> bytes:
        data = bytes(self._rest[:size])
        del self._rest[:size]
        return data

    # ── headers ───────────────────────────────────────────────────────────────────────────────────

    def _line(self, raw: bytes) -> list[Reading]:
        line = raw.rstrip(b"\r\n")
        if not line:
            return self._end_header(raw) if self._block else self._blank(raw)
        other = raw.endswith(b"\r\n") and not self._lost and _FIELD.match(line)
        if other or _KNOWN.match(line):
            return self._field(raw)
        if found := _LENGTH.search(line):
            self._rest[:0] = raw[found.start() :]
            return self._noise(raw[: found.start()])
        if self._block:
            said = f"expected a header field and a carriage return but found {_quoted(line)}"
            return [_fault(raw, "WIRE-LINE", said)]
        return self._noise(line)

    def _field(self, raw: bytes) -> list[Reading]:
        self._block.append(raw)
        if sum(map(len, self._block)) <= HEADER:
            return []
        block, self._block, self._lost = b"".join(self._block), [], True
        return [_fault(block, "WIRE-LIMIT", f"a header is longer than {HEADER} bytes")]

    def _blank(self, raw: bytes) -> list[Reading]:
        said = "an empty line between messages; reported for the first such line only"
        return [] if self._lost else self._once(raw, "WIRE-NOISE", said)

    def _end_header(self, blank: bytes) -> list[Reading]:
        lines, self._block = [*self._block, blank], []
        self._header, self._lost = b"".join(lines), False
        readings: list[Reading] = []
        if not all(line.endswith(b"\r\n") for line in lines):
            said = "a header line ends without a carriage return; reported for the first header only"
            readings = self._once(self._header, "WIRE-LINE", said)
        given = [line.split(b":", 1)[1].strip() for line in lines if _LENGTH.match(line)]
        wrong = self._wrong(given)
        if wrong is None:
            self._need = int(given[0])
            if len(given) == 1:
                return readings
            return [*readings, _fault(self._header, "WIRE-LINE", "a header says its Content-Length twice")]
        self._lost = True
        return [*readings, _fault(self._header, *wrong)]

    def _wrong(self, given: list[bytes]) -> tuple[str, str] | None:
        """Code and sentence of what is wrong with the lengths that a header gives."""
        if not given:
            return "WIRE-LINE", "a header without Content-Length"
        if len(set(given)) > 1:
            return "WIRE-LINE", f"a header with several lengths: {', '.join(map(_quoted, given))}"
        if given[0].isdigit() and (not _DIGITS.fullmatch(given[0]) or int(given[0]) > self._limits.length):
            said = f"a header announces {shortened(given[0].decode())} bytes"
            return "WIRE-LIMIT", f"{said}; the limit is {self._limits.length}"
        if not given[0].isdigit():
            return "WIRE-LINE", f"Content-Length is to be a number of bytes but is {_quoted(given[0])}"
        return None

    # ── messages ──────────────────────────────────────────────────────────────────────────────────

    def _message(self, body: bytes) -> list[Reading]:
        reading = read_message(body, 1, self._limits)
        fatal = reading.fatal
        if fatal is None:
            return [reading]
        if (at := self._next_header(body)) < len(body):
            said = f"Content-Length is {len(body)}, but another header begins after {at} bytes"
            return self._too_long(body, at, said)
        if not _stops_early(reading, fatal):
            return [reading]
        self._lost = True  # what follows is its rest, and no second fault
        said = f"the message does not end within the {len(body)} bytes that its header says"
        return [_fault(self._header + body, "WIRE-LINE", said)]

    def _next_header(self, body: bytes) -> int:
        """Where another header begins in what was taken for a message; its end where none does."""
        if found := _WITHIN.search(body):
            return found.start()
        found = _CUT.search(body, max(0, len(body) - HEADER))
        if found and read_message(body[: found.start()], 1, self._limits).fatal is None:
            return found.start()
        return len(body)

    def _too_long(self, body: bytes, at: int, said: str) -> list[Reading]:
        """The header said a greater length than the message has: other messages are behind `at`."""
        readings = [_fault(self._header + body, "WIRE-LINE", said)]
        within = read_message(body[:at], 1, self._limits)
        if within.fatal is None:
            readings.append(within)
        self._again -= len(body) - at
        if self._again >= 0:
            self._rest[:0] = body[at:]
        return readings

    # ── everything else ───────────────────────────────────────────────────────────────────────────

    def _overlong(self) -> list[Reading]:
        found = _LENGTH.search(self._rest, 0, HEADER)
        if found and found.start():
            return self._noise(self._taken(found.start()))
        self._skipping = True
        return self._noise(self._taken(HEADER - _TAIL))

    def _skip(self) -> list[Reading] | None:
        """Pass over the rest of a line, but not over a header in it."""
        found, newline = _LENGTH.search(self._rest), self._rest.find(b"\n")
        if found is None and newline < 0:
            del self._rest[: max(0, len(self._rest) - _TAIL)]
            return None
        self._skipping = False
        del self._rest[: found.start() if found and (newline < 0 or found.start() < newline) else newline + 1]
        return []

    def _noise(self, data: bytes) -> list[Reading]:
        if self._lost or not data.strip():
            return []
        if data.lstrip().startswith(b"{"):
            said = f"a message without a header that says its length: {_quoted(data)}"
            return [_fault(data, "WIRE-LINE", said)]
        return [_fault(data, "WIRE-NOISE", f"something else on the protocol stream: {_quoted(data)}")]

    def _once(self, data: bytes, code: str, said: str) -> list[Reading]:
        if said in self._told:
            return []
        self._told.add(said)
        return [_fault(data, code, said)]


def _stops_early(reading: Reading, fatal: Fault) -> bool:
    """Whether more bytes could have made a message of it; the cut may be within a character."""
    if fatal.code == "WIRE-UTF8":
        try:
            return codecs.utf_8_decode(reading.data, "strict", False)[1] < len(reading.data)
        except UnicodeDecodeError:
            return False
    return fatal.code == "WIRE-JSON" and fatal.offset == len(reading.text)


def _fault(data: bytes, code: str, message: str) -> Reading:
    return Reading(data[:KEPT], 1, _legible(data[:KEPT]), None, (Fault(code, message),))


def _quoted(data: bytes) -> str:
    return shortened(_legible(data[:KEPT].strip()))


def _legible(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
