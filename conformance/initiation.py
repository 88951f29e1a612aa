"""Writing a `conformance.toml`: what is asked, what a first connection teaches, and the text itself.

A fact that the implementation states itself (`learnt` in the pack's `ics`) is taken over where it has the
form of the fact; else what it says stands beside the fact, for whoever fills it in.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance import campaign, configuration, contact, jsontext, records, statements, tomltext
from conformance.catalogue import of_pack
from conformance.correlation import Correlator, Message
from conformance.events import Received, Sent
from conformance.packs import Pack
from conformance.schemas import Schemas
from conformance.taps import Tap
from conformance.transports.access import Means


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a first connection taught: who the implementation is, facts, and what it says near a fact.

    `trouble` is why there was none, or less than hoped for.
    """

    implementation: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    hints: Mapping[str, list[Any]] = field(default_factory=dict)
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """What is written down. `facts` are by path; those that are not among them are left out as comments."""

    pack: Pack
    role: str
    target: str = ""
    implementation: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    hints: Mapping[str, list[Any]] = field(default_factory=dict)
    connection: Mapping[str, str] = field(default_factory=dict)


def facts_for(pack: Pack, role: str) -> dict[str, Mapping[str, Any]]:
    """The pack's facts by path, without those that only scenarios for another role use."""
    known: dict[str, Mapping[str, Any]] = pack.meta.get("ics", {})
    used: dict[str, set[str]] = {name: set() for name in pack.roles}
    for scenario in of_pack(pack):
        used[pack.peer_of(scenario.role)].update(statements.needed(pack, scenario))
    others = {path for other, paths in used.items() if other != role for path in paths}
    return {path: row for path, row in known.items() if path in used[role] or path not in others}


def roles(pack: Pack) -> list[str]:
    """The roles that a run can certify, since there are scenarios; what the pack certifies first."""
    there_is = dict.fromkeys(pack.peer_of(scenario.role) for scenario in of_pack(pack))
    return sorted(there_is, key=lambda role: role != pack.certifies)


# ── learning ─────────────────────────────────────────────────────────────────────────────────────


def learn(pack: Pack, role: str, target: str, means: Means) -> Lesson:
    """What the first messages of an implementation teach; a UsageError where there can be none."""
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / configuration.DEFAULT_NAME
        draft.write_text(text(Statement(pack, role, facts=defaults(pack, role, Lesson()))), encoding="utf-8")
        made = campaign.prepare(campaign.Request(pack, target, role, draft, Path(folder), means=means))
        exchange = contact.first(made)
        if exchange is None:
            return Lesson(trouble="no scenario begins without facts that are not stated yet")
        result = contact.carried_out(made, exchange, Tap())
        path = Path(folder) / result.transcript
        lesson = _lesson(pack, list(_messages(pack, path))) if path.is_file() else Lesson()
    return replace(lesson, trouble="" if result.status == "passed" else result.reason)


def _messages(pack: Pack, transcript: Path) -> Iterator[Message]:
    """What the implementation said, with the kinds of its messages."""
    correlator = Correlator(pack)
    for event in records.open_record(transcript.read_bytes(), str(transcript), pack).events:
        if isinstance(event, Sent | Received):
            message = correlator.message(event)
            if isinstance(event, Received):
                yield message


def _lesson(pack: Pack, messages: list[Message]) -> Lesson:
    said = {name: _said(row, messages) for name, row in pack.meta.get("introduces", {}).items()}
    who = {name: values[0] for name, values in said.items() if values and isinstance(values[0], str)}
    facts, hints = {}, {}
    for path, row in pack.meta.get("ics", {}).items():
        values = _said(row["learnt"], messages) if "learnt" in row else []
        fitting = [value for value in (values, *values) if values and not mistake(row["schema"], value)]
        if fitting:
            facts[path] = fitting[0]
        elif values:
            hints[path] = values
    return Lesson(who, facts, hints)


def _said(row: Mapping[str, str], messages: list[Message]) -> list[Any]:
    """The values at a place of all messages of a kind, each once."""
    found: list[Any] = []
    for message in messages:
        if message.is_a([row["kind"]]):
            found += [one for one in _at(message.value, row["pointer"].split("/")[1:]) if one not in found]
    return list(found)


def _at(node: Any, steps: list[str]) -> Iterator[Any]:
    if not steps:
        yield node
    elif steps[0] == "*":
        for item in node if isinstance(node, list) else ():
            yield from _at(item, steps[1:])
    else:
        inner = jsontext.resolve(node, f"/{steps[0]}")
        if inner is not jsontext.MISSING:
            yield from _at(inner, steps[1:])


