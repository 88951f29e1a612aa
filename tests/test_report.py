"""From findings and transcripts to verdicts, the claim, and every rendering of them."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from judging import DIALECT, toy
from judging import row as requirement_row

from conformance import __version__, formats, packs
from conformance import report as reports
from conformance.errors import InputUnreadable
from conformance.findings import Finding, Level, Requirement
from conformance.packs import Pack
from conformance.report import evaluation, verdicts
from conformance.report.evaluation import Evidence, Run

VA = packs.find("va-agent-protocol")


def run(*findings: Finding, status: str = "passed", **rest: Any) -> Run:
    row: dict[str, Any] = {
        "name": "one",
        "title": "A scenario",
        "reason": "" if status == "passed" else "because",
        "line": 0,
        "seconds": 0.25,
        "transcript": "transcripts/one.jsonl",
        "stderr": "",
        "requirements": ("VA-LIF-001",),
        "evidence": Evidence(list(findings)),
    }
    return Run(status=status, **{**row, **rest})


def good(requirement: str, **rest: Any) -> Finding:
    return Finding(requirement, True, "agent", 3, **rest)


def bad(requirement: str, **rest: Any) -> Finding:
    return Finding(requirement, False, "agent", 4, "it is wrong", line=5, column=7, **rest)


def report(*runs: Run, pack: Pack = VA, complete: bool = True, target: str = "reference") -> dict[str, Any]:
    value = evaluation.evaluate(
        pack,
        "agent",
        list(runs),
        target=target,
        implementation={"name": "acme", "version": "2.0"},
        ics={"failure": True},
        complete=complete,
    )
    assert list(formats.errors("report", json.loads(json.dumps(value, default=str)))) == []
    return value


def row(value: dict[str, Any], requirement: str) -> dict[str, Any]:
    [found] = [one for one in value["requirements"] if one["id"] == requirement]
    return dict(found)


def small(*requirements: Requirement) -> Pack:
    """The pack with no requirements but these."""
    pack = Pack(VA.folder)
    pack.__dict__["requirements"] = {one.id: one for one in requirements}
    return pack


def must(name: str, **rest: Any) -> Requirement:
    values: dict[str, Any] = {"level": Level.MUST, "role": "agent", "summary": "It is so.", **rest}
    return Requirement(name, **values)


# ── verdicts ─────────────────────────────────────────────────────────────────────────────────────


def test_the_verdict_is_the_worst_of_the_findings() -> None:
    value = report(run(good("VA-LIF-001"), bad("VA-LIF-001", pointer="/type", expected=(1,), actual=2)))
    found = row(value, "VA-LIF-001")
    assert (found["verdict"], found["reason"], found["observations"]) == ("fail", "it is wrong", 2)
    assert found["proved_by"] == ["one"]
    assert found["findings"] == [
        {
            "verdict": "fail",
            "scenario": "one",
            "transcript": "transcripts/one.jsonl",
            "seq": 4,
            "line": 5,
            "column": 7,
            "pointer": "/type",
            "message": "it is wrong",
            "expected": [1],
            "actual": 2,
        }
    ]


@pytest.mark.parametrize(
    ("level", "finding", "verdict"),
    [
        (Level.MUST, good("X-A-1"), "pass"),
        (Level.MUST, bad("X-A-1"), "fail"),
        (Level.SHOULD, bad("X-A-1"), "warn"),
        (Level.MAY, bad("X-A-1"), "warn"),
        (Level.MUST, bad("X-A-1", level=Level.SHOULD), "warn"),
        (Level.SHOULD, bad("X-A-1", level=Level.MUST), "fail"),
        (Level.MUST, bad("X-A-1", inconclusive=True), "inconclusive"),
    ],
)
def test_the_verdict_of_one_finding(level: Level, finding: Finding, verdict: str) -> None:
    value = report(run(finding), pack=small(must("X-A-1", level=level)))
    assert row(value, "X-A-1")["verdict"] == verdict
    assert value["claim"]["counts"][verdict] == 1


def test_of_many_findings_the_first_are_listed_and_all_count() -> None:
    found = row(report(run(*[bad("VA-LIF-001")] * 23)), "VA-LIF-001")
    assert (len(found["findings"]), found["further_findings"], found["observations"]) == (20, 3, 23)


@pytest.mark.parametrize(
    ("requirement", "runs", "verdict", "reason"),
    [
        ({"role": "orchestrator"}, [run()], "not-applicable", "it is for the orchestrator to meet"),
        ({"role": "both"}, [run()], "untested", "nothing in this run exercised it"),
        ({"excluded": "not on the wire"}, [run()], "not-applicable", "not on the wire"),
        ({"manual": "look at it"}, [run()], "manual", "look at it"),
        ({"untested": "no check yet"}, [run()], "untested", "no check yet"),
        ({}, [], "untested", "nothing in this run exercised it"),
        *(
            ({}, [run(status=status)], "inconclusive", "scenario one could not show it: because")
            for status in ("failed", "inconclusive", "interrupted", "unreachable", "error")
        ),
        ({}, [run(status="not-applicable")], "not-applicable", "because"),
        ({}, [run(status="not-applicable"), run()], "untested", "nothing in this run exercised it"),
        ({}, [run(status="error", requirements=("X-B-1",))], "untested", "nothing in this run exercised it"),
    ],
)
def test_why_there_is_no_finding(
    requirement: dict[str, str], runs: list[Run], verdict: str, reason: str
) -> None:
    meant = [one if one.requirements == ("X-B-1",) else replace(one, requirements=("X-A-1",)) for one in runs]
    found = row(report(*meant, pack=small(must("X-A-1", **requirement))), "X-A-1")
    assert (found["verdict"], found["reason"]) == (verdict, reason)


# ── the claim ────────────────────────────────────────────────────────────────────────────────────

HEAD = f"acme 2.0, tested as agent of va-agent-protocol@0.1.0 with agent-conformance-kit {__version__}: "


@pytest.mark.parametrize(
    ("runs", "complete", "status", "wording"),
    [
        ([run(good("X-A-1"), good("X-A-2"))], True, "conformant",
         "conforms; all 2 applicable MUST requirements passed."),
        ([run(good("X-A-1"), good("X-A-2"), bad("X-A-3"))], True, "conformant",
         "conforms; all 2 applicable MUST requirements passed."),
        ([run(good("X-A-1"), bad("X-A-2", level=Level.SHOULD))], True, "conformant",
         "conforms; all 2 applicable MUST requirements passed."),
        ([run(good("X-A-1"), good("X-A-2"))], False, "incomplete",
         "no requirement failed, but the evaluation is incomplete; 2 of 2 applicable MUST requirements "
         "passed and 0 were not decided. The run was not completed."),
        ([run(good("X-A-1"))], True, "incomplete",
         "no requirement failed, but the evaluation is incomplete; 1 of 2 applicable MUST requirements "
         "passed and 1 were not decided."),
        ([run(good("X-A-1"), bad("X-A-2", inconclusive=True))], True, "incomplete",
         "no requirement failed, but the evaluation is incomplete; 1 of 2 applicable MUST requirements "
         "passed and 1 were not decided."),
        ([run(good("X-A-1"), bad("X-A-2"))], True, "non-conformant",
         "does not conform; 1 of 2 applicable MUST requirements failed."),
        ([run(bad("WIRE-JSON"))], False, "non-conformant",
         "does not conform; 1 of 3 applicable MUST requirements failed. The run was not completed."),
        # That it writes JSON shows nothing about the protocol.
        ([run(good("WIRE-JSON"))], True, "not-evaluated", "could not be evaluated (nothing was exercised)."),
        ([run(status="not-applicable")], True, "not-evaluated",
         "could not be evaluated (nothing was exercised)."),
        ([run(status="unreachable", reason="cannot start 'x'")], False, "not-evaluated",
         "could not be evaluated (cannot start 'x'). The run was not completed."),
        ([], True, "not-evaluated", "could not be evaluated (nothing was exercised)."),
    ],
)  # fmt: skip
def test_the_claim(runs: list[Run], complete: bool, status: str, wording: str) -> None:
    pack = small(
        must("X-A-1"), must("X-A-2"), must("X-A-3", level=Level.SHOULD), must("X-A-4", role="orchestrator"),
        must("WIRE-JSON", role="both"),
    )  # fmt: skip
    value = report(*runs, pack=pack, complete=complete)
    assert value["claim"]["status"] == status
    assert value["claim"]["wording"] == HEAD + wording
    assert sum(value["claim"]["counts"].values()) == 5
    assert value["complete"] is complete


def test_an_implementation_without_a_name() -> None:
    value = evaluation.evaluate(VA, "agent", [], target="x", implementation={}, ics={}, complete=True)
    assert value["claim"]["wording"].startswith("The implementation, tested as agent of ")


# ── the rest of the value ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        ("ws://user:secret@host:1/x?token=secret#secret", "ws://host:1/x"),
        ("WSS://user:se@cret@host", "WSS://host"),
        ("ws://secret@host/a@b", "ws://host/a@b"),
        ("wss://host/?secret", "wss://host/"),
        ("stdio:agent --url ws://u:secret@h/?q=secret --n 1", "stdio:agent --url ws://h/ --n 1"),
        ("stdio:agent user@host?x#y", "stdio:agent user@host?x#y"),
        ("reference:banner", "reference:banner"),
    ],
)
def test_the_target_is_shown_without_credentials(target: str, shown: str) -> None:
    assert report(run(), target=target)["target"] == shown


def test_the_digest_names_what_judged(tmp_path: Path) -> None:
    (tmp_path / "pack.json").write_bytes((VA.folder / "pack.json").read_bytes())
    one = evaluation.digest(Pack(tmp_path))
    text = (tmp_path / "pack.json").read_bytes()
    (tmp_path / "pack.json").write_bytes(text.replace(b"\n", b"\r\n"))
    assert evaluation.digest(Pack(tmp_path)) == one
    (tmp_path / "a.json").write_text("{}")
    other = evaluation.digest(Pack(tmp_path))
    (tmp_path / "a.json").rename(tmp_path / "b.json")
    assert len({one, other, evaluation.digest(Pack(tmp_path))}) == 3


def test_lifecycles_and_errata() -> None:
    one, two = Evidence(), Evidence()
    one.edges["task", "pending", "running"] = 2
    two.edges["task", "pending", "running"] = 1
    two.illegal["task", "completed", "running"] = 1
    value = report(run(evidence=one), run(evidence=two))
    [task] = value["lifecycles"]
    assert (task["name"], task["initial"], task["states"]["completed"]) == ("task", "pending", "terminal")
    seen = {(edge["from"], edge["to"]): edge["seen"] for edge in task["edges"]}
    assert seen["pending", "running"] == 3
    assert seen["running", "running"] == 0
    assert sum(seen.values()) == 3
    assert task["illegal"] == [{"from": "completed", "to": "running", "seen": 1}]
    assert [one["id"] for one in value["errata"]] == ["VA-ERR-1", "VA-ERR-2", "VA-ERR-3", "VA-ERR-4"]


def test_a_transcript_is_judged_for_one_role() -> None:
    """What the kit itself sent is never the implementation's fault."""
    path = VA.fixtures / "transcripts" / "invalid" / "orchestrator-reports-progress.jsonl"
    assert [one for one in evaluation.judge(path, VA, "agent").findings if not one.ok] == []
    assert [one.requirement for one in evaluation.judge(path, VA, "orchestrator").findings if not one.ok]


