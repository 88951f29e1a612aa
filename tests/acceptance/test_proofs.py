"""Every requirement that is judged by what is seen is proved: something passes it, something fails it."""

import json
from functools import cache
from pathlib import Path

import pytest
from specimens import PACKS, ROOT, claimed, files, findings_on, parsed

from conformance.packs import Pack

ROWS = json.loads((ROOT / "schemas/kit/wire.json").read_text("utf-8"))["requirements"]
WIRE = [row["id"] for row in ROWS if row["check"]["kind"] != "scenario"]

UNPROVABLE: dict[str, str] = {
    "AWP-CTL-002": "who is told that a method is unknown has sent it, which is a finding of its own",
    "AWP-ACT-003": "who is refused what was not granted has asked for it, which is AWP-AGT-003's finding",
    "AWP-EMB-004": "an observer that is refused has submitted, which is AWP-AGT-003's finding",
}
"""Requirement → why no fixture can pass it, or none fail it."""


def observed(pack: Pack) -> list[str]:
    """The pack's own requirements that some check judges, other than the steps of a scenario."""
    return [
        requirement.id
        for requirement in pack.requirements.values()
        if requirement.id not in WIRE and any(check["kind"] != "scenario" for check in requirement.checks)
    ]


each_pack = pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)


def fixtures(pack: Pack, validity: str) -> list[Path]:
    """The pack's valid or invalid messages and transcripts, those of its base included."""
    messages = pack.specimens.like(f"messages/{validity}/*.json")
    return [*messages.values(), *pack.specimens.like(f"transcripts/{validity}/*.jsonl").values()]


@cache
def passed(pack: Pack) -> frozenset[str]:
    """What a valid fixture passes."""
    valid = fixtures(pack, "valid")
    return frozenset(found.requirement for path in valid for found in findings_on(pack, path) if found.ok)


@cache
def failed(pack: Pack) -> frozenset[str]:
    """What an invalid fixture fails and says that it fails."""
    return frozenset(
        found.requirement
        for path in fixtures(pack, "invalid")
        for found in findings_on(pack, path)
        if not found.ok and found.requirement in claimed(path)
    )


@each_pack
def test_every_requirement_passes_somewhere_and_fails_somewhere(pack: Pack) -> None:
    needed = {*observed(pack)} - {*UNPROVABLE}
    assert needed
    assert (needed - passed(pack), needed - failed(pack)) == (set(), set())


def test_every_requirement_of_the_wire_is_proved_both_ways() -> None:
    expected = [dict(parsed(path)["expect"]["findings"]) for path in files("wire/*.json")]
    assert {*WIRE} - {name for findings in expected for name in findings} == set()
    assert [{*WIRE} - passed(pack) for pack in PACKS] == [set() for _ in PACKS]


def test_nothing_is_called_unprovable_that_is_proved() -> None:
    proved = {requirement for pack in PACKS for requirement in passed(pack) & failed(pack)}
    assert not proved & set(UNPROVABLE)
    assert set(UNPROVABLE) <= {requirement for pack in PACKS for requirement in observed(pack)}
