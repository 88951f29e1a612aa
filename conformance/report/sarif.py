"""The report as SARIF 2.1.0 (OASIS): a rule for each requirement, a result for each finding against one.

A result stands in the transcript, at the value that it is about; what only a whole scenario shows, in
`report.json`. Passes are no results: readers of SARIF show each result as a problem.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from conformance import KIT
from conformance.exchanges import Exchanges, place_of
from conformance.report.dialects import DIALECTS

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
"""The schema that a log names; it is never fetched."""

Row = dict[str, Any]


def log(rules: list[Row], results: list[Row], notifications: list[Row], *, successful: bool) -> Row:
    """A log of one run, with what the tool itself has to say."""
    run = {
        "tool": {"driver": {"name": KIT["name"], "version": KIT["version"], "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": successful, "toolExecutionNotifications": notifications}],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def rule(name: str, summary: str, level: str, reference: str) -> Row:
    """The rule that a requirement is."""
    row: Row = {
        "id": name,
        "shortDescription": {"text": summary},
        "defaultConfiguration": {"level": "error" if level == "MUST" else "warning"},
    }
    return row | ({"help": {"text": f"See {reference}."}} if reference else {})


def region(line: int, column: int, end_line: int, end_column: int) -> Row:
    """A stretch of an input, in lines and columns from 1; the end is exclusive."""
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def render(report: Row, exchanges: Exchanges) -> str:
    """The log as JSON text."""
    rules = [_rule(row) for row in report["requirements"]]
    results = [
        one for index, row in enumerate(report["requirements"]) for one in _results(row, index, exchanges)
    ]
    notifications = [*_notifications(report)]
    made = log(rules, results, notifications, successful=report["complete"] and not notifications)
    claim = {"claim": report["claim"]["status"], "wording": report["claim"]["wording"]}
    made["runs"][0]["properties"] = claim
    return json.dumps(made, indent=2) + "\n"


def _rule(row: Row) -> Row:
    made = rule(row["id"], row["summary"], row["level"], row["reference"])
    return made | {"properties": {name: row[name] for name in ("verdict", "level", "role")}}


def _results(row: Row, index: int, exchanges: Exchanges) -> Iterator[Row]:
    for finding in row["findings"]:
        kind, level = DIALECTS[finding["verdict"]].sarif
        yield _result(row, index, kind, level, finding["message"], [_location(finding, exchanges)])
    kind, level = DIALECTS[row["verdict"]].sarif
    if kind and not row["findings"]:
        yield _result(
            row, index, kind, level, row["reason"], [{"physicalLocation": _artifact("report.json")}]
        )


def _result(row: Row, index: int, kind: str, level: str, said: str, locations: list[Row]) -> Row:
    return {
        "ruleId": row["id"],
        "ruleIndex": index,
        "kind": kind,
        "level": level,
        "message": {"text": said or row["summary"]},
        "locations": locations,
    }


def _location(finding: Row, exchanges: Exchanges) -> Row:
    is_beside = finding["transcript"].startswith("transcripts/") and ".." not in finding["transcript"]
    physical = _artifact(finding["transcript"] if is_beside else "report.json")
    if is_beside and finding["line"]:
        line, column = finding["line"], max(finding["column"], 1)
        found = exchanges.get(place_of(finding))
        end = found.end if found and found.end > (line, column) else (line, column + 1)
        physical["region"] = region(line, column, *end)
    logical = {"logicalLocations": [{"fullyQualifiedName": finding["pointer"]}]} if finding["pointer"] else {}
    return {"physicalLocation": physical, **logical}


def _artifact(path: str) -> Row:
    return {"artifactLocation": {"uri": quote(path.encode("utf-8", "surrogatepass"))}}


def _notifications(report: Row) -> Iterator[Row]:
    for run in report["scenarios"]:
        if run["status"] in ("unreachable", "error", "interrupted"):
            said = f"scenario {run['name']}: {run['status']}: {run['reason']}"
            yield {"level": "error", "message": {"text": said}}
