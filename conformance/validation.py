"""`validate`: an input judged, and the findings as text or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from conformance import KIT, packs, records
from conformance.errors import CannotJudge, ExitCode, InputUnreadable, NoSuchKind, UnknownProtocol
from conformance.events import Fault, Malformed, Received
from conformance.findings import Finding, Level, Verdict, verdict_of
from conformance.monitor import Monitor, placed
from conformance.packs import Pack
from conformance.wording import plural, printable

Write = Callable[[str], None]


class Options(NamedTuple):
    """How to judge: see `conformance validate --help`."""

    protocol: str = ""
    kind: str = ""
    form: str = "sender"
    stateless: bool = False
    as_published: bool = False


@dataclass(slots=True)
class Judged:
    """One input: what it was, and what is wrong with it. `error` says why it could not be judged."""

    path: str
    pack: Pack | None = None
    messages: int = 0
    findings: list[Finding] = field(default_factory=list)
    error: str = ""

    def verdict(self, finding: Finding) -> Verdict:
        """Whether the finding is a failure or a warning."""
        return verdict_of(finding, self.level(finding))

    def level(self, finding: Finding) -> Level:
        """The level at which the finding counts."""
        known = self.pack.requirements if self.pack else packs.wire_requirements()
        return finding.level or known[finding.requirement].level

    @property
    def fails(self) -> bool:
        """Whether a MUST is broken."""
        return any(self.verdict(one) is Verdict.FAIL for one in self.findings)

    @property
    def valid(self) -> bool:
        """Whether it could be judged and nothing fails; warnings do not make an input invalid."""
        return not self.error and not self.fails

    def summary(self) -> str:
        """One line for a person."""
        if self.error:
            return f"conformance: {self.error}"
        word = "valid" if self.valid else "invalid"
        name = self.pack.name if self.pack else "no protocol"
        told = f", {plural(len(self.findings), 'finding')}" if self.findings else ""
        return f"{self.path}: {word} ({name}, {plural(self.messages, 'message')}{told})"


def expand(paths: Iterable[Path]) -> Iterator[Path]:
    """The files to judge: a folder stands for the .json and .jsonl files in it."""
    for path in paths:
        if path.is_dir():
            inside = sorted(one for one in path.rglob("*") if one.suffix in (".json", ".jsonl"))
            if not inside:
                raise InputUnreadable(f"{path} holds no .json and no .jsonl file")
            yield from inside
        else:
            yield path


def judge_path(path: Path, options: Options) -> Judged:
    """Judge a file, or standard input for `-`. What cannot be judged is an `error`, not an exception."""
    pack = packs.find(options.protocol) if options.protocol else None
    if pack is not None and options.kind:
        pack.kind(options.kind)
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        return Judged(str(path), error=f"{path} cannot be read: {error.strerror}")
    try:
        return judge(data, str(path), options, pack)
    except UnknownProtocol as error:
        return _judge_text(data, str(path), str(error))
    except CannotJudge as error:
        return Judged(str(path), error=str(error))


def _judge_text(data: bytes, path: str, unknown: str) -> Judged:
    """Judge what no protocol recognises as text; if some of it is JSON, `unknown` says what it is not."""
    judged = Judged(path)
    for event in records.open_texts(data):
        if isinstance(event, (Malformed, Received)):
            judged.findings += (_of_fault(event, fault) for fault in event.faults)
        if isinstance(event, Received):
            judged.error = unknown
    if not judged.findings:
        judged.error = unknown
    return judged


def _of_fault(event: Malformed | Received, fault: Fault) -> Finding:
    line, column = placed(event, fault.line, fault.column)
    return Finding(fault.code, False, "", event.seq, fault.message, fault.pointer, line=line, column=column)


def judge(data: bytes, path: str, options: Options, pack: Pack | None = None) -> Judged:
    """Judge the bytes of one input.

    What does not say of which revision it is, is of the newest by which nothing is wrong with it: a
    revision that it may not be of is no reason to blame it. Where there is none such, the newest judges.
    """
    record = records.open_record(data, path, pack)
    judged = _judge(record, path, options)
    for other in record.others if judged.findings else ():
        with suppress(NoSuchKind):  # of the kind that was named
            again = _judge(records.open_record(data, path, other), path, options)
            if again.valid and not again.findings:
                return again
    return judged


def _judge(record: records.Record, path: str, options: Options) -> Judged:
    monitor = Monitor(
        record.pack,
        form=options.form,
        as_published=options.as_published,
        stateless=options.stateless,
        kind=options.kind,
    )
    judged = Judged(path, record.pack)
    for event in record.events:
        judged.findings += (one for one in monitor.feed(event) if not one.ok)
    judged.findings += (one for one in monitor.end() if not one.ok)
    judged.messages = monitor.messages
    if monitor.unknown and len(monitor.unknown) == monitor.messages:
        judged.error = f"{path}: {monitor.unknown[0].problem}"
    elif not monitor.messages and not judged.findings:
        judged.error = f"{path} holds no message"
    return judged


def exit_code(judged: list[Judged]) -> ExitCode:
    """Broken if anything fails, else undecided if anything could not be judged."""
    if any(one.fails for one in judged):
        return ExitCode.BROKEN
    return ExitCode.UNDECIDED if any(one.error for one in judged) else ExitCode.HOLDS


def write_text(judged: list[Judged], write: Write) -> None:
    """A line for each finding: FILE:LINE:COLUMN: LEVEL ID: message."""
    for one in judged:
        for finding in one.findings:
            place = f"{one.path}:{finding.line or 1}:{finding.column or 1}"
            at = f" (at {finding.pointer})" if finding.pointer else ""
            said = f"{place}: {one.level(finding).value} {finding.requirement}: {finding.message}{at}"
            write(printable(said))


def write_json(judged: list[Judged], write: Write) -> None:
    """One object with every input and its findings."""
    value = {"kit": KIT, "inputs": [_input(one) for one in judged]}
    write(json.dumps(value, indent=2, default=str))


def _input(one: Judged) -> dict[str, Any]:
    row: dict[str, Any] = {
        "path": one.path,
        "protocol": one.pack.protocol if one.pack else None,
        "revision": one.pack.revision if one.pack else None,
        "messages": one.messages,
        "valid": one.valid,
        "findings": [_finding(one, finding) for finding in one.findings],
    }
    return row | {"error": one.error} if one.error else row


def _finding(one: Judged, finding: Finding) -> dict[str, Any]:
    return {
        "requirement": finding.requirement,
        "level": one.level(finding).value,
        "verdict": one.verdict(finding).word,
        "seq": finding.seq,
        "line": finding.line or 1,
        "column": finding.column or 1,
        "pointer": finding.pointer,
        "message": finding.message,
        "expected": list(finding.expected),
        "actual": finding.actual,
    }


FORMATS: dict[str, Callable[[list[Judged], Write], None]] = {"text": write_text, "json": write_json}
"""By name."""
