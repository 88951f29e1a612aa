"""A JSON document with a long list in it, in pieces: an item takes a tenth of the room as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any


def text(value: Any) -> str:
    """A value as JSON, two spaces a level."""
    return json.dumps(value, indent=2, default=str)


def filled(frame: Any, member: str, items: Iterable[Sequence[str]]) -> Iterator[str]:
    """The document `frame`, with these items in the empty list that is its `member`.

    An item is a JSON text, in one piece or several, as are the documents that come out: pieces are whole
    lines without the last newline. The first member of that name counts whose list is empty.
    """
    lines, empty = text(frame).split("\n"), f"{json.dumps(member)}: []"
    place = next(number for number, line in enumerate(lines) if line.strip().rstrip(",") == empty)
    yield from lines[:place]
    yield from _list(lines[place], items)
    yield from lines[place + 1 :]


def _list(line: str, items: Iterable[Sequence[str]]) -> Iterator[str]:
    """The same line, its list filled."""
    margin = " " * (len(line) - len(line.lstrip()))
    opening, closing = line[: line.rindex("]")], line[line.rindex("]") :]
    last = ""
    for pieces in items:
        yield f"{last}," if last else opening
        *others, last = (f"{margin}  " + piece.replace("\n", f"\n{margin}  ") for piece in pieces)
        yield from others
    yield from (last, margin + closing) if last else (line,)
