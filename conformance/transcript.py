"""The record of one session: ordered events as JSON Lines, from which everything can be judged again.

The first line is a header, each further line an event. A message stands in its line as it came, token
for token, as the member `message`; one that would not fit into a line as JSON stands as `text`, and
bytes that are no message, or that framing had to mend, as `data` in base64, with the `fault` where
the bytes do not show it again. A record without a `closed` line merely stops: what only the end could
show is then left open.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import IO, Any

from conformance.errors import InputUnreadable
from conformance.events import Closed, Event, Fault, Malformed, Opened, Received, Sent
from conformance.framing import LineStream, Reading, part_at, read_message
from conformance.jsontext import BOM
from conformance.packs import wire_requirements

FORMAT = 1

DEEP = 500
"""A message with so many brackets might nest too deep for the line around it."""


def event_of(
    reading: Reading,
    seq: int,
    party: str,
    *,
    sent: bool = False,
    connection: str = "main",
    time: float | None = None,
) -> Sent | Received | Malformed:
    """The event that a reading is."""
    text, value, faults = reading.text, reading.value, reading.faults
    line, column, exact = reading.line, reading.column, reading.exact
    fault = reading.fatal if faults else None
    if fault is not None:
        return Malformed(seq, party, reading.data, fault, connection, time, line, column)
    if sent:
        return Sent(seq, party, text, value, connection, time, faults, line, column, 0.0, exact)
    return Received(seq, party, text, value, connection, time, faults, line, column, 0.0, 0.0, exact)


class Redaction:
    """Replaces the values of secret members by pseudonyms of the same length.

    One secret always becomes the same pseudonym within a run, so that what is judged by equality and
    length is judged alike on the record; the key of the pseudonyms is `key` and is never kept. A name
    is found however it is escaped, in JSON within a JSON string too, and what looks like a credential
    (LONG characters or more, a digit among them) is then replaced wherever else it stands. The first
    KNOWN of them are: a hostile peer may give out as many as it likes.
    """

    LONG = 16
    KNOWN = 100

    def __init__(self, names: tuple[str, ...], key: bytes) -> None:
        self._key = key
        self._known: dict[str, str] = {}
        listed = "|".join("".join(map(_escapable, name)) for name in names)
        self._pattern = re.compile(_MEMBER.format(listed), re.DOTALL) if names else None

    def text(self, text: str) -> str:
        """The text with every secret replaced."""
        if self._pattern is None:
            return text
        text = self._pattern.sub(lambda found: found["name"] + self._hidden(found["value"]), text)
        for secret, pseudonym in self._known.items():
            text = text.replace(secret, pseudonym)
        return text

    def data(self, data: bytes) -> bytes:
        """The same for bytes that may be no text."""
        return self.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def _hidden(self, written: str) -> str:
        try:
            secret = str(json.loads(f'"{written}"', strict=False))
        except ValueError:  # what is wrong with it stays as it is
            hidden = self._pseudonym(written)
            return _NO_ESCAPE.sub(lambda found: found[0] if found[1] else hidden[found.start()], written)
        pseudonym = self._pseudonym(secret)
        if len(secret) >= self.LONG and any(map(str.isdigit, secret)) and len(self._known) < self.KNOWN:
            self._known[secret] = pseudonym
        return pseudonym

    def _pseudonym(self, secret: str) -> str:
        import hmac  # with OpenSSL behind it: 6 ms that reading a record need not pay

        digest = hmac.new(self._key, secret.encode("utf-8", "surrogatepass"), "sha256").hexdigest()
        head = "redacted-" if len(secret) >= self.LONG else ""
        return (head + digest * (len(secret) // len(digest) + 1))[: len(secret)]


# Within a JSON string, quotes have backslashes before them: as many as `depth` says, at every quote.
_MEMBER = (
    r'(?P<name>(?P<depth>\\{{1,15}})?"(?:{})(?(depth)(?P=depth))"\s*:\s*(?(depth)(?P=depth))")'
    r'(?P<value>(?(depth)(?:(?!(?P=depth)")[^\x00-\x1f])*|(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*))'
)


_NO_ESCAPE = re.compile(r'(\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4}).?)|.', re.DOTALL)


def _escapable(mark: str) -> str:
    """A pattern of one character of a JSON string, as itself or as an escape."""
    return rf"(?:{re.escape(mark)}|\\+u(?i:{ord(mark):04x}))"


class Writer:
    """Appends events to a text file; each line is flushed before anyone judges the event."""

    def __init__(self, file: IO[str], header: dict[str, Any], redaction: Redaction) -> None:
        self._file = file
        self._redaction = redaction
        self._write(json.dumps({"transcript": FORMAT, **header}, ensure_ascii=False))

    def append(self, event: Event) -> None:
        """Write one event."""
        head, body = self._row(event)
        line = json.dumps({name: value for name, value in head.items() if value is not None})
        self._write(f"{line[:-1]}, {body}}}" if body else line)

    def _row(self, event: Event) -> tuple[dict[str, Any], str]:
        head: dict[str, Any] = {"seq": event.seq, "event": type(event).__name__.lower()}
        head |= {"time": event.time, "lag": getattr(event, "lag", 0.0) or None}
        head |= {"late": event.late or None}
        head |= {"connection": event.connection}
        if isinstance(event, Opened):
            return head | {"detail": self._redaction.text(event.detail)}, ""
        if isinstance(event, Closed):
            head |= {"by": event.by, "clean": event.clean, "final": None if event.final else False}
            return head | {"detail": self._redaction.text(event.detail)}, ""
        head["party"] = event.party
        if isinstance(event, Malformed):
            return head, self._malformed(event)
        return head, self._body(event)

    def _malformed(self, event: Malformed) -> str:
        body, again = self._data(event.data), _reread(event.data + b"\n")
        if (again.data, again.fatal) == (event.data, event.fault):
            return body
        # The bytes alone do not show it: they are a part of what came, or broke a rule of the cable.
        return f'{body}, "fault": {json.dumps(event.fault._asdict())}'

    def _body(self, event: Sent | Received) -> str:
        text = self._redaction.text(event.text)
        codes = [fault.code for fault in event.faults]
        if "WIRE-BOM" in codes:
            text = BOM + text
        if "WIRE-LINE" in codes:  # framing took a carriage return from the end of the line
            return self._data(text.encode("utf-8", "surrogatepass") + b"\r")
        bare = text.isprintable() and text == text.strip(" ") and text.count("[") + text.count("{") < DEEP
        return f'"message": {text}' if bare else f'"text": {json.dumps(text)}'

    def _data(self, data: bytes) -> str:
        coded = base64.b64encode(self._redaction.data(data) + b"\n").decode()
        return f'"data": "{coded}"'

    def _write(self, line: str) -> None:
        self._file.write(line + "\n")
        self._file.flush()


def is_header(value: Any) -> bool:
    """Whether a line's value is the header of a transcript."""
    return isinstance(value, dict) and "transcript" in value


