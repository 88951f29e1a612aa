"""Packs: found and read; a file that is not what it should be is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from judging import ANYTHING, AWP, DIALECT, ROOT, TOY, VA, row, toy

from conformance import packs
from conformance.errors import BadPack, NoSuchKind, NoSuchPack
from conformance.findings import Level
from conformance.packs import Pack, find, find_all, pointer_value
from conformance.shapes import simply_fits


def test_the_packs_are_there() -> None:
    names = {"awp@0.1-draft.7", "awp@0.1-draft.12", "va-agent-protocol@0.1.0"}
    assert names <= {pack.name for pack in find_all()}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("awp", "awp@0.1-draft.12"),
        ("awp@", "awp@0.1-draft.12"),
        ("awp@0.1-draft.7",) * 2,
        ("va-agent-protocol@0.1.0",) * 2,
    ],
)
def test_a_pack_is_found_by_name(name: str, found: str) -> None:
    assert find(name).name == found


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("awp@9", "there is no pack 'awp@9'; there is awp@0.1-draft.12, awp@0.1-draft.7$"),
        (
            "nothing",
            "there is no pack 'nothing'; there is .*awp@0.1-draft.12, awp@.*va-agent-protocol@0.1.0",
        ),
        ("", "there is no pack ''"),
    ],
)
def test_a_pack_that_is_not_there_is_a_usage_error_that_lists_the_others(name: str, said: str) -> None:
    with pytest.raises(NoSuchPack, match=said):
        find(name)


def test_the_newest_revision_comes_first_and_a_release_before_its_drafts(tmp_path: Path) -> None:
    revisions = ["0.1-draft.7", "0.1-draft.12", "0.1", "0.1.0", "1.0", "0.9", "1"]
    for revision in revisions:
        folder = tmp_path / "schemas" / "toy" / revision
        folder.mkdir(parents=True)
        (folder / "pack.json").write_text(json.dumps(TOY | {"revision": revision}))
    other = tmp_path / "schemas" / "another" / "1"
    other.mkdir(parents=True)
    (other / "pack.json").write_text(json.dumps(TOY | {"protocol": "another"}))
    names = [pack.name for pack in find_all(tmp_path)]
    assert names[0] == "another@1"
    assert names[1:] == [
        "toy@1.0", "toy@1", "toy@0.9", "toy@0.1.0", "toy@0.1", "toy@0.1-draft.12", "toy@0.1-draft.7",
    ]  # fmt: skip


def test_the_data_lie_beside_the_package_in_a_checkout() -> None:
    assert packs.data_root() == ROOT
    assert AWP.fixtures == ROOT / "fixtures" / "awp" / "0.1-draft.7"


# --- What a pack says ------------------------------------------------------------------------------


def test_roles() -> None:
    assert set(AWP.roles) == {"world", "agent"}
    assert (AWP.certifies, VA.certifies) == ("world", "agent")
    assert AWP.peer_of("world") == "agent"
    assert VA.peer_of("agent") == "orchestrator"


def test_what_never_reaches_disk() -> None:
    assert set(AWP.secrets) == {"session_token", "transfer_token", "snapshot_token"}
    assert VA.secrets == ()


def test_a_message_of_no_kind_breaks_the_first_requirement() -> None:
    assert (AWP.unknown_kind_id, VA.unknown_kind_id) == ("AWP-MSG-001", "VA-MSG-001")
    assert {"AWP-MSG-001"} <= AWP.requirements.keys()


def test_kinds() -> None:
    dispatch = VA.kind("dispatch")
    assert (dispatch.senders, dispatch.document) == (("orchestrator",), False)
    assert VA.kind("TaskUnit").document
    with pytest.raises(NoSuchKind, match=r"no kind 'dispach' \(did you mean dispatch\?\); it has disp"):
        VA.kind("dispach")


def test_every_requirement_of_the_published_matrix_is_there() -> None:
    """AWP 0.1-draft.7 lists 236 requirements; MSG-001 and the wire's are the kit's own."""
    own = [name for name in AWP.requirements if name.startswith("AWP-")]
    assert len(own) == 236 + 1
    assert {"WIRE-JSON", "WIRE-LIMIT"} <= AWP.requirements.keys()
    assert AWP.requirements["AWP-LIF-003"].level is Level.SHOULD


def test_a_row_is_read(tmp_path: Path) -> None:
    spec = {"kind": "direction"}
    pack = toy(
        tmp_path,
        row(spec, reference="clause 1", area="a", claims=[{"keyword": "type"}]),
        row([spec, spec], "TOY-2"),
        row(None, "TOY-3", excluded="not observable"),
        row(None, "TOY-4", untested="no check yet"),
        row(None, "TOY-5", manual="ask a person"),
        row({"kind": "scenario"}, "TOY-6"),
    )
    one = pack.requirements["TOY-MSG-001"]
    assert (one.checks, one.claims) == ((spec,), ({"keyword": "type"},))
    assert (one.reference, one.area, one.level, one.role) == ("clause 1", "a", Level.MUST, "left")
    assert pack.requirements["TOY-2"].checks == (spec, spec)
    assert pack.requirements["TOY-3"].excluded == "not observable"
    assert pack.requirements["TOY-4"].untested == "no check yet"
    assert pack.requirements["TOY-5"].manual == "ask a person"


def test_a_pack_may_have_no_errata_and_no_lifecycle(tmp_path: Path) -> None:
    pack = toy(tmp_path, row({"kind": "direction"}))
    assert (pack.errata, pack.lifecycles) == ((), {})


def test_errata_apply_unless_the_schemas_are_wanted_as_published(tmp_path: Path) -> None:
    repair = {
        "id": "TOY-ERR-1",
        "reason": "It refuses everything.",
        "schema": "toy.schema.json",
        "patch": [{"op": "replace", "path": "/type", "value": "object"}],
        "witness": {"message": {}, "as_published": "invalid", "repaired": "valid"},
    }
    pack = toy(tmp_path, schemas={"toy.schema.json": {"type": "null"}}, errata=[repair])
    assert pack.schemas().is_valid("toy.schema.json", {})
    assert not pack.schemas(as_published=True).is_valid("toy.schema.json", {})
    assert pack.schemas() is pack.schemas("sender")


def test_senders_and_receivers_are_held_to_different_forms() -> None:
    close = {"x-nobody-knows-it": 1}
    where = "action-ref.schema.json"
    value = {"action_id": "a-1", **close}
    assert not AWP.schemas("sender").is_valid(where, value)
    assert AWP.schemas("receiver").is_valid(where, value)
    assert AWP.schemas("sender").is_valid(where, {"action_id": "a-1", "x-acme.note": 1})


@pytest.mark.parametrize(
    ("pack", "value", "known"),
    [
        (AWP, {"jsonrpc": "2.0", "id": 1}, True),
        (AWP, {"jsonrpc": "1.0", "id": 1}, False),
        (VA, {"protocol": "va-agent-protocol"}, True),
        (VA, {"protocol": "another"}, False),
        (VA, [], False),
        (VA, None, False),
    ],
)
def test_a_pack_recognises_its_messages(pack: Pack, value: Any, known: bool) -> None:
    assert pack.recognises(value) is known


SIMPLE = [
    ({}, 1, True),
    ({"const": 1}, 1, True),
    ({"const": 1}, 2, False),
    ({"enum": [1, 2]}, 2, True),
    ({"enum": [1, 2]}, 3, False),
    ({"required": ["a"]}, {"a": None}, True),
    ({"required": ["a"]}, {}, False),
    ({"required": ["a"]}, [], False),
    ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"b": 1}, True),
    ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"c": 1}, False),
    ({"anyOf": [{"const": 1}, {"const": 2}], "not": {"const": 2}}, 2, False),
    ({"properties": {"a": {"const": 1}}}, {}, True),
    ({"properties": {"a": {"const": 1}}}, {"a": 1}, True),
    ({"properties": {"a": {"const": 1}}}, {"a": 2}, False),
    ({"not": {"required": ["a"]}}, {"a": 1}, False),
    ({"not": {"required": ["a"]}}, {}, True),
    ({"required": ["b"], "not": {"required": ["a"]}}, {"b": 1}, True),
]


@pytest.mark.parametrize(("schema", "value", "fits"), SIMPLE, ids=str)
def test_recognition_without_an_engine(schema: dict[str, Any], value: Any, fits: bool) -> None:
    assert simply_fits(schema, value) is fits


def test_recognition_agrees_with_an_engine_on_objects() -> None:
    """Beside objects it is stricter: what is none has no member."""
    import jsonschema_rs

    for schema, value, fits in SIMPLE:
        if isinstance(value, dict):
            assert jsonschema_rs.is_valid(schema, value) is fits


@pytest.mark.parametrize(
    ("pointer", "value"), [("", {"a": [1]}), ("/a/0", 1), ("/a/1", None), ("/b", None), ("/a/0/c", None)]
)
def test_a_pointer_that_leads_nowhere_gives_none(pointer: str, value: Any) -> None:
    assert pointer_value({"a": [1]}, pointer) == value


def test_two_rows_of_one_id_are_an_error(tmp_path: Path) -> None:
    pack = toy(tmp_path, row({"kind": "direction"}), row({"kind": "schema"}))
    with pytest.raises(BadPack, match=r"requirements.json has more than one row of TOY-MSG-001"):
        pack.requirements  # noqa: B018


# --- Files that are not what they should be --------------------------------------------------------


@pytest.mark.parametrize("name", packs.MEMBERS)
def test_a_pack_cannot_do_without(tmp_path: Path, name: str) -> None:
    path = tmp_path / "pack.json"
    path.write_text(json.dumps({key: value for key, value in TOY.items() if key != name}))
    with pytest.raises(BadPack, match=f"pack.json lacks {name}"):
        Pack(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file"),
        (b"\xff", "is not UTF-8"),
        (b"{", "is not JSON"),
        (b"[]", "is not a JSON object"),
    ],
)
def test_a_file_that_cannot_be_read_is_the_packs_fault(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "pack.json").write_bytes(content)
    with pytest.raises(BadPack, match=rf"pack.json {said}"):
        Pack(tmp_path)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"level": "MIGHT"}, "ValueError: 'MIGHT' is not a valid Level"),
        ({"role": ...}, "KeyError: 'role'"),
    ],
)
def test_a_row_that_is_none_is_the_packs_fault(tmp_path: Path, bad: dict[str, Any], said: str) -> None:
    wrong = {key: value for key, value in (row({"kind": "schema"}) | bad).items() if value is not ...}
    with pytest.raises(BadPack, match=rf"requirements.json is not what it should be \({said}\)"):
        toy(tmp_path, wrong).requirements  # noqa: B018


def test_other_tables_too_say_what_is_wrong_with_them(tmp_path: Path) -> None:
    pack = toy(tmp_path, kinds=[{"name": "go"}], errata=[{"id": "TOY-ERR-1"}])
    with pytest.raises(BadPack, match=r"pack.json is not what it should be \(KeyError: 'from'\)"):
        pack.kinds  # noqa: B018
    with pytest.raises(BadPack, match=r"errata.json is not what it should be \(TypeError"):
        pack.errata  # noqa: B018
    other = toy(
        tmp_path / "other",
        files={"job.json": {"name": "job"}},
        lifecycles=[{"file": "job.json", "moves": []}],
    )
    with pytest.raises(BadPack, match=r"job.json is not what it should be \(KeyError: 'states'\)"):
        other.lifecycles  # noqa: B018


def test_a_schema_file_that_is_none_is_the_packs_fault(tmp_path: Path) -> None:
    pack = toy(tmp_path, schemas=ANYTHING | {"x.schema.json": []})
    with pytest.raises(BadPack, match=r"x.schema.json is not a JSON object"):
        pack.schemas()


def test_conditions_are_schemas_of_the_packs_dialect(tmp_path: Path) -> None:
    check = {"kind": "requires", "on": ["go"], "when": {"required": ["a"]}, "then": {"required": ["b"]}}
    pack = toy(tmp_path, row([{"kind": "schema"}, check]), row({"kind": "schema"}, "TOY-2"))
    assert pack.conditions.dialect == DIALECT
    assert pack.conditions.is_valid("TOY-MSG-001#/1/when", {"a": 1})
    assert not pack.conditions.is_valid("TOY-MSG-001#/1/then", {"a": 1})
    assert not pack.conditions.holds("TOY-2")
