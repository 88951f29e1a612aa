"""A lifecycle is a table; an illegal move leaves the entity where it was."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.errors import BadPack
from conformance.lifecycles import Move, States, Transition, read

# asked → refused (by an error response), asked → open, open → open, open → done or given up with a reason
TABLE: dict[str, Any] = {
    "name": "job",
    "initial": "asked",
    "states": {
        "asked": "transient",
        "refused": "terminal",
        "open": "execution",
        "done": "terminal",
        "gone": "terminal",
    },
    "repeat": ["open"],
    "transitions": [
        {"from": "asked", "to": "refused", "wire": "error"},
        {"from": "asked", "to": "open", "label": "taken on"},
        {"from": "open", "to": "done"},
        {"from": "open", "to": "gone", "reasons": ["tired", "lost"]},
    ],
}
JOB = read(TABLE)


@pytest.mark.parametrize(
    ("source", "target", "there"),
    [
        ("asked", "open", True),
        ("open", "done", True),
        ("open", "open", True),
        ("asked", "asked", False),
        ("asked", "done", False),
        ("done", "open", False),
        ("done", "done", False),
        ("open", "flying", False),
        ("flying", "open", False),
        ("asked", "refused", False),
    ],
)
def test_which_moves_a_report_may_make(source: str, target: str, there: bool) -> None:
    assert (JOB.edge(source, target) is not None) is there


def test_an_edge_says_which_reasons_it_permits() -> None:
    assert JOB.edge("open", "gone") == Transition("open", "gone", ("tired", "lost"))
    assert JOB.edge("asked", "open") == Transition("asked", "open", None)
    assert JOB.edge("open", "open") == Transition("open", "open", None)


@pytest.mark.parametrize(
    ("source", "onward"),
    [("asked", ("open",)), ("open", ("done", "gone", "open")), ("done", ()), ("flying", ())],
)
def test_what_is_allowed_next(source: str, onward: tuple[str, ...]) -> None:
    assert JOB.allowed(source) == onward


@pytest.mark.parametrize(
    ("state", "terminal"), [("asked", False), ("open", False), ("done", True), ("flying", False)]
)
def test_what_is_terminal(state: str, terminal: bool) -> None:
    assert JOB.is_terminal(state) is terminal


def test_a_repeatable_state_has_an_edge_to_itself() -> None:
    assert [(edge.source, edge.target) for edge in JOB.edges()] == [
        ("asked", "refused"),
        ("asked", "open"),
        ("open", "done"),
        ("open", "gone"),
        ("open", "open"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"initial": "flying"},
        {"repeat": ["flying"]},
        {"transitions": [{"from": "open", "to": "flying"}]},
        {"transitions": [{"from": "flying", "to": "open"}]},
    ],
    ids=str,
)
def test_a_table_names_only_its_states(change: dict[str, Any]) -> None:
    with pytest.raises(BadPack, match="lifecycle 'job' names the unlisted state flying"):
        read(TABLE | change)


def test_a_table_may_repeat_nothing() -> None:
    table = read({name: part for name, part in TABLE.items() if name != "repeat"})
    assert table.edge("open", "open") is None


def test_an_entity_moves_along_the_table() -> None:
    states = States(JOB)
    states.create("j")
    assert states.move("j", "open") == Move("j", "asked", "open", JOB.edge("asked", "open"))
    assert states.move("j", "open").edge == JOB.edge("open", "open")
    assert not states.move("j", "done").illegal
    assert states.state("j") == "done"


@pytest.mark.parametrize("target", ["done", "flying", "asked", "refused"])
def test_an_illegal_move_leaves_the_entity_where_it_was(target: str) -> None:
    states = States(JOB)
    states.create("j")
    move = states.move("j", target)
    assert move.illegal
    assert move == Move("j", "asked", target, None)
    assert states.state("j") == "asked"


def test_an_entity_that_is_not_known_is_taken_as_it_is() -> None:
    states = States(JOB)
    move = states.move("j", "open")
    assert (move.before, move.illegal) == (None, False)
    assert states.state("j") == "open"
    assert states.move("j", "asked").illegal


def test_an_unknown_entity_in_an_unknown_state_stays_unknown() -> None:
    states = States(JOB)
    assert not states.move("j", "flying").illegal
    assert states.state("j") is None


def test_a_known_entity_is_not_created_again() -> None:
    states = States(JOB)
    states.move("j", "open")
    states.create("j")
    assert states.state("j") == "open"


def test_an_entity_that_never_came_to_be_is_forgotten() -> None:
    states = States(JOB)
    states.create("j")
    states.forget("j")
    states.forget("other")
    assert states.state("j") is None
    states.create("j")
    assert states.state("j") == "asked"


def test_a_lost_entity_is_known_but_nobody_knows_where_it_stands() -> None:
    states = States(JOB)
    for name in ("one", "two"):
        states.create(name)
    states.lose("one")
    assert (states.state("one"), states.state("two")) == (None, "asked")
    states.create("one")
    assert states.state("one") is None
    assert not states.move("one", "done").illegal
    states.lose()
    assert (states.state("one"), states.state("two")) == (None, None)


def test_a_state_may_be_forced_where_another_rule_judges_the_move() -> None:
    states = States(JOB)
    states.create("j")
    states.force("j", "done")
    assert states.state("j") == "done"
    states.force("j", "flying")
    assert states.state("j") == "done"
