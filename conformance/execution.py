"""Carrying out a campaign on a terminal: progress, the report as it grows, the exit code."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from conformance import report as reports
from conformance.campaign import Campaign
from conformance.console import say
from conformance.errors import ExitCode
from conformance.report.evaluation import Run
from conformance.runner import Interrupted, ended_early, interrupted, run_one
from conformance.scenarios import Scenario

Told = Callable[[Scenario, Run | None], None]
"""Is told of each scenario before (with None) and after."""


def execute(campaign: Campaign) -> int:
    """Run every scenario, write the report, print it as text; the exit code says what came out."""
    campaign.clear()
    campaign.write(complete=False)
    before = signal.signal(signal.SIGTERM, _terminate)
    stopped = _carry_out(campaign)
    value = campaign.write(complete=not stopped and len(campaign.runs) == len(campaign.scenarios))
    say(reports.RENDERERS["text"](value), nl=False)
    say(f"report: {campaign.path}")
    if stopped:
        return ExitCode.INTERRUPTED
    signal.signal(signal.SIGTERM, before)
    return exit_code(value)


def exit_code(report: dict[str, Any]) -> int:
    """0 it holds, 1 it does not, 3 it could not be judged, 4 an error in the kit."""
    statuses = {run["status"] for run in report["scenarios"]}
    if "error" in statuses:
        return ExitCode.KIT_ERROR
    if report["claim"]["status"] == "non-conformant":
        return ExitCode.BROKEN
    undecided = report["claim"]["counts"]["inconclusive"] or statuses & {"inconclusive", "unreachable"}
    return ExitCode.UNDECIDED if undecided or report["claim"]["status"] == "not-evaluated" else ExitCode.HOLDS


def _carry_out(campaign: Campaign) -> bool:
    """Run the scenarios one after another, while going on is of use; whether the run was interrupted."""
    try:
        with _progress(len(campaign.scenarios)) as told:
            for scenario in campaign.scenarios:
                told(scenario, None)
                result = run_one(campaign.plan, scenario)
                run = campaign.record(result)
                campaign.write(complete=False)
                told(scenario, run)
                if ended_early(result) or run.status == "error":
                    break
        return False
    except KeyboardInterrupt as interrupt:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # what is left takes no time, and must not be torn
        rest = campaign.scenarios[len(campaign.runs) :]
        if isinstance(interrupt, Interrupted):
            campaign.record(interrupt.result)
        elif rest:
            campaign.record(interrupted(rest[0]))
        return True


@contextmanager
def terminable() -> Iterator[None]:
    """Meanwhile SIGTERM does what Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(*_: Any) -> None:
    """SIGTERM ends a run as Ctrl-C does: with a report, and without leaving processes behind."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell without jobs
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


@contextmanager
def _progress(total: int) -> Iterator[Told]:
    """Tell of each scenario: a bar on a terminal, else a line each."""
    if not sys.stderr.isatty():
        done = 0

        def plain(scenario: Scenario, run: Run | None) -> None:
            nonlocal done
            if run is not None:
                done += 1
                say(f"[{done}/{total}] {scenario.name}: {run.status} ({run.seconds:.1f} s)", err=True)

        yield plain
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)

        def drawn(scenario: Scenario, run: Run | None) -> None:
            bar.update(task, description=scenario.name, advance=0 if run is None else 1)

        yield drawn
