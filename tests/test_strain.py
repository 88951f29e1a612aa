"""A kit that is late itself calls nobody late, waits longer, and says so in its records."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from live import PYTHON, peer

from conformance import packs, scenarios
from conformance.actions import Outcome
from conformance.campaign import run_of
from conformance.findings import Finding
from conformance.report import evaluation
from conformance.runner import Plan, Result, Session, run_one
from conformance.scenarios import Scenario
from conformance.strain import LIMIT, Strain

VA = packs.find("va-agent-protocol")
AWP = packs.find("awp@0.1-draft.7")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the peers use POSIX signals")

# ── what is told from times ──────────────────────────────────────────────────────────────────────


def strained(*firings: tuple[float, float]) -> Strain:
    """After timers that were due, and fired, at these times."""
    strain = Strain()
    for due, fired in firings:
        strain.set(due)
        strain.fired(fired)
    return strain


def test_a_kit_that_keeps_up_is_as_patient_as_usual() -> None:
    strain = strained(*((n * 0.05, n * 0.05 + 0.009) for n in range(100)))
    assert strain.stretch == 1.0
    assert strain.lag(5.0) == 0.0
    assert strain.late_since(0.0, 5.0) == 0.0


@pytest.mark.parametrize(
    ("firings", "stretch"),
    [
        ([(1.0, 1.5)], 1.5),
        ([(1.0, 1.25), (1.3, 1.55)], 1.5),
        ([(1.0, 1.25), (4.0, 4.25)], 1.25),  # a second apart they have nothing to do with each other
        ([(1.0, 3.0), (9.0, 9.02)], 3.0),  # it does not become less patient again
        ([(1.0, 60.0)], LIMIT),
    ],
)
def test_the_later_its_timers_the_more_patient_is_it(
    firings: list[tuple[float, float]], stretch: float
) -> None:
    assert strained(*firings).stretch == pytest.approx(stretch)


@pytest.mark.parametrize(("seconds", "stretch"), [(0.2, 1.0), (1.0, 1.0), (2.5, 2.5), (30.0, LIMIT)])
def test_the_slower_the_first_answer_the_more_patient_is_it(seconds: float, stretch: float) -> None:
    strain = Strain()
    strain.answered(seconds)
    assert strain.stretch == stretch


def test_what_comes_while_a_timer_is_overdue_may_have_been_there_since() -> None:
    strain = Strain()
    strain.set(1.0)
    assert strain.lag(0.9) == 0.0
    assert strain.lag(3.0) == 2.0
    strain.fired(3.0)
    assert strain.lag(3.01) == pytest.approx(2.01)  # the loop may call it before or after the timer
    assert strain.lag(3.2) == 0.0


def test_a_little_late_again_and_again_keeps_nobody_from_acting() -> None:
    strain = strained(*((n * 0.1, n * 0.1 + 0.04) for n in range(100)))
    assert strain.late_since(0.0, 10.0) == pytest.approx(4.0)
    assert strain.total(10.0) == 0.0
    strain = strained(*((n * 0.5, n * 0.5 + 0.2) for n in range(10)))
    assert strain.total(5.0) == pytest.approx(2.0)


def test_how_long_it_was_late_in_all() -> None:
    strain = strained((1.0, 1.5), (2.0, 2.25))
    assert strain.late_since(0.0, 3.0) == 0.75
    assert strain.late_since(2.0, 3.0) == 0.25
    assert strain.total(3.0) == 0.75
    strain.set(4.0)
    assert strain.total(4.1) == 0.75  # so late any timer may be
    assert strain.total(5.0) == 1.75
    assert strain.late_since(2.0, 5.0) == 1.25
    assert strain.worst == 0.5


# ── records ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("record", "requirement", "seq", "little", "enough"),
    [
        ("ping-never-answered", "AWP-CTL-004", 8, 0.5, 5.0),  # 11 s late, and 10 s are allowed
        ("telemetry-too-late", "AWP-TIM-006", 8, 0.5, 3.5),
        ("world-without-heartbeat", "AWP-SAF-001", 21, 0.1, 1.9),
    ],
)
def test_what_the_kit_was_late_itself_is_nobodys_delay(
    record: str, requirement: str, seq: int, little: float, enough: float, tmp_path: Path
) -> None:
    path = AWP.fixtures / "transcripts" / "invalid" / f"{record}.jsonl"
    lines = path.read_text("utf-8").splitlines()

    def failed(how: str, seconds: float) -> set[tuple[str, bool]]:
        told = lines.copy()
        for place in range(seq, seq + 1 if how == "lag" else len(lines)):
            told[place] = told[place].replace('"connection"', f'"{how}": {seconds}, "connection"', 1)
        (tmp_path / "late.jsonl").write_text("\n".join(told) + "\n", "utf-8")
        found = evaluation.judge(tmp_path / "late.jsonl", AWP, "world").findings
        return {(one.requirement, one.inconclusive) for one in found if not one.ok}

    assert failed("lag", little) == failed("late", little) == {(requirement, False)}
    assert failed("lag", enough) == failed("late", enough) == {(requirement, True)}


# ── runs ─────────────────────────────────────────────────────────────────────────────────────────


def scenario(steps: str) -> Scenario:
    head = "title: x\nrole: orchestrator\ncovers: [VA-MSG-001]\nsteps:\n"
    return scenarios.read(head + steps, "own.yaml", VA)


def plan(out: Path, target: str, patience: float = 1.0) -> Plan:
    return Plan(VA, "agent", target, {}, out, patience)


def rows(out: Path) -> list[dict[str, Any]]:
    return [json.loads(row) for row in (out / "transcripts" / "own.jsonl").read_text("utf-8").splitlines()]


def stalled(out: Path, target: str, steps: str, when: int) -> tuple[str, str]:
    """What becomes of a scenario if the kit sees nothing for a second, after so many lines of its record."""

    async def conversation() -> tuple[str, str]:
        session = Session(plan(out, target), scenario(steps))
        try:
            done = await session.begin()
            while not done:
                if len(rows(out)) == when:
                    time.sleep(1.0)
                    when_over.append(True)
                done = await session._next()
        finally:
            await session.close()
        result = session.result(session.driver.outcome or Outcome("passed"), 0.0)
        assert result.late > 0.9  # and whoever judges the result knows
        return result.status, result.reason

    when_over: list[bool] = []
    told = asyncio.run(conversation())
    assert when_over
    return told


def test_an_answer_within_a_deadline_that_is_noticed_late_is_in_time(tmp_path: Path) -> None:
    steps = '- raw: \'{"type":"accepted"}\'\n- expect: accepted\n  deadline: 300 ms\n  proves: VA-MSG-002\n'
    assert stalled(tmp_path, peer("echo"), steps, 3) == ("passed", "")
    [came] = [row for row in rows(tmp_path) if row.get("event") == "received"]
    # The record says as much, so that the same can be judged from it.
    assert came["time"] >= 1.0
    assert came["lag"] > 0.9
    [sent] = [row for row in rows(tmp_path) if row.get("event") == "sent"]
    assert came["time"] - came["lag"] - sent["time"] < 0.3
    assert came["late"] > 0.9
    assert sent.get("late", 0.0) < came["late"] - 0.9


def test_no_answer_within_a_deadline_that_a_stalled_kit_spent_is_inconclusive(tmp_path: Path) -> None:
    steps = (
        "- send: dispatch\n  payload: {task: {id: T-1, objective: o, acceptanceCriteria: [x]}}\n"
        "- expect: accepted\n- expect: completed\n  deadline: 400 ms\n  proves: VA-MSG-002\n"
    )
    status, reason = stalled(tmp_path, peer("accepts_only"), steps, 4)
    assert status == "inconclusive"
    assert reason.startswith("completed did not come within 400 ms, but the kit itself was ")


def test_what_a_step_holds_against_it_is_inconclusive_where_the_kit_was_late(tmp_path: Path) -> None:
    """The implementation may have given up because the kit's heartbeats did not come."""
    wrong = Finding("VA-MSG-002", False, "agent", 0, "failed came")
    right = Finding("VA-MSG-004", True, "agent")
    for missed, status, verdicts in ((0.4, "failed", [False, False]), (0.6, "inconclusive", [True, False])):
        found = (wrong, right)
        made = Result(
            scenario("- wait: 1 s\n"), "failed", "failed came", findings=found, late=0.9, missed=missed
        )
        run = run_of(plan(tmp_path, "stdio:x"), made)
        assert run.status == status
        assert [one.inconclusive for one in run.evidence.findings] == verdicts
    assert run.reason == "failed came, but the kit itself was 0.6 s late"
    assert run.evidence.findings[0].message == run.reason


