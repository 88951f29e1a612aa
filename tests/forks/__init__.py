"""No test, but the kit's commands at less cost: one process imports what they need, and forks for each.

What runs is a process as from a shell, with its own folder, environment and streams; only Python's start and
the imports are left out. A test that is about those, or about what signals do, has to start its own.
"""

from __future__ import annotations

import atexit
import os
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from threading import Lock

HERE = Path(__file__).parent
STARTING = Lock()
"""Two threads that need a server at the same time share one."""

REAL = {
    "conformance": [sys.executable, "-c", "from conformance.cli import main; main(prog_name='conformance')"],
    "pytest": [sys.executable, "-m", "pytest"],
}


def command(program: str) -> list[str]:
    """The words that run `conformance` or `pytest`, before its arguments.

    Where no process can be forked, or coverage is measured, which does not see forks, they start Python.
    """
    if not hasattr(os, "fork") or any(name.startswith("COVERAGE_PROCESS") for name in os.environ):
        return REAL[program]
    return [sys.executable, "-I", "-S", str(HERE / "ask.py"), _server(program)]


@cache
def on_path() -> str:
    """A folder with both commands, for a shell's search path."""
    folder = _folder()
    for program in REAL:
        path = Path(folder, program)
        path.write_text(f'#!/bin/sh\nexec {shlex.join(command(program))} "$@"\n', encoding="utf-8")
        path.chmod(0o700)
    return folder


def _folder() -> str:
    """A folder that is there for as long as this process."""
    folder = tempfile.TemporaryDirectory(prefix="forks-")
    atexit.register(folder.cleanup)
    return folder.name


def _server(program: str) -> str:
    """The socket of the server, which is started when it is first needed and ends with this process."""
    with STARTING:
        return _started(program)


@cache
def _started(program: str) -> str:
    place = f"{_folder()}/socket"
    server = subprocess.Popen(
        [sys.executable, str(HERE / "server.py"), program, place],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    server.stdout.close()
    atexit.register(server.wait)
    atexit.register(server.stdin.close)
    return place
