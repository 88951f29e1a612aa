"""Collection by pytest: a pack's scenarios as collectors, and each requirement of one as an item.

Loaded only when `--conformance` names a protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from conformance.certification import Certification
from conformance.errors import BadScenario, ConformanceError
from conformance.excerpt import pointed
from conformance.findings import Finding, Requirement, Verdict, verdict_of
from conformance.report import verdicts
from conformance.report.evaluation import Run
from conformance.scenarios import Scenario, load

RUN = pytest.StashKey[Certification]()

REST = "everything else"
"""The item of a scenario that speaks for all requirements that the scenario does not name."""

SUFFIX = ".conformance.yaml"

TROUBLE = ("unreachable", "error", "interrupted")
"""How a scenario ends that says nothing about the implementation."""


class PackNode(pytest.Collector):
    """The pack, above its scenarios."""

    def collect(self) -> list[Any]:
        """Nothing by itself: its scenarios are added when collection is over."""
        return []


class ScenarioNode(pytest.Collector):
    """One scenario; it is run when the first of its items is."""

    scenario: Scenario

    @classmethod
    def of(cls, parent: pytest.Collector, scenario: Scenario) -> ScenarioNode:
        """The collector of a scenario."""
        nodeid = f"{parent.nodeid}::{scenario.name}"
        node: ScenarioNode = cls.from_parent(parent, name=scenario.name, nodeid=nodeid)
        node.scenario = scenario
        return node

    def collect(self) -> list[RequirementItem]:
        """An item for each requirement that the scenario names, and one for all others."""
        wanted = self.config.stash[RUN].selected
        items = _items(self, self.scenario)
        return [item for item in items if not wanted or any(_is_below(item, names) for names in wanted)]

    def __repr__(self) -> str:
        """As `--collect-only` shows it."""
        return f"<Scenario {self.name}: {self.scenario.title}>"


class ScenarioFile(pytest.File):
    """A user's own scenario file."""

    def collect(self) -> list[RequirementItem]:
        """As for a pack's own scenario; a mistake in the file is a collection error."""
        run = self.config.stash[RUN]
        try:
            scenario = load(self.path, run.campaign.plan.pack)
        except BadScenario as error:
            raise self.CollectError("\n".join((str(error), *pointed(error, 100)))) from None
        return list(_items(self, run.own(self.path, self.config.rootpath, scenario)))


def _items(node: pytest.Collector, scenario: Scenario) -> Iterator[RequirementItem]:
    requirements = node.config.stash[RUN].campaign.plan.pack.requirements
    for name in scenario.requirements:
        yield RequirementItem.of(node, scenario, name, requirements[name])
    yield RequirementItem.of(node, scenario, REST, None)


