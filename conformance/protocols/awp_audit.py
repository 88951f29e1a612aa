"""Agent World Protocol: the audit log that a world keeps, beside what crossed the kit's connection.

Functions of `read` steps: each takes the bytes of a log, the events of the session and the pack.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from conformance.checks import same
from conformance.events import JSON, Event, Received, Sent
from conformance.framing import read_message
from conformance.packs import Pack
from conformance.protocols import Remark

MEMBERS: Final[tuple[str, ...]] = ("ts_mono_ns", "direction", "kind", "body")

FRAMES: Final[tuple[str, ...]] = ("obs.frame", "cmd.frame")

UNFINISHED: Final = "it does not reach the end of the session"

MASK: Final = "[redacted"
"""What stands where a value was hidden begins so."""


class _Row(NamedTuple):
    """One line of a log: its number from 1, its text without the end of the line, and its value."""

    line: int
    text: bytes
    value: JSON


def kept(data: bytes, events: Sequence[Event], pack: Pack) -> Iterator[Remark]:
    """What speaks against a log of the session that these events are."""
    rows = _rows(data)
    if not rows:
        yield from (Remark(f"AWP-AUD-00{n}", "it is still empty", open=True) for n in (1, 2, 3, 6, 7))
        return
    yield from _formed(rows)
    yield from _chained(rows)
    yield from _masked(rows, events, pack)
    yield from _labelled(rows)
    yield from _complete(_records(rows), events)


def commanded(data: bytes, events: Sequence[Event], pack: Pack) -> Iterator[Remark]:
    """AWP-CMD-008: the log has each command frame, with its payload or the SHA-256 of that."""
    records, said = _records(_rows(data)), _messages(events)
    if not _reaches_the_end(records, said):
        yield Remark("AWP-CMD-008", UNFINISHED, open=True)
        return
    for one in (one for one in said if _method(one) == "cmd.frame"):
        frame = one.value["params"]
        bodies = [record["body"] for record in records if record["direction"] == one.party]
        found = [
            body for body in bodies if all(_at(body, name) == frame[name] for name in ("channel_id", "seq"))
        ]
        which = f"the command frame {frame['seq']} of channel {frame['channel_id']}"
        if not found:
            yield Remark("AWP-CMD-008", f"it lacks {which}")
        elif not any(_shows(body, frame["payload_b64"]) for body in found):
            yield Remark("AWP-CMD-008", f"it shows neither the payload of {which} nor its SHA-256")


def _shows(body: dict[str, Any], payload: str) -> bool:
    """Whether a record of a frame has its payload, or the hash of that."""
    digest = hashlib.sha256(base64.b64decode(payload)).hexdigest()
    return bool(payload == _at(body, "payload_b64") or digest == _at(body, "payload_sha256"))


def tasks(data: bytes, events: Sequence[Event], pack: Pack) -> Iterator[Remark]:
    """AWP-TSK-005: the log shows the first task and each that replaced it."""
    records, said = _records(_rows(data)), _messages(events)
    if not _reaches_the_end(records, said):
        yield Remark("AWP-TSK-005", UNFINISHED, open=True)
        return
    told = [_at(_at(record["body"], "params"), "task") for record in records]
    for one in said:
        task = _at(_at(one.value, "params"), "task")
        if task is not None and not any(_alike(written, task) for written in told):
            yield Remark("AWP-TSK-005", f"it lacks the task of {_method(one)}")


def _at(node: JSON, name: str) -> Any:
    return node.get(name) if isinstance(node, dict) else None


def _rows(data: bytes) -> list[_Row]:
    """The lines that are written to their end."""
    lines = data.split(b"\n")[:-1]
    return [_Row(number, text, read_message(text).value) for number, text in enumerate(lines, 1) if text]


def _records(rows: list[_Row]) -> list[Any]:
    return [row.value for row in rows if _is_record(row.value)]


def _is_record(value: JSON) -> bool:
    """Whether it says at least who said what: that another member is missing is a matter of its own."""
    return isinstance(value, dict) and "direction" in value and "body" in value


def _formed(rows: list[_Row]) -> Iterator[Remark]:
    """AWP-AUD-002: one JSON object a line, with its four members."""
    for row in rows:
        if not isinstance(row.value, dict):
            yield Remark("AWP-AUD-002", f"line {row.line} is no JSON object")
        elif lacking := [name for name in MEMBERS if name not in row.value]:
            yield Remark("AWP-AUD-002", f"the record of line {row.line} has no {', '.join(lacking)}")


def _chained(rows: list[_Row]) -> Iterator[Remark]:
    """AWP-AUD-003: prev_hash is the hash of the record before; the kit knows SHA-256 of the line."""
    pairs = pairwise(rows)
    told = [
        (row, _at(row.value, "prev_hash"), hashlib.sha256(before.text).hexdigest()) for before, row in pairs
    ]
    for row, written, _ in told:
        if not isinstance(written, str):
            yield Remark("AWP-AUD-003", f"the record of line {row.line} has no prev_hash")
            return
    right = [written.removeprefix("sha256:").lower() == known for _, written, known in told]
    if right and not any(right):
        yield Remark("AWP-AUD-003", "its hashes are made in a way that the kit does not know", open=True)
    elif not all(right):
        row = told[right.index(False)][0]
        yield Remark("AWP-AUD-003", f"the prev_hash of line {row.line} is not the hash of the line before")


def _masked(rows: list[_Row], events: Sequence[Event], pack: Pack) -> Iterator[Remark]:
    """AWP-AUD-006: no token that was given out or shown stands in the log."""
    secrets = {value: name for event in _messages(events) for name, value in _secrets(event.value, pack)}
    for row in rows:
        for value, name in secrets.items():
            if value.encode() in row.text:
                yield Remark("AWP-AUD-006", f"the {name} stands in line {row.line} as it was given out")


def _secrets(node: JSON, pack: Pack) -> Iterator[tuple[str, str]]:
    if isinstance(node, list):
        for item in node:
            yield from _secrets(item, pack)
    elif isinstance(node, dict):
        for name, value in node.items():
            if name in pack.secrets and isinstance(value, str) and value:
                yield name, value
            yield from _secrets(value, pack)


def _labelled(rows: list[_Row]) -> Iterator[Remark]:
    """AWP-AUD-007: the file says its class."""
    first = rows[0].value
    if not isinstance(first, dict) or not isinstance(first.get("class"), str) or not first["class"]:
        yield Remark("AWP-AUD-007", "its first record does not say a class")


def _messages(events: Sequence[Event]) -> list[Sent | Received]:
    return [event for event in events if isinstance(event, Sent | Received)]


def _complete(records: list[Any], events: Sequence[Event]) -> Iterator[Remark]:
    """AWP-AUD-001: the manifest, what was granted, and each control message from session.open on, in order.

    Frames are left out: the log holds their digests. A log that does not reach session.close yet may still
    grow.
    """
    said = _messages(events)
    opened = next((at for at, one in enumerate(said) if _method(one) == "session.open"), None)
    if opened is None:
        return
    spoken = [one for one in said[opened:] if _method(one) not in FRAMES]
    missing = [one for party in ("agent", "world") for one in _missing(records, spoken, party)]
    if not _reaches_the_end(records, said):
        yield Remark("AWP-AUD-001", UNFINISHED, open=True)
    elif missing:
        first = min(missing, key=lambda one: one.seq)
        what = _method(first) or "an answer"
        said_ = f"it lacks {what} of the {first.party}, message {first.seq} of the transcript"
        yield Remark("AWP-AUD-001", said_)
    manifest = next((one.value["result"] for one in said if _is_manifest(one)), None)
    if manifest is not None and not any(_holds(record["body"], manifest) for record in records):
        yield Remark("AWP-AUD-001", "it lacks the manifest")


def _reaches_the_end(records: list[Any], said: list[Sent | Received]) -> bool:
    """Whether the log has the request that closes the session; else it may still grow."""
    closing = [one for one in said if _method(one) == "session.close"]
    return bool(closing) and not _missing(records, closing, closing[0].party)


def _method(event: Sent | Received) -> str:
    return str(_at(event.value, "method") or "")


def _is_manifest(event: Sent | Received) -> bool:
    result = _at(event.value, "result")
    return isinstance(result, dict) and "protocol_version" in result and "world" in result


def _missing(records: list[Any], spoken: list[Sent | Received], party: str) -> list[Sent | Received]:
    """The messages of this party that the log does not have, in their order."""
    bodies = [record["body"] for record in records if record["direction"] == party]
    missing, at = [], 0
    for one in (one for one in spoken if one.party == party):
        found = next((place for place in range(at, len(bodies)) if _alike(bodies[place], one.value)), None)
        if found is None:
            missing.append(one)
        else:
            at = found + 1
    return missing


def _alike(written: JSON, said: JSON) -> bool:
    """Whether this is what was said, but for what is hidden."""
    if isinstance(written, str) and written.startswith(MASK):
        return True
    if isinstance(written, dict) and isinstance(said, dict):
        return written.keys() == said.keys() and all(_alike(written[name], said[name]) for name in said)
    if isinstance(written, list) and isinstance(said, list):
        return len(written) == len(said) and all(map(_alike, written, said))
    return bool(same(written, said))


def _holds(node: JSON, wanted: JSON) -> bool:
    """Whether the value, or one within it, is what is wanted."""
    if isinstance(node, dict):
        return _alike(node, wanted) or any(_holds(inner, wanted) for inner in node.values())
    return isinstance(node, list) and any(_holds(inner, wanted) for inner in node)
