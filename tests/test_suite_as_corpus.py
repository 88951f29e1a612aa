"""The schemas of the official suite as a corpus: what can be fitted is, and nothing that is made is wrong.

Whether anything fits, the suite's own cases say; `benchmarks/generation.py` tries more values of each.
"""

from __future__ import annotations

import pytest
from test_official_suite import GROUPS, Group, judge, reason

from conformance.generation.building import Builder, NothingFits
from conformance.generation.choosing import Seeded, Simplest

CORPUS = [group for group in GROUPS if "optional" not in group.file and not reason(group)]


def wrong(group: Group) -> str:
    """What is wrong with what is made of a schema; empty where nothing is."""
    schemas = judge(group)
    builder = Builder(schemas, "a.json")
    for choices in (Simplest(), Seeded(1), Seeded(2)):
        try:
            value = builder.build(choices)
        except NothingFits:
            if any(case["valid"] for case in group.cases):
                return "nothing is made of it"
            continue
        if not schemas.is_valid("a.json", value):
            return f"{value!r} does not fit"
    return ""


@pytest.mark.parametrize("file", sorted({group.file for group in CORPUS}))
def test_what_is_made_of_a_schema_fits_it(file: str) -> None:
    groups = [group for group in CORPUS if group.file == file]
    assert {group.description: found for group in groups if (found := wrong(group))} == {}


def test_nothing_much_is_left_out() -> None:
    assert len(CORPUS) > 590
