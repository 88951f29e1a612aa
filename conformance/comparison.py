"""Two reports of one protocol: what fails now, what was fixed, and what is exercised or no longer is."""

from __future__ import annotations

from typing import Any, NamedTuple

EXERCISED = ("pass", "warn", "fail", "inconclusive")
"""Verdicts of what a run has touched."""


class Row(NamedTuple):
    """A requirement about which two reports differ; a verdict is empty where a report has no such row."""

    requirement: str
    level: str
    before: str
    after: str
    reason: str


class Comparison(NamedTuple):
    """What differs between two reports. A row stands in the first list that it belongs to."""

    newly_failing: tuple[Row, ...]
    fixed: tuple[Row, ...]
    newly_exercised: tuple[Row, ...]
    no_longer_exercised: tuple[Row, ...]
    otherwise: tuple[Row, ...]
    claims: tuple[str, str]
    apart: tuple[str, ...]
    """In what the two runs are not alike, a sentence each: what they say may differ for that."""

    @property
    def worse(self) -> bool:
        """Whether the second report has lost something that the first one had."""
        return bool(self.newly_failing or self.no_longer_exercised)


TITLES = {
    "newly_failing": "newly failing",
    "fixed": "fixed",
    "newly_exercised": "newly exercised",
    "no_longer_exercised": "no longer exercised",
    "otherwise": "otherwise",
}
"""The lists of a comparison, in words."""


def compare(before: dict[str, Any], after: dict[str, Any]) -> Comparison:
    """What differs between two reports, the earlier one first."""
    was = {row["id"]: row for row in before["requirements"]}
    now = {row["id"]: row for row in after["requirements"]}
    lists: dict[str, list[Row]] = {name: [] for name in TITLES}
    for name in {**was, **now}:
        row = _row(name, was.get(name), now.get(name))
        if row.before != row.after:
            lists[_list_of(row)].append(row)
    claims = before["claim"]["status"], after["claim"]["status"]
    return Comparison(
        **{name: tuple(rows) for name, rows in lists.items()}, claims=claims, apart=_apart(before, after)
    )


def _row(name: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> Row:
    known = after or before or {}
    verdicts = [row["verdict"] if row else "" for row in (before, after)]
    return Row(name, str(known["level"]), verdicts[0], verdicts[1], after["reason"] if after else "")


def _list_of(row: Row) -> str:
    if row.after == "fail":
        return "newly_failing"
    if row.before == "fail" and row.after in ("pass", "warn"):
        return "fixed"
    if row.before in EXERCISED and row.after not in EXERCISED:
        return "no_longer_exercised"
    if row.before not in EXERCISED and row.after in EXERCISED:
        return "newly_exercised"
    return "otherwise"


def _apart(before: dict[str, Any], after: dict[str, Any]) -> tuple[str, ...]:
    named = [f"{one['pack']['protocol']}@{one['pack']['revision']}" for one in (before, after)]
    kits = [f"{one['kit']['name']} {one['kit']['version']}" for one in (before, after)]
    alike = {
        "the protocols": named,
        "the roles": [before["role"], after["role"]],
        "the kits": kits,
        "the digests of the packs": [one["pack"]["digest"] for one in (before, after)],
        "the facts of the ICS": [one["ics_digest"] for one in (before, after)],
    }
    said = [f"{what} differ: {pair[0]}, then {pair[1]}" for what, pair in alike.items() if pair[0] != pair[1]]
    ends = (("first", before), ("second", after))
    return *said, *(f"the {which} run was not completed" for which, one in ends if not one["complete"])
