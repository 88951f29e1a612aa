"""A piece of a text for a terminal, with a line under it that points at what is meant."""

from __future__ import annotations

import re
from unicodedata import combining, east_asian_width

from conformance.errors import BadScenario
from conformance.locating import Place
from conformance.wording import printable


def excerpt(text: str, place: Place, width: int) -> tuple[str, str]:
    """The line of `text` in which `place` begins and a line of marks below it, in `width` cells at most.

    What a terminal would obey or not show is escaped; a wide character takes two cells.
    """
    width = max(width, 20)
    begin = text.rfind("\n", 0, place.offset) + 1
    end = text.find("\n", place.offset)
    end = len(text) if end < 0 else end
    end -= text.endswith("\r", begin, end)
    first = max(begin, place.offset - width // 3)
    cells = [_cell(mark) for mark in text[first : min(end, place.offset + width)]]
    before, meant = cells[: place.offset - first], cells[place.offset - first : place.end - first]
    head = "…" if first > begin else ""
    shown, room = head, width - len(head) - 1
    for cell in cells:
        room -= cell[1]
        if room < 0:
            break
        shown += cell[0]
    cut = room < 0 or first + len(cells) < end
    indent = len(head) + sum(size for _, size in before)
    length = min(sum(size for _, size in meant), width - indent - 1)
    return shown + "…" * cut, " " * indent + "^" + "~" * (length - 1)


def pointed(error: BadScenario, width: int) -> tuple[str, ...]:
    """The line that the error is about, with marks under the word; empty where the text is not known."""
    lines = error.text.splitlines()
    if not 0 < error.line <= len(lines):
        return ()
    line = lines[error.line - 1]
    begin = min(error.column - 1, len(line))
    word = _WORD.match(line, begin)
    return excerpt(line, Place(begin, max(word.end() if word else 0, begin + 1), 1, error.column), width)


_WORD = re.compile(r"[^\s,:{}\[\]]+")
"""What is marked of a line of YAML: a name or a plain value, without what stands around it."""


def _cell(mark: str) -> tuple[str, int]:
    """How a character is shown, and how many cells that takes."""
    if mark == "\t":
        return " ", 1
    if not mark.isprintable():
        escaped = printable(mark)
        return escaped, len(escaped)
    if combining(mark):
        return mark, 0
    return mark, 2 if east_asian_width(mark) in "WF" else 1
