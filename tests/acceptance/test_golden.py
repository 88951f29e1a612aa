"""What the kit says of its own fixtures is what was read and found right."""

from __future__ import annotations

import golden
import pytest

FILES = sorted(golden.outputs().items())


@pytest.mark.parametrize(("name", "text"), FILES, ids=[name for name, _ in FILES])
def test_output_is_as_it_was_found_right(name: str, text: str) -> None:
    assert (golden.FOLDER / name).read_text(encoding="utf-8") == text


def test_nothing_else_is_golden() -> None:
    assert {path.name for path in golden.FOLDER.iterdir() if path.is_file()} == {name for name, _ in FILES}
