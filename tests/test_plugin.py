"""The plugin as its users meet it: pytest runs in a folder of their own, against real implementations."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from conformance import packs

pytest_plugins = ["pytester"]

PROTOCOL = "va-agent-protocol@0.1.0"
AGENT = packs.find(PROTOCOL).fixtures / "targets" / "agent.py"


def run(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", "--conformance", PROTOCOL, *args)


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
    run(pytester, "-k", "blocked", "--junitxml", "j.xml")
    names = {case.get("name") for case in ElementTree.parse(pytester.path / "j.xml").iter("testcase")}
    assert names >= {"VA-EVD-003", "VA-LIF-001", "everything else"}


def test_workers_of_xdist_share_the_scenarios_and_one_report(pytester: pytest.Pytester) -> None:
    result = run(pytester, "-n", "2", "--conformance-target", "reference:no-failure-detail")
    assert result.parseoutcomes()["failed"] == 3
    value = report(pytester)
    assert value["complete"] is True
    assert [row["id"] for row in value["requirements"] if row["verdict"] == "fail"] == ["VA-EVD-002"]
    assert sorted(path.name for path in (pytester.path / "conformance-report").iterdir()) == [
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
    result = pytester.runpytest_subprocess("-k", "blocked")
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
    ],
)
def test_a_wrong_option_is_one_sentence(pytester: pytest.Pytester, args: tuple[str, ...], said: str) -> None:
    result = pytester.runpytest_subprocess(*args)
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
    result.stdout.fnmatch_lines(["*StepFailed: inconclusive: blocked did not come within 0.2 s"])
    names = [run["name"] for run in report(pytester)["scenarios"]]
    assert len(names) == 2
    assert all(name.startswith("own-") for name in names)


def test_the_example_of_the_manual_runs(pytester: pytest.Pytester) -> None:
    manual = (Path(__file__).parents[1] / "docs" / "plugin.md").read_text(encoding="utf-8")
    example = manual.partition("```python\n")[2].partition("```")[0]
    assert "conformance_session" in example
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
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1, skipped=1)
    assert not (pytester.path / "conformance-report").exists()


def test_loading_the_plugin_imports_nothing_of_the_kit(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_imports():
            loaded = {name for name in sys.modules if name.split(".")[0] == "conformance"}
            assert loaded == {"conformance", "conformance.plugin"}
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
