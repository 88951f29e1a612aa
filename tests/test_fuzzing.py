"""Negative tests of live implementations: what is caught, shrunk and shown again, and who is not blamed."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from conformance import campaign, formats, fuzzing, packs, reproducing
from conformance.campaign import Request
from conformance.cli import main
from conformance.errors import BadConfiguration, UsageError
from conformance.fuzzing import Budget, Fuzz
from conformance.generation.refusals import REFUSAL
from conformance.runner import run_one

TRIED = {
    ("va-agent-protocol", "reference"): "",
    ("va-agent-protocol", "reference:accepts-anything"): "accepted",
    ("atep", "reference"): "",
    ("atep", "reference:credulous-after-nonsense"): "accepted",
    ("atep", "reference:rejects-its-own-work"): "other reason",
    ("ossa-a2a", "reference:bursts"): "died",
    ("awp", "reference:refuses-as-busy"): "other reason",
}
"""Target → how it fails, if it does."""


def tried(out: Path, name: str, target: str) -> dict[str, Any]:
    prepared = fuzzing.prepared(Request(packs.find(name), target, out=out))
    Fuzz(prepared, Budget(24 if target == "reference" else None, seed=7), is_brief=True).finish()
    return prepared.write(complete=True)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], tuple[Path, dict[str, Any]]]:
    """Everything at once: most of the time, both sides wait for the other."""
    places = {one: tmp_path_factory.mktemp("fuzz") for one in TRIED}
    with ThreadPoolExecutor(len(TRIED)) as pool:
        made = pool.map(lambda one: tried(places[one], *one), TRIED)
        return {one: (places[one], value) for one, value in zip(TRIED, made, strict=True)}


@pytest.mark.parametrize("one", TRIED, ids=" ".join)
def test_a_fault_is_caught_and_the_honest_are_not_blamed(
    reports: dict[tuple[str, str], tuple[Path, dict[str, Any]]], one: tuple[str, str]
) -> None:
    _, report = reports[one]
    told = report["fuzz"]
    assert [row["sort"] for row in told["failures"]] == ([TRIED[one]] if TRIED[one] else [])
    assert told["inconclusive"] == []
    assert told["refused"] >= 12 or told["failures"]
    [row] = [row for row in report["requirements"] if row["id"] == REFUSAL]
    assert row["verdict"] == ("fail" if TRIED[one] else "pass")
    assert [*formats.errors("report", json.loads(json.dumps(report, default=str)))] == []
    assert {run["status"] for run in report["scenarios"]} <= {"passed", "failed"}


@pytest.mark.parametrize(
    "one",
    [("va-agent-protocol", "reference:accepts-anything"), ("ossa-a2a", "reference:bursts")],
    ids=" ".join,
)
def test_the_written_scenario_shows_it_again_and_the_honest_pass_it(
    reports: dict[tuple[str, str], tuple[Path, dict[str, Any]]], one: tuple[str, str], tmp_path: Path
) -> None:
    out, report = reports[one]
    path = out / report["fuzz"]["failures"][0]["scenario"]
    assert path.stat().st_size < 4000
    for target, status in ((one[1], "failed"), ("reference", "passed")):
        request = Request(packs.find(one[0]), target, out=tmp_path, scenarios=(str(path),))
        prepared = campaign.prepare(request)
        assert [scenario.name for scenario in prepared.scenarios] == [path.stem]
        run = prepared.record(run_one(prepared.plan, prepared.scenarios[0]))
        assert run.status == status, run.reason


def test_what_fails_only_after_another_message_is_shown_with_it(
    reports: dict[tuple[str, str], tuple[Path, dict[str, Any]]],
) -> None:
    out, report = reports["atep", "reference:credulous-after-nonsense"]
    [failure] = report["fuzz"]["failures"]
    steps = yaml.safe_load((out / failure["scenario"]).read_text(encoding="utf-8"))["steps"]
    assert sum("breaks" in step for step in steps) == 2
    assert "only after another message" in failure["message"]


HANGS = """
import json, sys, time
first = None
for line in sys.stdin:
    value = json.loads(line)
    own = {name: len(str(value.get(name))) for name in ("correlationId", "timestamp")}
    first = first or {**value, **own}
    if {**value, **own} != first:
        time.sleep(600)
    task = value["payload"]["task"]["id"]
    said = {**value, "type": "accepted", "sourceId": "x", "payload": {"taskId": task}}
    print(json.dumps(said), flush=True)
"""

REFUSES = """
import sys
for line in sys.stdin:
    pass
