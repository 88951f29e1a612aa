"""A report as an in-toto statement of the test-result predicate, unsigned: ready for whoever signs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RESULTS = {
    "conformant": "PASSED",
    "incomplete": "WARNED",
    "not-evaluated": "FAILED",
    "non-conformant": "FAILED",
}
"""The claim's status as the predicate's result. What nobody evaluated has not passed."""

LISTS = {"pass": "passedTests", "warn": "warnedTests", "inconclusive": "warnedTests", "fail": "failedTests"}
"""Verdict → the list of the predicate that the requirement stands in. What was not tried stands in none."""


def statement(report: Mapping[str, Any], digests: Mapping[str, str]) -> dict[str, Any]:
    """The statement about a report; `digests` are those of the files that it is about, `sha256:…` by name."""
    lists: dict[str, list[str]] = {name: [] for name in LISTS.values()}
    for row in report["requirements"]:
        if row["verdict"] in LISTS:
            lists[LISTS[row["verdict"]]].append(row["id"])
    pack = report["pack"]
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [_resource(name, digest) for name, digest in digests.items()],
        "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
        "predicate": {
            "result": RESULTS[report["claim"]["status"]],
            "configuration": [
                _resource(f"{pack['protocol']}@{pack['revision']}", pack["digest"]),
                _resource("ics", report["ics_digest"]),
            ],
            **lists,
        },
    }


def _resource(name: str, digest: str) -> dict[str, Any]:
    algorithm, _, value = digest.partition(":")
    return {"name": name, "digest": {algorithm: value}}
