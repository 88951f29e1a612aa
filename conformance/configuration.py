"""`conformance.toml`: what the vendor says of the implementation (the ICS), and where it is.

The file has `[implementation]` (name, version, vendor) and `[ics]` (facts that scenarios need). Facts
that it leaves out take the pack's defaults, where the pack has one.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.bindings import merged
from conformance.errors import BadConfiguration
from conformance.packs import Pack

DEFAULT_NAME = "conformance.toml"

_SECTIONS = {"implementation": ("name", "version", "vendor"), "ics": None, "target": None}


@dataclass(frozen=True, slots=True)
class Configuration:
    """The implementation's own statement: who it is, its facts, and how to reach it."""

    implementation: dict[str, str] = field(default_factory=dict)
    ics: dict[str, Any] = field(default_factory=dict)
    target: str = ""


def read(path: Path) -> Configuration:
    """The statement in a file; BadConfiguration says where the file is wrong."""
    try:
        value = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadConfiguration(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"{path} is not TOML: {error}") from None
    for name in value:
        if name not in _SECTIONS:
            raise BadConfiguration(f"{path}: unknown section {name!r}; there is {', '.join(_SECTIONS)}")
    who = value.get("implementation", {})
    for name, said in who.items() if isinstance(who, dict) else [("implementation", who)]:
        if name not in ("name", "version", "vendor") or not isinstance(said, str):
            raise BadConfiguration(
                f"{path}: implementation.{name} is not one of name, version, vendor as a string"
            )
    facts, target = value.get("ics", {}), value.get("target", "")
    if not isinstance(facts, dict) or not isinstance(target, str):
        raise BadConfiguration(f"{path}: ics is a table, and target a string")
    return Configuration(who, facts, target)


def facts(pack: Pack, stated: dict[str, Any]) -> dict[str, Any]:
    """The stated facts over the pack's defaults."""
    defaults: dict[str, Any] = {}
    for path, row in pack.meta.get("ics", {}).items():
        if "default" in row:
            value = row["default"]
            for name in reversed(path.split(".")):
                value = {name: value}
            defaults = merged(defaults, value)
    return dict(merged(defaults, stated))
