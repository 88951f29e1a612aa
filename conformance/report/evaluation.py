"""From transcripts and step findings to the report's value: a verdict per requirement, and the claim.

Everything a transcript can show is judged here, from the transcript: whoever holds the files can do
it again. Only findings about the implementation count; what the kit itself sent is never its fault.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance import KIT, records
from conformance.findings import Finding, Level, Requirement, Verdict, claim_status, fold, verdict_of
from conformance.instants import instant
from conformance.monitor import Monitor
from conformance.packs import Pack
from conformance.report import digests, exercise, flakiness, statement

_TROUBLED = ("inconclusive", "unreachable", "interrupted", "error")

SHOWN = 20
"""At most this many findings against one requirement are listed; all count."""


@dataclass(slots=True)
class Evidence:
    """What one scenario showed: findings by requirement, and the lifecycle edges it took.

    `ours` are findings against the kit, `unfinished` such as only the end of the record settled.
    """

    findings: list[Finding] = field(default_factory=list)
    edges: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    illegal: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    shown: dict[str, int] = field(default_factory=dict)
    """Facts of the ICS that the implementation showed, and the first event that did."""
    ours: list[Finding] = field(default_factory=list)
    unfinished: list[Finding] = field(default_factory=list)
    exercised: exercise.Exercise = field(default_factory=exercise.Exercise)
    digest: str = ""
    """SHA-256 of the transcript, as `sha256:…`; empty where there is none."""
    began: str = ""
    """When it began, as its header has it."""

    def add(self, steps: Iterable[Finding], until: int = 0) -> None:
        """Add what steps found; from the event `until` on, if there is one, nothing counts."""
        self.findings += steps
        if until:
            self.findings = [one for one in self.findings if one.seq < until]

    def take(self, findings: list[Finding], role: str, against_us: list[Finding]) -> None:
        """Sort findings by whose doing they are; the implementation has `role`."""
        self.findings += [one for one in findings if one.party in (role, "")]
        against_us += [one for one in findings if one.party not in (role, "") and not one.ok]


def judge(path: Path, pack: Pack, role: str) -> Evidence:
    """What the transcript in a file shows about the implementation in `role`.

    Raises InputUnreadable where the file is no transcript.
    """
    monitor, observer, data = Monitor(pack), exercise.Observer(pack), path.read_bytes()
    evidence = Evidence(digest=digests.of(data), began=_began(data))
    for event in records.open_record(data, str(path), pack).events:
        evidence.take(monitor.feed(event), role, evidence.ours)
        if monitor.message is not None:
            observer.see(monitor.message, role)
        if monitor.message is not None and monitor.message.party == role:
            for fact in statement.shown_by(monitor.message, pack):
                evidence.shown.setdefault(fact, event.seq)
    evidence.take(monitor.end(), role, evidence.unfinished)
    evidence.edges, evidence.illegal = monitor.edges, monitor.illegal
    evidence.exercised = observer.exercise
    evidence.exercised.reasons = monitor.reasons
    return evidence


def _began(data: bytes) -> str:
    """When the record began, as the header of a transcript says it; empty where it does not."""
    try:
        header = json.loads(data.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return ""
    began = header.get("began", "") if isinstance(header, dict) else ""
    return began if isinstance(began, str) and instant(began) is not None else ""


@dataclass(frozen=True, slots=True)
class Run:
    """One scenario as the report sees it."""

    name: str
    title: str
    status: str
    reason: str
    line: int
    seconds: float
    transcript: str
    stderr: str
    requirements: tuple[str, ...]
    evidence: Evidence
    attempt: int = 1
    """Which of the scenario's runs this is, from 1."""
    needs: tuple[str, ...] = ()
    """The facts of the ICS that have to be true for it."""
    stretched: float = 1.0
    """How many times as patient as usual the kit was, since the machine was slow."""
    steps: tuple[Finding, ...] = ()
    """What the scenario's own steps found, which the transcript does not show."""
    until: int = 0
    """The event from which on nothing counts, since the kit itself went wrong there; 0 where it did not."""

    def row(self, flaky: str = "") -> dict[str, Any]:
        """The run's row in the report; `flaky` is how it differs from others of its scenario."""
        row = {
            "name": self.name,
            "title": self.title,
            "status": self.status,
            "reason": self.reason,
            "line": self.line,
            "seconds": self.seconds,
            "stretched": self.stretched,
            "transcript": self.transcript,
            "stderr": self.stderr,
            "requirements": list(self.requirements),
        }
        evidence = {"digest": self.evidence.digest, "began": self.evidence.began} if self.transcript else {}
        again = {"attempt": self.attempt} if self.attempt > 1 else {}
        steps = [_of_step(one) for one in self.steps]
        found = {"steps": steps, "until": self.until, "needs": list(self.needs)}
        more = again | evidence | found | {"flaky": flaky}
        return row | {name: value for name, value in more.items() if value}


