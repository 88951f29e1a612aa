"""Findings for people: FILE:LINE:COLUMN: LEVEL ID: message, and on a terminal the text it is about."""

from __future__ import annotations

from conformance.excerpt import excerpt
from conformance.judgement import Judged, Told
from conformance.wording import printable
from conformance.writers import Write


def sentence(judged: Judged, told: Told) -> str:
    """A finding in one line."""
    finding, (line, column) = told.finding, told.start
    at = f" (at {finding.pointer})" if finding.pointer else ""
    place = f"{judged.path}:{line}:{column}"
    return printable(f"{place}: {told.level.value} {finding.requirement}: {finding.message}{at}")


class Writing:
    """A line for each finding, when it is found."""

    def __init__(self, write: Write, width: int) -> None:
        self._write, self._width = write, width

    def told(self, judged: Judged, told: Told) -> None:
        """Write it, and on a terminal point at the place."""
        self._write(sentence(judged, told))
        place = told.place if self._width else None
        if place is not None:
            text = getattr(told.event, "text", "")
            for line in excerpt(text, place, self._width - 4):
                self._write(f"    {line}")

    def done(self, judged: Judged) -> None:
        """Nothing: the summary goes to standard error, whatever the format."""

    def end(self) -> None:
        """Nothing: everything has been written."""
