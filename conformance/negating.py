"""Negative tests by pytest: one item beside those of the scenarios, where it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.certification import Certification
from conformance.collecting import RUN
from conformance.errors import ConformanceError
from conformance.fuzzing import Budget, Fuzz
from conformance.generation import refusals
from conformance.generation.refusals import REFUSAL

HOW = pytest.StashKey[Budget]()

NAME = "fuzz"


class NegativeItem(pytest.Item):
    """All negative tests of the implementation; it fails where any does."""

    def runtest(self) -> None:
        """Try everything that the budget allows; what could not be decided is no success either."""
        tally = self._tried()
        self.add_report_section("call", NAME, f"seed {tally['seed']}: {tally['tried']} tried")
        if tally["failures"]:
            rows = (f"{one['kind']}, {one['sort']}: {one['message']}" for one in tally["failures"])
            pytest.fail("\n".join(rows), pytrace=False)
        if tally["inconclusive"]:
            pytest.fail("\n".join(f"inconclusive: {one}" for one in tally["inconclusive"]), pytrace=False)
        if not tally["tried"]:
            pytest.skip("not-applicable: nothing could be tried")

    def _tried(self) -> dict[str, Any]:
        run = self.config.stash[RUN]
        try:
            return run.negatively(lambda campaign: _finished(campaign, self.config.stash[HOW]))
        except ConformanceError as error:
            pytest.fail(str(error), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The headline of a failure."""
        return self.path, None, f"{NAME}: {REFUSAL}"


def _finished(campaign: Any, how: Budget) -> Any:
    fuzz = Fuzz(campaign, how)
    fuzz.finish()
    return fuzz.results


def _item(session: pytest.Session, run: Certification) -> NegativeItem:
    name = f"{run.campaign.plan.pack.name}::{NAME}"
    item: NegativeItem = NegativeItem.from_parent(session, name=NAME, nodeid=name)
    item.add_marker(pytest.mark.conformance(requirement=REFUSAL, level="MUST", scenario=NAME))
    return item


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[Any]) -> None:
    """Add the item where everything of the pack is collected, and the pack says what to try."""
    run = config.stash[RUN]
    plan = run.campaign.plan
    if run.collects_pack and not run.selected and refusals.rows(plan.pack, plan.role):
        items.append(_item(session, run))