def _of_step(finding: Finding) -> dict[str, Any]:
    """What a step found, with what tells it from a finding without anything to say."""
    row = finding._asdict()
    row |= {"expected": list(finding.expected), "level": finding.level.value if finding.level else None}
    bare = Finding(finding.requirement, finding.ok, finding.party)._asdict() | {"expected": []}
    always = ("requirement", "ok", "party")
    return {name: value for name, value in row.items() if name in always or value != bare[name]}


def evaluate(
    pack: Pack,
    role: str,
    runs: list[Run],
    *,
    target: str,
    implementation: dict[str, str],
    ics: dict[str, Any],
    complete: bool,
) -> dict[str, Any]:
    """The report's value (schema: `report.schema.json`)."""
    told, total = _told(runs), exercise.whole(runs)
    asked = [one for one in pack.requirements.values() if not _is_left_out(one, runs)]
    rows = [_row(requirement, role, runs, told[requirement.id]) for requirement in asked]
    for row in rows:
        if row["verdict"] == Verdict.UNTESTED.word:
            row["lacking"] = exercise.why_untested(pack.requirements[row["id"]], pack, total, runs)
    differing = flakiness.of_scenarios(runs, pack.requirements.values())
    return {
        "report": 1,
        "kit": KIT,
        "pack": {"protocol": pack.protocol, "revision": pack.revision, "digest": digest(pack)},
        "target": without_credentials(target),
        "role": role,
        "implementation": implementation,
        "ics": ics,
        "ics_digest": _digest_of(ics),
        "claim": _claim(pack, role, rows, implementation, complete, runs),
        "requirements": rows,
        "scenarios": [run.row(differing.get(run.name, "")) for run in runs],
        "lifecycles": _lifecycles(pack, runs, total),
        "exercise": exercise.member(pack, total),
        "ics_findings": statement.findings(pack, ics, runs),
        "errata": [{"id": one.id, "schema": one.schema, "reason": one.reason} for one in pack.errata],
        "complete": complete,
    }


def _is_left_out(requirement: Requirement, runs: list[Run]) -> bool:
    """Whether it is one of the kit's own that only steps show, and no step of these runs is about it."""
    kinds = {check["kind"] for check in requirement.checks}
    is_own = requirement.id.startswith("WIRE-") and kinds == {"scenario"}
    return is_own and not any(requirement.id in run.requirements for run in runs)


def _told(runs: list[Run]) -> defaultdict[str, list[tuple[Run, Finding]]]:
    """The findings by requirement: a run has a hundred thousand, and the report is written after each."""
    told: defaultdict[str, list[tuple[Run, Finding]]] = defaultdict(list)
    for run in runs:
        for one in run.evidence.findings:
            told[one.requirement].append((run, one))
    return told


def _row(
    requirement: Requirement, role: str, runs: list[Run], told: list[tuple[Run, Finding]]
) -> dict[str, Any]:
    verdict, reason = _verdict(requirement, role, [one for _, one in told], runs)
    against = [(run, one) for run, one in told if not one.ok]
    failed = [run.name for run, one in against if verdict_of(one, requirement.level) is Verdict.FAIL]
    row = {
        "id": requirement.id,
        "level": requirement.level.value,
        "role": requirement.role,
        "area": requirement.area,
        "summary": requirement.summary,
        "reference": requirement.reference,
        "verdict": verdict.word,
        "reason": reason,
        "observations": len(told),
        "findings": [_finding(one, run, requirement.level) for run, one in against[:SHOWN]],
        "further_findings": max(0, len(against) - SHOWN),
        "proved_by": list(dict.fromkeys(run.name for run, one in told if one.ok)),
    }
    flaky = flakiness.of_requirement(requirement, runs)
    row |= {"failed_in": list(dict.fromkeys(failed))} if failed else {}
    return row | ({"flaky": flaky} if flaky else {})


def _verdict(
    requirement: Requirement, role: str, findings: list[Finding], runs: list[Run]
) -> tuple[Verdict, str]:
    """The verdict, and in words why it is no plain pass or fail."""
    if not requirement.concerns(role):
        # What it does wrong counts all the same; what it does right is nobody's merit.
        findings = [one for one in findings if verdict_of(one, requirement.level) > Verdict.PASS]
    if findings:
        verdict = fold(verdict_of(one, requirement.level) for one in findings)
        worst = next(one for one in findings if verdict_of(one, requirement.level) is verdict)
        return verdict, worst.message or (requirement.part and f"shown in part: {requirement.part}")
    if not requirement.concerns(role):
        return Verdict.NOT_APPLICABLE, f"it is for the {requirement.role} to meet"
    if requirement.excluded:
        return Verdict.NOT_APPLICABLE, requirement.excluded
    if requirement.manual:
        return Verdict.MANUAL, requirement.manual
    if requirement.untested:
        return Verdict.UNTESTED, requirement.untested
    return _unheard(requirement, runs)


