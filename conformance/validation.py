"""`validate`: inputs judged as they come, each finding told at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from errno import EBADF
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from conformance import packs, recognition, records
from conformance.alternatives import Against, Alternatives
from conformance.errors import CannotJudge
from conformance.events import Event, Fault, Malformed, Received, Sent, in_input
from conformance.findings import Finding
from conformance.judgement import Judged, Told
from conformance.monitor import Monitor
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
        yield from sorted(_inside(path)) or [path]


def _inside(folder: Path) -> Iterator[Path]:
    """The files of SUFFIXES in a folder, and the folders in it that cannot be looked into."""
    closed: list[OSError] = []
    for place, _, names in os.walk(folder, onerror=closed.append):
        yield from (path for path in (Path(place, name) for name in names) if path.suffix in SUFFIXES)
    yield from (Path(error.filename) for error in closed if isinstance(error, PermissionError))


def judge_path(path: Path, options: Options, tell: Tell) -> Judged:
    """Judge a file, or standard input for `-`. What cannot be judged is an `error`, not an exception."""
    judged, pack = Judged(str(path)), options.pack()
    try:
        if path.is_dir():
            next(path.iterdir(), None)  # or else it cannot be read
            judged.error = f"{path} holds no {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file"
        elif str(path) == "-":
            judge(_standard_input(), judged, options, tell, pack)
        else:
            with path.open("rb") as file:
                judge(_as_they_come(file), judged, options, tell, pack)
    except OSError as error:
        judged.error = f"{path} cannot be read: {error.strerror}"
    except KeyboardInterrupt:
        judged.stopped = True
    return judged


def _standard_input() -> Iterator[bytes]:
    if sys.stdin is None:
        raise OSError(EBADF, "standard input is closed")
    return _as_they_come(sys.stdin.buffer)


def _as_they_come(source: BinaryIO) -> Iterator[bytes]:
    """Bytes as soon as there are any: an endless input, a pipe by whatever name, is judged as it comes."""
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
    judges = Alternatives((record.pack, *record.others), partial(monitor_of, options=options))

    def told(found: Iterable[Against]) -> None:
        judged.pack = judges.chosen.pack
        for finding, event in found:
            tell(judged, judged.tell(of_kind(finding, event, judges.chosen.pack), event))

    try:
        for event in record.events:
            found = judges.feed(event)
            if found:
                told(found)
        told(judges.end())
    finally:
        judged.pack, monitor = judges.chosen.pack, judges.chosen.monitor
        judged.messages, judged.unjudged = monitor.messages, monitor.unknown
    if monitor.unknown and monitor.unknown == monitor.messages:
        judged.error = f"{judged.path}: {monitor.why_unknown}"
    elif not monitor.messages and not judged.told:
        judged.error = f"{judged.path} holds no message"


def monitor_of(pack: Pack, *, options: Options) -> Monitor:
    """What judges a record of the pack."""
    return Monitor(
        pack,
        form=options.form,
        as_published=options.as_published,
        stateless=options.stateless,
        kind=options.kind,
        praise=False,
    )


def of_kind(finding: Finding, event: Event | None, pack: Pack) -> Finding:
    """Of a message of no kind, with what else it looks like."""
    if finding.requirement != pack.unknown_kind_id or not isinstance(event, (Sent, Received)):
        return finding
    other = recognition.belongs_elsewhere(event.value, pack)
    return finding._replace(message=f"{finding.message}; {other}") if other else finding


def _judge_text(record: records.Unrecognised, judged: Judged, tell: Tell) -> None:
    """Judge what no protocol recognises as text; if some of it is JSON, `error` says what it is not.

    It is then none of these protocols' matter, whatever it looks like as their text.
    """
    for event in record.events:
        if isinstance(event, (Malformed, Received)):
            for fault in event.faults:
                tell(judged, judged.tell(_of_fault(event, fault), event))
        if isinstance(event, Received):
            judged.error = str(record.why)
    if not judged.told:
        judged.error = str(record.why)
    judged.fails = judged.fails and not judged.error


def _of_fault(event: Malformed | Received, fault: Fault) -> Finding:
    line, column = in_input(event, fault.line, fault.column)
    return Finding(fault.code, False, "", event.seq, fault.message, fault.pointer, line=line, column=column)
