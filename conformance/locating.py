"""Where a value stands in a JSON text: by its JSON Pointer, or part by part."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from conformance.jsontext import parts
from conformance.tokens import Broken, Scanner, after, line_column


class Place(NamedTuple):
    """A piece of a text: characters from 0, `end` exclusive; line and column of its start, from 1."""

    offset: int
    end: int
    line: int
    column: int


Span: TypeAlias = tuple[int, int]
"""A piece of a text: characters from 0, the end exclusive."""

FAR: Final = 30
"""Down more steps than these, one pass over the text is faster than one for each step."""


def locate(text: str, pointer: str) -> Place | None:
    """Where the value at the pointer stands, or else the deepest value on the way to it.

    Of members with equal names the last counts, as it does in the value. None if the text is no
    JSON; ValueError if `pointer` is no JSON Pointer.
    """
    wanted = parts(pointer)
    index = _indexed(text) if len(wanted) <= FAR else None
    span = _scanned(text, wanted) if index is None else index.span(wanted)
    return Place(*span, *line_column(text, span[0])) if span else None


def spans(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """The steps into the value at `start` of a JSON text, and where each of its parts begins and ends."""
    at, count = start + 1, 0
    if text[start] not in "[{":
        return
    while text[at := after(_BETWEEN, text, at)] not in "]}":
        step, count = str(count), count + 1
        if text[start] == "{":
            step, at = _SKIP.raw_decode(text, at)
            at = after(_BETWEEN, text, at)
        end = _SKIP.raw_decode(text, at)[1]
        yield step, at, end
        at = end


_BETWEEN = re.compile(r"[ \t\r\n,:]*")
_SKIP = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=int)


class _Index:
    """Where the values of one text stand; what is inside one is looked for once, when first asked for."""

    def __init__(self, text: str) -> None:
        """Raise ValueError or RecursionError where the standard library's decoder does not get through."""
        start = len(text) - len(text.lstrip(" \t\r\n"))
        self._whole = (start, _SKIP.raw_decode(text, start)[1])
        if text[self._whole[1] :].strip(" \t\r\n"):
            raise ValueError
        self._text = text
        self._inside: dict[int, dict[str, Span]] = {}

    def span(self, wanted: list[str]) -> Span:
        """The value at these steps, or else the deepest one on the way."""
        found = self._whole
        for step in wanted:
            inside = self._parts(found[0])
            if step not in inside:
                break
            found = inside[step]
        return found

    def _parts(self, start: int) -> dict[str, Span]:
        if start not in self._inside:
            self._inside[start] = {step: (at, end) for step, at, end in spans(self._text, start)}
        return self._inside[start]


@lru_cache(maxsize=1)  # one message after the other is judged, and many findings may be about one
def _indexed(text: str) -> _Index | None:
    try:
        return _Index(text)
    except (ValueError, RecursionError):
        return None


def _scanned(text: str, wanted: list[str]) -> Span | None:
    """The same of any text, in one pass over it; None where it is no JSON."""
    scanner = Scanner(len(text))
    found: list[Span] = []  # the value itself, and its part at wanted[0], wanted[0:2], …
    inside = 0  # how many containers are open that lie on the way
    try:
        for kind, start, end, _ in scanner.tokens(text):
            depth = len(scanner.steps)
            if kind in ("}", "]"):
                if inside == depth + 1:
                    found[depth] = (found[depth][0], end)
                    inside = depth
            elif kind != "name" and inside == depth and _leads(scanner.steps, wanted):
                found[depth:] = [(start, end)]
                inside += kind in ("{", "[")
        scanner.finish(text)
    except Broken:
        return None
    return found[-1]


def _leads(steps: list[str | int], wanted: list[str]) -> bool:
    return not steps or (len(steps) <= len(wanted) and str(steps[-1]) == wanted[len(steps) - 1])
