"""How values are shown to a person."""

from decimal import Decimal
from typing import Any

import pytest

from conformance.wording import plural, shown, type_name


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "boolean"),
        (0, "number"),
        (0.5, "number"),
        (Decimal("1E400"), "number"),
        ("", "string"),
        ([], "array"),
        ({}, "object"),
    ],
)
def test_types_as_json_schema_calls_them(value: Any, name: str) -> None:
    assert type_name(value) == name


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (9007199254740993, "9007199254740993"),
        (Decimal("9007199254740993.0"), "9007199254740993.0"),
        ("", '""'),
        ("é", '"é"'),
        ('a "b"', '"a \\"b\\""'),
        ("\x1b[2J", '"\\u001b[2J"'),
        ("\u202e", '"\\u202e"'),
        ("\ud800", '"\\ud800"'),
        ("\x7f", '"\\u007f"'),
        ({"a": [1, "b"]}, '{"a": [1, "b"]}'),
        (10**79, "1" + "0" * 79),
        (10**80, "a number of very many digits"),
        (-(10**999), "a number of very many digits"),
    ],
)
def test_a_value_is_shown_exactly_and_safely(value: Any, text: str) -> None:
    assert shown(value) == text


def test_the_middle_of_a_long_value_is_left_out() -> None:
    assert shown("a" * 60 + "b" * 60) == '"' + "a" * 52 + "…" + "b" * 19 + '"'


def test_the_length_is_chosen() -> None:
    assert shown("a" * 200, 1000) == '"' + "a" * 200 + '"'
    assert shown(10**80, 1000) == "1" + "0" * 80
    assert shown("abcdefghijkl", 8) == '"abcd…l"'


@pytest.mark.parametrize(("count", "text"), [(0, "0 messages"), (1, "1 message"), (2, "2 messages")])
def test_plurals(count: int, text: str) -> None:
    assert plural(count, "message") == text