def _unheard(requirement: Requirement, runs: list[Run]) -> tuple[Verdict, str]:
    """Why a requirement that could be judged was not: no scenario got that far, or none is meant to."""
    meant = [run for run in runs if requirement.id in run.requirements]
    for run in meant:
        if run.status in (*_TROUBLED, "failed"):
            return Verdict.INCONCLUSIVE, f"scenario {run.name} could not show it: {run.reason}"
    if meant and all(run.status == "not-applicable" for run in meant):
        return Verdict.NOT_APPLICABLE, meant[0].reason
    return Verdict.UNTESTED, "nothing in this run exercised it"


def _finding(one: Finding, run: Run, level: Level) -> dict[str, Any]:
    return {
        "verdict": verdict_of(one, level).word,
        "scenario": run.name,
        "transcript": run.transcript,
        "seq": one.seq,
        "line": one.line,
        "column": one.column,
        "pointer": one.pointer,
        "message": one.message,
        "expected": list(one.expected),
        "actual": one.actual,
    }


def _claim(
    pack: Pack, role: str, rows: list[dict[str, Any]], who: dict[str, str], complete: bool, runs: list[Run]
) -> dict[str, Any]:
    own = list(_own(rows))
    status = claim_status(own)
    if not complete and status == "conformant":
        status = "incomplete"
    counts = Counter(row["verdict"] for row in rows)
    head = f"{_named(who)}, tested as {role} of {pack.name} with {KIT['name']} {KIT['version']}"
    tail = "" if complete else " The run was not completed."
    return {
        "status": status,
        "wording": f"{head}: {_said(status, own, runs)}.{tail}",
        "counts": {verdict.word: counts[verdict.word] for verdict in reversed(Verdict)},
    }


def _own(rows: list[dict[str, Any]]) -> Iterator[tuple[Level, Verdict]]:
    """The applicable verdicts that a claim may rest on. The kit's own ids of the wire can fail a claim,
    but that an implementation writes JSON is no evidence that it speaks the protocol.
    """
    for row in rows:
        verdict = Verdict[row["verdict"].upper().replace("-", "_")]
        if verdict is Verdict.FAIL or (
            verdict is not Verdict.NOT_APPLICABLE and not row["id"].startswith("WIRE-")
        ):
            yield Level(row["level"]), verdict


def _named(who: dict[str, str]) -> str:
    return " ".join(filter(None, (who.get("name", "The implementation"), who.get("version", ""))))


def _said(status: str, own: list[tuple[Level, Verdict]], runs: list[Run]) -> str:
    """What was found, in words. A requirement that failed as a MUST counts as one."""
    musts = [verdict for level, verdict in own if level is Level.MUST or verdict is Verdict.FAIL]
    # A MUST with a warning was met; the warning is about what it only recommends.
    passed, failed = sum(one in (Verdict.PASS, Verdict.WARN) for one in musts), musts.count(Verdict.FAIL)
    if status == "not-evaluated":
        why = next((run.reason for run in runs if run.status in _TROUBLED), "nothing was exercised")
        return f"could not be evaluated ({why})"
    if status == "non-conformant":
        return f"does not conform; {failed} of {len(musts)} applicable MUST requirements failed"
    if status == "conformant":
        return f"conforms; all {len(musts)} applicable MUST requirements passed"
    return (
        "no requirement failed, but the evaluation is incomplete; "
        f"{passed} of {len(musts)} applicable MUST requirements passed and "
        f"{len(musts) - passed} were not decided"
    )


def _lifecycles(pack: Pack, runs: list[Run], total: exercise.Exercise) -> list[dict[str, Any]]:
    edges = sum((run.evidence.edges for run in runs), Counter())
    illegal = sum((run.evidence.illegal for run in runs), Counter())
    return [
        {
            "name": name,
            "initial": table.initial,
            "states": dict(table.classes),
            "edges": [
                {"from": edge.source, "to": edge.target, "seen": edges[name, edge.source, edge.target]}
                for edge in table.edges()
            ],
            "illegal": [
                {"from": source, "to": target, "seen": seen}
                for (lifecycle, source, target), seen in sorted(illegal.items())
                if lifecycle == name
            ],
            "reasons": exercise.reasons(pack, name, total),
        }
        for name, (table, _) in pack.lifecycles.items()
    ]


def digest(pack: Pack) -> str:
    """SHA-256 over the files of the pack and its base, and their names: it tells exactly what judged."""
    total = hashlib.sha256()
    for folder in pack.data.folders:
        for path in sorted(folder.rglob("*.json")):
            total.update(path.relative_to(folder).as_posix().encode() + b"\0")
            total.update(path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return f"sha256:{total.hexdigest()}"


def _digest_of(facts: dict[str, Any]) -> str:
    """SHA-256 over facts as JSON, with their names in order."""
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), default=str)
    return digests.of(text.encode())


def without_credentials(target: str) -> str:
    """The target without user, password, query and fragment, which may hold credentials."""
    bare = re.sub(r"(wss?://[^?#\s]*)[?#]\S*", r"\1", target, flags=re.IGNORECASE)
    return re.sub(r"(wss?://)[^/\s]*@", r"\1", bare, flags=re.IGNORECASE)