"""


def program(tmp_path: Path, text: str) -> tuple[str, Path]:
    path, config = tmp_path / "agent.py", tmp_path / "agent.toml"
    path.write_text(text, encoding="utf-8")
    config.write_text('[implementation]\nname = "x"\nversion = "1"\n', encoding="utf-8")
    return f"stdio:{sys.executable} {path}", config


def test_one_that_takes_no_valid_message_is_not_blamed(tmp_path: Path) -> None:
    target, config = program(tmp_path, REFUSES)
    request = Request(packs.find("va-agent-protocol"), target, config=config, out=tmp_path, patience=0.05)
    prepared = fuzzing.prepared(request)
    fuzz = Fuzz(prepared, Budget(10, seed=1))
    fuzz.finish()
    assert (fuzz.tally.tried, fuzz.tally.failures) == (0, [])
    assert "the valid message is not taken" in fuzz.tally.inconclusive[0]
    [run] = prepared.runs
    assert (tmp_path / run.transcript).is_file()
    assert not any(finding.requirement == REFUSAL for finding in run.evidence.findings)


def test_one_that_dies_whatever_is_sent_is_not_blamed_for_a_message(tmp_path: Path) -> None:
    peer = Path(__file__).parent / "peers" / "accepts_and_crashes.py"
    request = Request(packs.find("va-agent-protocol"), f"stdio:{sys.executable} {peer}", out=tmp_path)
    fuzz = Fuzz(fuzzing.prepared(request), Budget(4, seed=1))
    fuzz.finish()
    assert (fuzz.tally.refused, fuzz.tally.failures) == (0, [])
    assert fuzz.tally.inconclusive


def test_what_is_said_before_anything_is_tried_is_judged_and_kept(tmp_path: Path) -> None:
    peer = Path(__file__).parent / "peers" / "garbage.py"
    words = ["run", "va-agent-protocol", "--target", f"stdio:{sys.executable} {peer}", "--fuzz"]
    done = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "out")])
    assert done.exit_code == 1, done.output
    assert "FAIL WIRE-NOISE" in done.output
    assert (tmp_path / "out" / "transcripts" / "fuzz-dispatch-0.jsonl").is_file()


def test_one_that_hangs_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproducing, "HUNG", "1 s")
    target, config = program(tmp_path, HANGS)
    request = Request(packs.find("va-agent-protocol"), target, config=config, out=tmp_path, patience=0.3)
    prepared = fuzzing.prepared(request)
    Fuzz(prepared, Budget(None, seed=1), is_brief=True).finish()
    [failure] = prepared.write(complete=True)["fuzz"]["failures"]
    assert failure["sort"] == "hung"
    assert "deadline: 1 s" in (tmp_path / failure["scenario"]).read_text(encoding="utf-8")
    assert prepared.runs[-1].status == "failed"


def test_the_seed_gives_the_order_and_the_budget_how_much(tmp_path: Path) -> None:
    texts = []
    for seed in (5, 5, 6):
        prepared = fuzzing.prepared(Request(packs.find("atep"), "reference", out=tmp_path))
        fuzz = Fuzz(prepared, Budget(6, seed=seed))
        fuzz.finish()
        assert (fuzz.tally.tried, fuzz.tally.seed) == (6, seed)
        assert fuzz.tally.left > 20
        steps = fuzz.results[0].scenario.steps
        texts.append([step.args["raw"] for step in steps if step.verb == "raw"])
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize(
    ("written", "budget"),
    [("200", Budget(200, None, 3)), ("30s", Budget(None, 30.0, 3)), ("1 s", Budget(None, 1.0, 3))],
)
def test_a_budget_is_a_number_or_a_time(written: str, budget: Budget) -> None:
    assert fuzzing.budget(written, 3) == budget


@pytest.mark.parametrize("written", ["", "0", "-1", "1.5s", "many", "5m"])
def test_other_budgets_are_refused(written: str) -> None:
    with pytest.raises(UsageError, match="a budget is a number of trials"):
        fuzzing.budget(written, None)


def test_options_about_scenarios_are_refused() -> None:
    request = Request(packs.find("atep"), scenarios=("success",), jobs=2)
    with pytest.raises(UsageError, match="leave out --scenario, --jobs"):
        fuzzing.requested(request, Budget())


def test_a_role_of_which_the_pack_says_nothing_cannot_be_tried() -> None:
    with pytest.raises(BadConfiguration, match="does not say how a message is refused by the engine"):
        fuzzing.prepared(Request(packs.find("atep"), role="engine"))


def test_a_run_leaves_a_page_and_a_bundle_that_agrees_and_nothing_of_an_earlier_one(tmp_path: Path) -> None:
    stale, bundle = tmp_path / "fuzz" / "fuzz-dispatch-hung.yaml", tmp_path / "all.zip"
    stale.parent.mkdir()
    stale.touch()
    (tmp_path / "report.json").touch()
    words = ["run", "va-agent-protocol", "--fuzz", "--budget", "1", "--seed", "1", "--bundle", str(bundle)]
    done = CliRunner().invoke(main, [*words, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert f"page: {tmp_path / 'report.html'}" in done.output
    assert not stale.exists()
    assert (tmp_path / "report.html").stat().st_size > 1000
    assert " agrees (" in CliRunner().invoke(main, ["verify", str(bundle)]).output
