"""Scenarios that run again, and several at a time: what they show, what is left behind."""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from live import COMMAND, PYTHON, Run, assert_sound, conformance_run, peer, processes

from conformance import scenarios
from conformance.campaign import Request, prepare
from conformance.errors import UsageError
from conformance.fleet import widened
from conformance.packs import data_root, find

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the peers use POSIX signals")

VA = "va-agent-protocol"
TARGETS = data_root() / "fixtures" / VA / "0.1.0" / "targets"
ICS = TARGETS / "agent.toml"
AGENT = f"{PYTHON} {shlex.quote(str(TARGETS / 'agent.py'))}"


def run(tmp_path: Path, target: str, *options: str) -> Run:
    return conformance_run(tmp_path, VA, target, "--config", str(ICS), *options)


def at_first(tmp_path: Path, first: str) -> str:
    """The target that is `first` the first time that a scenario starts it, and then the reference agent."""
    (tmp_path / "been").mkdir()
    rest = f"{shlex.quote(str(tmp_path / 'been'))} {first} -- {AGENT}"
    return f"{peer('well_the_second_time')} {rest}"


def requirement(done: Run, name: str) -> dict[str, Any]:
    [row] = [one for one in done.report["requirements"] if one["id"] == name]
    return dict(row)


# ── again ────────────────────────────────────────────────────────────────────────────────────────


def test_a_failure_that_is_seen_once_is_one_and_is_called_flaky(tmp_path: Path) -> None:
    target = at_first(tmp_path, f"{AGENT} --fault second-terminal")
    done = run(tmp_path, target, "-s", "happy-path", "--rerun", "2")
    assert done.code == 1
    assert done.of("fail") == ["VA-LIF-002"]
    row = requirement(done, "VA-LIF-002")
    assert row["flaky"] == "fail in 1, pass in 2 of 3 runs of scenario happy-path"
    rows = done.report["scenarios"]
    assert [(one["name"], one.get("attempt", 1), one["status"]) for one in rows] == [
        ("happy-path", 1, "passed"),
        ("happy-path", 2, "passed"),
        ("happy-path", 3, "passed"),
    ]
    assert [one["transcript"] for one in rows] == [
        "transcripts/happy-path.jsonl",
        "transcripts/happy-path.run-2.jsonl",
        "transcripts/happy-path.run-3.jsonl",
    ]
    # What failed is to be found in the run in which it did.
    assert {one["transcript"] for one in row["findings"]} == {"transcripts/happy-path.jsonl"}
    assert [row["id"] for row in done.report["requirements"] if "flaky" in row] == ["VA-LIF-002"]
    assert "    flaky: fail in 1, pass in 2 of 3 runs of scenario happy-path\n" in done.text
    assert (
        "flaky, scenario happy-path: passed in all 3 runs, which do not agree about VA-LIF-002\n" in done.text
    )
    assert re.findall(r"^\[1/1\] happy-path(.*): passed", done.said, re.MULTILINE) == [
        "",
        ", run 2",
        ", run 3",
    ]
    assert done.report["complete"] is True


def test_a_run_that_ended_early_stays_inconclusive_and_is_called_flaky(tmp_path: Path) -> None:
    """And going on is of use, since it spoke the second time."""
    target = at_first(tmp_path, f"{PYTHON} -c pass")
    done = run(tmp_path, target, "-s", "happy-path", "-s", "failure", "--rerun", "1")
    assert done.code == 3
    assert done.report["complete"] is True
    rows = done.report["scenarios"]
    assert [one["status"] for one in rows] == ["inconclusive", "passed"] * 2
    assert {one["flaky"] for one in rows} == {"inconclusive in 1, passed in 1 of 2 runs"}
    assert "flaky, scenario failure: inconclusive in 1, passed in 1 of 2 runs\n" in done.text
    assert "flaky" not in requirement(done, "WIRE-UTF8")


def test_what_is_well_is_not_run_again(tmp_path: Path) -> None:
    done = run(tmp_path, f"stdio:{AGENT}", "-s", "failure", "--rerun", "2")
    assert done.code == 0
    assert [one["name"] for one in done.report["scenarios"]] == ["failure"]
    assert "flaky" not in json.dumps(done.report)