def test_what_is_no_transcript(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"transcript": 1, "protocol": "va-agent-protocol", "revision": "0.1.0"}\n{"a": 1}\n')
    with pytest.raises(InputUnreadable, match=r"x\.jsonl:2: "):
        evaluation.judge(path, VA, "agent")


# ── what one scenario says ───────────────────────────────────────────────────────────────────────


def test_a_requirement_in_one_scenario() -> None:
    requirement = VA.requirements["VA-LIF-001"]
    one = run(good("VA-LIF-001"), bad("VA-LIF-001", pointer="/type", expected=("a", "b"), actual="c"))
    verdict, reason, told = verdicts.in_scenario(one, requirement)
    assert (verdict, reason) == ("fail", "it is wrong")
    assert told == [
        f"VA-LIF-001 (MUST): {requirement.summary}",
        f"    rule: {requirement.reference}",
        "    transcripts/one.jsonl:5:7: it is wrong (at /type)",
        '        expected "a", "b"; found "c"',
    ]
    assert verdicts.in_scenario(run(good("VA-LIF-001")), requirement)[:2] == ("pass", "")
    assert verdicts.in_scenario(run(), requirement)[0] == "untested"
    assert verdicts.in_scenario(run(status="inconclusive"), requirement)[:2] == ("inconclusive", "because")
    assert verdicts.in_scenario(run(status="failed"), requirement)[:2] == ("inconclusive", "because")
    assert verdicts.in_scenario(run(status="not-applicable"), requirement)[:2] == (
        "not-applicable",
        "because",
    )


