"""`conformance.toml`: what the vendor says of the implementation (the ICS), and where it is.

The file has `protocol`, `role` and `target`, `[connection]` (how a server lets the kit in, without anything
secret), `[implementation]` (name, version, vendor) and `[ics]` (facts that scenarios need). Facts that it
leaves out take the pack's defaults, where the pack has one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from conformance import formats, jsontext
from conformance.bindings import merged
from conformance.errors import BadConfiguration, UsageError
from conformance.packs import Pack
from conformance.schemas import Schemas

DEFAULT_NAME = "conformance.toml"


@dataclass(frozen=True, slots=True)
class Configuration:
    """The implementation's own statement: who it is, its facts, and how to reach it."""

    implementation: dict[str, str] = field(default_factory=dict)
    ics: dict[str, Any] = field(default_factory=dict)
    target: str = ""
    protocol: str = ""
    role: str = ""
    sessions: int = 0
    """How many sessions it can have at once; 0 where that is not said."""
    connection: dict[str, Any] = field(default_factory=dict)


def read(path: Path) -> Configuration:
    """The statement in a file; BadConfiguration says where the file is wrong."""
    try:
        value = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadConfiguration(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # TOMLDecodeError and UnicodeDecodeError among them
        raise BadConfiguration(f"{path} is not TOML: {error}") from None
    for where, found in _foreign(value):
        raise BadConfiguration(f"{path}: {where} is {found!s}, which JSON cannot say; quote it")
    for broken in formats.errors("ics", value):
        raise BadConfiguration(f"{path}: {broken.pointer or 'the file'}: {broken.message}")
    named = {
        name: value[name]
        for name in ("target", "sessions", "protocol", "role", "connection")
        if name in value
    }
    return Configuration(value.get("implementation", {}), value.get("ics", {}), **named)


def protocol(path: Path | None) -> str:
    """The protocol that the file names, or `conformance.toml` here; a UsageError where none does."""
    file = path or Path(DEFAULT_NAME)
    named = read(file).protocol if path is not None or file.is_file() else ""
    if not named:
        raise UsageError(f"name a PROTOCOL: {file} {'names none' if file.is_file() else 'is not there'}")
    return named


def _foreign(node: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Values of TOML that are none of JSON: dates, times, infinities."""
    if isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from _foreign(value, where + jsontext.pointer([key]))
    elif not isinstance(node, str | bool | int | float) or (isinstance(node, float) and not isfinite(node)):
        yield where, node


def facts(pack: Pack, stated: dict[str, Any]) -> dict[str, Any]:
    """The stated facts, and the pack's default for each that is not stated.

    BadConfiguration where a fact is none that the pack knows, or is not what its schema asks for.
    """
    known = pack.meta.get("ics", {})
    given = dict(_stated(stated, known, ""))
    made: dict[str, Any] = {}
    for path, row in known.items():
        if path in given or "default" in row:
            value = given.get(path, row.get("default"))
            for name in reversed(path.split(".")):
                value = {name: value}
            made = merged(made, value)
    return made


def _stated(facts_: dict[str, Any], known: dict[str, Any], within: str) -> Iterator[tuple[str, Any]]:
    """Each stated fact by its path, such as `tasks.fails`."""
    for name, value in facts_.items():
        path = within + name
        if path in known:
            for error in Schemas({"fact": known[path]["schema"]}, DIALECT).errors("fact", value):
                where = f"ics.{path}{error.pointer.replace('/', '.')}"
                raise BadConfiguration(f"the ICS says of {where}: {error.message}")
            yield path, value
        elif isinstance(value, dict) and any(one.startswith(f"{path}.") for one in known):
            yield from _stated(value, known, f"{path}.")
        else:
            raise BadConfiguration(f"the ICS states {path!r}, which is no fact; there is {', '.join(known)}")


def schema(pack: Pack) -> dict[str, Any]:
    """The JSON Schema of a `conformance.toml` for this pack: the kit's own, with the pack's facts."""
    whole = formats.schema("ics")
    ics: dict[str, Any] = whole["properties"]["ics"]
    for path, row in pack.meta.get("ics", {}).items():
        *within, last = path.split(".")
        table = ics
        for name in within:
            table = _closed(table).setdefault(name, {"type": "object"})
        said = {"description": row["summary"]} | ({"default": row["default"]} if "default" in row else {})
        _closed(table)[last] = said | row["schema"]
    return whole


def _closed(table: dict[str, Any]) -> dict[str, Any]:
    """The properties of a table that has no others."""
    table["additionalProperties"] = False
    properties: dict[str, Any] = table.setdefault("properties", {})
    return properties


DIALECT = "https://json-schema.org/draft/2020-12/schema"
