"""What there is: packs, and of each its kinds, requirements and scenarios; lists of them, and finding one.

A row of a list is a JSON object. As text, a row is one line: the name first, then what it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from conformance import packs, scenarios
from conformance.errors import NoSuchRequirement
from conformance.findings import Requirement
from conformance.packs import Pack
from conformance.wording import plural, printable

Row = dict[str, Any]

EVERY_PACK = "every protocol"
"""Whose the kit's own requirements are."""


def chosen(name: str = "") -> tuple[Pack, ...]:
    """The pack of that name, or every pack if it is empty; NoSuchPack says what there is."""
    return (packs.find(name),) if name else packs.find_all()


def _meant(name: str, known: Iterable[str]) -> str:
    """`; did you mean …?`, where some known ids are near; else nothing.

    Unlike the words of a protocol, ids differ by digits, and several are as near as one.
    """
    folded = {one.casefold(): one for one in known}
    exact = folded.get(name.casefold())
    near = [exact] if exact else [folded[one] for one in get_close_matches(name.casefold(), folded)]
    return f"; did you mean {' or '.join(near)}?" if near else ""


def judged(requirement: Requirement) -> str:
    """How a requirement is judged, in one word."""
    if requirement.excluded:
        return "excluded"
    if requirement.manual:
        return "manual"
    if not requirement.checks:
        return "untested"
    return "scenario" if all(check["kind"] == "scenario" for check in requirement.checks) else "check"


class Listing(NamedTuple):
    """A sort of thing that there are lists of.

    `rows` are those of some packs that fit the globs of requirements; `shown` are a row's columns as text.
    """

    rows: Callable[[tuple[Pack, ...], tuple[str, ...]], Iterator[Row]]
    shown: Callable[[Row], tuple[str, ...]]
    by_requirement: bool = False
    """Whether its rows concern requirements."""


def _of(pack: Pack) -> Row:
    return {"protocol": pack.protocol, "revision": pack.revision}


def _packs(chosen: tuple[Pack, ...], _: tuple[str, ...]) -> Iterator[Row]:
    for pack in chosen:
        yield {
            "name": pack.name,
            **_of(pack),
            "title": pack.meta.get("title", ""),
            "licence": pack.meta.get("licence", ""),
            "roles": pack.meta["roles"],
            "certifies": pack.certifies,
            "requirements": len(own_requirements(pack)),
            "kinds": len(pack.kinds),
            "scenarios": len(scenario_names(pack)),
        }


def _shown_pack(row: Row) -> tuple[str, ...]:
    counts = (plural(row[name], name.removesuffix("s")) for name in ("requirements", "kinds", "scenarios"))
    return row["name"], row["title"], ", ".join(counts)


def _kinds(chosen: tuple[Pack, ...], _: tuple[str, ...]) -> Iterator[Row]:
    for pack in chosen:
        for kind in pack.kinds:
            yield {
                "name": kind.name,
                **_of(pack),
                "from": list(kind.senders),
                "document": kind.document,
                "when": kind.when,
                "schema": kind.schema,
                "summary": kind.summary,
            }


def _shown_kind(row: Row) -> tuple[str, ...]:
    when = row["when"]
    told = f"{when['part']} of {when['method']}" if "method" in when else when.get("part", "")
    return row["name"], "document" if row["document"] else " or ".join(row["from"]), row["summary"] or told


def _requirements(chosen: tuple[Pack, ...], globs: tuple[str, ...]) -> Iterator[Row]:
    for pack in chosen:
        yield from (_requirement(row, _of(pack)) for row in own_requirements(pack) if _fits(row.id, globs))
    whose = _of(chosen[0]) if len(chosen) == 1 else {"protocol": None, "revision": None}
    rows = packs.wire_requirements().values()
    yield from (_requirement(row, whose) for row in rows if _fits(row.id, globs))


def _requirement(row: Requirement, whose: Row) -> Row:
    return {
        "id": row.id,
        **whose,
        "level": row.level.value,
        "role": row.role,
        "area": row.area,
        "judged": judged(row),
        "summary": row.summary,
    }


