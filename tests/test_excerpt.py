"""A place in a text, as a terminal shows it."""

from __future__ import annotations

import pytest

from conformance.errors import BadScenario
from conformance.excerpt import excerpt, pointed
from conformance.locating import Place, locate


def at(text: str, pointer: str) -> Place:
    place = locate(text, pointer)
    assert place is not None
    return place


@pytest.mark.parametrize(
    ("text", "pointer", "width", "shown", "marks"),
    [
        ('{"a": 1, "b": 22}', "/b", 80, '{"a": 1, "b": 22}', "              ^~"),
        ('{"a":\n  {"b": 1}\n}', "/a/b", 80, '  {"b": 1}', "        ^"),
        ('{"a": {\r\n"b": 1}}', "/a", 80, '{"a": {', "      ^"),
        ('{"字": "漢"}', "/字", 80, '{"字": "漢"}', "       ^~~~"),
        ('{"e\u0301": 1}', "/e\u0301", 80, '{"e\u0301": 1}', "      ^"),
        ('{"\u202e": 1}', "/\u202e", 80, '{"\\u202e": 1}', "           ^"),
        ('{\t"a": 1}', "/a", 80, '{ "a": 1}', "       ^"),
        ('{"a": "' + "x" * 50 + '"}', "/a", 20, '{"a": "xxxxxxxxxxxx…', "      ^~~~~~~~~~~~~"),
        ('{"a": "' + "x" * 50 + '", "b": 1}', "/b", 21, '…, "b": 1}', "        ^"),
        ("[" + "1, " * 500 + "2]", "/400", 30, "… 1, 1, 1, 1, 1, 1, 1, 1, 1, …", "           ^"),
        ('{"a": 1}', "/a", 1, '{"a": 1}', "      ^"),
    ],
)
def test_excerpt(text: str, pointer: str, width: int, shown: str, marks: str) -> None:
    line, under = excerpt(text, at(text, pointer), width)
    assert (line, under) == (shown, marks)
    assert len(line) <= max(width, 20)


@pytest.mark.parametrize(
    ("line", "column", "shown"),
    [
        (2, 3, ("  role: agent", "  ^~~~")),
        (2, 9, ("  role: agent", "        ^~~~~")),
        (1, 8, ("title: {x}", "       ^")),
        (1, 99, ("title: {x}", "          ^")),
        (3, 1, ()),
        (0, 1, ()),
    ],
)
def test_a_place_in_a_file_is_shown_by_its_word(line: int, column: int, shown: tuple[str, ...]) -> None:
    assert pointed(BadScenario("x.yaml:1:1: no", "title: {x}\n  role: agent\n", line, column), 60) == shown


def test_an_error_about_no_text_has_no_place() -> None:
    assert pointed(BadScenario("a step: no"), 60) == ()
