"""What the tests of the core judge with: the two packs, and a protocol of their own.

The toy protocol has two roles that say things of kinds told by `/type`; each test gives it the
requirements, lifecycles and sessions that it is about.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from conformance import packs, records
from conformance.events import Closed, Event, Received
from conformance.findings import Finding
from conformance.jsontext import parse
from conformance.monitor import Monitor
from conformance.packs import Pack

ROOT = Path(__file__).parents[1]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
AWP = packs.find("awp@0.1-draft.7")
VA = packs.find("va-agent-protocol@0.1.0")
# In those left out, a replay repeats what the record holds already, so a change of one copy is more than one
# fault; or two sessions have the same numbers.
LEFT_OUT = ("audit-log-of-two-connections", "resumed-before-admission", "shared-embodiment-bound-twice")
VALID = sorted(
    path for path in (AWP.fixtures / "transcripts" / "valid").glob("*.jsonl") if path.stem not in LEFT_OUT
)
# What is broken at every place of a record: the traces of a real world, and a sixth of those made by hand.
TRACES = [path for at, path in enumerate(VALID) if at % 6 == 0 or path.read_bytes().startswith(b'{"from"')]


def judged(events: Iterable[Event], pack: Pack, *, end: bool = True, **options: Any) -> list[Finding]:
    """All findings on the events."""
    monitor = Monitor(pack, **options)
    found = [finding for event in events for finding in monitor.feed(event)]
    return found + (monitor.end() if end else [])


def against(found: Iterable[Finding]) -> list[Finding]:
    """The findings that are not passes."""
    return [finding for finding in found if not finding.ok]


def broken(found: Iterable[Finding]) -> set[str]:
    """The requirements that they break."""
    return {finding.requirement for finding in against(found)}


def shown_to_hold(found: Iterable[Finding]) -> set[str]:
    """The requirements for which they speak, and nothing against."""
    found = list(found)
    return {finding.requirement for finding in found if finding.ok} - broken(found)


def of_text(text: str, pack: Pack, **options: Any) -> list[Finding]:
    """The findings on an input such as a person would give to `validate`."""
    return judged(records.open_record(text.encode(), "input", pack).events, pack, **options)


def recognised(value: Any) -> Pack:
    """The pack that an input of this one value is recognised to be of; raises UnknownProtocol."""
    return records.open_record(json.dumps(value).encode(), "input").pack


def lines(*messages: Any) -> str:
    """Messages as JSON Lines; a text is taken as it is."""
    return "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in messages)


def said(*spoken: tuple[str, Any], connection: str = "main") -> list[Event]:
    """Events of (party, message), numbered from 1, and the end of the record."""
    events: list[Event] = []
    for seq, (party, value) in enumerate(spoken, 1):
        text = value if isinstance(value, str) else json.dumps(value)
        parsed = parse(text)
        events.append(Received(seq, party, text, parsed.value, connection, faults=parsed.faults))
    return [*events, Closed(len(events) + 1, connection)]


TOY: dict[str, Any] = {
    "protocol": "toy",
    "revision": "1",
    "prefix": "TOY",
    "title": "A toy protocol",
    "dialect": DIALECT,
    "roles": {"left": "says things", "right": "says other things"},
    "certifies": "left",
    "recognise": {"required": ["toy"]},
    "kinds": [
        {
            "name": name,
            "from": senders,
            "when": {"pointer": "/type", "equals": name},
            "schema": "toy.schema.json",
        }
        for name, senders in {
            "ask": ["right"],
            "begin": ["left"],
            "go": ["left"],
            "end": ["left"],
            "note": ["left", "right"],
        }.items()
    ],
}

ANYTHING = {"toy.schema.json": {"$schema": DIALECT, "type": "object"}}


def row(check: Any = None, name: str = "TOY-MSG-001", **members: Any) -> dict[str, Any]:
    """A row of a toy pack's requirements."""
    said_of_it: dict[str, Any] = {"id": name, "level": "MUST", "role": "left", "summary": "It is so."}
    return said_of_it | ({} if check is None else {"check": check}) | members


def toy(
    root: Path,
    *rows: dict[str, Any],
    schemas: dict[str, Any] = ANYTHING,
    files: dict[str, Any] | None = None,
    errata: list[Any] | None = None,
    **meta: Any,
) -> Pack:
    """A pack of the toy protocol, written below `root`; `files` are more of its files."""
    folder = root / "schemas" / "toy" / "1"
    kit = root / "schemas" / "kit"
    for path in (folder, kit):
        path.mkdir(parents=True, exist_ok=True)
    for name in ("wire.json", "jsonrpc.schema.json"):
        (kit / name).write_bytes((ROOT / "schemas" / "kit" / name).read_bytes())
    all_files = {"pack.json": TOY | meta, "requirements.json": {"requirements": rows}}
    all_files |= schemas | (files or {}) | ({} if errata is None else {"errata.json": {"errata": errata}})
    for name, value in all_files.items():
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    return Pack(folder)
