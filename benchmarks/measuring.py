"""How long commands take, and how much memory: in turn, so that a busy machine hits all of them alike."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    """One process and those it waited for: seconds, seconds of processors, MiB of the largest."""

    seconds: float
    processor: float
    memory: float


class Contender(NamedTuple):
    """A command over a part of the input, and over so little of it that this is its start."""

    name: str
    command: list[str]
    start: list[str] | None = None
    """None where it was given all of the input, and so is measured with its start."""
    share: float = 1.0
    """The part of the input that it was given, from 0 to 1."""
    feed: list[str] | None = None
    """A command whose output is its standard input."""


class Measured(NamedTuple):
    """What a contender took, in each round; `seconds` and so on are medians, for all of the input."""

    name: str
    share: float
    costs: list[Cost]
    starts: list[Cost]

    @property
    def seconds(self) -> float:
        """From start to end."""
        return self._whole(0)

    @property
    def processor(self) -> float:
        """Of all processors."""
        return self._whole(1)

    @property
    def memory(self) -> float:
        """MiB at most."""
        return max(cost.memory for cost in self.costs)

    def _whole(self, at: int) -> float:
        took = statistics.median(cost[at] for cost in self.costs)
        if not self.starts:
            return took
        start = statistics.median(cost[at] for cost in self.starts)
        return start + max(took - start, 0) / self.share


def cost(
    command: Sequence[str], environment: dict[str, str], feed: Sequence[str] | None = None
) -> tuple[Cost, int]:
    """What one run takes, and its exit code. What it prints is kept nowhere."""
    source = subprocess.Popen(feed, stdout=subprocess.PIPE, env=environment) if feed else None
    began = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command,
            stdin=source.stdout if source else subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            env=environment,
        )
        if source and source.stdout:
            source.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        took = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if source:
        source.wait()
    memory = usage.ru_maxrss / 1024
    return Cost(took, usage.ru_utime + usage.ru_stime, memory), process.returncode


def surroundings(folder: Path) -> dict[str, str]:
    """The environment of all: what is installed and not what is here, with its bytecode kept and warm."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(folder / "compiled"), "PYTHONSAFEPATH": "1"}


def measure(contenders: Sequence[Contender], rounds: int, environment: dict[str, str]) -> list[Measured]:
    """Run each in turn, `rounds` times; before, each is started once, which does not count.

    Raises SystemExit where one of them fails: its time says nothing then.
    """
    measured = [Measured(one.name, one.share, [], []) for one in contenders]
    for one in contenders:
        _holds(one, one.start or one.command, environment)
    for _ in range(rounds):
        for one, found in zip(contenders, measured, strict=True):
            found.costs.append(_holds(one, one.command, environment))
            if one.start:
                found.starts.append(_holds(one, one.start, environment))
    return measured


def _holds(one: Contender, command: list[str], environment: dict[str, str]) -> Cost:
    took, code = cost(command, environment, one.feed)
    if code != 0:
        raise SystemExit(f"{one.name} ended with exit code {code} on valid input: {' '.join(command)}")
    return took