def test_everything_else_in_one_scenario() -> None:
    one = run(bad("VA-LIF-001"), bad("X-A-1")._replace(line=0), good("X-A-2"))
    pack = small(must("VA-LIF-001"), must("X-A-1"), must("X-A-2"))
    verdict, reason, told = verdicts.elsewhere(one, pack)
    assert (verdict, reason) == ("fail", "X-A-1 (MUST): It is so.")
    assert told == ["X-A-1 (MUST): It is so.", "    one: it is wrong"]
    assert verdicts.elsewhere(run(bad("VA-LIF-001")), pack) == ("pass", "", [])
    assert verdicts.elsewhere(run(status="failed"), pack)[0] == "inconclusive"
    assert verdicts.elsewhere(run(status="not-applicable"), pack)[0] == "not-applicable"


# ── renderings ───────────────────────────────────────────────────────────────────────────────────

NASTY = "\x1b[31m\x00\x07\u202e\ud800\uffff]]>&<\"'\r\n\u2028 end"


def nasty() -> dict[str, Any]:
    finding = bad("X-A-1", pointer=f"/{NASTY}", expected=(NASTY, Decimal("1e400")), actual={"a": NASTY})
    return report(
        run(finding._replace(message=NASTY)),
        run(status="error", reason=NASTY, name="two", transcript="", line=9),
        pack=small(must("X-A-1", summary=f"It {NASTY}."), must("X-A-2", reference="")),
        complete=False,
    )


