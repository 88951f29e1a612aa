"""Findings as workflow commands, which a GitHub job shows beside the lines that they are about."""

from __future__ import annotations

from conformance.findings import Verdict
from conformance.judgement import Judged, Told
from conformance.wording import printable
from conformance.writers import Write


class Writing:
    """A command for each finding, when it is found, and for each input that could not be judged."""

    def __init__(self, write: Write, width: int) -> None:
        self._write = write

    def told(self, judged: Judged, told: Told) -> None:
        """An error or a warning, at the region of the finding."""
        finding, region = told.finding, told.region
        where = {"line": str(region.line), "endLine": str(region.end_line)}
        if region.line == region.end_line:  # columns of different lines are refused
            where |= {"col": str(region.column), "endColumn": str(region.end_column)}
        at = f" (at {finding.pointer})" if finding.pointer else ""
        title = {"title": f"{finding.requirement} ({told.level.value})"}
        word = "error" if told.verdict is Verdict.FAIL else "warning"
        self._command(word, _file(judged) | where | title, finding.message + at)

    def done(self, judged: Judged) -> None:
        """Why an input could not be judged."""
        if judged.error:
            self._command("error", _file(judged) | {"title": "not judged"}, judged.error)

    def end(self) -> None:
        """Nothing: everything has been written."""

    def _command(self, word: str, properties: dict[str, str], message: str) -> None:
        listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
        self._write(f"::{word} {listed}::{_data(printable(message))}")


def _file(judged: Judged) -> dict[str, str]:
    return {} if judged.path == "-" else {"file": judged.path}


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
