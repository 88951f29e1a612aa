"""What `validate` makes of an input: findings as they come, and what they add up to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from conformance import locating, packs
from conformance.errors import ExitCode
from conformance.events import Event, Received, Sent
from conformance.findings import Finding, Level, Verdict, verdict_of
from conformance.packs import Pack
from conformance.tokens import line_column
from conformance.wording import plural


class Region(NamedTuple):
    """A stretch of an input, in lines and columns from 1; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Told(NamedTuple):
    """A finding against an input, with what it counts as; `event` is what it is about, if one event."""

    finding: Finding
    level: Level
    verdict: Verdict
    event: Event | None = None

    @property
    def start(self) -> tuple[int, int]:
        """Line and column of the region."""
        return max(self.finding.line, 1), max(self.finding.column, 1)

    @property
    def region(self) -> Region:
        """Where in the input the part of the message stands that the finding is about."""
        line, column = self.start
        place = self.place
        if place is None or not isinstance(self.event, (Sent, Received)):
            return Region(line, column, line, column + 1)
        ends, at = line_column(self.event.text, place.end)
        return Region(
            line, column, line + ends - place.line, at + (column - place.column) * (ends == place.line)
        )

    @property
    def place(self) -> locating.Place | None:
        """The same within the text of the event; None where nothing in it is meant."""
        if isinstance(self.event, (Sent, Received)) and self._is_here(self.event):
            return locating.locate(self.event.text, self.finding.pointer)
        return None

    def _is_here(self, event: Sent | Received) -> bool:
        # A fault of the text stands at a character, not at a value; what only the end shows, at no text.
        return self.finding.seq == event.seq and not any(
            fault.code == self.finding.requirement for fault in event.faults
        )


@dataclass(slots=True)
class Judged:
    """One input: what it was, and how it came out. `error` says why it could not be judged."""

    path: str
    pack: Pack | None = None
    messages: int = 0
    unjudged: int = 0
    """How many of them answer what is not in the record, so that nobody knows their kind."""
    told: int = 0
    """How many findings were told."""
    fails: bool = False
    """Whether a MUST is broken."""
    error: str = ""
    stopped: bool = False
    """Whether it was interrupted before its end."""

    def tell(self, finding: Finding, event: Event | None = None) -> Told:
        """Count a finding against the input, and say what it counts as."""
        known = self.pack.requirements if self.pack else packs.wire_requirements()
        level = finding.level or known[finding.requirement].level
        verdict = verdict_of(finding, level)
        self.told += 1
        self.fails = self.fails or verdict is Verdict.FAIL
        return Told(finding, level, verdict, event)

    @property
    def valid(self) -> bool:
        """Whether it could be judged and nothing fails; warnings do not make an input invalid."""
        return not self.error and not self.fails and not self.stopped

    def summary(self) -> str:
        """One line for a person."""
        if self.error:
            return f"conformance: {self.error}"
        word = "interrupted" if self.stopped else "valid" if self.valid else "invalid"
        name = self.pack.name if self.pack else "no protocol"
        told = f", {plural(self.told, 'finding')}" if self.told else ""
        unknown = f", {self.unjudged} of them not judged: answers to no request here" if self.unjudged else ""
        return f"{self.path}: {word} ({name}, {plural(self.messages, 'message')}{unknown}{told})"


def exit_code(judged: list[Judged]) -> ExitCode:
    """Broken if anything fails, else undecided if anything could not be judged; unless interrupted."""
    if any(one.stopped for one in judged):
        return ExitCode.INTERRUPTED
    if any(one.fails for one in judged):
        return ExitCode.BROKEN
    return ExitCode.UNDECIDED if any(one.error for one in judged) else ExitCode.HOLDS
