"""The report as plain text for a terminal: what failed and where, what stayed open, the claim last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.wording import plural, shown

_ORDER = ("fail", "inconclusive", "warn", "pass", "manual", "untested", "not-applicable")


def render(report: dict[str, Any]) -> str:
    """The whole text, ending with a newline."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: dict[str, Any]) -> Iterator[str]:
    for row in report["requirements"]:
        if row["verdict"] in ("fail", "warn", "inconclusive"):
            yield from _requirement(row)
    for run in report["scenarios"]:
        if run["status"] in ("inconclusive", "unreachable", "error", "interrupted"):
            yield f"scenario {run['name']}: {run['status']}: {run['reason']}"
    counts = report["claim"]["counts"]
    said = [f"{counts[word]} {word}" for word in _ORDER if counts.get(word)]
    pack = report["pack"]
    yield f"{pack['protocol']}@{pack['revision']}, {report['role']}: {', '.join(said)}"
    for erratum in report["errata"]:
        yield f"erratum applied: {erratum['id']} ({erratum['schema']})"
    yield f"claim: {report['claim']['status']}"
    yield report["claim"]["wording"]


def _requirement(row: dict[str, Any]) -> Iterator[str]:
    yield f"{row['verdict'].upper()} {row['id']} ({row['level']}): {row['summary']}"
    if not row["findings"]:
        yield f"    {row['reason']}"
    for finding in row["findings"]:
        place = (
            f"{finding['transcript']}:{finding['line']}:{finding['column']}"
            if finding["line"]
            else finding["scenario"]
        )
        yield f"    {place}: {finding['message']}"
        if finding["pointer"]:
            yield f"        at {finding['pointer']}"
        if finding["expected"]:
            allowed = ", ".join(shown(value) for value in finding["expected"][:12])
            yield f"        expected {allowed}; found {shown(finding['actual'])}"
    if row["further_findings"]:
        yield f"    and {plural(row['further_findings'], 'more finding')}"
    if row["reference"]:
        yield f"    rule: {row['reference']}"
