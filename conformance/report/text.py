"""The report as plain text for a terminal: what failed and where, what stayed open, the claim last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.exchanges import NONE, Exchanges
from conformance.strain import LIMIT
from conformance.wording import plural, printable, shown

_ORDER = ("fail", "inconclusive", "warn", "pass", "manual", "untested", "not-applicable")


def render(report: dict[str, Any], _: Exchanges = NONE) -> str:
    """The whole text, ending with a newline; what an implementation said is escaped for a terminal."""
    return "".join(printable(line) + "\n" for line in _lines(report))


def _lines(report: dict[str, Any]) -> Iterator[str]:
    open_ = [row for row in report["requirements"] if row["verdict"] == "inconclusive"]
    for row in report["requirements"]:
        if row["verdict"] in ("fail", "warn"):
            yield from _requirement(row)
    for run in report["scenarios"]:
        unshown = [row for row in open_ if _is_unshown(row, run)]
        open_ = [row for row in open_ if row not in unshown]
        yield from _scenario(run, unshown)
    for row in open_:
        yield from _requirement(row)
    yield from _summary(report)


def _is_unshown(row: dict[str, Any], run: dict[str, Any]) -> bool:
    """Whether the requirement is open for no other reason than how this scenario ended."""
    if row["findings"]:
        return all(
            (one["scenario"], one["message"]) == (run["name"], run["reason"]) for one in row["findings"]
        )
    return run["status"] in _ENDED and row["id"] in run["requirements"]


_ENDED = ("failed", "inconclusive", "unreachable", "error", "interrupted")


def _scenario(run: dict[str, Any], unshown: list[dict[str, Any]]) -> Iterator[str]:
    if run["stretched"] >= LIMIT:
        waited = f"the kit waited {run['stretched']:g} times as long as usual, and no longer"
        yield f"scenario {run['name']}: the machine, or the implementation, was so slow that {waited}"
    if "flaky" in run and "attempt" not in run:
        yield f"flaky, scenario {run['name']}: {run['flaky']}"
    if run["status"] not in _ENDED or (run["status"] == "failed" and not unshown):
        return
    step = f" (the step of line {run['line']})" if run["line"] else ""
    again = f", run {run['attempt']}" if "attempt" in run else ""
    yield f"scenario {run['name']}{again}: {run['status']}: {run['reason']}{step}"
    if unshown:
        yield f"    so it could not show {', '.join(row['id'] for row in unshown)}"


def _summary(report: dict[str, Any]) -> Iterator[str]:
    counts, pack = report["claim"]["counts"], report["pack"]
    said = [f"{counts[word]} {word}" for word in _ORDER if counts.get(word)]
    yield f"{pack['protocol']}@{pack['revision']}, {report['role']}: {', '.join(said)}"
    yield from _open_ends(report)
    if report["errata"]:
        yield f"errata applied: {', '.join(erratum['id'] for erratum in report['errata'])}"
    for one in report["ics_findings"]:
        place = f" ({one['transcript']}:{one['line']})" if one["line"] else ""
        yield f"ICS: {one['message']}{place}"
    yield from of_baseline(report)
    yield from _of_fuzz(report)
    for missing in report.get("certification", {"missing": ()})["missing"]:
        yield f"not certified: {missing}"
    yield f"claim: {report['claim']['status']}"
    yield report["claim"]["wording"]


def of_baseline(report: dict[str, Any]) -> Iterator[str]:
    """What was known to fail, and what has to be done about the rest; entries stand as they can be pasted.

    Nothing where the report has no baseline.
    """
    known = report.get("baseline")
    if known is None:
        return
    counts = ", ".join(f"{len(known[name])} {name}" for name in ("expected", "unexpected", "stale", "unseen"))
    yield f"baseline {known['path']}: {counts}"
    for entry in known["expected"]:
        issue = entry["issue"] or "no issue is linked"
        yield f"    expected until {entry['expires']}, {_of_entry(entry)}: {entry['reason']} ({issue})"
    for name in ("unseen", "stale"):
        for entry in known[name]:
            yield f"    {name}, {_of_entry(entry)}: {entry['said']}"
    for one in known["unexpected"]:
        yield f"    unexpected, {one['requirement']} in {', '.join(one['scenarios'])}; if it is to be known:"
        yield ""
        yield from one["entry"].splitlines()
        yield ""


def _of_fuzz(report: dict[str, Any]) -> Iterator[str]:
    """What negative tests showed, and by which scenarios; nothing where the report has none."""
    told = report.get("fuzz")
    if told is None:
        return
    counts = f"{told['refused']} refused, {told['survived']} survived"
    failed = len(told["failures"]) + told["further"]
    open_ = f", {len(told['inconclusive'])} inconclusive" if told["inconclusive"] else ""
    yield f"fuzz, seed {told['seed']}: {told['tried']} tried, {counts}, {failed} failed{open_}"
    for one in told["failures"]:
        yield f"    {one['kind']}, {one['sort']}: {one['message']}"
        yield f"        {one['scenario']} shows it again"
    for said in told["inconclusive"][:TOLD]:
        yield f"    inconclusive: {said}"
    if told["left"]:
        yield f"    not tried: {told['left']}"


def _of_entry(entry: dict[str, Any]) -> str:
    where = f" in {entry['scenario']}" if entry["scenario"] else ""
    return f"{entry['requirement']}{where}"


def _open_ends(report: dict[str, Any]) -> Iterator[str]:
    """Why requirements are untested, and scenarios not applicable: a line for each reason."""
    reasons: dict[str, list[str]] = {}
    for row in report["requirements"]:
        if row["verdict"] == "untested":
            reasons.setdefault(row["reason"], []).append(row["id"])
    for reason, ids in reasons.items():
        listed = f": {', '.join(ids)}" if len(ids) <= LISTED else ""
        yield f"untested, {len(ids)}: {reason}{listed}"
    for run in report["scenarios"]:
        if run["status"] == "not-applicable":
            yield f"not applicable, scenario {run['name']}: {run['reason']}"


LISTED = 12
"""So many ids are listed on a line at most."""

TOLD = 3
"""So many findings against one requirement are told at most; the report itself has more."""


def told_of(finding: dict[str, Any]) -> Iterator[str]:
    """One finding: where, what, what was expected and what was found."""
    where = f"{finding['transcript']}:{finding['line']}:{finding['column']}"
    yield f"{where if finding['line'] else finding['scenario']}: {finding['message']}"
    if finding["pointer"]:
        yield f"    at {finding['pointer']}"
    if finding["expected"]:
        allowed = ", ".join(shown(value) for value in finding["expected"][:12])
        yield f"    expected {allowed}; found {shown(finding['actual'])}"


def _requirement(row: dict[str, Any]) -> Iterator[str]:
    yield f"{row['verdict'].upper()} {row['id']} ({row['level']}): {row['summary']}"
    for finding in row["findings"][:TOLD]:
        yield from (f"    {line}" for line in told_of(finding))
    if "flaky" in row:
        yield f"    flaky: {row['flaky']}"
    further = row["further_findings"] + len(row["findings"][TOLD:])
    if further:
        yield f"    and {plural(further, 'more finding')}, in report.json"
    if row["reference"]:
        yield f"    rule: {row['reference']}"
