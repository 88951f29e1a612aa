"""The references' faults: what only steps prove can fail too, and each fault names what it breaks."""

from __future__ import annotations

import runpy
import shlex
import subprocess
import sys
from collections import Counter

import pytest
from live import PEERS

from conformance import packs, references
from conformance.generation import refusals
from conformance.packs import Pack

PACKS = packs.find_all()
REFERENCES = [
    pytest.param(pack, role, id=f"{pack.name} {role}")
    for pack in PACKS
    for role in pack.meta.get("reference", {})
]


def listed(pack: Pack, role: str) -> list[str]:
    """The names of the faults as the reference prints them, which a mapping would make unique."""
    fixtures = pack.specimens.at("targets").parent
    places = {"python": shlex.quote(sys.executable), "fixtures": shlex.quote(str(fixtures))}
    command = shlex.split(pack.meta["reference"][role]["faults"].format(**places))
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    return [line.split()[0] for line in done.stdout.splitlines()]


def copies(pack: Pack) -> set[str]:
    """The requirements that broken copies of a world of another maker break, each of which is caught."""
    told = runpy.run_path(str(PEERS / "broken_world.py"))["FAULTS"] if pack.protocol == "awp" else {}
    return {fault.requirement for fault in told.values()}


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_what_only_scenarios_prove_can_fail(pack: Pack) -> None:
    broken = {
        requirement
        for role in pack.meta.get("reference", {})
        for requirement in references.faults(pack, role).values()
    }
    by_steps_alone = {
        name
        for name, requirement in pack.requirements.items()
        if requirement.checks and all(check["kind"] == "scenario" for check in requirement.checks)
    }
    if "refusals" not in pack.meta:  # nothing of the pack is tried, so nothing can fail
        by_steps_alone -= {refusals.REFUSAL}
    assert by_steps_alone - broken - copies(pack) == set()


@pytest.mark.parametrize(("pack", "role"), REFERENCES)
def test_each_fault_breaks_a_requirement_of_the_pack_for_that_role(pack: Pack, role: str) -> None:
    faults = references.faults(pack, role)
    strange = {
        fault: name
        for fault, name in faults.items()
        if name not in pack.requirements or not pack.requirements[name].concerns(role)
    }
    assert faults != {}
    assert strange == {}


@pytest.mark.parametrize(("pack", "role"), REFERENCES)
def test_no_two_faults_have_one_name(pack: Pack, role: str) -> None:
    assert {name: times for name, times in Counter(listed(pack, role)).items() if times > 1} == {}