def _shown_requirement(row: Row) -> tuple[str, ...]:
    return row["id"], row["level"], row["role"], row["judged"], row["summary"]


def _scenarios(chosen: tuple[Pack, ...], globs: tuple[str, ...]) -> Iterator[Row]:
    for pack in chosen:
        for scenario in of_pack(pack):
            if any(_fits(name, globs) for name in scenario.requirements):
                yield {
                    "name": scenario.name,
                    **_of(pack),
                    "certifies": pack.peer_of(scenario.role),
                    "title": scenario.title,
                    "requirements": list(scenario.requirements),
                }


def _shown_scenario(row: Row) -> tuple[str, ...]:
    return row["name"], row["certifies"], row["title"]


LISTS: Mapping[str, Listing] = {
    "packs": Listing(_packs, _shown_pack),
    "kinds": Listing(_kinds, _shown_kind),
    "requirements": Listing(_requirements, _shown_requirement, by_requirement=True),
    "scenarios": Listing(_scenarios, _shown_scenario, by_requirement=True),
}
"""By name."""


def _fits(name: str, globs: tuple[str, ...]) -> bool:
    return not globs or any(fnmatchcase(name, glob) for glob in globs)


def own_requirements(pack: Pack) -> list[Requirement]:
    """The pack's requirements without the kit's own of the wire."""
    wire = packs.wire_requirements()
    return [row for row in pack.requirements.values() if row.id not in wire]


def of_pack(pack: Pack) -> list[scenarios.Scenario]:
    """The pack's scenarios, whatever role the kit plays in them."""
    return [one for role in pack.roles for one in scenarios.of_pack(pack, role)]


def scenario_names(pack: Pack) -> list[str]:
    """Their names, without reading them."""
    return [path.stem for path in fixtures(pack, f"scenarios/[!_]*{scenarios.SUFFIX}")]


def fixtures(pack: Pack, pattern: str) -> list[Path]:
    """The files of that pattern among what proves the pack, in order."""
    return sorted(pack.specimens.like(pattern).values())


def rows(what: str, name: str = "", globs: tuple[str, ...] = ()) -> list[Row]:
    """The rows of a list, of one pack or of all; NoSuchRequirement where a glob fits nothing."""
    found = chosen(name)
    listing = LISTS[what]
    for glob in globs:
        if not any(listing.rows(found, (glob,))):
            said = "requirement is called" if what == "requirements" else "scenario concerns a requirement"
            raise NoSuchRequirement(f"no {said} {glob!r}")
    return list(listing.rows(found, globs))


def as_text(what: str, rows: list[Row]) -> str:
    """A line for each row: its name, whose it is if not all are of one pack, and what it is."""
    shown = [LISTS[what].shown(row) for row in rows]
    whose = [_whose(row) for row in rows]
    if what != "packs" and len(set(whose)) > 1:
        shown = [(name, of, *rest) for (name, *rest), of in zip(shown, whose, strict=True)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in shown)
    return "".join(f"{printable(line)}\n" for line in lines)


def _whose(row: Row) -> str:
    return f"{row['protocol']}@{row['revision']}" if row["protocol"] else EVERY_PACK


def as_json(what: str, rows: list[Row]) -> str:
    """A list of objects."""
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


FORMATS: Mapping[str, Callable[[str, list[Row]], str]] = {"text": as_text, "json": as_json}
"""By name."""


def having(name: str, pack_name: str = "") -> list[Pack]:
    """The packs that have this requirement, the newest first; NoSuchRequirement says what is near."""
    found = chosen(pack_name)
    having_it = [pack for pack in found if name in pack.requirements]
    if not having_it:
        where = found[0].name if pack_name else "no pack"
        said = f"{where} has no requirement" if pack_name else "no pack has a requirement"
        known = dict.fromkeys(one for pack in found for one in pack.requirements)
        raise NoSuchRequirement(f"{said} {name!r}{_meant(name, known)}")
    return having_it
