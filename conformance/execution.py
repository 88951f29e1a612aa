"""Carrying out a campaign on a terminal: progress, the report as it grows, the exit code."""

from __future__ import annotations

import atexit
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from conformance import bundle, rendering
from conformance import report as reports
from conformance.campaign import SHARED, Campaign
from conformance.console import say
from conformance.crew import Crew
from conformance.errors import ExitCode
from conformance.interruption import ignore, ignored
from conformance.report.evaluation import Run
from conformance.runner import Interrupted, Result, ended_early, interrupted, run_one
from conformance.scenarios import Scenario

OFTEN = 1.0
"""The report is written when it is so many seconds old: to write one costs as much as a short scenario."""

Told = Callable[[Scenario, Run | None], None]
"""Is told of each scenario before (with None) and after each of its runs."""

Asked = Callable[[Scenario, int], Result]
"""Gives the result of a scenario's run, which is numbered from 1."""


def execute(campaign: Campaign) -> int:
    """Run every scenario, write the report, print it as text; the exit code says what came out."""
    begin(campaign)
    if campaign.alone:
        say(f"conformance: {campaign.alone}", err=True)
    before = signal.signal(signal.SIGTERM, _terminate)
    atexit.register(ignore)  # what is over when the program ends cannot be interrupted any more
    stopped = _all_of(campaign) if campaign.jobs == 1 else _several_at_a_time(campaign)
    with ignored():
        value = campaign.write(complete=not stopped and campaign.is_through)
        tell(campaign, value)
    if stopped:
        return ExitCode.INTERRUPTED
    signal.signal(signal.SIGTERM, before)
    return exit_code(value)


def begin(campaign: Campaign) -> None:
    """Make room for the report; UsageError where it would be lost in the end, or cannot be written."""
    if campaign.bundle is not None:
        bundle.spare(campaign.bundle, campaign.plan.out)
    campaign.clear()
    campaign.write(complete=False)


def tell(campaign: Campaign, value: dict[str, Any]) -> None:
    """Print what came out, and write what is made of the report: its page, and a bundle if wanted."""
    say(reports.RENDERERS["text"](value), nl=False)
    say(f"page: {rendering.page(value, campaign.plan.out)}")
    if campaign.bundle is not None:
        bundle.write(campaign.bundle, campaign.plan.out, value)
        say(f"bundle: {campaign.bundle}")
    say(f"report: {campaign.path}")


def exit_code(report: dict[str, Any]) -> int:
    """0 it holds, 1 it does not, 3 it could not be judged, 4 an error in the kit."""
    statuses = {run["status"] for run in report["scenarios"]}
    if "error" in statuses:
        return ExitCode.KIT_ERROR
    if _is_broken(report):
        return ExitCode.BROKEN
    undecided = report["claim"]["counts"]["inconclusive"] or statuses & {"inconclusive", "unreachable"}
    open_ = undecided or report["claim"]["status"] == "not-evaluated" or not _is_certified(report)
    return ExitCode.UNDECIDED if open_ else ExitCode.HOLDS


def _is_broken(report: dict[str, Any]) -> bool:
    """Whether something failed that was not known to, or a known failure is none."""
    known = report.get("baseline")
    if known is not None:
        return bool(known["unexpected"] or known["stale"])
    return bool(report["claim"]["status"] == "non-conformant")


def _is_certified(report: dict[str, Any]) -> bool:
    return bool(report.get("certification", {"granted": True})["granted"])


def _all_of(campaign: Campaign) -> bool:
    """Run the scenarios one after another, while going on is of use; whether the run was interrupted."""
    try:
        _carry_out(campaign, lambda scenario, attempt: run_one(campaign.plan, scenario, attempt))
        return False
    except KeyboardInterrupt as interrupt:
        _on_signals(signal.SIG_IGN)  # what is left takes no time, and must not be torn
        done = {run.name for run in campaign.runs}
        rest = [one for one in campaign.scenarios if one.name not in done]
        if isinstance(interrupt, Interrupted):
            campaign.record(interrupt.result)
        elif rest:
            campaign.record(interrupted(rest[0]))
        return True


def _several_at_a_time(campaign: Campaign) -> bool:
    """The same with several under way at once; they are told of in their order all the same."""
    shared = campaign.plan.target.partition(":")[0].lower() in SHARED and not campaign.plan.more
    judge = campaign.judge
    crew = Crew(campaign.plan, campaign.scenarios, campaign.jobs, shared=shared, meanwhile=judge)
    try:
        _carry_out(campaign, crew.ask)
        stopped = False
    except KeyboardInterrupt:
        _on_signals(lambda *_: crew.cancel())  # once more, and what still goes on is killed
        crew.cancel()
        stopped = True
    except BaseException:
        crew.cancel()
        raise
    finally:
        rest = list(crew.rest())
        crew.close()
    if stopped:
        _on_signals(signal.SIG_IGN)
    known = {(run.name, run.attempt) for run in campaign.runs}
    for result in rest:
        if (result.scenario.name, result.attempt) not in known:
            campaign.record(result)
    return stopped


def _on_signals(handler: Any) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)


def _carry_out(campaign: Campaign, ask: Asked) -> None:
    """Take the scenarios in their order, while going on is of use; the report on disk grows meanwhile."""
    written = time.monotonic()
    with _progress(len(campaign.scenarios)) as told:
        for scenario in campaign.scenarios:
            told(scenario, None)
            result, run = _tried(campaign, ask, scenario, told)
            if time.monotonic() - written >= OFTEN:
                campaign.write(complete=False)
                written = time.monotonic()
            if ended_early(result) or run.status == "error":
                break


def _tried(campaign: Campaign, ask: Asked, scenario: Scenario, told: Told) -> tuple[Result, Run]:
    """What came of the scenario's first run if that was well, else of the last of the further ones."""
    for attempt in range(1, campaign.rerun + 2):
        result = ask(scenario, attempt)
        run = campaign.record(result)
        told(scenario, run)
        if run.status == "error" or (attempt == 1 and campaign.is_well(run)):
            break
    return result, run


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
                done += run.attempt == 1
                again = f", run {run.attempt}" if run.attempt > 1 else ""
                said = f"{scenario.name}{again}: {run.status} ({run.seconds:.1f} s)"
                say(f"[{done}/{total}] {said}", err=True)

        yield plain
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)

        def drawn(scenario: Scenario, run: Run | None) -> None:
            is_first = run is not None and run.attempt == 1
            bar.update(task, description=scenario.name, advance=int(is_first))

        yield drawn
