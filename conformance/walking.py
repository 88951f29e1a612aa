"""`conformance generate PROTOCOL --walks`: conversations through the lifecycles, as transcripts."""

from __future__ import annotations

from pathlib import Path

from conformance.console import say
from conformance.errors import ExitCode, UsageError
from conformance.generation import recording, walks
from conformance.packs import Pack


def execute(pack: Pack, out: Path | None, *, illegal: bool) -> int:
    """Write the walks to standard output, or one file each to a folder, and tell what they cover."""
    found = walks.illegal(pack) if illegal else walks.legal(pack)
    for number, walk in enumerate(found.walks, 1):
        text = "\n".join(recording.lines(pack, walk))
        if out is None:
            say(text)
        else:
            _write(out, recording.file_name(walk, number), text + "\n")
    for line in recording.summary(found, illegal=illegal):
        say(line, err=True)
    return ExitCode.HOLDS


def _write(folder: Path, name: str, text: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"nothing can be written to {folder}: {error.strerror}") from None
