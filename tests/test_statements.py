"""Which facts a scenario rests on, and what is said of them."""

from __future__ import annotations

from typing import Any

import pytest

from conformance import packs, scenarios, statements
from conformance.scenarios import Scenario

VA = packs.find("va-agent-protocol")


def scenario(needs: str, *used: str) -> Scenario:
    """A scenario with these needs, whose one message uses these facts."""
    payload = "{" + ", ".join(f'm{place}: "${{ics.{name}}}"' for place, name in enumerate(used)) + "}"
    text = (
        f"title: t\nrole: orchestrator\ncovers: [VA-MSG-001]\nneeds: {needs}\n"
        f"steps:\n  - send: dispatch\n    payload: {payload}\n"
    )
    return scenarios.read(text, "a.yaml", VA)


@pytest.mark.parametrize(
    ("needs", "used", "named"),
    [
        ("{}", (), []),
        ("{failure: true}", (), ["failure"]),
        ("{failure: {$is: {type: boolean}}}", (), ["failure"]),
        ("{tasks: {runs: {objective: o}}}", (), ["tasks.runs"]),
        ("{}", ("tasks.fails",), ["tasks.fails"]),
        ("{}", ("tasks.fails.objective",), ["tasks.fails"]),
        ("{}", ("tasks",), ["tasks.succeeds", "tasks.fails", "tasks.blocks", "tasks.runs"]),
        ("{}", ("unknown",), []),
    ],
)
def test_the_facts_that_a_scenario_rests_on(needs: str, used: tuple[str, ...], named: list[str]) -> None:
    assert statements.needed(VA, scenario(needs, *used)) == named


@pytest.mark.parametrize(
    ("ics", "missing", "applies"),
    [
        ({}, ["tasks.fails", "failure"], False),
        ({"failure": False}, [], False),
        ({"failure": True}, ["tasks.fails"], False),
        ({"tasks": {"fails": {}}}, ["failure"], False),
        ({"failure": True, "tasks": {"fails": {}}}, [], True),
    ],
)
def test_what_is_stated_of_them(ics: dict[str, Any], missing: list[str], applies: bool) -> None:
    """A fact that is said not to hold leaves nothing to state."""
    one = scenario("{failure: true}", "tasks.fails")
    assert statements.unstated(VA, ics, one) == missing
    assert statements.applies(ics, VA, one) is applies


def test_what_is_not_met_is_said() -> None:
    one = scenario("{failure: true}")
    assert statements.unmet({"failure": True}, one, ()) == ""
    said = statements.unmet({"failure": False}, one, ())
    assert said.startswith("the ICS does not say what this needs: ")
    assert "failure" in said
