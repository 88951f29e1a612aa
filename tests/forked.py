"""No test, but a program that carries out many runs of the kit: it imports the kit once and forks for each.

    python forked.py RUNS

RUNS is a JSON object: name → arguments of `conformance`. Each run has a folder of its own beside RUNS,
with its `out` and `err`, and standard output gets a JSON object: name → [exit code, seconds,
seconds of the processor, MiB at most].
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import NoReturn

from conformance import execution, packs, report  # noqa: F401  what every run imports
from conformance.cli import main
from conformance.transports import websocket  # noqa: F401

AT_ONCE = 10


def run(folder: Path, arguments: list[str]) -> NoReturn:
    """In a process of its own: as if from a shell."""
    folder.mkdir(parents=True)
    os.chdir(folder)
    for number, name in ((0, os.devnull), (1, "out"), (2, "err")):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), number)
    code: int | str | None = 99
    try:
        main(arguments, prog_name="conformance")
    except SystemExit as end:
        code = end.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 98)


def carry_out(folder: Path, rows: dict[str, list[str]]) -> dict[str, tuple[int, float, float, float]]:
    """All runs, some at once: what each ended with, how long it took, how much memory it had at most."""
    for protocol in {arguments[1] for arguments in rows.values()}:
        packs.find(protocol).schemas()  # so that no run has to read them
    waiting, running, done = list(rows), dict[int, tuple[str, float]](), {}
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            name = waiting.pop(0)
            if (child := os.fork()) == 0:
                run(folder / name, rows[name])
            running[child] = name, time.monotonic()
        child, status, usage = os.wait4(-1, 0)
        name, began = running.pop(child)
        seconds = round(time.monotonic() - began, 2)
        cpu = round(usage.ru_utime + usage.ru_stime, 2)
        done[name] = os.waitstatus_to_exitcode(status), seconds, cpu, usage.ru_maxrss / 1024
    return done


if __name__ == "__main__":
    path = Path(sys.argv[1])
    json.dump(carry_out(path.parent, json.loads(path.read_text("utf-8"))), sys.stdout)
