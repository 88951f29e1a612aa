"""`conformance run PROTOCOL --fuzz`: negative tests of a live implementation, each beside its valid twin.

A row of the pack's `refusals` is tried in sessions of many trials each, so that what one message leaves
behind shows in the next. What goes wrong is tried again alone, and, where it then goes well, after one
that came before it; then it is shrunk and written as a scenario that shows it again.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from conformance import records, reproducing
from conformance.bindings import difference
from conformance.campaign import Campaign, run_of
from conformance.correlation import Correlator
from conformance.events import Closed, Event, Malformed, Received, Sent
from conformance.generation import refusals, spoiling
from conformance.generation.refusals import REFUSAL, Bench, Row, Trial
from conformance.report import evaluation
from conformance.runner import Plan, Result, run_one
from conformance.scenarios import Scenario, Step

TOGETHER = 12
"""So many trials share a session."""

SHRINKS = 24
"""A failing trial is tried in a smaller form so often at most."""

SHRINKING = 8.0
"""Nor for longer than so many seconds."""

ALIKE = 3
"""After so many failures of one sort, a row is tried no further."""

BEFORE = 4
"""So many earlier trials are tried before one that fails only after others."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much is tried: so many trials, or for so many seconds, in the order that `seed` gives."""

    trials: int | None = 200
    seconds: float | None = None
    seed: int = 0


class Failure(NamedTuple):
    """What went wrong: `sort` is `accepted`, `other reason`, `died` or `hung`.

    `trials` is the one that did, after those that have to come before it.
    """

    row: Row
    sort: str
    said: str
    trials: tuple[Trial, ...]


class Verdict(NamedTuple):
    """What came of a session: the index of the trial at which it ended, and how; -1 before any."""

    index: int
    sort: str
    said: str
    result: Result


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
    tally: Tally = field(init=False)
    _began: float = field(default_factory=time.monotonic)
    _sessions: int = 0

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
            before, began = self.tally.tried, time.monotonic()
            said = self._row(row, len(rows) - number)
            took = time.monotonic() - began
            yield f"{row.kind}: {self.tally.tried - before} tried, {said} ({took:.1f} s)"

    def _row(self, row: Row, rows_left: int) -> str:
        unmet = difference(dict(row.needs), self.plan.ics)
        if unmet:
            return f"not applicable: the ICS does not say what this needs: {unmet}"
        with tempfile.TemporaryDirectory() as folder:
            desk = Desk(replace(self.plan, out=Path(folder)), row, self.campaign)
            bench, said = desk.prepared()
            if bench is None:
                self.tally.inconclusive.append(f"{row.kind}: {said}")
                return said
            return self._trials(desk, bench, rows_left)

    def _trials(self, desk: Desk, bench: Bench, rows_left: int) -> str:
        waiting = spoiling.trials(bench)
        random.Random(f"{self.budget.seed} {desk.row.kind}").shuffle(waiting)
        share = self._share(len(waiting), rows_left)
        self.tally.left += len(waiting) - share
        waiting, sorts = waiting[:share], dict[str, int]()
        until = self._until(rows_left)
        while waiting and time.monotonic() < until and all(count < ALIKE for count in sorts.values()):
            waiting = self._session(desk, waiting[:TOGETHER], sorts) + waiting[TOGETHER:]
        self.tally.left += len(waiting)
        failed = ", ".join(f"{count} {sort}" for sort, count in sorts.items())
        return failed or "all refused"

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
        done = trials if verdict.index < 0 and not verdict.sort else trials[: max(verdict.index, 0)]
        self._well(done)
        if not verdict.sort:
            self._record(desk, verdict.result)
            return []
        here = max(verdict.index, 0)
        self.tally.tried += 1
        self._look(desk, trials, here, verdict, sorts)
        return trials[here + 1 :]

    def _well(self, trials: Sequence[Trial]) -> None:
        self.tally.tried += len(trials)
        self.tally.survived += sum(trial.is_valid for trial in trials)
        self.tally.refused += sum(not trial.is_valid for trial in trials)

    def _record(self, desk: Desk, result: Result) -> None:
        """A session that went well, as a scenario of the report."""
        name = f"fuzz-{desk.row.kind}-{self._sessions}"
        kept = f"transcripts/{name}.jsonl"
        for path in (self.plan.out / kept, desk.plan.out / result.transcript):
            path.parent.mkdir(parents=True, exist_ok=True)
        (self.plan.out / kept).write_bytes((desk.plan.out / result.transcript).read_bytes())
        scenario = replace(result.scenario, name=name)
        told = replace(result, scenario=scenario, transcript=kept, stderr="")
        self.campaign.record(desk.announced(told, self.plan))

    def _look(
        self, desk: Desk, trials: list[Trial], here: int, verdict: Verdict, sorts: dict[str, int]
    ) -> None:
        """What to make of a trial that did not go well."""
        if verdict.sort in sorts:
            sorts[verdict.sort] += 1
            self.tally.further += 1
            return
        failure = desk.isolated(trials[:here], trials[here])
        if failure is None:
            self.tally.inconclusive.append(f"{desk.row.kind}: {trials[here].said}: {verdict.said}")
            return
        sorts[failure.sort] = sorts.get(failure.sort, 0) + 1
        failure = desk.shrunk(failure)
        self.tally.failures.append(self._written(desk, failure))

    def _written(self, desk: Desk, failure: Failure) -> dict[str, Any]:
        """The failure as a scenario file that shows it again, and its row of the report."""
        name = f"fuzz-{failure.row.kind}-{failure.sort.replace(' ', '-')}"
        path = self.plan.out / "fuzz" / f"{name}.yaml"
        run = reproducing.recorded(self.campaign, desk, failure, name, path)
        last = failure.trials[-1]
        return {
            "kind": failure.row.kind,
            "sort": failure.sort,
            "message": failure.said,
            "location": last.location,
            "keyword": last.keyword,
            "pointer": last.pointer,
            "scenario": str(path.relative_to(self.plan.out)),
            "transcript": run.transcript,
            "text": last.text,
            "twin": last.twin,
        }


