"""What must not change a verdict: how bytes are cut, what else is going on, having judged before.

The corpus is what the packs bring along, valid and invalid. A record here is a list of events.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from specimens import PACKS, content

from conformance import jsontext, locating, records, transcript
from conformance.correlation import Correlator, Message
from conformance.events import Closed, Event, Malformed, Opened, Received, Sent
from conformance.findings import Finding
from conformance.framing import LineStream, Reading
from conformance.jsontext import parse
from conformance.monitor import Monitor
from conformance.packs import Pack

each_pack = pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
# An example that fails is told as it was drawn: making it smaller would take minutes. The examples are the
# same each time; others are tried by hand, without `derandomize`.
often = settings(
    max_examples=50,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
seldom = settings(often, max_examples=20)

ALL = "messages/*/*.json", "transcripts/*/*.jsonl"
SMALL = 2000
"""Fixtures of fewer bytes are cut into single ones, and each that is not ASCII."""


class Apart(NamedTuple):
    """How things that go on at the same time are told apart; sessions besides by their connections."""

    by: tuple[str, ...]
    """The members whose values are a thing's own."""
    begin: tuple[str, ...] = ()
    """The kinds of messages with which a whole record begins, where what is missing shows by others."""
    only: tuple[str, ...] = ()
    """The members that say that a thing has what no other may have at the same time."""
    always: bool = False
    """Whether each message has each of the members: one that has not may be about any thing."""


APART = {
    "va-agent-protocol": Apart(
        by=("/correlationId", "/payload/task/id", "/payload/taskId", "/payload/evidence/taskId"),
        begin=("dispatch",),
    ),
    "awp": Apart(
        by=(
            *("/result/session_id", "/result/session_token", "/params/session_token"),
            # No two sessions act with the same body.
            *("/params/embodiment", "/params/embodiment_id"),
            *(f"/result/embodiments/{index}/id" for index in range(4)),
            # An approval is asked of one session for an action of another.
            *("/params/approval_id", "/result/approval_id", "/params/requester/session"),
        ),
        # Nor does an approval that was given stand for what another session asks.
        only=("/result/granted/admin", "/params/decision"),
    ),
    "ossa-a2a": Apart(
        by=(
            *("/id", "/from", "/to", "/correlationId"),
            *("/payload/agentId", "/payload/queryId", "/payload/taskId"),
        ),
        begin=("TaskAssigned", "QueryRequest", "AgentStarted"),
    ),
    "governed-attempt-progress": Apart(by=("/taskId", "/operationId", "/launchId"), always=True),
}
"""By protocol."""

NOT_APART = {"atep": "what an adapter says names its step and no workflow"}
"""Protocols of which one record is about one thing at a time, and why."""


class Needless(NamedTuple):
    """Messages of a kind that nobody has to send; a request goes with its answer."""

    kind: str
    until: str = ""
    """Only before the first message of this kind: after it, they mean something."""
    all: bool = False
    """All of them or none."""
    unless: tuple[str, ...] = ()
    """Not in a record of which a message has one of these members: there, they are told for something."""


NEEDLESS = {
    "va-agent-protocol": [Needless("progress", until="blocked")],
    "awp": [
        Needless("action.status.request"),
        Needless("obs.report"),
        # An advance in lockstep has its frames, and so has what an action is based on.
        Needless("obs.frame", all=True, unless=("/params/expected_tick", "/params/basis_ts_mono_ns")),
    ],
}
"""By protocol."""


def files(pack: Pack, *patterns: str) -> list[Path]:
    """The pack's own fixtures of these patterns."""
    found = [path for pattern in patterns for path in pack.specimens.like(pattern).values()]
    assert found, f"{pack.name} has none of {patterns}"
    return found


