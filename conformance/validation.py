"""`validate`: inputs judged as they come, each finding told at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from conformance import packs, recognition, records
from conformance.errors import CannotJudge
from conformance.events import Event, Fault, Malformed, Received, Sent
from conformance.findings import Finding
from conformance.judgement import Judged, Told
from conformance.monitor import Monitor, placed
from conformance.packs import Pack

SUFFIXES = (".json", ".jsonl", ".ndjson")
"""The files that a folder stands for."""

CHUNK = 1 << 20

Tell = Callable[[Judged, Told], None]
"""What is done with each finding against an input."""


class Options(NamedTuple):
    """How to judge: see `conformance validate --help`."""

    protocol: str = ""
    kind: str = ""
    form: str = "sender"
    stateless: bool = False
    as_published: bool = False

    def pack(self) -> Pack | None:
        """The pack that was named, if one was; NoSuchPack or NoSuchKind where there is none."""
        pack = packs.find(self.protocol) if self.protocol else None
        if pack is not None and self.kind:
            pack.kind(self.kind)
        return pack


def expand(paths: Iterable[Path]) -> Iterator[Path]:
    """The files to judge: a folder stands for those of SUFFIXES in it, or for itself if it has none."""
    for path in paths:
        inside = sorted(one for one in path.rglob("*") if one.suffix in SUFFIXES) if path.is_dir() else []
        yield from inside or [path]


def judge_path(path: Path, options: Options, tell: Tell) -> Judged:
    """Judge a file, or standard input for `-`. What cannot be judged is an `error`, not an exception."""
    judged, pack = Judged(str(path)), options.pack()
    try:
        if path.is_dir():
            judged.error = f"{path} holds no {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file"
        elif str(path) == "-":
            judge(_standard_input(), judged, options, tell, pack)
        else:
            with path.open("rb") as file:
                judge(iter(lambda: file.read(CHUNK), b""), judged, options, tell, pack)
    except OSError as error:
        judged.error = f"{path} cannot be read: {error.strerror}"
    except KeyboardInterrupt:
        judged.stopped = True
    return judged


def _standard_input() -> Iterator[bytes]:
    """Bytes as soon as there are any: an endless input is judged as it comes."""
    source = sys.stdin.buffer
    read = getattr(source, "read1", source.read)
    return iter(lambda: read(CHUNK), b"")


def judge(
    chunks: Iterable[bytes], judged: Judged, options: Options, tell: Tell, pack: Pack | None = None
) -> None:
    """Judge the bytes of one input; each finding is told as soon as it is settled."""
    try:
        record = records.open_stream(chunks, judged.path, pack)
        if isinstance(record, records.Unrecognised):
            _judge_text(record, judged, tell)
        else:
            _judge_record(record, judged, options, tell)
    except CannotJudge as error:
        judged.error = str(error)


def _judge_record(record: records.Record, judged: Judged, options: Options, tell: Tell) -> None:
    judged.pack = record.pack
    monitor = Monitor(
        record.pack,
        form=options.form,
        as_published=options.as_published,
        stateless=options.stateless,
        kind=options.kind,
    )
    try:
        for event in record.events:
            for finding in monitor.feed(event):
                if not finding.ok:
                    tell(judged, judged.tell(_of_kind(finding, event, record.pack), event))
        for finding in monitor.end():
            if not finding.ok:
                tell(judged, judged.tell(finding))
    finally:
        judged.messages = monitor.messages
    if monitor.unknown and len(monitor.unknown) == monitor.messages:
        judged.error = f"{judged.path}: {monitor.unknown[0].problem}"
    elif not monitor.messages and not judged.told:
        judged.error = f"{judged.path} holds no message"


def _of_kind(finding: Finding, event: Event, pack: Pack) -> Finding:
    """Of a message of no kind, with what else it looks like."""
    if finding.requirement != pack.unknown_kind_id or not isinstance(event, (Sent, Received)):
        return finding
    other = recognition.belongs_elsewhere(event.value, pack)
    return finding._replace(message=f"{finding.message}; {other}") if other else finding


def _judge_text(record: records.Unrecognised, judged: Judged, tell: Tell) -> None:
    """Judge what no protocol recognises as text; if some of it is JSON, `error` says what it is not."""
    for event in record.events:
        if isinstance(event, (Malformed, Received)):
            for fault in event.faults:
                tell(judged, judged.tell(_of_fault(event, fault), event))
        if isinstance(event, Received):
            judged.error = str(record.why)
    if not judged.told:
        judged.error = str(record.why)


def _of_fault(event: Malformed | Received, fault: Fault) -> Finding:
    line, column = placed(event, fault.line, fault.column)
    return Finding(fault.code, False, "", event.seq, fault.message, fault.pointer, line=line, column=column)
