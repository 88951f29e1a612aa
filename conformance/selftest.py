"""Whether the kit notices: the reference implementations with each of their faults, against all scenarios.

A fault breaks one requirement, and the kit has to say so and nothing else: `caught`. What no scenario shows,
that messages are refused, is tried by negative tests. `missed` is a fault on
which no requirement failed, `misattributed` one on which another failed, instead or too. What the honest
implementation passes and no fault breaks is told beside it: nothing shows that the kit would notice.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from conformance import campaign, catalogue, execution, references
from conformance.campaign import Campaign
from conformance.console import heed_termination, say
from conformance.crew import Awaited, Shift, at_work
from conformance.errors import ExitCode, UsageError
from conformance.fuzzing import Budget, Fuzz
from conformance.generation.refusals import REFUSAL
from conformance.packs import Pack
from conformance.report import evaluation
from conformance.scenarios import Scenario
from conformance.wording import plural, printable

HONEST = "honest"
"""The folder, and the name, of the reference implementation without a fault."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The reference implementation with one fault, or honest, and what came out of a whole run.

    `requirement` is the one that the fault breaks; `code` the exit code of the run; `out` its folder.
    """

    fault: str
    requirement: str
    code: int
    report: Mapping[str, Any]
    out: Path

    def of(self, *verdicts: str) -> list[str]:
        """The requirements with these verdicts."""
        return [row["id"] for row in self.report["requirements"] if row["verdict"] in verdicts]

    @property
    def others(self) -> list[str]:
        """The requirements that were found broken though the fault does not break them.

        What dies of a message, or takes it for another, leaves undone what it would have had to do.
        """
        if self.requirement == REFUSAL:
            return []
        return [name for name in self.of("fail", "warn") if name != self.requirement]

    @property
    def outcome(self) -> str:
        """`caught`, `missed`, `misattributed`, or `untried` where the kit itself failed."""
        if self.code == ExitCode.KIT_ERROR:
            return "untried"
        if self.others:
            return "misattributed"
        return "caught" if self.of("fail", "warn") else "missed"


@dataclass(frozen=True, slots=True)
class Matrix:
    """What became of the faults of one reference implementation."""

    pack: Pack
    role: str
    honest: Trial
    trials: tuple[Trial, ...]
    breakable: frozenset[str]
    """What its faults break, those that were not tried included."""

    @property
    def blamed(self) -> list[str]:
        """The requirements that the honest implementation is said not to meet, or not to show."""
        return self.honest.of("fail", "warn", "inconclusive")

    @property
    def unbroken(self) -> list[str]:
        """What the honest implementation was seen to meet, and no fault breaks."""
        return [name for name in self.honest.of("pass") if name not in self.breakable]

    @property
    def code(self) -> int:
        """The exit code: 0 where every fault was caught and the honest implementation is not blamed."""
        outcomes = {trial.outcome for trial in self.trials}
        if "untried" in outcomes or self.honest.code == ExitCode.KIT_ERROR:
            return ExitCode.KIT_ERROR
        sound = self.honest.code == ExitCode.HOLDS and not self.blamed
        return ExitCode.HOLDS if sound and outcomes <= {"caught"} else ExitCode.BROKEN


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asked for: which pack, role and faults, all where nothing is named; how, and where."""

    protocol: str = ""
    role: str = ""
    faults: tuple[str, ...] = ()
    jobs: int = 8
    brief: bool = False
    out: Path | None = None


def execute(request: Request, told: Callable[[Iterable[Matrix]], str]) -> int:
    """Try all that was asked for, print the matrices, and return the exit code."""
    chosen = list(_chosen(request))
    heed_termination()
    found: list[Matrix] = []
    with _folder(request.out) as out:
        for number, (pack, role, faults) in enumerate(chosen, 1):
            began = time.monotonic()
            folder = out / pack.protocol / pack.revision / role
            found.append(matrix(pack, role, folder, request.jobs, faults, brief=request.brief))
            say(f"[{number}/{len(chosen)}] {pack.name}, {role}: {time.monotonic() - began:.1f} s", err=True)
    say(told(found), nl=False)
    return max((one.code for one in found), default=ExitCode.HOLDS)


def _folder(out: Path | None) -> AbstractContextManager[Path]:
    """The folder of the reports: the one that was asked for, or one that is removed at the end."""
    return nullcontext(out) if out else _temporary()


@contextmanager
def _temporary() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _chosen(request: Request) -> Iterator[tuple[Pack, str, list[str]]]:
    """Pack, role and faults of each reference implementation; UsageError where nothing is left."""
    listed = [
        (pack, role, references.faults(pack, role))
        for pack in catalogue.chosen(request.protocol)
        for role in pack.meta.get("reference") or {}
        if request.role in ("", role)
    ]
    if not listed:
        whose = f" of {request.role!r}" if request.role else ""
        raise UsageError(f"there is no reference implementation{whose} in {request.protocol or 'any pack'}")
    for glob in request.faults:
        if not any(fnmatchcase(fault, glob) for _, _, faults in listed for fault in faults):
            known = dict.fromkeys(fault for _, _, faults in listed for fault in faults)
            raise UsageError(f"no fault is called {glob!r}; there is {', '.join(known)}")
    for pack, role, faults in listed:
        wanted = [name for name in faults if _fits(name, request.faults)]
        if wanted:
            yield pack, role, wanted


