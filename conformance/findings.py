"""Requirements, findings, verdicts, and the fold from one to the other.

A verdict only ever gets worse: the order of `Verdict` is the order of the fold (ISO 9646's rule).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, IntEnum
from typing import Any, NamedTuple


class Level(str, Enum):
    """How binding a requirement is (RFC 2119)."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


class Verdict(IntEnum):
    """What is known of one requirement, from best known to worst."""

    NOT_APPLICABLE = 0
    MANUAL = 1
    UNTESTED = 2
    PASS = 3
    WARN = 4
    INCONCLUSIVE = 5
    FAIL = 6

    @property
    def word(self) -> str:
        """The verdict as reports write it: `not-applicable`, `pass`, …"""
        return self.name.lower().replace("_", "-")


class Requirement(NamedTuple):
    """One normative statement of a pack, and how it is judged."""

    id: str
    level: Level
    role: str
    summary: str
    reference: str = ""
    area: str = ""
    checks: tuple[dict[str, Any], ...] = ()
    claims: tuple[dict[str, Any], ...] = ()
    excluded: str = ""
    untested: str = ""
    manual: str = ""
    part: str = ""
    """What part of the statement its checks show, where they do not show all of it."""

    def concerns(self, role: str) -> bool:
        """Whether it is an implementation in this role that has to meet it."""
        return self.role in (role, "both")


class Finding(NamedTuple):
    """One observation for or against one requirement.

    `party` is whose doing it was; `seq` the event's number; `pointer` a JSON Pointer into the
    message; `line` and `column` count from 1 in the input. `inconclusive` marks what could be
    neither shown nor refuted.
    """

    requirement: str
    ok: bool
    party: str
    seq: int = 0
    message: str = ""
    pointer: str = ""
    expected: tuple[Any, ...] = ()
    actual: Any = None
    level: Level | None = None
    """The level of this observation where it differs from its requirement's."""
    inconclusive: bool = False
    connection: str = "main"
    line: int = 0
    column: int = 0


def verdict_of(finding: Finding, level: Level) -> Verdict:
    """What one finding says: pass, fail (a MUST), warn (a SHOULD or MAY), or inconclusive."""
    if finding.inconclusive:
        return Verdict.INCONCLUSIVE
    if finding.ok:
        return Verdict.PASS
    return Verdict.FAIL if (finding.level or level) is Level.MUST else Verdict.WARN


def fold(verdicts: Iterable[Verdict], start: Verdict = Verdict.UNTESTED) -> Verdict:
    """The worst of them; `start` where there is none."""
    return max(verdicts, default=start)


class BrokenConstraint(NamedTuple):
    """One constraint of a schema that a value breaks.

    `location` is the absolute place of the constraint (`file.schema.json#/$defs/name/maximum`),
    `pointer` the place in the value. `about` is the location of the property that is missing or
    unknown, where the error is about one.
    """

    keyword: str
    location: str
    pointer: str
    message: str
    expected: tuple[Any, ...] = ()
    actual: Any = None
    about: str = ""


def claim_status(verdicts: Iterable[tuple[Level, Verdict]]) -> str:
    """`non-conformant`, `not-evaluated`, `incomplete` or `conformant`.

    Conformant needs every applicable MUST to have passed: what was not tested, or could not be
    decided, leaves the claim incomplete. Nothing passed and nothing failed is no evaluation at all.
    """
    seen = list(verdicts)
    if any(verdict is Verdict.FAIL for _, verdict in seen):
        return "non-conformant"
    if not any(verdict in (Verdict.PASS, Verdict.WARN) for _, verdict in seen):
        return "not-evaluated"
    open_ = (Verdict.UNTESTED, Verdict.INCONCLUSIVE, Verdict.MANUAL)
    if any(level is Level.MUST and verdict in open_ for level, verdict in seen):
        return "incomplete"
    return "conformant"