def test_text() -> None:
    value = report(
        run(
            bad("X-A-1", pointer="/type", expected=("a", 1), actual=None),
            *[bad("X-A-1")._replace(line=0)] * 20,
            bad("X-A-2", level=Level.SHOULD),
            good("X-A-4"),
        ),
        run(status="inconclusive", name="two", requirements=("X-A-3",), line=12),
        run(status="not-applicable", name="three"),
        pack=small(
            must("X-A-1", reference="a.schema.json#/type"),
            *(must(f"X-A-{number}") for number in range(2, 6)),
            *(must(f"X-B-{number}", untested="no check yet") for number in range(1, 14)),
        ),
    )
    lines = reports.RENDERERS["text"](value).splitlines()
    assert lines[:4] == [
        "FAIL X-A-1 (MUST): It is so.",
        "    transcripts/one.jsonl:5:7: it is wrong",
        "        at /type",
        '        expected "a", 1; found null',
    ]
    assert lines[4:] == [
        "    one: it is wrong",
        "    one: it is wrong",
        "    and 18 more findings, in report.json",
        "    rule: a.schema.json#/type",
        "WARN X-A-2 (MUST): It is so.",
        "    transcripts/one.jsonl:5:7: it is wrong",
        "scenario two: inconclusive: because (the step of line 12)",
        "    so it could not show X-A-3",
        "va-agent-protocol@0.1.0, agent: 1 fail, 1 inconclusive, 1 warn, 1 pass, 14 untested",
        "untested, 1: nothing in this run exercised it: X-A-5",
        "untested, 13: no check yet",
        "not applicable, scenario three: because",
        "errata applied: VA-ERR-1, VA-ERR-2, VA-ERR-3, VA-ERR-4",
        "claim: non-conformant",
        value["claim"]["wording"],
    ]


