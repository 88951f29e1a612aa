"""Commands of the vendor's operator in a scenario: what they are told, and what a failing one means."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from judging import AWP
from live import PYTHON, peer, processes
from playing import notice, world

from conformance import scenarios, statements
from conformance.actions import Aside
from conformance.errors import BadScenario
from conformance.runner import Plan, Result, run_one
from conformance.runner import result_of as result_of_run
from conformance.scenarios import Scenario

ENGAGE = '- operate: "${ics.operator.estop_engage}"\n'
RELEASE = '- operate: "${ics.operator.estop_release}"\n'
UNDONE = '- operate: "${ics.operator.estop_engage}"\n  undo: "${ics.operator.estop_release}"\n'
STOP = {"operator": {"estop_engage": "stop", "estop_release": "go on"}}


def scenario(steps: str) -> Scenario:
    return scenarios.read(f"title: x\nrole: agent\ncovers: [AWP-EVT-002]\nsteps:\n{steps}", "own.yaml", AWP)


def python(code: str, *arguments: object) -> str:
    """The command that runs a line of Python."""
    return f"{PYTHON} -c {shlex.quote(code)} {' '.join(shlex.quote(str(one)) for one in arguments)}".strip()


def result_of(
    tmp_path: Path, steps: str, engage: str, release: str = "", target: str = "", patience: float = 1.0
) -> Result:
    ics: dict[str, Any] = {"operator": {"estop_engage": engage, "estop_release": release}}
    plan = Plan(AWP, "world", target or peer("echo"), ics, tmp_path, patience)
    return run_one(plan, scenario(steps))


# ── what the interpreter makes of it ─────────────────────────────────────────────────────────────


def test_the_steps_go_on_when_the_command_has_ended() -> None:
    play = world(UNDONE + "- send: obs.report\n", ics=STOP)
    [action] = play.did
    assert isinstance(action, Aside)
    assert action.args == {"operate": "stop", "undo": "go on"}
    play.waits(100)
    assert play.sent == []
    play.carry_out(play.driver.done(play.now))
    assert [message["method"] for _, message in play.sent] == ["obs.report"]
    assert play.outcome == ("passed", "")


def test_what_comes_meanwhile_is_there_for_a_later_step() -> None:
    play = world(ENGAGE + "- expect: world.event\n", ics=STOP)
    play.hears(notice("world.event", event="e_stop_engaged")).ends()
    play.carry_out(play.driver.done(play.now))
    assert play.outcome == ("passed", "")


def test_a_command_that_nobody_states_makes_it_not_applicable() -> None:
    assert world(ENGAGE).outcome == ("not-applicable", "nothing says what ${ics.operator.estop_engage} is")


@pytest.mark.parametrize("command", ["kill 1", "${saved}", "kill ${ics.operator.estop_engage}", ""])
def test_a_command_is_a_fact_of_the_ics_and_nothing_else(command: str) -> None:
    """What an implementation says never becomes a part of a command."""
    with pytest.raises(BadScenario, match=r"own\.yaml:"):
        scenario(f'- set: {{saved: x}}\n- operate: "{command}"\n')


def test_the_facts_of_an_operator_are_those_that_the_scenario_rests_on() -> None:
    assert statements.needed(AWP, scenario(UNDONE)) == ["operator.estop_engage", "operator.estop_release"]


# ── real commands ────────────────────────────────────────────────────────────────────────────────


WRITES = "import os, pathlib, sys; pathlib.Path(sys.argv[1]).write_text(' '.join(sys.argv[2:]))"


@pytest.mark.skipif(sys.platform == "win32", reason="quoting is that of POSIX")
def test_a_command_runs_without_a_shell_and_is_told_the_process(tmp_path: Path) -> None:
    """`{pid}` is the process that the kit started."""
    told = tmp_path / "told"
    answers = "import os, sys\nfor line in sys.stdin: print('{\"pid\": %d}' % os.getpid(), flush=True)"
    engage = python(WRITES, told, "{pid}", "$HOME", "a b")
    steps = "- raw: '{}'\n- expect: '*'\n" + ENGAGE
    result = result_of(tmp_path, steps, engage, target=f"stdio:{python(answers)}")
    assert (result.status, result.reason) == ("passed", "")
    record = (tmp_path / result.transcript).read_text("utf-8").splitlines()
    [pid] = [row["message"]["pid"] for row in map(json.loads, record[1:]) if row["event"] == "received"]
    assert told.read_text("utf-8") == f"{pid} $HOME a b"


FAILS = python("import sys; print('the relay is stuck', file=sys.stderr); sys.exit(3)")


@pytest.mark.parametrize(
    ("engage", "said"),
    [
        (FAILS, "the process exited with status 3: the relay is stuck"),
        ("no-such-program at all", "cannot start 'no-such-program': no such file or directory"),
        ("stop 'it", 'cannot read the command of "stop \'it": no closing quotation'),
        (python("import time; time.sleep(60)", "left-running"), "was still running 0.5 s after"),
    ],
    ids=["fails", "absent", "quotation", "endless"],
)
def test_a_command_that_fails_says_nothing_about_the_implementation(
    engage: str, said: str, tmp_path: Path
) -> None:
    steps = "- raw: '{}'\n- expect: '*'\n" + ENGAGE + "- expect: world.event\n  proves: AWP-EVT-002\n"
    patience = 0.05 if "left-running" in engage else 1.0
    result = result_of(tmp_path, steps, engage, patience=patience)
    assert (result.status, result.findings) == ("inconclusive", ())
    assert said in result.reason
    assert result.reason.startswith("the command ")
    if engage == FAILS:
        assert (tmp_path / result.stderr).read_text("utf-8") == "the relay is stuck\n"
    assert processes("left-running") == []


def test_a_process_that_the_kit_did_not_start_has_no_id(tmp_path: Path) -> None:
    result = result_of(tmp_path, ENGAGE, "kill -USR1 {pid}", target=peer("answers_once", scheme="exec"))
    assert result.status == "inconclusive"
    assert "the kit has started no process that runs and could be {pid}" in result.reason


APPENDS = "import sys; open(sys.argv[1], 'a').write(sys.argv[2])"


@pytest.mark.parametrize(
    ("steps", "engage", "done"),
    [
        (UNDONE + RELEASE, "stop ", "stop go "),
        (UNDONE, "stop ", "stop go "),
        (UNDONE + "- expect: world.event\n  within: 1 ms\n", "stop ", "stop go "),
        (UNDONE * 2, "stop ", "stop stop go go "),
        (RELEASE, "stop ", "go "),
    ],
    ids=["by a step", "at the end", "when it cannot go on", "as often", "nothing owed"],
)
def test_what_a_command_changed_is_changed_back(steps: str, engage: str, done: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    commands = (python(APPENDS, log, word) for word in (engage, "go "))
    result_of(tmp_path, steps, *commands)
    assert log.read_text("utf-8") == done


def test_an_interruption_leaves_nothing_as_the_scenario_made_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    engage, release = (python(APPENDS, log, word) for word in ("stop ", "go "))
    ics = {"operator": {"estop_engage": engage, "estop_release": release}}
    plan = Plan(AWP, "world", peer("echo"), ics, tmp_path)

    async def interrupted() -> Result:
        going = asyncio.create_task(result_of_run(plan, scenario(UNDONE + "- wait: 60 s\n")))
        while not log.is_file() or not log.read_text("utf-8"):
            await asyncio.sleep(0.01)
        going.cancel()
        return await going

    assert asyncio.run(interrupted()).status == "interrupted"
    assert log.read_text("utf-8") == "stop go "


def test_what_cannot_be_changed_back_ends_the_run(tmp_path: Path) -> None:
    """Whoever comes next would meet an implementation that is as the scenario left it."""
    result = result_of(tmp_path, UNDONE, python("pass"), FAILS)
    assert (result.status, result.findings) == ("error", ())
    assert "the relay is stuck; the implementation may still be as the scenario left it" in result.reason
