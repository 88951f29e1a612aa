"""The files of `fixtures/`: which there are, what each claims, and what the kit makes of it.

A fixture of a pack that others are based on is a fixture of theirs too, unless they leave it out.
"""

import base64
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from conformance import packs, records
from conformance.events import Event
from conformance.findings import Finding
from conformance.monitor import Monitor
from conformance.packs import Pack

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
PACKS = packs.find_all(ROOT)


def name_of(path: Path) -> str:
    """The file as a test names it."""
    return path.relative_to(FIXTURES).as_posix()


def files(pattern: str) -> list[Path]:
    """The fixtures of that pattern, in order."""
    return sorted(FIXTURES.glob(pattern))


def each(pattern: str) -> pytest.MarkDecorator:
    """One test for each of these files."""
    found = [pytest.param(path, id=name_of(path)) for path in files(pattern)]
    assert found, f"no file of fixtures/ is {pattern}"
    return pytest.mark.parametrize("path", found)


def each_of_packs(pattern: str) -> pytest.MarkDecorator:
    """One test for each pack and each of its fixtures of that pattern, those of its base included."""
    found = [
        pytest.param(pack, path, id=f"{pack.protocol}/{pack.revision}/{name}")
        for pack in PACKS
        for name, path in pack.specimens.like(pattern).items()
    ]
    assert found, f"no fixture is {pattern}"
    return pytest.mark.parametrize(("pack", "path"), found)


@cache
def parsed(path: Path) -> Any:
    """What a fixture of JSON says."""
    return json.loads(path.read_text(encoding="utf-8"))


def header(path: Path) -> dict[str, Any]:
    """The header of a transcript; empty for a trace in its protocol's own format."""
    with path.open(encoding="utf-8") as lines:
        first = json.loads(next(lines))
    return first if "transcript" in first else {}


def claimed(path: Path) -> list[str]:
    """The requirements that an invalid fixture says fail or warn."""
    return list(header(path)["fails"] if path.suffix == ".jsonl" else parsed(path)["violates"])


def content(path: Path) -> bytes:
    """What is to be judged: the file itself, or what it is wrapped around."""
    if path.suffix == ".jsonl" or path.parent.name != "invalid":
        return path.read_bytes()
    wrapped = parsed(path)
    if "base64" in wrapped:
        return base64.b64decode(wrapped["base64"], validate=True)
    return (wrapped["text"] if "text" in wrapped else json.dumps(wrapped["message"])).encode()


def judged(events: Iterable[Event], monitor: Monitor) -> list[Finding]:
    """All findings on the events."""
    findings = [finding for event in events for finding in monitor.feed(event)]
    return findings + monitor.end()


@cache
def findings_on(pack: Pack, path: Path) -> tuple[Finding, ...]:
    """All findings by a pack on a message or a transcript."""
    events = records.open_record(content(path), name_of(path), pack).events
    return tuple(judged(events, Monitor(pack)))


def against(findings: Iterable[Finding]) -> list[str]:
    """Findings that fail or warn, in words that a failing test shows."""
    return [f"{found.requirement}: {found.message}" for found in findings if not found.ok]


@cache
def _validator(location: str) -> Any:
    name, _, fragment = location.partition("#")
    document = json.loads((ROOT / "schemas" / "kit" / name).read_text(encoding="utf-8"))
    registry = jsonschema_rs.Registry([(document["$id"], document)])
    schema = {"$ref": f"{document['$id']}#{fragment}"}
    return jsonschema_rs.validator_for(schema, registry=registry, validate_formats=True, offline=True)


def obeys(instance: Any, location: str) -> None:
    """Hold a value against one of the kit's own schemas."""
    assert [error.message for error in _validator(location).iter_errors(instance)] == []
