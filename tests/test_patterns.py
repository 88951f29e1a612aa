"""Patterns mean what ECMA-262 says, and none is slow."""

import time

import pytest

from conformance.errors import BadPack
from conformance.patterns import matches

# Expected values from ECMA-262: `$` without the m flag is the end, \d and \w are ASCII, \s is not, and
# `.` is no line terminator. With the u flag, as JSON Schema recommends, a character is a code point.
CASES = [
    ("b", "abc", True),
    ("^b", "abc", False),
    ("^abc$", "abc", True),
    ("^abc$", "abc\n", False),
    ("^abc$", "x\nabc", False),
    (r"^\d+$", "12", True),
    (r"^\d+$", "١٢", False),
    (r"^\d+$", "12\n", False),
    (r"^\w$", "é", False),
    (r"^\s$", "\u00a0", True),
    (r"^\s$", "\ufeff", True),
    (r"^[^\d]$", "x", True),
    (r"^[$]$", "$", True),
    (r"^\$$", "$", True),
    (r"^[\]$]$", "$", True),
    ("^a|b$", "ac", True),
    ("^.$", "\n", False),
    ("^.$", "\u2028", False),
    ("^.$", "😀", True),
    (r"^\/x$", "/x", True),
    (r"^\u0041$", "A", True),
    (r"^\p{L}$", "é", True),
    (r"^(?<letter>a)$", "a", True),
    (r"\cA", "\x01", True),
    ("^$", "", True),
    ("^\ufffd$", "\ud800", True),
]


@pytest.mark.parametrize(("pattern", "text", "found"), CASES, ids=[ascii(case[:2]) for case in CASES])
def test_a_pattern_is_one_of_ecma_262(pattern: str, text: str, found: bool) -> None:
    assert matches(pattern, text) is found


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|aa)+$", "(x+x+)+y", r"^(?=(a+)+b)", r"^(a|aa)+\1$"])
def test_a_hostile_pattern_is_not_slow(pattern: str) -> None:
    began = time.perf_counter()
    matches(pattern, "a" * 5000 + "x" * 50 + "!")
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize("pattern", ["(", "[", "*", r"\p{Nonsense}"])
def test_what_is_no_pattern_is_the_packs_fault(pattern: str) -> None:
    with pytest.raises(BadPack, match="no regular expression"):
        matches(pattern, "a")
