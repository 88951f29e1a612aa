"""No test, but what those of live runs share: the command, and what every report folder has to be."""

from __future__ import annotations

import json
import re
import shlex
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forks

from conformance import formats, packs
from conformance.findings import Verdict, fold, verdict_of
from conformance.report import evaluation

PEERS = Path(__file__).parent / "peers"
PYTHON = shlex.quote(sys.executable)
COMMAND = forks.REAL["conformance"]

SECRET = re.compile(r'\\*"(?:session|transfer|snapshot)_token\\*"\s*:\s*\\*"([^"\\]*)')


def peer(name: str, *arguments: str, scheme: str = "stdio") -> str:
    """The target that is a misbehaving peer."""
    words = [PYTHON, shlex.quote(str(PEERS / f"{name}.py")), *map(shlex.quote, arguments)]
    return f"{scheme}:{' '.join(words)}"


@dataclass
class Run:
    """One `conformance run`: its exit code, what it printed, how long it took, and its report."""

    out: Path
    code: int
    text: str
    said: str
    seconds: float

    @property
    def report(self) -> dict[str, Any]:
        return dict(json.loads((self.out / "report.json").read_text("utf-8")))

    def of(self, *verdicts: str) -> list[str]:
        """The requirements with these verdicts."""
        return [row["id"] for row in self.report["requirements"] if row["verdict"] in verdicts]

    @property
    def statuses(self) -> dict[str, str]:
        return {row["name"]: row["status"] for row in self.report["scenarios"]}


def conformance_run(out: Path, protocol: str, target: str, *options: str, timeout: float = 100) -> Run:
    """Run the command in an empty folder; its report is sound, whatever came out."""
    out.mkdir(parents=True, exist_ok=True)
    arguments = ["run", protocol, "--target", target, "--out", "report", *options]
    began = time.monotonic()
    done = subprocess.run(
        [*forks.command("conformance"), *arguments],
        cwd=out,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    run = Run(out / "report", done.returncode, done.stdout, done.stderr, time.monotonic() - began)
    assert "Traceback" not in run.text + run.said, run.said
    assert (run.out / "report.json").is_file(), run.said
    assert_sound(run.out)
    return run


def assert_sound(out: Path) -> None:
    """A report obeys its schema, holds no secret, names the files beside it, and can be judged again."""
    report = json.loads((out / "report.json").read_text("utf-8"))
    assert list(formats.errors("report", report)) == []
    beside = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    named = {row[name] for row in report["scenarios"] for name in ("transcript", "stderr")} - {""}
    assert named <= beside - {"report.json"}
    assert {path for path in beside - named if path.endswith(".jsonl")} == set()
    for path in out.rglob("*"):
        if path.is_file():
            found = SECRET.findall(path.read_text("utf-8", errors="replace"))
            assert [one for one in found if not one.startswith("redacted-"[: len(one)])] == []
    assert_judged_alike(report, out)


def assert_judged_alike(report: dict[str, Any], out: Path) -> None:
    """What the transcripts alone show is in the report; only the steps' own findings come on top."""
    pack = packs.find(f"{report['pack']['protocol']}@{report['pack']['revision']}")
    role, again = report["role"], []
    for row in report["scenarios"]:
        if row["transcript"]:
            again += evaluation.judge(out / row["transcript"], pack, role).findings
    for row in report["requirements"]:
        found = [one for one in again if one.requirement == row["id"]]
        requirement = pack.requirements[row["id"]]
        level = requirement.level
        if not requirement.concerns(role):  # what it does right there is nobody's merit
            found = [one for one in found if not one.ok]
        verdict = fold((verdict_of(one, level) for one in found), Verdict.NOT_APPLICABLE)
        steps = row["observations"] - len(found)
        assert steps >= 0, row["id"]
        if steps == 0 and found:
            assert row["verdict"] == verdict.word, row["id"]
        elif found:
            assert Verdict[row["verdict"].upper().replace("-", "_")] >= verdict, row["id"]
        for one in row["findings"]:
            line = (
                (out / one["transcript"]).read_text("utf-8").splitlines()[one["line"] - 1]
                if one["line"]
                else ""
            )
            assert not line or json.loads(line)["seq"] == one["seq"], row["id"]


def free_port() -> int:
    """A port of 127.0.0.1 where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def processes(mark: str) -> list[str]:
    """The living processes whose command line holds a mark."""
    listing = subprocess.run(
        ["ps", "-A", "-ww", "-o", "stat=,args="], capture_output=True, text=True, check=True
    )
    rows = [row.split(maxsplit=1) for row in listing.stdout.splitlines()]
    return [row[1] for row in rows if len(row) > 1 and mark in row[1] and not row[0].startswith("Z")]
