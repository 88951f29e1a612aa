"""Deliberately broken copies of a world that the kit knows to be honest: each is caught, by the right id."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from live import PEERS, peer

from conformance import campaign, configuration, packs, runner, scenarios
from conformance.report import evaluation
from conformance.transports.access import Access

AT_ONCE = 4
"""Most of the time, both sides of a run wait for the other."""

TRIES = 3
"""On a machine that is too busy, a scenario can be inconclusive; it never blames what is not to blame."""

WORLD = "awp@0.1-draft.7"
"""What the world of another maker is built to."""


@pytest.fixture
def on_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The broken worlds can be imported, for their table."""
    monkeypatch.syspath_prepend(str(PEERS))
    yield
    sys.modules.pop("broken_world", None)


@pytest.mark.peer
@pytest.mark.usefixtures("on_path")
def test_each_broken_copy_is_caught_by_the_requirement_that_it_breaks(tmp_path: Path) -> None:
    from broken_world import APPROVER, FAULTS

    pack = packs.find(WORLD)
    known = {scenario.name: scenario for scenario in scenarios.of_pack(pack, pack.peer_of("world"))}
    log = str(tmp_path / "log")
    operator = {"estop_engage": "kill -USR1 {pid}", "estop_release": "kill -USR2 {pid}"}
    facts = configuration.facts(pack, {"operator": operator, "audit": {"directory": log}})

    def caught_by(name: str) -> list[str]:
        """What fails at last: a machine that is too slow to tell is asked again."""
        return next(filter(None, (found(name) for _ in range(TRIES))), [])

    def found(name: str) -> list[str]:
        """The requirements that fail, in the one scenario that shows the fault."""
        target = peer("broken_world", name, log, scheme="launch")
        approver = {"approver": Access(APPROVER)}
        plan = runner.Plan(pack, "world", target, facts, tmp_path / name, credentials=approver)
        run = campaign.run_of(plan, runner.run_one(plan, known[FAULTS[name].scenario]))
        report = evaluation.evaluate(
            pack, "world", [run], target=target, implementation={}, ics=facts, complete=True
        )
        return [row["id"] for row in report["requirements"] if row["verdict"] in ("fail", "warn")]

    assert len(FAULTS) >= 40
    with ThreadPoolExecutor(AT_ONCE) as pool:
        caught = dict(zip(FAULTS, pool.map(caught_by, FAULTS), strict=True))
    assert caught == {name: [fault.requirement] for name, fault in FAULTS.items()}
