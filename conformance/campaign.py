"""A run from its request to its report: who is tested, with which facts, and what is written where.

Both shells (the command line and the pytest plugin) go through here, so they cannot disagree.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from conformance import baseline, configuration, references, scenarios, statements
from conformance.announcing import Mistake, mistake, unmet
from conformance.errors import BadConfiguration, UsageError
from conformance.findings import Verdict, verdict_of
from conformance.packs import Pack
from conformance.report import certificate, evaluation, statement
from conformance.runner import Plan, Result
from conformance.scenarios import Scenario
from conformance.transports import Options, make_transport
from conformance.transports.access import SERVERS, Access, Means, all_gained, refuse_useless
from conformance.wording import plural

SHARED = ("ws", "wss")
"""Schemes of targets that run already, so that all scenarios reach the same one."""


LATE = 0.5
"""A kit that was kept from its own messages for so many seconds may break what it never would else."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asked for. An empty `target` is the configuration's, else `reference`."""

    pack: Pack
    target: str = ""
    role: str = ""
    config: Path | None = None
    out: Path = Path("conformance-report")
    patience: float = 1.0
    scenarios: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    baseline: Path | None = None
    today: date = date.min
    """The day on which entries of the baseline expire, or do not yet."""
    certify: bool = False
    rerun: int = 0
    """How often a scenario that did not pass is run again."""
    jobs: int = 1
    bundle: Path | None = None
    """Where the report and all that belongs to it goes as one file."""
    means: Means = field(default_factory=Means)


@dataclass(frozen=True, slots=True)
class Known:
    """The failures that a baseline knows, and what it takes to compare them with a report."""

    path: Path
    entries: tuple[baseline.Entry, ...]
    today: date
    scenarios: tuple[str, ...]
    """All that there are; where fewer were asked for, it shows nothing that a failure was not seen."""
    selective: bool

    def compared(self, report: dict[str, Any]) -> dict[str, Any]:
        """The member `baseline` of a report."""
        whole = report["complete"] and not self.selective
        told = baseline.compare(self.entries, report, self.scenarios, self.today, whole=whole)
        return {"path": str(self.path), **told}


@dataclass(slots=True)
class Campaign:
    """A run under way: the plan, the scenarios, and what came out so far."""

    plan: Plan
    scenarios: list[Scenario]
    implementation: dict[str, str]
    target: str
    known: Known | None = None
    certify: bool = False
    rerun: int = 0
    jobs: int = 1
    """How many scenarios at a time: as many as were asked for, or as the implementation bears."""
    alone: str = ""
    """Why those are fewer than were asked for."""
    bundle: Path | None = None
    runs: list[evaluation.Run] = field(default_factory=list)
    judged: dict[tuple[str, int], evaluation.Run] = field(default_factory=dict)
    """What is judged and not recorded yet, by the scenario's name and which of its runs it is."""
    fuzz: dict[str, Any] | None = None
    """What negative tests showed, where there were any."""

    @property
    def path(self) -> Path:
        """Where the report is."""
        return self.plan.out / "report.json"

    def clear(self) -> None:
        """Remove what an earlier run left in the report's folder, so that nothing stale is taken for new.

        Nothing is touched where no report is: what lies there then is somebody else's.
        """
        if self.path.is_file():
            self.path.unlink()
            self.path.with_suffix(".html").unlink(missing_ok=True)
            for pattern in ("transcripts/*.jsonl", "stderr/*.txt", "fuzz/fuzz-*.yaml"):
                for path in self.plan.out.glob(pattern):
                    path.unlink()

    def judge(self, result: Result) -> None:
        """Judge a scenario's transcript before it is its turn to be recorded."""
        self.judged[result.scenario.name, result.attempt] = run_of(self.plan, result)

    def record(self, result: Result) -> evaluation.Run:
        """Judge a scenario's transcript, unless that is done, and add it to the report."""
        run = self.judged.pop((result.scenario.name, result.attempt), None) or run_of(self.plan, result)
        self.runs.append(run)
        return run

    @property
    def is_through(self) -> bool:
        """Whether every scenario was run."""
        return len({run.name for run in self.runs}) == len(self.scenarios)

    def is_well(self, run: evaluation.Run) -> bool:
        """Whether nothing about the run asks for another: its steps came to their end, and no MUST failed."""
        known = self.plan.pack.requirements
        failed = any(
            verdict_of(one, known[one.requirement].level) is Verdict.FAIL for one in run.evidence.findings
        )
        return run.status in ("passed", "not-applicable") and not failed

    def report(self, *, complete: bool) -> dict[str, Any]:
        """The report's value as it stands."""
        value = evaluation.evaluate(
            self.plan.pack,
            self.plan.role,
            self.runs,
            target=self.plan.access.hidden(self.target),
            implementation=self.implementation,
            ics=self.plan.ics,
            complete=complete,
        )
        if self.known is not None:
            value["baseline"] = self.known.compared(value)
        if self.fuzz is not None:
            value["fuzz"] = self.fuzz
        if self.certify:
            value["certification"] = certificate.of(value)
        return value

    def write(self, *, complete: bool) -> dict[str, Any]:
        """Write the report, whole or not at all, and return its value."""
        value = self.report(complete=complete)
        draft = self.path.with_suffix(".json.part")
        try:
            self.plan.out.mkdir(parents=True, exist_ok=True)
            draft.write_text(json.dumps(value, indent=2, default=str) + "\n", encoding="utf-8")
            draft.replace(self.path)
        except OSError as error:
            raise UsageError(f"the report cannot be written to {self.plan.out}: {error.strerror}") from None
        return value


