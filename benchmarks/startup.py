"""How long `conformance validate FILE` takes beside what no Python command line can do without.

Both are started in turn, N times, in one run, so that whatever else the machine does hits both alike.
Bytecode is kept in a folder of its own and is warm, as it is after an installation.

    python benchmarks/startup.py [--times N] [FILE]

Exit code 1 if the median is over the bound, 1.5 times the baseline's and 60 ms.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
MESSAGE = ROOT / "fixtures/va-agent-protocol/0.1.0/messages/valid/completed.full.json"

FACTOR, MARGIN = 1.5, 0.060

BASELINE = [sys.executable, "-c", "import click, json"]
VALIDATE = [sys.executable, "-c", "from conformance.cli import command; command()", "validate"]


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """How long the command takes from its start to its exit."""
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment, cwd=ROOT)
    return time.perf_counter() - began


def measure(path: Path, times: int) -> tuple[list[float], list[float]]:
    """The times of the baseline and of `validate`, in turn; the first start of each does not count."""
    baseline: list[float] = []
    validate: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ) | {"PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for turn in range(times + 1):
            took = seconds(BASELINE, environment), seconds([*VALIDATE, str(path)], environment)
            if turn:
                baseline.append(took[0])
                validate.append(took[1])
    return baseline, validate


def main() -> int:
    """Measure and print; the exit code says whether the bound holds."""
    parser = argparse.ArgumentParser(description="Measure the start of `conformance validate`.")
    parser.add_argument("file", nargs="?", type=Path, default=MESSAGE)
    parser.add_argument("--times", type=int, default=30, metavar="N", help="starts of each (default: 30)")
    arguments = parser.parse_args()
    baseline, validate = measure(arguments.file.resolve(), arguments.times)
    base, ours = statistics.median(baseline), statistics.median(validate)
    bound = FACTOR * base + MARGIN
    for name, times in (("import click, json", baseline), ("conformance validate", validate)):
        low, middle, high = min(times), statistics.median(times), max(times)
        print(f"{name:<22} median {middle * 1000:6.1f} ms   (from {low * 1000:.1f} to {high * 1000:.1f})")
    print(f"ratio                  {ours / base:6.2f}")
    print(f"bound                  {bound * 1000:6.1f} ms   (1.5 x baseline + 60 ms)")
    print(f"verdict                {'holds' if ours <= bound else 'is broken'}")
    return 0 if ours <= bound else 1


if __name__ == "__main__":
    sys.exit(main())
