"""Our schemas constrain what the published ones do: the digests in each SOURCE.md still hold."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(ROOT.glob("schemas/*/*/SOURCE.md"))
ROW = re.compile(r"^\| `([^`]+\.json)` \| `([0-9a-f]{64})` \|$", re.MULTILINE)

ANNOTATIONS = {"title", "description", "$comment"}
DATA = {"enum", "const", "default", "examples"}
NAMED = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}


def constraints(schema: Any) -> Any:
    """A schema without its annotations: step 2 of the digest that SOURCE.md defines."""
    if isinstance(schema, list):
        return [constraints(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {}
    for keyword, value in schema.items():
        if keyword in DATA:
            kept[keyword] = value
        elif keyword in NAMED:
            kept[keyword] = {name: constraints(member) for name, member in value.items()}
        elif keyword not in ANNOTATIONS:
            kept[keyword] = constraints(value)
    return kept


def digest(schema: Any) -> str:
    text = json.dumps(constraints(schema), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def listed(source: Path) -> list[tuple[str, str]]:
    return ROW.findall(source.read_text(encoding="utf-8"))


def test_there_are_published_revisions() -> None:
    """An empty list of sources would make the test below pass without looking at anything."""
    assert {source.parent.parent.name for source in SOURCES} >= {
        "awp",
        "governed-attempt-progress",
        "va-agent-protocol",
    }


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: str(source.parent.relative_to(ROOT)))
def test_constraints_are_the_published_ones(source: Path) -> None:
    rows = listed(source)
    folder = source.parent
    found = {
        path.relative_to(folder).as_posix(): digest(json.loads(path.read_text(encoding="utf-8")))
        for path in folder.rglob("*.schema.json")
    }
    assert rows, f"{source} lists no digest"
    assert len(dict(rows)) == len(rows), f"{source} lists a file twice"
    assert found == dict(rows)


def test_a_digest_ignores_annotations_only() -> None:
    """`title` is an annotation of a schema, but also may be a property's name, or data."""
    schema = {"title": "T", "properties": {"title": {"description": "D", "const": {"title": 1}}}}
    assert constraints(schema) == {"properties": {"title": {"const": {"title": 1}}}}
    assert digest(schema) != digest({"properties": {"title": {"const": {"title": 2}}}})
