"""`conformance run PROTOCOL --fuzz`: negative tests of a live implementation, each beside its valid twin.

A row of the pack's `refusals` is tried in sessions of many trials each, so that what one message leaves
behind shows in the next. What goes wrong is tried again alone, and, where it then goes well, after one
that came before it; then it is shrunk and written as a scenario that shows it again.
"""

from __future__ import annotations

import random
import re
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance import reproducing
from conformance.bindings import difference
from conformance.campaign import Campaign, Request, prepare
from conformance.console import say
from conformance.errors import BadConfiguration, ExitCode, UsageError
from conformance.execution import begin, exit_code, tell, terminable
from conformance.generation import refusals, spoiling
from conformance.generation.refusals import Bench, Row, Trial
from conformance.interruption import ignored
from conformance.report.evaluation import Run
from conformance.runner import Plan, Result
from conformance.trying import Desk, Failure, Verdict
from conformance.wording import printable

FOLDER = "fuzz"
"""In the report's folder: the scenarios that show failures again; their names begin with it."""

TOGETHER = 12
"""So many trials share a session."""

ALIKE = 2
"""After so many failures of one sort, a row is tried no further."""

UNCLEAR = "inconclusive"
"""The sort of what is neither a failure nor none."""

SHRINKING = 6.0
"""All failing trials together are shrunk for so many seconds at most."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much is tried: so many trials, or for so many seconds, in the order that `seed` gives."""

    trials: int | None = 200
    seconds: float | None = None
    seed: int = 0


@dataclass(slots=True)
class Tally:
    """What came of everything that was tried."""

    seed: int
    tried: int = 0
    refused: int = 0
    survived: int = 0
    inconclusive: list[str] = field(default_factory=list)
    failures: list[dict[str, Any]] = field(default_factory=list)
    further: int = 0
    """Failures of a sort of which there is one already."""
    left: int = 0
    """Trials for which the budget was too small."""

    def value(self) -> dict[str, Any]:
        """The member `fuzz` of a report."""
        return {
            "seed": self.seed,
            "tried": self.tried,
            "refused": self.refused,
            "survived": self.survived,
            "left": self.left,
            "inconclusive": self.inconclusive,
            "failures": self.failures,
            "further": self.further,
        }


