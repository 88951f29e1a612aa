"""The reference implementations that come with the packs: how each is started, and its named faults."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from conformance import configuration
from conformance.errors import BadTarget
from conformance.packs import Pack

NAME = "reference"
"""The target that stands for one."""


def is_one(target: str) -> bool:
    """Whether a target is a reference implementation, honest or not."""
    return target == NAME or target.startswith(NAME + ":")


def statement(pack: Pack, role: str) -> configuration.Configuration:
    """What the reference implementation says of itself."""
    path = file(pack, role)
    return configuration.read(path) if path else configuration.Configuration()


def file(pack: Pack, role: str) -> Path | None:
    """Where it says so; None where there is none."""
    row = pack.meta.get("reference", {}).get(role)
    return pack.specimens.at(row["ics"]) if row else None


def target(pack: Pack, role: str, named: str) -> str:
    """The target that the reference implementation is, with the fault that is `named`: `reference:FAULT`.

    Raises BadTarget where there is no such implementation, or no such fault.
    """
    row = pack.meta.get("reference", {}).get(role)
    if row is None:
        raise BadTarget(f"{pack.name} has no reference implementation of the {role}; name a --target")
    fault = named.partition(":")[2]
    if not fault:
        return _filled(row["target"], pack)
    known = faults(pack, role)
    if fault not in known:
        raise BadTarget(f"the reference {role} has no fault {fault!r}; it has {', '.join(known)}")
    return f"{_filled(row['target'], pack)} {row['fault'].format(fault=fault)}"


def _filled(template: str, pack: Pack) -> str:
    fixtures = pack.specimens.at("targets").parent  # a pack without a reference of its own has the base's
    return str(template.format(python=_shown(sys.executable), fixtures=_shown(str(fixtures))))


def faults(pack: Pack, role: str) -> dict[str, str]:
    """The faults of the reference implementation: name → the requirement that it breaks."""
    command = shlex.split(_filled(pack.meta["reference"][role]["faults"], pack))
    listed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
    rows = (line.split(None, 2) for line in listed.splitlines())
    return {row[0]: row[1] for row in rows if len(row) > 1}


def _shown(command: str) -> str:
    return shlex.quote(command) if os.name == "posix" else f'"{command}"'
