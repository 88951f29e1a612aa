"""`validate`: what is made of an input, and the two forms in which it is told."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conformance import packs, validation
from conformance.errors import InputUnreadable, NoSuchKind, NoSuchPack
from conformance.validation import Judged, Options, judge, judge_path

VA = packs.find("va-agent-protocol")
AWP = packs.find("awp")

ACCEPTED = (
    b'{"protocol":"va-agent-protocol","version":"0.1.0","timestamp":"2026-04-01T00:00:00Z",'
    b'"correlationId":"c-1","type":"accepted","payload":{"taskId":"T-1"}}'
)
BROKEN = ACCEPTED.replace(b'"taskId"', b'"task"')
STATELESS = Options(stateless=True)


def told(data: bytes, **options: Any) -> Judged:
    return judge(data, "in", Options(**{"stateless": True, **options}))


def lines(*judged: Judged) -> list[str]:
    written: list[str] = []
    validation.write_text([*judged], written.append)
    return written


def as_json(*judged: Judged) -> Any:
    written: list[str] = []
    validation.write_json([*judged], written.append)
    [text] = written
    return json.loads(text)


def test_a_valid_message() -> None:
    judged = told(ACCEPTED)
    assert judged.valid
    assert (judged.messages, judged.findings) == (1, [])
    assert judged.summary() == "in: valid (va-agent-protocol@0.1.0, 1 message)"
    assert validation.exit_code([judged]) == 0
    assert lines(judged) == []


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_a_broken_message_on_the_second_line(newline: bytes) -> None:
    judged = told(ACCEPTED + newline + b"  " + BROKEN + newline)
    assert not judged.valid
    column = 3 + BROKEN.index(b'{"task"')
    places = [line for line in lines(judged) if " VA-" in line]
    assert places[0].startswith(f"in:2:{column}: MUST VA-MSG-002: ")
    assert '"taskId" is missing' in places[0]
    assert places[0].endswith("(at /payload)")
    assert validation.exit_code([judged]) == 1


def test_json() -> None:
    value = as_json(
        told(ACCEPTED + b"\n" + BROKEN), Judged("gone", error="gone cannot be read: no such file")
    )
    assert set(value) == {"kit", "inputs"}
    assert value["kit"]["name"] == "agent-conformance-kit"
    one, gone = value["inputs"]
    members = {"path", "protocol", "revision", "messages", "valid", "findings"}
    assert set(one) == members
    assert (one["path"], one["protocol"], one["revision"]) == ("in", "va-agent-protocol", "0.1.0")
    assert (one["messages"], one["valid"]) == (2, False)
    first = next(row for row in one["findings"] if row["requirement"] == "VA-MSG-002")
    assert first == {
        "requirement": "VA-MSG-002",
        "level": "MUST",
        "verdict": "fail",
        "seq": 2,
        "line": 2,
        "column": 1 + BROKEN.index(b'{"task"'),
        "pointer": "/payload",
        "message": 'the member "taskId" is missing; there is "task": did you mean "taskId"?',
        "expected": ["taskId"],
        "actual": ["task"],
    }
    assert (gone["path"], gone["valid"], gone["error"]) == (
        "gone",
        False,
        "gone cannot be read: no such file",
    )
    assert gone["findings"] == []


def test_warnings_do_not_make_an_input_invalid() -> None:
    path = AWP.fixtures / "messages" / "valid"
    judged = [judge_path(one, Options()) for one in sorted(path.glob("*.json"))]
    assert all(one.valid or one.error for one in judged)
    warned = Judged("in", VA, 1, [finding_of_should()])
    assert warned.valid
    assert validation.exit_code([warned]) == 0
    assert as_json(warned)["inputs"][0]["findings"][0]["verdict"] == "warn"
    assert warned.summary() == "in: valid (va-agent-protocol@0.1.0, 1 message, 1 finding)"


def finding_of_should() -> validation.Finding:
    level = validation.Level.SHOULD
    return validation.Finding("VA-MSG-002", False, "agent", 1, "it should not", level=level)


def test_place_of_what_only_the_end_shows() -> None:
    dispatch = (
        b'{"protocol":"va-agent-protocol","version":"0.1.0","timestamp":"2026-04-01T00:00:00Z",'
        b'"correlationId":"c-1","type":"dispatch","payload":{"task":{"id":"T-1","objective":"o",'
        b'"acceptanceCriteria":["x"]}}}'
    )
    judged = told(dispatch + b"\n" + ACCEPTED, stateless=False)
    [row] = as_json(judged)["inputs"][0]["findings"]
    assert (row["requirement"], row["verdict"]) == ("VA-LIF-003", "fail")
    assert (row["line"] >= 1, row["column"] >= 1) == (True, True)


# ── what cannot be judged ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "in holds no message"),
        (b"\n\r\n \n", "in holds no message"),
    ],
)
def test_an_input_without_a_message(data: bytes, said: str) -> None:
    judged = judge(data, "in", STATELESS, VA)
    assert judged.error == said
    assert not judged.valid
    assert judged.summary() == f"conformance: {said}"
    assert validation.exit_code([judged]) == 3


def test_an_input_of_no_known_protocol(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'{"hello": 1}')
    judged = judge_path(path, STATELESS)
    assert "no known protocol recognises this input" in judged.error
    assert validation.exit_code([judged]) == 3
    assert as_json(judged)["inputs"][0]["protocol"] is None


def test_an_input_that_is_no_json_at_all(tmp_path: Path) -> None:
    """That it is no JSON can be said whatever the protocol."""
    path = tmp_path / "x.json"
    path.write_bytes(b'{"protocol": "va-agent-protocol",}')
    judged = judge_path(path, STATELESS)
    assert validation.exit_code([judged]) == 1
    assert [row["requirement"] for row in as_json(judged)["inputs"][0]["findings"]] == ["WIRE-JSON"]
    assert judged.summary() == f"{path}: invalid (no protocol, 0 messages, 1 finding)"


def test_a_response_alone_shows_no_kind_and_can_be_told_it(tmp_path: Path) -> None:
    data = b'{"jsonrpc":"2.0","id":4,"result":{}}'
    judged = judge(data, "in", STATELESS, AWP)
    assert "name it with -k" in judged.error
    assert judge(data, "in", Options(kind="session.close.result"), AWP).valid


def test_a_broken_transcript(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"transcript": 1, "protocol": "awp", "revision": "0.1-draft.7"}\n{"event": "opened"}\n')
    judged = judge_path(path, Options())
    assert "t.jsonl:2: " in judged.error
    assert validation.exit_code([judged]) == 3


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    judged = judge_path(tmp_path / "none.json", Options())
    assert judged.error == f"{tmp_path / 'none.json'} cannot be read: No such file or directory"


def test_invalid_outweighs_what_cannot_be_judged() -> None:
    assert validation.exit_code([told(BROKEN), Judged("x", error="no")]) == 1
    assert validation.exit_code([told(ACCEPTED), Judged("x", error="no")]) == 3
    assert validation.exit_code([]) == 0


def test_an_unknown_protocol_or_kind(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(ACCEPTED)
    with pytest.raises(NoSuchPack, match="there is no pack 'nothing'"):
        judge_path(path, Options(protocol="nothing"))
    with pytest.raises(NoSuchKind, match="has no kind 'acepted'"):
        judge_path(path, Options(protocol="va-agent-protocol", kind="acepted"))
    assert judge_path(path, Options(protocol="va-agent-protocol", kind="accepted", stateless=True)).valid


# ── inputs ───────────────────────────────────────────────────────────────────────────────────────


def test_a_folder_stands_for_the_files_in_it(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/2.jsonl", "a.json", "c.txt", "b/1.json"):
        (tmp_path / name).write_bytes(ACCEPTED)
    found = [*validation.expand([tmp_path, Path("-"), tmp_path / "c.txt"])]
    names = ["a.json", "b/1.json", "b/2.jsonl"]
    assert found == [*(tmp_path / name for name in names), Path("-"), tmp_path / "c.txt"]


def test_an_empty_folder_is_no_success(tmp_path: Path) -> None:
    with pytest.raises(InputUnreadable, match=r"holds no \.json and no \.jsonl file"):
        [*validation.expand([tmp_path])]


LINE = re.compile(r"^in:\d+:\d+: (MUST|SHOULD|MAY) [A-Z]+-[A-Z0-9]+(-\d+)?: .+$")


@pytest.mark.parametrize(
    "data",
    [
        ACCEPTED.replace(b"c-1", rb"\ud800"),
        ACCEPTED.replace(b'"payload"', b'"\\u001b[31m\\n":1,"payload"'),
        BROKEN.replace(b'"task"', rb'"task\u0000\u2028"'),
        ACCEPTED.replace(b"accepted", rb"\u001b\r\n"),
        BROKEN.replace(b'"T-1"', b"[1e400, 9007199254740993.0]"),
        b"\x1b[31mhello\n" + ACCEPTED,
        b"\xff\xfe\n" + ACCEPTED,
        b"\xef\xbb\xbf" + ACCEPTED,
        b"[1]\n" + ACCEPTED,
    ],
)
def test_whatever_comes_each_finding_is_one_line_and_the_json_is_json(data: bytes) -> None:
    judged = told(data)
    assert judged.findings
    for line in lines(judged):
        assert LINE.match(line)
        assert line.isprintable()
        line.encode("utf-8")
    rows = as_json(judged)["inputs"][0]["findings"]
    assert len(rows) == len(judged.findings)
    assert all(row["line"] >= 1 and row["column"] >= 1 for row in rows)