def run_of(plan: Plan, result: Result) -> evaluation.Run:
    """The scenario's run with everything that its transcript shows, until the kit itself went wrong."""
    result = _excused(result)
    evidence = evaluation.Evidence()
    path = plan.out / result.transcript
    on_record = bool(result.transcript) and path.is_file()
    if on_record:
        evidence = evaluation.judge(path, plan.pack, plan.role)
    # A transcript has a line for its header, then one for each event.
    steps = tuple(
        one._replace(line=one.seq + 1, column=1) if one.seq and on_record else one for one in result.findings
    )
    evidence.add(steps)
    result, until = _watched(result, evidence)
    return evaluation.Run(
        name=result.scenario.name,
        title=result.scenario.title,
        status=result.status,
        reason=result.reason,
        line=result.line,
        seconds=result.seconds,
        transcript=result.transcript if on_record else "",
        stderr=result.stderr,
        requirements=result.scenario.requirements,
        evidence=evidence,
        attempt=result.attempt,
        needs=tuple(statement.needed(result.scenario.needs)),
        stretched=result.stretched,
        steps=steps,
        until=until,
    )


def _excused(result: Result) -> Result:
    """The result without what a step holds against an implementation that a late kit may have led to it.

    Who misses the kit's heartbeats is right to give up what it was doing. What else comes of a step is
    excused where it depends on time only: a wrong answer is wrong however late the kit was.
    """
    if result.missed <= LATE or all(one.ok for one in result.findings):
        return result
    but = f", but the kit itself was {result.missed:.1f} s late"
    findings = tuple(
        one if one.ok or one.inconclusive else one._replace(message=one.message + but, inconclusive=True)
        for one in result.findings
    )
    if result.status != "failed":
        return replace(result, findings=findings)
    return replace(result, status="inconclusive", reason=result.reason + but, findings=findings)


def _watched(result: Result, evidence: evaluation.Evidence) -> tuple[Result, int]:
    """The result once it is known what the kit itself broke, and the event from which on nothing counts.

    From where the kit broke what no step announces, the scenario shows nothing: it is an error. A machine
    that kept the kit from its own messages may be the reason; then nothing can be said.
    """
    found = _mistake(result, evidence)
    if found is None:
        return result, 0
    evidence.add((), found.seq)
    if result.late > LATE:
        return replace(result, status="inconclusive", reason=f"the kit was late, and {found.said}"), found.seq
    said = f"{result.scenario.path}: {found.said}"
    return replace(result, status="error", reason=said, line=found.line), found.seq


def _mistake(result: Result, evidence: evaluation.Evidence) -> Mistake | None:
    if result.status not in ("passed", "failed", "inconclusive", "not-applicable"):
        return None
    if not result.scenario.steps:  # a test that drives the session by itself answers for what it sends
        return None
    # What was left open counts where the scenario came to its own end.
    whole = result.status == "passed"
    ours = [*evidence.ours, *(evidence.unfinished if whole else ())]
    found = mistake(ours, evidence.findings, result.said)
    unharmed = whole and all(one.ok for one in evidence.findings)
    return found or (unmet(ours, result.said) if unharmed else None)


