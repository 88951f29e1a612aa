"""What one scenario alone says of a requirement, in words: for items of a test runner."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.findings import Finding, Requirement, Verdict, fold, verdict_of
from conformance.packs import Pack
from conformance.report.evaluation import Run
from conformance.wording import shown


def in_scenario(run: Run, requirement: Requirement) -> tuple[str, str, list[str]]:
    """The requirement's verdict in this run, why, and the findings against it as text."""
    found = [one for one in run.evidence.findings if one.requirement == requirement.id]
    verdict = fold(verdict_of(one, requirement.level) for one in found)
    if not found:
        return _unheard(run)
    worst = [one for one in found if verdict_of(one, requirement.level) is verdict and not one.ok]
    told = [*_head(requirement), *(line for one in worst for line in told_of(one, run))]
    return verdict.word, worst[0].message if worst else "", told


def elsewhere(run: Run, pack: Pack) -> tuple[str, str, list[str]]:
    """The same for all requirements together that the scenario does not name: only failures count."""
    told: list[str] = []
    for name, requirement in pack.requirements.items():
        found = [one for one in run.evidence.findings if one.requirement == name]
        broken = [one for one in found if verdict_of(one, requirement.level) is Verdict.FAIL]
        if broken and name not in run.requirements:
            told += [*_head(requirement), *(line for one in broken for line in told_of(one, run))]
    if told:
        return "fail", told[0], told
    return _unheard(run) if run.status in (*_CUT_SHORT, "not-applicable") else ("pass", "", [])


_CUT_SHORT = ("inconclusive", "failed")


def _unheard(run: Run) -> tuple[str, str, list[str]]:
    if run.status in _CUT_SHORT:
        return "inconclusive", run.reason, []
    if run.status == "not-applicable":
        return "not-applicable", run.reason, []
    return "untested", "nothing in this scenario exercised it", []


def _head(requirement: Requirement) -> Iterator[str]:
    yield f"{requirement.id} ({requirement.level.value}): {requirement.summary}"
    if requirement.reference:
        yield f"    rule: {requirement.reference}"


def told_of(finding: Finding, run: Run) -> Iterator[str]:
    """One finding: where, what, what was expected and what was found."""
    place = f"{run.transcript}:{finding.line}:{finding.column}" if finding.line else run.name
    at = f" (at {finding.pointer})" if finding.pointer else ""
    yield f"    {place}: {finding.message}{at}"
    if finding.expected:
        allowed = ", ".join(shown(value) for value in finding.expected[:12])
        yield f"        expected {allowed}; found {shown(finding.actual)}"
