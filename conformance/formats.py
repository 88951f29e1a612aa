"""The kit's own file formats: what `schemas/kit/` says of a value that a person or a program wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from conformance.events import JSON
from conformance.findings import BrokenConstraint
from conformance.packs import data_root
from conformance.schemas import Schemas

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(form: str) -> dict[str, Any]:
    """The schema of a `scenario`, an `ics`, …; a new value each time."""
    path = data_root() / "schemas" / "kit" / f"{form}.schema.json"
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return value


@cache
def _schemas(form: str) -> Schemas:
    return Schemas({f"{form}.schema.json": schema(form)}, DIALECT)


def errors(form: str, value: JSON) -> Iterator[BrokenConstraint]:
    """What is wrong with a value as a `scenario`, an `ics`, a `report`, …"""
    yield from _schemas(form).errors(f"{form}.schema.json", value)
