"""Several connections of one session, where the implementation is the one that connects."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from judging import AWP
from live import peer

from conformance import scenarios
from conformance.runner import Plan, Result, run_one

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the peers use POSIX signals")


def result_of(tmp_path: Path, name: str, steps: str, patience: float = 1.0) -> Result:
    head = "title: x\nrole: agent\ncovers: [AWP-CTL-004]\nsteps:\n"
    scenario = scenarios.read(head + steps, "own.yaml", AWP)
    return run_one(Plan(AWP, "world", peer(name, scheme="ws-listen"), {}, tmp_path, patience), scenario)


def events(result: Result, tmp_path: Path) -> list[tuple[str, str]]:
    rows = (tmp_path / result.transcript).read_text("utf-8").splitlines()[1:]
    return [(row["event"], row["connection"]) for row in map(json.loads, rows)]


def test_the_kit_goes_on_with_one_connection_while_it_waits_for_another(tmp_path: Path) -> None:
    result = result_of(tmp_path, "dials_after_a_pong", "- connect: second\n- wait: 1 ms\n")
    assert result.status == "passed", result.reason
    assert events(result, tmp_path)[:4] == [
        ("opened", "main"),
        ("received", "main"),
        ("sent", "main"),
        ("opened", "second"),
    ]


def test_who_connects_no_more_leaves_the_scenario_undecided(tmp_path: Path) -> None:
    result = result_of(tmp_path, "dials_after_a_pong", "- close: main\n- connect: main\n- wait: 1 ms\n")
    assert result.status == "inconclusive"
    assert "made no further WebSocket connection to the kit: the process exited with status" in result.reason
