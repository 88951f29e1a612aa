"""The kit against whole implementations: the references with each of their faults, and real worlds."""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import forks
import pytest
from live import PYTHON, Run, assert_sound, conformance_run

from conformance import packs, references, scenarios, selftest
from conformance.findings import Level
from conformance.packs import Pack
from conformance.report import RENDERERS

AT_ONCE = 6
"""Most of the time, both sides of a run wait for the other."""

RUNS = 100
"""With more runs of one scenario each, only those that concern a fault are run: each starts a process."""

SOME = 10
"""So many faults of one role are tried here, evenly chosen; `conformance selftest` tries them all."""

WORLD = "awp@0.1-draft.7"
"""What the world of another maker is built to."""

MODES = ("streaming", "lockstep")

SHORT = ("--watchdog-ms", "1500", "--heartbeat-ms", "1500")
"""A world that is not waited for long."""

BRIEF = ("handshake", "action-*", "cancel-*", "integer-range", "observer", "resubmission", "two-sessions")
"""Scenarios that do not wait for long."""

TIMED = {"AWP-SAF-001", "AWP-TIM-006", "AWP-CLK-007"}
"""What shows in any session that happens to last long enough."""

REFERENCES = [
    pytest.param(pack, role, id=f"{pack.name} {role}")
    for pack in packs.find_all()
    for role in pack.meta.get("reference", {})
]


