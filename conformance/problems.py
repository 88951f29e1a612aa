"""What is wrong with the tables of a pack: what they name and nobody has, and rows that say too little."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.findings import Requirement
from conformance.packs import Pack


def of(pack: Pack) -> Iterator[str]:
    """One sentence for each, with the pack's name before it."""
    for said in _of(pack):
        yield f"{pack.name}: {said}"


def _of(pack: Pack) -> Iterator[str]:
    for kind in pack.kinds:
        if not pack.schemas().holds(kind.schema):
            yield f"{kind.name} is judged by {kind.schema}, which is nowhere"
    for requirement in pack.requirements.values():
        yield from _of_requirement(pack, requirement)
    yield from _of_lifecycles(pack)
    yield from _of_tables(pack)
    for fact, row in pack.meta.get("ics", {}).items():
        yield from _unknown_kinds(pack, f"the fact {fact} is observed", row.get("observed", {}))
    for name in pack.without:
        if pack.base is None or not _has(pack.base, name):
            yield f"{name} is left out, which is nothing of a base"


def _of_tables(pack: Pack) -> Iterator[str]:
    """What `conversations`, `walks` and `refusals` name."""
    cut = pack.meta.get("conversations", {})
    kinds = {"on": [*cut.get("begin", ()), *cut.get("end", ())]}
    yield from _unknown_kinds(pack, "a conversation begins or ends", kinds)
    for name, walk in pack.meta.get("walks", {}).items():
        if name not in pack.lifecycles:
            yield f"walks names the unknown lifecycle {name!r}"
        for row in (*walk.get("opening", ()), *walk.get("messages", ())):
            kinds = {"on": [row.get("send", row.get("kind"))]}
            yield from _unknown_kinds(pack, f"a walk through {name} is made", kinds)
    for role, rows in pack.meta.get("refusals", {}).items():
        if role not in pack.roles:
            yield f"refusals names the unknown role {role!r}"
        for row in rows:
            said = ("accepted", "refused", "otherwise")
            kinds = {"on": [row["send"], *(name for part in said for name in row.get(part, ()))]}
            yield from _unknown_kinds(pack, f"the {role} is tried", kinds)


def _of_requirement(pack: Pack, requirement: Requirement) -> Iterator[str]:
    name = requirement.id
    said = [requirement.checks, requirement.excluded, requirement.untested or requirement.manual]
    if sum(map(bool, said)) != 1:
        yield (
            f"{name} needs exactly one of a check (or a scenario that proves it), "
            "`excluded`, and `untested` or `manual`"
        )
    if requirement.role not in (*pack.roles, "both"):
        yield f"{name} names the unknown role {requirement.role!r}"
    for check in requirement.checks:
        yield from _unknown_kinds(pack, f"{name} is judged", check)
        for place in (*check.get("u53", ()), *check.get("i53", ())):
            if not pack.schemas().holds(place):
                yield f"{name} is judged at {place}, which is nowhere"
    for claim in requirement.claims:
        yield from _unknown_kinds(pack, f"{name} claims something", claim)
        if "at" in claim and not pack.schemas().holds(claim["at"]):
            yield f"{name} claims {claim['at']}, which is nowhere"


def _of_lifecycles(pack: Pack) -> Iterator[str]:
    for name, (table, moves) in pack.lifecycles.items():
        for move in moves:
            yield from _unknown_kinds(pack, f"lifecycle {name} is moved", move)
            target = move.get("to")
            if target is not None and target not in table.classes:
                yield f"lifecycle {name} moves to {target!r}, which is no state of it"


def _unknown_kinds(pack: Pack, said: str, row: Mapping[str, Any]) -> Iterator[str]:
    known = {"*", *(kind.name for kind in pack.kinds)}
    for name in (*row.get("on", ()), *row.get("with", ())):
        if name.removesuffix(".error") not in known:
            yield f"{said} on the unknown kind {name!r}"


def _has(pack: Pack, name: str) -> bool:
    """Whether the pack has a requirement, a kind, a file or a fixture of that name."""
    if name in (*pack.requirements, *(kind.name for kind in pack.kinds)):
        return True
    return pack.data.at(name).is_file() or pack.specimens.at(name).is_file()
