"""The plugin as its users meet it: pytest runs in a folder of their own, against real implementations."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import forks
import pytest

from conformance import packs

pytest_plugins = ["pytester"]

PROTOCOL = "va-agent-protocol@0.1.0"
AGENT = packs.find(PROTOCOL).fixtures / "targets" / "agent.py"


OTHERS = ("-p", "no:hypothesispytest", "-p", "no:pytest_cov")
"""Plugins of others that take most of the time that pytest takes to start."""


def run(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    without = ("-p", "no:cacheprovider", *OTHERS, *(() if "-n" in args else ("-p", "no:xdist")))
    return forked(pytester, *without, "--conformance", PROTOCOL, *args)


def forked(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    """A run of pytest in a process of its own."""
    return pytester.run(*forks.command("pytest"), f"--basetemp={pytester.path / 'temporary'}", *args)


def blocks(language: str) -> list[str]:
    """The fenced blocks of the plugin's manual in this language."""
    manual = (Path(__file__).parents[1] / "docs" / "plugin.md").read_text(encoding="utf-8")
    return [part.partition("```")[0] for part in manual.split(f"```{language}\n")[1:]]


def report(pytester: pytest.Pytester, folder: str = "conformance-report") -> Any:
    return json.loads((pytester.path / folder / "report.json").read_text(encoding="utf-8"))