def late_result(tmp_path: Path, *, timed: bool, beat: float) -> Result:
    """Of a kit whose timers were 0.9 s late, and its heartbeats so late as is said."""
    session = Session(plan(tmp_path, "stdio:x"), scenario("- wait: 1 s\n"))
    session._cables.strain.worst, session.driver.courtesy.late = 0.9, beat
    asyncio.run(session.close())
    return session.result(Outcome("failed", "failed came", 5, timed), 0.0)


@pytest.mark.parametrize(
    ("timed", "beat", "missed"), [(False, 0.0, 0.0), (False, 0.7, 0.7), (True, 0.0, 0.9), (True, 1.5, 1.5)]
)
def test_only_what_depends_on_time_is_excused_by_any_delay(
    timed: bool, beat: float, missed: float, tmp_path: Path
) -> None:
    """A wrong answer is wrong however late the kit was, unless its heartbeats were."""
    result = late_result(tmp_path, timed=timed, beat=beat)
    assert (result.missed, result.late) == (missed, max(0.9, beat))


def test_a_slow_first_answer_makes_the_kit_wait_longer_and_the_result_says_so(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import sys, time\nsys.stdin.readline(); time.sleep(2)\n"
        'print(\'{"type": "accepted"}\', flush=True)\nsys.stdin.read()\n'
    )
    steps = "- raw: '{}'\n- expect: accepted\n- expect: completed\n  within: 600 ms\n"
    result = run_one(plan(tmp_path, f"stdio:{PYTHON} {tmp_path / 'slow.py'}"), scenario(steps))
    assert result.status == "inconclusive"
    assert result.reason == "completed did not come within 0.6 s"
    assert 1.5 <= result.stretched <= LIMIT
    record = rows(tmp_path)
    came = next(row["time"] for row in record if row.get("event") == "received")
    assert record[-1]["time"] - came >= 0.9
