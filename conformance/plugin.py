"""The pytest plugin: a pack's scenarios as collectors, its requirements as items, no test file needed.

    pytest --conformance PROTOCOL --conformance-target TARGET --conformance-report DIR

Only what pytest itself has is imported here, since this module is loaded in every run of pytest on
the machine; the rest of the kit is imported when `--conformance` asks for it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conformance.campaign import Campaign
    from conformance.ledger import Ledger
    from conformance.live import LiveSession
    from conformance.packs import Pack
    from conformance.report.evaluation import Run
    from conformance.runner import Result
    from conformance.scenarios import Scenario

OPTIONS = {
    "conformance": "the protocol to certify: PROTOCOL or PROTOCOL@REVISION",
    "conformance-target": "the implementation: stdio:COMMAND, ws://…, launch:COMMAND or reference[:FAULT]",
    "conformance-role": "the implementation's role; else the one that the pack certifies",
    "conformance-config": "the ICS (default: conformance.toml, if there is one)",
    "conformance-report": "the folder of the report (default: conformance-report)",
    "conformance-patience": "a factor for every time that the kit waits of its own accord",
}
"""Each is a command-line option, and an ini option with underscores."""

REST = "everything else"
"""The item of a scenario that speaks for all requirements that the scenario does not name."""

RUN = pytest.StashKey["Conformance"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, on the command line and for ini files."""
    group = parser.getgroup("conformance", "conformance of agent protocols")
    for name, text in OPTIONS.items():
        group.addoption(f"--{name}", default=None, metavar=name.rpartition("-")[2].upper(), help=text)
        parser.addini(name.replace("-", "_"), text, default="")


def _option(config: pytest.Config, name: str) -> str:
    given = config.getoption(f"--{name}")
    return str(given if given is not None else config.getini(name.replace("-", "_")))


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the campaign if `--conformance` asks for one."""
    if _option(config, "conformance"):
        config.addinivalue_line("markers", "xdist_group(name): tests that one worker of pytest-xdist runs")
        config.stash[RUN] = Conformance(config)


class Conformance:
    """One run of pytest against one implementation, on the controller and on each worker."""

    def __init__(self, config: pytest.Config) -> None:
        from conformance import campaign, packs
        from conformance.errors import ConformanceError
        from conformance.ledger import Ledger

        try:
            self.campaign: Campaign = campaign.prepare(_request(config, campaign, packs))
        except ConformanceError as error:
            raise pytest.UsageError(str(error)) from None
        worker = getattr(config, "workerinput", None)
        self.is_controller = worker is None
        self.uid: str = worker["conformance_uid"] if worker else secrets.token_hex(6)
        self.ledger: Ledger = Ledger(self.campaign.plan.out, self.uid)
        self.has_begun = False
        self._runs: dict[str, Run] = {}

    def begin(self) -> None:
        """Make room for the report, which is on disk, not complete, from the start."""
        from conformance.errors import UsageError

        try:
            self.campaign.clear()
            self.campaign.write(complete=False)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
        self.has_begun = True

    def run(self, scenario: Scenario) -> Run:
        """The scenario's run: carried out now, unless it was before, here or in another process."""
        from conformance.campaign import run_of

        if scenario.name not in self._runs:
            self._runs[scenario.name] = run_of(self.campaign.plan, self._result(scenario))
        return self._runs[scenario.name]

    def _result(self, scenario: Scenario) -> Result:
        from conformance.runner import ended_early, run_one

        names = {known.name for known in self.campaign.scenarios}
        for earlier in self.ledger.results(self.campaign.scenarios):
            name = earlier.scenario.name
            if name in names and name != scenario.name and ended_early(earlier):
                return earlier.instead_of(scenario)
        return self.ledger.once(scenario, lambda: run_one(self.campaign.plan, scenario))

    def finish(self) -> dict[str, Any]:
        """Write the report from everything that was run, by whichever process."""
        results = self.ledger.results(self.campaign.scenarios)
        for result in results:
            self.campaign.record(result)
        ran = {result.scenario.name for result in results}
        value = self.campaign.write(complete=all(one.name in ran for one in self.campaign.scenarios))
        self.ledger.remove()
        return value


def _request(config: pytest.Config, campaign: Any, packs: Any) -> Any:
    named = _option(config, "conformance-config")
    patience = _option(config, "conformance-patience") or "1"
    try:
        factor = float(patience)
    except ValueError:
        raise pytest.UsageError(f"--conformance-patience is a number, and {patience!r} is none") from None
    here = config.invocation_params.dir
    return campaign.Request(
        packs.find(_option(config, "conformance")),
        _option(config, "conformance-target"),
        _option(config, "conformance-role"),
        here / named if named else None,
        here / (_option(config, "conformance-report") or "conformance-report"),
        factor,
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Before the first test runs, remove what an earlier run left; to list tests touches nothing."""
    run = session.config.stash.get(RUN, None)
    broken = session.testsfailed and not session.config.option.continue_on_collection_errors
    # The controller of xdist collects nothing itself.
    nothing = not session.testscollected and not session.config.pluginmanager.hasplugin("dsession")
    idle = session.config.option.collectonly or broken or nothing
    if run is not None and run.is_controller and not idle:
        run.begin()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell each worker of pytest-xdist where the processes of this run meet."""
    run = node.config.stash.get(RUN, None)
    if run is not None:
        node.workerinput["conformance_uid"] = run.uid


# ── collection ───────────────────────────────────────────────────────────────────────────────────


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[Any]) -> None:
    """Add the pack's scenarios to whatever else was collected, before -k and -m select."""
    run = config.stash.get(RUN, None)
    if run is None:
        return
    name = run.campaign.plan.pack.name
    pack = PackNode.from_parent(session, name=name, nodeid=name)
    for scenario in run.campaign.scenarios:
        node = ScenarioNode.of(pack, scenario)
        # As pytest itself collects a node, so that its counts and reports know of these items too.
        report = node.ihook.pytest_make_collect_report(collector=node)
        node.ihook.pytest_collectreport(report=report)
        items.extend(report.result)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the user's own scenarios, `*.conformance.yaml`."""
    if file_path.name.endswith(".conformance.yaml") and RUN in parent.config.stash:
        return ScenarioFile.from_parent(parent, path=file_path)
    return None


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
        node: ScenarioNode = cls.from_parent(
            parent, name=scenario.name, nodeid=f"{parent.nodeid}::{scenario.name}"
        )
        node.scenario = scenario
        return node

    def collect(self) -> list[RequirementItem]:
        """An item for each requirement that the scenario names, and one for all others."""
        return _items(self, self.scenario)


