"""Takes lines of 64 KiB at most, and gives up on a longer one."""

import subprocess
import sys

import respelt

with subprocess.Popen([sys.executable, str(respelt.AGENT)], stdin=subprocess.PIPE) as agent:
    assert agent.stdin is not None
    while line := sys.stdin.buffer.readline(65_536):
        if not line.endswith(b"\n"):
            sys.exit("the line is too long")
        agent.stdin.write(line)
        agent.stdin.flush()