# ── several at a time ────────────────────────────────────────────────────────────────────────────


def test_all_at_a_time_show_what_they_show_alone_in_their_order(tmp_path: Path) -> None:
    done = conformance_run(tmp_path, VA, "reference", "--jobs", "4", "--certify")
    assert done.code == 0
    names = [one.name for one in scenarios.of_pack(find(VA), "orchestrator")]
    assert len(names) > 4
    assert list(done.statuses) == names
    told = re.findall(r"^\[(\d+)/(\d+)\] (\S+): passed", done.said, re.MULTILINE)
    assert told == [(str(number), str(len(names)), name) for number, name in enumerate(names, 1)]
    assert done.report["claim"]["status"] == "conformant"
    assert done.report["certification"] == {"granted": True, "missing": []}
    # `cancel` takes half a second at least, in which the others are under way.
    rows = {row["name"]: row for row in done.report["scenarios"]}
    began = {name: header(done, rows[name])["began"] for name in ("blocked", "failure")}
    assert began["failure"] < ended(done, rows["cancel"]), "they ran one after another"


def header(done: Run, row: dict[str, Any]) -> dict[str, Any]:
    return dict(json.loads((done.out / row["transcript"]).read_text("utf-8").splitlines()[0]))


def ended(done: Run, row: dict[str, Any]) -> str:
    from datetime import datetime, timedelta

    lines = (done.out / row["transcript"]).read_text("utf-8").splitlines()
    began = datetime.fromisoformat(json.loads(lines[0])["began"])
    return (began + timedelta(seconds=json.loads(lines[-1])["time"])).isoformat(timespec="milliseconds")


def test_one_that_failed_is_run_again_among_the_others(tmp_path: Path) -> None:
    target = at_first(tmp_path, f"{AGENT} --fault second-terminal")
    done = run(tmp_path, target, "-s", "happy-path", "-s", "gates", "--rerun", "1", "--jobs", "2")
    assert done.code == 1
    assert [(one["name"], one.get("attempt", 1)) for one in done.report["scenarios"]] == [
        *(("gates", 1), ("gates", 2), ("happy-path", 1), ("happy-path", 2))
    ]
    assert requirement(done, "VA-LIF-002")["flaky"] == (
        "fail in 1, pass in 1 of 2 runs of scenario gates; "
        "fail in 1, pass in 1 of 2 runs of scenario happy-path"
    )


def test_nothing_more_is_begun_when_it_is_of_no_use(tmp_path: Path) -> None:
    done = run(tmp_path, "stdio:no-such-program", "--jobs", "2")
    assert done.code == 3
    assert done.report["complete"] is False
    assert 1 <= len(done.statuses) < len(scenarios.of_pack(find(VA), "orchestrator"))
    assert set(done.statuses.values()) == {"unreachable"}


@pytest.mark.parametrize("signals", [[signal.SIGINT], [signal.SIGTERM, signal.SIGINT] * 2], ids=len)
def test_interrupted(tmp_path: Path, signals: list[signal.Signals]) -> None:
    mark = f"mark-{secrets.token_hex(6)}"
    target = f"{peer('accepts_only')} {mark}"
    options = ["--config", str(ICS), "--out", "report", "--jobs", "2"]
    chosen = ["-s", "cancel", "-s", "happy-path", "-s", "gates"]
    with subprocess.Popen(
        [*COMMAND, "run", VA, "--target", target, *options, *chosen],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    ) as child:
        # `cancel` ends, and then two that are never answered are under way.
        wanted = [tmp_path / "report" / "transcripts" / f"{name}.jsonl" for name in ("gates", "happy-path")]
        until = time.monotonic() + 30
        while not all(path.is_file() and '"accepted"' in path.read_text("utf-8") for path in wanted):
            assert time.monotonic() < until
            time.sleep(0.02)
        for number in signals:
            child.send_signal(number)
            time.sleep(0.05)
        text, said = child.communicate(timeout=30)
    assert child.returncode == 130, said
    assert "Traceback" not in text + said
    assert processes(mark) == []
    assert_sound(tmp_path / "report")
    report = json.loads((tmp_path / "report" / "report.json").read_text("utf-8"))
    assert report["complete"] is False
    statuses = {row["name"]: row["status"] for row in report["scenarios"]}
    assert statuses == {"cancel": "passed", "gates": "interrupted", "happy-path": "interrupted"}
    assert [row["id"] for row in report["requirements"] if row["verdict"] == "fail"] == []


