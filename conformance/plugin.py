"""The pytest plugin: a pack's scenarios as collectors, its requirements as items, no test file needed.

    pytest --conformance PROTOCOL --conformance-target TARGET --conformance-report DIR

Hardly more than what pytest itself has is imported here, since this module is loaded in every run of pytest
on the machine; the rest of the kit, and its other hooks, come when `--conformance` asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance import admission

if TYPE_CHECKING:
    from types import ModuleType

    from conformance.campaign import Request
    from conformance.certification import Certification
    from conformance.live import LiveSession
    from conformance.packs import Pack
    from conformance.transports.access import Means

OPTIONS = {
    "conformance": "the protocol to certify: PROTOCOL or PROTOCOL@REVISION",
    "conformance-target": "the implementation: a target as for `conformance run`, or reference[:FAULT]",
    "conformance-role": "the implementation's role; else the one that the pack certifies",
    "conformance-config": "the ICS (default: conformance.toml, if there is one)",
    "conformance-report": "the folder of the report (default: conformance-report)",
    "conformance-baseline": "the file of known failures, which are xfailed; one that is stale fails the run",
    "conformance-fuzz": "negative tests too: so many messages, such as 200, or for a time, such as 30s",
    "conformance-seed": "the order of the negative tests; else by chance",
    "conformance-patience": "a factor for every time that the kit waits of its own accord",
    **{f"conformance-{name}": text for name, text in admission.OPTIONS.items()},
}
"""Each is a command-line option, and an ini option with underscores."""

GLOBS = {
    "conformance-scenario": "only the pack's scenarios of this name (may be given more than once)",
    "conformance-requirement": "only requirements with such an id (may be given more than once)",
}
"""The same for options that may be given more than once; in an ini file, one a line."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, on the command line and for ini files."""
    group = parser.getgroup("conformance", "conformance of agent protocols")
    for name, text in OPTIONS.items():
        group.addoption(f"--{name}", default=None, metavar=name.rpartition("-")[2].upper(), help=text)
        parser.addini(name.replace("-", "_"), text, default="")
    for name, text in GLOBS.items():
        group.addoption(f"--{name}", default=None, action="append", metavar="GLOB", help=text)
        parser.addini(name.replace("-", "_"), text, type="linelist", default=[])


def _option(config: pytest.Config, name: str) -> Any:
    given = config.getoption(f"--{name}")
    return given if given is not None else config.getini(name.replace("-", "_"))


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the campaign, and take part in everything, if `--conformance` asks for it."""
    config.addinivalue_line(
        "markers",
        "conformance(requirement, level, scenario): an item of --conformance; -m conformance selects them",
    )
    if _option(config, "conformance"):
        _take_part(config)


def _take_part(config: pytest.Config) -> None:
    import secrets

    from conformance import campaign, collecting, recounting
    from conformance.certification import Certification
    from conformance.errors import ConformanceError

    config.addinivalue_line("markers", "xdist_group(name): tests that one worker of pytest-xdist runs")
    worker = getattr(config, "workerinput", None)
    uid = worker["conformance_uid"] if worker else secrets.token_hex(6)
    try:
        prepared = campaign.prepare(_request(config))
    except ConformanceError as error:
        raise pytest.UsageError(str(error)) from None
    wanted = tuple(_option(config, "conformance-requirement"))
    run = Certification(prepared, uid, is_controller=worker is None, requirements=wanted)
    config.stash[collecting.RUN] = run
    collecting.take_arguments(config, run)
    for hooks in (collecting, recounting, *_negative(config)):
        config.pluginmanager.register(hooks, hooks.__name__)


def _negative(config: pytest.Config) -> Iterator[ModuleType]:
    """The hooks of negative tests, where they are asked for."""
    wanted, seed = _option(config, "conformance-fuzz"), _option(config, "conformance-seed")
    if not wanted:
        return
    from conformance import fuzzing, negating
    from conformance.errors import ConformanceError

    if seed and not seed.isdecimal():
        raise pytest.UsageError(f"--conformance-seed is a number from 0, and {seed!r} is none")
    try:
        config.stash[negating.HOW] = fuzzing.budget(wanted, int(seed) if seed else None)
    except ConformanceError as error:
        raise pytest.UsageError(str(error)) from None
    yield negating


def _request(config: pytest.Config) -> Request:
    from datetime import UTC, datetime

    from conformance import campaign, packs

    named, known = _option(config, "conformance-config"), _option(config, "conformance-baseline")
    here = config.invocation_params.dir
    return campaign.Request(
        packs.find(_option(config, "conformance")),
        _option(config, "conformance-target"),
        _option(config, "conformance-role"),
        here / named if named else None,
        here / (_option(config, "conformance-report") or "conformance-report"),
        _factor(_option(config, "conformance-patience") or "1"),
        tuple(_option(config, "conformance-scenario")),
        tuple(_option(config, "conformance-requirement")),
        here / known if known else None,
        datetime.now(UTC).date(),
        means=_means(config, here),
    )


def _means(config: pytest.Config, here: Path) -> Means:
    """How a server lets the kit in, by the options and the ini file."""
    named = {name.replace("-", "_"): _option(config, f"conformance-{name}") for name in admission.OPTIONS}
    return admission.means(here, **named)


def _factor(written: str) -> float:
    try:
        return float(written)
    except ValueError:
        raise pytest.UsageError(f"--conformance-patience is a number, and {written!r} is none") from None


# ── fixtures ─────────────────────────────────────────────────────────────────────────────────────


def _of(request: pytest.FixtureRequest) -> Certification:
    if not _option(request.config, "conformance"):
        pytest.skip("no --conformance PROTOCOL was given")
    from conformance.collecting import RUN

    return request.config.stash[RUN]


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
    run = _of(request)
    from conformance.errors import ConformanceError
    from conformance.report import verdicts

    try:
        with run.session(request.node.nodeid) as session:
            yield session
    except ConformanceError as error:
        pytest.fail(str(error), pytrace=False)
    told = verdicts.elsewhere(run.run(session.scenario), run.campaign.plan.pack)
    if told[0] == "fail":
        pytest.fail("\n".join(told[2]), pytrace=False)
