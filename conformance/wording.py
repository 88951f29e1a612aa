"""How values are shown to a person: short, exact, and safe for a terminal."""

from __future__ import annotations

import json
from decimal import Decimal

from conformance.events import JSON

SHOWN = 80
"""Longer texts are cut in the middle."""


def type_name(value: JSON) -> str:
    """The JSON type of a value, as JSON Schema calls it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float, Decimal)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def shown(value: JSON, limit: int = SHOWN) -> str:
    """The value as JSON text of at most about `limit` characters, the middle left out."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**limit:
        return "a number of very many digits"
    text = str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > limit:
        text = f"{text[: limit * 2 // 3]}…{text[-limit // 4 :]}"
    return printable(text)


def printable(text: str) -> str:
    """The text with escapes for what a terminal would obey or not show."""
    return "".join(mark if mark.isprintable() else f"\\u{ord(mark):04x}" for mark in text)


def plural(count: int, word: str) -> str:
    """`1 message`, `2 messages`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
