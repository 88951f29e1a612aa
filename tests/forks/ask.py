"""No test, but a command that is another process's: server.py runs it in this folder, with these streams.

    python -I -S ask.py SOCKET ARGUMENT…

It ends as that process does, and passes on the signals that mean a person wants it to.
"""

import array
import json
import os
import signal
import sys
from socket import AF_UNIX, SCM_RIGHTS, SHUT_WR, SOL_SOCKET, socket


def main(place: str, *arguments: str) -> int:
    with socket(AF_UNIX) as server:
        server.connect(place)
        server.sendmsg([b"."], [(SOL_SOCKET, SCM_RIGHTS, array.array("i", [0, 1, 2]))])
        folder = os.getcwd()  # noqa: PTH109 (pathlib takes longer to import than all that is done here)
        asked = {"arguments": arguments, "folder": folder, "environment": dict(os.environ)}
        server.sendall(json.dumps(asked).encode())
        server.shutdown(SHUT_WR)
        with server.makefile("rb") as answers:
            child = int(answers.readline())
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda caught, _: os.kill(child, caught))
            code = int(answers.readline())
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
