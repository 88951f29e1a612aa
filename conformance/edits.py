"""Changes to a JSON text that leave all else of it as it stands, token for token.

Each takes the text of one JSON value and a JSON Pointer into it, and returns the new text. A pointer
has to lead to a value that is there, of the type that the edit needs; the caller knows it does.
"""

from __future__ import annotations

import json

from conformance import jsontext, locating
from conformance.events import JSON


def replaced(text: str, pointer: str, value: JSON) -> str:
    """The text with another value at the pointer."""
    start, end = _span(text, pointer)
    return text[:start] + json.dumps(value) + text[end:]


def without(text: str, pointer: str) -> str:
    """The text without the member at the pointer."""
    *above, name = jsontext.parts(pointer)
    start, end = _span(text, jsontext.pointer(above))
    members = [(key, text[at:until]) for key, at, until in locating.spans(text, start) if key != name]
    return text[:start] + _object(members) + text[end:]


def with_member(text: str, pointer: str, name: str, value: JSON) -> str:
    """The text with one more member, the last, in the object at the pointer."""
    start, end = _span(text, pointer)
    members = [(key, text[at:until]) for key, at, until in locating.spans(text, start)]
    return text[:start] + _object([*members, (name, json.dumps(value))]) + text[end:]


def with_first_twice(text: str) -> str:
    """The text of an object, which has a member, with the first of them twice."""
    start, end = _span(text, "")
    members = [(key, text[at:until]) for key, at, until in locating.spans(text, start)]
    return text[:start] + _object([members[0], *members]) + text[end:]


def _object(members: list[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in members) + "}"


def _span(text: str, pointer: str) -> tuple[int, int]:
    place = locating.locate(text, pointer)
    assert place is not None, "a text that was parsed is JSON"
    return place.offset, place.end