def test_what_one_takes_no_other_has_meanwhile_and_the_rest_goes_on_beside_it(tmp_path: Path) -> None:
    """Against one world with one arm: whoever asks for the arm while another has it is refused."""
    program = str(data_root() / "fixtures" / "awp" / "0.1-draft.7" / "targets" / "world.py")
    ics = tmp_path / "conformance.toml"
    ics.write_text("sessions = 4\n")
    taking, looking = ["action-streaming", "cancel-streaming", "resubmission"], "heartbeat"
    chosen = [word for name in (*taking, looking) for word in ("-s", name)]
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True) as world:
        try:
            assert world.stdout is not None
            url = world.stdout.readline().strip()
            options = ("--config", str(ics), "--jobs", "4", *chosen)
            done = conformance_run(tmp_path / "out", "awp@0.1-draft.7", url, *options)
        finally:
            world.terminate()
    assert done.statuses == dict.fromkeys(sorted([*taking, looking]), "passed")
    rows = {row["name"]: row for row in done.report["scenarios"]}
    turns = sorted((header(done, rows[name])["began"], ended(done, rows[name])) for name in taking)
    assert all(one[1] <= other[0] for one, other in pairwise(turns)), turns
    assert header(done, rows[looking])["began"] < turns[-1][0]
    assert turns[0][0] < ended(done, rows[looking])


def test_what_a_scenario_needs_later_nobody_has_then(tmp_path: Path) -> None:
    """Whoever had it still is run anew, so what the report shows of it is from afterwards."""
    head = "role: agent\ncovers: [AWP-VER-002]\n"
    steps = {
        "acts": "takes: [arm]\nsteps:\n  - request: initialize\n  - wait: 400 ms\n",
        "goes": "steps:\n  - request: initialize\n  - take: arm\n  - leave: arm\n  - wait: 50 ms\n",
        "needs": "steps:\n  - request: initialize\n  - take: arm\n    after: 200 ms\n  - wait: 600 ms\n",
    }
    for name, written in steps.items():
        (tmp_path / f"{name}.yaml").write_text(f"title: It {name}\n{head}{written}")
    (tmp_path / "conformance.toml").write_text("sessions = 4\n")
    chosen = [word for name in steps for word in ("-s", str(tmp_path / f"{name}.yaml"))]
    program = str(data_root() / "fixtures" / "awp" / "0.1-draft.7" / "targets" / "world.py")
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True) as world:
        try:
            assert world.stdout is not None
            url = world.stdout.readline().strip()
            options = ("--config", str(tmp_path / "conformance.toml"), "--jobs", "4", *chosen)
            done = conformance_run(tmp_path / "out", "awp@0.1-draft.7", url, *options)
        finally:
            world.terminate()
    assert done.statuses == dict.fromkeys(steps, "passed")
    rows = {row["name"]: row for row in done.report["scenarios"]}
    assert header(done, rows["acts"])["began"] >= ended(done, rows["needs"])


def test_what_is_no_time_is_a_mistake_where_something_is_needed_later(tmp_path: Path) -> None:
    (tmp_path / "needs.yaml").write_text(
        "title: It needs\nrole: agent\ncovers: [AWP-VER-002]\nsteps:\n  - request: initialize\n"
        '    save: {name: /result/world/name}\n  - take: arm\n    after: "${name} ms"\n'
    )
    done = conformance_run(tmp_path, "awp@0.1-draft.7", "reference", "-s", str(tmp_path / "needs.yaml"))
    assert done.code == 4
    assert "'reference-world ms' is no time; let a step `given` see to it before" in done.text


