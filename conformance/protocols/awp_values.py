"""Agent World Protocol: values of messages as what they should be, or as nothing of the sort."""

from __future__ import annotations

from typing import Any, Final

_GREATEST: Final = 10**300


def number(value: Any) -> int | float | None:
    """A value as a number, or None where it is none, or one so great that floats do not reach beyond it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if -_GREATEST <= value <= _GREATEST else None


def table(value: Any) -> dict[str, Any]:
    """A value as an object; empty where it is none."""
    return value if isinstance(value, dict) else {}


def tables(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; none where it is no list."""
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def by_name(rows: list[dict[str, Any]], member: str) -> dict[str, dict[str, Any]]:
    """The rows that have a string as this member, by it; of several, the last."""
    return {name: row for row in rows if isinstance(name := row.get(member), str)}


def names(value: Any) -> list[str]:
    """The strings of a list; none where it is no list."""
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
