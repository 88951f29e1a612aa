"""Anyone can judge a report again from its transcripts: it agrees, or it is said what does not, and why."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conformance import KIT, bundle, comparison, formats, packs, report, verification
from conformance.cli import main
from conformance.errors import InputUnreadable
from conformance.findings import Finding, Level
from conformance.report import attestation, evaluation

DEMO = Path(__file__).parents[1] / "reports" / "golden" / "demo"
"""The report of a real run of the reference agent with the fault `no-failure-detail`: one MUST fails."""

FAILED = "VA-EVD-002"


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A copy of it that may be spoilt."""
    return Path(shutil.copytree(DEMO, tmp_path / "demo"))


def conformance(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def value_of(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "report.json").read_text("utf-8")))


def rewrite(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    value = value_of(folder)
    change(value)
    (folder / "report.json").write_text(json.dumps(value), "utf-8")


def row_of(value: dict[str, Any], name: str) -> dict[str, Any]:
    return next(row for row in value["requirements"] if row["id"] == name)


def names(found: tuple[verification.Changed, ...]) -> list[str]:
    return [one.what for one in found]


def test_the_demo_is_a_report_in_which_one_requirement_failed() -> None:
    value = value_of(DEMO)
    assert [*formats.errors("report", value)] == []
    assert [row["id"] for row in value["requirements"] if row["verdict"] == "fail"] == [FAILED]


def test_what_was_not_changed_agrees(demo: Path) -> None:
    result = conformance("verify", demo)
    assert result.exit_code == 0, result.output
    assert f"{demo}: agrees (" in result.output


def test_a_byte_of_a_transcript(demo: Path) -> None:
    """Even where no verdict changes by it."""
    path = demo / "transcripts" / "failure.jsonl"
    text = path.read_text("utf-8")
    path.write_text(
        text.replace('"sourceId":"conformance"', '"sourceId":"conformancE"', 1), "utf-8", newline="\n"
    )
    found = verification.verify(report.read(demo), demo)
    assert (names(found.tampered), names(found.verdicts)) == (["transcripts/failure.jsonl"], [])
    assert conformance("verify", demo).exit_code == 1


def test_a_transcript_in_which_the_failure_was_mended(demo: Path) -> None:
    """The digest shows who cannot be believed, and what would have come of it."""
    detail = json.dumps({"failureType": "gate", "attempted": "a build", "hypothesis": "it broke"})
    changed = []
    for path in sorted((demo / "transcripts").iterdir()):
        text = path.read_text("utf-8")
        mended = text.replace('"status": "failed", ', f'"status": "failed", "failureDetail": {detail}, ')
        path.write_text(mended, "utf-8", newline="\n")
        changed += [f"transcripts/{path.name}"] if mended != text else []
    assert "transcripts/failure.jsonl" in changed
    result = conformance("verify", demo)
    said = [f"{name} is not what the report was made from" for name in changed]
    assert result.exit_code == 1
    assert f"{FAILED}: the report says fail, and it is pass\n" in result.output
    (why,) = (line for line in result.output.splitlines() if line.startswith("why: "))
    assert [one for one in said if one not in why] == []


def test_a_verdict_that_was_written_into_the_report(demo: Path) -> None:

    def forge(value: dict[str, Any]) -> None:
        row_of(value, FAILED).update(verdict="pass", reason="")
        value["kit"] = KIT
        value["pack"]["digest"] = evaluation.digest(packs.find("va-agent-protocol@0.1.0"))

    rewrite(demo, forge)
    found = verification.verify(report.read(demo), demo)
    (changed,) = found.verdicts
    assert (changed.what, changed.was, changed.now) == (FAILED, "pass", "fail")
    assert (found.causes, found.why) == ((), (verification.FORGED,))


def test_a_claim_that_was_written_into_the_report(demo: Path) -> None:
    rewrite(demo, lambda value: value["claim"].update(status="conformant"))
    assert names(verification.verify(report.read(demo), demo).verdicts) == ["claim"]


def test_facts_that_were_written_into_the_report(demo: Path) -> None:
    rewrite(demo, lambda value: value["ics"].update(invented=True))
    assert names(verification.verify(report.read(demo), demo).tampered) == ["ics"]


def test_another_kit_and_another_pack_are_causes_and_no_difference(demo: Path) -> None:
    def older(value: dict[str, Any]) -> None:
        value["kit"]["version"] = "0.0.1"
        value["pack"]["digest"] = "sha256:" + "0" * 64

    rewrite(demo, older)
    found = verification.verify(report.read(demo), demo)
    assert found.agrees
    assert names(found.causes) == ["kit", "pack"]
    assert "the report is of agent-conformance-kit 0.0.1" in conformance("verify", demo).output


def test_a_requirement_that_there_was_not_yet(demo: Path) -> None:
    rewrite(demo, lambda value: value["requirements"].remove(row_of(value, "VA-EVD-001")))
    (changed,) = verification.verify(report.read(demo), demo).verdicts
    assert (changed.what, changed.was) == ("VA-EVD-001", "missing")


@pytest.mark.parametrize("name", ["transcripts/gone.jsonl", "transcripts/../../elsewhere.jsonl"])
def test_a_transcript_that_is_not_there(demo: Path, name: str) -> None:
    (demo.parent / "elsewhere.jsonl").write_text("{}\n")
    rewrite(demo, lambda value: value["scenarios"][0].update(transcript=name))
    with pytest.raises(InputUnreadable):
        verification.verify(report.read(demo), demo)
    assert conformance("verify", demo).exit_code == 3


def test_a_protocol_that_this_kit_does_not_have(demo: Path) -> None:
    rewrite(demo, lambda value: value["pack"].update(revision="9.9"))
    result = conformance("verify", demo)
    assert (result.exit_code, "there is no pack" in result.output) == (2, True)


def test_what_steps_found_is_taken_from_the_report(demo: Path) -> None:
    """No transcript shows it, and whoever leaves it out changes the verdict."""
    step = {"requirement": "VA-EVD-001", "ok": False, "party": "agent", "seq": 3, "message": "It is so."}
    rewrite(demo, lambda value: value["scenarios"][0].update(steps=[step]))
    (changed, *_) = verification.verify(report.read(demo), demo).verdicts
    assert (changed.what, changed.now) == ("VA-EVD-001", "fail")
    rewrite(demo, lambda value: value["scenarios"][0].update(until=3))
    assert verification.verify(report.read(demo), demo).tampered == ()
    assert "VA-EVD-001" not in names(verification.verify(report.read(demo), demo).verdicts)


@pytest.mark.parametrize(
    "finding",
    [
        Finding("VA-CAN-002", True, "agent"),
        Finding("VA-CAN-002", False, "agent", 7, "so", "/a", (1, "b"), None, Level.SHOULD, True, "2", 8, 1),
    ],
)
def test_what_a_step_found_survives_the_report(finding: Finding) -> None:
    run = evaluation.Run("n", "t", "passed", "", 0, 1.0, "", "", (), evaluation.Evidence(), steps=(finding,))
    (row,) = json.loads(json.dumps(run.row()))["steps"]
    assert verification.finding(row) == finding


def test_as_json(demo: Path) -> None:
    rewrite(demo, lambda value: row_of(value, FAILED).update(verdict="pass", reason=""))
    result = conformance("verify", demo, "--format", "json")
    value = json.loads(result.output)
    assert (result.exit_code, value["agrees"]) == (1, False)
    assert [one["what"] for one in value["verdicts"]] == [FAILED]


# ── bundles ──────────────────────────────────────────────────────────────────────────────────────


def test_a_bundle_can_be_verified_and_holds_a_statement(demo: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.zip"
    assert conformance("verify", demo, "--bundle", path).exit_code == 0
    assert f"{path}: agrees (" in conformance("verify", path).output
    with zipfile.ZipFile(path) as file:
        said, listed = json.loads(file.read(bundle.STATEMENT)), set(file.namelist())
    assert said["_type"] == "https://in-toto.io/Statement/v1"
    assert said["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert {one["name"] for one in said["subject"]} == listed - {bundle.STATEMENT}
    assert "report.json" in listed
    assert (said["predicate"]["result"], said["predicate"]["failedTests"]) == ("FAILED", [FAILED])


def test_the_same_files_make_the_same_bundle(demo: Path, tmp_path: Path) -> None:
    made = []
    for name in ("one.zip", "other.zip"):
        bundle.write(tmp_path / name, demo, value_of(demo))
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]


def test_what_does_not_agree_is_not_bundled(demo: Path, tmp_path: Path) -> None:
    rewrite(demo, lambda value: value["claim"].update(status="conformant"))
    assert conformance("verify", demo, "--bundle", tmp_path / "out.zip").exit_code == 1
    assert not (tmp_path / "out.zip").exists()


@pytest.mark.parametrize(
    "name", ["report.json", "report.html", "transcripts/failure.jsonl", "transcripts/more.jsonl"]
)
def test_a_bundle_does_not_stand_in_the_place_of_the_report(demo: Path, name: str) -> None:
    before = {path: path.read_bytes() for path in demo.rglob("*") if path.is_file()}
    done = conformance("verify", demo, "--bundle", demo / name)
    assert done.exit_code == 2
    assert "would stand in the place of a file of the report" in done.output
    assert {path: path.read_bytes() for path in demo.rglob("*") if path.is_file()} == before


def test_a_rendering_does_not_stand_in_the_place_of_its_report(demo: Path, tmp_path: Path) -> None:
    before = (demo / "report.json").read_bytes()
    (tmp_path / "link.svg").symlink_to(demo / "report.json")
    for out in (demo / "report.json", tmp_path / "link.svg"):
        done = conformance("render", demo, "--format", "badge", "-o", out)
        assert done.exit_code == 2
        assert "is the report itself" in done.output
    assert (demo / "report.json").read_bytes() == before


def test_a_file_of_a_bundle_that_its_statement_denies(demo: Path, tmp_path: Path) -> None:
    bundle.write(tmp_path / "out.zip", demo, value_of(demo))
    with zipfile.ZipFile(tmp_path / "out.zip") as file:
        parts = {name: file.read(name) for name in file.namelist()}
    parts["report.html"] = b"another page"
    spoilt = zipped(tmp_path / "spoilt.zip", parts)
    result = conformance("verify", spoilt)
    assert (result.exit_code, "report.html is not what the bundle's statement says" in result.output) == (
        1,
        True,
    )


@pytest.mark.parametrize(
    "name",
    [
        "../report.json",
        "/report.json",
        "transcripts/../../x.jsonl",
        "transcripts/a/b.jsonl",
        "evil.py",
        "a\\b",
    ],
)
def test_what_belongs_to_no_report_is_not_unpacked(demo: Path, tmp_path: Path, name: str) -> None:
    spoilt = zipped(tmp_path / "spoilt.zip", {name: b"{}"})
    result = conformance("verify", spoilt)
    assert (result.exit_code, "belongs to no report" in result.output) == (3, True)
    assert not (tmp_path / "report.json").exists()


@pytest.mark.parametrize(
    ("parts", "said"),
    [({}, f"has no {bundle.STATEMENT}"), ({"report.json": b"{}"}, f"has no {bundle.STATEMENT}")],
)
def test_a_bundle_without_a_statement(tmp_path: Path, parts: dict[str, bytes], said: str) -> None:
    result = conformance("verify", zipped(tmp_path / "bare.zip", parts))
    assert (result.exit_code, said in result.output) == (3, True)


def test_no_bundle_at_all(tmp_path: Path) -> None:
    (tmp_path / "none.zip").write_bytes(b"PK nothing of the sort")
    assert conformance("verify", tmp_path / "none.zip").exit_code == 3
    assert conformance("verify", tmp_path / "missing.zip").exit_code == 3


def test_a_bundle_that_would_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "LARGEST", 1000)
    bomb = zipped(tmp_path / "bomb.zip", {"report.json": b" " * 2000})
    result = conformance("verify", bomb)
    assert (result.exit_code, "is too large" in result.output) == (3, True)


def zipped(path: Path, parts: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name, data in parts.items():
            file.writestr(name, data)
    return path


def test_every_claim_has_a_result() -> None:
    statuses = {"conformant", "incomplete", "not-evaluated", "non-conformant"}
    assert attestation.RESULTS.keys() == statuses
    assert [status for status in statuses if attestation.RESULTS[status] == "PASSED"] == ["conformant"]


# ── two reports ──────────────────────────────────────────────────────────────────────────────────


def judged(verdict: str) -> dict[str, Any]:
    return {
        "kit": {"name": "kit", "version": "1"},
        "pack": {"protocol": "p", "revision": "1", "digest": "d"},
        "role": "agent",
        "ics_digest": "i",
        "complete": True,
        "claim": {"status": "incomplete"},
        "requirements": [{"id": "P-1", "level": "MUST", "verdict": verdict, "reason": "so"}],
    }


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("pass", "fail", "newly_failing"),
        ("untested", "fail", "newly_failing"),
        ("inconclusive", "fail", "newly_failing"),
        ("fail", "pass", "fixed"),
        ("fail", "warn", "fixed"),
        ("fail", "untested", "no_longer_exercised"),
        ("pass", "untested", "no_longer_exercised"),
        ("pass", "not-applicable", "no_longer_exercised"),
        ("untested", "pass", "newly_exercised"),
        ("manual", "inconclusive", "newly_exercised"),
        ("fail", "inconclusive", "otherwise"),
        ("pass", "warn", "otherwise"),
        ("untested", "not-applicable", "otherwise"),
    ],
)
def test_in_which_list_a_difference_stands(before: str, after: str, found: str) -> None:
    compared = comparison.compare(judged(before), judged(after))
    lists = {name: len(getattr(compared, name)) for name in comparison.TITLES}
    assert [name for name, count in lists.items() if count] == [found]
    assert compared.worse == (found in ("newly_failing", "no_longer_exercised"))


