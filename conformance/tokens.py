"""The tokens of a JSON text, read strictly (RFC 8259), with the position of what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TypeAlias

from conformance.events import JSON, Fault

_PLAIN = json.JSONDecoder()

# What may come next, as a person is told, and what that can begin with (RFC 8259 §2 to §5).
_VALUE, _ELEMENT, _COLON = "a value", "a value or ']'", "':'"
_NAME, _MEMBER = "a member name in double quotes", "a member name in double quotes or '}'"
_MORE_MEMBERS, _MORE_ELEMENTS, _END = "',' or '}'", "',' or ']'", "the end of the text"
_ANY = '{["-0123456789tfn'
_BEGINNINGS = {_VALUE: _ANY, _ELEMENT: _ANY + "]", _NAME: '"', _MEMBER: '"}', _COLON: ":",
               _MORE_MEMBERS: ",}", _MORE_ELEMENTS: ",]", _END: ""}  # fmt: skip
_ESCAPED = 'one of " \\ / b f n r t u after a backslash'
_LITERALS = {"true": True, "false": False, "null": None}

Token: TypeAlias = tuple[str, int, int, JSON]
"""Kind (a bracket, `name`, `string`, `number`, `literal`), start, end, value (None for a number)."""


class Scanner:
    """The tokens of one JSON text, strictly and without recursion.

    A text may come in pieces that end between tokens, as lines do. `steps` is the pointer of the
    value (or name, or end of a value) that was yielded last. Where a text breaks at its very end,
    it is not wrong but stops too early.
    """

    __slots__ = ("_depth", "steps", "want")

    def __init__(self, depth: int) -> None:
        """At most `depth` brackets may be open at once."""
        self.want = _VALUE
        self.steps: list[str | int] = []
        self._depth = depth

    def tokens(self, text: str) -> Iterator[Token]:
        """The tokens of the next piece; raises Broken where they are no JSON."""
        at = after(_SPACE, text, 0)
        while at < len(text):
            char = text[at]
            if char not in _BEGINNINGS[self.want]:
                raise _unexpected(text, at, self.want)
            if char in ",:":
                self.want = _NAME if self.want == _MORE_MEMBERS else _VALUE
                at += 1
            else:
                yield (token := self._token(text, at, char))
                at = token[2]
                if char in "{[":
                    self.steps.append("" if char == "{" else -1)
            at = after(_SPACE, text, at)

    def _token(self, text: str, at: int, char: str) -> Token:
        if char == '"' and self.want in (_NAME, _MEMBER):
            self.want = _COLON
            name, end = _string(text, at)
            self.steps[-1] = name
            return "name", at, end, name
        if char in "}]":
            self.steps.pop()
        elif self.steps and isinstance(self.steps[-1], int):
            self.steps[-1] += 1
        if char in "{[" and len(self.steps) == self._depth:
            raise Broken("WIRE-LIMIT", f"brackets nest deeper than {self._depth}", text, at)
        self.want = self._next(char)
        return (char, at, at + 1, None) if char in "{[}]" else _scalar(text, at, char)

    def _next(self, char: str) -> str:
        if char in "{[":
            return _MEMBER if char == "{" else _ELEMENT
        if not self.steps:
            return _END
        return _MORE_MEMBERS if isinstance(self.steps[-1], str) else _MORE_ELEMENTS

    def finish(self, text: str) -> None:
        """Raise Broken if the value is not complete at the end of `text`, its last piece."""
        if self.want != _END:
            raise _unexpected(text, len(text), self.want)


_SPACE = re.compile(r"[ \t\n\r]*")
_WORD = re.compile(r"-?[A-Za-z_][A-Za-z_0-9]{0,39}")
# As far as a text is the beginning of a number (RFC 8259 §6); it is one if it ends in a digit.
_NUMBER = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:(?<=[0-9])[eE][-+]?[0-9]*)?)?")
_ESCAPE_OR_CONTROL = re.compile(r"[\\\x00-\x1f]")
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")


def after(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where what fits the pattern at `at` ends; `at` itself where nothing does."""
    match = pattern.match(text, at)
    return match.end() if match else at


def _scalar(text: str, at: int, char: str) -> Token:
    if char == '"':
        value, end = _string(text, at)
        return "string", at, end, value
    word = text[at : after(_WORD, text, at)]
    if word in _LITERALS:
        return "literal", at, at + len(word), _LITERALS[word]
    end = after(_NUMBER, text, at)
    if word or text[end - 1] not in "0123456789":
        raise _unexpected(text, at, _VALUE) if word else _unexpected(text, end, "a digit")
    return "number", at, end, None


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        value, end = _PLAIN.raw_decode(text, at)
    except ValueError:
        raise _broken_string(text, at) from None
    return value, end


def _broken_string(text: str, start: int) -> Broken:
    at = start + 1
    while stop := _ESCAPE_OR_CONTROL.search(text, at):
        at = stop.start()
        if text[at] != "\\":
            message = f"the control character U+{ord(text[at]):04X} stands unescaped in a string"
            return Broken("WIRE-JSON", message, text, at)
        if not (escape := _ESCAPE.match(text, at)):
            end = after(_CUT_ESCAPE, text, at)
            return _unexpected(text, end, _ESCAPED if end == at + 1 else "four hex digits after \\u")
        at = escape.end()
    line, column = line_column(text, start)
    return _unexpected(text, len(text), f"the end of the string of line {line}, column {column}")


def _unexpected(text: str, at: int, want: str) -> Broken:
    word = text[at : after(_WORD, text, at)] or text[at : at + 1]
    if not word:
        return Broken("WIRE-JSON", f"expected {want} but the text ends", text, at)
    cut = any(literal.startswith(word) for literal in _LITERALS) and len(text) == at + len(word)
    if cut and want in (_VALUE, _ELEMENT):
        return Broken("WIRE-JSON", f"expected {want} but the text ends after {word!r}", text, len(text))
    if word.removeprefix("-") in ("NaN", "Infinity"):
        return Broken(
            "WIRE-CONSTANT", f"expected {want} but found {word}, which JSON does not have", text, at
        )
    if want == _END and word == "{":
        return Broken("WIRE-LINE", "two messages on one line: the second begins here", text, at)
    return Broken("WIRE-JSON", f"expected {want} but found {word!r}", text, at)


class Broken(ValueError):
    """The text is no JSON, or exceeds a limit; `fault` says where and why."""

    def __init__(self, code: str, message: str, text: str, at: int) -> None:
        """The fault stands at character `at` of the text."""
        super().__init__(message)
        self.fault = fault_at(code, message, text, at)


def fault_at(code: str, message: str, text: str, at: int, fatal: bool = True, pointer: str = "") -> Fault:
    """A fault at character `at` of the text."""
    line, column = line_column(text, at)
    return Fault(code, message, at, line, column, fatal, pointer)


def line_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column, from 1, of a character of the text; only a newline ends a line."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def shortened(text: str) -> str:
    """At most 60 characters of a text, quoted, with escapes for what a terminal would obey or not show."""
    return repr(text if len(text) <= 60 else text[:59] + "…")
