"""Deliberately broken copies of a world that the kit knows to be honest: each is caught, by the right id."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from live import PEERS, conformance_run, peer

AT_ONCE = 8
"""Most of the time, both sides of a run wait for the other."""

WORLD = "awp@0.1-draft.7"
"""What the world of another maker is built to."""

pytestmark = pytest.mark.peer


def test_each_broken_copy_is_caught_by_the_requirement_that_it_breaks(tmp_path: Path) -> None:
    sys.path.insert(0, str(PEERS))
    try:
        from broken_world import FAULTS
    finally:
        sys.path.remove(str(PEERS))
    assert len(FAULTS) >= 40

    def caught(name: str) -> tuple[str, list[str], str]:
        target = peer("broken_world", name, scheme="launch")
        run = conformance_run(
            tmp_path / name, WORLD, target, "-s", FAULTS[name].scenario, covered=False, timeout=200
        )
        return name, run.of("fail", "warn"), run.text

    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = list(pool.map(caught, FAULTS))
    wrong = {name: found for name, found, _ in runs if found != [FAULTS[name].requirement]}
    assert wrong == {}
    missing = {name for name, _, text in runs if f"{FAULTS[name].requirement} (" not in text}
    assert missing == set()
