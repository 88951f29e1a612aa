"""Trials made from one valid message: each breaks one constraint of its kind's schema, at one place.

Every part of the message is spoiled in a few ways, and what breaks exactly one constraint that a receiver
has to heed is a trial; a part is also made very long, where it may be, which has to be survived. Smaller
trials that still break the same constraint are what a failing one is shrunk to.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from conformance import jsontext
from conformance.attribution import Attribution
from conformance.bindings import written
from conformance.events import JSON
from conformance.findings import BrokenConstraint, Level
from conformance.generation.kinds import KindMaker
from conformance.generation.refusals import Bench, Trial
from conformance.generation.violations import Violation, violations
from conformance.packs import Pack

LONG = 100_000
"""So many characters has a string that is valid and has to be survived."""

EXTRA = "conformance_unknown"
"""The name of a member that no schema knows."""

LARGEST = 2**53 - 1


class Judge:
    """What a receiver has to hold against a message of one kind: constraints whose owner is a MUST."""

    def __init__(self, bench: Bench) -> None:
        self._pack, self._kind = bench.pack, bench.pack.kind(bench.row.kind)
        self._schemas = self._pack.schemas("receiver")
        self._attribution = Attribution(self._pack.requirements.values(), self._pack.unknown_kind_id)

    def errors(self, value: JSON) -> list[BrokenConstraint]:
        """The constraints that the message breaks; pointers are into the whole of it."""
        part = jsontext.resolve(value, self._kind.at)
        part = {} if part is jsontext.MISSING else part
        found = self._schemas.errors(self._kind.schema, part)
        return [error._replace(pointer=self._kind.at + error.pointer) for error in found]

    def owner(self, error: BrokenConstraint) -> str:
        """The requirement that the error is about."""
        return self._attribution.of(error, self._kind.name)

    def is_binding(self, error: BrokenConstraint) -> bool:
        """Whether nobody may send such a message."""
        row = self._pack.requirements.get(self.owner(error))
        return row is not None and row.level is Level.MUST


def trials(bench: Bench) -> list[Trial]:
    """All that the row's valid message gives rise to, each constraint at each place once."""
    judge = Judge(bench)
    if judge.errors(bench.valid):
        return []
    found: dict[tuple[str, str, str, str], Trial] = {}
    for bad in _spoilt(bench.valid, bench.row.at):
        errors = judge.errors(bad.value)
        if len(errors) != 1 or not judge.is_binding(errors[0]) or _is_spared(bench, judge, errors[0]):
            continue
        trial = _trial(bench, bad, errors[0])
        if trial is not None:
            found.setdefault((trial.location, trial.keyword, trial.pointer, bad.way), trial)
    known = {(location, keyword) for location, keyword, _, _ in found}
    return [*found.values(), *_grafted(bench, judge, known), *_long(bench, judge)]


def _grafted(bench: Bench, judge: Judge, known: set[tuple[str, str]]) -> Iterator[Trial]:
    """Violations of what the valid message has nothing of: the part around each is put into it."""
    maker = KindMaker(bench.pack, bench.pack.kind(bench.row.kind), "receiver")
    for one in _violations(bench.pack, bench.row.kind):
        if (one.schema, one.keyword) in known or not f"{one.pointer}/".startswith(f"{bench.row.at}/"):
            continue
        where = _missing(bench.valid, one.pointer)
        good = _with_part(bench.valid, where, jsontext.parse(one.twin).value)
        bad = _with_part(bench.valid, where, jsontext.parse(one.text).value)
        errors = judge.errors(bad)
        same = [(error.location, error.keyword) for error in errors] == [(one.schema, one.keyword)]
        if not same or not maker.is_valid(good) or not judge.is_binding(errors[0]):
            continue
        text, twin = bench.named(written(bad)), bench.named(written(good))
        if text is not None and twin is not None and not _is_spared(bench, judge, errors[0]):
            yield Trial(text, twin, one.schema, one.keyword, errors[0].pointer, bad, good)


