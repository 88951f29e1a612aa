"""One large file, judged in parts by several processes: what they tell is what one process tells."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forks import REAL
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance import conversations, parts, validation
from conformance.judgement import Judged, Told
from conformance.validation import Options

Line = str
Record = list[Line]


def said(kind: str, name: str, payload: dict[str, Any], second: int = 0) -> Line:
    """A message of a conversation."""
    whole = {"protocol": "va-agent-protocol", "version": "0.1.0", "type": kind}
    whole |= {"timestamp": f"2026-04-01T00:{second // 60:02}:{second % 60:02}Z", "correlationId": name}
    return json.dumps(whole | {"payload": payload})


def dispatch(name: str, task: str = "", second: int = 0) -> Line:
    """An order; of a task of its own, if none is named."""
    return said("dispatch", name, {"task": _task(task or f"T-{name}")}, second)


def _task(name: str) -> dict[str, Any]:
    return {"id": name, "objective": "o", "acceptanceCriteria": ["x"]}


def accepted(name: str, task: str = "") -> Line:
    """The order is taken."""
    return said("accepted", name, {"taskId": task or f"T-{name}"}, 1)


def completed(name: str, task: str = "", second: int = 2, **more: Any) -> Line:
    """The task is done."""
    return said(
        "completed",
        name,
        {"evidence": {"taskId": task or f"T-{name}", "status": "completed", **more}},
        second,
    )


def whole(name: str, task: str = "") -> Record:
    """A conversation from its beginning to its end."""
    return [dispatch(name, task), accepted(name, task), completed(name, task)]


def many(prefix: str, count: int = 40, task: str = "") -> Record:
    """Conversations one after the other."""
    return [line for number in range(count) for line in whole(f"{prefix}{number}", task)]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are worth it."""
    monkeypatch.setattr(parts, "LEAST", 1_000)
    monkeypatch.setattr(parts, "LOOKED_THROUGH", 2_000)
    monkeypatch.setattr(parts, "READ", 2_000)
    monkeypatch.setattr(parts, "BATCH", 2)
    monkeypatch.setattr(parts, "AHEAD", 2)


Judging = Callable[[Path, Options, validation.Tell], Judged]


def told(judge: Judging, path: Path) -> tuple[list[Any], Judged]:
    """All that is told of a file."""
    found: list[Any] = []

    def tell(judged: Judged, one: Told) -> None:
        assert judged.pack is not None
        text = getattr(one.event, "text", None), getattr(one.event, "data", None)
        found.append((judged.pack.name, one.finding, one.level, one.verdict, one.region, text))

    return found, judge(path, Options(), tell)


def compare(path: Path, record: Record, jobs: int = 2, end: str = "\n") -> tuple[int, int]:
    """Compare what one process tells with what several tell; how many findings, and how many parts stood for
    themselves.
    """
    path.write_text(end.join(record) + end, "utf-8")
    stood = []
    through = parts._Telling._through

    def counted(self: Any, part: Any, *, exact: bool = False) -> bool:
        held = through(self, part, exact=exact)
        stood.append(held and not exact)
        return held

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts._Telling, "_through", counted)
        several = told(lambda *words: parts.judge_path(*words, jobs), path)
    assert several == told(validation.judge_path, path)
    return len(several[0]), sum(stood)


