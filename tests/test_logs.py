"""Logs that an implementation keeps: how they are found, and how an audit log of AWP is judged."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from judging import AWP
from live import peer

from conformance import protocols, scenarios
from conformance.errors import BadPack
from conformance.events import Event, Opened, Received, Sent
from conformance.logs import newest
from conformance.runner import Plan, Result, run_one

TOKEN = "st_0123456789abcdef"
MANIFEST = {"protocol_version": "0.1", "world": {"name": "w"}}

SAID: tuple[tuple[str, dict[str, Any]], ...] = (
    ("agent", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}),
    ("world", {"jsonrpc": "2.0", "id": 1, "result": MANIFEST}),
    ("agent", {"jsonrpc": "2.0", "id": 2, "method": "session.open", "params": {"mode": "streaming"}}),
    ("world", {"jsonrpc": "2.0", "id": 2, "result": {"session_id": "sess_1", "session_token": TOKEN}}),
    ("world", {"jsonrpc": "2.0", "method": "obs.frame", "params": {"seq": 1, "payload_b64": "e30="}}),
    ("world", {"jsonrpc": "2.0", "method": "session.state", "params": {"state": "ready"}}),
    ("agent", {"jsonrpc": "2.0", "id": 3, "method": "ping", "params": {"origin_ns": 5}}),
    ("world", {"jsonrpc": "2.0", "id": 3, "result": {"origin_ns": 5}}),
    ("agent", {"jsonrpc": "2.0", "id": 4, "method": "session.close", "params": {}}),
    ("world", {"jsonrpc": "2.0", "id": 4, "result": {}}),
)
"""A session: who said what, in this order."""

ALL = [f"AWP-AUD-00{number}" for number in (1, 2, 3, 6, 7)]


def events() -> list[Event]:
    made: list[Event] = [Opened(1)]
    for seq, (party, value) in enumerate(SAID, 2):
        kind = Sent if party == "agent" else Received
        made.append(kind(seq, party, json.dumps(value), value))
    return made


def rows() -> list[dict[str, Any]]:
    """The records of a log as it should be."""
    made: list[dict[str, Any]] = [
        {"class": "audit_record", "ts_mono_ns": 0, "direction": "world", "kind": "header", "body": {}}
    ]
    for party, value in SAID:
        body = json.loads(json.dumps(value).replace(TOKEN, "[redacted:sha256:01234567]"))
        made.append({"ts_mono_ns": 1, "direction": party, "kind": "message", "body": body})
    return made


def log(records: list[dict[str, Any]], *, chained: bool = True) -> bytes:
    lines: list[str] = []
    for record in records:
        before = hashlib.sha256(lines[-1].encode()).hexdigest() if lines else None
        lines.append(json.dumps(record | ({"prev_hash": before} if chained else {})))
    return "".join(line + "\n" for line in lines).encode()


def remarks(data: bytes) -> dict[str, tuple[str, bool]]:
    """Requirement → the first remark on it."""
    found = protocols.remarks("awp_audit.kept", data, events(), AWP)
    return {one.requirement: (one.said, one.open) for one in reversed(found)}


def without(*places: int) -> list[dict[str, Any]]:
    return [record for place, record in enumerate(rows()) if place not in places]


def changed(place: int, **members: Any) -> list[dict[str, Any]]:
    made = rows()
    made[place] = {name: value for name, value in (made[place] | members).items() if value is not None}
    return made


def test_nothing_speaks_against_a_log_as_it_should_be() -> None:
    assert remarks(log(rows())) == {}


def test_what_comes_before_the_session_and_frames_need_not_be_there() -> None:
    header = rows()[0] | {"body": {"manifest": MANIFEST}}
    assert remarks(log([header, *without(0, 1, 2, 5)])) == {}


@pytest.mark.parametrize(
    ("records", "requirement", "said"),
    [
        (without(7), "AWP-AUD-001", "it lacks ping of the agent, message 8 of the transcript"),
        (without(8), "AWP-AUD-001", "it lacks an answer of the world, message 9 of the transcript"),
        (without(6, 7), "AWP-AUD-001", "it lacks session.state of the world, message 7 of the transcript"),
        (changed(7, direction="world"), "AWP-AUD-001", "it lacks ping of the agent, "),
        (without(2), "AWP-AUD-001", "it lacks the manifest"),
        (changed(7, ts_mono_ns=None), "AWP-AUD-002", "the record of line 8 has no ts_mono_ns"),
        (changed(1, kind=None), "AWP-AUD-002", "the record of line 2 has no kind"),
        (changed(4, body=SAID[3][1]), "AWP-AUD-006", "the session_token stands in line 5 as it was given"),
        ([*rows(), rows()[7] | {"note": TOKEN}], "AWP-AUD-006", "the session_token stands in line 12 "),
        (changed(0, **{"class": None}), "AWP-AUD-007", "its first record does not say a class"),
        (changed(0, **{"class": 3}), "AWP-AUD-007", "its first record does not say a class"),
    ],
)
def test_one_fault_is_one_remark(records: list[dict[str, Any]], requirement: str, said: str) -> None:
    found = remarks(log(records))
    assert list(found) == [requirement]
    assert found[requirement][0].startswith(said)
    assert not found[requirement][1]
    assert TOKEN not in str(found)


def test_a_line_that_is_no_record() -> None:
    found = remarks(log(rows()) + b"42\n")
    assert found["AWP-AUD-002"] == ("line 12 is no JSON object", False)
    assert found["AWP-AUD-003"] == ("the record of line 12 has no prev_hash", False)


def test_hashes() -> None:
    """They may be missing, wrong in one place, or made in a way that nobody told."""
    assert remarks(log(rows(), chained=False)) == {
        "AWP-AUD-003": ("the record of line 2 has no prev_hash", False)
    }
    lines = log(rows()).decode().splitlines()
    lines[6] = lines[6].replace('"ready"', '"ready" ')
    said = "the prev_hash of line 8 is not the hash of the line before"
    assert remarks("\n".join([*lines, ""]).encode()) == {"AWP-AUD-003": (said, False)}
    others = [record | {"prev_hash": "QmFzZTY0"} for record in rows()]
    data = "".join(json.dumps(record) + "\n" for record in others).encode()
    assert remarks(data) == {"AWP-AUD-003": ("its hashes are made in a way that the kit does not know", True)}


@pytest.mark.parametrize("data", [b"", b'{"class": "audit_record"'])
def test_of_an_empty_log_nothing_is_known_yet(data: bytes) -> None:
    assert remarks(data) == dict.fromkeys(ALL, ("it is still empty", True))


def test_a_log_that_may_still_grow_is_held_against_nobody() -> None:
    """That the end is missing shows nothing, and neither does half a line."""
    whole = log(rows())
    cut = whole[: whole.rindex(b'"session.close"')]
    assert remarks(cut) == {"AWP-AUD-001": ("it does not reach the end of the session", True)}


def test_a_function_that_there_is_not() -> None:
    with pytest.raises(BadPack, match=r"'awp_audit\.nothing', which cannot be had"):
        protocols.remarks("awp_audit.nothing", b"", [], AWP)


FRAME = {"channel_id": 1, "seq": 1, "ts_mono_ns": 5, "flags": 1, "payload_b64": "e30="}
TASK, OTHER = {"content": [{"type": "text", "text": "Stay."}]}, {"content": [{"type": "text", "text": "Go."}]}
MORE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("agent", {"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": {"task": TASK}}),
    ("agent", {"jsonrpc": "2.0", "method": "cmd.frame", "params": FRAME}),
    ("agent", {"jsonrpc": "2.0", "id": 2, "method": "task.update", "params": {"task": OTHER}}),
    ("agent", {"jsonrpc": "2.0", "id": 3, "method": "session.close", "params": {}}),
)
DIGEST = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
"""Of `{}`, by sha256sum."""


def judged(function: str, *bodies: dict[str, Any]) -> list[tuple[str, bool]]:
    """What there is against a log with these bodies, of a session with a task and a command frame."""
    record = {"ts_mono_ns": 1, "direction": "agent", "kind": "message"}
    data = "".join(json.dumps(record | {"body": body}) + "\n" for body in bodies).encode()
    said = [Sent(seq, party, json.dumps(value), value) for seq, (party, value) in enumerate(MORE, 1)]
    return [(one.said, one.open) for one in protocols.remarks(f"awp_audit.{function}", data, said, AWP)]


OPENS, _, UPDATES, CLOSES = (value for _, value in MORE)
KNOWN = {"channel_id": 1, "seq": 1}


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ({"payload_sha256": DIGEST}, []),
        ({"payload_b64": "e30="}, []),
        ({"payload_b64": "W10="}, [NEITHER := "it shows neither the payload of the command frame 1 of "]),
        ({"payload_sha256": DIGEST.upper()}, [NEITHER]),
        ({}, [NEITHER]),
        ({"seq": 2, "payload_b64": "e30="}, ["it lacks the command frame 1 of channel 1"]),
    ],
)
def test_command_frames(frame: dict[str, Any], said: list[str]) -> None:
    found = judged("commanded", OPENS, KNOWN | frame, UPDATES, CLOSES)
    assert [text[: len(said[0])] for text, _ in found] == said
    assert [is_open for _, is_open in found] == [False] * len(said)


def test_tasks() -> None:
    assert judged("tasks", OPENS, UPDATES, CLOSES) == []
    hidden = {"method": "session.open", "params": {"task": "[redacted:sha256:01234567]"}}
    assert judged("tasks", hidden, UPDATES, CLOSES) == []
    assert judged("tasks", OPENS, CLOSES) == [("it lacks the task of task.update", False)]
    assert judged("tasks", UPDATES, CLOSES) == [("it lacks the task of session.open", False)]


@pytest.mark.parametrize("function", ["commanded", "tasks"])
def test_what_may_still_be_written(function: str) -> None:
    assert judged(function, OPENS) == [("it does not reach the end of the session", True)]


# ── finding them ─────────────────────────────────────────────────────────────────────────────────


def test_the_newest_file_that_mentions_it(tmp_path: Path) -> None:
    for age, (name, text) in enumerate([("other", "x"), ("new", "of sess_1"), ("sess_1.old", "x")]):
        (tmp_path / name).write_text(text, encoding="utf-8")
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    (tmp_path / "sess_1").mkdir()
    assert newest(tmp_path, b"sess_1") == tmp_path / "new"
    assert newest(tmp_path, b"sess_2") is None


def read(tmp_path: Path, folder: str, within: str = "100 ms") -> Result:
    steps = '- read: "${ics.audit.directory}"\n  mentioning: sess_1\n  by: awp_audit.kept\n'
    head = "title: x\nrole: agent\ncovers: [AWP-AUD-007]\nsteps:\n- raw: '{}'\n- expect: '*'\n"
    scenario = scenarios.read(
        f"{head}{steps}  within: {within}\n  proves: [AWP-AUD-007, AWP-AUD-002]\n", "x", AWP
    )
    return run_one(Plan(AWP, "world", peer("echo"), {"audit": {"directory": folder}}, tmp_path), scenario)


def test_a_log_that_comes_late(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    data = log(changed(0, **{"class": None}))
    writer = threading.Timer(0.5, lambda: (folder / "sess_1.jsonl").write_bytes(data))
    writer.start()
    result = read(tmp_path, str(folder), "10 s")
    writer.join()
    said = "sess_1.jsonl: its first record does not say a class"
    assert (result.status, result.reason) == ("failed", said)
    assert [(one.requirement, one.ok) for one in result.findings] == [
        ("AWP-AUD-007", False),
        ("AWP-AUD-002", True),
    ]


def test_where_no_log_is_nothing_is_known(tmp_path: Path) -> None:
    result = read(tmp_path, f"{{tmp}}/{tmp_path.relative_to(tempfile.gettempdir())}")
    said = f"no file of {str(tmp_path)!r} mentions 'sess_1'"
    assert (result.status, result.reason.replace('"', "'")) == ("inconclusive", said)
    assert {one.inconclusive for one in result.findings} == {True}


def test_a_folder_that_is_not_there_is_a_mistake_of_the_configuration(tmp_path: Path) -> None:
    result = read(tmp_path, str(tmp_path / "gone"))
    assert (result.status, result.findings) == ("inconclusive", ())
    assert result.reason.endswith("gone' of the ICS cannot be read: no such file or directory")