@cache
def _violations(pack: Pack, kind: str) -> tuple[Violation, ...]:
    """All violations of a kind, which take their time and are always the same."""
    return tuple(violations(pack, kind, form="receiver"))


def _missing(value: JSON, pointer: str) -> str:
    """The pointer, or what of it leads to the first part that is not there."""
    parts = jsontext.parts(pointer)
    for depth in range(1, len(parts)):
        if jsontext.resolve(value, jsontext.pointer(parts[:depth])) is jsontext.MISSING:
            return jsontext.pointer(parts[:depth])
    return pointer


def _with_part(value: JSON, where: str, donor: JSON) -> JSON:
    """The value with what another has at the pointer, or without anything there if the other has nothing."""
    part = jsontext.resolve(donor, where)
    is_there = jsontext.resolve(value, where) is not jsontext.MISSING
    if part is jsontext.MISSING:
        return without(value, where) if is_there else value
    parent = jsontext.resolve(value, jsontext.pointer(jsontext.parts(where)[:-1]))
    return value if isinstance(parent, list) and not is_there else replaced(value, where, part)


def _is_spared(bench: Bench, judge: Judge, error: BrokenConstraint) -> bool:
    """Whether the pack says that a receiver may let this pass, or answers it in a way of its own."""
    return any(
        ("requirement" in one and one["requirement"] == judge.owner(error))
        or ("pointer" in one and f"{error.pointer}/".startswith(f"{one['pointer']}/"))
        for one in bench.row.spared
    )


def _trial(bench: Bench, bad: Spoilt, error: BrokenConstraint) -> Trial | None:
    text, twin = bench.named(written(bad.value)), bench.named(written(bench.valid))
    if text is None or twin is None:
        return None
    long = {}
    if bad.way == "long":
        text, long = text.replace("x" * LONG, "${long}"), {"long": {"$repeat": ["x", LONG]}}
    return Trial(text, twin, error.location, error.keyword, error.pointer, bad.value, bench.valid, long)


def _long(bench: Bench, judge: Judge) -> Iterator[Trial]:
    """The valid message with one of its strings very long, where it is still valid then."""
    for pointer, value in _parts(bench.valid, bench.row.at):
        if isinstance(value, str):
            bad = replaced(bench.valid, pointer, "x" * LONG)
            if not judge.errors(bad):
                yield from lengthened(bench, pointer, LONG)


def lengthened(bench: Bench, pointer: str, length: int) -> Iterator[Trial]:
    """The trial of a string of so many characters at this place."""
    text = bench.named(written(replaced(bench.valid, pointer, "\0")))
    twin = bench.named(written(bench.valid))
    if text is not None and twin is not None:
        text = text.replace(written("\0"), '"${long}"')
        long = {"long": {"$repeat": ["x", length]}}
        yield Trial(text, twin, pointer=pointer, bad="x" * length, good=bench.valid, value=long)


# ── ways to spoil a value ────────────────────────────────────────────────────────────────────────


class Spoilt(NamedTuple):
    """A message with one part spoiled, and in which way."""

    value: JSON
    way: str


def _spoilt(value: JSON, at: str) -> Iterator[Spoilt]:
    for pointer, part in _parts(value, at):
        for way, other in _others(part):
            yield Spoilt(replaced(value, pointer, other), way)
        if pointer != at:
            yield Spoilt(without(value, pointer), "missing")
        if isinstance(part, dict):
            yield Spoilt(replaced(value, pointer, {**part, EXTRA: True}), "unknown")


_OF_EACH_TYPE: dict[str, JSON] = {
    **{"null": None, "boolean": True, "number": -1},
    **{"string": "\u00e9", "array": [], "object": {}},
}


