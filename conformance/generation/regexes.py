r"""Texts that a pattern of ECMA-262 is found in.

A pattern is read into a small tree, and a text drawn from it. What looks around is drawn as if it did not,
and what no tree can say is refused: who draws has the text matched in the end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from conformance.generation.choosing import Choices, spelt

Ranges = tuple[tuple[int, int], ...]
"""Code points, first and last of each range."""

_DIGITS: Ranges = ((0x30, 0x39),)
_WORDS: Ranges = ((0x61, 0x7A), (0x41, 0x5A), (0x30, 0x39), (0x5F, 0x5F))
_SPACES: Ranges = ((0x20, 0x20), (0x09, 0x09), (0x0A, 0x0A))
_ANY: Ranges = ((0x61, 0x7A), (0x20, 0x7E), (0xA1, 0x17F))
_CLASSES = {"d": _DIGITS, "w": _WORDS, "s": _SPACES}
_CONTROLS = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "0": 0, "b": 8}
_PROPERTIES = {
    "L": ((0x61, 0x7A), (0xE0, 0xF6)), "Lu": ((0x41, 0x5A), (0xC0, 0xD6)), "Ll": ((0x61, 0x7A), (0xE0, 0xF6)),
    "N": _DIGITS, "Nd": ((0x30, 0x39), (0x660, 0x669)), "P": ((0x2D, 0x2E), (0x21, 0x21)),
    "S": ((0x2B, 0x2B),), "Z": ((0x20, 0x20),),
    "Letter": ((0x61, 0x7A), (0xE0, 0xF6)), "Alphabetic": ((0x61, 0x7A),),
    "digit": ((0x30, 0x39), (0x660, 0x669)), "ASCII": ((0x61, 0x7A),), "Lowercase_Letter": ((0x61, 0x7A),),
    "Script=Cyrillic": ((0x430, 0x44F),), "Script=Greek": ((0x3B1, 0x3C1),), "Emoji": ((0x1F600, 0x1F64F),),
}  # fmt: skip
_ALL = 0x10FFFF
_SURROGATES = (0xD800, 0xDFFF)


class NoText(Exception):
    """A pattern that no text can be drawn of here."""


class Node(NamedTuple):
    """A part of a pattern: `sort` is `chars`, `all`, `any`, `repeat`, `start`, `end`, `back` or `look`."""

    sort: str
    parts: tuple[Node, ...] = ()
    ranges: Ranges = ()
    low: int = 0
    high: int | None = 0

    @property
    def least(self) -> int:
        """The length of the shortest text, about."""
        if self.sort == "chars":
            return 1
        if self.sort == "repeat":
            return self.low * self.parts[0].least
        if self.sort == "any":
            return min(part.least for part in self.parts)
        return sum(part.least for part in self.parts) if self.sort == "all" else 0


def inverted(ranges: Ranges) -> Ranges:
    """The code points that are in none of the ranges."""
    gaps, at = [], 0
    for first, last in sorted([*ranges, _SURROGATES]):
        if at < first:
            gaps.append((at, first - 1))
        at = max(at, last + 1)
    gaps += [(at, _ALL)] if at <= _ALL else []
    # What a person can read comes first.
    return tuple(
        piece for window in ((0x61, 0x7A), (0x41, 0x5A), (0x30, 0x39), (0x20, 0x7E), (0xA1, 0xFF), (0, _ALL))
        for piece in _within(gaps, window)
    )  # fmt: skip


def _within(gaps: list[tuple[int, int]], window: tuple[int, int]) -> list[tuple[int, int]]:
    pieces = [(max(first, window[0]), min(last, window[1])) for first, last in gaps]
    return [piece for piece in pieces if piece[0] <= piece[1]]


class _Reader:
    """Reads one pattern from its beginning to its end."""

    def __init__(self, pattern: str) -> None:
        self._text, self._at = pattern, 0
        self._groups: list[Node] = []

    def whole(self) -> Node:
        node = self._alternatives()
        if self._at < len(self._text):
            raise NoText(self._text)
        return node

    def _next(self, *texts: str) -> str:
        """Which of the texts comes now, and is passed over; empty where none does."""
        for text in texts:
            if self._text.startswith(text, self._at):
                self._at += len(text)
                return text
        return ""

    def _take(self) -> str:
        if self._at >= len(self._text):
            raise NoText(self._text)
        self._at += 1
        return self._text[self._at - 1]

    def _until(self, end: str) -> str:
        stop = self._text.find(end, self._at)
        if stop < 0:
            raise NoText(self._text)
        found = self._text[self._at : stop]
        self._at = stop + len(end)
        return found

    def _alternatives(self) -> Node:
        found = [self._sequence()]
        while self._next("|"):
            found.append(self._sequence())
        return found[0] if len(found) == 1 else Node("any", tuple(found))

    def _sequence(self) -> Node:
        found: list[Node] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            found.append(self._repeated(self._atom()))
        return Node("all", tuple(found))

    def _repeated(self, node: Node) -> Node:
        bounds = self._bounds()
        if bounds is None:
            return node
        self._next("?")
        return Node("repeat", (node,), (), *bounds)

    def _bounds(self) -> tuple[int, int | None] | None:
        mark = self._next("*", "+", "?")
        if mark:
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[mark]
        if not self._text.startswith("{", self._at):
            return None
        end = self._text.find("}", self._at)
        low, comma, high = self._text[self._at + 1 : end].partition(",")
        if end < 0 or not low.isdecimal() or not (high.isdecimal() or not high):
            return None
        self._at = end + 1
        return int(low), (int(high) if high else None) if comma else int(low)

    def _atom(self) -> Node:
        if self._next("^"):
            return Node("start")
        if self._next("$"):
            return Node("end")
        if self._next("("):
            return self._group()
        if self._next("["):
            return self._class()
        if self._next("."):
            return Node("chars", ranges=_ANY)
        if self._next("\\"):
            return self._escaped()
        mark = ord(self._take())
        return Node("chars", ranges=((mark, mark),))

    def _group(self) -> Node:
        look = self._next("?=", "?!", "?<=", "?<!")
        captures = not look and not self._next("?:")
        if captures and self._next("?<"):
            self._until(">")
        place = len(self._groups)
        if captures:
            self._groups.append(Node("all"))
        inside = self._alternatives()
        if not self._next(")"):
            raise NoText(self._text)
        if captures:
            self._groups[place] = inside
        return Node("look") if look else inside

    def _escaped(self) -> Node:
        mark = self._text[self._at : self._at + 1]
        if mark in ("b", "B"):
            self._at += 1
            return Node("look")
        if mark == "k" or (mark.isdecimal() and mark != "0"):
            raise NoText(self._text)
        return Node("chars", ranges=self._escape())

    def _escape(self) -> Ranges:
        mark = self._take()
        if mark.lower() in _CLASSES:
            ranges = _CLASSES[mark.lower()]
            return ranges if mark.islower() else inverted(_FULL.get(mark.lower(), ranges))
        if mark in "pP":
            self._next("{")
            ranges = _PROPERTIES.get(self._until("}"), _WORDS)
            return ranges if mark == "p" else inverted(ranges)
        code = self._code(mark)
        return ((code, code),)

    def _code(self, mark: str) -> int:
        if mark == "u" and self._next("{"):
            return int(self._until("}"), 16)
        if mark in "ux":
            size = 4 if mark == "u" else 2
            self._at += size
            code = int(self._text[self._at - size : self._at], 16)
            if 0xD800 <= code < 0xDC00 and self._next("\\u"):
                self._at += 4
                low = int(self._text[self._at - 4 : self._at], 16)
                return 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF)
            return code
        if mark == "c":
            return ord(self._take()) % 32
        return _CONTROLS.get(mark, ord(mark))

    def _class(self) -> Node:
        negative = bool(self._next("^"))
        ranges: list[tuple[int, int]] = []
        while not self._next("]"):
            first = self._member()
            if len(first) == 1 and first[0][0] == first[0][1] and self._is_range():
                self._at += 1
                last = self._member()
                first = ((first[0][0], last[-1][1]),)
            ranges += first
        if not ranges and not negative:
            raise NoText(self._text)
        return Node("chars", ranges=inverted(tuple(ranges)) if negative else tuple(ranges))

    def _is_range(self) -> bool:
        return self._text.startswith("-", self._at) and not self._text.startswith("-]", self._at)

    def _member(self) -> Ranges:
        mark = self._take()
        if mark == "\\":
            return self._escape()
        return ((ord(mark), ord(mark)),)


_FULL: dict[str, Ranges] = {
    "s": ((0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
          (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
}  # fmt: skip


@lru_cache(maxsize=512)
def read(pattern: str) -> Node:
    """The tree of a pattern; NoText where it is none, or one that no text can be drawn of."""
    try:
        return _Reader(pattern).whole()
    except (ValueError, OverflowError, IndexError):
        raise NoText(pattern) from None


@lru_cache(maxsize=512)
def alphabet(ranges: Ranges) -> tuple[str, ...]:
    """Characters of the ranges: all of the first three, which a person can read, and a few of each other."""
    found: dict[str, None] = {}
    for number, (first, last) in enumerate(ranges):
        last = min(last, first + (_MANY if number < 3 else _FEW))
        found.update(dict.fromkeys(map(chr, range(first, last + 1))))
    return tuple(found)


_MANY, _FEW = 128, 4


def drawn(pattern: str, choices: Choices, least: int = 0, most: int | None = None) -> str:
    """A text of the pattern, of `least` to `most` characters if that can be had by repeating."""
    node = read(pattern)
    drawing = _Drawing(choices, max(0, least - node.least), most)
    text = drawing.of(node)
    pad = least - len(text)
    if pad > 0:
        text = ("a" * pad + text) if not _has(node, "start") else text + "a" * pad
    return text


def _has(node: Node, sort: str) -> bool:
    return node.sort == sort or any(_has(part, sort) for part in node.parts)


class _Drawing:
    """A text being drawn: `missing` characters more than the fewest are wanted."""

    def __init__(self, choices: Choices, missing: int, most: int | None) -> None:
        self._choices, self._missing = choices, missing
        self._most = most

    def of(self, node: Node) -> str:
        return _DRAWN[node.sort](self, node)

    def _chars(self, node: Node) -> str:
        return spelt(alphabet(node.ranges), 1, self._choices)

    def _all(self, node: Node) -> str:
        return "".join(map(self.of, node.parts))

    def _any(self, node: Node) -> str:
        return self.of(node.parts[self._choices.index(len(node.parts))])

    def _repeat(self, node: Node) -> str:
        inside = node.parts[0]
        size = max(1, inside.least)
        high = node.low + 6 if node.high is None else min(node.high, node.low + 12)
        if self._missing > 0:
            more = -(-self._missing // size)
            count = node.low + more if node.high is None else min(node.high, node.low + more)
            self._missing -= (count - node.low) * size
        else:
            if self._most is not None:
                high = max(node.low, min(high, self._most // size))
            count = node.low + (self._more(high - node.low) if high > node.low else 0)
        if inside.sort == "chars":
            return spelt(alphabet(inside.ranges), count, self._choices)
        return "".join(self.of(inside) for _ in range(count))

    def _more(self, most: int) -> int:
        """How often more than it has to be something is repeated: mostly not often."""
        if most < 3:
            return self._choices.integer(0, most)
        place = self._choices.integer(0, 9 + most)
        return place % 3 if place < 10 else place - 9

    def _nothing(self, node: Node) -> str:
        return ""


_DRAWN: dict[str, Callable[[_Drawing, Node], str]] = {
    "chars": _Drawing._chars,
    "all": _Drawing._all,
    "any": _Drawing._any,
    "repeat": _Drawing._repeat,
    "start": _Drawing._nothing,
    "end": _Drawing._nothing,
    "look": _Drawing._nothing,
}