def mistake(schema: Any, value: Any) -> str:
    """What is wrong with the value of a fact, in a sentence; empty where nothing is."""
    errors = Schemas({"fact": schema}, configuration.DIALECT).errors("fact", value)
    said = next((f"{error.pointer or 'it'}: {error.message}" for error in errors), "")
    try:
        tomltext.value(value)
    except ValueError as error:
        return said or str(error)
    return said


def _sayable(value: Any) -> bool:
    """Whether TOML can say it: it has no null."""
    try:
        return bool(tomltext.value(value))
    except ValueError:
        return False


def defaults(pack: Pack, role: str, lesson: Lesson) -> dict[str, Any]:
    """What may be stated unasked: what was learnt, else the pack's default."""
    known = facts_for(pack, role)
    own = {
        path: row["default"] for path, row in known.items() if "default" in row and _sayable(row["default"])
    }
    return own | {path: value for path, value in lesson.facts.items() if path in known}


# ── writing ──────────────────────────────────────────────────────────────────────────────────────


def connection(means: Means, folder: Path) -> dict[str, str]:
    """What a file in the folder says of the means of access; nothing secret, and paths are of the folder."""
    said = {
        "ca": means.ca and os.path.relpath(means.ca, folder),
        "token_env": means.token_env,
        "token_file": means.token_file and os.path.relpath(means.token_file, folder),
        "token_by": means.token_by,
    }
    return {name: value for name, value in said.items() if value}


def text(statement: Statement) -> str:
    """The file: every fact of the role, explained; what is not stated is there as a comment."""
    return "\n".join([*_head(statement), *_facts(statement)]) + "\n"


def _head(statement: Statement) -> Iterator[str]:
    pack = statement.pack
    yield "# What the vendor says of the implementation: its implementation conformance statement (ICS)."
    yield f"# conformance run {pack.name} reads it, and conformance doctor tries what it says."
    yield ""
    yield f"protocol = {tomltext.string(pack.name)}"
    yield f"role = {tomltext.string(statement.role)}"
    target = tomltext.string(statement.target or "stdio:COMMAND")
    yield (
        f"target = {target}"
        if statement.target
        else f"# target = {target}  # where it is, as --target has it"
    )
    yield ""
    if statement.connection:
        yield "[connection]"
        yield from (f"{name} = {tomltext.string(said)}" for name, said in statement.connection.items())
        yield ""
    elif "://" in statement.target:
        yield from (
            "# How the server lets the kit in.",
            "# [connection]",
            '# ca = "ca.pem"',
            '# token_env = "TOKEN"',
            "",
        )
    yield "[implementation]"
    for name in ("name", "version", "vendor"):
        said = statement.implementation.get(name, "")
        yield f"{name} = {tomltext.string(said)}" if said else f'# {name} = "…"'


def _facts(statement: Statement) -> Iterator[str]:
    """Facts that are no tables come first: what follows the head of a table belongs to it."""
    known = facts_for(statement.pack, statement.role)
    yield ""
    yield "[ics]"
    for path in sorted(known, key=lambda path: _is_table(known[path]["schema"])):
        yield from _fact(path, known[path], statement)


def _is_table(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "object"


def _fact(path: str, row: Mapping[str, Any], statement: Statement) -> Iterator[str]:
    yield ""
    yield f"# {' '.join(str(row['summary']).split())}"
    if path in statement.hints:
        yield f"# the implementation names {', '.join(map(tomltext.value, statement.hints[path]))}"
    if path in statement.facts:
        yield from tomltext.lines(tomltext.path(path), statement.facts[path], "ics")
    elif "default" in row and not _sayable(row["default"]):
        yield "# left out: the pack's default holds, which TOML cannot say, since it holds a null"
    else:
        yield "# not stated:"
        example = row["default"] if "default" in row else _example(row["schema"])
        shown = tomltext.lines(tomltext.path(path), example, "ics")
        yield from (f"# {line}" for line in shown)


def _example(schema: Mapping[str, Any]) -> Any:
    """A value that shows the form of a fact."""
    if schema.get("type") == "object":
        members = schema.get("properties", {})
        return {name: _example(members.get(name, {})) for name in schema.get("required", ())}
    if "enum" in schema:
        return schema["enum"][0]
    return _EXAMPLES.get(str(schema.get("type")), "…")


_EXAMPLES: Mapping[str, Any] = {"boolean": True, "array": ["…"], "integer": 1, "number": 1.0}
