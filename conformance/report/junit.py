"""The report as JUnit XML: a suite per run, a test case per requirement, in the dialect CI servers read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from conformance.exchanges import NONE, Exchanges
from conformance.report.dialects import DIALECTS
from conformance.wording import shown
from conformance.xmltext import xml_text


def render(report: dict[str, Any], _: Exchanges = NONE) -> str:
    """The XML text. Characters that XML 1.0 cannot hold become U+FFFD."""
    rows = report["requirements"]
    pack = f"{report['pack']['protocol']}@{report['pack']['revision']}"
    broken = [run for run in report["scenarios"] if run["status"] in ("unreachable", "error", "interrupted")]
    elements = Counter(DIALECTS[row["verdict"]].junit for row in rows)
    counts = {"tests": len(rows) + len(broken), "failures": elements["failure"], "errors": len(broken)}
    seconds = sum(run["seconds"] for run in report["scenarios"])
    attributes = {name: str(count) for name, count in counts.items()} | {"time": f"{seconds:.3f}"}
    root = Element("testsuites", {"name": "conformance", **attributes})
    suite = SubElement(
        root,
        "testsuite",
        {"name": f"{pack} {report['role']}", "skipped": f"{elements['skipped']}", **attributes},
    )
    properties = SubElement(suite, "properties")
    for name in ("status", "wording"):
        SubElement(
            properties, "property", {"name": f"claim.{name}", "value": xml_text(report["claim"][name])}
        )
    known = {entry["requirement"]: entry for entry in report.get("baseline", {}).get("expected", ())}
    for row in rows:
        _case(suite, pack, row, known.get(row["id"]))
    for run in broken:
        name = f"scenario {xml_text(run['name'])}" + (f", run {run['attempt']}" if "attempt" in run else "")
        case = SubElement(suite, "testcase", {"classname": pack, "name": name, "time": "0"})
        SubElement(case, "error", {"message": xml_text(run["reason"])}).text = xml_text(run["reason"])
    indent(root)
    return "<?xml version='1.0' encoding='utf-8'?>\n" + tostring(root, encoding="unicode") + "\n"


def _case(suite: Element, pack: str, row: dict[str, Any], known: dict[str, Any] | None) -> None:
    case = SubElement(suite, "testcase", {"classname": pack, "name": row["id"], "time": "0"})
    verdict, reason = row["verdict"], xml_text(row["reason"])
    element = DIALECTS[verdict].junit
    if element == "failure":
        told = [line for one in row["findings"] for line in _told(one)]
        told += [f"flaky: {row['flaky']}"] if "flaky" in row else []
        told += [f"known until {known['expires']}: {known['reason']}"] if known else []
        failure = SubElement(case, "failure", {"message": f"{verdict}: {reason}", "type": verdict})
        rule = [f"rule: {row['reference']}"] if row["reference"] else []
        failure.text = xml_text("\n".join([row["summary"], *told, *rule]))
    elif element == "skipped":
        SubElement(case, "skipped", {"message": f"{verdict}: {reason}"})
    elif element:
        SubElement(case, element).text = f"warning: {reason}"


def _told(finding: dict[str, Any]) -> Iterator[str]:
    yield f"{finding['transcript']}:{finding['line']}:{finding['column']}: {finding['message']}"
    if finding["pointer"]:
        yield f"    at {finding['pointer']}"
    if finding["expected"]:
        allowed = ", ".join(shown(value) for value in finding["expected"])
        yield f"    expected {allowed}; found {shown(finding['actual'])}"
