"""Integers as JSON means them, and the bounds within which all implementations agree on their values."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from conformance.events import JSON

U53: Final = (0, 2**53 - 1)
"""The least and the greatest integer without a sign on whose value all agree (RFC 8259 §6)."""

I53: Final = (-(2**53 - 1), 2**53 - 1)
"""The same with a sign."""


_GREATEST: Final = U53[1]


def integral(value: JSON) -> bool:
    """Whether a value is an integer, as JSON Schema means it: `1.0` and `1e3` are, true is not."""
    if isinstance(value, Decimal):
        return value.is_finite() and value == value.to_integral_value()
    return value.is_integer() if isinstance(value, float) else type(value) is int


def bounds_fault(value: JSON, low: int, high: int) -> str | None:
    """What keeps a value from being an integer from `low` to `high`, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return "is not a number"
    if not integral(value):
        return "is not an integer"
    if value > high:
        return f"is greater than {high}"
    return f"is less than {low}" if value < low else None


def counter(value: JSON) -> int | None:
    """A value as an integer within U53, or None where it is none (which is the schema's matter)."""
    if type(value) is int and 0 <= value <= _GREATEST:
        return value
    return None if value is None or bounds_fault(value, *U53) is not None else int(value)