NEAR: dict[str, tuple[Record, int, int, int]] = {
    "nothing": ([], 0, 1, 1),
    "a task again, the first over": ([*whole("a", "T"), *whole("b", "T")], 0, 1, 1),
    "a wrong evidence": ([*whole("a")[:2], completed("a", gateResults=[{"gate": "g"}])], 1, 1, 1),
    "a wrong task": ([*whole("a")[:2], completed("a", "T-other")], 1, 1, 1),
    "never ended": (whole("a")[:2], 1, 1, 1),
    "said after the end": ([*whole("a"), accepted("a")], 1, 1, 1),
    "an unknown kind": ([*whole("a")[:2], said("adopted", "a", {}), completed("a")], 1, 1, 1),
    "ordered again": ([*whole("a"), dispatch("a", second=9)], 1, 1, 1),
    "an orphan": ([accepted("a")], 1, 1, 0),
    "a broken line": ([*whole("a"), '{"protocol": "va-agent-pro'], 1, 0, 0),
    "a line of something else": ([*whole("a"), "Listening on port 80"], 1, 0, 0),
    "a member twice": ([dispatch("a").replace('"type"', '"type": "dispatch", "type"')], 1, 0, 0),
    "a blank line": ([*whole("a"), ""], 0, 0, 0),
    "a message on lines": ([dispatch("b").replace(", ", ",\n "), *whole("b")[1:]], 1, 0, 0),
    "no conversation": ([accepted("a").replace('"correlationId"', '"cousinId"')], 1, 0, 0),
    "a document": ([json.dumps(_task("a"))], 0, 0, 0),
    "escaped": ([dispatch("a"), accepted("a").replace('"a"', '"\\u0061"'), completed("a")], 0, 1, 1),
    "named within first": ([f'{{"x": {{"correlationId": "z"}}, {line[1:]}' for line in whole("a")], 3, 1, 1),
}
"""What stands in one part: what is found at least, and whether the second part stands for itself where it is
in the first one, and where it is in the second.
"""


@pytest.mark.parametrize("second", [0, 1])
@pytest.mark.parametrize("name", NEAR)
def test_what_stands_in_a_part(name: str, second: int, tmp_path: Path) -> None:
    record, least, *stood = NEAR[name]
    near = [*many("m", 4), *record] if second else [*record, *many("m", 4)]
    found, apart = compare(tmp_path / "record.jsonl", [*many("p"), *near, *many("q")])
    assert found >= least
    assert apart == stood[second]


ACROSS: dict[str, tuple[Record, Record, int]] = {
    "a key again": (whole("a"), whole("a"), 0),
    "what goes on": (whole("a")[:2], whole("a")[2:], 0),
    "what was open is replaced": (whole("a", "T")[:2], whole("b", "T"), 0),
    "what was replaced says something": (
        [*whole("a", "T")[:2], *whole("b", "T")],
        [*whole("c", "T"), completed("a", "T", 50)],
        0,
    ),
    "what was open and is alone": (whole("a")[:2], whole("b"), 1),
    "no task": ([said("dispatch", "a", {})], [said("dispatch", "b", {})], 0),
}
"""What stands in the first part and in the second, and whether that one stands for itself."""


@pytest.mark.parametrize("name", ACROSS)
def test_what_goes_on_across_a_cut(name: str, tmp_path: Path) -> None:
    first, second, stood = ACROSS[name]
    record = [*many("o", 8), *first, *many("p", 20), *many("q", 20), *second, *many("r", 8)]
    assert compare(tmp_path / "record.jsonl", record)[1] == stood