@dataclass(slots=True)
class Fuzz:
    """Negative tests of one implementation; what they show goes into the campaign's report."""

    campaign: Campaign
    budget: Budget
    is_brief: bool = False
    """Whether the first failure is enough, as it is found."""
    told: Callable[[str], None] = lambda line: None
    """Is told of each failure as it is found."""
    results: list[Result] = field(default_factory=list)
    """The sessions that the report has."""
    tally: Tally = field(init=False)
    _began: float = field(default_factory=time.monotonic)
    _sessions: int = 0
    _shrinking: float = SHRINKING

    def __post_init__(self) -> None:
        """Begin to count."""
        self.tally = Tally(self.budget.seed)

    @property
    def plan(self) -> Plan:
        """How the implementation is reached."""
        return self.campaign.plan

    def run(self) -> Iterator[str]:
        """Try every row; a line for each, as it goes."""
        rows = refusals.rows(self.plan.pack, self.plan.role)
        for number, row in enumerate(rows):
            if self.is_brief and self.tally.failures:
                return
            before, began = self.tally.tried, time.monotonic()
            said = self._row(row, len(rows) - number)
            took = time.monotonic() - began
            yield f"{row.kind}: {self.tally.tried - before} tried, {said} ({took:.1f} s)"

    def finish(self) -> None:
        """Try every row, and leave what came of it with the campaign."""
        for _ in self.run():
            pass
        self.campaign.fuzz = self.tally.value()

    def _row(self, row: Row, rows_left: int) -> str:
        unmet = difference(dict(row.needs), self.plan.ics)
        if unmet:
            return f"not applicable: the ICS does not say what this needs: {unmet}"
        with tempfile.TemporaryDirectory() as folder:
            desk = Desk(replace(self.plan, out=Path(folder)), row)
            bench, said = desk.prepared()
            if bench is None:
                self.tally.inconclusive.append(f"{row.kind}: {said}")
                if desk.first is not None:  # what was said in it is judged, and shows why
                    self._record(desk, desk.first)
                return said
            return self._trials(desk, bench, rows_left)

    def _trials(self, desk: Desk, bench: Bench, rows_left: int) -> str:
        waiting = spoiling.trials(bench)
        random.Random(f"{self.budget.seed} {desk.row.kind}").shuffle(waiting)  # noqa: S311, an order
        share = self._share(len(waiting), rows_left)
        self.tally.left += len(waiting) - share
        waiting, sorts = waiting[:share], dict[str, int]()
        until = self._until(rows_left)
        while waiting and time.monotonic() < until and not self._is_enough(sorts):
            waiting = self._session(desk, waiting[:TOGETHER], sorts) + waiting[TOGETHER:]
        self.tally.left += len(waiting)
        failed = ", ".join(f"{count} {sort}" for sort, count in sorts.items())
        return failed or "all refused"

    def _is_enough(self, sorts: dict[str, int]) -> bool:
        return any(count >= ALIKE for count in sorts.values()) or (
            self.is_brief and bool(self.tally.failures)
        )

    def _share(self, there_are: int, rows_left: int) -> int:
        if self.budget.trials is None:
            return there_are
        return min(there_are, max(0, self.budget.trials - self.tally.tried) // rows_left)

    def _until(self, rows_left: int) -> float:
        if self.budget.seconds is None:
            return float("inf")
        now = time.monotonic()
        return now + max(0.0, self._began + self.budget.seconds - now) / rows_left

    def _session(self, desk: Desk, trials: list[Trial], sorts: dict[str, int]) -> list[Trial]:
        """One session of trials; those that it did not come to."""
        self._sessions += 1
        verdict = desk.tried(trials)
        done = trials if verdict.place < 0 and not verdict.sort else trials[: max(verdict.place, 0)]
        self._well(done)
        if not verdict.sort:
            self._record(desk, verdict.result)
            return []
        here = max(verdict.place, 0)
        self.tally.tried += 1
        self._look(desk, trials, here, verdict, sorts)
        return trials[here + 1 :]

    def _well(self, trials: Sequence[Trial]) -> None:
        self.tally.tried += len(trials)
        self.tally.survived += sum(trial.is_valid for trial in trials)
        self.tally.refused += sum(not trial.is_valid for trial in trials)

    def _record(self, desk: Desk, result: Result) -> None:
        """A session that is over, as a scenario of the report."""
        name = f"fuzz-{desk.row.kind}-{self._sessions}"
        kept = self._kept(desk, result.transcript, f"transcripts/{name}.jsonl")
        stderr = self._kept(desk, result.stderr, f"stderr/{name}.txt")
        told = replace(result, scenario=replace(result.scenario, name=name), transcript=kept, stderr=stderr)
        self._enter(desk.announced(told, self.plan))

    def _kept(self, desk: Desk, made: str, name: str) -> str:
        """The name in the report's folder of a file that a session has made; empty where it has made none."""
        if not made or not (desk.plan.out / made).is_file():
            return ""
        path = self.plan.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((desk.plan.out / made).read_bytes())
        return name

    def _enter(self, result: Result) -> Run:
        """Put a session into the report."""
        self.results.append(result)
        return self.campaign.record(result)

    def _look(
        self, desk: Desk, trials: list[Trial], here: int, verdict: Verdict, sorts: dict[str, int]
    ) -> None:
        """What to make of a trial that did not go well."""
        if verdict.sort in sorts and verdict.sort != "hung":
            sorts[verdict.sort] += 1
            self.tally.further += 1
            return
        failure = desk.isolated(trials[:here], trials[here])
        if failure is None:
            sorts[UNCLEAR] = sorts.get(UNCLEAR, 0) + 1
            self.tally.inconclusive.append(f"{desk.row.kind}: {trials[here].said}: {verdict.said}")
            return
        sorts[failure.sort] = sorts.get(failure.sort, 0) + 1
        began = time.monotonic()
        failure = desk.shrunk(failure, began + self._shrinking * (not self.is_brief))
        self._shrinking -= time.monotonic() - began
        found = self._written(desk, failure)
        if found is None:
            self.tally.inconclusive.append(f"{desk.row.kind}: {failure.said}, and not so again")
        else:
            self.tally.failures.append(found)

    def _written(self, desk: Desk, failure: Failure) -> dict[str, Any] | None:
        """The failure as a scenario file that shows it again, and its row; None if none does."""
        name = f"{FOLDER}-{failure.row.kind}-{failure.sort.replace(' ', '-')}"
        path = self.plan.out / FOLDER / f"{name}.yaml"
        again = reproducing.shown_again(self.plan, desk, failure, path)
        if again is None:
            return None
        run = self._enter(again)
        last = failure.trials[-1]
        self.told(f"{failure.row.kind}: {failure.sort}: {failure.said} ({path})")
        return {
            "kind": failure.row.kind,
            "sort": failure.sort,
            "message": failure.said,
            "location": last.location,
            "keyword": last.keyword,
            "pointer": last.pointer,
            "scenario": path.relative_to(self.plan.out).as_posix(),
            "transcript": run.transcript,
            "text": last.text,
            "twin": last.twin,
        }


# ── the command ──────────────────────────────────────────────────────────────────────────────────


USUAL = "200"
"""The budget where none is given."""


def budget(written: str, seed: int | None) -> Budget:
    """What `--budget` and `--seed` say: `200` trials or `30s`; a seed of chance where none is given."""
    seed = secrets.randbelow(2**32) if seed is None else seed
    found = re.fullmatch(r"([1-9][0-9]{0,8}) ?(s?)", written)
    if found is None:
        raise UsageError(
            f"a budget is a number of trials, such as 200, or a time, such as 30s; {written!r} is none"
        )
    amount = int(found[1])
    return Budget(None, float(amount), seed) if found[2] else Budget(amount, None, seed)


def requested(request: Request, how: Budget) -> int:
    """Carry out what was asked for; a UsageError where options were given that are about scenarios."""
    options = {
        "--scenario": request.scenarios,
        "--requirement": request.requirements,
        "--certify": request.certify,
        "--rerun": request.rerun,
        "--jobs": request.jobs > 1,
    }
    given = [name for name, value in options.items() if value]
    if given:
        raise UsageError(f"--fuzz runs no scenarios, and one session at a time: leave out {', '.join(given)}")
    return execute(prepared(request), how)


def prepared(request: Request) -> Campaign:
    """The campaign of negative tests alone."""
    campaign = prepare(request)
    campaign.scenarios = []
    if not refusals.rows(campaign.plan.pack, campaign.plan.role):
        said = f"{campaign.plan.pack.name} does not say how a message is refused by the {campaign.plan.role}"
        raise BadConfiguration(f"{said}, so nothing can be tried")
    return campaign


def execute(campaign: Campaign, how: Budget) -> int:
    """Try everything, write the report, print it as text; the exit code says what came out."""
    fuzz, stopped = Fuzz(campaign, how, told=lambda line: say(printable(line), err=True)), False
    campaign.fuzz = fuzz.tally.value()
    begin(campaign)
    say(f"conformance: negative tests with the seed {how.seed}", err=True)
    with terminable():
        try:
            for line in fuzz.run():
                say(printable(line), err=True)
        except KeyboardInterrupt:
            stopped = True
    with ignored():
        campaign.fuzz = fuzz.tally.value()
        value = campaign.write(complete=not stopped)
        tell(campaign, value)
    return ExitCode.INTERRUPTED if stopped else _code(value)


def _code(report: dict[str, Any]) -> int:
    """As of any run; what was not tried or could not be decided is no success."""
    code = exit_code(report)
    told = report["fuzz"]
    undecided = told["inconclusive"] or not told["tried"]
    return ExitCode.UNDECIDED if code == ExitCode.HOLDS and undecided else code