def test_the_packs_scenarios_run_without_any_test_file(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--conformance-report", "out")
    assert result.ret == 0
    assert result.parseoutcomes()["passed"] > 30
    assert "failed" not in result.parseoutcomes()
    result.stdout.fnmatch_lines(
        ["collected [3-9][0-9] items", "claim: conformant", "report: *out?report.json"]
    )
    value = report(pytester, "out")
    assert value["complete"] is True
    assert {run["name"] for run in value["scenarios"]} == {
        "happy-path",
        "failure",
        "blocked",
        "cancel",
        "retry",
        "replacement",
        "gates",
        "evaluation",
        "timeout",
    }
    assert all((pytester.path / "out" / run["transcript"]).is_file() for run in value["scenarios"])


def test_a_scenario_is_a_collector_and_a_requirement_an_item(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--collect-only", "-q")
    result.stdout.fnmatch_lines([f"{PROTOCOL}::cancel::VA-LIF-001", f"{PROTOCOL}::cancel::everything else"])
    assert not (pytester.path / "conformance-report" / "report.json").exists()


def test_negative_tests_are_one_more_item(pytester: pytest.Pytester) -> None:
    asked = ("--conformance-fuzz", "6", "--conformance-seed", "5", "--conformance-target", "reference:bursts")
    result = run(pytester, *asked, "-k", "fuzz")
    assert result.parseoutcomes() | {"deselected": 0} == {"passed": 1, "deselected": 0}
    told = report(pytester)["fuzz"]
    assert (told["seed"], told["tried"], told["refused"] + told["survived"]) == (5, 6, 6)


def test_it_works_without_xdist_and_with_strict_markers(pytester: pytest.Pytester) -> None:
    result = run(pytester, "-p", "no:xdist", "--strict-markers", "-W", "error", "-k", "blocked")
    assert result.ret == 0
    assert "warnings" not in result.parseoutcomes()


def test_a_failing_requirement_fails_its_item_and_no_other(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--conformance-target", "reference:no-block-reason")
    assert result.ret == 1
    assert result.parseoutcomes()["failed"] == 1
    result.stdout.fnmatch_lines(
        [
            "*blocked: VA-EVD-003*",
            "VA-EVD-003 (MUST): *blockReason*",
            "*transcripts/blocked.jsonl:*blockReason*missing*",
            "*Captured wire (blocked.jsonl)*",
            "  #2 *sent as orchestrator: {*",
            "> #* received from agent: {*blocked*",
            "claim: non-conformant",
        ]
    )
    assert "Traceback" not in result.stdout.str()


def test_a_requirement_that_no_scenario_names_still_fails(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--conformance-target", "reference:banner", "-k", "blocked")
    assert result.parseoutcomes()["failed"] == 1
    result.stdout.fnmatch_lines(["FAILED *blocked::everything else*WIRE-NOISE*"])


def test_k_selects_and_an_incomplete_run_says_so(pytester: pytest.Pytester) -> None:
    result = run(pytester, "-k", "cancel and LIF-001", "-v")
    result.stdout.fnmatch_lines([f"{PROTOCOL}::cancel::VA-LIF-001 PASSED*"])
    assert report(pytester)["complete"] is False


def test_junit_xml_holds_the_items(pytester: pytest.Pytester) -> None:
    run(pytester, "-k", "blocked", "--junitxml", "j.xml", "--conformance-target", "reference:no-block-reason")
    cases = {case.get("name"): case for case in ElementTree.parse(pytester.path / "j.xml").iter("testcase")}
    assert set(cases) >= {"VA-EVD-003", "VA-LIF-001", "everything else"}
    facts = {one.get("name"): one.get("value") for one in cases["VA-EVD-003"].iter("property")}
    assert facts == {
        "requirement": "VA-EVD-003",
        "level": "MUST",
        "scenario": "blocked",
        "verdict": "fail",
    }


def test_a_node_id_names_an_item_a_scenario_or_the_pack(pytester: pytest.Pytester) -> None:
    pytester.makeini(f"[pytest]\nconformance = {PROTOCOL}\n")
    pytester.makepyfile("def test_mine(): pass")
    mine = "test_a_node_id_names_an_item_a_scenario_or_the_pack.py"
    item = run(pytester, f"{PROTOCOL}::cancel::VA-LIF-001", "-v")
    item.assert_outcomes(passed=1)
    item.stdout.fnmatch_lines(["*collected 1 item", f"{PROTOCOL}::cancel::VA-LIF-001 PASSED*"])
    some = run(
        pytester, "--collect-only", "-q", f"{PROTOCOL}::blocked", f"{PROTOCOL}::retry::VA-EVD-002", mine
    )
    nodes = [line for line in some.outlines if "::" in line]
    assert {node.split("::")[1] for node in nodes} == {"test_mine", "blocked", "retry"}
    assert [node for node in nodes if "retry" in node] == [f"{PROTOCOL}::retry::VA-EVD-002"]
    wrong = run(pytester, f"{PROTOCOL}::cancel::VA-EVD-002")
    assert wrong.ret == pytest.ExitCode.USAGE_ERROR
    wrong.stderr.fnmatch_lines([f"ERROR: not found: {PROTOCOL}::cancel::VA-EVD-002"])


def test_who_names_a_file_gets_that_alone_and_touches_no_report(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_mine(): pass")
    run(pytester, "test_who_names_a_file_gets_that_alone_and_touches_no_report.py").assert_outcomes(passed=1)
    assert not (pytester.path / "conformance-report").exists()


def test_collection_shows_what_each_item_is_about(pytester: pytest.Pytester) -> None:
    result = run(
        pytester, "--collect-only", "--conformance-scenario", "bl*", "--conformance-requirement", "VA-E*"
    )
    result.stdout.fnmatch_lines(
        [
            "  <Scenario blocked: A task that needs something from outside is reported as blocked*>",
            "    <Requirement VA-EVD-003 (MUST): A blocked execution says why: its evidence has *>",
        ]
    )
    shown = [line for line in result.outlines if "<Requirement" in line]
    assert shown
    assert all("<Requirement VA-EVD-" in line for line in shown)


def test_markers_select(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import pytest\n@pytest.mark.conformance\ndef test_mine(): pass\ndef test_other(): pass"
    )
    listed = run(
        pytester, "--collect-only", "-q", "--strict-markers", "-m", "conformance and not xdist_group"
    )
    assert [line for line in listed.outlines if "::" in line] == ["test_markers_select.py::test_mine"]
    should = run(pytester, "--collect-only", "-q", "-m", "conformance(level='SHOULD')")
    found = {line.split("::")[2] for line in should.outlines if line.startswith(PROTOCOL)}
    levels = packs.find(PROTOCOL).requirements
    assert found
    assert all(levels[name].level.value == "SHOULD" for name in found)


def test_a_known_failure_is_xfailed_and_one_that_is_mended_fails(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import pytest

        def pytest_collection_modifyitems(items):
            for item in items:
                if "blocked::VA-EVD-003" in item.nodeid or "blocked::VA-LIF-001" in item.nodeid:
                    item.add_marker(pytest.mark.xfail(strict=True))
        """
    )
    result = run(pytester, "-k", "blocked", "--conformance-target", "reference:no-block-reason")
    result.assert_outcomes(xfailed=1, failed=1, passed=5)
    result.stdout.fnmatch_lines(["*XPASS(strict)*"])
    absent = run(
        pytester, "-k", "blocked and 003", "--conformance-target", "stdio:no-such-program",
        "--conformance-config", str(AGENT.with_suffix(".toml")), "-v",
    )  # fmt: skip
    absent.assert_outcomes(errors=1)
    absent.stdout.fnmatch_lines(["*::blocked::VA-EVD-003 UNREACHABLE*"])


def test_what_a_baseline_knows_is_xfailed_and_what_is_stale_fails_the_run(pytester: pytest.Pytester) -> None:
    known = '[[known]]\nrequirement = "{}"\nscenario = "blocked"\nreason = "not yet"\nexpires = {}\n'
    Path("known.toml").write_text(known.format("VA-EVD-003", "2999-01-01"), encoding="utf-8")
    arguments = ("-k", "blocked", "--conformance-target", "reference:no-block-reason", "-rx")
    result = run(pytester, *arguments, "--conformance-baseline", "known.toml")
    assert result.ret == 0
    result.assert_outcomes(xfailed=1, passed=6)
    result.stdout.fnmatch_lines(
        [
            "baseline *known.toml: 1 expected, 0 unexpected, 0 stale, 0 unseen",
            "XFAIL *::blocked::VA-EVD-003 - *known until 2999-01-01: not yet",
        ]
    )
    assert report(pytester)["claim"]["status"] == "non-conformant"
    with Path("known.toml").open("a", encoding="utf-8") as file:
        file.write(known.format("VA-LIF-001", "2999-01-01"))
    stale = run(pytester, *arguments, "--conformance-baseline", "known.toml")
    assert stale.ret == pytest.ExitCode.TESTS_FAILED
    stale.assert_outcomes(xfailed=1, passed=6)
    stale.stdout.fnmatch_lines(["*stale, VA-LIF-001 in blocked: it does not fail any more; remove it"])


def test_a_warning_passes_and_is_told(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        agent="""
        import json, sys

        order = json.loads(sys.stdin.readline())
        common = {"protocol": order["protocol"], "version": "0.1.0", "correlationId": order["correlationId"]}
        task = order["payload"]["task"]["id"]

        def say(kind, payload):
            stamp = {"type": kind, "timestamp": order["timestamp"], "payload": payload}
            print(json.dumps({**common, **stamp}), flush=True)

        evidence = {"taskId": task, "status": "blocked"}
        evidence["blockReason"] = {"type": "permission", "description": "no key"}
        # VA-EVD-004, a SHOULD: this belongs to failed evidence only.
        evidence["failureDetail"] = {"failureType": "unknown", "attempted": "a", "hypothesis": "h"}
        say("accepted", {"taskId": task})
        say("blocked", {"evidence": evidence})
        sys.stdin.read()
        """
    )
    result = run(
        pytester, "-v", "-k", "blocked", "--conformance-target", f"stdio:{sys.executable} agent.py",
        "--conformance-config", str(AGENT.with_suffix(".toml")),
    )  # fmt: skip
    result.assert_outcomes(passed=7)
    result.stdout.fnmatch_lines(["*::blocked::VA-EVD-004 WARNED*", "WARN VA-EVD-004 (SHOULD): *"])


def test_what_the_implementation_wrote_stands_in_the_failure(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        agent="""
        import sys
        sys.stderr.write("no idea what that means\\n")
        sys.stdin.readline()
        """
    )
    result = run(
        pytester, "-k", "blocked and 003", "--conformance-target", f"stdio:{sys.executable} agent.py",
        "--conformance-config", str(AGENT.with_suffix(".toml")), "-v",
    )  # fmt: skip
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*::blocked::VA-EVD-003 INCONCLUSIVE*",
            "*Captured wire (blocked.jsonl)*",
            "*the connection ended, by agent: *",
            "*Captured stderr of the implementation*",
            "no idea what that means",
        ]
    )


def test_the_report_is_written_as_it_goes(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import json, os, pytest

        @pytest.hookimpl(trylast=True)
        def pytest_runtest_logreport(report):
            if report.when == "call" and "cancel" in report.nodeid:
                os._exit(9)  # as if it were killed
        """
    )
    run(pytester, "-k", "blocked or cancel")
    value = report(pytester)
    assert value["complete"] is False
    assert [one["name"] for one in value["scenarios"]] == ["blocked", "cancel"]


def test_a_worker_that_dies_and_a_stop_at_the_first_failure_leave_a_report(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import os\ndef test_dies(): os._exit(3)")
    fault = ("--conformance-target", "reference:no-block-reason")
    died = run(pytester, "-n", "2", "-k", "dies or blocked", *fault)
    assert died.parseoutcomes()["failed"] == 2
    value = report(pytester)
    assert value["complete"] is False
    assert [row["id"] for row in value["requirements"] if row["verdict"] == "fail"] == ["VA-EVD-003"]
    stopped = run(pytester, "-x", "-k", "not dies", *fault)
    stopped.assert_outcomes(failed=1, passed=4)
    assert [one["name"] for one in report(pytester)["scenarios"]] == ["blocked"]
    assert report(pytester)["complete"] is False
    assert not [path.name for path in (pytester.path / "conformance-report").iterdir() if path.name[0] == "."]


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("spread", [("-p", "no:xdist"), ("-n", "2")], ids=["alone", "workers"])
def test_ctrl_c_leaves_a_report_and_no_process(pytester: pytest.Pytester, spread: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "pytest", *OTHERS, *spread, "--conformance", PROTOCOL, "-k", "cancel"]
    process = subprocess.Popen(command, cwd=pytester.path, stdout=subprocess.DEVNULL, start_new_session=True)
    out = pytester.path / "conformance-report"
    for _ in range(3000):
        if (out / "transcripts" / "cancel.jsonl").is_file():
            break
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=30) == pytest.ExitCode.INTERRUPTED
    value = report(pytester)
    assert value["complete"] is False
    assert [one["status"] for one in value["scenarios"]] == ["interrupted"]
    assert {path.name for path in out.iterdir()} == {"report.html", "report.json", "stderr", "transcripts"}


def test_the_last_failures_run_again(pytester: pytest.Pytester) -> None:
    args = (*OTHERS, "-p", "no:xdist", "--conformance", PROTOCOL, "-k", "blocked")
    forked(pytester, *args, "--conformance-target", "reference:no-block-reason")
    again = forked(pytester, *args, "--lf", "-v")
    again.assert_outcomes(passed=1)
    again.stdout.fnmatch_lines([f"{PROTOCOL}::blocked::VA-EVD-003 PASSED*"])


def test_a_vendors_repository_as_the_manual_shows_it(pytester: pytest.Pytester) -> None:
    [pyproject] = blocks("toml pyproject")
    shutil.copytree(AGENT.parent, pytester.path, dirs_exist_ok=True)
    shutil.copy(AGENT.parents[3] / "reference.py", pytester.path)
    (pytester.path / "agent.py").rename(pytester.path / "my_agent.py")
    (pytester.path / "agent.toml").rename(pytester.path / "conformance.toml")
    written = pyproject.replace("python my_agent", f"{sys.executable} my_agent")
    (pytester.path / "pyproject.toml").write_text(written, encoding="utf-8")
    pytester.makepyfile("def test_mine(): pass")
    [called] = [line for line in blocks("yml")[0].splitlines() if "run: pytest" in line]
    arguments = called.partition("pytest ")[2].split()
    result = pytester.runpytest_subprocess(*OTHERS, "-p", "no:cacheprovider", *arguments)
    assert result.ret == 0
    value = report(pytester, "build/conformance")
    assert (value["claim"]["status"], value["complete"]) == ("conformant", True)
    assert value["implementation"]["name"] == "reference-agent"
    assert (pytester.path / "conformance.xml").is_file()


def test_own_scenarios_of_one_name_are_two(pytester: pytest.Pytester) -> None:
    for folder, role in (("a", "orchestrator"), ("b", "agent")):
        (pytester.path / folder).mkdir()
        (pytester.path / folder / "cancel.conformance.yaml").write_text(
            f"title: Mine\nrole: {role}\ncovers: [VA-COR-001]\nsteps:\n  - wait: 1 ms\n", encoding="utf-8"
        )
    result = run(pytester, "a/cancel.conformance.yaml", "b/cancel.conformance.yaml", "-rs")
    result.assert_outcomes(passed=1, skipped=3)
    result.stdout.fnmatch_lines(
        ["SKIPPED * b/cancel.conformance.yaml:1: not-applicable: in it the kit plays *"]
    )
    [mine] = report(pytester)["scenarios"]
    assert mine["name"].startswith("own-a-cancel-")


def test_workers_of_xdist_share_the_scenarios_and_one_report(pytester: pytest.Pytester) -> None:
    result = run(pytester, "-n", "2", "--conformance-target", "reference:no-failure-detail")
    assert result.parseoutcomes()["failed"] == 3
    value = report(pytester)
    assert value["complete"] is True
    assert [row["id"] for row in value["requirements"] if row["verdict"] == "fail"] == ["VA-EVD-002"]
    assert sorted(path.name for path in (pytester.path / "conformance-report").iterdir()) == [
        "report.html",
        "report.json",
        "stderr",
        "transcripts",
    ]


def test_what_the_ics_does_not_offer_is_skipped_with_the_reason(pytester: pytest.Pytester) -> None:
    pytester.makefile(".toml", conformance='[implementation]\nname = "x"\n')
    result = run(pytester, "--conformance-target", f"stdio:{sys.executable} {AGENT}", "-rs")
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] > 0
    assert outcomes["skipped"] > 10
    result.stdout.fnmatch_lines(["*not-applicable: the ICS does not say*"])


def test_a_kit_error_is_an_error_and_no_failure(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--conformance-target", "stdio:no-such-program-anywhere")
    outcomes = result.parseoutcomes()
    assert "failed" not in outcomes
    assert outcomes["errors"] > 0
    result.stdout.fnmatch_lines(["cannot start 'no-such-program-anywhere': *", "claim: not-evaluated"])


def test_a_mute_implementation_is_inconclusive_and_asked_once(pytester: pytest.Pytester) -> None:
    program = pytester.makepyfile(mute="import sys\nsys.stdin.read()\n")
    target = f"stdio:{sys.executable} {program}"
    ics = str(AGENT.with_suffix(".toml"))
    quick = ("--conformance-config", ics, "--conformance-patience", "0.02")
    result = run(pytester, "--conformance-target", target, *quick)
    assert result.ret == 1
    assert "passed" not in result.parseoutcomes()
    result.stdout.fnmatch_lines(
        ["inconclusive: the implementation said nothing*", "inconclusive: not run, since*"]
    )


def test_options_can_stand_in_the_ini_file(pytester: pytest.Pytester) -> None:
    pytester.makeini(f"[pytest]\nconformance = {PROTOCOL}\nconformance_report = from-ini\n")
    result = forked(pytester, "-k", "blocked")
    assert result.ret == 0
    assert report(pytester, "from-ini")["pack"]["protocol"] == "va-agent-protocol"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--conformance", "nonsense"), "there is no pack 'nonsense'; there is *va-agent-protocol@0.1.0*"),
        (("--conformance", PROTOCOL, "--conformance-target", "carrier-pigeon:x"), "*is no target*stdio:*"),
        (("--conformance", PROTOCOL, "--conformance-target", "reference:nothing"), "*no fault 'nothing'*"),
        (("--conformance", PROTOCOL, "--conformance-role", "judge"), "*no role 'judge'*"),
        (("--conformance", PROTOCOL, "--conformance-config", "absent.toml"), "*absent.toml cannot be read*"),
        (("--conformance", PROTOCOL, "--conformance-patience", "long"), "*is a number*"),
        (("--conformance", PROTOCOL, "--conformance-baseline", "none.toml"), "*none.toml does not exist*"),
    ],
)
def test_a_wrong_option_is_one_sentence(pytester: pytest.Pytester, args: tuple[str, ...], said: str) -> None:
    result = forked(pytester, *args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {said}"])
    assert "Traceback" not in result.stderr.str()


def test_own_scenario_files_are_collected(pytester: pytest.Pytester) -> None:
    (pytester.path / "mine.conformance.yaml").write_text(
        "title: Mine\nrole: orchestrator\ncovers: [VA-COR-001]\nsteps:\n"
        "  - send: dispatch\n"
        "    payload: {task: {id: M-1, objective: o, acceptanceCriteria: [a]}}\n"
        "  - expect: completed\n",
        encoding="utf-8",
    )
    (pytester.path / "wrong.conformance.yaml").write_text("title: Wrong\n", encoding="utf-8")
    result = run(pytester, "-k", "mine or wrong", "-v", "--continue-on-collection-errors")
    result.stdout.fnmatch_lines(["mine.conformance.yaml::VA-COR-001 PASSED*"])
    result.stdout.fnmatch_lines(["*wrong.conformance.yaml:1:1: the member * is missing"])


def test_a_test_of_ones_own_drives_a_session(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        TASK = {"id": "T-1", "objective": "o", "acceptanceCriteria": ["a"]}

        def test_completes(conformance_session, conformance_pack, conformance_target):
            conformance_session.send("dispatch", payload={"task": TASK})
            assert conformance_session.expect("accepted")["payload"]["taskId"] == "T-1"
            conformance_session.expect("completed", within="5 s")
            conformance_session.never("progress", "50 ms")
            assert conformance_pack.protocol == "va-agent-protocol"
            assert conformance_target == "reference"

        def test_waits_in_vain(conformance_session):
            conformance_session.send("dispatch", payload={"task": TASK})
            conformance_session.expect("blocked", within="200 ms")
        """
    )
    result = run(pytester, "-k", "test_a_test")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*StepFailed: inconclusive: *blocked did not come within 0.2 s"])
    # The wire is shown where a session of one's own is left unmet, as where a scenario is.
    result.stdout.fnmatch_lines(["*Captured wire (own-*", "*sent as orchestrator: {*"])
    names = [run["name"] for run in report(pytester)["scenarios"]]
    assert len(names) == 2
    assert all(name.startswith("own-") for name in names)


def test_the_example_of_the_manual_runs(pytester: pytest.Pytester) -> None:
    [example] = [one for one in blocks("python") if "conformance_session" in one]
    pytester.makepyfile(example)
    run(pytester, "-k", "test_every_step_is_reported").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ('send("dispach", payload={})', "*has no kind 'dispach'*"),
        ('send("dispatch", payloads={})', "*payloads*"),
        ('expect("complet")', "*has no kind 'complet'*"),
        ('expect("completed", within="300")', "*300*"),
        ('wait("a while")', "*a while*"),
    ],
)
def test_a_step_that_is_wrong_is_refused_at_once(pytester: pytest.Pytester, call: str, said: str) -> None:
    pytester.makepyfile(f"def test_wrong(conformance_session):\n    conformance_session.{call}\n")
    result = run(pytester, "-k", "test_wrong")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"E *BadScenario: {said}"])


def test_what_ones_own_test_does_stops_no_scenario(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        def test_silence(conformance_session):
            with pytest.raises(AssertionError):
                conformance_session.expect("completed", within="100 ms")
        """
    )
    result = run(pytester, "-k", "silence or blocked")
    assert result.ret == 0
    assert "failed" not in result.parseoutcomes()


def test_to_list_the_tests_leaves_the_report_alone(pytester: pytest.Pytester) -> None:
    run(pytester, "-k", "blocked")
    before = (pytester.path / "conformance-report" / "report.json").read_text(encoding="utf-8")
    run(pytester, "--collect-only")
    assert (pytester.path / "conformance-report" / "report.json").read_text(encoding="utf-8") == before


def test_a_report_that_cannot_be_written_is_said_before_anything_runs(pytester: pytest.Pytester) -> None:
    pytester.makefile(".txt", taken="a file")
    result = run(pytester, "--conformance-report", "taken.txt")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: the report cannot be written to *taken.txt*"])
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


def test_a_broken_must_fails_the_test_that_showed_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_looks_fine(conformance_session):
            task = {"id": "T-1", "objective": "o", "acceptanceCriteria": ["a"]}
            conformance_session.send("dispatch", payload={"task": task})
            conformance_session.expect("completed", within="5 s")
        """
    )
    result = run(pytester, "-k", "looks_fine", "--conformance-target", "reference:duplicate-key")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["WIRE-KEYS (MUST): *"])


def test_without_the_option_the_plugin_does_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(): pass\ndef test_two(conformance_session): pass\n")
    result = forked(pytester)
    result.assert_outcomes(passed=1, skipped=1)
    assert not (pytester.path / "conformance-report").exists()


def test_loading_the_plugin_imports_nothing_of_the_kit(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_imports():
            loaded = {name for name in sys.modules if name.split(".")[0] == "conformance"}
            assert loaded == {"conformance", "conformance.plugin", "conformance.admission"}
            assert "click" not in sys.modules
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_transcripts_of_an_earlier_run_are_not_left_over(pytester: pytest.Pytester) -> None:
    old = pytester.path / "conformance-report" / "transcripts" / "gone.jsonl"
    old.parent.mkdir(parents=True)
    old.write_text("{}\n", encoding="utf-8")
    (old.parents[1] / "report.json").write_text("{}\n", encoding="utf-8")
    run(pytester, "-k", "blocked")
    assert not old.exists()
    assert (Path(old.parent) / "blocked.jsonl").is_file()
