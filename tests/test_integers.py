"""Integers on whose value all implementations agree, told on exact values."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from conformance.integers import I53, U53, bounds_fault, counter, integral
from conformance.jsontext import parse


@pytest.mark.parametrize(
    ("token", "fault"),
    [
        ("0", None),
        ("-0", None),
        ("-0.0", None),
        ("1.0", None),
        ("1e3", None),
        ("1e15", None),
        ("9007199254740991", None),
        ("9007199254740991.0", None),
        ("9007199254740992", "is greater than 9007199254740991"),
        ("9007199254740992.0", "is greater than 9007199254740991"),
        ("9007199254740993.0", "is greater than 9007199254740991"),
        ("18446744073709551616", "is greater than 9007199254740991"),
        ("1E400", "is greater than 9007199254740991"),
        ("1e10000", "is greater than 9007199254740991"),
        ("-1", "is less than 0"),
        ("-1E400", "is less than 0"),
        ("0.5", "is not an integer"),
        ("9007199254740991.4", "is not an integer"),
        ("0.99999999999999999999", "is not an integer"),
        ("1E-400", "is not an integer"),
        ('"1"', "is not a number"),
        ("true", "is not a number"),
        ("null", "is not a number"),
        ("[1]", "is not a number"),
    ],
)
def test_unsigned_integers(token: str, fault: str | None) -> None:
    assert bounds_fault(parse(token).value, *U53) == fault


def test_signed_integers() -> None:
    assert bounds_fault(-(2**53) + 1, *I53) is None
    assert bounds_fault(-(2**53), *I53) == "is less than -9007199254740991"
    assert bounds_fault(Decimal("-9007199254740993.0"), *I53) == "is less than -9007199254740991"


@pytest.mark.parametrize("value", [Decimal("1E99999"), Decimal("1E999999999"), 10**5000], ids=range(3))
def test_monstrous_numbers_are_compared_at_once(value: Any) -> None:
    assert bounds_fault(value, *U53) == "is greater than 9007199254740991"


@pytest.mark.parametrize(
    "value",
    [float("inf"), float("nan"), Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity"), Decimal("1E-999999")],
)
def test_no_integer_at_all(value: Any) -> None:
    assert bounds_fault(value, *U53) == "is not an integer"
    assert not integral(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, True),
        (1.0, True),
        (1.5, False),
        (Decimal("1E3"), True),
        (True, False),
        ("1", False),
        (None, False),
    ],
)
def test_integral(value: Any, expected: Any) -> None:
    assert integral(value) is expected


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("0", 0),
        ("3.0", 3),
        ("1e3", 1000),
        ("9007199254740991.0", 2**53 - 1),
        ("9007199254740993.0", None),
        ("-1", None),
        ("0.5", None),
        ("true", None),
        ("null", None),
        ('"1"', None),
    ],
)
def test_what_counts_is_an_unsigned_integer(token: str, expected: int | None) -> None:
    found = counter(parse(token).value)
    assert (found, type(found)) == (expected, type(expected))
