"""Sessions of negative tests: what one shows, and what it takes to show it again.

A failure is tried alone, and where it then goes well, after a message that came before it; and then with
less and less in its messages, for as long as it still fails in the same way.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from conformance import records
from conformance.bindings import Now, written
from conformance.correlation import Correlator
from conformance.events import Closed, Event, Malformed, Received, Sent
from conformance.generation import refusals, spoiling
from conformance.generation.refusals import REFUSAL, Bench, Row, Trial
from conformance.report import evaluation
from conformance.runner import Plan, Result, run_one
from conformance.scenarios import Scenario, Step
from conformance.waiting import fits

SHRINKS = 24
"""A failing trial is tried in a smaller form so often at most."""

BEFORE = 4
"""So many earlier trials are tried before one that fails only after others."""


class Failure(NamedTuple):
    """What went wrong: `sort` is `accepted`, `other reason`, `died` or `hung`.

    `trials` is the one that did, after those that have to come before it.
    """

    row: Row
    sort: str
    said: str
    trials: tuple[Trial, ...]


class Verdict(NamedTuple):
    """What came of a session: the place of the trial at which it ended, and how; -1 before any."""

    place: int
    sort: str
    said: str
    result: Result


def _now() -> Now:
    """The time, which no other text is likely to be."""
    return Now(1.0, datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"))


class Desk:
    """Where the sessions of one row are held; what is tried leaves nothing in the report."""

    def __init__(self, plan: Plan, row: Row) -> None:
        self.plan, self.row = plan, row
        self.role = plan.pack.peer_of(plan.role)
        self.opening = refusals.opening(plan.pack, self.role, row)
        self.bench: Bench | None = None
        self.first: Result | None = None
        """What came of the session in which nothing was broken yet."""
        self.valid = ""

    def prepared(self) -> tuple[Bench | None, str]:
        """What messages are made with, once a valid one was seen to be taken; else why it was not."""
        names: dict[str, Any] = {}
        if self.opening:
            result = self.first = self.run(self._scenario("fuzz", []), self.plan)
            if result.status != "passed":
                return None, f"the state is not reached: {result.reason}"
            names = dict(result.names)
        bench = Bench(self.plan.pack, self.row, self.plan.ics, names, _now())
        text = bench.named(written(bench.valid))
        if text is None:
            return None, "the valid message does not say what it is about"
        self.valid = text
        result = self.first = self.run(self.scenario([], "fuzz"), self.plan)
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
                    taken = any(fits(kind, match, message) for kind, match in self.row.accepted.items())
                    return "accepted" if taken else "other reason"
            elif isinstance(event, Malformed) and event.seq == seq:
                return "other reason"
        return "died"

    # ── failures ──────────────────────────────────────────────────────────────────────────────────

    def isolated(self, earlier: list[Trial], trial: Trial) -> Failure | None:
        """The failure with as little before it as it needs; None where nothing can be said."""
        alone = self.tried([trial])
        if alone.sort == "died" and not self._is_twin_taken(trial):
            return None  # it ends anyway, whatever is sent
        if alone.sort in ("accepted", "other reason", "died"):
            return self._failure(alone, (trial,))
        if alone.sort:
            return self._hung(trial, alone)
        for before in reversed(earlier[-BEFORE:]):
            found = self.tried([before, trial])
            if found.sort in ("accepted", "other reason", "died") and found.place == 1:
                return self._failure(found, (before, trial))
        found = self.tried([*earlier, trial])
        is_it = found.sort in ("accepted", "other reason", "died") and found.place == len(earlier)
        return self._failure(found, (*earlier, trial)) if is_it else None

    def _hung(self, trial: Trial, alone: Verdict) -> Failure | None:
        """A hang, where the twin alone is taken; where it is not, nothing can be said."""
        if alone.sort != "hung" or not self._is_twin_taken(trial):
            return None
        return self._failure(alone, (trial,))

    def _is_twin_taken(self, trial: Trial) -> bool:
        """Whether the valid twin alone is taken, and survived."""
        return not self.tried([replace(trial, text=trial.twin, keyword="", bad=None, value={})]).sort

    def _failure(self, verdict: Verdict, trials: tuple[Trial, ...]) -> Failure:
        first = f"{trials[-1].said}: "
        after = " (only after another message that was refused)" if len(trials) > 1 else ""
        return Failure(self.row, verdict.sort, f"{first}{verdict.said}{after}", trials)

    def shrunk(self, failure: Failure, until: float) -> Failure:
        """The same failure with less in its messages, as far as a bounded number of tries leads."""
        assert self.bench is not None
        tries = SHRINKS
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
                    if found.sort == failure.sort and found.place == len(trials) - 1:
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
