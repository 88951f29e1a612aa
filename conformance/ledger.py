"""Results that several processes share: each scenario is run once, whichever of them comes first.

Under pytest-xdist the items of one scenario may go to different workers. They meet in a folder beside
the report: who holds its lock runs a scenario, so that no two sessions reach the implementation at
once; the others find the result. The lock is the operating system's, and ends with its holder.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from conformance.announcing import Said
from conformance.findings import Finding, Level
from conformance.runner import Result
from conformance.scenarios import Scenario, Step

if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)

    def _unlock(file: IO[str]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _lock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def _unlock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


class Ledger:
    """The shared folder of one run, named by `uid`, inside the report's folder `out`."""

    def __init__(self, out: Path, uid: str) -> None:
        self._folder = out / f".run-{uid}"

    @property
    def has_begun(self) -> bool:
        """Whether a process of this run has made room for the report."""
        return (self._folder / "begun").is_file()

    def begin(self) -> None:
        """Tell the others that there is room for the report."""
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / "begun").touch()

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Hold the lock; nobody else reaches the implementation meanwhile."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "lock").open("w") as file:
            _lock(file)
            try:
                yield
            finally:
                _unlock(file)

    def once(self, scenario: Scenario, run: Callable[[], Result]) -> Result:
        """The scenario's result: the one on record, else that of `run`, which puts it there."""
        path = self._path(scenario.name)
        if not path.is_file():
            with self.exclusively():
                if not path.is_file():
                    return run()
        return self._read(path, scenario)

    def enter(self, result: Result) -> None:
        """Put a result on record, whole or not at all."""
        row = {name: getattr(result, name) for name in _PLAIN}
        row["findings"] = [finding._asdict() for finding in result.findings]
        row["said"] = result.said
        about = result.scenario
        row["title"], row["covers"], row["path"] = about.title, list(about.requirements), about.path
        row["steps"] = [(step.verb, dict(step.args), step.line) for step in about.steps]
        path = self._path(result.scenario.name)
        draft = path.with_suffix(".part")
        draft.write_text(json.dumps(row, default=str), encoding="utf-8")
        draft.replace(path)

    def results(self, scenarios: list[Scenario]) -> list[Result]:
        """Every result on record, in the order of the scenarios; those of other sessions follow."""
        known = {scenario.name: scenario for scenario in scenarios}
        paths = {path.stem: path for path in sorted(self._folder.glob("*.json"))}
        ordered = [name for name in known if name in paths] + [name for name in paths if name not in known]
        return [self._read(paths[name], known.get(name)) for name in ordered]

    def keep(self, fuzz: dict[str, Any]) -> None:
        """Put on record what negative tests showed."""
        (self._folder / "fuzz").write_text(json.dumps(fuzz), encoding="utf-8")

    def kept(self) -> dict[str, Any] | None:
        """The same again; None while there is nothing."""
        path = self._folder / "fuzz"
        return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None

    def remove(self) -> None:
        """Remove the folder; the report holds everything."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, name: str) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / f"{name}.json"

    def _read(self, path: Path, scenario: Scenario | None) -> Result:
        row = json.loads(path.read_text(encoding="utf-8"))
        steps = tuple(Step(*step) for step in row["steps"])
        about = scenario or Scenario(
            path.stem, row["title"], "", tuple(row["covers"]), steps, path=row["path"]
        )
        findings = tuple(_finding(one) for one in row["findings"])
        said = tuple(Said(seq, line, tuple(breaks)) for seq, line, breaks in row["said"])
        return Result(about, findings=findings, said=said, **{name: row[name] for name in _PLAIN})


_PLAIN = (
    "status",
    "reason",
    "line",
    "seconds",
    "transcript",
    "stderr",
    "heard",
    "late",
    "missed",
    "stretched",
)


def _finding(row: dict[str, Any]) -> Finding:
    level = Level(row["level"]) if row["level"] else None
    return Finding(**{**row, "level": level, "expected": tuple(row["expected"])})
