"""Our schemas constrain what the published ones do: the digests in each SOURCE.md still hold."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from conformance.packs import Pack

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
    """Those of every schema of the revision, of what it takes over from its base too."""
    rows = listed(source)
    schemas = Pack(source.parent).data.like("**/*.schema.json")
    found = {name: digest(json.loads(path.read_text(encoding="utf-8"))) for name, path in schemas.items()}
    assert rows, f"{source} lists no digest"
    assert len(dict(rows)) == len(rows), f"{source} lists a file twice"
    assert found == dict(rows)


BASED = sorted(path.parent for path in ROOT.glob("schemas/*/*/pack.json") if Pack(path.parent).base)


@pytest.mark.parametrize("folder", BASED, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_what_two_revisions_share_is_written_once(folder: Path) -> None:
    """A schema or a row of a revision that has a base says something else than the base's."""
    pack = Pack(folder)
    assert pack.base is not None
    theirs = pack.base.data.like("**/*.schema.json")
    for path in folder.rglob("*.schema.json"):
        name = path.relative_to(folder).as_posix()
        both = [json.loads(one.read_text(encoding="utf-8")) for one in (path, theirs.get(name)) if one]
        assert len(both) == 1 or digest(both[0]) != digest(both[1]), name
    rows = {row["id"]: row for row in pack.base.rows}
    for row in json.loads((folder / "requirements.json").read_text(encoding="utf-8"))["changes"]:
        known = rows.get(row["id"], {})
        same = [name for name, value in row.items() if name != "id" and known.get(name) == value]
        assert same == [], row["id"]


def test_a_digest_ignores_annotations_only() -> None:
    """`title` is an annotation of a schema, but also may be a property's name, or data."""
    schema = {"title": "T", "properties": {"title": {"description": "D", "const": {"title": 1}}}}
    assert constraints(schema) == {"properties": {"title": {"const": {"title": 1}}}}
    assert digest(schema) != digest({"properties": {"title": {"const": {"title": 2}}}})
