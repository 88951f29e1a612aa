"""`conformance generate PROTOCOL --walks`: conversations through the lifecycles, as transcripts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance import making, packs
from conformance.console import say
from conformance.errors import ExitCode, UsageError
from conformance.generation import recording, walks
from conformance.packs import Pack


def requested(wanted: Mapping[str, Any], out: Path | None, *, walks: bool) -> int:
    """Make the walks of a protocol; a UsageError where what is `wanted` beside them is about messages."""
    if not walks:
        raise UsageError("--out goes with --walks; messages are printed")
    defaults = making.Request._field_defaults
    given = [
        name for name in wanted if name not in ("protocol", "invalid") and wanted[name] != defaults[name]
    ]
    if given:
        said = ", ".join(sorted(given)).replace("_", "-")
        raise UsageError(f"--walks makes whole conversations, valid or --invalid ones: leave out {said}")
    if not wanted["protocol"]:
        raise UsageError("say whose lifecycles to walk through: a PROTOCOL")
    return execute(packs.find(wanted["protocol"]), out, illegal=wanted["invalid"])


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