def _fits(name: str, globs: tuple[str, ...]) -> bool:
    return not globs or any(fnmatchcase(name, glob) for glob in globs)


def matrix(
    pack: Pack, role: str, out: Path, jobs: int, among: Iterable[str] | None = None, *, brief: bool = False
) -> Matrix:
    """Try the honest reference implementation and its faults, or those `among` them, many `jobs` at once.

    Each has a report's folder of its own in `out`. Most of the time both sides of a scenario wait for the
    other, so many go on at once: the scenarios of all faults are one heap of work. In `brief`, a fault that
    is caught in the scenarios that concern it most is tried in no others.
    """
    known = references.faults(pack, role)
    faults = {name: known[name] for name in (known if among is None else among)}
    honest = campaign.prepare(campaign.Request(pack, references.NAME, role, out=out / HONEST))
    every = honest.scenarios
    heap = [_Sifted("", "", honest, [every])]
    for fault, requirement in faults.items():
        if requirement != REFUSAL:
            rounds = _rounds(every, requirement) if brief else [every]
            heap.append(_Sifted(fault, requirement, _faulty(honest, fault, out / fault), rounds))
    sifted = _carried_out(heap, jobs)
    spoilt = [fault for fault, requirement in faults.items() if requirement == REFUSAL]
    sifted += _spoilt(honest, spoilt, out, jobs) if spoilt else []
    by_fault = {one.fault: one for one in sifted}
    first, *trials = (by_fault[fault] for fault in ("", *faults))
    return Matrix(pack, role, first, tuple(trials), frozenset(known.values()))


ENOUGH = 16
"""So many messages of each kind are tried with the honest reference implementation."""


def _spoilt(honest: Campaign, faults: list[str], out: Path, jobs: int) -> list[Trial]:
    """What came of faults that no scenario shows, and of the honest implementation, by negative tests."""
    bare = replace(honest, scenarios=[], runs=[])
    runs = {fault: _faulty(bare, fault, out / fault) for fault in faults}
    pool = ThreadPoolExecutor(jobs)
    try:
        well, *_ = pool.map(_fuzzed, [bare, *runs.values()])
    finally:
        pool.shutdown(cancel_futures=True)
    honest.runs += well.runs
    spoilt = [_Sifted(fault, REFUSAL, run, []).trial for fault, run in runs.items()]
    return [_Sifted("", "", honest, []).trial, *spoilt]


def _fuzzed(run: Campaign) -> Campaign:
    """Negative tests: some of the honest implementation, of a faulty one until something fails."""
    is_honest = run.target == references.NAME
    Fuzz(run, Budget(ENOUGH if is_honest else None), is_brief=True).finish()
    return run


COVERING = 3
"""In brief, a fault is first tried in so many that cover what it breaks, after those that prove it."""


def _rounds(scenarios: list[Scenario], requirement: str) -> list[list[Scenario]]:
    """The scenarios that prove it and some that cover it; the others that cover it; the rest."""
    proving = [one for one in scenarios if any(requirement in step.proves for step in one.steps)]
    covering = [one for one in scenarios if requirement in one.covers and one not in proving]
    rest = [one for one in scenarios if one not in proving and one not in covering]
    return [one for one in (proving + covering[:COVERING], covering[COVERING:], rest) if one]


@dataclass(frozen=True, slots=True)
class _Sifted:
    """A fault, its campaign, and the rounds of scenarios in which it is tried until it shows."""

    fault: str
    requirement: str
    run: Campaign
    rounds: list[list[Scenario]]

    @property
    def trial(self) -> Trial:
        """What came of it so far."""
        report = self.run.write(complete=True)
        return Trial(self.fault, self.requirement, execution.exit_code(report), report, self.run.plan.out)


def _carried_out(heap: list[_Sifted], jobs: int) -> list[Trial]:
    """What came of each, many scenarios at once."""
    with at_work(jobs) as shift:
        trials: dict[str, Trial] = {}
        for turn in range(max(len(one.rounds) for one in heap)):
            open_ = [one for one in heap if turn < len(one.rounds) and _is_open(trials.get(one.fault))]
            cells = [(one.run, scenario) for one in open_ for scenario in one.rounds[turn]]
            begun = [(run, scenario, shift.begin(run.plan, scenario)) for run, scenario in cells]
            for run, scenario, awaited in [*begun]:
                made, is_excused = _judged(run, awaited)
                if is_excused:
                    _drop(run, made)
                else:
                    run.runs.append(made)
                    begun.remove((run, scenario, awaited))
            for run, scenario, _ in begun:
                run.runs.append(_again(shift, run, scenario))
            trials |= {one.fault: one.trial for one in open_}
        return [trials[one.fault] for one in heap]


