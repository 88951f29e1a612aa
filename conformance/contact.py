"""The first contact with an implementation: the shortest exchange that a pack's scenarios begin with."""

from __future__ import annotations

from dataclasses import replace

from conformance import statements
from conformance.campaign import Campaign
from conformance.runner import Result, run_one
from conformance.scenarios import Scenario, Step
from conformance.taps import Tap

_PLAIN = ("send", "request", "expect", "set", "given", "ends")


def first(made: Campaign) -> Scenario | None:
    """The first exchange that the ICS allows for, of the fewest facts and steps; None where none is."""
    pack = made.plan.pack
    allowed = [one for one in made.scenarios if applies(made, one)]
    exchanges = [one for one in map(_exchange, allowed) if one is not None]
    return min(exchanges, key=lambda one: (len(statements.needed(pack, one)), len(one.steps)), default=None)


def applies(made: Campaign, scenario: Scenario) -> bool:
    """Whether the ICS states what the scenario rests on."""
    return statements.applies(made.plan.ics, made.plan.pack, scenario)


def carried_out(made: Campaign, scenario: Scenario, tap: Tap) -> Result:
    """The result of a scenario with a tap on its connections."""
    return run_one(replace(made.plan, through=tap.around), scenario)


def _exchange(scenario: Scenario) -> Scenario | None:
    """The scenario up to whatever first answers a message of the kit; None where it begins otherwise.

    Of a conversation in which nothing is to answer the kit, all of it.
    """
    sent = False
    for number, step in enumerate(scenario.steps, 1):
        if step.verb not in _PLAIN or step.breaks or {"error", "otherwise"} & set(step.args):
            return None
        sent = sent or step.verb in ("send", "request")
        if step.verb == "request":
            return replace(scenario, steps=scenario.steps[:number])
        if sent and step.verb == "expect":
            anything = Step("expect", {"expect": "*"}, step.line)
            return replace(scenario, steps=(*scenario.steps[: number - 1], anything))
    return scenario
