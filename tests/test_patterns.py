"""Patterns mean what ECMA-262 says, and none is slow."""

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judging import DIALECT

from conformance.errors import BadPack
from conformance.patterns import ecma, is_pattern, matches
from conformance.schemas import Schemas

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
    (r"a\b", "aé", True),
    (r"\bé", "é", False),
    (r"^\Bé", "é", True),
    (r"^(?!x)\w$", "é", False),
    (r"^(?!x)[^\w]$", "é", True),
    (r"^(?=\d)", "١", False),
    (r"^(?!x)\s$", "\ufeff", True),
    (r"^(?!x)\s$", "\x85", False),
    (r"^(?!x).$", "\u2028", False),
    (r"(?<=\D)1$", "١1", True),
    (r"^(?<year>\d{4})-\k<year>$", "2026-2026", True),
    (r"^(?<a>x)(?<b>y)\k<b>0$", "xyy0", True),
    (r"^(.)\1$", "ab", False),
    (r"^\uD83D\uDE00$", "😀", True),
    (r"^\0$", "\0", True),
    (r"^[\0\b]+$", "\0\x08", True),
    (r"^\cj$", "\n", True),
    ("^[^]$", "\n", True),
    ("^[]", "a", False),
    (r"\<a", "a", False),
    (r"\<a", "<a", True),
    (r"^[\<(?:a*]$", "<", True),
    ("^[[:alpha:]]$", "a]", True),
    ("^[a&&b]$", "&", True),
    (r"^\p{Script=Greek}$", "α", True),
]


@pytest.mark.parametrize(("pattern", "text", "found"), CASES, ids=[ascii(case[:2]) for case in CASES])
def test_a_pattern_is_one_of_ecma_262(pattern: str, text: str, found: bool) -> None:
    assert matches(pattern, text) is found


TABLE = json.loads((Path(__file__).parent / "ecma-262-patterns.json").read_text(encoding="utf-8"))
"""Patterns put together at random, texts, and whether V8 (Node.js 20, flag u) finds one in the other."""


def test_a_table_of_patterns_is_read_as_a_browser_reads_it() -> None:
    assert len(TABLE) == 300
    assert [row for row in TABLE if matches(row[0], row[1]) is not row[2]] == []


PIECES = [r"\d", r"\W", r"\s", r"\b", r"\B", "[", "]", "[^", "(", ")", "(?:", "(?=", "(?<!", "(?<n>",
          r"\k<n>", r"\1", "*", "+", "?", "{2}", "|", "^", "$", ".", "a", "é", "\n", r"\0", r"\p{L}", r"\-",
          r"\<", "&&", "😀", r"\A", "(?i)"]  # fmt: skip
TEXTS = ["a", "", "aé", "éa", "a\n", "😀", "1", "<", "-", "aa", " ", "\ufeff", "a&&b", "[]"]


@settings(max_examples=250, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=6).map("".join), st.sampled_from(TEXTS))
def test_all_that_read_patterns_agree(pattern: str, text: str) -> None:
    """`matches`, the verdict, and the errors; as the value of a keyword, and as the name of a member."""

    def asked(schema: dict[str, Any], value: Any) -> Any:
        judge = Schemas({"a.json": schema}, DIALECT)
        try:
            valid = judge.is_valid("a.json", value)
            assert valid is (judge.errors("a.json", value) == [])
            return valid
        except BadPack:
            return None

    found = matches(pattern, text) if is_pattern(pattern) else None
    assert asked({"pattern": pattern}, text) is found
    of_name = asked({"patternProperties": {pattern: False}}, {text: 1})
    assert of_name is (None if found is None else not found)
    assert asked({"format": "regex"}, pattern) is (found is not None)


def test_a_pattern_that_both_read_alike_stays_as_it_is() -> None:
    for pattern in (r"^\d+\.\d+$", r"^x-[a-z0-9]+\.", "^(0|[1-9][0-9]{0,4})$", r"^[\w-]+\/\-$"):
        assert ecma(pattern) == pattern


def test_a_pattern_that_takes_too_many_steps_is_the_packs_fault() -> None:
    """No verdict is better than a wrong one."""
    with pytest.raises(BadPack, match="more steps"):
        matches(r"^(a|aa)+\1$", "a" * 40 + "!")


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|aa)+$", "(x+x+)+y", r"^(?=(a+)+b)", r"^(a|aa)+\1$"])
def test_a_hostile_pattern_is_not_slow(pattern: str) -> None:
    began = time.process_time()
    with suppress(BadPack):  # which says that there is no telling
        assert not matches(pattern, "a" * 5000 + "x" * 50 + "!")
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "pattern",
    ["(", "[", "*", r"\p{Nonsense}", r"\p{^L}", r"\pL", r"\Aa", r"a\z", r"a\Z", r"\a", r"[\B]", "(?i)a",
     "(?x)a", "(?P<n>a)", "(?>a)", "a++", "a*+", "a{2}{3}", "^*", "|{2}", r"\1", r"(a)\2", r"\k<n>",
     r"\ud800", r"\é", r"\07", "\\"],
)  # fmt: skip
def test_what_is_no_pattern_is_the_packs_fault(pattern: str) -> None:
    with pytest.raises(BadPack, match="no regular expression"):
        matches(pattern, "a")