OFTEN = 3
"""So often is a scenario run in all, where the kit itself was late and that left something undecided."""

EXCUSE = 0.1
"""A kit that was late by so many seconds may be the reason that something is undecided."""


def _judged(run: Campaign, awaited: Awaited) -> tuple[evaluation.Run, bool]:
    """The scenario's run when it is there, and whether that says less than it would on a calm machine."""
    result = awaited.result()
    assert result is not None, "all are wanted"
    made = campaign.run_of(run.plan, result)
    undecided = made.status == "inconclusive" or any(one.inconclusive for one in made.evidence.findings)
    return made, undecided and result.late > EXCUSE


def _again(shift: Shift, run: Campaign, scenario: Scenario) -> evaluation.Run:
    """The scenario, run once more while nothing else goes on: a busy machine excuses everybody."""
    for attempt in range(2, OFTEN + 1):
        made, is_excused = _judged(run, shift.begin(run.plan, scenario, attempt))
        if not is_excused or attempt == OFTEN:
            break
        _drop(run, made)
    return made


def _drop(run: Campaign, made: evaluation.Run) -> None:
    """Leave nothing on disk of a run that no report tells of."""
    for name in filter(None, (made.transcript, made.stderr)):
        (run.plan.out / name).unlink(missing_ok=True)


def _is_open(trial: Trial | None) -> bool:
    return trial is None or trial.outcome == "missed"


def _faulty(honest: Campaign, fault: str, out: Path) -> Campaign:
    row = honest.plan.pack.meta["reference"][honest.plan.role]
    target = f"{honest.plan.target} {row['fault'].format(fault=fault)}"
    plan = replace(honest.plan, target=target, out=out)
    named = f"{references.NAME}:{fault}"
    return replace(honest, plan=plan, target=named, runs=[])


# ── telling ──────────────────────────────────────────────────────────────────────────────────────


def as_text(matrices: Iterable[Matrix]) -> str:
    """A line for each requirement and fault; what was not caught says what was found instead."""
    return "".join(f"{printable(line)}\n" for one in matrices for line in _lines(one))


def _lines(found: Matrix) -> Iterator[str]:
    caught = sum(trial.outcome == "caught" for trial in found.trials)
    yield f"{found.pack.name}, {found.role}: {caught} of {plural(len(found.trials), 'fault')} caught"
    yield from (_row(trial, widths) for widths in [_widths(found)] for trial in _sorted(found))
    if found.honest.code != ExitCode.HOLDS or found.blamed:
        said = ", ".join(found.blamed) or _ended(found.honest)
        yield f"the honest implementation is blamed: {said}"
    if found.unbroken:
        many = plural(len(found.unbroken), "requirement")
        yield f"no fault breaks {many} that it was seen to meet: {', '.join(found.unbroken)}"


def _sorted(found: Matrix) -> list[Trial]:
    """By requirement, as the pack has them."""
    place = {name: index for index, name in enumerate(found.pack.requirements)}
    return sorted(found.trials, key=lambda trial: place.get(trial.requirement, -1))


def _widths(found: Matrix) -> tuple[int, int]:
    names = [(len(trial.requirement), len(trial.fault)) for trial in found.trials]
    return max((one for one, _ in names), default=0), max((one for _, one in names), default=0)


def _row(trial: Trial, widths: tuple[int, int]) -> str:
    said = _SAID[trial.outcome](trial)
    head = f"  {trial.requirement:<{widths[0]}}  {trial.fault:<{widths[1]}}  {trial.outcome}"
    return f"{head}: {said}" if said else head


def _instead(trial: Trial) -> str:
    too = "too" if trial.requirement in trial.of("fail", "warn") else "instead"
    return f"{', '.join(trial.others)} failed {too}"


def _ended(trial: Trial) -> str:
    """How the first scenario ended that did not end as it should."""
    ends = (run for run in trial.report["scenarios"] if run["status"] not in ("passed", "not-applicable"))
    return next((f"scenario {run['name']}: {run['status']}: {run['reason']}" for run in ends), "")


_SAID: Mapping[str, Callable[[Trial], str]] = {
    "caught": lambda _: "",
    "missed": _ended,
    "misattributed": _instead,
    "untried": _ended,
}


def as_json(matrices: Iterable[Matrix]) -> str:
    """A list of objects, one for each pack and role."""
    return json.dumps([_value(one) for one in matrices], indent=2) + "\n"


def _value(found: Matrix) -> dict[str, Any]:
    return {
        "protocol": found.pack.protocol,
        "revision": found.pack.revision,
        "role": found.role,
        "blamed": found.blamed,
        "faults": [
            {
                "fault": trial.fault,
                "requirement": trial.requirement,
                "outcome": trial.outcome,
                "failed": trial.of("fail", "warn"),
            }
            for trial in _sorted(found)
        ],
        "unbroken": found.unbroken,
    }


FORMATS: Mapping[str, Callable[[Iterable[Matrix]], str]] = {"text": as_text, "json": as_json}
"""By name."""