class Desk:
    """Where the sessions of one row are held; what is tried leaves nothing in the report."""

    def __init__(self, plan: Plan, row: Row, campaign: Campaign) -> None:
        self.plan, self.row, self.campaign = plan, row, campaign
        self.role = plan.pack.peer_of(plan.role)
        self.opening = refusals.opening(plan.pack, self.role, row)
        self.bench: Bench | None = None
        self.valid = ""

    def prepared(self) -> tuple[Bench | None, str]:
        """What messages are made with, once a valid one was seen to be taken; else why it was not."""
        names: dict[str, Any] = {}
        if self.opening:
            result = self.run(self._scenario("fuzz", []), self.plan)
            if result.status != "passed":
                return None, f"the state is not reached: {result.reason}"
            names = dict(result.names)
        bench = Bench(self.plan.pack, self.row, self.plan.ics, names)
        text = bench.named(refusals.written(bench.valid))
        if text is None:
            return None, "the valid message does not say what it is about"
        self.valid = text
        result = self.run(self.scenario([], "fuzz"), self.plan)
        if result.status != "passed":
            return None, f"the valid message is not taken: {result.reason}"
        self.bench = bench
        return bench, ""

    # ── sessions ──────────────────────────────────────────────────────────────────────────────────

    def scenario(self, trials: Sequence[Trial], name: str) -> Scenario:
        """The opening, the valid message, and the trials; a step's line is ten times its trial's number."""
        rows = [(0, row) for row in refusals.control(self.row, self.valid)]
        for number, trial in enumerate(trials, 1):
            steps = list(refusals.steps(self.row, trial))
            first = next(index for index, step in enumerate(steps) if "raw" in step)
            rows += [(10 * number + (index == first), step) for index, step in enumerate(steps)]
        return self._scenario(name, rows)

    def _scenario(self, name: str, rows: list[tuple[int, dict[str, Any]]]) -> Scenario:
        steps = tuple(Step(next(iter(row)), row, line) for line, row in rows)
        title = f"Negative tests of {self.row.kind}"
        opening = tuple(replace(step, line=0) for step in self.opening)
        return Scenario(name, title, self.role, (REFUSAL,), opening + steps)

    def run(self, scenario: Scenario, plan: Plan) -> Result:
        """Run it once."""
        return run_one(plan, scenario)

    def tried(self, trials: Sequence[Trial]) -> Verdict:
        """What came of a session of these trials."""
        result = self.run(self.scenario(trials, "fuzz"), self.plan)
        index = result.line // 10 - 1
        if result.status == "passed":
            return Verdict(-1, "", "", result)
        if index < 0:
            return Verdict(index, "unclear", result.reason, result)
        sort = self._sort(result)
        return Verdict(index, sort, result.reason, result)

    def _sort(self, result: Result) -> str:
        """How a session ended in which something was not as it has to be."""
        path = self.plan.out / result.transcript
        events = list(records.open_record(path.read_bytes(), str(path), self.plan.pack).events)
        if result.status == "failed":
            return self._contradiction(result, events)
        if any(isinstance(one, Closed) and one.by == self.plan.role for one in events):
            return "died"
        return "hung" if "did not come within" in result.reason else "unclear"

    def _contradiction(self, result: Result, events: list[Event]) -> str:
        """What a message that came instead of another says."""
        seq = next((one.seq for one in result.findings if not one.ok), 0)
        correlator = Correlator(self.plan.pack)
        for event in events:
            if isinstance(event, Sent | Received):
                message = correlator.message(event)
                if event.seq == seq:
                    return "accepted" if message.is_a(list(self.row.accepted)) else "other reason"
            elif isinstance(event, Malformed) and event.seq == seq:
                return "other reason"
        return "died"

    # ── failures ──────────────────────────────────────────────────────────────────────────────────

    def isolated(self, earlier: list[Trial], trial: Trial) -> Failure | None:
        """The failure with as little before it as it needs; None where nothing can be said."""
        alone = self.tried([trial])
        if alone.sort in ("accepted", "other reason", "died"):
            return self._failure(alone, (trial,))
        if alone.sort:
            return self._hung(trial, alone)
        for before in reversed(earlier[-BEFORE:]):
            found = self.tried([before, trial])
            if found.sort in ("accepted", "other reason", "died") and found.index == 1:
                return self._failure(found, (before, trial))
        found = self.tried([*earlier, trial])
        is_it = found.sort in ("accepted", "other reason", "died") and found.index == len(earlier)
        return self._failure(found, (*earlier, trial)) if is_it else None

    def _hung(self, trial: Trial, alone: Verdict) -> Failure | None:
        """A hang, where the twin alone is taken; where it is not, nothing can be said."""
        twin = replace(trial, text=trial.twin, keyword="", bad=None, value={})
        if alone.sort != "hung" or self.tried([twin]).sort:
            return None
        return self._failure(alone, (trial,))

    def _failure(self, verdict: Verdict, trials: tuple[Trial, ...]) -> Failure:
        first = f"{trials[-1].said}: "
        after = " (only after another message that was refused)" if len(trials) > 1 else ""
        return Failure(self.row, verdict.sort, f"{first}{verdict.said}{after}", trials)

    def shrunk(self, failure: Failure) -> Failure:
        """The same failure with less in its messages, as far as a bounded number of tries leads."""
        assert self.bench is not None
        until, tries = time.monotonic() + SHRINKING, SHRINKS
        for place in reversed(range(len(failure.trials))):
            again = True
            while again:
                again = False
                for trial in spoiling.smaller(self.bench, failure.trials[place]):
                    if not tries or time.monotonic() > until:
                        return failure
                    tries -= 1
                    trials = (*failure.trials[:place], trial, *failure.trials[place + 1 :])
                    found = self.tried(trials)
                    if found.sort == failure.sort and found.index == len(trials) - 1:
                        failure, again = self._failure(found, trials), True
                        break
        return failure

    # ── what the kit broke ────────────────────────────────────────────────────────────────────────

    def announced(self, result: Result, plan: Plan) -> Result:
        """The result with what its trials broke, as the kit's own checks see it, announced."""
        evidence = evaluation.judge(plan.out / result.transcript, plan.pack, plan.role)
        broken: dict[int, set[str]] = {}
        for one in evidence.ours:
            broken.setdefault(one.seq, set()).add(one.requirement)
        said = tuple(
            one._replace(breaks=tuple(sorted(broken.get(one.seq, ())))) if one.line % 10 else one
            for one in result.said
        )
        return replace(result, said=said)


def judged(campaign: Campaign, result: Result) -> evaluation.Run:
    """The run as the report has it."""
    return run_of(campaign.plan, result)
