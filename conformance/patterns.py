r"""Patterns as JSON Schema means them: ECMA-262, by the engine that also gives the schema verdicts.

So the two can never differ on one, and no pattern, however hostile, is slow. That engine reads most of
ECMA-262 as it is meant (`$` is the end, `\d` and `\w` are ASCII, `\s` is the white space of ECMA-262), but
not in a pattern that looks around or back: there, and where it accepts what ECMA-262 does not have, a
pattern is rephrased or refused here.
Two things are not read as ECMA-262 has them: a backreference to a group that took no part fails, and
flags within the pattern, which came with its edition of 2025, are refused.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import jsonschema_rs

from conformance.errors import BadPack

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found anywhere in the text; BadPack where it is none, or takes too long to tell.

    A lone surrogate in the text, which no engine takes, counts as U+FFFD.
    """
    judge, looks = _compiled(pattern)
    try:
        found = bool(judge.is_valid(text))
    except UnicodeEncodeError:
        return matches(pattern, _SURROGATE.sub("\ufffd", text))
    if not found and looks:
        _refuse_a_guess(judge, pattern, text)
    return found


def is_pattern(text: str) -> bool:
    """Whether a text is a pattern, as far as the kit reads them."""
    try:
        _compiled(text)
    except BadPack:
        return False
    return True


def _refuse_a_guess(judge: Any, pattern: str, text: str) -> None:
    # A pattern that looks around or back is tried step by step, with a limit to the steps.
    error = next(judge.iter_errors(text))
    if not isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Pattern):
        raise BadPack(f"whether {pattern!r} matches takes more steps than the kit takes")


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> tuple[Any, bool]:
    """The pattern's judge, and whether the pattern looks around or back."""
    try:
        looks = _LOOKS.search(pattern) is not None
        return jsonschema_rs.validator_for({"pattern": ecma(pattern)}), looks
    except jsonschema_rs.ValidationError:
        raise _none(pattern) from None


def _none(pattern: str) -> BadPack:
    return BadPack(f"{pattern!r} is no regular expression of ECMA-262")


_PIECE = re.compile(
    r"""
    \\ (?: u[dD][89abAB][0-9a-fA-F]{2} \\ u[dD][c-fC-F][0-9a-fA-F]{2}   # a pair of surrogates
         | u [0-9a-fA-F]{4} | u \{ [0-9a-fA-F]+ \} | x [0-9a-fA-F]{2} | c [A-Za-z]
         | [pP] \{ [^{}]* \} | k < [^<>]* > | [0-9]+ | . )
    | \[ \^? \]?                                                          # ends at once: of nothing, of all
    | \( \? (?: : | <?[=!] | < [^<>]* > )?
    | (?: [*+?] | \{ [0-9]+ (?: , [0-9]* )? \} ) \??
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_QUANTIFIER = re.compile(r"[*+?]|\{[0-9]")
_PROPERTY = re.compile(r"\\[pP]\{\w+(?:=\w+)?\}", re.ASCII)
_WORD = "[0-9A-Za-z_]"
_REPHRASED = {
    "[]": r"[^\s\S]",
    "[^]": r"[\s\S]",
    r"\0": r"\x00",
    r"\b": f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    r"\B": f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
}
_AS_IT_IS = frozenset(r"dDwWsSfnrtv^$\.*+?()[]{}|/-")  # after a backslash


_SETS = {
    "d": ((0x30, 0x39),),
    "w": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "s": ((0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
          (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
}  # fmt: skip
"""Code points of the classes of ECMA-262 §22.2.2.9, first and last of each range."""


def _members() -> dict[str, str]:
    r"""`\d` and its like, each as what stands between the brackets of a class."""
    found: dict[str, str] = {}
    for name, ranges in _SETS.items():
        bounds = [-1, *(bound for pair in ranges for bound in pair), 0x110000]
        gaps = [(last + 1, first - 1) for last, first in zip(bounds[::2], bounds[1::2], strict=True)]
        for letter, pairs in ((name, ranges), (name.upper(), gaps)):
            found["\\" + letter] = "".join(rf"\u{{{first:x}}}-\u{{{last:x}}}" for first, last in pairs)
    return found


_MEMBERS = _members()
_SPELT_OUT = {piece: f"[{members}]" for piece, members in _MEMBERS.items()} | {
    ".": r"[^\n\r\u{2028}\u{2029}]"
}
_LOOKS = re.compile(r"\(\?<?[=!]|\\[1-9bBk]")


@lru_cache(maxsize=512)
def ecma(pattern: str) -> str:
    """The pattern in words that the engine reads as ECMA-262 reads the pattern; BadPack where it is none."""
    pieces = _PIECE.findall(pattern)
    groups = _groups(pieces)
    looks = any(map(_LOOKS.match, pieces))
    said: list[str] = []
    within, before = False, ""  # a class, and the piece before
    for piece in pieces:
        if within:
            plain = _MEMBERS.get(piece) if looks else None
            said.append(plain or _in_class(piece, pattern))
            within = not _closes(piece)
        else:
            if piece == "(?" or (_QUANTIFIER.match(piece) and _is_bare(before)):
                raise _none(pattern)
            plain = _SPELT_OUT.get(piece) if looks else None
            said.append(plain or _outside(piece, groups, pattern))
            within = piece in ("[", "[^")
        before = piece
    return "".join(said)


def _closes(piece: str) -> bool:
    return piece[-1] == "]" and piece[0] != "\\"


def _groups(pieces: list[str]) -> list[str]:
    """The groups by number, the first at 0, each with its name or none."""
    found, within = [], False
    for piece in pieces:
        if not within and (piece == "(" or re.fullmatch(r"\(\?<[^=!].*", piece)):
            found.append(piece[3:-1])
        within = piece in ("[", "[^") if not within else not _closes(piece)
    return found


def _is_bare(before: str) -> bool:
    """Whether nothing stands before a quantifier that it could repeat; the engine would not always mind."""
    return before in ("", "|", "^", "$", r"\b", r"\B") or before[0] == "(" or bool(_QUANTIFIER.match(before))


def _outside(piece: str, groups: list[str], pattern: str) -> str:
    if piece in _REPHRASED:
        return _REPHRASED[piece]
    if piece[0] != "\\":
        return piece
    if piece.startswith(r"\k<") and piece[3:-1] in groups:
        return rf"(?:\{groups.index(piece[3:-1]) + 1})"
    if piece[1:].isdecimal() and piece[1] != "0" and int(piece[1:]) <= len(groups):
        return piece
    return _escape(piece, pattern)


def _in_class(piece: str, pattern: str) -> str:
    if piece == r"\b":
        return r"\x08"
    if piece == r"\0":
        return r"\x00"
    return _escape(piece, pattern) if piece[0] == "\\" else piece


def _escape(piece: str, pattern: str) -> str:
    if piece.count("\\u") == 2:  # two surrogates
        high, low = int(piece[2:6], 16), int(piece[8:], 16)
        return rf"\u{{{0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF):x}}}"
    kind = piece[1:2]
    if len(piece) == 2 and kind in _AS_IT_IS:
        return piece
    if len(piece) == 2 and kind.isascii() and not kind.isalnum():
        return rf"\x{ord(kind):02x}"  # an escape of what needs none, which may mean something to the engine
    if kind == "c" and len(piece) == 3:
        return rf"\x{ord(piece[2]) % 32:02x}"
    if len(piece) > 2 and (kind in "ux" or _PROPERTY.fullmatch(piece)):
        return piece
    raise _none(pattern)
