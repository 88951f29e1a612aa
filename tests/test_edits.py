"""Each edit changes one thing; the tokens of all else stay as they are."""

from __future__ import annotations

import pytest

from conformance import edits

TEXT = '{"a": 1.0, "b~": {"c": [1E2, "x"], "d": null}}'


@pytest.mark.parametrize(
    ("pointer", "value", "expected"),
    [
        ("/a", 2, '{"a": 2, "b~": {"c": [1E2, "x"], "d": null}}'),
        ("/b~0/c/1", "y", '{"a": 1.0, "b~": {"c": [1E2, "y"], "d": null}}'),
        ("", [], "[]"),
    ],
)
def test_a_value_is_replaced(pointer: str, value: object, expected: str) -> None:
    assert edits.replaced(TEXT, pointer, value) == expected


def test_a_member_is_left_out() -> None:
    assert edits.without(TEXT, "/b~0/c") == '{"a": 1.0, "b~": {"d": null}}'
    assert edits.without(TEXT, "/a") == '{"b~": {"c": [1E2, "x"], "d": null}}'


def test_a_member_is_added() -> None:
    assert edits.with_member(TEXT, "/b~0", "e", 1) == (
        '{"a": 1.0, "b~": {"c": [1E2, "x"], "d": null, "e": 1}}'
    )
    assert edits.with_member("{}", "", "e", True) == '{"e": true}'


def test_the_first_member_comes_twice() -> None:
    assert edits.with_first_twice(' {"a": 1.0, "b": 2}') == ' {"a": 1.0, "a": 1.0, "b": 2}'