def some(pack: Pack, most: int) -> list[Path]:
    """At most so many of all its fixtures, evenly chosen; others of each revision of a protocol."""
    found = files(pack, *ALL)
    step = -(-len(found) // most)
    return found[PACKS.index(pack) % step :: step]


def judged(pack: Pack, events: Iterable[Event]) -> list[Finding]:
    monitor = Monitor(pack)
    return [finding for event in events for finding in monitor.feed(event)] + monitor.end()


@cache
def recorded(pack: Pack, path: Path) -> tuple[Event, ...]:
    return tuple(records.open_record(content(path), path.name, pack).events)


# ── the quick way ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_who_asks_for_no_praise_hears_the_same_faults(pack: Pack) -> None:
    """Without praise, a check is shown only what can matter to it, and asks again only what is in doubt."""
    for path in some(pack, 100):
        events, quick = recorded(pack, path), Monitor(pack, praise=False)
        found = [finding for event in events for finding in quick.feed(event)]
        every = judged(pack, events)
        told = [finding for finding in found + quick.end() if not finding.ok]
        assert told == [finding for finding in every if not finding.ok], path.name


def spoilt(events: tuple[Event, ...], chance: random.Random) -> list[Event]:
    """The events with one that is missing, comes twice or too early, or has a value of another one."""
    left, said = [*events], [place for place, one in enumerate(events) if isinstance(one, (Sent, Received))]
    one, other = chance.choice(said), chance.choice(said)
    how = chance.randrange(4)
    if how == 0:
        del left[one]
    elif how == 1:
        left.insert(other, left[one])
    elif how == 2:
        left[one], left[other] = left[other], left[one]
    else:
        left[one] = with_value_of(left[one], left[other], chance)
    return [event._replace(seq=seq) for seq, event in enumerate(left)]


def with_value_of(event: Event, other: Event, chance: random.Random) -> Event:
    """The event with one part of its message that the other's has at the same place, or a number."""
    assert isinstance(event, (Sent, Received))
    assert isinstance(other, (Sent, Received))
    places = [where for where, _ in jsontext.leaves(event.value) if where]
    if not places:
        return event
    where = chance.choice(places)
    found = jsontext.resolve(other.value, where)
    new = chance.choice([-1, 2**53, 0.5]) if found is jsontext.MISSING else found
    place = locating.locate(event.text, where)
    assert place is not None
    text = event.text[: place.offset] + json.dumps(new, default=str) + event.text[place.end :]
    parsed = parse(text)
    return event._replace(text=text, value=parsed.value, faults=parsed.faults, exact=False)


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_who_asks_for_no_praise_hears_the_same_faults_of_what_is_spoilt(pack: Pack) -> None:
    chance = random.Random(pack.name)
    paths = [path for path in some(pack, 100) if path.suffix == ".jsonl"]
    for path in [path for path in paths if any(isinstance(one, Received) for one in recorded(pack, path))]:
        events, quick = spoilt(recorded(pack, path), chance), Monitor(pack, praise=False)
        found = [finding for event in events for finding in quick.feed(event)]
        every = judged(pack, events)
        told = [finding for finding in found + quick.end() if not finding.ok]
        assert told == [finding for finding in every if not finding.ok], path.name


# ── bytes ────────────────────────────────────────────────────────────────────────────────────────


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(places)]


def read_in(parts: Iterable[bytes]) -> Iterator[Reading]:
    stream = LineStream()
    for part in parts:
        yield from stream.feed(part)
    yield from stream.end()


@cache
def as_lines(pack: Pack, path: Path) -> bytes:
    """What the fixture holds, as a program would write it on its standard output."""
    said = [event for event in recorded(pack, path) if isinstance(event, (Sent, Received, Malformed))]
    return b"".join(
        (one.data if isinstance(one, Malformed) else one.text.encode("utf-8", "surrogatepass")) + b"\n"
        for one in said
    )


def whole(data: bytes) -> list[Reading]:
    """What is read where all comes at once. What is read alike is judged alike."""
    return list(read_in([data]))


@each_pack
@often
@given(data=st.data(), cuts=st.lists(st.integers(min_value=0), max_size=12))
def test_however_bytes_are_cut(pack: Pack, data: Any, cuts: list[int]) -> None:
    lines = as_lines(pack, data.draw(st.sampled_from(files(pack, *ALL))))
    assert list(read_in(pieces(lines, cuts))) == whole(lines)


@each_pack
@often
@given(data=st.data(), cuts=st.lists(st.integers(min_value=0), max_size=12))
def test_however_a_transcript_is_read(pack: Pack, data: Any, cuts: list[int]) -> None:
    own = [path for path in files(pack, "transcripts/*/*.jsonl") if b'"transcript"' in path.read_bytes()[:20]]
    path = data.draw(st.sampled_from(own))
    _, *rest = read_in(pieces(path.read_bytes(), cuts))
    assert tuple(transcript.read(iter(rest), path.name)) == recorded(pack, path)


@each_pack
@pytest.mark.parametrize("size", [1, 7])
def test_byte_by_byte(pack: Pack, size: int) -> None:
    """Fixtures in the smallest pieces, in which every character of several bytes is cut."""
    for path in files(pack, *ALL):
        lines = as_lines(pack, path)
        if size > 1 or len(lines) < SMALL or not lines.isascii():
            parts = [lines[at : at + size] for at in range(0, len(lines), size)]
            assert list(read_in(parts)) == whole(lines), path.name


