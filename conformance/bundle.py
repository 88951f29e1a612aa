"""A report and everything that it was made from, as one file that can be sent, signed and verified."""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from conformance.errors import InputUnreadable, UsageError
from conformance.report import attestation, digests
from conformance.verification import Changed

STATEMENT = "statement.json"
"""The in-toto statement of a bundle, whose subjects are all its other files."""

PARTS = ("report.json", "report.html", "transcripts/*.jsonl", "stderr/*.txt", "fuzz/*.yaml")
"""What belongs to a report, in its folder."""

FILES, LARGEST = 20_000, 2**30
"""A bundle of more files, or of more bytes, is not read."""

_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def write(path: Path, folder: Path, report: dict[str, Any]) -> None:
    """Write the bundle of a report and what lies beside it; the same files make the same bytes.

    UsageError where it cannot be written, or where a file of the report would be lost by it.
    """
    spare(path, folder)
    parts = [part for pattern in PARTS for part in sorted(folder.glob(pattern)) if part.is_file()]
    names = {part.relative_to(folder).as_posix(): part for part in parts}
    try:
        told: dict[str, str] = {}
        draft = path.with_name(path.name + ".part")
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as file:
            for name, part in names.items():
                data = part.read_bytes()
                told[name] = digests.of(data)
                file.writestr(_entry(name), data)
            said = json.dumps(attestation.statement(report, told), indent=2) + "\n"
            file.writestr(_entry(STATEMENT), said)
        draft.replace(path)
    except OSError as error:
        raise UsageError(f"the bundle {path} cannot be written: {error.strerror}") from None


def spare(path: Path, folder: Path) -> None:
    """Raise UsageError where a bundle at `path` would replace a file of a report, or has no place."""
    own, home = path.resolve(), folder.resolve()
    if own.parent != home and not own.parent.is_dir():
        raise UsageError(f"the bundle {path} cannot be written: there is no folder {path.parent}")
    if own.is_relative_to(home) and any(own.relative_to(home).match(pattern) for pattern in PARTS):
        raise UsageError(f"the bundle {path} would stand in the place of a file of the report: name another")


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _LONG_AGO)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (stat.S_IFREG | 0o644) << 16
    return entry


@contextmanager
def opened(path: Path) -> Iterator[tuple[Path, tuple[Changed, ...]]]:
    """A bundle's files in a folder that lasts as long as the context, and those that its statement denies.

    Raises InputUnreadable for what is no bundle of a report, is too large, or would write elsewhere.
    """
    with TemporaryDirectory(prefix="conformance-") as made:
        folder = Path(made)
        try:
            with zipfile.ZipFile(path) as file:
                _extract(file, folder, path)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
            raise InputUnreadable(f"{path} is no bundle of a report: {error}") from None
        except OSError as error:
            raise InputUnreadable(f"{path} cannot be read: {error.strerror or error}") from None
        yield folder, tuple(_denied(folder, path))


def _extract(file: zipfile.ZipFile, folder: Path, path: Path) -> None:
    entries = file.infolist()
    if len(entries) > FILES or sum(entry.file_size for entry in entries) > LARGEST:
        raise InputUnreadable(f"{path} is too large: a bundle has at most {FILES} files and {LARGEST} bytes")
    for entry in entries:
        name = PurePosixPath(entry.filename)
        if not any(_is_part(name, part) for part in (STATEMENT, *PARTS)):
            raise InputUnreadable(f"{path} holds {entry.filename!r}, which belongs to no report")
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(file.read(entry))


def _is_part(name: PurePosixPath, pattern: str) -> bool:
    """Whether a name is one of the pattern's, step for step: nothing leads out of the folder."""
    wanted = PurePosixPath(pattern)
    return (
        len(name.parts) == len(wanted.parts)
        and ".." not in name.parts
        and name.match(pattern)
        and not name.is_absolute()
    )


def _denied(folder: Path, path: Path) -> Iterator[Changed]:
    """The files that are not what the statement says, and those that are missing or not in it."""
    try:
        said = json.loads((folder / STATEMENT).read_text("utf-8"))
        subjects = {one["name"]: f"sha256:{one['digest']['sha256']}" for one in said["subject"]}
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        raise InputUnreadable(f"{path} has no {STATEMENT} that says what is in it") from None
    there = {
        one.relative_to(folder).as_posix(): digests.of(one.read_bytes())
        for one in sorted(folder.rglob("*"))
        if one.is_file() and one.name != STATEMENT
    }
    for name in {**subjects, **there}:
        was, now = subjects.get(name, "missing"), there.get(name, "missing")
        if was != now:
            yield Changed(name, was, now, f"{name} is not what the bundle's statement says")
