"""What the ICS says, held against what was seen: stated and not seen, seen and not stated.

Facts that are true or false are looked at. How one shows is the `observed` of its row in the pack, a
match of messages; where a row has none, a scenario that needs the fact shows it by coming to its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from conformance.bindings import difference
from conformance.correlation import Message
from conformance.packs import Pack

if TYPE_CHECKING:
    from conformance.report.evaluation import Run

_UNSHOWN = ("inconclusive", "not-applicable")


def shown_by(message: Message, pack: Pack) -> Iterator[str]:
    """The facts that this message shows, by their paths."""
    for fact, row in pack.meta.get("ics", {}).items():
        wanted = row.get("observed")
        if (
            wanted
            and message.is_a(wanted["on"])
            and difference(wanted.get("match", {}), message.value) is None
        ):
            yield fact


def needed(needs: Mapping[str, Any], within: str = "") -> Iterator[str]:
    """The facts that have to be true, by their paths."""
    for name, value in needs.items():
        if value is True:
            yield within + name
        elif isinstance(value, Mapping):
            yield from needed(value, f"{within}{name}.")


def findings(pack: Pack, ics: dict[str, Any], runs: list[Run]) -> list[dict[str, Any]]:
    """The member `ics_findings` of a report: a row for each fact about which the two do not agree."""
    rows = pack.meta.get("ics", {})
    found = (_of(fact, row, _stated(ics, fact), runs) for fact, row in rows.items())
    return [one for one in found if one is not None]


def _stated(ics: dict[str, Any], fact: str) -> bool:
    value: Any = ics
    for name in fact.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value is True


def _of(fact: str, row: dict[str, Any], stated: bool, runs: list[Run]) -> dict[str, Any] | None:
    seen = next((run for run in runs if fact in run.evidence.shown), None)
    if stated and seen is None:
        return _unseen(fact, row, [run for run in runs if fact in run.needs])
    if seen is None or stated:
        return None
    line = seen.evidence.shown[fact] + 1  # a transcript has a line for its header
    said = f"the ICS does not state {fact}, and it was seen: {row['summary']}"
    where = {"scenarios": [seen.name], "transcript": seen.transcript, "line": line}
    return {"fact": fact, "stated": False, **where, "message": said}


def _unseen(fact: str, row: dict[str, Any], needing: list[Run]) -> dict[str, Any] | None:
    """What there is to say of a fact that no message showed. What failed is told by its requirement."""
    passed = any(run.status == "passed" for run in needing)
    undecided = any(run.status not in ("passed", *_UNSHOWN) for run in needing)
    if not needing or undecided or (passed and "observed" not in row):
        return None
    names = list(dict.fromkeys(run.name for run in needing))
    why = next((f": {run.reason}" for run in needing if run.reason), "")
    said = f"the ICS states {fact}, and it was not seen in {', '.join(names)}{why}"
    return {
        "fact": fact,
        "stated": True,
        "scenarios": names,
        "transcript": needing[0].transcript,
        "line": 0,
        "message": said,
    }