def test_equal_reports_do_not_differ() -> None:
    compared = comparison.compare(judged("pass"), judged("pass"))
    assert not compared.worse
    assert not any(getattr(compared, name) for name in comparison.TITLES)
    assert compared.apart == ()


def test_runs_that_are_not_alike_are_said_to_be() -> None:
    other = judged("pass") | {"role": "orchestrator", "complete": False, "ics_digest": "j"}
    said = comparison.compare(judged("pass"), other).apart
    assert said == (
        "the roles differ: agent, then orchestrator",
        "the facts of the ICS differ: i, then j",
        "the second run was not completed",
    )


def test_a_requirement_that_only_one_of_them_has() -> None:
    other = judged("pass")
    other["requirements"].append({"id": "P-2", "level": "MUST", "verdict": "fail", "reason": "new"})
    compared = comparison.compare(judged("pass"), other)
    assert [(row.requirement, row.before) for row in compared.newly_failing] == [("P-2", "")]


def test_diff_on_the_command_line(demo: Path) -> None:
    rewrite(demo, lambda value: row_of(value, FAILED).update(verdict="pass", reason=""))
    worse = conformance("diff", demo, DEMO)
    assert worse.exit_code == 1
    assert f"newly failing: 1 requirement\n  {FAILED} (MUST) pass → fail: " in worse.output
    better = conformance("diff", DEMO, demo, "--format", "json")
    value = json.loads(better.output)
    assert (better.exit_code, [row["requirement"] for row in value["fixed"]]) == (0, [FAILED])


def test_diff_of_what_is_no_report(demo: Path, tmp_path: Path) -> None:
    assert conformance("diff", demo, tmp_path / "none").exit_code == 3
