"""Every rendering of a report: valid by its format's schema, true to the report, inert whoever wrote it."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import hostile
import pytest
from jsonschema.validators import validator_for
from lxml import etree
from pyld import jsonld
from test_report import bad, good, report, run

from conformance import exchanges, formats, packs
from conformance import report as reports
from conformance.cli import main
from conformance.report import evaluation, exercise, inert, layers, sequences
from conformance.report.dialects import CLAIMS, DIALECTS

FORMATS = Path(__file__).parent / "formats"
VA = packs.find("va-agent-protocol")
AWP = packs.find("awp@0.1-draft.7")


@cache
def sample() -> dict[str, Any]:
    """A report with every verdict but `manual`, and a scenario that broke off."""
    failed = bad("VA-LIF-001", pointer="/type", expected=("failed", "blocked"), actual="completed")
    return report(
        run(good("VA-MSG-001"), failed, bad("VA-MSG-006")),
        run(name="two", status="unreachable", transcript="", requirements=("VA-CAN-001",)),
    )


@cache
def hostile_report() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(hostile.text())
    return value


WHOSE = pytest.mark.parametrize("value", [sample, hostile_report], ids=["sample", "hostile"])


def test_the_verdicts_of_the_sample() -> None:
    verdicts = {row["verdict"] for row in sample()["requirements"]}
    assert verdicts == DIALECTS.keys() - {"manual"}


def test_the_tables_know_every_verdict_and_claim() -> None:
    schema = formats.schema("report")
    assert DIALECTS.keys() == set(schema["$defs"]["verdict"]["enum"])
    assert CLAIMS.keys() == set(schema["properties"]["claim"]["properties"]["status"]["enum"])


# ── by the formats' own schemas ──────────────────────────────────────────────────────────────────


def complaints(name: str, text: str) -> list[str]:
    """What the reference engine of Python says; the schemas are of draft 4 and draft 7."""
    value = json.loads((FORMATS / name).read_text(encoding="utf-8"))
    engine = validator_for(value)
    return [
        one.message
        for one in engine(value, format_checker=engine.FORMAT_CHECKER).iter_errors(json.loads(text))
    ]


@WHOSE
def test_sarif(value: Any) -> None:
    text = reports.RENDERERS["sarif"](value())
    assert complaints("sarif-2.1.0.schema.json", text) == []
    assert complaints("sarif-2.1.0.schema.json", text.replace('"2.1.0"', '"2.0.0"'))


@WHOSE
def test_ctrf(value: Any) -> None:
    text = reports.RENDERERS["ctrf"](value())
    assert complaints("ctrf-0.0.schema.json", text) == []
    assert complaints("ctrf-0.0.schema.json", text.replace('"passed"', '"past"'))


@WHOSE
def test_junit(value: Any) -> None:
    known = etree.XMLSchema(etree.parse(FORMATS / "junit-10.xsd"))
    document = etree.fromstring(reports.RENDERERS["junit"](value()).encode("utf-8"))
    assert known.validate(document), known.error_log
    document[0].attrib.pop("tests")
    assert not known.validate(document)


EARL = "http://www.w3.org/ns/earl#"
TERMS = {
    EARL + name
    for name in (
        "Assertion", "Assertor", "Software", "TestSubject", "TestRequirement", "TestResult", "OutcomeValue",
        "assertedBy", "subject", "test", "result", "mode", "outcome", "info", "passed", "failed", "cantTell",
        "inapplicable", "untested", "automatic", "manual",
    )
}  # fmt: skip
"""Of the vocabulary of EARL 1.0 Schema (W3C): classes, properties, outcomes and modes that are used here."""


def iris(node: Any) -> Iterator[str]:
    """Every name that an expanded document uses of a vocabulary."""
    if isinstance(node, list):
        for one in node:
            yield from iris(one)
    elif isinstance(node, dict):
        yield from node.get("@type", ()) if isinstance(node.get("@type"), list) else ()
        for name, one in node.items():
            if not name.startswith("@"):
                yield name
                yield from iris(one)
        if str(node.get("@id", "")).startswith(EARL):
            yield node["@id"]


def nothing(url: str, _: Any) -> Any:
    raise AssertionError(f"{url} would be fetched")


@WHOSE
def test_earl(value: Any) -> None:
    expanded = jsonld.expand(json.loads(reports.RENDERERS["earl"](value())), {"documentLoader": nothing})
    used = set(iris(expanded))
    assert {name for name in used if name.startswith(EARL)} <= TERMS
    assert EARL + "outcome" in used
    assert {name.rpartition("/")[0] for name in used - TERMS} <= {
        "http://purl.org/dc/terms", "http://usefulinc.com/ns",
    }  # fmt: skip


@WHOSE
def test_badges(value: Any) -> None:
    picture = etree.fromstring(reports.RENDERERS["badge"](value()).encode("utf-8"))
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert {one.tag.rpartition("}")[2] for one in picture.iter()} <= {
        "svg",
        "title",
        "clipPath",
        "rect",
        "g",
        "text",
    }
    assert not [
        name for one in picture.iter() for name in one.attrib if name.startswith("on") or "href" in name
    ]
    # https://shields.io/badges/endpoint-badge
    shields = json.loads(reports.RENDERERS["badge-json"](value()))
    assert shields["schemaVersion"] == 1
    assert all(shields[name] for name in ("label", "message", "color"))


# ── what they say ────────────────────────────────────────────────────────────────────────────────


def test_sarif_says_where() -> None:
    [log] = json.loads(reports.RENDERERS["sarif"](sample()))["runs"]
    results = {one["ruleId"]: one for one in log["results"]}
    lifecycle = results["VA-LIF-001"]
    assert (lifecycle["kind"], lifecycle["level"]) == ("fail", "error")
    place = lifecycle["locations"][0]
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "transcripts/one.jsonl"}
    assert place["physicalLocation"]["region"]["startLine"] == 5
    assert place["logicalLocations"] == [{"fullyQualifiedName": "/type"}]
    assert (results["VA-MSG-006"]["kind"], results["VA-MSG-006"]["level"]) == ("fail", "warning")
    assert (results["VA-CAN-001"]["kind"], results["VA-CAN-001"]["level"]) == ("open", "none")
    assert all(
        log["tool"]["driver"]["rules"][one["ruleIndex"]]["id"] == one["ruleId"] for one in log["results"]
    )
    assert log["invocations"][0]["executionSuccessful"] is False
    [said] = log["invocations"][0]["toolExecutionNotifications"]
    assert said["message"]["text"] == "scenario two: unreachable: because"
    assert "VA-MSG-001" not in results


def test_sarif_names_no_file_outside_the_report() -> None:
    [log] = json.loads(reports.RENDERERS["sarif"](hostile_report()))["runs"]
    places = [one["locations"][0]["physicalLocation"] for one in log["results"]]
    assert {one["artifactLocation"]["uri"] for one in places} == {"report.json"}
    assert not [one for one in places if "region" in one]


def test_ctrf_counts() -> None:
    results = json.loads(reports.RENDERERS["ctrf"](sample()))["results"]
    by_id = {one.get("testId", one["name"]): one for one in results["tests"]}
    assert [by_id[name]["status"] for name in ("VA-LIF-001", "VA-MSG-006", "VA-MSG-001", "VA-CAN-001")] == [
        "failed", "passed", "passed", "other",
    ]  # fmt: skip
    assert (by_id["VA-MSG-006"]["rawStatus"], by_id["scenario two"]["status"]) == ("warn", "other")
    summary = results["summary"]
    assert summary["failed"] == 1
    assert summary["tests"] == len(results["tests"]) == len(sample()["requirements"]) + 1
    assert summary["tests"] == sum(
        summary[name] for name in ("passed", "failed", "skipped", "pending", "other")
    )


def test_ctrf_has_the_times_of_the_transcripts() -> None:
    value = json.loads(json.dumps(sample()))
    value["scenarios"][0] |= {"began": "1970-01-01T00:00:10+00:00", "seconds": 2.5}
    summary = json.loads(reports.RENDERERS["ctrf"](value))["results"]["summary"]
    assert (summary["start"], summary["stop"]) == (10_000, 12_500)


def test_a_leap_second_is_a_time_that_python_does_not_know() -> None:
    value = json.loads(json.dumps(sample()))
    value["scenarios"][0] |= {"began": "2016-12-31T23:59:60Z", "seconds": 2.5}
    assert list(formats.errors("report", value)) == []
    summary = json.loads(reports.RENDERERS["ctrf"](value))["results"]["summary"]
    assert (summary["start"], summary["stop"]) == (0, 2500)


def test_earl_outcomes() -> None:
    graph = json.loads(reports.RENDERERS["earl"](sample()))["@graph"]
    urn = "urn:agent-conformance-kit:va-agent-protocol:0.1.0:"
    outcomes = {one["test"].removeprefix(urn): one["result"]["outcome"] for one in graph if "test" in one}
    wanted = {"VA-LIF-001": "earl:failed", "VA-MSG-006": "kit:warned", "VA-MSG-001": "earl:passed"}
    assert {name: outcomes[name] for name in wanted} == wanted
    assert outcomes["VA-CAN-001"] == "earl:cantTell"
    assert outcomes["VA-LIF-004"] == "earl:inapplicable"


def test_markdown_says_what_failed() -> None:
    text = reports.RENDERERS["markdown"](sample())
    assert text.startswith("## ✗ Non-conformant: va-agent-protocol 0.1.0\n")
    assert "- **VA-LIF-001** (MUST) An execution moves only along the listed transitions.\n" in text
    assert "  - `transcripts/one.jsonl:5` at `/type`: it is wrong\n" in text
    assert '    expected `"failed"`, `"blocked"`; found `"completed"`\n' in text


def test_badge_says_the_claim() -> None:
    shields = json.loads(reports.RENDERERS["badge-json"](sample()))
    assert (shields["label"], shields["color"]) == ("va-agent-protocol@0.1.0", "red")
    assert re.fullmatch(r"non conformant, 2 of \d+", shields["message"])
    assert "va-agent-protocol@0.1.0: non conformant" in reports.RENDERERS["badge"](sample())


# ── whoever wrote it ─────────────────────────────────────────────────────────────────────────────


def test_the_hostile_report_is_a_report() -> None:
    assert list(formats.errors("report", hostile_report())) == []


@pytest.mark.parametrize("form", reports.RENDERERS)
def test_nothing_that_is_obeyed_and_nothing_endless(form: str) -> None:
    text = reports.RENDERERS[form](hostile_report())
    obeyed = {
        mark for mark in text if unicodedata.category(mark) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    }
    # The word joiner keeps Markdown from calling people; it is invisible, and moves nothing.
    assert obeyed <= {"\n", "\u2060"}, sorted(map(hex, map(ord, obeyed)))
    assert text.encode("utf-8")
    assert len(text) < 400_000
    assert "A" * 5000 not in text


class Page(HTMLParser):
    """What a page consists of, and where its elements lead."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update((name, value or "") for name, value in attrs)
        if tag not in ("meta", "input", "link", "img", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.remove(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    return page


def test_the_page_has_no_element_of_a_stranger() -> None:
    text = reports.RENDERERS["html"](hostile_report())
    page, harmless = parsed(text), parsed(reports.RENDERERS["html"](sample()))
    assert page.open == ["html"] or page.open == []
    assert "img" not in page.tags
    assert text.count("<script>") == 1
    assert page.tags <= harmless.tags | {"li", "b", "section", "table", "mark", "ul"}
    assert not [
        name for name, _ in page.attributes if name.startswith("on") or name in ("style", "src", "srcset")
    ]
    links = {value for name, value in page.attributes if name in ("href", "xlink:href")}
    assert links
    assert not [one for one in links if not re.fullmatch(r"#[\w-]+|(transcripts|stderr)/one\.\w+", one)]
    policy = next(value for name, value in page.attributes if value.startswith("default-src"))
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "{{7*7}}" in page.text


def test_markdown_calls_nobody_and_links_nowhere() -> None:
    text = reports.RENDERERS["markdown"](hostile_report())
    plain = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)  # what is code means nothing
    assert not re.search(r"@(?!\u2060)|(?<!\\)#(?![# ])\d|://|(?<!\\)\[|(?<!\\)!\[|www\.|GH-", plain)
    assert set(re.findall(r"</?\w[^>]*>", plain)) <= {"<details>", "<summary>", "</summary>", "</details>"}
    assert len(text) < 65_536


def test_a_value_that_is_deep_wide_or_huge() -> None:
    value = sample() | {}
    value = json.loads(json.dumps(value))
    row = next(row for row in value["requirements"] if row["findings"])
    row["findings"][0] |= {"expected": list(range(5000)), "actual": {str(one): 1 for one in range(5000)}}
    made = inert.report_of(value)
    finding = next(one for one in made["requirements"] if one["findings"])["findings"][0]
    assert len(finding["expected"]) == 201
    assert finding["expected"][-1] == "… 4800 more"
    assert len(finding["actual"]) == 201
    assert inert.text_of("x" * 5000).count("1000 characters left out") == 1


# ── the page ─────────────────────────────────────────────────────────────────────────────────────


def large(requirements: int, findings: int) -> dict[str, Any]:
    """A report with so many requirements that failed, each with so many findings."""
    value = json.loads(json.dumps(sample()))
    row = next(row for row in value["requirements"] if row["verdict"] == "fail")
    value["requirements"] = [
        row | {"id": f"X-Y-{number}", "findings": row["findings"] * findings}
        for number in range(requirements)
    ]
    return dict(value)


def test_ten_thousand_findings_stay_bounded() -> None:
    text = reports.RENDERERS["html"](large(500, 20))
    assert len(text) < 3_000_000
    assert text.count('<div class="finding fail"') == 600
    assert "9400 findings more in" in text


def test_markdown_of_ten_thousand_findings_fits_a_comment() -> None:
    value = large(500, 20)
    text = reports.RENDERERS["markdown"](value)
    assert len(text) < 65_536
    assert "  - and 17 more findings\n" in text
    assert "- and 460 more requirements\n" in text
    for row in value["requirements"]:
        row["summary"] = "x" * 3000
        for finding in row["findings"]:
            finding["message"] = "y" * 3000
    text = reports.RENDERERS["markdown"](value)
    assert 50_000 < len(text) < 65_536
    assert text.endswith("\n*The rest is left out; it is in `report.json`.*\n")


def test_the_page_shows_the_exchange(tmp_path: Path) -> None:
    """By hand: in this record the sixth event, line 6 of the file, is the second `completed`."""
    record = VA.fixtures / "transcripts" / "invalid" / "completed-twice.jsonl"
    (tmp_path / "transcripts").mkdir()
    (tmp_path / "transcripts" / "one.jsonl").write_bytes(record.read_bytes())
    finding = bad("VA-LIF-001", pointer="/type")._replace(seq=5)
    value = report(run(finding))
    found = exchanges.of_report(value, tmp_path)
    [exchange] = found.values()
    assert [step.kind for step in exchange.steps if step.way in ("sent", "received")] == [
        "dispatch", "accepted", "completed", "completed",
    ]  # fmt: skip
    [meant] = [step for step in exchange.steps if step.meant]
    assert meant.text[slice(*exchange.mark)] == '"completed"'
    line = record.read_text("utf-8").splitlines()[exchange.end[0] - 1]
    assert line[: exchange.end[1] - 1].endswith('"completed"')
    page = reports.RENDERERS["html"](value, found)
    assert "<mark>&#34;completed&#34;</mark>" in page
    assert 'class="event received meant"' in page
    log = json.loads(reports.RENDERERS["sarif"](value, found))
    region = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert (region["endLine"], region["endColumn"]) == exchange.end


@pytest.mark.parametrize(
    "transcript", ["../secret.jsonl", "/etc/hostname", "transcripts/../../secret.jsonl", "", "transcripts/\0"]
)
def test_no_file_outside_the_report_is_read(transcript: str, tmp_path: Path) -> None:
    record = VA.fixtures / "transcripts" / "invalid" / "completed-twice.jsonl"
    (tmp_path / "secret.jsonl").write_bytes(record.read_bytes())
    folder = tmp_path / "report"
    (folder / "transcripts").mkdir(parents=True)
    value = report(run(bad("VA-LIF-001", pointer="/type")))
    for row in value["requirements"]:
        for finding in row["findings"]:
            finding["transcript"] = transcript
    assert exchanges.of_report(value, folder) == {}


def test_a_report_of_an_unknown_protocol_is_told_without_its_exchanges(tmp_path: Path) -> None:
    value = json.loads(json.dumps(sample()))
    value["pack"]["protocol"] = "nobodys-protocol"
    assert exchanges.of_report(value, tmp_path) == {}
    assert "nobodys-protocol" in reports.RENDERERS["html"](value)


def test_a_file_that_is_no_transcript_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "transcripts").mkdir()
    header = b'{"transcript": 1, "protocol": "va-agent-protocol", "revision": "0.1.0"}\n'
    for content in (b"\x1f\x8b\x08\0", header + b'{"a": 1}\n'):
        (tmp_path / "transcripts" / "one.jsonl").write_bytes(content)
        assert exchanges.of_report(sample(), tmp_path) == {}


