"""One run of pytest against one implementation: on the controller, and on each worker of pytest-xdist.

Whichever process runs a scenario puts it on record, and what is on record is the report: it is written
anew after each scenario, so that whatever ends the run leaves on disk what was seen until then.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from conformance.campaign import Campaign, run_of
from conformance.ledger import Ledger
from conformance.live import LiveSession
from conformance.report.evaluation import Run
from conformance.runner import Interrupted, Result, ended_early, run_one
from conformance.scenarios import Scenario

STEM = 60
"""So many characters of what a session is called stand in the names of its files."""


def own_name(called: str) -> str:
    """The name of a scenario or session of the user's own: no pack's scenario, and no other, has it."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", called).strip("-.")[-STEM:]
    return f"own-{stem}-{hashlib.sha256(called.encode()).hexdigest()[:6]}"


class Certification:
    """The campaign of one run of pytest, `uid` its name in every process of the run.

    `requirements` are globs: items of other requirements are left out.
    """

    def __init__(
        self, campaign: Campaign, uid: str, *, is_controller: bool, requirements: tuple[str, ...] = ()
    ) -> None:
        self.campaign = campaign
        self.uid = uid
        self.requirements = requirements
        self.is_controller = is_controller
        self.selected: list[list[str]] = []
        """The nodes of the pack that the command line names, each as the names below the pack's."""
        self.collects_pack = True
        self._ledger = Ledger(campaign.plan.out, uid)
        self._runs: dict[str, Run] = {}

    def begin(self) -> None:
        """Make room for the report, unless a process of this run did; it is on disk from then on, and not
        complete. Raises UsageError where it cannot be written.
        """
        if not self._ledger.has_begun:
            self.campaign.clear()
            self.campaign.write(complete=False)
            self._ledger.begin()

    def run(self, scenario: Scenario) -> Run:
        """The scenario's run: carried out now, unless it was before, here or in another process."""
        return self._run_of(self._result(scenario))

    def _result(self, scenario: Scenario) -> Result:
        peer = self.campaign.plan.pack.peer_of(self.campaign.plan.role)
        if scenario.role != peer:
            said = f"in it the kit plays the {scenario.role}, and in this run it plays the {peer}"
            return Result(scenario, "not-applicable", said)
        names = {known.name for known in self.campaign.scenarios}
        for earlier in self._ledger.results(self.campaign.scenarios):
            name = earlier.scenario.name
            if name in names and name != scenario.name and ended_early(earlier):
                return earlier.instead_of(scenario)
        return self._ledger.once(scenario, self._carrying_out(scenario))

    def _carrying_out(self, scenario: Scenario) -> Callable[[], Result]:
        def carry_out() -> Result:
            self.begin()
            try:
                result = run_one(self.campaign.plan, scenario)
            except Interrupted as interrupt:
                self._enter(interrupt.result)
                raise
            self._enter(result)
            return result

        return carry_out

    @contextmanager
    def session(self, called: str) -> Iterator[LiveSession]:
        """A session that a test drives; it is on record when it is over."""
        with self._ledger.exclusively():
            self.begin()
            session = LiveSession(self.campaign.plan, own_name(called), called)
            try:
                yield session
            finally:
                self._enter(session.close())

    def negatively(self, carry_out: Callable[[Campaign], list[Result]]) -> dict[str, Any]:
        """What negative tests show of the implementation, whose sessions go on record."""
        with self._ledger.exclusively():
            self.begin()
            alone = replace(self.campaign, scenarios=[], runs=[])
            for result in carry_out(alone):
                self._ledger.enter(result)
            assert alone.fuzz is not None, "what is finished has a tally"
            self._ledger.keep(alone.fuzz)
            self._gather()
            self.campaign.write(complete=False)
            return alone.fuzz

    def _enter(self, result: Result) -> None:
        """Put a result on record and write the report; only ever under the ledger's lock."""
        self._ledger.enter(result)
        self._gather()
        self.campaign.write(complete=False)

    def _gather(self) -> list[Result]:
        """Take over everything that is on record."""
        results = self._ledger.results(self.campaign.scenarios)
        self.campaign.runs = [self._run_of(result) for result in results]
        self.campaign.fuzz = self._ledger.kept()
        return results

    def _run_of(self, result: Result) -> Run:
        name = result.scenario.name
        known = self._runs.get(name)
        if known is None or (known.status, known.transcript) != (result.status, result.transcript):
            known = self._runs[name] = run_of(self.campaign.plan, result)
        return known

    def finish(self) -> dict[str, Any] | None:
        """Write the report from everything that was run, by whichever process; None if nothing was to be."""
        if not self._ledger.has_begun:
            self._ledger.remove()
            return None
        ran = {result.scenario.name for result in self._gather() if result.status != "interrupted"}
        value = self.campaign.write(complete=all(one.name in ran for one in self.campaign.scenarios))
        self._ledger.remove()
        return value

    def expected(self, broken: Collection[str], scenario: str) -> str:
        """Why all these requirements are known to fail in the scenario; empty where one of them is not."""
        known = self.campaign.known
        entries = known.entries if known else ()
        found: dict[str, str] = {}
        for entry in entries:
            is_due = known is not None and date.fromisoformat(entry.expires) < known.today
            if entry.requirement in broken and entry.scenario in ("", scenario) and not is_due:
                found[entry.requirement] = f"known until {entry.expires}: {entry.reason}"
        return "; ".join(found.values()) if set(found) == set(broken) else ""

    def own(self, path: Path, root: Path, scenario: Scenario) -> Scenario:
        """A scenario of the user's own under a name of its own: two folders may have files of one name."""
        called = path.relative_to(root) if path.is_relative_to(root) else path
        return replace(scenario, name=own_name(called.as_posix().removesuffix(".conformance.yaml")))
