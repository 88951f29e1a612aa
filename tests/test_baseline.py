"""Known failures: what is expected, what is not, and which entries are not true any more."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conformance import baseline, formats
from conformance import report as reports
from conformance.baseline import Entry
from conformance.cli import main
from conformance.errors import BadConfiguration

TODAY = date(2026, 11, 30)
LATER = "2027-01-31"
SCENARIOS = ("first", "second", "third")


def row(name: str, verdict: str, **rest: Any) -> dict[str, Any]:
    found = [
        {"verdict": "fail", "scenario": one, "message": f"wrong in {one}"}
        for one in rest.get("failed_in", ())
    ]
    about = {"id": name, "verdict": verdict, "reason": "why", "summary": "It is so.", "findings": found}
    return {**about, "proved_by": [], **rest}


REPORT = {
    "requirements": [
        row("VA-A-001", "fail", failed_in=["first", "second"], proved_by=["third"]),
        row("VA-A-002", "pass", proved_by=["first"]),
        row("VA-A-003", "untested"),
        row("VA-A-004", "fail", failed_in=["second"], flaky="fail in 1 of 3 runs of scenario second"),
    ]
}


def entry(requirement: str, **rest: Any) -> Entry:
    return Entry(requirement, **{"reason": "a reason", "expires": LATER, **rest})


def compared(*entries: Entry, whole: bool = True) -> dict[str, Any]:
    return baseline.compare(entries, REPORT, SCENARIOS, TODAY, whole=whole)


def named(rows: list[dict[str, Any]]) -> list[str]:
    return [one["requirement"] for one in rows]


# ── what an entry is ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("one", "whole", "is_", "said"),
    [
        (entry("VA-A-001"), True, "expected", "why"),
        (entry("VA-A-001", scenario="second"), True, "expected", "why"),
        (entry("VA-A-001", expires="2026-11-30"), True, "expected", "why"),
        (entry("VA-A-001", expires="2026-11-29"), True, "stale", "it expired on 2026-11-29; fix"),
        (entry("VA-A-001", scenario="third"), False, "stale", "it does not fail any more; remove it"),
        (entry("VA-A-002"), True, "stale", "it does not fail any more; remove it"),
        (entry("VA-A-002"), False, "unseen", "it did not fail in this run, in which it is pass"),
        (entry("VA-A-002", scenario="first"), False, "stale", "it does not fail any more; remove it"),
        (entry("VA-A-002", scenario="second"), True, "unseen", "it did not fail in this run"),
        (entry("VA-A-002", flaky=True), True, "unseen", "it did not fail in this run, in which it is pass"),
        (entry("VA-A-003"), True, "unseen", "it did not fail in this run, in which it is untested"),
        (entry("VA-A-0O1"), True, "stale", "there is no requirement VA-A-0O1; correct"),
        (entry("VAA-001"), True, "stale", "(is VA-A-001 meant?)"),
        (entry("VA-A-001", scenario="frist"), True, "stale", "there is no scenario frist (is first meant?)"),
    ],
)
def test_an_entry(one: Entry, whole: bool, is_: str, said: str) -> None:
    told = compared(one, whole=whole)
    assert {name: named(told[name]) for name in ("expected", "stale", "unseen") if told[name]} == {
        is_: [one.requirement]
    }
    assert said in told[is_][0]["said"]


def test_what_no_entry_names_is_unexpected() -> None:
    assert named(compared()["unexpected"]) == ["VA-A-001", "VA-A-004"]
    assert named(compared(entry("VA-A-001"))["unexpected"]) == ["VA-A-004"]
    assert named(compared(entry("VA-A-002"))["unexpected"]) == ["VA-A-001", "VA-A-004"]
    [one, _] = compared(entry("VA-A-001", scenario="first"))["unexpected"]
    assert (one["requirement"], one["scenarios"]) == ("VA-A-001", ["second"])
    # What has an entry that has expired is not told twice.
    assert named(compared(entry("VA-A-001", expires="2026-01-01"))["unexpected"]) == ["VA-A-004"]


def test_the_proposed_entry_is_read_back_and_covers_the_failure() -> None:
    proposed = [one["entry"] for one in compared()["unexpected"]]
    entries = baseline.read("\n".join(proposed), "known.toml")
    assert entries == (
        Entry("VA-A-001", "wrong in first", "2026-12-30"),
        Entry("VA-A-004", "wrong in second", "2026-12-30", "second", flaky=True),
    )
    told = compared(*entries)
    assert (told["unexpected"], told["stale"], len(told["expected"])) == ([], [], 2)


@pytest.mark.parametrize("reason", ['a "quote" and a \\', "line\none\x1b[31m\x7f", "é 😀 \ud800", "'''"])
def test_whatever_an_implementation_said_is_a_string_of_toml(reason: str) -> None:
    [read] = tomllib.loads(entry("VA-A-001", reason=reason).toml())["known"]
    assert read["requirement"] == "VA-A-001"
    assert read["reason"].isprintable()
    assert read["expires"] == date(2027, 1, 31)


# ── the file ─────────────────────────────────────────────────────────────────────────────────────


def test_a_file() -> None:
    text = (
        '[[known]]\nrequirement = "VA-A-001"\nscenario = "first"\nreason = "r"\n'
        'issue = "https://example.org/1"\nexpires = 2027-01-31\n'
        '[[known]]\nrequirement = "VA-A-002"\nreason = "s"\nexpires = "2027-02-28"\nflaky = true\n'
    )
    assert baseline.read(text, "known.toml") == (
        Entry("VA-A-001", "r", LATER, "first", "https://example.org/1"),
        Entry("VA-A-002", "s", "2027-02-28", flaky=True),
    )
    assert baseline.read("", "known.toml") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("known = 1", "known.toml: /known: "),
        ("known = ", "known.toml is not TOML: "),
        ("[known]", "known.toml: /known: "),
        ('[[known]]\nreason = "r"\nexpires = 2027-01-31', "requirement"),
        ('[[known]]\nrequirement = "A"\nexpires = 2027-01-31', "reason"),
        ('[[known]]\nrequirement = "A"\nreason = "r"', "expires"),
        ('[[known]]\nrequirement = "A"\nreason = " "\nexpires = 2027-01-31', "/known/0/reason"),
        ('[[known]]\nrequirement = "A"\nreason = "r"\nexpires = "soon"', "/known/0/expires"),
        ('[[known]]\nrequirement = "A"\nreason = "r"\nexpires = 2027-01-31T00:00:00', "/known/0/expires"),
        ('[[known]]\nrequirement = "A"\nreason = "r"\nexpires = 2027-01-31\nisue = "x"', "isue"),
        ('[[known]]\nrequirement = "A"\nreason = "r"\nexpires = 2027-01-31\nissue = "#4"', "/known/0/issue"),
    ],
)
def test_what_is_no_baseline(text: str, said: str) -> None:
    with pytest.raises(BadConfiguration) as caught:
        baseline.read(text, "known.toml")
    assert str(caught.value).startswith("known.toml")
    assert said in str(caught.value)


# ── with a run ───────────────────────────────────────────────────────────────────────────────────


def test_a_failure_that_is_known_does_not_fail_the_run_and_stays_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    known = tmp_path / "known.toml"
    known.write_text("")
    command = ["run", "va-agent-protocol", "-s", "happy-path", "--baseline", "known.toml", "--target"]

    first = CliRunner().invoke(main, [*command, "reference:second-terminal"])
    assert first.exit_code == 1
    assert "baseline known.toml: 0 expected, 1 unexpected, 0 stale, 0 unseen" in first.stdout
    assert "unexpected, VA-LIF-002 in happy-path" in first.stdout
    [pasted] = re.findall(r"\n\n(\[\[known\]\].*?)\n\n", first.stdout, re.DOTALL)
    known.write_text(pasted)

    second = CliRunner().invoke(main, [*command, "reference:second-terminal"])
    assert second.exit_code == 0, second.stdout
    assert "FAIL VA-LIF-002" in second.stdout
    assert "claim: non-conformant" in second.stdout
    assert ", VA-LIF-002 in happy-path: " in second.stdout
    report = reports.read(Path("conformance-report/report.json"))
    assert named(report["baseline"]["expected"]) == ["VA-LIF-002"]

    third = CliRunner().invoke(main, [*command, "reference"])
    assert third.exit_code == 1
    assert "stale, VA-LIF-002 in happy-path: it does not fail any more; remove it" in third.stdout
    assert "claim: incomplete" in third.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--baseline", "none.toml"),
            "none.toml does not exist; an empty file is a baseline that ",
        ),
        (
            ("--certify", "--baseline", "x.toml"),
            "known failures too: leave out --baseline",
        ),
        (("--certify", "-s", "*", "-r", "*"), "leave out --scenario, --requirement"),
    ],
)
def test_usage(
    arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["run", "va-agent-protocol", *arguments])
    assert result.exit_code == 2
    assert said in result.stderr
    assert not Path("conformance-report").exists()


def test_the_schema_is_one_of_the_kit() -> None:
    assert [*formats.errors("baseline", {})] == []