@pytest.mark.parametrize(("pack", "role"), REFERENCES)
def test_each_fault_breaks_its_requirement_and_no_other(pack: Pack, role: str, tmp_path: Path) -> None:
    """And without a fault, nothing is broken, and everything that was tried could be decided.

    What only a SHOULD or a MAY asks for is no failure. Some of the faults, fewer of a revision that takes its
    reference implementation over from another; where all scenarios are too many, those that concern them.
    """
    faults = references.faults(pack, role)
    assert len(faults) >= 10
    most = SOME if pack.base is None else SOME // 3
    faults = dict(list(faults.items())[:: -(-len(faults) // most)])
    brief = len(faults) * len(scenarios.of_pack(pack, pack.peer_of(role))) > RUNS
    matrix = selftest.matrix(pack, role, tmp_path, AT_ONCE, faults, brief=brief)
    text = selftest.as_text([matrix])
    honest = matrix.honest
    assert (honest.code, matrix.blamed) == (0, []), text
    assert honest.report["complete"] is True
    assert set(faults.values()) - set(honest.of("pass", "not-applicable")) == set()
    found = {trial.fault: (trial.code == 1, trial.of("fail", "warn")) for trial in matrix.trials}
    musts = {name for name, row in pack.requirements.items() if row.level is Level.MUST}
    assert found == {fault: (name in musts, [name]) for fault, name in faults.items()}, text
    assert (matrix.code, {trial.outcome for trial in matrix.trials}) == (0, {"caught"})
    for trial in matrix.trials:
        assert f" {faults[trial.fault]} (" in RENDERERS["text"](trial.report)
    for trial in (honest, *matrix.trials):
        assert_sound(trial.out)


def test_the_reference_agent_over_a_websocket(tmp_path: Path) -> None:
    pack = packs.find("va-agent-protocol")
    program = shlex.quote(str(pack.fixtures / "targets" / "agent.py"))
    target = f"launch:{PYTHON} {program} --listen 127.0.0.1:0"
    config = str(pack.fixtures / "targets" / "agent.toml")
    honest = conformance_run(tmp_path / "honest", pack.name, target, "--config", config)
    assert (honest.code, honest.of("fail", "warn", "inconclusive")) == (0, [])
    assert set(honest.statuses.values()) == {"passed"}
    faulty = conformance_run(
        tmp_path / "faulty", pack.name, f"{target} --fault second-terminal", "--config", config
    )
    assert (faulty.code, faulty.of("fail", "warn")) == (1, ["VA-LIF-002"])


APPROVER = "the-token-of-an-approver"


def of_an_operator(folder: Path, pid: int, audit: Path) -> Path:
    """The ICS of a world that obeys its operator, keeps a log, and knows an approver."""
    (folder / "approver").write_text(APPROVER, encoding="utf-8")
    path = folder / "world.toml"
    path.write_text(
        '[connection.credentials.approver]\ntoken_file = "approver"\n'
        f"[ics.audit]\ndirectory = {json.dumps(str(audit))}\n"
        f'[ics.operator]\nestop_engage = "kill -USR1 {pid}"\nestop_release = "kill -USR2 {pid}"\n',
        encoding="utf-8",
    )
    return path


@contextmanager
def world(mode: str, *options: str) -> Iterator[tuple[str, int]]:
    """A world of another maker, on a free port: its URL, and the id of its process."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    program = Path(sys.executable).with_name("awp-sim")
    command = [
        str(program),
        "serve",
        "--mode",
        mode,
        "--port",
        str(port),
        *(options or ["--no-audit"]),
        *SHORT,
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        try:
            until = time.monotonic() + 30
            while True:
                assert child.poll() is None
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    assert time.monotonic() < until
                    time.sleep(0.1)
            yield f"ws://127.0.0.1:{port}", child.pid
        finally:
            child.terminate()
            child.wait(20)


@pytest.mark.peer
def test_real_worlds(tmp_path: Path) -> None:
    """One in each time model: nothing fails, everything that was tried could be decided.

    So do an operator's emergency stop, what an approver decides, and the log that it keeps.
    """
    approval = ("--features", "approval", "--approver-token", APPROVER, "--approval-timeout-ms", "2000")

    def certified(mode: str) -> Run:
        folder = tmp_path / mode
        folder.mkdir()
        with world(mode, "--audit-dir", str(folder / "audit"), *approval) as (url, pid):
            config = of_an_operator(folder, pid, folder / "audit")
            return conformance_run(folder, WORLD, url, "--config", str(config), timeout=200)

    with ThreadPoolExecutor(2) as pool:
        runs = dict(zip(MODES, pool.map(certified, MODES), strict=True))
    for mode, run in runs.items():
        assert (run.code, run.of("fail", "warn", "inconclusive")) == (0, []), run.text
        own = [name for name in run.of("pass") if name.startswith("AWP-")]
        assert len(own) >= 100
        assert set(run.statuses.values()) == {"passed", "not-applicable"}
        assert run.report["complete"] is True
        # It says itself which of the two it is.
        other = MODES[1 - MODES.index(mode)]
        for name in (f"action-{mode}", f"estop-{mode}", f"approval-{mode}", "audit"):
            assert run.statuses[name] == "passed"
        assert all(APPROVER not in path.read_text("utf-8") for path in run.out.rglob("*.*") if path.is_file())
        assert run.statuses[f"action-{other}"] == "not-applicable"


@pytest.mark.peer
def test_a_real_world_in_pytest(tmp_path: Path) -> None:
    """The same by the plugin, on two workers, in some scenarios: the same requirements pass."""
    brief = [word for name in BRIEF for word in ("-s", name)]
    with world("lockstep") as (url, _):
        by_command = conformance_run(tmp_path / "command", WORLD, url, *brief)
        command = [*forks.command("pytest"), "-q", "-n", "2", "-p", "no:cacheprovider"]
        options = ["--conformance", WORLD, "--conformance-target", url]
        options += ["--conformance-report", str(tmp_path / "plugin")]
        options += [word for name in BRIEF for word in ("--conformance-scenario", name)]
        # How this run of pytest itself is spread over workers is none of its business.
        alone = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
        done = subprocess.run(
            [*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=120, env=alone
        )
    assert done.returncode == 0, done.stdout
    report = json.loads((tmp_path / "plugin" / "report.json").read_text("utf-8"))
    passed = {row["id"] for row in report["requirements"] if row["verdict"] == "pass"}
    assert passed - TIMED == {*by_command.of("pass")} - TIMED
    assert report["complete"] is True


DEMO = f"ws-listen:{PYTHON} -m awp_sim demo --url {{url}}"
RESUMES = f"ws-listen:{PYTHON} {shlex.quote(str(Path(__file__).parent.parent / 'peers' / 'awp_resumes.py'))}"


@pytest.mark.peer
@pytest.mark.parametrize(
    ("target", "resumes", "only", "least"),
    [
        pytest.param(DEMO, "false", (), 20, id="demo"),
        pytest.param(RESUMES, "true", ("-s", "agent-[rsu]*"), 15, id="resumes"),
    ],
)
def test_a_real_agent(target: str, resumes: str, only: tuple[str, ...], least: int, tmp_path: Path) -> None:
    """Nothing is held against an agent of another maker, and what the kit says to it is what it announced."""
    config = tmp_path / "agent.toml"
    config.write_text(f"[ics]\nresumes = {resumes}\n")
    options = ("--role", "agent", "--config", str(config), "--jobs", "4", *only)
    run = conformance_run(tmp_path / "run", WORLD, target, *options)
    assert run.of("fail", "warn", "inconclusive") == [], run.text
    assert (run.code, run.report["complete"]) == (0, True)
    assert set(run.statuses.values()) <= {"passed", "not-applicable"}
    assert (run.statuses["agent-resume"] == "passed") is (resumes == "true")
    assert len([name for name in run.of("pass") if name.startswith("AWP-")]) >= least


def test_a_report_that_was_tampered_with_is_not_judged_alike(tmp_path: Path) -> None:
    """Whoever holds the transcripts can see that a verdict does not follow from them."""
    run = conformance_run(tmp_path, "va-agent-protocol", "reference:second-terminal", "-s", "happy-path")
    path = run.out / "report.json"
    path.write_text(path.read_text("utf-8").replace('"verdict": "fail"', '"verdict": "pass"', 1), "utf-8")
    with pytest.raises(AssertionError, match="VA-LIF-002"):
        assert_sound(run.out)
