"""What is only delivered again is no second message; and a pack may name what judges as published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from judging import against, judged, lines, of_text, row, said, toy

from conformance.monitor import Monitor
from conformance.packs import Pack

RULE = {"key": "/id", "except": ["/state"]}
JOB = {
    "name": "job",
    "initial": "on",
    "states": {"on": "under way", "off": "terminal"},
    "repeat": ["on"],
    "transitions": [{"from": "on", "to": "off"}],
}
STATES = {"file": "job.json", "moves": [{"on": ["note"], "entity": "/id", "state": "/state"}]}
TASK = JOB | {"name": "task"}
TASKS = {
    "file": "task.json",
    "moves": [
        {"on": ["begin"], "entity": "/task", "to": "on"},
        {"on": ["end"], "entity": "/task", "to": "off"},
    ],
}
MOVES = (
    row({"kind": "transition", "lifecycle": "job"}, "TOY-JOB-1"),
    row({"kind": "transition", "lifecycle": "task"}, "TOY-TSK-1"),
)


def say(kind: str, name: Any = "a", **more: Any) -> dict[str, Any]:
    return {"toy": 1, "type": kind, "id": name, "task": "t", **more}


def pack(root: Path, *rows: dict[str, Any], **meta: Any) -> Pack:
    tables = {"job.json": JOB, "task.json": TASK}
    return toy(root, *MOVES, *rows, files=tables, lifecycles=[STATES, TASKS], **{"redelivery": RULE} | meta)


def moved(pack: Pack, *spoken: dict[str, Any]) -> tuple[dict[Any, int], dict[Any, int]]:
    """The edges that were taken, and the illegal ones."""
    monitor = Monitor(pack)
    for event in said(*(("left", one) for one in spoken)):
        monitor.feed(event)
    return dict(monitor.edges), dict(monitor.illegal)


ON, OFF = {"state": "on"}, {"state": "off"}
ENDED = say("begin", "b"), say("end", "e")


@pytest.mark.parametrize(
    ("spoken", "edges", "illegal"),
    [
        pytest.param([*ENDED, ENDED[1]], 1, 0, id="said again, it ends nothing a second time"),
        pytest.param([*ENDED, say("end", "f")], 1, 1, id="another message does"),
        pytest.param([*ENDED, say("end", 7), say("end", 7)], 1, 2, id="without a key, each is a new one"),
        pytest.param([say("note", **ON), say("note", **OFF)], 1, 0, id="what may differ moves on"),
        pytest.param(
            [say("note", **ON), say("note", **OFF), say("note", **ON)], 1, 0, id="an old copy does not"
        ),
        pytest.param([say("note", **OFF), say("note", **ON)], 0, 1, id="it may be wrong to"),
        pytest.param(
            [say("note", **OFF), say("note", x=1, **ON), say("note", x=1, **OFF)],
            0,
            0,
            id="nor what took its key",
        ),
        pytest.param([say("note"), ENDED[0], say("end")], 1, 0, id="which moves all else"),
        pytest.param([say("note"), ENDED[0], say("end"), say("end")], 1, 0, id="and that once"),
    ],
)
def test_what_is_delivered_again_moves_only_what_may_differ(
    spoken: list[dict[str, Any]], edges: int, illegal: int, tmp_path: Path
) -> None:
    taken, broken = moved(pack(tmp_path), *spoken)
    assert (sum(taken.values()), sum(broken.values())) == (edges, illegal)


def test_a_pack_that_says_nothing_of_it_has_no_redelivery(tmp_path: Path) -> None:
    plain = toy(tmp_path, *MOVES, files={"job.json": JOB, "task.json": TASK}, lifecycles=[STATES, TASKS])
    assert moved(plain, *ENDED, ENDED[1]) == ({("task", "on", "off"): 1}, {("task", "off", "off"): 1})


def test_what_is_wrong_is_told_once_for_each_message(tmp_path: Path) -> None:
    wanted = row({"kind": "requires", "on": ["go"], "then": {"required": ["why"]}}, "TOY-GO-1")
    events = said(*[("left", say("go", name, **more)) for name in "ab" for more in (ON, ON, OFF)])
    assert [one.seq for one in against(judged(events, pack(tmp_path, wanted)))] == [1, 4]
    other = said(*[("left", say("go", x=number)) for number in (1, 2, 2)])
    assert [one.seq for one in against(judged(other, pack(tmp_path, wanted)))] == [1, 2]


def test_what_is_new_in_what_is_said_again_is_judged(tmp_path: Path) -> None:
    wanted = row(
        {"kind": "requires", "on": ["go"], "then": {"properties": {"state": {"const": "on"}}}}, "TOY-GO-1"
    )
    events = said(*[("left", say("go", **more)) for more in (ON, OFF, OFF)])
    assert [one.seq for one in against(judged(events, pack(tmp_path, wanted)))] == [2]


ONE_PLACE = {
    "toy.schema.json": {"type": "object", "required": ["why"], "$defs": {"go": {"maxProperties": 0}}}
}
GO = [{"name": "go", "from": ["left"], "when": {"pointer": "/type", "equals": "go"},
       "schema": "toy.schema.json#/$defs/go"}]  # fmt: skip


def test_as_published_one_definition_judges_whatever_the_kind(tmp_path: Path) -> None:
    rows = row({"kind": "schema", "on": ["go"]})
    known = toy(tmp_path, rows, schemas=ONE_PLACE, kinds=GO, published="toy.schema.json")

    def valid(message: dict[str, Any], *, as_published: bool) -> bool:
        return against(of_text(lines(message), known, as_published=as_published)) == []

    of_a_kind, of_none = say("go", why=1), say("stop", why=1)
    assert [valid(one, as_published=True) for one in (of_a_kind, of_none, say("go"), say("stop"))] == [
        True,
        True,
        False,
        False,
    ]
    assert [valid(one, as_published=False) for one in (of_a_kind, of_none)] == [False, False]
