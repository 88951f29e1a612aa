"""A pack that names a base is what the base is, but for what its own files say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from judging import DIALECT, TOY, row, toy

from conformance import packs, problems, scenarios
from conformance.errors import BadPack, BadScenario
from conformance.packs import Pack
from conformance.report.evaluation import digest
from conformance.revisions import Layers, changed, changed_rows

LIFECYCLE = {
    "name": "job",
    "initial": "asked",
    "states": {"asked": "transient", "done": "terminal"},
    "transitions": [{"from": "asked", "to": "done"}],
}
SCHEMAS = {name: {"$schema": DIALECT, "type": "object"} for name in ("toy.schema.json", "old.schema.json")}
SCENARIO = "title: one\nrole: right\ncovers: [TOY-MSG-001]\nsteps:\n"


def written(root: Path, files: dict[str, Any]) -> None:
    for name, value in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def based(root: Path, files: dict[str, Any] | None = None, **meta: Any) -> Pack:
    """Revision 2 of the toy protocol, which says nothing but this of its base, revision 1."""
    toy(
        root,
        row({"kind": "schema"}),
        row(None, "TOY-2", untested="so far", part="half of it"),
        row(None, "TOY-3", manual="ask"),
        schemas=SCHEMAS,
        files={"job.json": LIFECYCLE},
        lifecycles=[{"file": "job.json", "moves": [{"on": ["go"], "entity": "/id", "to": "done"}]}],
    )
    folder = root / "schemas" / "toy" / "2"
    written(folder, {"pack.json": {"protocol": "toy", "revision": "2", "base": "1"} | meta, **(files or {})})
    return Pack(folder)


# --- What is merged --------------------------------------------------------------------------------


def test_a_member_is_replaced_whole_and_null_drops_it() -> None:
    base = {"a": {"x": 1}, "b": 2, "c": 3}
    assert changed(base, {"a": {"y": 1}, "b": None, "d": 4}) == {"a": {"y": 1}, "c": 3, "d": 4}


def test_rows_keep_their_order_and_new_ones_follow() -> None:
    base = [{"id": "a", "n": 1}, {"id": "b", "n": 2}, {"id": "c", "n": 3}]
    own = [{"id": "d", "n": 4}, {"id": "b", "n": 5}]
    assert changed_rows(base, own, "id", ["a"]) == [{"id": "b", "n": 5}, {"id": "c", "n": 3}, own[0]]


def test_a_pack_that_says_nothing_is_its_base(tmp_path: Path) -> None:
    pack = based(tmp_path)
    base = pack.base
    assert base is not None
    assert (pack.name, base.name) == ("toy@2", "toy@1")
    assert pack.kinds == base.kinds
    assert pack.requirements == base.requirements
    assert pack.lifecycles == base.lifecycles
    assert pack.errata == ()
    assert pack.schemas().documents == base.schemas().documents
    assert list(problems.of(pack)) == []


def test_a_kind_is_replaced_added_or_left_out(tmp_path: Path) -> None:
    begin, go = (one for one in TOY["kinds"] if one["name"] in ("go", "begin"))
    new = begin | {"name": "wait"}
    pack = based(tmp_path, kinds=[go | {"from": ["right"]}, new], without={"note": "nobody takes notes"})
    assert [kind.name for kind in pack.kinds] == ["ask", "begin", "go", "end", "wait"]
    assert pack.kind("go").senders == ("right",)
    assert list(problems.of(pack)) == []


def test_a_requirement_is_changed_added_or_left_out(tmp_path: Path) -> None:
    changes = [
        {"id": "TOY-2", "level": "SHOULD", "untested": None, "part": None, "check": {"kind": "direction"}},
        row(None, "TOY-4", untested="so far"),
    ]
    files = {"requirements.json": {"changes": changes}}
    pack = based(tmp_path, files, without={"TOY-3": "nobody asks any more"})
    own = [name for name in pack.requirements if name.startswith("TOY")]
    assert own == ["TOY-MSG-001", "TOY-2", "TOY-4"]
    second = pack.requirements["TOY-2"]
    assert (second.level, second.summary, second.checks) == ("SHOULD", "It is so.", ({"kind": "direction"},))
    assert (second.untested, second.part) == ("", "")
    assert list(problems.of(pack)) == []


def test_a_file_is_replaced_added_or_left_out(tmp_path: Path) -> None:
    files = {
        "toy.schema.json": {"$schema": DIALECT, "type": "array"},
        "more/new.schema.json": {"$schema": DIALECT},
        "job.json": LIFECYCLE | {"initial": "done"},
        "errata.json": {"errata": []},
    }
    pack = based(tmp_path, files, without={"old.schema.json": "nothing refers to it"})
    assert sorted(pack.schemas().documents) == ["more/new.schema.json", "toy.schema.json"]
    assert pack.schemas().is_valid("toy.schema.json", [])
    assert pack.lifecycles["job"][0].initial == "done"
    assert list(problems.of(pack)) == []


def test_a_lifecycle_that_is_left_out_is_not_the_bases(tmp_path: Path) -> None:
    pack = based(tmp_path, without={"job.json": "there are no jobs"}, lifecycles=None)
    assert (pack.lifecycles, list(problems.of(pack))) == ({}, [])
    assert pack.data.at("job.json").parent == pack.folder


def test_what_the_base_has_left_out_is_its_own_affair(tmp_path: Path) -> None:
    based(tmp_path, without={"TOY-3": "nobody asks any more"})
    folder = tmp_path / "schemas" / "toy" / "3"
    written(folder, {"pack.json": {"protocol": "toy", "revision": "3", "base": "2"}})
    pack = Pack(folder)
    assert pack.without == {}
    assert "TOY-3" not in pack.requirements
    assert [path.name for path in pack.data.folders] == ["3", "2", "1"]


def test_a_digest_is_of_the_base_too(tmp_path: Path) -> None:
    pack = based(tmp_path)
    before = digest(pack)
    written(tmp_path / "schemas" / "toy" / "1", {"job.json": LIFECYCLE | {"repeat": ["asked"]}})
    assert digest(pack) != before


# --- What is wrong with it -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["TOY-9", "stop", "none.schema.json", "messages/valid/none.json"])
def test_what_the_base_has_not_cannot_be_left_out(tmp_path: Path, name: str) -> None:
    (problem,) = problems.of(based(tmp_path, without={name: "it is gone"}))
    assert problem == f"toy@2: {name} is left out, which is nothing of a base"


def test_a_fixture_of_the_base_can_be_left_out(tmp_path: Path) -> None:
    written(tmp_path / "fixtures" / "toy" / "1", {"messages/valid/go.json": {}})
    assert list(problems.of(based(tmp_path, without={"messages/valid/go.json": "it goes no more"}))) == []


def test_without_a_base_nothing_can_be_left_out(tmp_path: Path) -> None:
    pack = toy(tmp_path, row({"kind": "direction"}), without={"TOY-MSG-001": "it is gone"})
    (problem,) = problems.of(pack)
    assert problem.endswith("TOY-MSG-001 is left out, which is nothing of a base")


@pytest.mark.parametrize("base", ["2", "3", "10"])
def test_a_base_is_an_older_revision(tmp_path: Path, base: str) -> None:
    """So that none is based on itself."""
    with pytest.raises(BadPack, match=f"pack.json is based on {base}, which is no older revision"):
        based(tmp_path, base=base)


def test_a_base_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadPack, match=r"0[/\\]pack.json cannot be read"):
        based(tmp_path, base="0")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"requirements.json": {"requirements": []}}, r"\(KeyError: 'changes'\)"),
        ({"requirements.json": {"changes": [{"level": "MUST"}]}}, r"\(KeyError: 'id'\)"),
        ({"requirements.json": {"changes": [{"id": "TOY-9"}]}}, r"\(KeyError: 'level'\)"),
        (
            {"requirements.json": {"changes": [{"id": "TOY-2"}, {"id": "TOY-2"}]}},
            r"\(ValueError: more than one row of TOY-2\)",
        ),
    ],
)
def test_changes_that_are_none(tmp_path: Path, files: dict[str, Any], said: str) -> None:
    with pytest.raises(BadPack, match=rf"2[/\\]requirements.json is not what it should be {said}"):
        based(tmp_path, files).requirements  # noqa: B018


def test_kinds_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(BadPack, match=r"pack.json is not what it should be \(KeyError: 'name'\)"):
        based(tmp_path, kinds=[{"from": ["left"]}])


# --- Fixtures --------------------------------------------------------------------------------------


def test_fixtures_are_taken_over_replaced_or_left_out(tmp_path: Path) -> None:
    fixtures = tmp_path / "fixtures" / "toy"
    old = {f"messages/valid/{name}.json": {} for name in ("begin", "go", "note")}
    written(fixtures / "1", old | {"targets/agent.py": "", "messages/invalid/go.json": {}})
    written(fixtures / "2", {"messages/valid/go.json": {}, "messages/valid/ask.json": {}})
    pack = based(tmp_path, without={"messages/valid/note.json": "it does not hold"})
    found = {name: path.parents[2].name for name, path in pack.specimens.like("messages/valid/*").items()}
    assert found == {
        "messages/valid/ask.json": "2",
        "messages/valid/begin.json": "1",
        "messages/valid/go.json": "2",
    }
    assert pack.specimens.at("targets") == fixtures / "1" / "targets"
    assert pack.specimens.at("nothing") == fixtures / "1" / "nothing"
    assert pack.fixtures == fixtures / "2"


def test_scenarios_are_taken_over_and_what_they_use_may_be_replaced(tmp_path: Path) -> None:
    fixtures = tmp_path / "fixtures" / "toy"
    old = {"_first": "  - wait: 1 s\n", "one": "  - use: _first\n", "two": "  - wait: 3 s\n"}
    written(fixtures / "1", {f"scenarios/{name}.yaml": SCENARIO + text for name, text in old.items()})
    written(fixtures / "2", {"scenarios/_first.yaml": f"{SCENARIO}  - wait: 2 s\n"})
    pack = based(tmp_path, without={"scenarios/two.yaml": "there is no second"})
    (one,) = scenarios.of_pack(pack, "right")
    assert (one.name, [step.args for step in one.steps]) == ("one", [{"wait": "2 s"}])
    assert pack.base is not None
    base = scenarios.of_pack(pack.base, "right")
    assert [[step.args for step in each.steps] for each in base] == [[{"wait": "1 s"}], [{"wait": "3 s"}]]
    assert scenarios.read(f"{SCENARIO}  - use: one\n", "x.yaml", pack).steps[0].args == {"wait": "2 s"}
    with pytest.raises(BadScenario, match="there is no scenario 'two' beside this one"):
        scenarios.read(f"{SCENARIO}  - use: two\n", "x.yaml", pack)


def test_a_folder_inside_leaves_out_what_is_left_out_of_it(tmp_path: Path) -> None:
    written(tmp_path / "old", {"in/a": "", "in/b": "", "b": ""})
    layers = Layers(tmp_path / "new", Layers(tmp_path / "old"), ["in/a", "b"])
    assert list(layers.inside("in").like("*")) == ["b"]
    assert list(layers.like("*")) == ["in"]


# --- A real one ------------------------------------------------------------------------------------


def test_two_revisions_of_a_protocol_differ_where_they_say_so() -> None:
    old, new = packs.find("awp@0.1-draft.7"), packs.find("awp@0.1-draft.12")
    added = {
        "CMD-009",
        "DAT-010",
        "EVT-004",
        "GAM-001",
        "GAM-002",
        "GAM-003",
        "GAM-004",
        "ROB-008",
        "TIM-014",
    }
    assert new.requirements.keys() - old.requirements.keys() == {f"AWP-{name}" for name in added}
    assert old.requirements.keys() <= new.requirements.keys()
    assert len([row for row in new.rows if row["id"].startswith("AWP-")]) == 245 + 1
    assert (old.requirements["AWP-OBS-007"].role, new.requirements["AWP-OBS-007"].role) == ("agent", "both")
    assert new.kinds == old.kinds
    assert new.lifecycles == old.lifecycles
    negotiating = {"state": "negotiating", "status_seq": 1, "ts_mono_ns": 1}
    assert old.schemas().is_valid("session-state.schema.json", negotiating)
    assert not new.schemas().is_valid("session-state.schema.json", negotiating)
