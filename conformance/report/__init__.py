"""The report: one value, and pure renderings of it. `RENDERERS` is the table by name.

`report.json` is the value itself, written as the run goes, so that an interrupted run leaves a
readable one that says it is not complete. Everything else can be made from it later.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from conformance import formats
from conformance.errors import InputUnreadable
from conformance.exchanges import NONE, Exchanges
from conformance.report import inert


class Renderer(Protocol):
    """Makes a text of a report's value; `exchanges` are what stands around its findings on the wire."""

    def __call__(self, report: dict[str, Any], exchanges: Exchanges = NONE) -> str:
        """The text, which ends with a newline."""
        ...


def _of(module: str) -> Renderer:
    """The renderer of a module, which is not imported before somebody asks for the format."""

    def render(report: dict[str, Any], exchanges: Exchanges = NONE) -> str:
        made = import_module(f"conformance.report.{module}").render(inert.report_of(report), exchanges)
        return cast("str", made)

    return render


RENDERERS: dict[str, Renderer] = {
    "text": _of("text"),
    "html": _of("page"),
    "junit": _of("junit"),
    "sarif": _of("sarif"),
    "ctrf": _of("ctrf"),
    "markdown": _of("markdown"),
    "badge": _of("badge"),
    "badge-json": _of("shields"),
    "earl": _of("earl"),
}
"""By name of the format: report value → text."""

WITH_WIRE = ("html", "sarif")
"""The formats that show more of a finding where they are given the exchanges around it."""


def read(path: Path) -> dict[str, Any]:
    """The value of a report file, or of the report in a folder; InputUnreadable where it is none."""
    path = path / "report.json" if path.is_dir() else path
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputUnreadable(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise InputUnreadable(f"{path} is not JSON: {error}") from None
    for broken in formats.errors("report", value):
        where = broken.pointer or "the file"
        raise InputUnreadable(f"{path} is no report of this kit: {where}: {broken.message}")
    report: dict[str, Any] = value
    return report
