"""What the kit says of its own fixtures is what was read and found right."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import golden
import pytest

from conformance import packs, verification

FILES = sorted(golden.outputs().items())


@pytest.mark.parametrize(("name", "text"), FILES, ids=[name for name, _ in FILES])
def test_output_is_as_it_was_found_right(name: str, text: str) -> None:
    assert (golden.FOLDER / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", golden.RECORDS)
def test_the_report_agrees_with_its_transcripts(name: str, tmp_path: Path) -> None:
    pack, stem = packs.find(name), name.partition("@")[0]
    value = json.loads((golden.FOLDER / f"{stem}.report.json").read_text("utf-8"))
    (tmp_path / "transcripts").mkdir()
    for record in golden.RECORDS[name]:
        shutil.copy(pack.fixtures / "transcripts" / f"{record}.jsonl", tmp_path / "transcripts")
    found = verification.verify(value, tmp_path)
    assert (found.tampered, found.verdicts) == ((), ())


def test_nothing_else_is_golden() -> None:
    there = {path.name for path in golden.FOLDER.iterdir() if path.is_file()}
    assert there == {name for name, _ in FILES if "/" not in name}
