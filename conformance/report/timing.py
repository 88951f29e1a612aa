"""When the runs of a report began and ended, as far as their transcripts say it."""

from __future__ import annotations

from datetime import datetime
from typing import Any


def span(report: dict[str, Any]) -> tuple[int, int]:
    """Beginning and end in milliseconds since 1970; 0 and the sum of all durations where nobody knows."""
    begun = [
        (_millis(run["began"]), round(run["seconds"] * 1000)) for run in report["scenarios"] if "began" in run
    ]
    if not begun:
        return 0, round(1000 * sum(run["seconds"] for run in report["scenarios"]))
    return min(at for at, _ in begun), max(at + took for at, took in begun)


def _millis(text: str) -> int:
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError):  # a leap second, or years before the calendar
        return 0
