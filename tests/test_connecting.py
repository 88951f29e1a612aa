"""Sessions over cables on which messages or connections come in their own way."""

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


def result_of(tmp_path: Path, target: str, steps: str) -> Result:
    head = "title: x\nrole: agent\ncovers: [AWP-CTL-004]\nsteps:\n"
    scenario = scenarios.read(head + steps, "own.yaml", AWP)
    return run_one(Plan(AWP, "world", target, {}, tmp_path), scenario)


def events(result: Result, tmp_path: Path) -> list[tuple[str, str]]:
    rows = (tmp_path / result.transcript).read_text("utf-8").splitlines()[1:]
    return [(row["event"], row["connection"]) for row in map(json.loads, rows)]


DIALS = peer("dials_after_a_pong", scheme="ws-listen")
SAY = '- raw: \'{"jsonrpc":"2.0","method":"x"}\'\n- expect: \'*\'\n'


def test_the_kit_goes_on_with_one_connection_while_it_waits_for_another(tmp_path: Path) -> None:
    result = result_of(tmp_path, DIALS, "- connect: second\n- wait: 1 ms\n")
    assert result.status == "passed", result.reason
    assert events(result, tmp_path)[:4] == [
        ("opened", "main"),
        ("received", "main"),
        ("sent", "main"),
        ("opened", "second"),
    ]


def test_who_connects_no_more_leaves_the_scenario_undecided(tmp_path: Path) -> None:
    result = result_of(tmp_path, DIALS, "- close: main\n- connect: main\n- wait: 1 ms\n")
    assert result.status == "inconclusive"
    assert "made no further WebSocket connection to the kit: the process exited with status" in result.reason


@pytest.mark.parametrize(
    "target", [peer("lsp_echo", scheme="stdio+lsp"), peer("answers_once", scheme="exec")], ids=["lsp", "exec"]
)
def test_messages_go_to_and_fro(target: str, tmp_path: Path) -> None:
    result = result_of(tmp_path, target, SAY * 2)
    assert result.status == "passed", result.reason
    assert [name for name, _ in events(result, tmp_path)] == ["opened", *("sent", "received") * 2, "closed"]


def test_a_program_that_is_not_there_is_unreachable_at_the_first_message(tmp_path: Path) -> None:
    result = result_of(tmp_path, "exec:no-such-adapter {input} {output}", SAY)
    assert (result.status, result.heard) == ("unreachable", False)
    assert result.reason == "cannot start 'no-such-adapter': no such file or directory"


def test_a_process_without_an_answer_is_not_waited_for(tmp_path: Path) -> None:
    result = result_of(tmp_path, peer("exits_at_once", scheme="exec"), SAY)
    assert result.status == "inconclusive"
    assert "wrote nothing to standard output; the process exited with status 3: no licence" in result.reason
    assert result.seconds < 4.5
