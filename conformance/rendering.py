"""Rendering a report that lies in a folder, with its transcripts beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conformance import exchanges
from conformance import report as reports
from conformance.console import say
from conformance.errors import UsageError

PAGE = "report.html"
"""The page's name beside report.json."""


def execute(path: Path, form: str, out: Path | None) -> int:
    """Render the report in a file or folder, on standard output or into a file."""
    report = reports.read(path)
    if out is not None and out.exists() and out.samefile(path / "report.json" if path.is_dir() else path):
        raise UsageError(f"{out} is the report itself, which would be lost: name another file")
    text = _rendered(report, form, path if path.is_dir() else path.parent)
    if out is None:
        say(text, nl=False)
    else:
        _write(out, text)
    return 0


def page(report: dict[str, Any], folder: Path) -> Path:
    """Write the page of a report beside it, and return its path. UsageError where it cannot be written."""
    _write(folder / PAGE, _rendered(report, "html", folder))
    return folder / PAGE


def _rendered(report: dict[str, Any], form: str, folder: Path) -> str:
    around = exchanges.of_report(report, folder) if form in reports.WITH_WIRE else exchanges.NONE
    return reports.RENDERERS[form](report, around)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
