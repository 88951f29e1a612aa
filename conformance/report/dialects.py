"""Each verdict in the words of the formats that have words of their own: one table, as data.

A SHOULD that was broken (`warn`) fails no test in JUnit and CTRF, whose readers stop a build at a failure,
and is an outcome of our own in EARL, which has none for it. What could not be decided never reads as passed.
"""

from __future__ import annotations

from typing import NamedTuple


class Dialect(NamedTuple):
    """One verdict: the element of JUnit (empty for none), the status of CTRF, `kind` and `level` of SARIF
    (empty where it is no result), the outcome of EARL, a mark for text, and what it means, for a legend.
    """

    junit: str
    ctrf: str
    sarif: tuple[str, str]
    earl: str
    mark: str
    meaning: str


DIALECTS: dict[str, Dialect] = {
    "fail": Dialect("failure", "failed", ("fail", "error"), "earl:failed", "✗", "a MUST was broken"),
    "inconclusive": Dialect(
        "failure", "other", ("open", "none"), "earl:cantTell", "?", "tried, and neither shown nor refuted"
    ),
    "warn": Dialect("system-out", "passed", ("fail", "warning"), "kit:warned", "!", "a SHOULD was broken"),
    "pass": Dialect("", "passed", ("", ""), "earl:passed", "✓", "seen, and nothing against it"),
    "untested": Dialect("skipped", "skipped", ("", ""), "earl:untested", "○", "nothing exercised it"),
    "manual": Dialect("skipped", "pending", ("", ""), "earl:untested", "✎", "a person has to judge it"),
    "not-applicable": Dialect(
        "skipped", "skipped", ("", ""), "earl:inapplicable", "–", "another role's, or not on the wire"
    ),
}
"""By the verdict's word, the worst first."""

CLAIMS: dict[str, tuple[str, str, str]] = {
    "conformant": ("brightgreen", "#1a6b3c", "Conformant"),
    "incomplete": ("yellow", "#8a5a00", "Incomplete"),
    "non-conformant": ("red", "#b3261e", "Non-conformant"),
    "not-evaluated": ("lightgrey", "#5b6066", "Not evaluated"),
}
"""By the claim's status: the colour in the words of shields, as it is drawn, and how it is headed."""
