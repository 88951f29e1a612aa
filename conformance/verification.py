"""A report judged again, offline, from its own transcripts: what comes out otherwise, and why that may be.

Whoever has a report and what lies beside it can do this, with any version of the kit. What a step of a
scenario found, and no transcript shows, is taken from the report.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from conformance import KIT, packs
from conformance.errors import InputUnreadable
from conformance.findings import Finding, Level
from conformance.packs import Pack
from conformance.report import evaluation

FORGED = "the kit, the pack and the transcripts are the same: the report itself was changed"


class Changed(NamedTuple):
    """Something that is not what the report says it is: `what`, what it `was`, what it `is`, and words."""

    what: str
    was: str
    now: str
    message: str


class Verification(NamedTuple):
    """What came of judging a report again.

    `causes` are differences that may make a verdict differ and are none themselves: another kit, another
    pack. `tampered` are files and facts that are not those of which the report was made, `verdicts` the
    requirements and the claim that come out otherwise.
    """

    report: dict[str, Any]
    causes: tuple[Changed, ...]
    tampered: tuple[Changed, ...]
    verdicts: tuple[Changed, ...]

    @property
    def agrees(self) -> bool:
        """Whether everything is as the report says."""
        return not self.tampered and not self.verdicts

    @property
    def why(self) -> tuple[str, ...]:
        """Why verdicts may differ, a sentence each; empty where none does."""
        if not self.verdicts:
            return ()
        return tuple(one.message for one in (*self.causes, *self.tampered)) or (FORGED,)


def verify(report: dict[str, Any], folder: Path) -> Verification:
    """Judge the transcripts of a report, which lie in its folder, again.

    Raises NoSuchPack where this kit has no such protocol or revision, and InputUnreadable where a
    transcript is missing or is none.
    """
    pack = packs.find(f"{report['pack']['protocol']}@{report['pack']['revision']}")
    runs = [_run(row, folder, pack, report["role"]) for row in report["scenarios"]]
    again = evaluation.evaluate(
        pack,
        report["role"],
        runs,
        target=report["target"],
        implementation=report["implementation"],
        ics=report["ics"],
        complete=report["complete"],
    )
    found = (tuple(look(report, again)) for look in (_causes, _tampered, _verdicts))
    return Verification(report, *found)


def _run(row: dict[str, Any], folder: Path, pack: Pack, role: str) -> evaluation.Run:
    """One scenario's run, with what its transcript shows today."""
    steps = tuple(finding(one) for one in row.get("steps", ()))
    evidence = evaluation.Evidence()
    if row["transcript"]:
        evidence = evaluation.judge(_inside(folder, row["transcript"]), pack, role)
    until = row.get("until", 0)
    evidence.add(steps, until)
    return evaluation.Run(
        name=row["name"],
        title=row["title"],
        status=row["status"],
        reason=row["reason"],
        line=row["line"],
        seconds=row["seconds"],
        transcript=row["transcript"],
        stderr=row["stderr"],
        requirements=tuple(row["requirements"]),
        evidence=evidence,
        attempt=row.get("attempt", 1),
        needs=tuple(row.get("needs", ())),
        stretched=row["stretched"],
        steps=steps,
        until=until,
    )


def _inside(folder: Path, name: str) -> Path:
    """A file of the report's own folder; InputUnreadable for any other, and for none."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise InputUnreadable(f"{folder}: the report names {name}, which is not in its folder")
    if not path.is_file():
        raise InputUnreadable(f"{path} is missing: the report was made from it")
    return path


def finding(row: dict[str, Any]) -> Finding:
    """What a step found, from the row that the report has of it."""
    level = Level(row["level"]) if "level" in row else None
    return Finding(**{**row, "expected": tuple(row.get("expected", ())), "level": level})


def _causes(report: dict[str, Any], again: dict[str, Any]) -> Iterator[Changed]:
    kit = f"{report['kit']['name']} {report['kit']['version']}"
    now = f"{KIT['name']} {KIT['version']}"
    if kit != now:
        yield Changed("kit", kit, now, f"the report is of {kit}, and this is {now}")
    was, digest = report["pack"]["digest"], again["pack"]["digest"]
    if was != digest:
        name = f"{report['pack']['protocol']}@{report['pack']['revision']}"
        said = f"the files of {name} here are not those that judged"
        yield Changed("pack", was, digest, said)


def _tampered(report: dict[str, Any], again: dict[str, Any]) -> Iterator[Changed]:
    for before, after in zip(report["scenarios"], again["scenarios"], strict=True):
        was, now = before.get("digest", ""), after.get("digest", "")
        if was and was != now:
            said = f"{before['transcript']} is not what the report was made from"
            yield Changed(before["transcript"], was, now, said)
    if report["ics_digest"] != again["ics_digest"]:
        said = "the facts of the ICS are not those with which the report was made"
        yield Changed("ics", report["ics_digest"], again["ics_digest"], said)


def _verdicts(report: dict[str, Any], again: dict[str, Any]) -> Iterator[Changed]:
    now = {row["id"]: row for row in again["requirements"]}
    was = {row["id"]: row for row in report["requirements"]}
    for name in {**was, **now}:
        before = was[name]["verdict"] if name in was else "missing"
        after = now[name]["verdict"] if name in now else "missing"
        if before != after:
            why = now[name]["reason"] if name in now else "there is no such requirement any more"
            said = f"{name}: the report says {before}, and it is {after}"
            yield Changed(name, before, after, f"{said}: {why}" if why else said)
    before, after = report["claim"]["status"], again["claim"]["status"]
    if before != after:
        yield Changed("claim", before, after, f"claim: the report says {before}, and it is {after}")
