"""What stands around the failing messages of a session, for a person: the wire, and standard error.

Everything is bounded, printable, and without secrets: those of the transcript were replaced when it
was written, those that the implementation prints are replaced here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from conformance import records
from conformance.errors import InputUnreadable
from conformance.events import Closed, Event, Malformed, Opened, Sent
from conformance.packs import Pack
from conformance.transcript import Redaction
from conformance.wording import plural, printable

BEFORE, AFTER = 4, 2
"""So many events are shown around a message that is meant."""

PLACES = 3
"""So many messages are shown with what is around them."""

WIDTH, MEANT = 300, 1500
"""So many characters of a message are shown, and of one that is meant."""

TAIL = 4000
"""So many bytes of standard error are shown, from its end."""


def wire(path: Path, pack: Pack, meant: Collection[int]) -> str:
    """The events around those with these numbers, one a line; without any, those at the end.

    `> #7  1.204 s  received from agent: {…}`; empty where the file is no transcript.
    """
    try:
        events = list(records.open_record(path.read_bytes(), str(path), pack).events)
    except (OSError, InputUnreadable):
        return ""
    places = [place for place, event in enumerate(events) if event.seq in meant][:PLACES]
    near = {at for place in places for at in range(place - BEFORE, place + AFTER + 1)}
    near = near or set(range(len(events) - BEFORE - AFTER, len(events)))
    return "\n".join(_lines(events, near, {events[place].seq for place in places}))


def _lines(events: list[Event], near: set[int], meant: Collection[int]) -> Iterator[str]:
    left_out = 0
    for place, event in enumerate(events):
        if place not in near:
            left_out += 1
            continue
        if left_out:
            yield f"  … {plural(left_out, 'event')}"
        left_out = 0
        yield _line(event, event.seq in meant)
    if left_out:
        yield f"  … {plural(left_out, 'event')}"


def _line(event: Event, is_meant: bool) -> str:
    time = "" if event.time is None else f"  {event.time:.3f} s"
    where = "" if event.connection == "main" else f" ({event.connection})"
    text = _said(event)
    limit = MEANT if is_meant else WIDTH
    text = text if len(text) <= limit else f"{text[: limit * 2 // 3]}…{text[-limit // 4 :]}"
    return f"{'>' if is_meant else ' '} #{event.seq}{time}{where}  {printable(text)}"


def _said(event: Event) -> str:
    if isinstance(event, Opened):
        return "the connection is open"
    if isinstance(event, Closed):
        if not event.final:
            return "the record ends here"
        return f"the connection ended, by {event.by or 'nobody'}: {event.detail or 'in order'}"
    if isinstance(event, Malformed):
        return f"received from {event.party}: {event.data.decode(errors='replace')}"
    way = "sent as" if isinstance(event, Sent) else "received from"
    return f"{way} {event.party}: {event.text}"


def standard_error(path: Path, pack: Pack, key: bytes) -> str:
    """The end of what the implementation wrote to standard error; empty where there is nothing."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL))
        tail = file.read().decode(errors="replace")
    lines = Redaction(pack.secrets, key).text(tail).splitlines()
    cut = [f"… {size - TAIL} bytes before this"] if size > TAIL else []
    return "\n".join([*cut, *map(printable, lines[1:] if cut else lines)])
