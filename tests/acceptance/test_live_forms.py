"""The references in the other forms that a role may have: a process for each step, envelopes alone."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from live import PYTHON, conformance_run

from conformance import packs, references
from conformance.packs import Pack

ATEP = packs.find("atep")
OSSA = packs.find("ossa-a2a")


def program(name: str) -> str:
    return f"{PYTHON} {shlex.quote(str(ATEP.fixtures / 'targets' / name))}"


@pytest.mark.parametrize("form", ["--input {input} --output {output}", "--once"], ids=["files", "pipes"])
def test_an_adapter_that_is_a_process_for_each_step(form: str, tmp_path: Path) -> None:
    config = str(ATEP.fixtures / "targets" / "adapter.toml")
    chosen = [word for name in ("two-steps", "*no-step", "after-*", "input-file") for word in ("-s", name)]
    target = f"exec:{program('adapter.py')} {form}"
    run = conformance_run(tmp_path, ATEP.name, target, "--config", config, *chosen)
    assert (run.code, run.of("fail", "warn", "inconclusive")) == (0, []), run.text
    assert set(run.statuses.values()) == {"passed"}


def test_an_engine_that_sends_envelopes_alone(tmp_path: Path) -> None:
    """All but how often a step may be tried, which only what surrounds an envelope says."""
    config = str(ATEP.fixtures / "targets" / "engine.toml")
    target = f"stdio:{program('engine.py')} --bare"
    run = conformance_run(tmp_path, ATEP.name, target, "--role", "engine", "--config", config)
    assert (run.code, run.of("fail", "warn", "inconclusive")) == (0, []), run.text
    assert set(run.statuses.values()) == {"passed"}
    assert run.of("untested") == ["ATEP-LIF-004"]


@pytest.mark.parametrize(("pack", "role"), [(ATEP, "adapter"), (ATEP, "engine"), (OSSA, "worker")], ids=str)
def test_every_requirement_of_the_role_has_a_fault(pack: Pack, role: str) -> None:
    """And so, as `test_live` has it, is met by the honest reference, and is found broken with the fault."""
    wanted = {row.id for row in pack.requirements.values() if row.concerns(role)}
    if role not in pack.meta["refusals"]:
        wanted.remove("WIRE-REFUSAL")  # nothing is tried of it
    assert wanted == set(references.faults(pack, role).values())