class RequirementItem(pytest.Item):
    """One requirement in one scenario; without a requirement, all those that the scenario does not name."""

    scenario: Scenario
    requirement: Requirement | None
    run: Run | None = None
    """The scenario's run, once there is one."""

    @classmethod
    def of(
        cls, parent: pytest.Collector, scenario: Scenario, name: str, requirement: Requirement | None
    ) -> RequirementItem:
        """The item of a requirement."""
        item: RequirementItem = cls.from_parent(parent, name=name)
        item.scenario, item.requirement = scenario, requirement
        level = requirement.level.value if requirement else ""
        facts = {"requirement": requirement.id if requirement else "", "level": level}
        facts["scenario"] = scenario.name
        item.add_marker(pytest.mark.conformance(**facts))
        # With --dist loadgroup, the items of one scenario stay with one worker.
        item.add_marker(pytest.mark.xdist_group(f"conformance:{scenario.name}"))
        item.user_properties += facts.items()
        return item

    def setup(self) -> None:
        """Run the scenario, unless it was; trouble of the kit is an error of this item, not a failure."""
        try:
            self.run = self.config.stash[RUN].run(self.scenario)
        except ConformanceError as error:
            pytest.fail(str(error), pytrace=False)
        if self.run.status in TROUBLE:
            self.user_properties.append(("verdict", self.run.status))
            pytest.fail(self.run.reason, pytrace=False)

    def runtest(self) -> None:
        """Pass, fail or skip as the requirement's verdict in this scenario says."""
        verdict, reason, told = self._judged()
        self.user_properties.append(("verdict", verdict))
        if verdict == "fail":
            self._expect()
            pytest.fail("\n".join(told), pytrace=False)
        if verdict == "inconclusive":
            pytest.fail(f"inconclusive: {reason}", pytrace=False)
        if verdict == "warn":
            self.add_report_section("call", "warning", "\n".join(told))
        if verdict in ("untested", "not-applicable"):
            pytest.skip(f"{verdict}: {reason}")

    def _expect(self) -> None:
        """End as xfailed where the baseline knows all that is broken."""
        broken = {one.requirement for one in self.against()}
        known = self.config.stash[RUN].expected(broken, self.scenario.name)
        if known:
            pytest.xfail(known)

    def _judged(self) -> tuple[str, str, list[str]]:
        assert self.run is not None
        if self.requirement is None:
            return verdicts.elsewhere(self.run, self.config.stash[RUN].campaign.plan.pack)
        return verdicts.in_scenario(self.run, self.requirement)

    def against(self) -> list[Finding]:
        """The findings for which the item fails or warns."""
        known = self.config.stash[RUN].campaign.plan.pack.requirements
        found = self.run.evidence.findings if self.run else []
        return [one for one in found if not one.ok and one.requirement in known and self._is_mine(one, known)]

    def _is_mine(self, one: Finding, known: dict[str, Requirement]) -> bool:
        if self.requirement is not None:
            return one.requirement == self.requirement.id
        fails = verdict_of(one, known[one.requirement].level) is Verdict.FAIL
        return fails and one.requirement not in self.scenario.requirements

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the scenario proves it, for the headline of a failure and for editors."""
        lines = (step.line for step in self.scenario.steps if self.name in step.proves)
        return Path(self.scenario.path), max(0, next(lines, 1) - 1), f"{self.scenario.name}: {self.name}"

    def __repr__(self) -> str:
        """As `--collect-only` shows it."""
        if self.requirement is None:
            return f"<Requirement {self.name}: no other requirement is broken>"
        return f"<Requirement {self.name} ({self.requirement.level.value}): {self.requirement.summary}>"


# ── what is collected ────────────────────────────────────────────────────────────────────────────


def take_arguments(config: pytest.Config, run: Certification) -> None:
    """Take the nodes of the pack from the arguments, for pytest knows files alone.

    `PACK`, `PACK::SCENARIO` and `PACK::SCENARIO::REQUIREMENT` select. Who names files or tests of their
    own and nothing of the pack wants those alone; a folder, or nothing, is everything.
    """
    name = run.campaign.plan.pack.name
    named = [argument for argument in config.args if argument.split("::")[0] == name]
    others = [argument for argument in config.args if argument not in named]
    run.selected = [argument.split("::")[1:] for argument in named]
    given = config.args_source is pytest.Config.ArgsSource.ARGS
    run.collects_pack = bool(named) or not (given and all(map(_is_narrow, others)))
    config.args[:] = others


def _is_narrow(argument: str) -> bool:
    return "::" in argument or Path(argument).is_file()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the user's own scenarios, `*.conformance.yaml`."""
    return ScenarioFile.from_parent(parent, path=file_path) if file_path.name.endswith(SUFFIX) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[Any]) -> None:
    """Add the pack's scenarios to whatever else was collected, before -k and -m select."""
    run = config.stash[RUN]
    if run.collects_pack:
        items.extend(_of_pack(session, run))
    left_out = [item for item in items if not _concerns(item, run.requirements)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def _of_pack(session: pytest.Session, run: Certification) -> list[RequirementItem]:
    """The items of the pack that the arguments name; a UsageError where an argument names nothing."""
    name, found = run.campaign.plan.pack.name, list[RequirementItem]()
    pack = PackNode.from_parent(session, name=name, nodeid=name)
    for scenario in run.campaign.scenarios:
        if not run.selected or any(one[:1] in ([], [scenario.name]) for one in run.selected):
            node = ScenarioNode.of(pack, scenario)
            # As pytest itself collects a node, so that its counts and reports know of these items too.
            report = node.ihook.pytest_make_collect_report(collector=node)
            node.ihook.pytest_collectreport(report=report)
            found += report.result
    for wanted in run.selected:
        if not any(_is_below(item, wanted) for item in found):
            raise pytest.UsageError(f"not found: {'::'.join([name, *wanted])}")
    return found


def _is_below(item: RequirementItem, names: list[str]) -> bool:
    return [item.scenario.name, item.name][: len(names)] == names


def _concerns(item: pytest.Item, globs: tuple[str, ...]) -> bool:
    """Whether the item is of such a requirement; tests of the user's own are not selected by it."""
    if not globs or not isinstance(item, RequirementItem):
        return True
    return any(fnmatchcase(item.name, glob) for glob in globs)


def needs_implementation(item: pytest.Item) -> bool:
    """Whether running the item reaches the implementation."""
    is_ours = item.get_closest_marker("conformance") is not None
    return is_ours or "conformance_session" in getattr(item, "fixturenames", ())
