"""Agent World Protocol: values of messages as what they should be, or as nothing of the sort."""

from __future__ import annotations

from typing import Any


def number(value: Any) -> float | None:
    """A value as a number, or None where it is none."""
    return None if isinstance(value, bool) or not isinstance(value, (int, float)) else value


def table(value: Any) -> dict[str, Any]:
    """A value as an object; empty where it is none."""
    return value if isinstance(value, dict) else {}


def tables(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; none where it is no list."""
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def names(value: Any) -> list[str]:
    """The strings of a list; none where it is no list."""
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
