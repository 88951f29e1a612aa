"""The report in the Common Test Report Format (CTRF): a test for each requirement.

A scenario that broke off is one too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from conformance.exchanges import Exchanges
from conformance.report import timing
from conformance.report.dialects import DIALECTS
from conformance.report.text import told_of

VERSION = "0.0.0"
"""The version of the format."""

STATUSES = ("passed", "failed", "skipped", "pending", "other")

Row = dict[str, Any]


def render(report: Row, _: Exchanges) -> str:
    """The document as JSON text. A requirement takes no time of its own; the summary has that of the run."""
    suite = [f"{report['pack']['protocol']}@{report['pack']['revision']}", report["role"]]
    tests = [*(_test(row, suite) for row in report["requirements"]), *_broken(report, suite)]
    counts = Counter(test["status"] for test in tests)
    start, stop = timing.span(report)
    summary = {"tests": len(tests), **{name: counts[name] for name in STATUSES}, "start": start, "stop": stop}
    tool = {"name": report["kit"]["name"], "version": report["kit"]["version"]}
    results = {
        "tool": tool,
        "summary": summary | {"extra": {"claim": report["claim"]["status"]}},
        "tests": tests,
        "extra": {"wording": report["claim"]["wording"], "complete": report["complete"]},
    }
    made = {"reportFormat": "CTRF", "specVersion": VERSION, "generatedBy": tool["name"], "results": results}
    return json.dumps(made, indent=2) + "\n"


def _test(row: Row, suite: list[str]) -> Row:
    test = {
        "name": f"{row['id']}: {row['summary']}",
        "testId": row["id"],
        "status": DIALECTS[row["verdict"]].ctrf,
        "rawStatus": row["verdict"],
        "duration": 0,
        "suite": suite,
        "tags": [row["level"]],
    }
    told = [line for finding in row["findings"] for line in told_of(finding)]
    test |= {"message": row["reason"]} if row["reason"] else {}
    test |= {"trace": "\n".join(told)} if told else {}
    return test | ({"labels": {"rule": row["reference"]}} if row["reference"] else {})


def _broken(report: Row, suite: list[str]) -> Iterator[Row]:
    for run in report["scenarios"]:
        if run["status"] in ("unreachable", "error", "interrupted"):
            yield {
                "name": f"scenario {run['name']}",
                "status": "other",
                "rawStatus": run["status"],
                "duration": round(run["seconds"] * 1000),
                "suite": suite,
                "message": run["reason"],
            }