# ── again ────────────────────────────────────────────────────────────────────────────────────────


@each_pack
def test_judged_twice(pack: Pack) -> None:
    """Nothing is left behind by what was judged before: the second time in the opposite order."""
    corpus = some(pack, 100)
    first = {path: judged(pack, recorded(pack, path)) for path in corpus}
    for path in reversed(corpus):
        assert judged(pack, recorded(pack, path)) == first[path], path.name
        again = records.open_record(content(path), path.name, pack)
        assert tuple(again.events) == recorded(pack, path), path.name


# ── at the same time ─────────────────────────────────────────────────────────────────────────────

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def with_values(event: Event, pointers: Iterable[str], mark: str) -> Event:
    """The event with a mark at the end of these strings of its message, in which a UUID stays one."""
    if not isinstance(event, (Sent, Received)):
        return event
    text = event.text
    for pointer in pointers:
        place, value = locating.locate(text, pointer), jsontext.resolve(parse(text).value, pointer)
        if place is not None and isinstance(value, str):
            cut = len(mark) if UUID.fullmatch(value) else 0
            text = f"{text[: place.end - 1 - cut]}{mark}{text[place.end - 1 :]}"
    return event._replace(text=text, value=parse(text).value, exact=False)


def is_independent(pack: Pack, events: tuple[Event, ...]) -> bool:
    """Whether the record is whole, and nothing in it may be about everything: what cannot be read may be."""
    if any(
        isinstance(event, Malformed) or (isinstance(event, Closed) and not event.final) for event in events
    ):
        return False
    named = messages(pack, events)
    if any(message.kind is None or not message.known_party for message in named):
        return False
    # What comes from the wrong side may be about anything too.
    if any(message.event.party not in message.kind.senders for message in named if message.kind):
        return False
    if any(message.is_a(row["on"]) and not _names(message, row) for message in named for row in moves(pack)):
        return False
    told = APART[pack.protocol]
    if told.always and any(not isinstance(one.at(member), str) for one in named for member in told.by):
        return False
    if any(one.at(member) for one in named for member in told.only):
        return False
    begin = told.begin
    if begin and named[0].name not in begin:
        return False
    begins = {name for row in pack.meta.get("sessions", ()) for name in row["on"]}
    begun = {message.event.connection for message in named if message.name in begins}
    return not begins or {message.event.connection for message in named} <= begun


def moves(pack: Pack) -> list[dict[str, Any]]:
    """What messages do to the lifecycles, as far as they themselves say to what."""
    return [row for _, rows in pack.lifecycles.values() for row in rows if row.get("of") != "request"]


def _names(message: Message, row: dict[str, Any]) -> bool:
    return isinstance(message.at(row["entity"]), str)


def messages(pack: Pack, events: Iterable[Event]) -> list[Message]:
    correlator = Correlator(pack)
    found = []
    for event in events:
        if isinstance(event, Opened):
            correlator.opened(event.connection)
        elif isinstance(event, (Sent, Received)):
            found.append(correlator.message(event))
    return found


@cache
def independent(pack: Pack) -> list[Path]:
    found = files(pack, "transcripts/*/*.jsonl")
    return [path for path in found if is_independent(pack, recorded(pack, path))]


def apart(pack: Pack, events: tuple[Event, ...], mark: str) -> list[Event]:
    """The events so that nothing of them is about what other events with another mark are about."""
    own = [with_values(event, APART[pack.protocol].by, mark) for event in events]
    if pack.meta.get("sessions"):
        return [event._replace(connection=event.connection + mark) for event in own]
    return [event for event in own if isinstance(event, (Sent, Received))]


def numbered(events: Iterable[Event]) -> list[Event]:
    return [event._replace(seq=seq) for seq, event in enumerate(events, 1)]


def alone(pack: Pack, events: list[Event]) -> list[Event]:
    """A record of these events alone: with its ends, where they were taken off."""
    return numbered(events if pack.meta.get("sessions") else [Opened(0), *events, Closed(0)])


def outcome(
    findings: Iterable[Finding], of: Callable[[int], int], *, ok: bool
) -> Counter[tuple[str, bool, Any, str, str, int]]:
    """What was found for or against, whatever the names in it are: with its place, and on which event."""
    return Counter(
        (one.requirement, one.inconclusive, one.level, one.party, one.pointer, of(one.seq))
        for one in findings
        if one.ok is ok
    )