def _others(part: JSON) -> Iterator[tuple[str, JSON]]:
    """Other values for a part: of every type, and of its own beyond what bounds allow."""
    for name, other in _OF_EACH_TYPE.items():
        if type(other) is not type(part):
            yield name, other
    if isinstance(part, str):
        yield from (("empty", ""), ("blank", " "), ("other", f"{part}?"), ("newline", f"{part}\n"))
        yield "long", "x" * LONG
    elif isinstance(part, bool):
        yield "opposite", not part
    elif isinstance(part, int):
        yield from (("negative", -1), ("fraction", 0.5), ("beyond", LARGEST + 1), ("zero", 0))
    elif isinstance(part, list):
        yield from (("empty", []), ("twice", [*part, *part]), ("mixed", [*part, None]))
    elif isinstance(part, dict):
        yield "empty", {}


def _parts(value: JSON, at: str) -> Iterator[tuple[str, JSON]]:
    """Every part of a value from the pointer on, with its own pointer."""
    node = jsontext.resolve(value, at)
    if node is jsontext.MISSING:
        return
    yield at, node
    if isinstance(node, dict | list):
        for key in node if isinstance(node, dict) else range(len(node)):
            yield from _parts(value, at + jsontext.pointer([key]))


def replaced(value: JSON, pointer: str, other: JSON) -> JSON:
    """A copy of the value with another one at the pointer, which leads to something."""
    if not pointer:
        return other
    *above, last = jsontext.parts(pointer)
    parent = jsontext.resolve(value, jsontext.pointer(above))
    if isinstance(parent, list):
        changed: JSON = [other if str(index) == last else item for index, item in enumerate(parent)]
    else:
        changed = {**parent, last: other}
    return replaced(value, jsontext.pointer(above), changed)


def without(value: JSON, pointer: str) -> JSON:
    """A copy of the value without the member or item at the pointer, which leads to something."""
    *above, last = jsontext.parts(pointer)
    parent = jsontext.resolve(value, jsontext.pointer(above))
    if isinstance(parent, list):
        kept: JSON = [item for index, item in enumerate(parent) if str(index) != last]
    else:
        kept = {name: item for name, item in parent.items() if name != last}
    return replaced(value, jsontext.pointer(above), kept)


# ── shrinking ────────────────────────────────────────────────────────────────────────────────────


def smaller(bench: Bench, trial: Trial) -> Iterator[Trial]:
    """Trials that break the same constraint with less around it, the boldest first."""
    if trial.is_valid:
        length = len(trial.bad)
        for shorter in dict.fromkeys((length // 100, length // 10, length // 2, length * 3 // 4)):
            if 0 < shorter < length:
                yield from lengthened(bench, trial.pointer, shorter)
        return
    if trial.bad is None or trial.value:
        return
    judge = Judge(bench)
    for bad, good in _reduced(trial):
        errors = judge.errors(bad)
        same = [(one.location, one.keyword, one.pointer) for one in errors]
        if same == [(trial.location, trial.keyword, trial.pointer)] and not judge.errors(good):
            text, twin = bench.named(written(bad)), bench.named(written(good))
            if text is not None and twin is not None:
                yield Trial(text, twin, *same[0], bad, good)


def _reduced(trial: Trial) -> Iterator[tuple[JSON, JSON]]:
    """Both messages with one part less, or a simpler one, where neither is what makes them differ."""
    parts = [(where, part) for where, part in _parts(trial.good, "") if where]
    parts.sort(key=lambda one: -len(written(one[1])))
    for where, _ in parts:
        if _leads(where, trial) or jsontext.resolve(trial.bad, where) is jsontext.MISSING:
            continue
        yield without(trial.bad, where), without(trial.good, where)
    for where, part in parts:
        simple = _SIMPLE.get(type(part))
        same = not _leads(where, trial) and jsontext.resolve(trial.bad, where) == part
        if same and simple not in (None, part):
            yield replaced(trial.bad, where, simple), replaced(trial.good, where, simple)


_SIMPLE: dict[type, JSON] = {str: "x", int: 0, list: [], dict: {}}


def _leads(where: str, trial: Trial) -> bool:
    """Whether the place is the broken one, or around it."""
    return f"{trial.pointer}/".startswith(f"{where}/") or (
        f"{where}/".startswith(f"{trial.pointer}/")
        and (trial.keyword != "required" and trial.keyword != "additionalProperties")
    )