def test_a_record_that_merely_ends_and_a_pointer_that_is_none(tmp_path: Path) -> None:
    record = VA.fixtures / "transcripts" / "invalid" / "completed-twice.jsonl"
    lines = [line for line in record.read_text("utf-8").splitlines() if '"closed"' not in line]
    (tmp_path / "transcripts").mkdir()
    (tmp_path / "transcripts" / "one.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    finding = bad("VA-LIF-001", pointer="no pointer")._replace(seq=5)
    [exchange] = exchanges.of_report(report(run(finding)), tmp_path).values()
    assert (exchange.steps[-1].way, exchange.steps[-1].text) == ("closed", "the record ends here")
    assert (exchange.end, exchange.mark) == ((0, 0), (0, 0))


def test_the_page_tells_long_times_in_minutes_and_a_lone_backtick_as_it_is() -> None:
    page = reports.RENDERERS["html"](
        report(run(bad("VA-LIF-001")._replace(message="a ` alone"), seconds=125.0))
    )
    assert "2 min 05 s in all" in page
    assert "a ` alone" in page


def test_an_exchange_of_several_connections_and_of_no_message(tmp_path: Path) -> None:
    """By hand: the fourth line of the record is no message, and is the third event."""
    record = VA.fixtures / "transcripts" / "invalid" / "log-line-on-stdout.jsonl"
    (tmp_path / "transcripts").mkdir()
    lines = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    text = "".join(
        json.dumps(line | {"connection": "second"} if "seq" in line else line) + "\n" for line in lines
    )
    (tmp_path / "transcripts" / "one.jsonl").write_text(text, encoding="utf-8")
    finding = bad("WIRE-NOISE", pointer="")._replace(seq=3)
    [exchange] = exchanges.of_report(report(run(finding)), tmp_path).values()
    [meant] = [step for step in exchange.steps if step.meant]
    assert (meant.way, meant.text, exchange.end) == ("malformed", "INFO agent: starting task T-1", (0, 0))
    drawn = sequences.drawn(exchange)
    assert [arrow.label for arrow in drawn.arrows if arrow.meant] == ["no message (second)"]


def test_untested_is_explained() -> None:
    value = report(run(good("VA-MSG-001")))
    told = {row["id"]: row["lacking"] for row in value["requirements"] if row.get("lacking")}
    assert "No scenario that was run is about it." in told["VA-COR-001"]
    page = reports.RENDERERS["html"](value)
    assert "It is about accepted, of which no message was seen." in page
    untested = [row["id"] for row in value["requirements"] if row["verdict"] == "untested"]
    assert untested
    assert all(f'href="#r-{name}">{name}</a>' in page for name in untested)


@pytest.mark.parametrize("pack", packs.find_all(), ids=lambda pack: pack.name)
def test_every_lifecycle_can_be_drawn(pack: packs.Pack) -> None:
    for one in report(pack=pack)["lifecycles"]:
        drawing = layers.drawn(one)
        assert {box.name for box in drawing.boxes} == set(one["states"])
        assert {(line.source, line.target) for line in drawing.lines} == {
            (edge["from"], edge["to"]) for edge in one["edges"]
        }
        for number, box in enumerate(drawing.boxes):
            assert box.width / 2 <= box.x <= drawing.width - box.width / 2
            for other in drawing.boxes[:number]:
                apart = abs(box.x - other.x) >= (box.width + other.width) / 2
                assert apart or abs(box.y - other.y) >= layers.HEIGHT, (box.name, other.name)


def test_what_a_record_exercised() -> None:
    """By hand, from the fixture: one action, submitted, accepted, executing, told to stop, cancelled."""
    path = AWP.fixtures / "transcripts" / "valid" / "cancelled-while-executing.jsonl"
    evidence = evaluation.judge(path, AWP, "world")
    assert evidence.digest == "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    value = report(run(evidence=evidence), pack=AWP)
    [life] = value["lifecycles"]
    given = [(one["state"], one["reason"], one["seen"]) for one in life["reasons"] if one["seen"]]
    assert given == [("cancelled", "cancelled_by_agent", 1)]
    kinds = {one["kind"]: one["seen"] for one in value["exercise"]["kinds"]}
    assert kinds["action.submit"] == {"agent": 1}
    assert kinds["safety.approval.respond"] == {}
    numbers = [
        json.loads(line)["message"]["params"]["status_seq"]
        for line in path.read_text("utf-8").splitlines()
        if '"action.status"' in line
    ]
    [row] = [
        one
        for one in value["exercise"]["integers"]
        if (one["kind"], one["pointer"]) == ("action.status", "/params/status_seq")
    ]
    assert (row["seen"], row["least"], row["greatest"]) == (len(numbers), min(numbers), max(numbers))
    assert row["boundaries"] == [{"value": 0, "seen": 0}, {"value": 2**53 - 1, "seen": 0}]


def test_boundary_values_are_counted_over_all_runs() -> None:
    one, two = exercise.Seen(), exercise.Seen()
    for seen, values in ((one, (0, 7)), (two, (2**53 - 1, 3))):
        for number in values:
            seen.take(number, (0, 2**53 - 1))
    one.add(two)
    one.add(exercise.Seen())
    assert (one.count, one.least, one.greatest) == (4, 0, 2**53 - 1)
    assert one.boundaries == {0: 1, 2**53 - 1: 1}


def test_illegal_moves_are_drawn_and_unknown_states_too() -> None:
    [life] = report(run(good("VA-MSG-001")))["lifecycles"]
    life["illegal"] = [
        {"from": "completed", "to": "running", "seen": 2},
        {"from": "failed", "to": "failed", "seen": 1},
        *({"from": "running", "to": f"dreaming-{number}", "seen": 1} for number in range(20)),
    ]
    drawing = layers.drawn(life)
    assert [line.state for line in drawing.lines].count("illegal") == layers.ILLEGAL
    assert drawing.left_out == 22 - layers.ILLEGAL
    assert "dreaming-0" in {box.name for box in drawing.boxes}


# ── the command ──────────────────────────────────────────────────────────────────────────────────


def test_render_takes_a_folder_and_writes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "report.json").write_text(json.dumps(sample()), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["render", str(tmp_path), "--format", "html", "-o", str(tmp_path / "page.html")])
    assert ended.value.code == 0
    assert (tmp_path / "page.html").read_text("utf-8") == reports.RENDERERS["html"](sample())
    with pytest.raises(SystemExit) as ended:
        main(["render", str(tmp_path), "--format", "markdown"])
    assert capsys.readouterr().out == reports.RENDERERS["markdown"](sample())


def test_a_file_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "report.json").write_text(json.dumps(sample()), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["render", str(tmp_path), "--format", "badge", "-o", str(tmp_path / "no" / "badge.svg")])
    assert ended.value.code == 2
    assert "badge.svg cannot be written: No such file or directory" in capsys.readouterr().err


def test_the_command_names_every_format() -> None:
    [option] = [one for one in main.commands["render"].params if one.name == "form_out"]
    assert re.split(r", | or ", str(option.help).removesuffix(".")) == [*reports.RENDERERS]
