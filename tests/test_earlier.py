"""What earlier messages named, and how much of it is remembered."""

from typing import Any

import pytest

from conformance.checks.earlier import Earlier, Field, Named, Subjects
from conformance.remembered import REMEMBERED


@pytest.mark.parametrize(
    ("values", "same", "others"),
    [
        (["a"], ["a"], ["b", 1, None, ["a"]]),
        ([1], [1, 1.0], [True, "1", 2]),
        ([True], [True], [1, "true", False]),
        ([None], [None], [0, "", "null", False]),
        ([[1, {"a": 1}]], [[1, {"a": 1}], [1.0, {"a": 1.0}]], [[1, {"a": True}], [1], "a"]),
        ([{"a": 1}, "b"], [{"a": 1}, "b"], ["a", {}, {"a": "1"}]),
    ],
)
def test_a_value_is_known_by_what_it_is_and_not_by_how_it_is_written(
    values: list[Any], same: list[Any], others: list[Any]
) -> None:
    named = Named(*values)
    assert [one for one in same if not named.has(one)] == []
    assert [one for one in others if named.has(one)] == []


@pytest.mark.parametrize(("most", "make"), [(REMEMBERED, str), (100, lambda number: [number])])
def test_that_something_was_forgotten_is_known(most: int, make: Any) -> None:
    named = Named(*map(make, range(most)))
    assert not named.forgot
    assert named.has(make(0))
    named.add(make(most))
    assert named.forgot
    assert not named.has(make(0))
    assert [*named.latest] == [make(number) for number in range(most - 4, most + 1)]


def test_one_text_stands_for_itself_until_there_is_another() -> None:
    field = Field("/a", "/b")
    field.note({"a": "x", "b": 1})
    assert field.of(("1",)) == "x"
    assert field.of("1") is None
    field.note({"a": "y", "b": 1})
    known = field.of(("1",))
    assert isinstance(known, Named)
    assert [known.has("x"), known.has("y"), known.has("z")] == [True, True, False]


def test_what_a_message_does_not_have_is_nothing() -> None:
    field, subjects = Field("/a/b", ""), Subjects("/c")
    field.note({"a": 5})
    subjects.note({})
    known = field.of("")
    assert isinstance(known, Named)
    assert known.types == {"null"}
    assert [subjects.has(None), subjects.has("null"), subjects.has("")] == [True, False, False]


def test_who_asks_for_the_same_shares_it() -> None:
    earlier = Earlier.shared_in(shared := {})
    assert Earlier.shared_in(shared) is earlier
    kept = earlier.field(["a", "b"], "/x", "/y")
    assert earlier.field(("b", "a"), "/x", "/y") is kept
    assert earlier.field(["a"], "/x", "/y") is not kept
    assert earlier.field(["a", "b"], "/y", "/x") is not kept
    assert earlier.subjects(["a"], "/x") is earlier.subjects(["a"], "/x")
