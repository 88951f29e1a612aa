"""Which constraints can be broken: counted by kind, and why each of the others cannot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from conformance.generation.constraints import OF_THE_KIND
from conformance.generation.violations import Violation, Workshop
from conformance.wording import plural

HEAD = ("constraints", "broken", "impossible", "unexplained")
NOBODY_KNOWS = "nothing breaks it alone that the kit finds, and it finds no reason"

Key = tuple[str, str]
"""The location of a constraint, and the member that it is about."""


class Tally(NamedTuple):
    """The constraints of one kind, at each place in its messages: broken, impossible, neither."""

    name: str
    broken: dict[Key, int]
    reasons: dict[Key, list[str]]

    @property
    def row(self) -> tuple[str, list[int]]:
        """The name, and the counts in the order of HEAD."""
        broken = sum(self.broken.values())
        reasons = [reason for some in self.reasons.values() for reason in some]
        unexplained = reasons.count("")
        return self.name, [broken + len(reasons), broken, len(reasons) - unexplained, unexplained]


def tally(name: str, shop: Workshop) -> Tally:
    """Break everything that can be, and count."""
    found = Tally(name, {}, {})
    for constraint, one in shop.all():
        if isinstance(one, Violation):
            found.broken[constraint.key] = found.broken.get(constraint.key, 0) + 1
        else:
            found.reasons.setdefault(constraint.key, []).append(one.reason)
    return found


def never(tallies: Iterable[Tally]) -> dict[Key, str]:
    """The constraints that are broken nowhere, each with a reason: its own rather than its kind's."""
    known = list(tallies)
    broken = {key for one in known for key in one.broken}
    found: dict[Key, list[str]] = {}
    for one in known:
        for key, reasons in one.reasons.items():
            if key not in broken:
                found.setdefault(key, []).extend(reasons)
    return {key: min(reasons, key=_weight) for key, reasons in found.items()}


def _weight(reason: str) -> int:
    """What is not known weighs most, then what holds whatever the kind."""
    return 0 if not reason else 2 if reason.startswith(OF_THE_KIND) else 1


def table(tallies: Iterable[Tally]) -> Iterator[str]:
    """The counts as lines of text, then each constraint that is never broken, and why."""
    known = list(tallies)
    rows = [one.row for one in known]
    if len(rows) > 1:
        rows.append(("all", [sum(column) for column in zip(*(counts for _, counts in rows), strict=True)]))
    width = max(len(name) for name, _ in rows)
    yield "  ".join([" " * width, *HEAD])
    for name, counts in rows:
        cells = [str(count).rjust(len(head)) for count, head in zip(counts, HEAD, strict=True)]
        yield "  ".join([name.ljust(width), *cells])
    yield from _explained(known)


def _explained(known: list[Tally]) -> Iterator[str]:
    lacking = never(known)
    whole = {key for one in known for key in (*one.broken, *one.reasons)}
    yield ""
    yield f"{len(whole) - len(lacking)} of {plural(len(whole), 'constraint')} of the schemas, wherever met."
    if lacking:
        yield "Never broken:"
    for (location, detail), reason in lacking.items():
        about = f" ({detail})" if detail else ""
        yield f"  {location}{about}: {reason or NOBODY_KNOWS}"