def prepare(request: Request) -> Campaign:
    """The campaign for a request. Raises a UsageError that says what was wrong with it."""
    _refuse_what_certifies_nothing(request)
    pack = request.pack
    path = _file(request)
    role = request.role or (configuration.read(path).role if path else "") or pack.certifies
    if role not in pack.roles:
        raise UsageError(f"{pack.name} has no role {role!r}; it has {', '.join(pack.roles)}")
    stated, target = _statement(request, role)
    known = scenarios.of_pack(pack, pack.peer_of(role))
    if not known:
        raise UsageError(f"there is no scenario yet that certifies the {role} of {pack.name}")
    known, chosen = _chosen(request, known)
    cable, who = target, stated.implementation
    if references.is_one(target):
        cable, who = references.target(pack, role, target), references.statement(pack, role).implementation
    home = (path or references.file(pack, role) or Path()).parent
    access, credentials = _admission(request, stated, home, cable)
    make_transport(cable, Options(access=access))  # starts nothing, and refuses what is no target
    facts = configuration.facts(pack, stated.ics)
    plan = Plan(pack, role, cable, facts, request.out, request.patience, access, credentials)
    jobs, alone = _jobs(request.jobs, stated.sessions, cable, statements.operated(facts, chosen))
    return Campaign(
        *(plan, chosen, who, target, _known(request, known, chosen)),
        certify=request.certify,
        rerun=request.rerun,
        jobs=jobs,
        alone=alone,
        bundle=request.bundle,
    )


def _chosen(request: Request, known: list[Scenario]) -> tuple[list[Scenario], list[Scenario]]:
    """All scenarios that there are, files that were named among them, and those that were asked for."""
    paths = [Path(name) for name in request.scenarios if scenarios.is_path(name)]
    globs = tuple(name for name in request.scenarios if not scenarios.is_path(name))
    loaded = [scenarios.load(path, request.pack) for path in paths]
    role = known[0].role
    for one in loaded:
        if one.role != role:
            raise UsageError(f"in {one.path} the kit plays the {one.role}, and here it plays the {role}")
    wanted = scenarios.select(known, globs, request.requirements) if globs or not loaded else []
    return known + loaded, wanted + loaded


def _jobs(wanted: int, sessions: int, target: str, operated: str = "") -> tuple[int, str]:
    """How many scenarios may run at a time, and why no more.

    What the kit starts has a process for each scenario; of what runs already, the ICS has to say how many
    sessions it can have at once. What an operator does to it, in the scenario `operated`, concerns them all.
    """
    shared = _scheme(target) in SHARED
    if shared and operated and wanted > 1:
        return 1, f"at most 1 scenario at a time, since in {operated} an operator acts on all that it does"
    bound = sessions or (1 if shared else wanted)
    if wanted <= bound:
        return wanted, ""
    said = f"the ICS says so (sessions = {sessions})" if sessions else "the ICS does not say `sessions`"
    return bound, f"at most {plural(bound, 'scenario')} at a time, since {said}"


def _refuse_what_certifies_nothing(request: Request) -> None:
    options = {
        "--scenario": request.scenarios,
        "--requirement": request.requirements,
        "--baseline": request.baseline,
        "--rerun": request.rerun,
    }
    given = [name for name, value in options.items() if value]
    if request.certify and given:
        raise UsageError(f"--certify is about everything, known failures too: leave out {', '.join(given)}")


def _known(request: Request, there_are: list[Scenario], chosen: list[Scenario]) -> Known | None:
    path = request.baseline
    if path is None:
        return None
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        said = "an empty file is a baseline that knows no failure"
        raise BadConfiguration(f"{path} does not exist; {said}") from None
    except OSError as error:
        raise BadConfiguration(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise BadConfiguration(f"{path} is no UTF-8: {error}") from None
    names = tuple(scenario.name for scenario in there_are)
    return Known(path, baseline.read(text, str(path)), request.today, names, len(chosen) < len(there_are))


def _admission(
    request: Request, stated: configuration.Configuration, folder: Path, target: str
) -> tuple[Access, dict[str, Access]]:
    """The means of access, and further ones to a server, by name; the ICS stands in this folder."""
    rows = stated.connection.get("credentials", {}) if _scheme(target) in SERVERS else {}
    named = {name: Means.stated(row, folder) for name, row in rows.items()}
    means = request.means.over(Means.stated(stated.connection, folder))
    refuse_useless(request.means, means, target)
    return all_gained(means, named, target)


def _scheme(target: str) -> str:
    return target.partition(":")[0].lower()


def _file(request: Request) -> Path | None:
    """The file of the ICS: the one that was named, else `conformance.toml` here, which no reference has."""
    here = Path(configuration.DEFAULT_NAME)
    if request.config is None and here.is_file() and not references.is_one(request.target):
        return here
    return request.config


def _statement(request: Request, role: str) -> tuple[configuration.Configuration, str]:
    """The ICS and the target: of the file that was named, else of `conformance.toml` here.

    Without either, and for a reference target, the ICS is the reference implementation's own. A file
    speaks of the vendor's implementation, so the reference is never tested in its place unasked.
    """
    path = _file(request)
    if path is not None:
        stated = configuration.read(path)
        if not request.target and not stated.target:
            raise BadConfiguration(f"{path} names no target, and neither does --target")
        return stated, request.target or stated.target
    target = request.target or references.NAME
    own = references.is_one(target)
    return references.statement(request.pack, role) if own else configuration.Configuration(), target