def read_event(reading: Reading, where: str) -> Event:
    """The event of one line of a transcript; InputUnreadable with file and line where it is none."""
    try:
        return _event(reading, reading.value)
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        said = f"this line of the transcript is no event ({type(error).__name__}: {error})"
        raise InputUnreadable(f"{where}:{reading.line}: {said}") from None


def _event(reading: Reading, value: Any) -> Event:
    event = _noticed(reading, value)._replace(late=float(value.get("late", 0.0)))
    lag = float(value.get("lag", 0.0))
    return event._replace(lag=lag) if lag and not isinstance(event, Opened | Sent) else event


def _noticed(reading: Reading, value: Any) -> Event:
    name, seq = value["event"], int(value["seq"])
    connection = _string(value.get("connection", "main"))
    time = None if value.get("time") is None else float(value["time"])
    if name == "opened":
        return Opened(seq, connection, time, _string(value.get("detail", "")))
    if name == "closed":
        by, detail, final = _string(value["by"]), _string(value["detail"]), value.get("final", True)
        return Closed(seq, connection, time, by, bool(value["clean"]), detail, bool(final))
    if name not in ("sent", "received", "malformed"):
        raise ValueError(f"unknown event {name!r}")
    party = _string(value["party"])
    if "fault" in value:
        data = base64.b64decode(value["data"], validate=True).removesuffix(b"\n")
        return Malformed(seq, party, data, _fault(value["fault"]), connection, time, reading.line)
    recorded = _recorded(reading, value)
    return event_of(recorded, seq, party, sent=name == "sent", connection=connection, time=time)


def _fault(members: Any) -> Fault:
    fault = Fault(**members)
    if [type(value) for value in fault] != [str, str, int, int, int, bool, str]:
        raise TypeError(f"{members!r} is no fault")
    if fault.code not in wire_requirements():
        raise ValueError(f"unknown fault {fault.code!r}")
    return fault


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no string")
    return value


def _recorded(reading: Reading, value: dict[str, Any]) -> Reading:
    if "message" in value:
        return part_at(reading, "/message")
    if "text" in value:
        return read_message(value["text"].encode("utf-8", "surrogatepass"), reading.line)
    return _reread(base64.b64decode(value["data"], validate=True))._replace(line=reading.line)


def _reread(data: bytes) -> Reading:
    stream = LineStream()
    readings = [*stream.feed(data), *stream.end()]
    return readings[0] if len(readings) == 1 else read_message(data.removesuffix(b"\n"))


def read(lines: Iterator[Reading], where: str) -> Iterator[Event]:
    """The events of a transcript whose header line was read already.

    A connection without its `closed` line, where the record stops, ends with a `Closed` that is not
    `final`.
    """
    last, open_ = 0, dict[str, None]()
    for reading in lines:
        if reading.fatal is not None:
            raise InputUnreadable(f"{where}:{reading.line}: {reading.fatal.message}")
        event = read_event(reading, where)
        last = event.seq
        if isinstance(event, Closed):
            open_.pop(event.connection, None)
        else:
            open_[event.connection] = None
        yield event
    for number, name in enumerate(open_ if last else ["main"], last + 1):
        yield Closed(number, name, clean=False, detail="the record stops here", final=False)