def test_what_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A conversation goes on for longer than everything is remembered: who knows what was forgotten?"""
    monkeypatch.setattr(conversations, "SPAN", 20)
    record = [*many("p"), dispatch("a"), *many("m", 8), accepted("a"), *many("q", 8)]
    assert compare(tmp_path / "record.jsonl", [*many("o", 20), *record])[1] == 0
    assert compare(tmp_path / "record.jsonl", [*record, *many("o", 80)])[1] == 1


def test_too_much_to_remember(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "ENOUGH", 5)
    strays = [accepted(f"s{number}") for number in range(6)]
    assert compare(tmp_path / "record.jsonl", [*strays, *many("p"), *many("q")])[1] == 0
    left = [line for number in range(6) for line in whole(f"l{number}")[:2]]
    assert compare(tmp_path / "record.jsonl", [*left, *many("p"), *many("q")])[1] == 0
    assert compare(tmp_path / "record.jsonl", [*many("p"), *many("q"), *left])[1] == 0
    replaced = [dispatch(f"r{number}", "T") for number in range(7)]
    assert compare(tmp_path / "record.jsonl", [*many("p"), *many("q"), *replaced])[1] == 0


def test_of_several_parts_one_does_not_stand_for_itself(tmp_path: Path) -> None:
    record = [*many("p"), *many("q"), accepted("orphan"), *whole("open")[:2], *many("r"), *many("s")]
    assert compare(tmp_path / "record.jsonl", record, jobs=4) == (2, 2)


def test_more_is_found_than_can_wait(tmp_path: Path) -> None:
    record = [line for name in range(200) for line in whole(f"{name}", "T-1")[:2]]
    wrong = [
        line for name in range(200) for line in [*whole(f"b{name}")[:2], completed(f"b{name}", "T-other")]
    ]
    assert compare(tmp_path / "record.jsonl", [*whole("x"), *wrong], jobs=3) == (200, 2)
    assert compare(tmp_path / "record.jsonl", record, jobs=3)[1] == 0


def test_lines_that_end_otherwise(tmp_path: Path) -> None:
    assert compare(tmp_path / "record.jsonl", many("p", 80), end="\r\n") == (1, 0)


LINES = st.sampled_from(["dispatch", "accepted", "completed", "cancel", "blocked", "progress"])


@st.composite
def records(draw: st.DrawFn) -> Record:
    """Few conversations over few tasks, with whole ones between them so that it can be cut."""
    drawn = st.lists(st.tuples(LINES, st.sampled_from("abcdef"), st.sampled_from("TUV")), max_size=12)
    record, fresh = [], iter(range(1_000))
    for _ in range(draw(st.integers(2, 6))):
        for kind, name, task in draw(drawn):
            payload = {"task": _task(task)} if kind == "dispatch" else {"taskId": task, "reason": "r"}
            ends = kind in ("completed", "blocked")
            record.append(
                said(kind, name, {"evidence": {"taskId": task, "status": kind}} if ends else payload)
            )
        record += [line for _ in range(draw(st.integers(1, 6))) for line in whole(f"w{next(fresh)}")]
    return record


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(record=records(), jobs=st.integers(2, 4))
def test_whatever_the_record_is(record: Record, jobs: int, tmp_path: Path) -> None:
    compare(tmp_path / "record.jsonl", record, jobs)


def test_what_is_no_such_record_is_judged_whole(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    for text in ("", "\n" * 3_000, "x" * 3_000, "{}\n" * 1_000, '{"transcript": 1}\n' * 1_000):
        path.write_text(text, "utf-8")
        assert parts._cuts(path, Options(), 2) is None
    path.write_text("\n".join(many("p", 80)), "utf-8")
    assert parts._cuts(path, Options(stateless=True), 2) is None
    assert parts._cuts(path, Options(), 2) is not None


def test_conversations_that_are_always_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no place to cut where others go on."""
    monkeypatch.setattr(parts, "LOOKED_THROUGH", 100_000)
    first, *turns = zip(*[whole(f"{number}") for number in range(200)], strict=True)
    path = tmp_path / "record.jsonl"
    path.write_text("\n".join([*first, *turns[0], *turns[1]]) + "\n", "utf-8")
    assert parts._cuts(path, Options(), 2) is None


def test_a_process_that_ends_early_is_the_kits_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "record.jsonl"
    path.write_text("\n".join(many("p", 80)), "utf-8")
    for fault, error in ((_die, "WorkerLost"), (_fail, "OwnFault")):
        monkeypatch.setattr(parts._Judge, "ended", fault)
        with pytest.raises(Exception, match=str(path) if fault is _die else "nobody foresaw it") as caught:
            parts.judge_path(path, Options(), lambda judged, one: None, 2)
        assert type(caught.value).__name__ == error


def _die(self: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _fail(self: Any) -> None:
    raise ZeroDivisionError("nobody foresaw it")


def test_an_interruption_ends_all_of_them(tmp_path: Path) -> None:
    """More is said than the pipes hold, so nobody is done before it is interrupted."""
    path = tmp_path / "record.jsonl"
    lines = (line for name in range(20_000) for line in whole(f"{name}")[:2])
    path.write_text("\n".join([*whole("x"), *lines]).replace("accepted", "completed"), "utf-8")
    words = [*REAL["conformance"], "validate", "--jobs", "2", str(path)]
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        start_new_session=True,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline().startswith(str(path).encode())
        os.killpg(child.pid, signal.SIGINT)
        said = child.communicate(timeout=60)[1].decode()
    assert child.returncode == 130
    assert said.startswith(f"{path}: interrupted (")
    with pytest.raises(ProcessLookupError):
        os.killpg(child.pid, 0)
