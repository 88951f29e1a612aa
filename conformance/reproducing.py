"""A failure of negative testing as a scenario file that shows it again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from conformance import scenarios
from conformance.errors import UsageError
from conformance.generation import refusals
from conformance.generation.refusals import REFUSAL
from conformance.runner import Plan, Result, run_one
from conformance.trying import Desk, Failure

TRIES = 3
"""So often is a failure shown again that is not always there."""

HUNG = "5 s"
"""After so long without a word where a valid message is answered at once, an implementation hangs."""


def shown_again(plan: Plan, desk: Desk, failure: Failure, path: Path) -> Result | None:
    """Write the scenario, and run it from its file; None where no session comes as far any more."""
    for _ in range(TRIES):
        breaks = _broken(desk, failure)
        if len(breaks) == len(failure.trials):
            break
    else:
        return None
    _write(path, text(desk, failure, breaks))
    return run_one(plan, scenarios.load(path, plan.pack))


def _broken(desk: Desk, failure: Failure) -> list[list[str]]:
    """What each of the messages breaks, in the order in which they are sent."""
    result = desk.announced(desk.run(desk.scenario(failure.trials, "fuzz"), desk.plan), desk.plan)
    return [list(one.breaks) for one in result.said if one.line % 10]


def text(desk: Desk, failure: Failure, breaks: list[list[str]]) -> str:
    """The scenario as YAML."""
    what = failure.said.replace("\n", " ")
    head = f"# {what}\n" if len(what) < 300 else f"# {what[:300]}…\n"
    value = {
        "title": f"{failure.row.kind} that has to be refused: {failure.sort}",
        "role": desk.role,
        "covers": [REFUSAL],
        "steps": list(_steps(desk, failure, breaks)),
    }
    return head + yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1000)


def _steps(desk: Desk, failure: Failure, breaks: list[list[str]]) -> Iterator[dict[str, Any]]:
    yield from (dict(step.args) for step in desk.opening)
    yield from refusals.control(desk.row, desk.valid)
    for trial, broken in zip(failure.trials, breaks, strict=True):
        told = {"breaks": broken[0] if len(broken) == 1 else broken} if broken else {}
        first = True
        for step in refusals.steps(desk.row, trial):
            if "raw" in step and first:
                step, first = {"raw": step["raw"], **told}, False
            if failure.sort == "hung" and "proves" in step:
                step = {"deadline" if key == "within" else key: value for key, value in step.items()}
                step["deadline"] = HUNG
            yield step


def _write(path: Path, content: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"nothing can be written to {path.parent}: {error.strerror}") from None
