"""The report: one value, and pure renderings of it. `RENDERERS` is the table by name.

`report.json` is the value itself, written as the run goes, so that an interrupted run leaves a
readable one that says it is not complete. Everything else can be made from it later.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance import formats
from conformance.errors import InputUnreadable
from conformance.report.junit import render as junit
from conformance.report.text import render as text

RENDERERS: dict[str, Callable[[dict[str, Any]], str]] = {"text": text, "junit": junit}
"""By name: report value → text."""


def read(path: Path) -> dict[str, Any]:
    """The value of a report file; InputUnreadable where it is none."""
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
