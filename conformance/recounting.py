"""What pytest tells of a certification: its header, words, sections and summary; and the report's end.

Loaded only when `--conformance` names a protocol.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance import rendering, surroundings
from conformance.certification import Certification
from conformance.collecting import RUN, TROUBLE, RequirementItem, needs_implementation
from conformance.errors import UsageError
from conformance.live import LiveSession
from conformance.report import evaluation
from conformance.report.text import of_baseline

REPORT = pytest.StashKey[dict[str, Any]]()

WORDS: Mapping[str, tuple[str, str]] = {
    "warn": ("w", "WARNED"),
    "inconclusive": ("F", "INCONCLUSIVE"),
    "unreachable": ("E", "UNREACHABLE"),
}
"""The letter and the word of a verdict, where they differ from those of pytest."""


def pytest_report_header(config: pytest.Config) -> str:
    """Who is tested, and as what."""
    plan = config.stash[RUN].campaign.plan
    target = evaluation.without_credentials(plan.access.hidden(config.stash[RUN].campaign.target))
    return f"conformance: {plan.pack.name}, {plan.role}, {target}"


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Before the first test runs, remove what an earlier run left; to list tests touches nothing.

    The controller of pytest-xdist collects nothing: unless it is sure, the first worker that has to does it.
    """
    run = session.config.stash[RUN]
    broken = session.testsfailed and not session.config.option.continue_on_collection_errors
    distributed = run.collects_pack and session.config.pluginmanager.hasplugin("dsession")
    needed = distributed or any(map(needs_implementation, session.items))
    if not run.is_controller or session.config.option.collectonly or broken or not needed:
        return
    try:
        run.begin()
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell each worker of pytest-xdist where the processes of this run meet."""
    node.workerinput["conformance_uid"] = node.config.stash[RUN].uid


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to a failure what the implementation and the wire said; point a skip to its scenario."""
    report = yield
    run = item.config.stash[RUN]
    if isinstance(item, RequirementItem):
        _of_requirement(report, item, run, call)
    elif report.failed and report.when == "call":
        for session in getattr(item, "funcargs", {}).values():
            if isinstance(session, LiveSession):
                _add_sections(report, run, session.transcript, session.stderr, set())
    return report


def _of_requirement(
    report: pytest.TestReport, item: RequirementItem, run: Certification, call: pytest.CallInfo[None]
) -> None:
    if call.when == "setup" and call.excinfo is not None and hasattr(report, "wasxfail"):
        # It was not tried: that it is known to fail says nothing of a kit or a cable that did.
        del report.wasxfail
        report.outcome = "failed"
    if report.skipped and isinstance(report.longrepr, tuple):
        path, line, _ = item.reportinfo()
        report.longrepr = (str(path), (line or 0) + 1, report.longrepr[2])
    if item.run is not None and report.when != "teardown" and (report.failed or hasattr(report, "wasxfail")):
        out = run.campaign.plan.out
        stderr = out / item.run.stderr if item.run.stderr else None
        meant = {one.seq for one in item.against() if one.seq}
        _add_sections(report, run, out / item.run.transcript, stderr, meant)


def _add_sections(
    report: pytest.TestReport, run: Certification, transcript: Path, stderr: Path | None, meant: set[int]
) -> None:
    """The wire around the messages that are meant, and the end of standard error."""
    plan = run.campaign.plan
    wire = surroundings.wire(transcript, plan.pack, meant) if transcript.is_file() else ""
    if wire:
        report.sections.append((f"Captured wire ({transcript.name})", wire))
    said = surroundings.standard_error(stderr, plan.pack, plan.key) if stderr else ""
    if said:
        report.sections.append(("Captured stderr of the implementation", said))


def pytest_report_teststatus(report: Any) -> tuple[str, str, str] | None:
    """The verdict's own word, in the category that pytest has for it."""
    verdict = dict(getattr(report, "user_properties", ())).get("verdict", "")
    told = report.when == "call" or (report.when == "setup" and verdict in TROUBLE)
    if verdict not in WORDS or not told or hasattr(report, "wasxfail"):
        return None
    category = "error" if report.when == "setup" else str(report.outcome)
    return (category, *WORDS[verdict])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report, on the controller alone."""
    run = session.config.stash[RUN]
    report = run.finish() if run.is_controller else None
    if report is not None:
        rendering.page(report, run.campaign.plan.out)
        session.config.stash[REPORT] = report
        if report.get("baseline", {}).get("stale") and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """End with the warnings, the claim and where the report is."""
    report = config.stash.get(REPORT, None)
    if report is None:
        return
    terminalreporter.section("conformance")
    for row in report["requirements"]:
        if row["verdict"] == "warn":
            terminalreporter.write_line(f"WARN {row['id']} ({row['level']}): {row['reason']}", yellow=True)
    for line in of_baseline(report):
        terminalreporter.write_line(line)
    counts = report["claim"]["counts"]
    terminalreporter.write_line(", ".join(f"{count} {word}" for word, count in counts.items() if count))
    terminalreporter.write_line(f"claim: {report['claim']['status']}")
    terminalreporter.write_line(report["claim"]["wording"])
    terminalreporter.write_line(f"report: {config.stash[RUN].campaign.path}")
