"""Whether a run certifies: every applicable MUST was met, and everything decided; if not, what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_OPEN = ("fail", "inconclusive", "untested", "manual")
_TROUBLED = ("inconclusive", "unreachable", "interrupted", "error")


def of(report: dict[str, Any]) -> dict[str, Any]:
    """The member `certification` of a report: `granted`, and a sentence for each thing that is `missing`."""
    missing = list(_missing(report))
    return {"granted": not missing, "missing": missing}


def _missing(report: dict[str, Any]) -> Iterator[str]:
    if not report["complete"]:
        yield "the run was not completed"
    for run in report["scenarios"]:
        if run["status"] in _TROUBLED:
            yield f"scenario {run['name']} is {run['status']}: {run['reason']}"
    for row in report["requirements"]:
        # What failed as a MUST is one, whatever it is called; that texts are JSON need not be shown.
        shown = row["level"] == "MUST" and not row["id"].startswith("WIRE-")
        if row["verdict"] == "fail" or (shown and row["verdict"] in _OPEN):
            yield f"{row['id']} is {row['verdict']}: {row['reason']}"
    if report["claim"]["status"] == "not-evaluated":
        yield "nothing was shown"
