"""How values are shown to a person."""

import time
from decimal import Decimal
from string import ascii_lowercase
from typing import Any

import pytest

from conformance.wording import _edits, by_nearness, nearest, plural, shown, type_name


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "boolean"),
        (0, "number"),
        (0.5, "number"),
        (Decimal("1E400"), "number"),
        ("", "string"),
        ([], "array"),
        ({}, "object"),
    ],
)
def test_types_as_json_schema_calls_them(value: Any, name: str) -> None:
    assert type_name(value) == name


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (9007199254740993, "9007199254740993"),
        (Decimal("9007199254740993.0"), "9007199254740993.0"),
        ("", '""'),
        ("é", '"é"'),
        ('a "b"', '"a \\"b\\""'),
        ("\x1b[2J", '"\\u001b[2J"'),
        ("\u202e", '"\\u202e"'),
        ("\ud800", '"\\ud800"'),
        ("\x7f", '"\\u007f"'),
        ({"a": [1, "b"]}, '{"a": [1, "b"]}'),
        (10**79, "1" + "0" * 79),
        (10**80, "a number of very many digits"),
        (-(10**999), "a number of very many digits"),
    ],
)
def test_a_value_is_shown_exactly_and_safely(value: Any, text: str) -> None:
    assert shown(value) == text


def test_the_middle_of_a_long_value_is_left_out() -> None:
    assert shown("a" * 60 + "b" * 60) == '"' + "a" * 52 + "…" + "b" * 19 + '"'


def test_the_length_is_chosen() -> None:
    assert shown("a" * 200, 1000) == '"' + "a" * 200 + '"'
    assert shown(10**80, 1000) == "1" + "0" * 80
    assert shown("abcdefghijkl", 8) == '"abcd…l"'


@pytest.mark.parametrize(("count", "text"), [(0, "0 messages"), (1, "1 message"), (2, "2 messages")])
def test_plurals(count: int, text: str) -> None:
    assert plural(count, "message") == text


STATES = ["pending", "accepted", "executing", "completed", "failed", "cancelled"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("COMPLETED", "completed"),
        ("complete", "completed"),
        ("compelted", "completed"),
        ("competled", "completed"),
        ("comleted", "completed"),
        ("canceled", "cancelled"),
        ("fail", "failed"),
        ("fialed", "failed"),
        ("faild", "failed"),
        ("excepted", "accepted"),
        ("running", None),
        ("done", None),
        ("", None),
        ("completed", None),
        ("completed-successfully", None),
        ("x" * 100_000, None),
    ],
)
def test_the_nearest_word(word: str, meant: str | None) -> None:
    assert nearest(word, STATES) == meant


@pytest.mark.parametrize(
    ("word", "candidate"),
    [("task_id", "taskId"), ("task-id", "taskId"), ("TaskID", "taskId"), ("obs.frame", "obs_frame"),
     ("ID", "id"), ("staus", "status"), ("tyep", "type"), ("typ", "type"), ("nmae", "name"),
     ("x" * 100 + "Y", "x" * 100 + "y")],
)  # fmt: skip
def test_words_that_are_near(word: str, candidate: str) -> None:
    assert nearest(word, [candidate]) == candidate


@pytest.mark.parametrize(
    ("word", "candidate"),
    [("get", "set"), ("to", "at"), ("a", "b"), ("push", "pull"),
     ("1.0.0", "1.0.1"), ("draft.7", "draft.12"), ("u53", "i53"), ("item1", "item2"), ("-", "_"), ("", ""),
     ("x" * 100 + "ab", "x" * 100 + "ba"), ("start", "finish")],
)  # fmt: skip
def test_words_that_are_not(word: str, candidate: str) -> None:
    """No version or number is taken for a slip, no short word for another, and no long text for a name."""
    assert nearest(word, [candidate]) is None


def test_of_several_the_nearest_is_named_and_of_equals_the_first() -> None:
    assert nearest("accept", ["accepted", "accepts"]) == "accepts"
    assert nearest("stat", ["stats", "state"]) == "stats"
    assert nearest("status", ["statuses", "status"]) is None


def test_candidates_by_nearness() -> None:
    words = [1, "alpha", "status", "stale", "states", None, "station"]
    assert by_nearness("statsu", words) == ["status", "states", "station", "stale", 1, "alpha", None]


@pytest.mark.parametrize(
    ("one", "two", "edits"),
    [("ca", "abc", 3), ("kitten", "sitting", 3), ("abcd", "acbd", 1), ("abcd", "abcd", 0), ("", "ab", 2)],
)
def test_the_distance_of_two_words(one: str, two: str, edits: int) -> None:
    """Optimal string alignment, by hand; a limit ends the count."""
    assert _edits(one, two, 9) == _edits(two, one, 9) == edits
    assert _edits(one, two, 0) == min(edits, 1)


def test_many_candidates_are_compared_quickly() -> None:
    words = [f"{'ab' * 15}{letter}{other}" for letter in ascii_lowercase for other in ascii_lowercase]
    began = time.process_time()
    assert nearest("ab" * 13 + "uvwxyz", words) is None
    assert time.process_time() - began < 5