def test_each_of_several_that_run_has_one_scenario_at_a_time(tmp_path: Path) -> None:
    program = str(data_root() / "fixtures" / "awp" / "0.1-draft.7" / "targets" / "world.py")
    chosen = ["action-streaming", "cancel-streaming", "heartbeat", "resubmission"]
    command = [sys.executable, program]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as one,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other,
    ):
        try:
            assert one.stdout is not None
            assert other.stdout is not None
            urls = [one.stdout.readline().strip(), other.stdout.readline().strip()]
            options = ("--beside", urls[1], *[word for name in chosen for word in ("-s", name)])
            done = conformance_run(tmp_path / "out", "awp@0.1-draft.7", urls[0], *options)
        finally:
            one.terminate()
            other.terminate()
    assert done.statuses == dict.fromkeys(chosen, "passed")
    opened = [(done.out / row["transcript"]).read_text("utf-8") for row in done.report["scenarios"]]
    assert {url for text in opened for url in urls if url in text} == {*urls}


def test_only_what_runs_already_has_others_beside_it() -> None:
    made = prepare(Request(find(VA)))
    with pytest.raises(
        UsageError, match="--beside is for what runs already, at ws:// or wss://, and not for"
    ):
        widened(made, ("ws://127.0.0.1:1",))
    assert widened(made, ()) is made


def test_where_several_run_no_operator_acts_on_one_of_them(tmp_path: Path) -> None:
    config, pack = tmp_path / "ics.toml", find("awp@0.1-draft.7")
    config.write_text('[ics.operator]\nestop_engage = "kill -USR1 7"\nestop_release = "kill -USR2 7"\n')
    one, other = "ws://127.0.0.1:1", ("ws://127.0.0.1:2",)
    request = Request(pack, one, config=config)
    with pytest.raises(
        UsageError, match=r"--beside does not go with .* in estop-lockstep one would act on a "
    ):
        widened(prepare(request), other)
    calm = prepare(replace(request, scenarios=("action-*",)))
    assert widened(calm, other).plan.more == other
    assert widened(prepare(replace(request, config=None)), other).plan.more == other


# ── how many the implementation bears ────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("target", "sessions", "jobs", "said"),
    [
        ("stdio:x", 0, 8, ""),
        ("launch:x", 0, 8, ""),
        ("stdio:x", 3, 3, "at most 3 scenarios at a time, since the ICS says so (sessions = 3)"),
        ("ws://127.0.0.1:1", 0, 1, "at most 1 scenario at a time, since the ICS does not say `sessions`"),
        ("WSS://127.0.0.1:1", 2, 2, "at most 2 scenarios at a time, since the ICS says so (sessions = 2)"),
        ("ws://127.0.0.1:1", 8, 8, ""),
    ],
)
def test_as_many_at_a_time_as_the_implementation_bears(
    target: str, sessions: int, jobs: int, said: str, tmp_path: Path
) -> None:
    ics = tmp_path / "conformance.toml"
    ics.write_text(f'target = "{target}"\n' + (f"sessions = {sessions}\n" if sessions else ""))
    campaign = prepare(Request(find(VA), config=ics, jobs=8))
    assert (campaign.jobs, campaign.alone) == (jobs, said)


@pytest.mark.parametrize(
    ("target", "operator", "jobs", "said"),
    [
        ("ws://127.0.0.1:1", True, 1, "at most 1 scenario at a time, since in estop-lockstep an operator "),
        ("ws://127.0.0.1:1", False, 8, ""),
        ("launch:x", True, 8, ""),
    ],
)
def test_what_an_operator_does_concerns_all_that_goes_on(
    target: str, operator: bool, jobs: int, said: str, tmp_path: Path
) -> None:
    ics = tmp_path / "conformance.toml"
    facts = '[ics.operator]\nestop_engage = "x"\nestop_release = "y"\n' if operator else ""
    ics.write_text(f'target = "{target}"\nsessions = 8\n{facts}')
    campaign = prepare(Request(find("awp"), config=ics, jobs=8))
    assert campaign.jobs == jobs
    assert campaign.alone.startswith(said)
    assert bool(campaign.alone) is bool(said)