def test_text_says_once_why_requirements_are_open() -> None:
    stalled = bad("X-A-1", inconclusive=True)._replace(message="because")
    value = report(
        run(
            stalled, bad("X-A-5", inconclusive=True)._replace(message="unclear"), status="inconclusive",
            requirements=("X-A-1", "X-A-2"),
        ),
        run(status="failed", name="two", requirements=("X-A-2", "X-A-3")),
        run(status="failed", name="three"),
        run(status="not-applicable", name="four", requirements=("X-A-4",)),
        pack=small(*(must(f"X-A-{number}") for number in range(1, 6))),
    )  # fmt: skip
    lines = reports.RENDERERS["text"](value).splitlines()
    assert lines[:6] == [
        "scenario one: inconclusive: because",
        "    so it could not show X-A-1, X-A-2",
        "scenario two: failed: because",
        "    so it could not show X-A-3",
        "INCONCLUSIVE X-A-5 (MUST): It is so.",
        "    transcripts/one.jsonl:5:7: unclear",
    ]


def test_text_says_when_the_machine_was_too_slow_for_the_kit() -> None:
    told = [
        line
        for stretched in (3.99, 4.0)
        for line in reports.RENDERERS["text"](report(run(stretched=stretched))).splitlines()
        if "slow" in line
    ]
    assert told == [
        "scenario one: the machine, or the implementation, was so slow that "
        "the kit waited 4 times as long as usual, and no longer"
    ]


def differing() -> dict[str, Any]:
    """Of three runs, the first fails one requirement, the second cannot be reached, the third is well."""
    return report(
        run(bad("X-A-1"), good("X-A-2"), requirements=("X-A-1", "X-A-2")),
        run(status="unreachable", attempt=2, requirements=("X-A-1", "X-A-2")),
        run(good("X-A-1"), good("X-A-2"), attempt=3, requirements=("X-A-1", "X-A-2")),
        run(good("X-A-3"), name="two"),
        pack=small(*(must(f"X-A-{number}") for number in range(1, 4))),
    )


def test_runs_that_differ_are_flaky_and_judged_by_the_worst() -> None:
    value = differing()
    assert [row(value, f"X-A-{number}")["verdict"] for number in (1, 2, 3)] == ["fail", "pass", "pass"]
    assert [row(value, f"X-A-{number}").get("flaky") for number in (1, 2, 3)] == [
        "fail in 1, not shown in 1, pass in 1 of 3 runs of scenario one",
        "not shown in 1, pass in 2 of 3 runs of scenario one",
        None,
    ]
    differ = "passed in 2, unreachable in 1 of 3 runs"
    assert [one.get("flaky") for one in value["scenarios"]] == [differ, differ, differ, None]
    text = reports.RENDERERS["text"](value)
    assert text.count(f"flaky, scenario one: {differ}\n") == 1
    assert "scenario one, run 2: unreachable: because\n" in text


