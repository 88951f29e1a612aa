"""`validate`: what is made of an input, and when it is told."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from errno import EACCES
from pathlib import Path
from typing import Any

import pytest

from conformance import judgement, packs, validation, writers
from conformance.errors import NoSuchKind, NoSuchPack
from conformance.findings import Finding, Level
from conformance.judgement import Judged, Told
from conformance.validation import Options

VA = packs.find("va-agent-protocol")
AWP = packs.find("awp@0.1-draft.7")

ACCEPTED = (
    b'{"protocol":"va-agent-protocol","version":"0.1.0","timestamp":"2026-04-01T00:00:00Z",'
    b'"correlationId":"c-1","type":"accepted","payload":{"taskId":"T-1"}}'
)
BROKEN = ACCEPTED.replace(b'"taskId"', b'"task"')
STATELESS = Options(stateless=True)


class Inputs:
    """Inputs that were judged, and what was told of each."""

    def __init__(self) -> None:
        self.judged: list[Judged] = []
        self.told: list[list[Told]] = []

    def add(self, data: bytes, options: Options, pack: packs.Pack | None = None) -> Judged:
        judged, told = Judged("in"), list[Told]()
        validation.judge([data], judged, options, lambda _, one: told.append(one), pack)
        self.judged.append(judged)
        self.told.append(told)
        return judged

    def written(self, form: str) -> list[str]:
        texts: list[str] = []
        writer = writers.writer(form, texts.append)
        for judged, told in zip(self.judged, self.told, strict=True):
            for one in told:
                writer.told(judged, one)
            writer.done(judged)
        writer.end()
        return texts

    @property
    def json(self) -> Any:
        return json.loads("\n".join(self.written("json")))


def judge(data: bytes, options: Options, pack: packs.Pack | None = None) -> Judged:
    return Inputs().add(data, options, pack)


def judge_path(path: Path, options: Options) -> Judged:
    return validation.judge_path(path, options, lambda *_: None)


def told(*data: bytes, **options: Any) -> Inputs:
    inputs = Inputs()
    for one in data:
        inputs.add(one, Options(**{"stateless": True, **options}))
    return inputs


def test_a_valid_message() -> None:
    inputs = told(ACCEPTED)
    [judged] = inputs.judged
    assert judged.valid
    assert (judged.messages, judged.told) == (1, 0)
    assert judged.summary() == "in: valid (va-agent-protocol@0.1.0, 1 message)"
    assert judgement.exit_code([judged]) == 0
    assert inputs.written("text") == []


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_a_broken_message_on_the_second_line(newline: bytes) -> None:
    inputs = told(ACCEPTED + newline + b"  " + BROKEN + newline)
    assert not inputs.judged[0].valid
    column = 3 + BROKEN.index(b'{"task"')
    places = [line for line in inputs.written("text") if " VA-" in line]
    assert places[0].startswith(f"in:2:{column}: MUST VA-MSG-002: ")
    assert '"taskId" is missing' in places[0]
    assert places[0].endswith("(at /payload)")
    assert judgement.exit_code(inputs.judged) == 1


def test_json() -> None:
    inputs = told(ACCEPTED + b"\n" + BROKEN, b"")
    inputs.judged[1] = Judged("gone", error="gone cannot be read: no such file")
    value = inputs.json
    assert set(value) == {"kit", "inputs"}
    assert value["kit"]["name"] == "agent-conformance-kit"
    one, gone = value["inputs"]
    members = {"path", "protocol", "revision", "messages", "unjudged", "valid", "findings"}
    assert set(one) == members
    assert (one["path"], one["protocol"], one["revision"]) == ("in", "va-agent-protocol", "0.1.0")
    assert (one["messages"], one["valid"]) == (2, False)
    first = next(row for row in one["findings"] if row["requirement"] == "VA-MSG-002")
    assert first == {
        "requirement": "VA-MSG-002",
        "level": "MUST",
        "verdict": "fail",
        "seq": 2,
        "party": "agent",
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
    warned = Judged("in", VA, 1)
    one = warned.tell(Finding("VA-MSG-002", False, "agent", 1, "it should not", level=Level.SHOULD))
    assert one.verdict.word == "warn"
    assert warned.valid
    assert judgement.exit_code([warned]) == 0
    assert warned.summary() == "in: valid (va-agent-protocol@0.1.0, 1 message, 1 finding)"


def test_place_of_what_only_the_end_shows() -> None:
    dispatch = (
        b'{"protocol":"va-agent-protocol","version":"0.1.0","timestamp":"2026-04-01T00:00:00Z",'
        b'"correlationId":"c-1","type":"dispatch","payload":{"task":{"id":"T-1","objective":"o",'
        b'"acceptanceCriteria":["x"]}}}'
    )
    [row] = told(dispatch + b"\n" + ACCEPTED, stateless=False).json["inputs"][0]["findings"]
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
    judged = judge(data, STATELESS, VA)
    assert judged.error == said
    assert not judged.valid
    assert judged.summary() == f"conformance: {said}"
    assert judgement.exit_code([judged]) == 3


def test_an_input_of_no_known_protocol() -> None:
    inputs = told(b'{"hello": 1}')
    [judged] = inputs.judged
    assert "no known protocol recognises this input" in judged.error
    assert judgement.exit_code([judged]) == 3
    assert inputs.json["inputs"][0]["protocol"] is None


def test_an_input_of_no_known_protocol_is_not_invalid_for_its_text() -> None:
    """Where something in it is JSON, it is likelier not for us than broken."""
    inputs = told(b'{"hello": 1}\nlistening\n')
    [judged] = inputs.judged
    assert [row["requirement"] for row in inputs.json["inputs"][0]["findings"]] == ["WIRE-NOISE"]
    assert "no known protocol recognises this input" in judged.summary()
    assert judgement.exit_code([judged]) == 3


def test_an_input_that_is_no_json_at_all() -> None:
    """That it is no JSON can be said whatever the protocol."""
    inputs = told(b'{"protocol": "va-agent-protocol",}')
    [judged] = inputs.judged
    assert judgement.exit_code([judged]) == 1
    assert [row["requirement"] for row in inputs.json["inputs"][0]["findings"]] == ["WIRE-JSON"]
    assert judged.summary() == "in: invalid (no protocol, 0 messages, 1 finding)"


def test_a_message_of_another_protocol_is_said_to_be_one() -> None:
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"origin_ns":1}}'
    mcp = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    first, second = (
        row["message"] for row in told(b"\n".join([ACCEPTED, ping, mcp])).json["inputs"][0]["findings"]
    )
    assert first.endswith("; it looks like a message of awp@0.1-draft.12")
    assert second.endswith("; it looks like a message of MCP (Model Context Protocol)")


def test_a_response_alone_shows_no_kind_and_can_be_told_it(tmp_path: Path) -> None:
    data = b'{"jsonrpc":"2.0","id":4,"result":{}}'
    judged = judge(data, STATELESS, AWP)
    assert "name it with -k" in judged.error
    assert judge(data, Options(kind="session.close.result"), AWP).valid


def test_messages_that_could_not_be_judged_are_not_passed_over_in_silence() -> None:
    ping = b'{"jsonrpc":"2.0","id":4,"method":"ping","params":{"origin_ns":1}}\n'
    inputs = told(ping + b'{"jsonrpc":"2.0","id":2,"result":{}}\n{"jsonrpc":"2.0","id":3,"result":{}}')
    [judged] = inputs.judged
    assert judged.summary().endswith(", 3 messages, 2 of them not judged: answers to no request here)")
    assert inputs.json["inputs"][0]["unjudged"] == 2


def test_a_broken_transcript(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"transcript": 1, "protocol": "awp", "revision": "0.1-draft.7"}\n{"event": "opened"}\n')
    judged = judge_path(path, Options())
    assert "t.jsonl:2: " in judged.error
    assert judgement.exit_code([judged]) == 3


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    judged = judge_path(tmp_path / "none.json", Options())
    assert judged.error == f"{tmp_path / 'none.json'} cannot be read: No such file or directory"


def test_invalid_outweighs_what_cannot_be_judged() -> None:
    assert judgement.exit_code([*told(BROKEN).judged, Judged("x", error="no")]) == 1
    assert judgement.exit_code([*told(ACCEPTED).judged, Judged("x", error="no")]) == 3
    assert judgement.exit_code([*told(BROKEN).judged, Judged("x", stopped=True)]) == 130
    assert judgement.exit_code([]) == 0


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
    (tmp_path / "c.json").mkdir()
    for name in ("b/2.jsonl", "a.json", "c.txt", "b/1.json", "c.json/x.json"):
        (tmp_path / name).write_bytes(ACCEPTED)
    found = [*validation.expand([tmp_path, Path("-"), tmp_path / "c.txt"])]
    names = ["a.json", "b/1.json", "b/2.jsonl", "c.json/x.json"]
    assert found == [*(tmp_path / name for name in names), Path("-"), tmp_path / "c.txt"]


def test_a_folder_that_cannot_be_looked_into_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "a.json").write_bytes(ACCEPTED)
    scandir = os.scandir

    def denied(path: Any) -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", denied)
    monkeypatch.setattr(os, "listdir", denied)
    assert [*validation.expand([tmp_path])] == [tmp_path / "a.json", tmp_path / "closed"]
    judged = judge_path(tmp_path / "closed", Options())
    assert judged.error == f"{tmp_path / 'closed'} cannot be read: Permission denied"


def test_an_empty_folder_is_no_success(tmp_path: Path) -> None:
    assert [*validation.expand([tmp_path])] == [tmp_path]
    judged = judge_path(tmp_path, Options())
    assert judged.error == f"{tmp_path} holds no .json, .jsonl or .ndjson file"
    assert judgement.exit_code([judged]) == 3


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
    inputs = told(data)
    count = inputs.judged[0].told
    assert count
    for line in inputs.written("text"):
        assert LINE.match(line)
        assert line.isprintable()
        line.encode("utf-8")
    rows = inputs.json["inputs"][0]["findings"]
    assert len(rows) == count
    assert all(row["line"] >= 1 and row["column"] >= 1 for row in rows)


# ── which revision ───────────────────────────────────────────────────────────────────────────────

STANDING = (
    b'{"jsonrpc":"2.0","id":5,"method":"safety.approval.respond","params":'
    b'{"approval_id":"ap-1","decision":"approve","standing":{"scope":{"type":"move"},"expires_at":9}}}'
)
NEWER = STANDING.replace(b"expires_at", b"expires_at_ns")
WRONG = NEWER.replace(b'"approve"', b'"shrug"')


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (STANDING, "valid (awp@0.1-draft.7, 1 message)"),
        (NEWER, "valid (awp@0.1-draft.12, 1 message)"),
        (STANDING + b"\n" + STANDING, "valid (awp@0.1-draft.7, 2 messages)"),
        (b'{"from": "agent", "step": "x", "msg": ' + STANDING + b"}", "valid (awp@0.1-draft.7, 1 message)"),
        (WRONG, "invalid (awp@0.1-draft.12, 1 message, 1 finding)"),
        (STANDING + b"\n" + NEWER, "invalid (awp@0.1-draft.12, 2 messages, 2 findings)"),
        (NEWER + b"\n" + STANDING, "invalid (awp@0.1-draft.12, 2 messages, 2 findings)"),
    ],
)
def test_a_message_is_not_blamed_for_a_revision_that_it_may_not_be_of(data: bytes, said: str) -> None:
    """All drafts of AWP call themselves 0.1: the message does not say which of them it follows."""
    judged = judge(data, STATELESS)
    assert judged.summary() == f"in: {said}"


def test_who_names_the_revision_is_taken_at_his_word() -> None:
    assert not judge(STANDING, STATELESS, packs.find("awp")).valid
    header = b'{"transcript": 1, "protocol": "awp", "revision": "0.1-draft.12"}\n'
    event = b'{"seq": 1, "event": "received", "time": 0, "connection": "main", "party": "agent", "message": '
    assert not judge(header + event + STANDING + b"}\n", STATELESS).valid


@pytest.mark.interpreted(reason="another limit than the compiled one")
def test_after_many_messages_an_input_is_of_the_newest_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.alternatives.HELD", 3)
    assert judge(NEWER + b"\n" + STANDING, STATELESS).told == 2
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"origin_ns":1}}\n'
    assert judge(ping + STANDING, STATELESS).summary() == "in: valid (awp@0.1-draft.7, 2 messages)"
    late = judge(ping * 3 + STANDING, STATELESS)
    assert late.summary() == "in: invalid (awp@0.1-draft.12, 4 messages, 2 findings)"


@pytest.mark.interpreted(reason="another limit than the compiled one")
def test_after_many_findings_an_input_is_of_the_older_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.alternatives.WAITING", 4)
    bad = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}'
    early = judge(STANDING + b"\n" + bad + b"\n" + STANDING, STATELESS)
    assert early.summary() == "in: invalid (awp@0.1-draft.7, 3 messages, 1 finding)"
    late = judge((STANDING + b"\n") * 3 + bad, STATELESS)
    assert late.summary() == "in: invalid (awp@0.1-draft.7, 4 messages, 1 finding)"


def test_where_every_revision_is_broken_the_least_is_told() -> None:
    bad = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}'
    assert judge(bad, STATELESS).summary() == "in: invalid (awp@0.1-draft.12, 1 message, 1 finding)"
    both = judge(STANDING + b"\n" + bad, STATELESS)
    assert both.summary() == "in: invalid (awp@0.1-draft.7, 2 messages, 1 finding)"


def test_a_kind_that_only_the_newest_revision_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def kind(pack: packs.Pack, name: str, known: Any = packs.Pack.kind) -> packs.Kind:
        if pack.revision == "0.1-draft.7":
            raise NoSuchKind(name)
        found: packs.Kind = known(pack, name)
        return found

    monkeypatch.setattr(packs.Pack, "kind", kind)
    judged = judge(STANDING, Options(kind="safety.approval.respond"))
    assert judged.pack is packs.find("awp")


@pytest.mark.parametrize(
    "path", sorted(AWP.fixtures.glob("transcripts/valid/*.jsonl")), ids=lambda path: path.stem
)
def test_a_clean_record_is_clean_whoever_judges_it(path: Path) -> None:
    assert judge_path(path, Options()).told == 0


# ── inputs that come slowly, or never end ────────────────────────────────────────────────────────


class Slow:
    """Chunks of an input, each with what had been told when it was asked for."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = chunks
        self.told: list[Told] = []
        self.told_before: list[int] = []

    def judge(self) -> Judged:
        judged = Judged("-")
        validation.judge(self._given(), judged, STATELESS, lambda _, one: self.told.append(one))
        return judged

    def _given(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self.told_before.append(len(self.told))
            yield chunk
        self.told_before.append(len(self.told))


def test_findings_are_told_as_they_come() -> None:
    slow = Slow(BROKEN + b"\n", ACCEPTED[:40], ACCEPTED[40:] + b"\n" + BROKEN, b"\n", ACCEPTED + b"\n")
    assert slow.judge().messages == 4
    each = slow.told_before[1]
    assert each
    assert slow.told_before == [0, each, each, each, 2 * each, 2 * each]


@pytest.mark.parametrize(
    ("chunks", "before"),
    [
        ([b"hello\n", BROKEN + b"\n", ACCEPTED], [0, 0, 3, 3]),
        ([b'{"a":\n', BROKEN + b"\n", BROKEN + b"\n", ACCEPTED], [0, 0, 0, 5, 5]),
        ([b"[" + BROKEN + b"]\n", b"", ACCEPTED + b"\n"], [0, 0, 0, 1]),
    ],
)
def test_what_cannot_be_told_yet_waits_until_it_can(chunks: list[bytes], before: list[int]) -> None:
    slow = Slow(*chunks)
    slow.judge()
    assert slow.told_before == before


def test_an_interrupted_input_is_neither_valid_nor_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read() -> Iterator[bytes]:
        yield ACCEPTED + b"\n"
        raise KeyboardInterrupt

    monkeypatch.setattr(validation, "_standard_input", read)
    judged = judge_path(Path("-"), STATELESS)
    assert (judged.stopped, judged.valid, judged.messages) == (True, False, 1)
    assert judged.summary() == "-: interrupted (va-agent-protocol@0.1.0, 1 message)"


def test_standard_input_may_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    judged = judge_path(Path("-"), Options())
    assert judged.error == "- cannot be read: standard input is closed"
