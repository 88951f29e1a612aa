"""What a run exercised (kinds of messages, reasons of moves, integers), and why the rest is untested.

A requirement of which nothing was observed is untested. What would have had to be seen stands in its
checks; what was seen is counted here, and the difference between the two is the explanation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance import criteria
from conformance.checks.numbers import BOUNDS
from conformance.correlation import Message
from conformance.findings import Requirement
from conformance.integers import integral
from conformance.packs import Pack
from conformance.wording import type_name

if TYPE_CHECKING:
    from conformance.report.evaluation import Run

LISTED = 400
"""So many integer fields are listed at most."""

LONGEST = 300
"""So many characters of how a requirement is judged are told."""

OTHERS = 20
"""So many reasons that no table lists are told of a lifecycle at most."""


class Bounded(NamedTuple):
    """A definition whose values have bounds: by which requirement, and which."""

    requirement: str
    low: int
    high: int


class Field(NamedTuple):
    """Where an integer stood: the definition that governs it, and its place in a kind of message.

    A number of an array in `pointer` is `*`.
    """

    location: str
    kind: str
    pointer: str


@dataclass(slots=True)
class Seen:
    """The integers that one field held."""

    count: int = 0
    least: int | None = None
    greatest: int | None = None
    boundaries: Counter[int] = field(default_factory=Counter)

    def take(self, value: int, boundaries: Iterable[int]) -> None:
        """Count one more."""
        self.count += 1
        self.least = value if self.least is None else min(self.least, value)
        self.greatest = value if self.greatest is None else max(self.greatest, value)
        self.boundaries.update(one for one in boundaries if one == value)

    def add(self, other: Seen) -> None:
        """Count what another record held."""
        for bound in (other.least, other.greatest):
            if bound is not None:
                self.take(bound, ())
                self.count -= 1
        self.count += other.count
        self.boundaries += other.boundaries


@dataclass(slots=True)
class Exercise:
    """What one record exercised. `kinds` counts messages by party and kind, `reasons` those of moves by
    lifecycle, state and reason.
    """

    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    integers: dict[Field, Seen] = field(default_factory=dict)

    def add(self, other: Exercise) -> None:
        """Count what another record exercised."""
        self.kinds += other.kinds
        self.reasons += other.reasons
        for at, seen in other.integers.items():
            self.integers.setdefault(at, Seen()).add(seen)


class Observer:
    """Counts what the messages of one record exercise."""

    def __init__(self, pack: Pack) -> None:
        self._schemas = pack.schemas()
        self._bounds = bounded(pack)
        self._wanted = frozenset(self._bounds)
        self.exercise = Exercise()

    def see(self, message: Message, role: str) -> None:
        """Count a message; the numbers of those that an implementation in `role` sent are looked at."""
        if message.kind is None:
            return
        self.exercise.kinds[message.party, message.name] += 1
        if message.party != role or not self._wanted:
            return
        at = message.kind.at
        for location, pointer, value in self._schemas.places(
            message.kind.schema, message.at(at), self._wanted
        ):
            if type_name(value) == "number" and integral(value):
                spot = Field(location, message.name, at + _general(pointer))
                seen = self.exercise.integers.setdefault(spot, Seen())
                seen.take(int(value), _boundaries(self._bounds[location]))


def bounded(pack: Pack) -> dict[str, Bounded]:
    """By location, the definitions of a pack whose integers have bounds."""
    return {
        location: Bounded(one.id, *BOUNDS[name])
        for one in pack.requirements.values()
        for spec in one.checks
        if spec["kind"] == "integer-bounds" and spec.get("only") != "type"
        for name in BOUNDS
        for location in spec.get(name, ())
    }


def _boundaries(bounds: Bounded) -> tuple[int, ...]:
    return tuple(sorted({bounds.low, 0, bounds.high}))


def _general(pointer: str) -> str:
    return "/".join("*" if part.isdigit() else part for part in pointer.split("/"))


# ── the members of a report ──────────────────────────────────────────────────────────────────────


def whole(runs: Iterable[Run]) -> Exercise:
    """What all runs exercised together."""
    total = Exercise()
    for run in runs:
        total.add(run.evidence.exercised)
    return total


def member(pack: Pack, total: Exercise) -> dict[str, Any]:
    """The member `exercise` of a report."""
    return {"kinds": list(_kinds(pack, total)), "integers": list(_integers(pack, total))[:LISTED]}


def _kinds(pack: Pack, total: Exercise) -> Iterator[dict[str, Any]]:
    names = dict.fromkeys(kind.name for kind in pack.kinds if not kind.document)
    names |= dict.fromkeys(name for _, name in total.kinds)
    for name in names:
        seen = {role: total.kinds[role, name] for role in pack.roles if total.kinds[role, name]}
        yield {"kind": name, "seen": seen}


def _integers(pack: Pack, total: Exercise) -> Iterator[dict[str, Any]]:
    for location, bounds in bounded(pack).items():
        held = sorted(at for at in total.integers if at.location == location)
        for spot in held or [Field(location, "", "")]:
            seen = total.integers.get(spot, Seen())
            yield {
                **bounds._asdict(),
                **spot._asdict(),
                "seen": seen.count,
                "least": seen.least,
                "greatest": seen.greatest,
                "boundaries": [{"value": one, "seen": seen.boundaries[one]} for one in _boundaries(bounds)],
            }


def reasons(pack: Pack, name: str, total: Exercise) -> list[dict[str, Any]]:
    """The member `reasons` of a lifecycle: a row for each reason that its table lists for a terminal state,
    and for the first others that were given for any.
    """
    table, _ = pack.lifecycles[name]
    listed = {
        (edge.target, reason): 0
        for edge in table.transitions.values()
        if edge.reasons and table.is_terminal(edge.target)
        for reason in edge.reasons
    }
    given = {
        (state, reason): seen
        for (lifecycle, state, reason), seen in sorted(total.reasons.items())
        if lifecycle == name and table.is_terminal(state)
    }
    others = [pair for pair in given if pair not in listed]
    rows = [*listed, *others[:OTHERS]] if listed else []
    return [
        {
            "state": state,
            "reason": reason,
            "listed": (state, reason) in listed,
            "seen": given.get((state, reason), 0),
        }
        for state, reason in rows
    ]


# ── why it is untested ───────────────────────────────────────────────────────────────────────────


def why_untested(requirement: Requirement, pack: Pack, total: Exercise, runs: Iterable[Run]) -> list[str]:
    """What would have had to be seen, and was not: a sentence each. Empty where no check exists."""
    if requirement.untested:
        return []
    told = [_lacking(requirement, spec, pack, total) for spec in requirement.checks]
    covering = list(dict.fromkeys(run.name for run in runs if requirement.id in run.requirements))
    if covering:
        told.append(f"Of what was run, {', '.join(covering)} is about it, and did not show it.")
    else:
        told.append("No scenario that was run is about it.")
    return [*filter(None, dict.fromkeys(told))]


def _lacking(requirement: Requirement, spec: Mapping[str, Any], pack: Pack, total: Exercise) -> str:
    if spec["kind"] == "scenario":
        return "A step of a scenario can show it, and none of this run did."
    documents = {kind.name for kind in pack.kinds if kind.document}
    every = list(_named(spec))
    named = [name for name in every if name not in documents]
    if every and not named:
        return ""  # what it is about stands in files, not on the wire
    if named and "*" not in named and {name for _, name in total.kinds}.isdisjoint(named):
        return f"It is about {_listed(named)}, of which no message was seen."
    said = _HEAD.sub("", criteria.sentence(requirement, spec, pack)).rstrip(".")
    said = f"{said}." if len(said) < LONGEST else said[: LONGEST - 1] + "…"
    return f"Nothing was seen to which its check applies: {said}"


def _listed(names: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *most, last = dict.fromkeys(names)
    return f"{', '.join(most)} and {last}" if most else last


_HEAD = re.compile(r"^[A-Z0-9, -]+: ")
"""The ids with which the docstring of a check of several requirements begins."""


def _named(spec: Mapping[str, Any]) -> Iterator[str]:
    """The kinds that a check is about, wherever its parameters name them."""
    on = spec.get("on", ())
    yield from (on,) if isinstance(on, str) else on
    for row in spec.values():
        if isinstance(row, list) and all(isinstance(one, Mapping) for one in row):
            for one in row:
                yield from _named(one)
