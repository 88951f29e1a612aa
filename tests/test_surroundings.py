"""What is shown around a failing message: bounded, printable, and without secrets."""

from __future__ import annotations

import json
from pathlib import Path

from conformance import packs, surroundings

VA = packs.find("va-agent-protocol@0.1.0")
AWP = packs.find("awp@0.1-draft.7")


def record(path: Path, *rows: dict[str, object]) -> Path:
    head = {"transcript": 1, "protocol": "va-agent-protocol", "revision": "0.1.0", "role": "agent"}
    lines = [head, {"seq": 1, "event": "opened", "connection": "main", "time": 0.5, "detail": ""}, *rows]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def message(seq: int, **members: object) -> dict[str, object]:
    way = "sent" if seq % 2 == 0 else "received"
    party = "orchestrator" if seq % 2 == 0 else "agent"
    return {"seq": seq, "event": way, "connection": "main", "party": party, "message": {"n": seq, **members}}


def test_the_message_that_is_meant_stands_among_those_around_it(tmp_path: Path) -> None:
    path = record(tmp_path / "t.jsonl", *(message(seq) for seq in range(2, 13)))
    assert surroundings.wire(path, VA, {8}).splitlines() == [
        "  … 3 events",
        '  #4  sent as orchestrator: {"n": 4}',
        '  #5  received from agent: {"n": 5}',
        '  #6  sent as orchestrator: {"n": 6}',
        '  #7  received from agent: {"n": 7}',
        '> #8  sent as orchestrator: {"n": 8}',
        '  #9  received from agent: {"n": 9}',
        '  #10  sent as orchestrator: {"n": 10}',
        "  … 3 events",
    ]


def test_without_one_the_end_is_shown(tmp_path: Path) -> None:
    closed = {"seq": 9, "event": "closed", "connection": "main", "time": 2, "by": "agent", "clean": True}
    path = record(tmp_path / "t.jsonl", *(message(seq) for seq in range(2, 9)), {**closed, "detail": ""})
    lines = surroundings.wire(path, VA, set()).splitlines()
    assert lines[0] == "  … 3 events"
    assert lines[-1] == "  #9  2.000 s  the connection ended, by agent: in order"
    assert len(lines) == 7


def test_a_record_that_goes_on_ends_here(tmp_path: Path) -> None:
    lines = surroundings.wire(record(tmp_path / "t.jsonl"), VA, set()).splitlines()
    assert lines == ["  #1  0.500 s  the connection is open", "  #2  the record ends here"]


def test_a_long_message_is_cut_and_one_that_a_terminal_would_obey_is_escaped(tmp_path: Path) -> None:
    noise = {"seq": 3, "event": "malformed", "connection": "b", "party": "agent", "data": "G1szMW0="}
    path = record(tmp_path / "t.jsonl", message(2, long="x" * 10_000), noise)
    long, red, *_ = surroundings.wire(path, VA, {3}).splitlines()[1:]
    assert len(long) < 400
    assert "…" in long
    assert red == "> #3 (b)  received from agent: \\u001b[31m"


def test_what_is_no_record_shows_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    assert surroundings.wire(path, VA, set()) == ""
    path.write_text('{"transcript": 1}\nno event\n', encoding="utf-8")
    assert surroundings.wire(path, VA, set()) == ""


def test_standard_error_is_cut_and_has_no_secrets(tmp_path: Path) -> None:
    path = tmp_path / "e.txt"
    assert surroundings.standard_error(path, AWP, b"k") == ""
    secret = "s3cret-s3cret-s3cret"
    path.write_text(
        f'{"noise" * 2000}\nhello "session_token": "{secret}" and {secret}\x1b\n', encoding="utf-8"
    )
    lines = surroundings.standard_error(path, AWP, b"k").splitlines()
    assert lines[0].startswith("… ")
    assert lines[1].startswith('hello "session_token": "redacted-')
    assert lines[1].endswith("\\u001b")
    assert len(lines) == 2
    assert secret not in "".join(lines)
