"""A world of another maker, certified by this kit and by the protocol's own suite, side by side.

`python benchmarks/certification.py [--suite COMMAND] [--world COMMAND] [--protocol PROTOCOL] [--jobs N]`:
for each time model, with and without the world's features, each of the two gets a fresh world. Printed are
the requirements that each exercised with a good result, wall time, processor time, and what only one has.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

POSES = ((0.4, 0.4, 0.6), (-0.4, 0.3, 0.2), (0.0, -0.45, 0.5))
OUTSIDE = (0.9, 0.0, 0.4)
SHORT = "--watchdog-ms 1500 --heartbeat-ms 1500 --reconnect-window-ms 4000 --max-duration-ms 3000"
"""So that neither has to wait for long. A heartbeat and a window of the default need 15 and 30 s."""

WORLDS = {
    "streaming": "--mode streaming",
    "streaming, features": "--mode streaming --features approval,blend,task,transfer "
    "--approver-token approver --approval-timeout-ms 2000",
    "lockstep": "--mode lockstep",
    "lockstep, features": "--mode lockstep --features approval,blend,sim,task,transfer "
    "--approver-token approver",
}


@dataclass(frozen=True)
class Outcome:
    """What one of the two found: requirements by verdict, and what it cost in seconds."""

    verdicts: dict[str, str]
    wall: float
    processor: float

    def of(self, *wanted: str) -> set[str]:
        """The requirements of the protocol with these verdicts."""
        return {name for name, verdict in self.verdicts.items() if verdict in wanted and "WIRE" not in name}


LONGEST = 400.0
"""A suite that takes longer than so many seconds hangs, and shows nothing."""


def move(place: tuple[float, float, float]) -> dict[str, Any]:
    """A submission that moves the arm."""
    return {"type": "move_to_pose", "params": {"pose": {"frame": "base", "p_m": place, "q": [0, 0, 0, 1]}}}


def fixture(folder: Path, *, features: bool) -> Path:
    """What the other suite wants to know of the world, as a file."""
    told: dict[str, Any] = {
        "embodiment": "arm_01",
        "subscribe": ["proprio", "arm_state"],
        "moves": [move(place) for place in POSES],
        "extended_min_ms": 1500,
        "invalid": {"type": "move_to_pose", "params": {"pose": {"frame": "base"}}},
        "outside_envelope": move(OUTSIDE),
        "operator": {"estop_engage": "kill -USR1 $WORLD_PID", "estop_release": "kill -USR2 $WORLD_PID"},
        "audit_dir": str(folder / "awp-audit"),
    }
    if features:
        told |= {"approver_token": "approver", "approval_action": {"type": "park", "params": {}}}
    path = folder / "fixture.json"
    path.write_text(json.dumps(told), "utf-8")
    return path


@contextmanager
def world(command: str, options: str, folder: Path) -> Iterator[tuple[str, int]]:
    """A fresh world in a folder: its URL and its process id."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    words = [*shlex.split(command), "serve", *shlex.split(options), "--port", str(port)]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    if child.poll() is not None:
                        raise SystemExit(f"the world ended: {shlex.join(words)}") from None
                    time.sleep(0.1)
            yield f"ws://127.0.0.1:{port}", child.pid
        finally:
            child.terminate()
            child.wait(20)


def measured(words: list[str], folder: Path, environment: dict[str, str]) -> tuple[str, float, float]:
    """What a command printed, its wall time and its processor time."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    try:
        text = subprocess.run(
            words,
            cwd=folder,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST,
        ).stdout
    except subprocess.TimeoutExpired:
        text = ""
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return text, wall, used


def ours(protocol: str, urls: list[str], folder: Path, jobs: int) -> Outcome:
    """This kit's verdicts, from one world, which may have so many sessions at a time, or several alike."""
    told = f'target = "{urls[0]}"\nsessions = {jobs}\n'
    if len(urls) == 1:  # where several worlds write their logs, one fact cannot say
        told += f'[ics.audit]\ndirectory = "{folder / "awp-audit"}"\n'
    (folder / "conformance.toml").write_text(told, "utf-8")
    kit = [sys.executable, "-c", "from conformance.cli import main; main()", "run", protocol]
    beside = [word for url in urls[1:] for word in ("--beside", url)]
    _, wall, used = measured([*kit, "--jobs", str(jobs), *beside, "--out", "report"], folder, {})
    rows = json.loads((folder / "report" / "report.json").read_text("utf-8"))["requirements"]
    return Outcome({row["id"]: row["verdict"] for row in rows}, wall, used)


def theirs(suite: str, url: str, pid: int, options: str, folder: Path) -> Outcome:
    """The other suite's verdicts."""
    mode = shlex.split(options)[1]
    told = fixture(folder, features="--features" in options)
    words = [*shlex.split(suite), "world", url, "--mode", mode, "--json", "--fixture", str(told)]
    text, wall, used = measured(words, folder, {"WORLD_PID": str(pid)})
    rows = json.loads(text)["requirements"] if text.strip() else []
    return Outcome({row["id"]: row["outcome"] for row in rows}, wall, used)


def compared(name: str, mine: Outcome, other: Outcome) -> None:
    """Print one row, and the differences under it."""
    passed, others = mine.of("pass", "warn"), other.of("pass")
    print(
        f"{name:22} {len(passed):4} {len(others):4}   {mine.wall:6.1f} {other.wall:6.1f}"
        f"   {mine.processor:6.1f} {other.processor:6.1f}"
    )
    for said, names in (
        ("failed here", mine.of("fail", "warn")),
        ("undecided here", mine.of("inconclusive")),
        ("failed there", other.of("fail")),
        ("only there", others - passed),
        ("only here", passed - others),
    ):
        if names:
            print(f"    {said}: {', '.join(sorted(names))}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", default=str(Path(sys.executable).with_name("awp-conformance")))
    parser.add_argument("--world", default=str(Path(sys.executable).with_name("awp-sim")))
    parser.add_argument("--protocol", default="awp@0.1-draft.7")
    parser.add_argument("--only", default="", help="a part of the name of the worlds to run")
    parser.add_argument(
        "--repeat", type=int, default=1, help="run this kit so often, and the other suite once"
    )
    parser.add_argument(
        "--default", action="store_true", help="leave the world the times that it has by itself"
    )
    parser.add_argument(
        "--jobs", type=int, default=6, help="how many scenarios of this kit reach the world at a time"
    )
    parser.add_argument("--worlds", type=int, default=1, help="how many worlds alike this kit spreads over")
    parser.add_argument("--alone", action="store_true", help="leave the other suite out")
    chosen = parser.parse_args()
    print("world                  exercised    wall seconds    processor seconds (here, there)")
    for name, options in WORLDS.items():
        if chosen.only not in name:
            continue
        options = options if chosen.default else f"{options} {SHORT}"
        for _ in range(chosen.repeat):
            with ExitStack() as stack:
                folders = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(chosen.worlds)]
                worlds = [stack.enter_context(world(chosen.world, options, Path(one))) for one in folders]
                urls = [url for url, _ in worlds]
                mine = ours(chosen.protocol, urls, Path(folders[0]), chosen.jobs)
            other = Outcome({}, 0.0, 0.0)
            if not chosen.alone:
                with tempfile.TemporaryDirectory() as folder:
                    place = Path(folder)
                    with world(chosen.world, options, place) as (url, pid):
                        other = theirs(chosen.suite, url, pid, options, place)
            compared(name + (f" ({chosen.worlds} worlds)" if chosen.worlds > 1 else ""), mine, other)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
