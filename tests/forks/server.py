"""No test, but a program that imports another one once, and forks for each run of it that is asked for.

    python server.py PROGRAM SOCKET

Whoever connects to SOCKET (as ask.py does) hands over its standard streams and what to run: a JSON object of
`arguments`, `folder` and `environment`. It is answered the id of the process, and at the end the exit code,
each on a line. The server ends when its standard input does.
"""

from __future__ import annotations

import gc
import json
import os
import select
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any

Program = Callable[[list[str]], Any]


def conformance() -> Program:
    """The command line, with all that its runs import and read."""
    from conformance import alternatives, execution, packs, scenarios, validation, writers  # noqa: F401
    from conformance.cli import main
    from conformance.transports import errand, launch, listen, stdio, websocket  # noqa: F401

    for pack in packs.find_all():
        pack.schemas()
        scenarios.of_pack(pack, pack.certifies)
    return lambda arguments: main(arguments, prog_name="conformance")


def pytest() -> Program:
    """Pytest with the plugin, after a session that has found everything."""
    import pytest

    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        os.chdir(folder)
        Path("test_one.py").write_text("def test_one(): pass\n")
        pytest.main(["-p", "no:cacheprovider", "--conformance", "va-agent-protocol", "-k", "happy-path"])
        os.chdir("/")
    return lambda arguments: sys.exit(pytest.main(arguments))


PROGRAMS = {"conformance": conformance, "pytest": pytest}


def next_run(server: socket.socket) -> list[str] | None:
    """The arguments of a run, in a process of its own; None in the server, when nobody asks any more."""
    while True:
        ready, _, _ = select.select([server, sys.stdin], [], [])
        if sys.stdin in ready:
            wait_for_all()
            return None
        connection, _ = server.accept()
        with connection:
            if os.fork() == 0:
                server.close()
                return attended(connection)


def wait_for_all() -> None:
    with suppress(ChildProcessError):
        while True:
            os.wait()


def attended(connection: socket.socket) -> list[str]:
    """The arguments, in a child; this process waits for it, tells its exit code, and goes."""
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile("rb") as sent:
        asked = json.loads(sent.read())
    child = os.fork()
    if child == 0:
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        take(streams)
        return list(asked["arguments"])
    for stream in (0, 1, 2, *streams):
        os.close(stream)  # whoever reads them waits for the child alone
    with suppress(BrokenPipeError):
        connection.sendall(b"%d\n" % child)
    _, status = os.waitpid(child, 0)
    with suppress(BrokenPipeError):
        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def take(streams: list[int]) -> None:
    """Take these as the standard streams, as Python does when it starts."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = sys.__stdin__ = os.fdopen(0, closefd=False)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)


def main(name: str, place: str) -> None:
    program = PROGRAMS[name]()
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(place)
        server.listen(100)
        print("ready", flush=True)
        arguments = next_run(server)
    if arguments is not None:
        sys.argv = [name, *arguments]
        program(arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
