"""A kit that is kept from acting, now and then, for seconds: what it says of an honest implementation.

`python benchmarks/stalls.py PROTOCOL [--role ROLE] [--target TARGET] [--config FILE] [--all] [--repeat N]
[-s GLOB]`: the kit is stopped (SIGSTOP) for up to `--seconds` at random moments, and with `--all` everything
that it started too, as a machine does that is far too busy. Printed is what failed, and why.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KIT = [sys.executable, "-c", "from conformance.cli import main; main()", "run"]


def family(pid: int) -> list[int]:
    """The process and all below it, as /proc tells."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):
            for children in Path(f"/proc/{parent}/task").glob("*/children"):
                found += map(int, children.read_text("ascii").split())
    return found


def signalled(pids: list[int], number: int) -> None:
    """Send a signal to those that are still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def stalled(words: list[str], chance: random.Random, seconds: float, *, everything: bool) -> int:
    """Run a command that is stopped now and then; its exit code."""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as kit:
        while kit.poll() is None:
            time.sleep(chance.uniform(0.3, 2.5))
            pids = family(kit.pid) if everything else [kit.pid]
            try:
                signalled(pids, signal.SIGSTOP)
                time.sleep(chance.uniform(0.05, seconds))
            finally:
                signalled(pids, signal.SIGCONT)
    return kit.returncode


def told(report: Path) -> tuple[str, list[str]]:
    """The verdicts in one line, and what is against the implementation."""
    value = json.loads(report.read_text("utf-8"))
    counts = {word: count for word, count in value["claim"]["counts"].items() if count}
    wrong = [row for row in value["requirements"] if row["verdict"] in ("fail", "warn", "inconclusive")]
    lines = [f"  {row['verdict']:12} {row['id']}: {row['reason']}" for row in wrong]
    statuses = {
        run["name"]: run for run in value["scenarios"] if run["status"] not in ("passed", "not-applicable")
    }
    lines += [f"  {run['status']:12} {name}: {run['reason']}" for name, run in statuses.items()]
    return ", ".join(f"{count} {word}" for word, count in counts.items()), lines


def main() -> None:
    """Run it as often as was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("protocol")
    for name in ("--role", "--target", "--config"):
        parser.add_argument(name)
    parser.add_argument("-s", "--scenario", action="append", default=[])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    words = [*KIT, args.protocol, "--jobs", str(args.jobs)]
    for name in ("role", "target", "config"):
        words += [f"--{name}", getattr(args, name)] if getattr(args, name) else []
    words += [word for glob in args.scenario for word in ("-s", glob)]
    for turn in range(args.repeat):
        with tempfile.TemporaryDirectory() as folder:
            chance = random.Random(args.seed + turn)
            code = stalled([*words, "--out", folder], chance, args.seconds, everything=args.all)
            said, lines = told(Path(folder) / "report.json")
        print(f"seed {args.seed + turn}: exit {code}: {said}", *lines, sep="\n", flush=True)


if __name__ == "__main__":
    main()
