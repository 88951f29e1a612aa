"""Implementations that begin the conversation, and do so in ways that nobody forbids."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from live import Run, conformance_run, peer

ORDERS = """
[ics.orders]
cancellation = true
"""
REPORTS = """
[ics.reports]
singly = true
"""

CASES: dict[str, tuple[str, str, str, str, tuple[str, ...]]] = {
    "twice": ("va-agent-protocol", "orchestrator", peer("orders_twice"), ORDERS, ("orders-one-task",)),
    "promise": (
        "va-agent-protocol",
        "orchestrator",
        peer("orders_twice", "--promise"),
        ORDERS,
        ("orders-one-task",),
    ),
    "leave": (
        "va-agent-protocol",
        "orchestrator",
        peer("orders_twice", "--leave"),
        ORDERS,
        ("cancels-running-task",),
    ),
    "once": (
        "governed-attempt-progress",
        "reporter",
        peer("reports_once"),
        REPORTS,
        ("says-how-it-stands", "reports-singly"),
    ),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    def carried_out(name: str) -> Run:
        protocol, role, target, stated, scenarios = CASES[name]
        folder = tmp_path_factory.mktemp(name)
        config: Path = folder / "ics.toml"
        config.write_text(f'[implementation]\nname = "{name}"\n{stated}', "utf-8")
        chosen = [word for scenario in scenarios for word in ("-s", scenario)]
        return conformance_run(folder, protocol, target, "--role", role, "--config", str(config), *chosen)

    with ThreadPoolExecutor(len(CASES)) as pool:
        return dict(zip(CASES, pool.map(carried_out, CASES), strict=True))


def test_an_order_that_is_delivered_twice_is_one_attempt(runs: dict[str, Run]) -> None:
    run = runs["twice"]
    assert (run.code, run.statuses) == (0, {"orders-one-task": "passed"}), run.text
    assert run.of("fail", "warn", "inconclusive") == []
    assert "VA-COR-003" in run.of("pass")


def test_a_promise_that_the_ics_does_not_state_is_no_error_of_the_kit(runs: dict[str, Run]) -> None:
    run = runs["promise"]
    assert run.statuses == {"orders-one-task": "not-applicable"}
    assert "other keys than orders.promises" in run.report["scenarios"][0]["reason"]
    assert (run.code, run.of("fail", "warn")) == (0, []), run.text


def test_who_leaves_before_the_agent_has_answered_is_blamed_for_nothing(runs: dict[str, Run]) -> None:
    """Nor is the kit, whose own execution nobody ends."""
    run = runs["leave"]
    assert (run.code, run.statuses) == (3, {"cancels-running-task": "inconclusive"}), run.text
    assert run.of("fail", "warn") == []
    assert "VA-CAN-002" in run.of("inconclusive")


def test_one_snapshot_from_each_process(runs: dict[str, Run]) -> None:
    run = runs["once"]
    assert run.code == 0, run.text
    assert set(run.statuses.values()) == {"passed"}
    assert run.of("fail", "warn", "inconclusive") == []
    assert {"GAP-DOC-001", "GAP-LVL-001"} <= set(run.of("pass"))
