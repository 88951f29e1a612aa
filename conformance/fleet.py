"""Several of one implementation, which run already: each has one scenario at a time, and sees no other."""

from __future__ import annotations

from dataclasses import replace

from conformance import statements
from conformance.campaign import SHARED, Campaign
from conformance.errors import UsageError
from conformance.transports import Options, make_transport


def widened(made: Campaign, more: tuple[str, ...]) -> Campaign:
    """The campaign on these targets too.

    Raises UsageError where one, or its own, is none that runs already, and where an operator acts in a
    scenario: a command reaches one of them, which need not be the one that has the scenario.
    """
    for target in (made.plan.target, *more) if more else ():
        if target.partition(":")[0].lower() not in SHARED:
            raise UsageError(f"--beside is for what runs already, at ws:// or wss://, and not for {target!r}")
        make_transport(target, Options(access=made.plan.access))  # refuses what is no URL
    if not more:
        return made
    if operated := statements.operated(made.plan.ics, made.scenarios):
        raise UsageError(
            f"--beside does not go with the commands of [ics.operator]: in {operated} one would act on a "
            "single implementation, and perhaps on another than the scenario runs on; leave one of both out"
        )
    return replace(made, plan=replace(made.plan, more=more), jobs=1 + len(more), alone="")
