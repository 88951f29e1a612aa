"""The kit's own file formats: what `schemas/kit/` says of a value that a person or a program wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache

from conformance.events import JSON
from conformance.findings import BrokenConstraint
from conformance.packs import data_root
from conformance.schemas import Schemas

DIALECT = "https://json-schema.org/draft/2020-12/schema"


@cache
def _schemas(name: str) -> Schemas:
    text = (data_root() / "schemas" / "kit" / name).read_text(encoding="utf-8")
    return Schemas({name: json.loads(text)}, DIALECT)


def errors(form: str, value: JSON) -> Iterator[BrokenConstraint]:
    """What is wrong with a value as a `scenario`, an `ics`, a `report`, …"""
    name = f"{form}.schema.json"
    yield from _schemas(name).errors(name, value)
