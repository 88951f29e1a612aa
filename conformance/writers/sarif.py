"""Findings as SARIF 2.1.0 (OASIS): a rule for each requirement, a result for each finding."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from conformance import packs
from conformance.findings import Requirement, Verdict
from conformance.judgement import Judged, Region, Told
from conformance.report import sarif
from conformance.writers import Write
from conformance.writers.pieces import filled, text


class Writing:
    """One log at the end."""

    def __init__(self, write: Write, width: int) -> None:
        self._write = write
        self._rules: dict[str, tuple[int, dict[str, Any]]] = {}
        """Requirement → its place among the rules, and the rule."""
        self._results: list[tuple[str]] = []
        self._notifications: list[dict[str, Any]] = []

    def told(self, judged: Judged, told: Told) -> None:
        """A result."""
        finding = told.finding
        known = judged.pack.requirements if judged.pack else packs.wire_requirements()
        if finding.requirement not in self._rules:
            rule = _rule(known[finding.requirement])
            self._rules[finding.requirement] = len(self._rules), rule
        location: dict[str, Any] = {"physicalLocation": _physical(judged, told.region)}
        if finding.pointer:
            location["logicalLocations"] = [{"fullyQualifiedName": finding.pointer}]
        result = {
            "ruleId": finding.requirement,
            "ruleIndex": self._rules[finding.requirement][0],
            "level": "error" if told.verdict is Verdict.FAIL else "warning",
            "message": {"text": finding.message},
            "locations": [location],
        }
        self._results.append((text(result),))

    def done(self, judged: Judged) -> None:
        """Why an input could not be judged."""
        if judged.error:
            self._notifications.append(
                {
                    "level": "error",
                    "message": {"text": judged.error},
                    "locations": [{"physicalLocation": {"artifactLocation": _artifact(judged)}}],
                }
            )

    def end(self) -> None:
        """Write the log."""
        rules = [rule for _, rule in self._rules.values()]
        log = sarif.log(rules, [], self._notifications, successful=not self._notifications)
        for piece in filled(log, "results", self._results):
            self._write(piece)


def _rule(requirement: Requirement) -> dict[str, Any]:
    return sarif.rule(requirement.id, requirement.summary, requirement.level.value, requirement.reference)


def _physical(judged: Judged, region: Region) -> dict[str, Any]:
    return {"artifactLocation": _artifact(judged), "region": sarif.region(*region)}


def _artifact(judged: Judged) -> dict[str, str]:
    """The input as a URI: relative as it was given, so that it holds wherever the log is read."""
    if judged.path == "-":
        return {"uri": "stdin"}
    path = PurePath(judged.path)
    return {"uri": path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))}
