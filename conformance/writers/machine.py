"""Findings as one JSON object, with every input in order."""

from __future__ import annotations

from typing import Any

from conformance import KIT
from conformance.judgement import Judged, Told
from conformance.writers import Write
from conformance.writers.pieces import filled, text


class Writing:
    """One object at the end."""

    def __init__(self, write: Write, width: int) -> None:
        self._write = write
        self._inputs: list[list[str]] = []
        self._findings: list[tuple[str]] = []

    def told(self, judged: Judged, told: Told) -> None:
        """Keep it."""
        finding, (line, column) = told.finding, told.start
        row = {
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
        self._findings.append((text(row),))

    def done(self, judged: Judged) -> None:
        """Put the findings of the input together."""
        row: dict[str, Any] = {
            "path": judged.path,
            "protocol": judged.pack.protocol if judged.pack else None,
            "revision": judged.pack.revision if judged.pack else None,
            "messages": judged.messages,
            "unjudged": judged.unjudged,
            "valid": judged.valid,
            "findings": [],
        }
        row |= {"error": judged.error} if judged.error else {}
        self._inputs.append([*filled(row, "findings", self._findings)])
        self._findings = []

    def end(self) -> None:
        """Write them all."""
        for piece in filled({"kit": KIT, "inputs": []}, "inputs", self._inputs):
            self._write(piece)