class ScenarioFile(pytest.File):
    """A user's own scenario file."""

    def collect(self) -> list[RequirementItem]:
        """As for a pack's own scenario; a mistake in the file is a collection error."""
        from conformance import scenarios
        from conformance.errors import BadScenario
        from conformance.excerpt import pointed

        try:
            scenario = scenarios.load(self.path, self.config.stash[RUN].campaign.plan.pack)
        except BadScenario as error:
            raise self.CollectError("\n".join((str(error), *pointed(error, 100)))) from None
        return _items(self, scenario)


def _items(node: pytest.Collector, scenario: Scenario) -> list[RequirementItem]:
    return [RequirementItem.of(node, scenario, name) for name in (*scenario.requirements, REST)]


class RequirementItem(pytest.Item):
    """One requirement in one scenario."""

    scenario: Scenario

    @classmethod
    def of(cls, parent: pytest.Collector, scenario: Scenario, name: str) -> RequirementItem:
        """The item of a requirement."""
        item: RequirementItem = cls.from_parent(parent, name=name)
        item.scenario = scenario
        # With --dist loadgroup, the items of one scenario stay with one worker.
        item.add_marker(pytest.mark.xdist_group(f"conformance:{scenario.name}"))
        return item

    def setup(self) -> None:
        """Run the scenario, unless it was; trouble of the kit is an error of this item, not a failure."""
        self._run = self.config.stash[RUN].run(self.scenario)
        if self._run.status in ("unreachable", "error", "interrupted"):
            pytest.fail(self._run.reason, pytrace=False)

    def runtest(self) -> None:
        """Pass, fail or skip as the requirement's verdict in this scenario says."""
        from conformance.report import verdicts

        run = self.config.stash[RUN]
        pack = run.campaign.plan.pack
        if self.name == REST:
            verdict, reason, told = verdicts.elsewhere(self._run, pack)
        else:
            verdict, reason, told = verdicts.in_scenario(self._run, pack.requirements[self.name])
        if verdict == "fail":
            pytest.fail("\n".join(told), pytrace=False)
        if verdict == "inconclusive":
            pytest.fail(f"inconclusive: {reason}", pytrace=False)
        if verdict in ("untested", "not-applicable"):
            pytest.skip(f"{verdict}: {reason}")

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the scenario stands, for the headline of a failure."""
        return Path(self.scenario.path), None, f"{self.scenario.name}: {self.name}"


# ── the end ──────────────────────────────────────────────────────────────────────────────────────


REPORT = pytest.StashKey[dict[str, Any]]()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report, on the controller alone."""
    run = session.config.stash.get(RUN, None)
    if run is not None and run.has_begun:
        session.config.stash[REPORT] = run.finish()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """End with the claim and where the report is."""
    report = config.stash.get(REPORT, None)
    if report is None:
        return
    counts = report["claim"]["counts"]
    terminalreporter.section("conformance")
    terminalreporter.write_line(", ".join(f"{count} {word}" for word, count in counts.items() if count))
    terminalreporter.write_line(f"claim: {report['claim']['status']}")
    terminalreporter.write_line(report["claim"]["wording"])
    terminalreporter.write_line(f"report: {config.stash[RUN].campaign.path}")


# ── fixtures ─────────────────────────────────────────────────────────────────────────────────────


def _of(request: pytest.FixtureRequest) -> Conformance:
    run = request.config.stash.get(RUN, None)
    if run is None:
        pytest.skip("no --conformance PROTOCOL was given")
    return run


@pytest.fixture(scope="session")
def conformance_pack(request: pytest.FixtureRequest) -> Pack:
    """The pack that `--conformance` names."""
    return _of(request).campaign.plan.pack


@pytest.fixture(scope="session")
def conformance_target(request: pytest.FixtureRequest) -> str:
    """The target, as given."""
    return _of(request).campaign.target


@pytest.fixture
def conformance_session(request: pytest.FixtureRequest) -> Iterator[LiveSession]:
    """A session with the implementation, driven step by step; see `conformance.live.LiveSession`.

    When the test is over, the transcript is judged as a scenario's is: the test fails if a MUST was
    broken in it, and the report counts what it showed.
    """
    import re

    from conformance.errors import ConformanceError
    from conformance.live import LiveSession
    from conformance.report import verdicts

    run = _of(request)
    name = "own-" + re.sub(r"[^A-Za-z0-9._-]+", "-", request.node.nodeid).strip("-")
    with run.ledger.exclusively():
        try:
            session = LiveSession(run.campaign.plan, name, request.node.nodeid)
        except ConformanceError as error:
            pytest.fail(str(error), pytrace=False)
        try:
            yield session
        finally:
            result = session.close()
            run.ledger.enter(result)
    verdict, _, told = verdicts.elsewhere(run.run(result.scenario), run.campaign.plan.pack)
    if verdict == "fail":
        pytest.fail("\n".join(told), pytrace=False)
