"""Which requirement speaks for a broken constraint: schema errors are findings of their owners.

A requirement's `claims` say which constraints are its own, by the constraint's place (`at`, a schema
location), its `keyword`, or the place in the message (`instance`); of several claims that fit, the most
precise place wins, then a keyword, then a place in the message. What nobody claims belongs to the
requirement whose `schema` check names the kind and claims nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from conformance.findings import BrokenConstraint, Requirement

Score = tuple[int, int, int]


def _within(place: str, prefix: str) -> bool:
    return place == prefix or place.startswith((prefix + "/", prefix + "#")) or prefix == ""


def _score(claim: Mapping[str, Any], error: BrokenConstraint) -> Score | None:
    """How precisely the claim fits the error; None where it does not."""
    at, instance = claim.get("at"), claim.get("instance")
    if at is not None and not (_within(error.location, at) or (error.about and _within(error.about, at))):
        return None
    if "keyword" in claim and claim["keyword"] != error.keyword:
        return None
    if instance is not None and not _within(error.pointer, instance):
        return None
    return len(at or ""), int("keyword" in claim), len(instance or "")


class Attribution:
    """The claims of a pack's requirements, and the owners of its kinds."""

    def __init__(self, requirements: Iterable[Requirement], fallback: str) -> None:
        rows = list(requirements)
        self._claims = [(row.id, claim) for row in rows for claim in row.claims]
        self._owners: dict[str, str] = {}
        self._fallback = fallback
        for row in rows:
            for check in row.checks:
                if check["kind"] == "schema" and not row.claims:
                    self._owners.update((name, row.id) for name in check.get("on", ()))

    def owner(self, kind: str) -> str:
        """The requirement that owns what nobody claims of this kind's schema."""
        return self._owners.get(kind, self._fallback)

    def of(self, error: BrokenConstraint, kind: str) -> str:
        """The id of the requirement that this error is a finding of."""
        best: tuple[Score, str] | None = None
        for owner, claim in self._claims:
            score = _score(claim, error) if kind in claim.get("on", (kind,)) else None
            if score is not None and (best is None or score > best[0]):
                best = (score, owner)
        return best[1] if best else self.owner(kind)
