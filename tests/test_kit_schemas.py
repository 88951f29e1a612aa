"""Every file of ours obeys its schema, and each schema refuses what is not such a file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from conformance import configuration, formats, packs, scenarios, yamltext
from conformance.bindings import FACTS, NAME
from conformance.packs import Pack

ROOT = Path(__file__).parents[1]
KIT = ROOT / "schemas" / "kit"
SCHEMAS = sorted(KIT.glob("*.schema.json"))
OURS = [path for path in SCHEMAS if path.name != "jsonrpc.schema.json"]
PACKS = [pytest.param(pack, id=pack.name) for pack in packs.find_all()]

FILES = {
    "pack": "schemas/*/*/pack.json",
    "requirements": "schemas/*/*/requirements.json",
    "errata": "schemas/*/*/errata.json",
    "scenario": "fixtures/*/*/scenarios/*.yaml",
    "ics": "fixtures/*/*/targets/*.toml",
}
"""Format → the files that have it; what a pack calls a lifecycle is one too."""


def files() -> Iterator[Any]:
    for form, pattern in FILES.items():
        found = sorted(ROOT.glob(pattern))
        assert found, pattern
        yield from (pytest.param(form, path, id=path.relative_to(ROOT).as_posix()) for path in found)
    wire = KIT / "wire.json"
    yield pytest.param("requirements", wire, id=wire.relative_to(ROOT).as_posix())
    for pack in packs.find_all():
        for row in pack.meta.get("lifecycles", ()) if pack.base is None else ():
            path = pack.folder / row["file"]
            yield pytest.param("lifecycle", path, id=path.relative_to(ROOT).as_posix())


def content(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        return tomllib.loads(text)
    return yamltext.parse(text, path.name)[0] if path.suffix == ".yaml" else json.loads(text)


def told(form: str, value: Any) -> list[str]:
    return [f"{error.pointer}: {error.message}" for error in formats.errors(form, value)]


@pytest.mark.parametrize(("form", "path"), [*files()])
def test_file_obeys_its_schema_which_is_closed(form: str, path: Path) -> None:
    """And a member with a typing mistake is refused, not passed over."""
    value = content(path)
    assert told(form, value) == []
    assert told(form, {**value, "titel": "x"})


BASED = [pytest.param(pack, id=pack.name) for pack in packs.find_all() if pack.base]


@pytest.mark.parametrize("pack", BASED)
def test_what_a_pack_and_its_base_say_together_obeys_the_schemas(pack: Pack) -> None:
    """As if the pack had said all of it itself."""
    meta = {name: value for name, value in pack.meta.items() if name not in ("base", "without")}
    assert told("pack", meta) == []
    assert told("requirements", {"requirements": pack.rows}) == []


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_schema_is_one(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert document["$id"] == f"urn:agent-conformance-kit:{path.name}"
    jsonschema_rs.meta.validate(document)
    jsonschema_rs.validator_for(document, offline=True)


def closed_objects(node: Any, where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict):
        if node.get("additionalProperties") is False and "properties" in node:
            yield where, node
        for key, value in node.items():
            yield from closed_objects(value, f"{where}/{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from closed_objects(value, f"{where}/{index}")


DESCRIBED = ("errata", "ics", "lifecycle", "pack", "report", "requirements")


@pytest.mark.parametrize("form", DESCRIBED)
def test_every_member_is_described(form: str) -> None:
    document = json.loads((KIT / f"{form}.schema.json").read_text(encoding="utf-8"))
    assert document["description"].endswith(".")
    for where, node in closed_objects(document):
        if where == "/$defs/small":  # members of JSON Schema itself
            continue
        for name, schema in node["properties"].items():
            said = schema.get("description", "")
            assert said.endswith("."), f"{form}{where}/properties/{name} is not described in a sentence"


# Each is made from a file of ours by one change; what is changed stands first.
WRONG = {
    "pack": [
        ("/kinds/0/when", {"pointer": "/type"}),
        ("/kinds/0/from", []),
        ("/kinds/0/schema", "message.json"),
        ("/lifecycles/0/moves/0/entity", "correlationId"),
        ("/lifecycles/0/moves/0/to", "running"),
        ("/recognise", {"pattern": "x"}),
        ("/without", {"dispatch": "there is no base that has it"}),
        ("/roles", {}),
    ],
    "requirements": [
        ("/requirements/0/level", "SHALL"),
        ("/requirements/0/id", "va-1"),
        ("/requirements/0/untested", "and also judged"),
        ("/requirements/0/check", {"kind": "shcema"}),
        ("/requirements/0/check", {"kind": "transition"}),
        ("/requirements/0/check", []),
        ("/requirements/0/claims", [{}]),
        ("/changes", [{"id": "VA-MSG-001", "level": "MAY"}]),
    ],
    "errata": [
        ("/errata/0/witness/repaired", "invalid"),
        ("/errata/0/patch/0/op", "move"),
        ("/errata/0/patch/0", {"op": "add", "path": "/x"}),
        ("/errata/0/patch", []),
    ],
    "lifecycle": [
        ("/transitions/0/reasons", []),
        ("/transitions/0/wire", "result"),
        ("/states", {}),
        ("/repeat", ["running", "running"]),
    ],
    "ics": [("/implementation/name", 1), ("/implementation/colour", "red"), ("/target", ""), ("/ics", [])],
}


def changed(value: Any, pointer: str, new: Any) -> Any:
    *parents, last = pointer.split("/")[1:]
    node = value
    for step in parents:
        node = node[int(step)] if isinstance(node, list) else node.setdefault(step, {})
    node[int(last) if isinstance(node, list) else last] = new
    return value


@pytest.mark.parametrize(
    ("form", "pointer", "new"),
    [(form, pointer, new) for form, rows in WRONG.items() for pointer, new in rows],
)
def test_schema_refuses(form: str, pointer: str, new: Any) -> None:
    names = {"ics": "targets/agent.toml"}
    pack = packs.find("va-agent-protocol")
    path = pack.fixtures / names[form] if form in names else pack.folder / f"{form}.json"
    found = told(form, changed(content(path), pointer, new))
    assert found, "it accepts this"


# The same of a pack that has a base, which says less.
WRONG_CHANGES = [
    ("pack", "/base", ""),
    ("pack", "/without", {}),
    ("pack", "/kinds", [{"name": "ping"}]),
    ("requirements", "/changes", []),
    ("requirements", "/changes/0", {"id": "AWP-AGT-007"}),
    ("requirements", "/changes/0", {"summary": "Of which requirement?"}),
    ("requirements", "/changes/0", {"id": "AWP-AGT-007", "levle": "MAY"}),
    ("requirements", "/requirements", [{"id": "AWP-AGT-007", "summary": "It is so.", "untested": "so far"}]),
]


@pytest.mark.parametrize(("form", "pointer", "new"), WRONG_CHANGES)
def test_schema_refuses_of_a_pack_with_a_base(form: str, pointer: str, new: Any) -> None:
    pack = packs.find("awp@0.1-draft.12")
    assert told(form, changed(content(pack.folder / f"{form}.json"), pointer, new)), "it accepts this"


@pytest.mark.parametrize("pack", PACKS)
def test_scenarios_of_a_pack_use_facts_that_it_declares(pack: Pack) -> None:
    """Else a misspelt fact would make a scenario not applicable, and nobody would know why."""
    declared = pack.meta.get("ics", {})

    def is_declared(path: str) -> bool:
        return any(
            path == fact or path.startswith(f"{fact}.") or fact.startswith(f"{path}.") for fact in declared
        )

    for path in pack.specimens.like("scenarios/*.yaml").values():
        text = path.read_text(encoding="utf-8")
        needs = yamltext.parse(text, path.name)[0].get("needs", {})
        used = [name.removeprefix(FACTS) for name in NAME.findall(text) if name.startswith(FACTS)]
        unknown = [fact for fact in (*needs, *used) if not is_declared(fact)]
        assert unknown == [], path.name


@pytest.mark.parametrize("pack", PACKS)
def test_reference_states_facts_that_its_pack_declares(pack: Pack) -> None:
    for row in pack.meta.get("reference", {}).values():
        stated = configuration.read(pack.specimens.at(row["ics"])).ics
        top = {fact.partition(".")[0] for fact in pack.meta["ics"]}
        assert set(stated) <= top


@pytest.mark.parametrize("pack", PACKS)
def test_every_scenario_of_a_pack_can_be_read(pack: Pack) -> None:
    names = {scenario.name for role in pack.roles for scenario in scenarios.of_pack(pack, role)}
    files = pack.specimens.like("scenarios/[!_]*.yaml").values()
    assert names == {path.stem for path in files}
    assert names or "reference" not in pack.meta
