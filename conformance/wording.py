"""How values are shown to a person: short, exact, and safe for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import takewhile

from conformance.events import JSON

SHOWN = 80
"""Longer texts are cut in the middle."""


def type_name(value: JSON) -> str:
    """The JSON type of a value, as JSON Schema calls it."""
    if isinstance(value, str):  # as most are
        return "string"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float, Decimal)):
        return "number"
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


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that the word was probably meant to be; None where none is near, or it is one itself.

    Near is what differs in case and separators alone (`Task_ID`, `taskId`), in one letter of four or
    five, or in two of six or more, two neighbours swapped being one. Digits are never a slip.
    """
    found = [(_distance(word, one), one) for one in candidates]
    near = min((row for row in found if row[0] is not None), key=lambda row: row[0] or 0, default=None)
    return near[1] if near and near[1] != word else None


def by_nearness(word: str, candidates: Sequence[JSON]) -> list[JSON]:
    """The candidates, those first that `nearest` would name, then those that begin as the word does."""

    def far(one: JSON) -> tuple[bool, int, int]:
        distance = _distance(word, one) if isinstance(one, str) else None
        alike = _alike(_plain(word), _plain(one)) if isinstance(one, str) else 0
        return distance is None, distance or 0, -alike

    return sorted(candidates, key=far)


def _alike(one: str, two: str) -> int:
    """How many letters they begin with alike."""
    pairs = zip(one, two, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


_SEPARATORS = str.maketrans("", "", "-_. ")
_LONGEST = 64  # what is longer is no name, and is compared but for case and separators


def _plain(word: str) -> str:
    return word.casefold().translate(_SEPARATORS)


def _distance(word: str, other: str) -> int | None:
    """How many edits lie between two words that are near; None where they are not."""
    one, two = _plain(word), _plain(other)
    longer = max(len(one), len(two))
    limit = 0 if longer < 4 or longer > _LONGEST else 1 if longer < 6 else 2
    if not one or [mark for mark in one if mark.isdigit()] != [mark for mark in two if mark.isdigit()]:
        return 0 if word == other else None
    edits = _edits(one, two, limit)
    return edits if edits <= limit else None


def _edits(one: str, two: str, limit: int) -> int:
    """Letters to insert, leave out, replace or swap with a neighbour, counted up to `limit` and one more."""
    if abs(len(one) - len(two)) > limit:
        return limit + 1
    alike = _alike(one, two)
    one, two = one[alike:], two[alike:]
    earlier: list[int] = []
    before, row = earlier, list(range(len(two) + 1))
    for i, mark in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, other in enumerate(two, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (mark != other))
            if i > 1 and j > 1 and mark == two[j - 2] and one[i - 2] == other:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]
