"""Whether a run certifies, what is missing if not, and what the command then ends with."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.execution import exit_code
from conformance.report import certificate


def row(name: str, verdict: str, level: str = "MUST") -> dict[str, str]:
    return {"id": name, "level": level, "verdict": verdict, "reason": "why"}


PASSED = row("VA-A-001", "pass")


def report(*rows: dict[str, str], complete: bool = True, **rest: Any) -> dict[str, Any]:
    claim = {"status": "conformant", "counts": {"inconclusive": 0}}
    return {"complete": complete, "requirements": [*rows], "scenarios": [], "claim": claim, **rest}


def scenario(status: str) -> dict[str, str]:
    return {"name": "one", "status": status, "reason": "because"}


@pytest.mark.parametrize(
    ("value", "missing"),
    [
        (report(PASSED), []),
        (report(PASSED, row("VA-A-002", "warn"), row("VA-A-003", "not-applicable")), []),
        # What is only recommended, and whether texts are JSON, need not be shown.
        (report(PASSED, row("VA-A-002", "untested", "SHOULD"), row("WIRE-UTF8", "untested")), []),
        (report(PASSED, row("VA-A-002", "untested")), ["VA-A-002 is untested: why"]),
        (report(PASSED, row("VA-A-002", "manual")), ["VA-A-002 is manual: why"]),
        (report(PASSED, row("VA-A-002", "inconclusive")), ["VA-A-002 is inconclusive: why"]),
        (report(PASSED, row("VA-A-002", "fail")), ["VA-A-002 is fail: why"]),
        (report(PASSED, row("WIRE-UTF8", "fail")), ["WIRE-UTF8 is fail: why"]),
        # A finding of a recommendation may be about what is binding.
        (report(PASSED, row("VA-A-002", "fail", "SHOULD")), ["VA-A-002 is fail: why"]),
        (report(PASSED, complete=False), ["the run was not completed"]),
        (report(PASSED, scenarios=[scenario("passed"), scenario("not-applicable")]), []),
        (
            report(PASSED, scenarios=[scenario("inconclusive")]),
            ["scenario one is inconclusive: because"],
        ),
        (report(claim={"status": "not-evaluated"}), ["nothing was shown"]),
    ],
)
def test_what_is_missing(value: dict[str, Any], missing: list[str]) -> None:
    assert certificate.of(value) == {"granted": not missing, "missing": missing}


KNOWN: dict[str, Any] = {"unexpected": [], "stale": [], "expected": [{}], "unseen": [{}]}
FAILED = {"status": "non-conformant", "counts": {"inconclusive": 0}}


@pytest.mark.parametrize(
    ("rest", "code"),
    [
        ({}, 0),
        ({"claim": FAILED}, 1),
        ({"claim": FAILED, "baseline": KNOWN}, 0),
        ({"claim": FAILED, "baseline": {**KNOWN, "unexpected": [{}]}}, 1),
        ({"baseline": {**KNOWN, "stale": [{}]}}, 1),
        # That a failure was known decides nothing else.
        ({"claim": FAILED, "baseline": KNOWN, "scenarios": [scenario("inconclusive")]}, 3),
        ({"claim": FAILED, "baseline": KNOWN, "scenarios": [scenario("error")]}, 4),
        ({"certification": {"granted": True}}, 0),
        ({"certification": {"granted": False}}, 3),
        ({"claim": FAILED, "certification": {"granted": False}}, 1),
    ],
)
def test_exit_code(rest: dict[str, Any], code: int) -> None:
    assert exit_code(report(PASSED, **rest)) == code
