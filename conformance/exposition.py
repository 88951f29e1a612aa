"""Everything that the kit knows of one requirement, as a JSON object and as text.

What it says and how it is judged is in its row; what proves it is in the fixtures. Those that are to fail
it say so themselves; those that pass it are judged here and now.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from conformance import catalogue, criteria, packs, records
from conformance.events import Event, Malformed
from conformance.findings import Finding, Requirement
from conformance.monitor import Monitor
from conformance.packs import Pack
from conformance.wording import printable

Row = dict[str, Any]

FEW = 5
"""Of what passes a requirement, at most so many files are named in the text."""

EXCERPT = 800
"""So much of a message is shown in the text."""


class _Fixture(NamedTuple):
    """A file that says that it fails some requirements, and why."""

    path: Path
    fails: tuple[str, ...]
    why: str
    content: bytes


def of(name: str, pack_name: str = "") -> Row:
    """What is known of the requirement `name`, in the newest of the packs that have it.

    Raises NoSuchRequirement, which says what is near, and NoSuchPack.
    """
    pack, *others = catalogue.having(name, pack_name)
    wire = name in packs.wire_requirements()
    requirement = pack.requirements[name]
    proving = (pack, *others) if wire else (pack,)
    failing = [one for each in proving for one in _failing(each, name)]
    failing += list(_failing_wire(name)) if wire else []
    return {
        **_said(requirement),
        "protocol": None if wire else pack.protocol,
        "revision": None if wire else pack.revision,
        "criteria": [
            {"said": criteria.sentence(requirement, one, pack), "check": one} for one in requirement.checks
        ],
        "claims": [{"said": criteria.claim(one, pack), "claim": one} for one in requirement.claims],
        "also_in": [] if wire else [_elsewhere(requirement, other) for other in _elsewhere_known(pack, name)],
        "folder": str(packs.data_root()),
        "passed_by": [_named(path) for each in proving for path in _passing(each, name)],
        "failed_by": [{"path": _named(one.path), "why": one.why} for one in failing],
        "example": _example(pack, name, failing),
        "scenarios": [row for each in proving for row in _scenarios(each, name)],
        "errata": [{"id": one.id, "reason": one.reason} for one in _errata(pack, name)],
    }


def _said(requirement: Requirement) -> Row:
    return {
        "id": requirement.id,
        "level": requirement.level.value,
        "role": requirement.role,
        "area": requirement.area,
        "summary": requirement.summary,
        "reference": requirement.reference,
        "judged": catalogue.judged(requirement),
        **{name: getattr(requirement, name) for name in ("part", "excluded", "untested", "manual")},
    }


def _elsewhere_known(pack: Pack, name: str) -> list[Pack]:
    return [other for other in catalogue.having(name) if other is not pack]


def _elsewhere(requirement: Requirement, other: Pack) -> Row:
    mine, theirs = requirement._asdict(), other.requirements[requirement.id]._asdict()
    differs = [member for member in mine if mine[member] != theirs[member]]
    return {"protocol": other.protocol, "revision": other.revision, "differs": differs}


def _named(path: Path) -> str:
    return path.relative_to(packs.data_root()).as_posix()


# ── what proves it ───────────────────────────────────────────────────────────────────────────────


def _judged(data: bytes, where: str, pack: Pack) -> Iterator[tuple[Event | None, Finding]]:
    """The findings on an input, each with its event; that is None for what the end shows."""
    monitor, events = Monitor(pack), {}
    for event in records.open_record(data, where, pack).events:
        events[event.seq] = event
        yield from ((event, finding) for finding in monitor.feed(event))
    yield from ((events.get(finding.seq), finding) for finding in monitor.end())


def _passing(pack: Pack, name: str) -> Iterator[Path]:
    """The pack's valid messages and transcripts that show the requirement to hold."""
    for pattern in ("messages/valid/*.json", "transcripts/valid/*.jsonl"):
        for path in catalogue.fixtures(pack, pattern):
            found = _judged(path.read_bytes(), str(path), pack)
            if any(finding.ok and finding.requirement == name for _, finding in found):
                yield path


def _failing(pack: Pack, name: str) -> list[_Fixture]:
    """The pack's invalid messages and transcripts that say that they fail it."""
    messages = catalogue.fixtures(pack, "messages/invalid/*.json")
    transcripts = catalogue.fixtures(pack, "transcripts/invalid/*.jsonl")
    found = [*map(_invalid_message, messages), *map(_invalid_transcript, transcripts)]
    return [one for one in found if name in one.fails]


def _invalid_message(path: Path) -> _Fixture:
    said = json.loads(path.read_text(encoding="utf-8"))
    if "base64" in said:
        content = base64.b64decode(said["base64"])
    else:
        content = (said["text"] if "text" in said else json.dumps(said["message"])).encode()
    return _Fixture(path, tuple(said["violates"]), said["why"], content)


def _invalid_transcript(path: Path) -> _Fixture:
    content = path.read_bytes()
    said = json.loads(content.partition(b"\n")[0])
    return _Fixture(path, tuple(said.get("fails", ())), said.get("why", ""), content)


def _failing_wire(name: str) -> Iterator[_Fixture]:
    """The streams that show what is wrong with a text, whatever the protocol."""
    for path in sorted((packs.data_root() / "fixtures" / "wire").glob("*.json")):
        said = json.loads(path.read_text(encoding="utf-8"))
        fails = tuple(requirement for requirement, _ in said["expect"]["findings"])
        if name in fails:
            content = base64.b64decode(said["base64"]) if "base64" in said else _cooked(said["recipe"])
            yield _Fixture(path, fails, said["symptom"], content)