def test_junit_tells_of_runs_that_differ_and_of_what_is_known() -> None:
    value = differing()
    entry = {"requirement": "X-A-1", "expires": "2099-12-31", "reason": "it is being mended"}
    root = parsed({**value, "baseline": {"expected": [entry]}})
    failure = root.find(".//testcase[@name='X-A-1']/failure")
    assert failure is not None
    assert failure.text is not None
    assert "flaky: fail in 1, not shown in 1, pass in 1 of 3 runs of scenario one" in failure.text
    assert "known until 2099-12-31: it is being mended" in failure.text
    assert root.find(".//testcase[@name='scenario one, run 2']/error") is not None
    assert "known" not in "".join(parsed(value).itertext())


def test_text_obeys_nobody() -> None:
    text = reports.RENDERERS["text"](nasty())
    assert all(line.isprintable() for line in text.removesuffix("\n").split("\n"))
    assert r"\u001b[31m\u0000\u0007\u202e\ud800\uffff]]>&<" in text
    text.encode("utf-8")


def parsed(value: dict[str, Any]) -> ElementTree.Element:
    return ElementTree.fromstring(reports.RENDERERS["junit"](value).encode("utf-8"))


def test_junit() -> None:
    value = report(
        run(
            bad("X-A-1", pointer="/type", expected=("a",), actual=1),
            bad("X-A-2", level=Level.SHOULD),
            good("X-A-4"),
        ),
        run(status="inconclusive", name="two", requirements=("X-A-3",)),
        run(status="unreachable", name="three", reason="nobody there"),
        pack=small(
            must("X-A-1", reference="RFC 1, section 2"),
            *(must(f"X-A-{number}") for number in range(2, 6)),
            must("X-A-6", role="orchestrator"),
            must("X-A-7", manual="look"),
        ),
    )
    root = parsed(value)
    [suite] = root.iter("testsuite")
    for element in (root, suite):
        counted = {name: element.attrib[name] for name in ("tests", "failures", "errors", "time")}
        assert counted == {"tests": "8", "failures": "2", "errors": "1", "time": "0.750"}
    assert suite.attrib["skipped"] == "3"
    cases = {case.attrib["name"]: case for case in suite.iter("testcase")}
    assert len(cases) == 8
    told = {name: [(part.tag, part.attrib.get("message")) for part in case] for name, case in cases.items()}
    assert told == {
        "X-A-1": [("failure", "fail: it is wrong")],
        "X-A-2": [("system-out", None)],
        "X-A-3": [("failure", "inconclusive: scenario two could not show it: because")],
        "X-A-4": [],
        "X-A-5": [("skipped", "untested: nothing in this run exercised it")],
        "X-A-6": [("skipped", "not-applicable: it is for the orchestrator to meet")],
        "X-A-7": [("skipped", "manual: look")],
        "scenario three": [("error", "nobody there")],
    }
    assert str(cases["X-A-1"][0].text).splitlines() == [
        "It is so.",
        "transcripts/one.jsonl:5:7: it is wrong",
        "    at /type",
        '    expected "a"; found 1',
        "rule: RFC 1, section 2",
    ]
    assert cases["X-A-3"][0].text == "It is so."
    assert cases["X-A-2"][0].text == "warning: it is wrong"
    properties = {one.attrib["name"]: one.attrib["value"] for one in suite.iter("property")}
    assert properties == {"claim.status": "non-conformant", "claim.wording": value["claim"]["wording"]}


def test_junit_is_xml_whatever_an_implementation_said() -> None:
    cases = {case.attrib["name"]: case for case in parsed(nasty()).iter("testcase")}
    said = r"\u001b[31m\u0000\u0007\u202e\ud800\uffff]]>&<" + "\"'"
    assert said in cases["X-A-1"][0].attrib["message"]
    assert said in str(cases["X-A-1"][0].text)
    assert said in cases["scenario two"][0].attrib["message"]


# ── reading ──────────────────────────────────────────────────────────────────────────────────────


