"""The files of one scenario's run, in the folder of the report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO


@dataclass(frozen=True, slots=True)
class Filing:
    """Where the files of a scenario's run are; `attempt` is which of its runs it is, from 1."""

    folder: Path
    scenario: str
    attempt: int = 1

    @property
    def label(self) -> str:
        """What the files are called, without their endings."""
        return self.scenario if self.attempt == 1 else f"{self.scenario}.run-{self.attempt}"

    @property
    def transcript(self) -> str:
        """The transcript's name in the folder."""
        return f"transcripts/{self.label}.jsonl"

    @property
    def stderr(self) -> Path:
        """The file that collects standard error."""
        return self.folder / "stderr" / f"{self.label}.txt"

    @property
    def stderr_name(self) -> str:
        """That file's name in the folder; empty where there is none."""
        return f"stderr/{self.stderr.name}" if self.stderr.is_file() else ""

    def begin(self) -> IO[str]:
        """Make the folders, remove what is old, and open the transcript."""
        for name in ("transcripts", "stderr"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.stderr.unlink(missing_ok=True)
        return (self.folder / self.transcript).open("w", encoding="utf-8", newline="\n")

    def end(self) -> None:
        """Keep no file in which nothing stands."""
        if self.stderr.is_file() and not self.stderr.stat().st_size:
            self.stderr.unlink()