TOLD_APART = [pack for pack in PACKS if pack.protocol in APART]


@cache
def besides(pack: Pack, path: Path, mark: str) -> list[Event]:
    """The record's events, marked."""
    return apart(pack, recorded(pack, path), mark)


@cache
def by_itself(pack: Pack, path: Path, mark: str) -> list[Finding]:
    """What is found where nothing else goes on."""
    return judged(pack, alone(pack, besides(pack, path, mark)))


def mixed_up(records_: list[list[Event]], order: list[int]) -> list[Event]:
    """The events of all records, each time the next one of the record whose turn it is."""
    left = [iter(events) for events in records_]
    return [next(left[index]) for index in order]


def turns(data: Any, sizes: list[int]) -> list[int]:
    """Whose turn it is: often, so that a record as a whole goes on within or after another."""
    order = [index for index, size in enumerate(sizes) for _ in range(size)]
    if data.draw(st.booleans()):
        return list(data.draw(st.randoms(use_true_random=False)).sample(order, len(order)))
    start = data.draw(st.integers(min_value=0, max_value=len(order) - 1))
    return order[start:] + order[:start]


@pytest.mark.parametrize("pack", TOLD_APART, ids=lambda pack: pack.name)
@seldom
@given(data=st.data())
def test_whatever_else_goes_on(pack: Pack, data: Any) -> None:
    """Records that are about different things are judged alike, however they are interleaved."""
    paths = data.draw(st.lists(st.sampled_from(independent(pack)), min_size=2, max_size=8))
    marked = [besides(pack, path, f"e{index}") for index, path in enumerate(paths)]
    order = turns(data, [len(events) for events in marked])
    ends = int(not pack.meta.get("sessions"))
    found = judged(pack, alone(pack, mixed_up(marked, order)))
    for index, path in enumerate(paths):
        places = [place + 1 + ends for place, turn in enumerate(order) if turn == index]
        mine = [one for one in found if one.seq in places]
        single = by_itself(pack, path, f"e{index}")
        assert all(one.seq for one in single)

        def place(seq: int) -> int:
            return seq - 1 - ends

        assert outcome(mine, places.index, ok=False) == outcome(single, place, ok=False), path.name
        # That an id is another than those before it is shown only where there are others.
        lost = outcome(single, place, ok=True) - outcome(mine, places.index, ok=True)
        assert not lost, path.name


@each_pack
def test_every_pack_says_what_is_told_apart(pack: Pack) -> None:
    """For a new protocol, `APART` names the members by which records of it are independent."""
    assert (pack in TOLD_APART) is not (pack.protocol in NOT_APART)
    assert pack not in TOLD_APART or len(independent(pack)) >= 10


# ── without ──────────────────────────────────────────────────────────────────────────────────────


def groups(pack: Pack, events: tuple[Event, ...]) -> list[set[int]]:
    """The numbers of the events that may be left out, those together that go together."""
    found: dict[tuple[Any, ...], set[int]] = {}
    named = messages(pack, events)
    for row in NEEDLESS[pack.protocol]:
        if any(message.at(member) is not None for message in named for member in row.unless):
            continue
        for message in takewhile(lambda one, row=row: one.name != row.until, named):
            asked = message.request or message
            if asked.name == row.kind:
                found.setdefault((row.kind, 0 if row.all else asked.seq), set()).add(message.seq)
    return list(found.values())


@cache
def with_needless(pack: Pack) -> list[tuple[Event, ...]]:
    found = [recorded(pack, path) for path in files(pack, "transcripts/valid/*.jsonl")]
    return [events for events in found if groups(pack, events)]


WITH_NEEDLESS = [pack for pack in PACKS if pack.protocol in NEEDLESS]


@pytest.mark.parametrize("pack", WITH_NEEDLESS, ids=lambda pack: pack.name)
@seldom
@given(data=st.data())
def test_without_what_is_not_needed(pack: Pack, data: Any) -> None:
    """A record that is right stays so when messages are left out that nobody has to send."""
    events = data.draw(st.sampled_from(with_needless(pack)))
    left_out = data.draw(st.lists(st.sampled_from(groups(pack, events)), min_size=1))
    gone = set().union(*left_out)
    rest = [event for event in events if event.seq not in gone]
    assert [one for one in judged(pack, rest) if not one.ok] == []
