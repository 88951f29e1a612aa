"""What stands around an event of a transcript, as values for whoever draws it.

Everything is bounded: so many places of a report, so many events around each, so many characters of a
message. The transcripts of a report are looked for in its own folder alone, whatever it says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from conformance import locating, records
from conformance.correlation import Correlator
from conformance.errors import ConformanceError
from conformance.events import Closed, Event, Malformed, Opened, Received, Sent
from conformance.packs import Pack, find
from conformance.tokens import line_column

BEFORE, AFTER = 5, 3
"""So many events are shown around one that is meant."""

PLACES = 300
"""So many places of a report are looked up at most."""

WIDTH, MEANT = 400, 2000
"""So many characters of a message are kept, and of one that is meant."""

LARGEST = 8 * 2**20
"""A transcript of more bytes is not read."""


class Step(NamedTuple):
    """One event. `way` is `sent` (by the kit), `received`, `malformed`, `opened` or `closed`.

    `kind` is the message's kind, empty where it is of none; `text` the message, or what became of the
    connection; `left_out` how many characters of it are not here.
    """

    seq: int
    way: str
    party: str
    connection: str
    time: float | None
    kind: str
    text: str
    left_out: int
    meant: bool


class Exchange(NamedTuple):
    """The events around one that is meant, how many there are before and after them, and where the value
    that is meant ends in the transcript: line and column, 0 where that is not known.
    """

    steps: tuple[Step, ...]
    before: int
    after: int
    end: tuple[int, int] = (0, 0)
    mark: tuple[int, int] = (0, 0)
    """Where that value stands in the text of its step: two offsets, equal where it does not."""


Place: TypeAlias = tuple[str, int, str]
"""A transcript as a finding names it, the number of an event, and a JSON Pointer into its message."""

Exchanges: TypeAlias = Mapping[Place, Exchange]

NONE: Exchanges = {}
"""Where there are no transcripts."""


def place_of(finding: Mapping[str, Any]) -> Place:
    """The place of a report's finding."""
    return finding["transcript"], finding["seq"], finding["pointer"]


def of_report(report: Mapping[str, Any], folder: Path) -> Exchanges:
    """The exchanges around the findings of a report, from the transcripts in its folder.

    What cannot be read is left out: a report can be told without.
    """
    name = f"{report['pack']['protocol']}@{report['pack']['revision']}"
    try:
        pack = find(name)
    except ConformanceError:
        return NONE
    wanted: dict[str, list[Place]] = {}
    for place in list(dict.fromkeys(_places(report)))[:PLACES]:
        wanted.setdefault(place[0], []).append(place)
    found: dict[Place, Exchange] = {}
    for transcript, places in wanted.items():
        path = _inside(folder, transcript)
        if path is not None:
            found |= around(path, pack, places)
    return found


def _places(report: Mapping[str, Any]) -> Iterator[Place]:
    """The worst first, and of each requirement the first, then the second, …"""
    order = ("fail", "inconclusive", "warn")
    rows = sorted(
        (row for row in report["requirements"] if row["findings"]),
        key=lambda row: order.index(row["verdict"]) if row["verdict"] in order else len(order),
    )
    for number in range(max((len(row["findings"]) for row in rows), default=0)):
        for row in rows:
            if number < len(row["findings"]) and row["findings"][number]["seq"]:
                yield place_of(row["findings"][number])


def _inside(folder: Path, transcript: str) -> Path | None:
    """The transcript's path; None where it leads out of the folder, or to no file, or too large a one."""
    try:
        path = (folder / transcript).resolve()
        fits = path.is_relative_to((folder / "transcripts").resolve()) and path.is_file()
        return path if fits and path.stat().st_size <= LARGEST else None
    except (OSError, ValueError):
        return None


def around(path: Path, pack: Pack, places: Iterable[Place]) -> dict[Place, Exchange]:
    """The exchanges around places of one transcript; empty where it cannot be read."""
    try:
        events = list(records.open_record(path.read_bytes(), str(path), pack).events)
    except (OSError, ConformanceError):
        return {}
    kinds = dict(_kinds(events, pack))
    at = {event.seq: number for number, event in enumerate(events)}
    return {place: _exchange(events, kinds, at[place[1]], place) for place in places if place[1] in at}


def _kinds(events: Iterable[Event], pack: Pack) -> Iterator[tuple[int, str]]:
    correlator = Correlator(pack)
    for event in events:
        if isinstance(event, Opened):
            correlator.opened(event.connection)
        if isinstance(event, (Sent, Received)):
            message = correlator.message(event)
            yield event.seq, message.name if message.kind else ""


def _exchange(events: list[Event], kinds: Mapping[int, str], at: int, place: Place) -> Exchange:
    first, last = max(0, at - BEFORE), min(len(events), at + AFTER + 1)
    steps = tuple(_step(event, kinds, (place[1],)) for event in events[first:last])
    event, (start, end) = events[at], _span(events[at], place[2])
    if not isinstance(event, (Sent, Received)) or start == end:
        return Exchange(steps, first, len(events) - last)
    line, column = line_column(event.text, end)
    ends = event.line + line - 1, column + (event.column - 1 if line == 1 else 0)
    # Of a text that was cut, the beginning is there.
    there = len(event.text) <= MEANT or end <= MEANT * 2 // 3
    mark = (start, end) if there and place[2] else (0, 0)
    return Exchange(steps, first, len(events) - last, ends, mark)


def _span(event: Event, pointer: str) -> tuple[int, int]:
    """Where the value at a pointer stands in the event's text; twice the same where there is none."""
    try:
        place = locating.locate(event.text, pointer) if isinstance(event, (Sent, Received)) else None
    except ValueError:  # the finding comes with the report, and its pointer may be none
        return 0, 0
    return (place.offset, place.end) if place else (0, 0)


def _step(event: Event, kinds: Mapping[int, str], meant: Collection[int]) -> Step:
    said, is_meant = _said(event), event.seq in meant
    limit = MEANT if is_meant else WIDTH
    text = said if len(said) <= limit else f"{said[: limit * 2 // 3]}…{said[-limit // 4 :]}"
    return Step(
        event.seq,
        _WAYS[type(event)],
        getattr(event, "party", getattr(event, "by", "")),
        event.connection,
        event.time,
        kinds.get(event.seq, ""),
        text,
        max(0, len(said) - limit),
        is_meant,
    )


_WAYS = {Sent: "sent", Received: "received", Malformed: "malformed", Opened: "opened", Closed: "closed"}


def _said(event: Event) -> str:
    if isinstance(event, Opened):
        return event.detail or "the connection is open"
    if isinstance(event, Closed):
        if not event.final:
            return "the record ends here"
        return event.detail or "the connection ended in order"
    if isinstance(event, Malformed):
        return event.data.decode(errors="replace")
    return event.text
