"""The official suite of JSON Schema (json-schema-test-suite/SOURCE.md), judged by the kit's own path.

Every case is judged three times: by the verdict, by the errors, and by the second engine alone, which
explains what the first one refuses and must refuse the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from conformance.errors import BadPack
from conformance.schemas import DRAFT_7, DRAFT_2020_12, Schemas

SUITE = Path(__file__).parent / "json-schema-test-suite"
DIALECTS = {"draft7": DRAFT_7, "draft2020-12": DRAFT_2020_12}
HOST = "http://localhost:1234/"

# (file, group) → why the group is left out; without a group, all of the file. A group that turns out
# right after all fails the test: then its row has to go.
ONE_DIALECT = "the documents of one pack are all of one dialect, which has no vocabularies of its own"
LEFT_OUT = {
    ("draft7/optional/cross-draft.json", ""): ONE_DIALECT,
    ("draft2020-12/optional/cross-draft.json", "refs to historic drafts are processed as historic drafts"):
        ONE_DIALECT,
    ("draft2020-12/optional/format-assertion.json", ""): ONE_DIALECT,
    ("draft2020-12/vocabulary.json", ""): ONE_DIALECT,
    ("draft2020-12/format.json", ""): "the kit asserts formats",
    ("draft2020-12/refRemote.json", "remote HTTP ref with different $id"):
        "a document of a pack has one URI, its $id",
    ("draft2020-12/refRemote.json", "remote HTTP ref with different URN $id"):
        "a document of a pack has one URI, its $id",
}  # fmt: skip


class Group(NamedTuple):
    """One schema of the suite, and values that are valid or not."""

    file: str
    description: str
    schema: Any
    cases: list[dict[str, Any]]


def groups() -> Iterator[Group]:
    for dialect in DIALECTS:
        for path in sorted((SUITE / dialect).rglob("*.json")):
            file = path.relative_to(SUITE).as_posix()
            for one in json.loads(path.read_text(encoding="utf-8")):
                yield Group(file, one["description"], one["schema"], one["tests"])


GROUPS = list(groups())


def reason(group: Group) -> str:
    """Why the group is left out; empty where it is not."""
    return LEFT_OUT.get((group.file, group.description), LEFT_OUT.get((group.file, ""), ""))


def remotes(dialect: str, documents: dict[str, Any]) -> dict[str, Any]:
    """The documents that are served beside these: those that they name, by URI or by a relative one."""
    found: dict[str, Any] = {}
    said = json.dumps(documents)
    for path in sorted((SUITE / "remotes").rglob("*.json")):
        name = path.relative_to(SUITE / "remotes").as_posix()
        near = name.startswith(f"{dialect}/") or (dialect == "draft7" and not name.startswith("draft"))
        if HOST + name in said or (near and path.name in said):
            found[name] = {"$id": HOST + name, **json.loads(path.read_text(encoding="utf-8"))}
    return found


def judge(group: Group) -> Schemas:
    dialect = group.file.partition("/")[0]
    # A document of a pack is an object: a boolean schema is put into one.
    schema = group.schema if isinstance(group.schema, dict) else {"allOf": [group.schema]}
    documents = {"a.json": schema}
    while (more := {**documents, **remotes(dialect, documents)}).keys() != documents.keys():
        documents = more
    return Schemas(documents, DIALECTS[dialect])


def wrong(group: Group) -> list[str]:
    """The cases that the kit judges otherwise than the suite, one way or another."""
    try:
        schemas = judge(group)
        return [case["description"] for case in group.cases if not right(schemas, case)]
    except BadPack as error:
        return [str(error)]


def right(schemas: Schemas, case: dict[str, Any]) -> bool:
    value, valid = case["data"], case["valid"]
    errors = schemas.errors("a.json", value)
    second = list(schemas._explainer.explain(schemas.uri("a.json"), value))
    located = all("#" in error.location for error in errors)
    return schemas.is_valid("a.json", value) is valid is (not errors) is (not second) and located


@pytest.mark.parametrize("file", sorted({group.file for group in GROUPS}))
def test_a_file_is_judged_as_the_suite_says(file: str) -> None:
    """All its groups but those that are left out, none of which need not be."""
    of_file = [group for group in GROUPS if group.file == file]
    found = {group.description: told for group in of_file if (told := wrong(group))}
    left_out = {group.description for group in of_file if reason(group)}
    assert {name: told for name, told in found.items() if name not in left_out} == {}
    assert left_out - found.keys() == set()


def test_the_suite_is_there_and_every_row_of_the_left_out_names_something() -> None:
    assert len([group for group in GROUPS if group.file.startswith("draft7/")]) > 300
    assert len([group for group in GROUPS if group.file.startswith("draft2020-12/")]) > 400
    for file, description in LEFT_OUT:
        assert any(group.file == file and description in ("", group.description) for group in GROUPS)