def _cooked(recipe: Iterable[Any]) -> bytes:
    parts = (part if isinstance(part, str) else part["repeat"] * part["times"] for part in recipe)
    return "".join(parts).encode()


def _example(pack: Pack, name: str, failing: list[_Fixture]) -> Row | None:
    """The plainest of what fails it: what is wrong, on which message, and what the kit says."""
    for one in sorted(failing, key=lambda one: (len(set(one.fails)), one.path.suffix, len(one.content))):
        for event, finding in _judged(one.content, str(one.path), pack):
            if finding.requirement == name and not finding.ok:
                said = {"finding": finding.message, "pointer": finding.pointer}
                return {"path": _named(one.path), "why": one.why, "message": _text(event), **said}
    return None


def _text(event: Event | None) -> str:
    """What was on the wire, one line; nothing where a finding is about no message."""
    if isinstance(event, Malformed):
        return event.data.decode("utf-8", "backslashreplace")
    return " ".join(line.strip() for line in getattr(event, "text", "").splitlines())


def _scenarios(pack: Pack, name: str) -> Iterator[Row]:
    for one in catalogue.of_pack(pack):
        if name in one.requirements:
            proves = any(name in step.proves for step in one.steps)
            yield {"name": one.name, "title": one.title, "covers": name in one.covers, "proves": proves}


def _errata(pack: Pack, name: str) -> Iterator[packs.Erratum]:
    """Those whose witness says something else of the requirement as published than as it is repaired."""
    for one in pack.errata:
        if len({name in _broken(one, pack, as_published) for as_published in (True, False)}) > 1:
            yield one


def _broken(erratum: packs.Erratum, pack: Pack, as_published: bool) -> set[str]:
    monitor = Monitor(pack, as_published=as_published)
    text = json.dumps(erratum.witness["message"]).encode()
    events = records.open_record(text, erratum.id, pack).events
    return {finding.requirement for event in events for finding in monitor.feed(event) if not finding.ok}


# ── as text ──────────────────────────────────────────────────────────────────────────────────────


def as_text(row: Row) -> str:
    """What a person reads: what it says, how it is judged, what proves it."""
    lines = [f"{row['id']}: {row['summary']}", "", *_head(row)]
    for title, told in _sections(row):
        if told:
            lines += ["", title, *(f"  {line}" for line in told)]
    return "".join(f"{printable(line)}\n" for line in lines)


def _head(row: Row) -> Iterator[str]:
    whose = f"{row['protocol']}@{row['revision']}" if row["protocol"] else catalogue.EVERY_PACK
    rows = {"protocol": whose} | {name: row[name] for name in ("level", "role", "area")}
    rows |= {"rule": row["reference"], "judged": row["judged"]}
    also = (f"{one['protocol']}@{one['revision']} ({_differs(one)})" for one in row["also_in"])
    yield from (f"{name:10}{value}" for name, value in (rows | {"also in": ", ".join(also)}).items() if value)


def _differs(one: Row) -> str:
    return f"other {', '.join(one['differs'])}" if one["differs"] else "the same"


def _sections(row: Row) -> Iterator[tuple[str, list[str]]]:
    yield "How it is judged", [*_judging(row)]
    yield "Constraints of schemas that are its own", [one["said"] for one in row["claims"]]
    yield f"What passes it ({len(row['passed_by'])}), in {row['folder']}", [*_few(row["passed_by"])]
    failing = [f"{one['path']}: {one['why']}" for one in row["failed_by"]]
    yield f"What fails it ({len(failing)})", failing
    yield "Scenarios", [f"{one['name']} {_part(one)}: {one['title']}" for one in row["scenarios"]]
    yield "What fails it looks like this", [*_shown(row["example"])]
    yield "Errata of the published schemas", [f"{one['id']}: {one['reason']}" for one in row["errata"]]


def _judging(row: Row) -> Iterator[str]:
    yield from (one["said"] for one in row["criteria"])
    if row["part"]:
        yield f"That shows a part of it: {row['part']}."
    if row["excluded"]:
        yield f"Not at all: {row['excluded']}."
    if row["manual"]:
        yield f"By a person: {row['manual']}."
    if row["untested"]:
        yield f"Not yet: {row['untested']}."
    if row["claims"] and not row["criteria"]:
        yield "A message that breaks a constraint of its own fails it all the same."


def _few(paths: list[str]) -> Iterator[str]:
    yield from paths[:FEW]
    if len(paths) > FEW:
        yield f"and {len(paths) - FEW} more"


def _part(one: Row) -> str:
    return " and ".join(word for word in ("covers", "proves") if one[word]) + " it"


def _shown(example: Row | None) -> Iterator[str]:
    if example is not None:
        at = f" (at {example['pointer']})" if example["pointer"] else ""
        message = example["message"]
        cut = f"{message[:EXCERPT]}…" if len(message) > EXCERPT else message
        yield from filter(None, (example["why"], cut, f"{example['finding']}{at}"))


def as_json(row: Row) -> str:
    """The object itself."""
    return json.dumps(row, indent=2, ensure_ascii=False) + "\n"


FORMATS: Mapping[str, Callable[[Row], str]] = {"text": as_text, "json": as_json}
"""By name."""
