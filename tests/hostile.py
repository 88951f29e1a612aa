"""A report of a stranger who wants whoever reads it to do something else than read."""

from __future__ import annotations

import json
from typing import Any

from conformance import packs
from conformance.report import evaluation
from conformance.report.evaluation import Evidence, Run

VA = packs.find("va-agent-protocol")

NASTY = (
    '"></title></style></script><script>alert(1)</script><img src=x onerror=alert(2)>'
    "&lt;b&gt; {{7*7}} {% raw %} ]]> --> \x1b[31mred\x1b]0;title\x07 \x00\x08\x7f\x9b1m "
    "\u202egnp.exe\u202c \u2066x\u2069 "
    "\ud800 \udfff \ufffe \u2028 =cmd|' /C calc'!A0 @everyone #1 GH-1 https://evil.example/ www.evil.example "
    "[click](javascript:alert(3)) ![x](https://evil.example/x.png) `code` | cell | "
    "\r\n# heading\n- item\n<!-- "
)
"""Markup of every format, escapes of terminals, characters that turn text round, halves of characters."""

LONG = "A" * 1_000_000


def value() -> dict[str, Any]:
    """A report whose every text that somebody else wrote is nasty; one is a megabyte long."""
    run = Run(
        NASTY, NASTY, "error", NASTY, 3, 0.5, "transcripts/one.jsonl", "stderr/one.txt", (NASTY,), Evidence()
    )  # fmt: skip
    made = evaluation.evaluate(
        VA,
        "agent",
        [run],
        target=NASTY,
        implementation={"name": NASTY, "version": NASTY, "vendor": NASTY},
        ics={NASTY: {NASTY: [NASTY, True]}},
        complete=False,
    )
    finding = {
        "scenario": NASTY, "transcript": "../../etc/passwd", "seq": 4, "line": 5, "column": 7,
        "pointer": "/" + NASTY, "expected": [NASTY, {NASTY: NASTY}], "actual": _deep(NASTY),
    }  # fmt: skip
    for row, verdict in zip(made["requirements"], ("fail", "warn", "inconclusive"), strict=False):
        row |= {"verdict": verdict, "reason": NASTY, "summary": NASTY, "reference": NASTY, "role": NASTY}
        row |= {"findings": [{**finding, "verdict": verdict, "message": text} for text in (NASTY, LONG)]}
        row |= {"flaky": NASTY, "proved_by": [NASTY], "failed_in": [NASTY], "area": NASTY}
    made["requirements"][3] |= {"verdict": "untested", "reason": NASTY, "lacking": [NASTY]}
    known = {
        "requirement": NASTY, "scenario": NASTY, "reason": NASTY, "issue": NASTY, "expires": "2030-01-01",
        "flaky": True, "said": NASTY,
    }  # fmt: skip
    surprise = {"requirement": NASTY, "scenarios": [NASTY], "reason": NASTY, "entry": NASTY}
    made["baseline"] = {
        "path": NASTY, "expected": [known], "stale": [known], "unseen": [known], "unexpected": [surprise],
    }  # fmt: skip
    made["certification"] = {"granted": False, "missing": [NASTY, LONG]}
    made["ics_findings"] = [
        {
            "fact": NASTY,
            "stated": True,
            "scenarios": [NASTY],
            "transcript": NASTY,
            "line": 2,
            "message": NASTY,
        }
    ]
    made["errata"] = [{"id": NASTY, "schema": NASTY, "reason": NASTY}]
    life = made["lifecycles"][0]
    life["illegal"] = [
        {"from": NASTY, "to": LONG, "seen": 3},
        {"from": "running", "to": NASTY, "seen": 10**30},
    ]
    life["reasons"] = [{"state": "completed", "reason": NASTY, "listed": False, "seen": 1}]
    made["exercise"]["kinds"] = [{"kind": NASTY, "seen": {NASTY: 1}}]
    made["exercise"]["integers"][0] |= {
        "kind": NASTY,
        "pointer": NASTY,
        "least": -(10**200),
        "greatest": 10**200,
    }
    made["scenarios"][0]["flaky"] = NASTY
    made["claim"] |= {"status": "non-conformant", "wording": NASTY}
    return made


def _deep(text: str) -> Any:
    nested: Any = text
    for _ in range(200):
        nested = [nested]
    return nested


def text() -> str:
    """The same as the text of a file."""
    return json.dumps(value())
