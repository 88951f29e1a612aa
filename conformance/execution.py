"""Carrying out a campaign on a terminal: progress, the report as it grows, the exit code."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from conformance import report as reports
from conformance.campaign import Campaign
from conformance.runner import Result, Watcher, run_all
from conformance.scenarios import Scenario

INTERRUPTED = 130


def execute(campaign: Campaign) -> int:
    """Run every scenario, write the report, print it as text; the exit code says what came out."""
    results: list[Result] = []
    campaign.write(complete=False)
    interrupted = False
    with _terminable(), _progress(campaign) as watch:
        try:
            run_all(campaign.plan, campaign.scenarios, results, watch)
        except KeyboardInterrupt:
            interrupted = True
            campaign.record(results[-1])
    value = campaign.write(complete=not interrupted and len(results) == len(campaign.scenarios))
    click.echo(reports.RENDERERS["text"](value), nl=False)
    click.echo(f"report: {campaign.path}")
    return INTERRUPTED if interrupted else exit_code(value)


def exit_code(report: dict[str, Any]) -> int:
    """0 it holds, 1 it does not, 3 it could not be judged, 4 an error in the kit."""
    statuses = {run["status"] for run in report["scenarios"]}
    if "error" in statuses:
        return 4
    if report["claim"]["status"] == "non-conformant":
        return 1
    undecided = report["claim"]["counts"]["inconclusive"] or "unreachable" in statuses
    return 3 if undecided or report["claim"]["status"] == "not-evaluated" else 0


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends a run as Ctrl-C does: with a report, and without leaving processes behind."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _progress(campaign: Campaign) -> Iterator[Watcher]:
    """Tell of each scenario: a bar on a terminal, else a line each. The report grows with each."""
    total = len(campaign.scenarios)

    def recorded(result: Result) -> None:
        campaign.record(result)
        campaign.write(complete=False)

    if not sys.stderr.isatty():
        done = 0

        def plain(scenario: Scenario, result: Result | None) -> None:
            nonlocal done
            if result is not None:
                done += 1
                recorded(result)
                click.echo(
                    f"[{done}/{total}] {scenario.name}: {result.status} ({result.seconds:.1f} s)", err=True
                )

        yield plain
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)

        def drawn(scenario: Scenario, result: Result | None) -> None:
            bar.update(task, description=scenario.name, advance=0 if result is None else 1)
            if result is not None:
                recorded(result)

        yield drawn
