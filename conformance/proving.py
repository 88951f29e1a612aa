"""`conformance run --mutate`: the kit is proved on a vendor's own traffic, which is broken on the wire.

First the implementation runs as it is. Then, for each mutation and each scenario in which that traffic
has something to mutate, the scenario runs again with the mutation applied once. What a requirement of the
pack says of the change has to be what the kit finds. Nothing of it is a report about the implementation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

from conformance import KIT, records
from conformance.campaign import Campaign, Request, prepare, run_of
from conformance.console import say
from conformance.crew import Awaited, Shift, at_work
from conformance.errors import ExitCode, UsageError
from conformance.events import Received, Sent
from conformance.execution import terminable
from conformance.findings import Verdict, verdict_of
from conformance.mutations import MUTATIONS, Mutation
from conformance.mutator import Mutator
from conformance.report.evaluation import Run, without_credentials
from conformance.runner import Plan
from conformance.scenarios import Scenario
from conformance.transports.mutation import MutatingTransport
from conformance.wording import nearest, plural

FOLDER = "mutations"
"""Beside the report, and never in it."""

HEALTHY = "healthy"
"""The folder of the runs without any change."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of one mutation in one scenario.

    `outcome` is `noticed`, `noticed elsewhere` (by no requirement that the pack's rows give for it),
    `not noticed` or `not judged`. `by` are the requirements that were broken here and not without it.
    """

    mutation: str
    scenario: str
    outcome: str
    done: str
    expected: tuple[str, ...]
    by: tuple[str, ...]
    transcript: str


def requested(request: Request, names: tuple[str, ...]) -> int:
    """Prove what was asked for; a UsageError where options were given that are about a report alone."""
    options = {"--certify": request.certify, "--baseline": request.baseline, "--rerun": request.rerun}
    given = [name for name, value in options.items() if value]
    if given:
        raise UsageError(f"--mutate writes no report: leave out {', '.join(given)}")
    return prove(prepare(request), chosen(names))


def chosen(names: tuple[str, ...]) -> list[Mutation]:
    """The mutations of these names; `all` is every one. UsageError lists what there is."""
    for name in names:
        if name != "all" and name not in MUTATIONS:
            near = nearest(name, MUTATIONS)
            meant = f" (did you mean {near}?)" if near else ""
            raise UsageError(f"there is no mutation {name!r}{meant}; there is all, {', '.join(MUTATIONS)}")
    return [one for one in MUTATIONS.values() if "all" in names or one.name in names]


def prove(campaign: Campaign, mutations: list[Mutation]) -> int:
    """Run everything, print what came of it, and say with the exit code whether all was noticed."""
    out, trials = campaign.plan.out / FOLDER, list[Trial]()
    _clear(out)
    _write(campaign, trials, out)
    if campaign.alone:
        say(f"conformance: {campaign.alone}", err=True)
    with terminable(), at_work(campaign.jobs) as shift:
        healthy, wrong = _healthy(campaign, replace(campaign.plan, out=out / HEALTHY), shift)
        for trial in () if wrong else _trials(campaign, mutations, healthy, shift):
            trials.append(trial)
            _write(campaign, trials, out)
    for line in wrong or _table(mutations, trials):
        say(line)
    say(f"mutations: {out / 'mutations.json'}")
    return _exit_code(trials)


def _healthy(campaign: Campaign, plan: Plan, shift: Shift) -> tuple[dict[str, Run], list[str]]:
    """Each scenario's run without any change, and what is wrong with the implementation as it is."""
    runs, wrong = dict[str, Run](), list[str]()
    is_over = Event()
    for awaited in [
        shift.begin(plan, one, is_wanted=lambda: not is_over.is_set()) for one in campaign.scenarios
    ]:
        run = _judged(plan, awaited)
        runs[run.name] = run
        wrong += _unhealthy(campaign, run)
        if run.status in ("unreachable", "error"):
            is_over.set()
            break
    return runs, wrong


def _exit_code(trials: list[Trial]) -> int:
    """0 all was noticed, 1 something was not, 3 nothing was mutated or could be judged."""
    outcomes = {trial.outcome for trial in trials}
    if outcomes & {"not noticed", "noticed elsewhere"}:
        return ExitCode.BROKEN
    return ExitCode.HOLDS if outcomes == {"noticed"} else ExitCode.UNDECIDED


def _clear(out: Path) -> None:
    """Remove what an earlier run left, where it was one of these."""
    if (out / "mutations.json").is_file():
        for pattern in ("*/transcripts/*.jsonl", "*/stderr/*.txt"):
            for path in out.glob(pattern):
                path.unlink()


def _judged(plan: Plan, awaited: Awaited) -> Run:
    result = awaited.result()
    assert result is not None, "nobody asks for what is not wanted any more"
    say(f"{plan.out.name}: {result.scenario.name}: {result.status} ({result.seconds:.1f} s)", err=True)
    return run_of(plan, result)


def _unhealthy(campaign: Campaign, run: Run) -> Iterator[str]:
    """Why nothing can be proved on this implementation: it is not healthy, or not there."""
    broken = sorted(_broken(campaign, run, Verdict.FAIL))
    if broken:
        yield f"{run.name}: the implementation itself breaks {', '.join(broken)}; mend that first"
    elif run.status not in ("passed", "not-applicable"):
        yield f"{run.name}: without any change it ends as {run.status}: {run.reason}"


def _broken(campaign: Campaign, run: Run, least: Verdict = Verdict.WARN) -> set[str]:
    known = campaign.plan.pack.requirements
    against = [one for one in run.evidence.findings if not one.ok and one.requirement in known]
    return {
        one.requirement
        for one in against
        if verdict_of(one, known[one.requirement].level) in (least, Verdict.FAIL)
    }


def _trials(
    campaign: Campaign, mutations: list[Mutation], healthy: dict[str, Run], shift: Shift
) -> Iterator[Trial]:
    """What came of each mutation in each scenario that has something to mutate, in that order."""
    out = campaign.plan.out / FOLDER
    begun = [
        _begin(campaign, mutation, scenario, shift)
        for mutation in mutations
        for scenario in campaign.scenarios
        if (said := healthy[scenario.name].transcript) and _applies(campaign, mutation, out / HEALTHY / said)
    ]
    for one in begun:
        yield from _trial(campaign, one, healthy[one.scenario.name])


def _applies(campaign: Campaign, mutation: Mutation, transcript: Path) -> bool:
    """Whether what was said without any change has something to mutate."""
    pack, mutator = campaign.plan.pack, Mutator(campaign.plan.pack, campaign.plan.role, mutation)
    for event in records.open_record(transcript.read_bytes(), str(transcript), pack).events:
        if isinstance(event, Sent):
            mutator.sent(event.connection, event.text.encode("utf-8", "surrogatepass"))
        elif isinstance(event, Received):
            mutator.received(event.connection, event.text.encode("utf-8", "surrogatepass"))
    return mutator.applied is not None


@dataclass(frozen=True, slots=True)
class _Begun:
    """A scenario under way, or on its turn, with a mutator in between."""

    plan: Plan
    scenario: Scenario
    mutation: Mutation
    mutator: Mutator
    awaited: Awaited


def _begin(campaign: Campaign, mutation: Mutation, scenario: Scenario, shift: Shift) -> _Begun:
    mutator = Mutator(campaign.plan.pack, campaign.plan.role, mutation)
    out = campaign.plan.out / FOLDER / mutation.name
    plan = replace(campaign.plan, out=out, through=lambda transport: MutatingTransport(transport, mutator))
    return _Begun(plan, scenario, mutation, mutator, shift.begin(plan, scenario))


def _trial(campaign: Campaign, one: _Begun, before: Run) -> Iterator[Trial]:
    """What came of the mutation in the scenario; nothing, where this time it found nothing to mutate."""
    run, change = _judged(one.plan, one.awaited), one.mutator.applied
    if change is None:
        return
    by = _broken(campaign, run) - _broken(campaign, before)
    outcome = "noticed" if by & change.expected else "noticed elsewhere" if by else "not noticed"
    if not by and run.status in ("unreachable", "error"):
        outcome = "not judged"
    yield Trial(
        one.mutation.name,
        one.scenario.name,
        outcome,
        change.told,
        tuple(sorted(change.expected)),
        tuple(sorted(by)),
        f"{one.mutation.name}/{run.transcript}",
    )


def _write(campaign: Campaign, trials: list[Trial], out: Path) -> None:
    value: dict[str, Any] = {
        "mutations": 1,
        "kit": KIT,
        "pack": campaign.plan.pack.name,
        "target": without_credentials(campaign.target),
        "trials": [asdict(trial) for trial in trials],
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "mutations.json").write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"nothing can be written to {out}: {error.strerror}") from None


def _table(mutations: list[Mutation], trials: list[Trial]) -> Iterator[str]:
    """A line for each mutation, and one more for each time that it was not noticed as it should be."""
    width = max(len(one.name) for one in mutations)
    for mutation in mutations:
        mine = [trial for trial in trials if trial.mutation == mutation.name]
        missed = [trial for trial in mine if trial.outcome != "noticed"]
        yield f"{mutation.name:{width}}  {_summary(mine, missed)}"
        for trial in missed:
            yield f"    {trial.scenario}: {trial.outcome}: {trial.done}"
            found = f"; found {', '.join(trial.by)}" if trial.by else ""
            yield f"        expected one of {', '.join(trial.expected)}{found} ({trial.transcript})"


def _summary(mine: list[Trial], missed: list[Trial]) -> str:
    if not mine:
        return "nothing to mutate"
    seen = plural(len(mine), "scenario")
    if missed:
        return f"NOT NOTICED in {len(missed)} of {seen}"
    by = sorted({name for trial in mine for name in trial.by if name in trial.expected})
    return f"noticed in {seen}, by {', '.join(by)}"
