"""Findings as one JSON object, with every input in order."""

from __future__ import annotations

import json
from typing import Any

from conformance import KIT
from conformance.judgement import Judged, Told
from conformance.writers import Write


class Writing:
    """One object at the end."""

    def __init__(self, write: Write, width: int) -> None:
        self._write = write
        self._inputs: list[dict[str, Any]] = []
        self._findings: list[dict[str, Any]] = []

    def told(self, judged: Judged, told: Told) -> None:
        """Keep it."""
        finding, (line, column) = told.finding, told.start
        self._findings.append(
            {
                "requirement": finding.requirement,
                "level": told.level.value,
                "verdict": told.verdict.word,
                "seq": finding.seq,
                "party": finding.party,
                "line": line,
                "column": column,
                "pointer": finding.pointer,
                "message": finding.message,
                "expected": list(finding.expected),
                "actual": finding.actual,
            }
        )

    def done(self, judged: Judged) -> None:
        """Put the findings of the input together."""
        row: dict[str, Any] = {
            "path": judged.path,
            "protocol": judged.pack.protocol if judged.pack else None,
            "revision": judged.pack.revision if judged.pack else None,
            "messages": judged.messages,
            "unjudged": judged.unjudged,
            "valid": judged.valid,
            "findings": self._findings,
        }
        self._findings = []
        self._inputs.append(row | ({"error": judged.error} if judged.error else {}))

    def end(self) -> None:
        """Write them all."""
        self._write(json.dumps({"kit": KIT, "inputs": self._inputs}, indent=2, default=str))
