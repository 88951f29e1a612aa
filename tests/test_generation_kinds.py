"""Messages of one kind: what keeps them of that kind, and the bounds that requirements put on integers."""

from __future__ import annotations

from pathlib import Path

from judging import DIALECT, TOY, row, toy

from conformance.generation.kinds import KindMaker, bounded


def test_what_is_taken_for_another_kind_is_not_of_this_one(tmp_path: Path) -> None:
    other = {"name": "other", "from": ["left"], "when": {"schema": {"type": "object"}}}
    pack = toy(tmp_path, kinds=[*TOY["kinds"], other | {"schema": "toy.schema.json"}])
    maker = KindMaker(pack, pack.kind("other"))
    assert maker.is_valid({"type": "no kind of the others"})
    assert [one.message for one in maker.broken({"type": "ask"})] == ["it is taken for another kind"]
    assert not maker.is_valid({"type": "ask"})


def test_bounds_stand_where_the_integer_is_said_to_be_one(tmp_path: Path) -> None:
    here = "toy.schema.json#/"
    pack = toy(
        tmp_path,
        row({"kind": "integer-bounds", "u53": [f"{here}properties/a", f"{here}properties/b"]}),
        schemas={
            "toy.schema.json": {
                "$schema": DIALECT,
                "properties": {"a": {"type": "integer"}, "b": {"$ref": "#/properties/a"}},
            }
        },
    )
    [document] = [one for one in bounded(pack, pack.schemas()).values() if "properties" in one]
    assert document["properties"] == {
        "a": {"type": "integer", "allOf": [{"minimum": 0, "maximum": 9007199254740991}]},
        "b": {"$ref": "#/properties/a"},
    }
