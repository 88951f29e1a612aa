"""Strings of a shape: by its format, its pattern, or words."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from conformance import patterns
from conformance.generation import formats, regexes
from conformance.generation.choosing import Choices, spelt
from conformance.generation.shapes import LONGEST, Impossible, Shape, text_fits

_WORDS = ("a", "b", "one", "note", "alpha", "status", "task", "value", "as agreed", "x-ray", "über")
_ID = re.compile(r"(?:(.*[a-z0-9])_?)?(?:[iI][dD]|ID)$")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 -_ABCé✓"
_TRIES = 40


def word(choices: Choices) -> str:
    """A short word."""
    return _WORDS[choices.index(len(_WORDS))]


def of_pattern(pattern: str, choices: Choices) -> str:
    """A text that the pattern is found in; Impossible where none is found."""
    for attempt in range(_TRIES):
        try:
            text = regexes.drawn(pattern, choices if attempt == 0 else choices.again(attempt))
        except regexes.NoText:
            raise Impossible from None
        if patterns.matches(pattern, text):
            return text
    raise Impossible


def text(shape: Shape, choices: Choices, name: str = "") -> str:
    """A text of the length, the patterns and the formats of the shape; Impossible where none is found.

    `name` is the member's whose value it is to be: an id is said to be one.
    """
    if shape.length[0] > LONGEST:
        raise Impossible
    for attempt in range(_TRIES):
        drawing = choices if attempt == 0 else choices.again(attempt)
        made = _drawn(shape, drawing, attempt, name)
        if text_fits(shape, made) and _has_formats(shape, made):
            return made
    raise Impossible


def _drawn(shape: Shape, choices: Choices, attempt: int, name: str) -> str:
    known = [name for name in shape.formats if name in formats.MAKERS]
    if known and (attempt % 2 == 0 or not shape.patterns):
        return formats.MAKERS[known[attempt % len(known)]](choices)
    least, most = shape.length
    if shape.patterns:
        pattern = shape.patterns[(attempt // 2) % len(shape.patterns)]
        try:
            if len(shape.patterns) > 1 and attempt % 3 == 2:  # one after the other
                return "".join(regexes.drawn(one, choices) for one in _rotated(shape.patterns, attempt))
            return regexes.drawn(pattern, choices, least, most)
        except regexes.NoText:
            raise Impossible from None
    return _free(least, most, choices, name)


def _rotated(known: tuple[str, ...], attempt: int) -> tuple[str, ...]:
    """The patterns, those first that begin at the beginning; the others in another order each time."""
    first = [one for one in known if one.startswith("^")]
    last = [one for one in known if one.endswith("$") and one not in first]
    others = [one for one in known if one not in first and one not in last]
    turn = attempt % len(others) if others else 0
    return (*first, *others[turn:], *others[:turn], *last)


def _free(least: int, most: int, choices: Choices, name: str) -> str:
    made = _said(choices, name)
    if made and least <= len(made) <= most:
        return made
    length = choices.integer(least, min(most, least + 8))
    return spelt(_LETTERS, length, choices)


def _said(choices: Choices, name: str) -> str:
    """What a person would write: of an id, what it is of and a number. Of four, one is left to chance."""
    names = _ID.search(name)
    if names:
        number = choices.integer(1, 132)
        return f"{(names[1] or 'id').lower()}-{number}" if number < 100 else ""
    place = choices.index(len(_WORDS) * 4 // 3)
    return _WORDS[place] if place < len(_WORDS) else ""


def _has_formats(shape: Shape, made: str) -> bool:
    return all(_format_judge(one).is_valid(made) for one in shape.formats) and not any(
        _format_judge(one).is_valid(made) for one in shape.not_formats
    )


@lru_cache(maxsize=64)
def _format_judge(name: str) -> Any:
    import jsonschema_rs

    from conformance.rephrasing import rephrased
    from conformance.schemas import DRAFT_2020_12
    from conformance.stringformats import CHECKS

    schema = {"$schema": DRAFT_2020_12, **rephrased({"format": name})}
    return jsonschema_rs.validator_for(schema, formats=CHECKS, validate_formats=True)