def test_a_report_is_read_back(tmp_path: Path) -> None:
    value = json.loads(json.dumps(nasty(), default=str))
    path = tmp_path / "report.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    assert reports.read(path) == value


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"[" * 5000, "is not JSON"),
        (b"[]", "is no report of this kit: the file: "),
        (b"{}", "is no report of this kit: the file: "),
        (b'{"report": 2}', "is no report of this kit: "),
    ],
)
def test_what_is_no_report(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
    with pytest.raises(InputUnreadable) as caught:
        reports.read(path)
    assert said in str(caught.value)


def test_a_report_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputUnreadable, match=r"report\.json cannot be read: No such file"):
        reports.read(tmp_path / "report.json")


@pytest.mark.parametrize(
    ("pointer", "new"),
    [
        ("claim.status", "fine"),
        ("claim.counts.pass", -1),
        ("requirements.0.verdict", "skipped"),
        ("scenarios.0.transcript", "../x"),
        ("scenarios.1.reason", ""),
        ("pack.digest", "md5:0"),
        ("complete", "yes"),
    ],
)
def test_the_schema_refuses(pointer: str, new: Any) -> None:
    value = json.loads(json.dumps(nasty(), default=str))
    *parents, last = pointer.split(".")
    node = value
    for step in parents:
        node = node[int(step)] if isinstance(node, list) else node[step]
    node[last] = new
    assert list(formats.errors("report", value))


def test_runs_that_end_alike_may_still_disagree() -> None:
    both = ("X-A-1", "X-A-2")
    value = report(
        run(good("X-A-1"), good("X-A-2"), requirements=both),
        run(good("X-A-1"), attempt=2, requirements=both),
        pack=small(must("X-A-1"), must("X-A-2")),
    )
    said = "passed in all 2 runs, which do not agree about X-A-2"
    assert [one.get("flaky") for one in value["scenarios"]] == [said, said]


def test_text_tells_of_negative_tests() -> None:
    failure = {"kind": "dispatch", "sort": "accepted", "message": "it was taken", "scenario": "fuzz-1"}
    told: dict[str, Any] = {"seed": 7, "tried": 9, "refused": 5, "survived": 2, "failures": [failure]}
    told |= {"further": 1, "inconclusive": ["no answer came"], "left": "3 that need a profile"}
    text = reports.RENDERERS["text"](report(run(good("VA-MSG-001"))) | {"fuzz": told})
    assert text.count("fuzz, seed 7: 9 tried, 5 refused, 2 survived, 2 failed, 1 inconclusive\n") == 1
    for line in (
        "    dispatch, accepted: it was taken",
        "        fuzz-1 shows it again",
        "    inconclusive: no answer came",
        "    not tried: 3 that need a profile",
    ):
        assert f"{line}\n" in text
    quiet = told | {"failures": [], "further": 0, "inconclusive": [], "left": ""}
    text = reports.RENDERERS["text"](report(run(good("VA-MSG-001"))) | {"fuzz": quiet})
    assert "fuzz, seed 7: 9 tried, 5 refused, 2 survived, 0 failed\n" in text
    assert "not tried" not in text


def test_a_record_without_a_header_does_not_say_when_it_began(tmp_path: Path) -> None:
    message = (VA.fixtures / "messages" / "valid" / "cancel.full.json").read_text("utf-8")
    path = tmp_path / "array.json"
    path.write_text(f"[\n{message}]\n", "utf-8")
    assert evaluation.judge(path, VA, "orchestrator").began == ""


def test_what_stands_in_place_of_an_integer_is_not_counted_as_one(tmp_path: Path) -> None:
    number = {"$schema": DIALECT, "type": "object", "properties": {"n": {"type": "integer"}}}
    bounds = requirement_row({"kind": "integer-bounds", "u53": ["toy.schema.json#/properties/n"]})
    pack = toy(tmp_path, bounds, schemas={"toy.schema.json": number})
    path = tmp_path / "record.jsonl"
    path.write_text('{"type": "go", "n": "seven"}\n{"type": "go", "n": 0}\n', "utf-8")
    [seen] = evaluation.judge(path, pack, "left").exercised.integers.values()
    assert seen.count == 1
