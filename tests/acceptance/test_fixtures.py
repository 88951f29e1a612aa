"""Every file of `fixtures/` is judged as it says it should be. Adding a file adds a test."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from specimens import (
    PACKS,
    against,
    claimed,
    content,
    each,
    each_of_packs,
    findings_on,
    header,
    judged,
    name_of,
    obeys,
    parsed,
)

from conformance import packs, records
from conformance.correlation import Correlator
from conformance.events import Closed, Event, Received
from conformance.framing import LineStream
from conformance.monitor import Monitor
from conformance.packs import Pack
from conformance.transcript import event_of


def kind_in(name: str, pack: Pack) -> str:
    """The kind that a file is named for: `session.state.active.json` is a session.state."""
    fitting = [kind.name for kind in pack.kinds if f"{name}.".startswith(f"{kind.name}.")]
    assert fitting, f"{name} begins with no kind of {pack.name}"
    return max(fitting, key=len)


@pytest.mark.parametrize("validity", ["valid", "invalid"])
@pytest.mark.parametrize("sort", ["messages", "transcripts"])
@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_every_pack_has_fixtures_of_every_sort(pack: Pack, sort: str, validity: str) -> None:
    assert pack.specimens.like(f"{sort}/{validity}/*.json*")


@each_of_packs("messages/valid/*.json")
def test_valid_message(pack: Pack, path: Path) -> None:
    """It is of the kind that it is named for, which a response on its own does not show; told which it is,
    the kit finds nothing wrong either."""
    assert against(findings_on(pack, path)) == []
    assert any(finding.ok for finding in findings_on(pack, path))
    kind = kind_in(path.stem, pack)
    event, *_ = records.open_record(content(path), name_of(path), pack).events
    assert isinstance(event, Received)
    recognised = Correlator(pack).message(event).name
    assert recognised == ("?" if kind.endswith(".result") else kind)
    assert against(judged([event, Closed(2)], Monitor(pack, kind=kind))) == []


@each_of_packs("messages/invalid/*.json")
def test_invalid_message(pack: Pack, path: Path) -> None:
    obeys(parsed(path), "fixture.schema.json#/$defs/invalid")
    broken = {finding.requirement for finding in findings_on(pack, path) if not finding.ok}
    assert broken == set(claimed(path)), against(findings_on(pack, path))


@each_of_packs("transcripts/valid/*.jsonl")
def test_valid_transcript(pack: Pack, path: Path) -> None:
    assert "fails" not in header(path)
    assert against(findings_on(pack, path)) == []
    assert any(finding.ok for finding in findings_on(pack, path))


@each_of_packs("transcripts/invalid/*.jsonl")
def test_invalid_transcript(pack: Pack, path: Path) -> None:
    broken = {finding.requirement for finding in findings_on(pack, path) if not finding.ok}
    assert broken == set(claimed(path)), against(findings_on(pack, path))


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_transcripts_are_ours(pack: Pack) -> None:
    for path in sorted(pack.fixtures.glob("transcripts/*/*.jsonl")):
        if header(path):
            assert_is_ours(path, pack)


def assert_is_ours(path: Path, pack: Pack) -> None:
    first, *events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert (first["protocol"], first["revision"]) == (pack.protocol, pack.revision), path.name
    obeys(first, "transcript.schema.json#/$defs/header")
    for event in events:
        obeys(event, "transcript.schema.json#/$defs/event")
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    times = [event["time"] for event in events]
    assert times == sorted(times)


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_what_a_pack_leaves_out_does_not_hold_there(pack: Pack) -> None:
    """A fixture of the base that is judged by the pack as it says it should be is left out for nothing."""
    left_out = [name for name in pack.without if name.startswith(("messages/", "transcripts/"))]
    for name in left_out:
        path = pack.base.specimens.at(name) if pack.base else Path(name)
        broken = {finding.requirement for finding in findings_on(pack, path) if not finding.ok}
        assert broken != (set(claimed(path)) if "/invalid/" in name else set()), name


def stream_of(specimen: dict[str, Any]) -> bytes:
    """The bytes of a wire fixture."""
    if "base64" in specimen:
        return base64.b64decode(specimen["base64"], validate=True)
    parts = (part if isinstance(part, str) else part["repeat"] * part["times"] for part in specimen["recipe"])
    return "".join(parts).encode()


def events_of(data: bytes, size: int) -> Iterator[Event]:
    """What is read of a stream that comes in pieces of `size` bytes, and its end."""
    stream, seq = LineStream(), 0
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    for readings in (*map(stream.feed, pieces), stream.end()):
        for reading in readings:
            seq += 1
            yield event_of(reading, seq, "")
    yield Closed(seq + 1)


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "in pieces"])
@each("wire/*.json")
def test_wire(path: Path, at_once: bool) -> None:
    """However the bytes come: these messages are read, and these findings made, and no others."""
    specimen = parsed(path)
    obeys(specimen, "fixture.schema.json#/$defs/wire")
    assert specimen["id"] == path.stem
    data = stream_of(specimen)
    size = max(len(data), 1) if at_once else 1 if len(data) < 20_000 else 65_536
    events = list(events_of(data, size))
    pack = packs.find(specimen.get("protocol", "va-agent-protocol@0.1.0"))
    findings = judged(events, Monitor(pack))
    read = [event for event in events if isinstance(event, Received) and isinstance(event.value, dict)]
    assert len(read) == specimen["expect"]["messages"]
    broken = [[finding.requirement, finding.line] for finding in findings if not finding.ok]
    assert broken == specimen["expect"]["findings"], against(findings)
