"""Names in scenarios, values laid upon each other, partial matches, and exact JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import jsontext
from conformance.bindings import Bindings, Now, Unbound, difference, merged, written

NOW = Now(1.5, "2026-04-01T00:00:00Z")


def bindings(**names: Any) -> Bindings:
    ids: Iterator[int] = count(1)
    ics = {"tasks": {"runs": {"id": "T"}}, "flag": False, "none": None}
    return Bindings(ics, lambda: f"id-{next(ids)}", dict(names), own=("mine",))


@pytest.mark.parametrize(
    ("node", "filled"),
    [
        ("${x}", [1, {"a": None}]),
        ("x is ${x}", 'x is [1,{"a":null}]'),
        ("${s}-${s}", "hi-hi"),
        ({"a": ["${s}"], "${s}": 1}, {"a": ["hi"], "${s}": 1}),
        ("$x {x} ${", "$x {x} ${"),
        (7, 7),
        (None, None),
        ("${now}", "2026-04-01T00:00:00Z"),
        ("${clock_ns}", 1_500_000_000),
        ("${ics.tasks.runs.id}", "T"),
        ("${ics.tasks}", {"runs": {"id": "T"}}),
        ("${ics.flag}", False),
        ("${ics.none}", None),
        ({"$merge": ["${ics.tasks.runs}", {"id": "U", "n": 1}]}, {"id": "U", "n": 1}),
        ({"$merge": []}, {}),
        ({"$repeat": ["ab", 3]}, "ababab"),
        ({"$merge": [{"a": {"b": 1}}, {"a": {"c": 2}}]}, {"a": {"b": 1, "c": 2}}),
    ],
)
def test_fill(node: Any, filled: Any) -> None:
    assert bindings(x=[1, {"a": None}], s="hi").fill(node, NOW) == filled


def test_last_and_count_alone_are_names_as_any() -> None:
    made = bindings(last="a-1", count="a-2").fill(["${last}", "${count}", "${last.n}"], NOW)
    assert made == ["a-1", "a-2", 0]


def test_long_values_are_written_in_full() -> None:
    text = "[" + ",".join(["1"] * 5000) + "]"
    assert bindings(x=[1] * 5000).fill("a ${x}", NOW) == "a " + text


@pytest.mark.parametrize("name", ["y", "ics.tasks.fails", "ics.flag.x", "ics.", "request"])
def test_a_name_without_a_value(name: str) -> None:
    with pytest.raises(Unbound) as caught:
        bindings().fill({"a": [f"${{{name}}}"]}, NOW)
    assert caught.value.args == (name,)


def test_fresh_is_new_each_time_and_an_own_name_once() -> None:
    made = bindings()
    assert made.fill(["${fresh}", "${fresh}", "${mine}", "${mine}"], NOW) == ["id-1", "id-2", "id-3", "id-3"]
    assert made.names == {"mine": "id-3"}


def test_of_the_request_that_is_answered() -> None:
    scope = {"request": {"params": {"a": 5}}}
    assert bindings().fill("${request./params/a}", NOW, scope) == 5
    assert bindings().fill("${request./params/b}", NOW, scope) is None


def test_a_counter_goes_on_with_each_use() -> None:
    values = bindings()
    template = ["${last.n}", "${count.n}", "no ${count.n}", "${count.m}", "${last.n}"]
    assert values.fill(template, NOW) == [0, 1, "no 2", 1, 2]


def test_when_the_clock_read_zero() -> None:
    assert bindings().fill("${began}", Now(90.25, "2026-04-01T00:01:30.500Z")) == "2026-04-01T00:00:00.250Z"


def test_a_member_of_a_value() -> None:
    values = bindings(granted={"channels": [{"id": 4}]})
    assert values.fill("${granted.channels.0.id}", NOW) == 4
    with pytest.raises(Unbound):
        values.fill("${granted.nothing}", NOW)


def test_what_is_laid_upon_a_merge_comes_last() -> None:
    laid = merged({"$merge": ["${one}", {"b": 2}]}, {"b": 3})
    assert bindings(one={"a": 1, "b": 1}).fill(laid, NOW) == {"a": 1, "b": 3}


def test_what_is_filled_in_is_not_filled_again() -> None:
    assert bindings(x="${fresh}").fill("${x}", NOW) == "${fresh}"


@pytest.mark.parametrize(
    ("under", "over", "joined"),
    [
        ({"a": 1, "b": {"c": 1}}, {"b": {"d": 2}}, {"a": 1, "b": {"c": 1, "d": 2}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": {"b": 1}}, {"a": None}, {"a": None}),
        ({}, 5, 5),
        (5, {}, {}),
        ({"a": 1}, {"$merge": ["${x}", {"b": 2}]}, {"$merge": [{"a": 1}, "${x}", {"b": 2}]}),
        ({"$merge": ["${x}"]}, {"b": 2}, {"$merge": ["${x}", {"b": 2}]}),
        ({"a": {"b": 1}}, {"a": {"$merge": ["${x}"]}}, {"a": {"$merge": [{"b": 1}, "${x}"]}}),
    ],
)
def test_merged(under: Any, over: Any, joined: Any) -> None:
    before = json.dumps(under)
    assert merged(under, over) == joined
    assert json.dumps(under) == before


@pytest.mark.parametrize(
    ("match", "value"),
    [
        ({}, {"a": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": {"b": [1, {"c": "x"}]}}, {"a": {"b": [1, {"c": "x", "d": 0}]}}),
        ({"a": {"$is": {"type": "integer"}}}, {"a": 3}),
        ({"$is": True}, {"a": 1}),
        (1, 1.0),
        (Decimal("0.5"), 0.5),
        (None, None),
        ([], []),
        ({"$is": {"const": None}}, None),
    ],
)
def test_it_is_what_the_match_says(match: Any, value: Any) -> None:
    assert difference(match, value) is None


@pytest.mark.parametrize(
    ("match", "value", "said"),
    [
        ({"a": 1}, {}, "/a is missing"),
        ({"a": {"b": 1}}, {"a": 1}, "/a is 1, not an object"),
        ({"a": 1}, [], "the message is [], not an object"),
        ({"a": [1, 2]}, {"a": [1, 3]}, "/a/1 is 3, not 2"),
        ({"a": [1, 2]}, {"a": [1]}, "/a is [1], not [1, 2]"),
        ({"a": [1]}, {"a": {"0": 1}}, '/a is {"0": 1}, not [1]'),
        ({"a": True}, {"a": 1}, "/a is 1, not true"),
        ({"a": 0}, {"a": False}, "/a is false, not 0"),
        ({"a": "1"}, {"a": 1}, '/a is 1, not "1"'),
        ({"a": None}, {}, "/a is missing"),
        ({"a/b": {"~": 1}}, {"a/b": {"~": 2}}, "/a~1b/~0 is 2, not 1"),
        ({"a": {"$is": {"type": "string"}}}, {"a": 1}, '/a is 1, not {"type": "string"}'),
        ({"a": {"$is": True}}, {}, "/a is null, not true"),
        ({"$is": False}, 1, "the message is 1, not false"),
        ([[{"a": 1}]], [[{"a": 2}]], "/0/0/a is 2, not 1"),
        ("x", "y", 'the message is "y", not "x"'),
    ],
)
def test_it_is_not_what_the_match_says(match: Any, value: Any, said: str) -> None:
    assert difference(match, value) == said


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_written_is_json(value: Any) -> None:
    assert json.loads(written(value)) == value


@given(VALUES)
def test_a_value_matches_itself_as_text(value: Any) -> None:
    assert difference(value, json.loads(written(value))) is None or "$is" in written(value)


@pytest.mark.parametrize("token", ["9007199254740993.0", "1E+400", "-0.1000000000000000000001", "1E-400"])
def test_written_keeps_a_number_exactly(token: str) -> None:
    value = jsontext.parse(token).value
    assert isinstance(value, Decimal)
    assert written({"a": [value]}) == f'{{"a":[{token}]}}'
