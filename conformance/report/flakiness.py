"""Whether the runs of one scenario differ, and in what; the verdicts do not change by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from conformance.findings import Requirement, fold, verdict_of

if TYPE_CHECKING:
    from conformance.report.evaluation import Run

_NOT_SHOWN = "not shown"


def of_requirement(requirement: Requirement, runs: Iterable[Run]) -> str:
    """In words, what the runs of each scenario say of the requirement; empty where they say the same."""
    told = ((name, Counter(_word(requirement, one) for one in of)) for name, of in _repeated(runs).items())
    return "; ".join(f"{_counted(counts)} of scenario {name}" for name, counts in told if len(counts) > 1)


def of_scenarios(runs: list[Run], requirements: Iterable[Requirement]) -> dict[str, str]:
    """By name, how the runs of a scenario differ; those whose runs do not are left out."""
    told: dict[str, str] = {}
    for name, of in _repeated(runs).items():
        statuses = Counter(run.status for run in of)
        differing = [one.id for one in requirements if of_requirement(one, of)]
        if len(statuses) > 1:
            told[name] = _counted(statuses)
        elif differing:
            told[name] = (
                f"{of[0].status} in all {len(of)} runs, which do not agree about {', '.join(differing)}"
            )
    return told


def _repeated(runs: Iterable[Run]) -> dict[str, list[Run]]:
    by_name: dict[str, list[Run]] = {}
    for run in runs:
        by_name.setdefault(run.name, []).append(run)
    return {name: of for name, of in by_name.items() if len(of) > 1}


def _word(requirement: Requirement, run: Run) -> str:
    """What one run says of it. Of what its scenario does not name, silence is nothing against it."""
    found = [one for one in run.evidence.findings if one.requirement == requirement.id]
    if not found:
        return _NOT_SHOWN if requirement.id in run.requirements else "pass"
    return fold(verdict_of(one, requirement.level) for one in found).word


def _counted(counts: Counter[str]) -> str:
    """`fail in 1, pass in 2 of 3 runs`."""
    listed = ", ".join(f"{word} in {count}" for word, count in sorted(counts.items()))
    return f"{listed} of {counts.total()} runs"
