"""No peer, but what those share that say the right thing in wrong bytes: the reference agent's messages."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

AGENT = Path(__file__).parents[2] / "fixtures" / "va-agent-protocol" / "0.1.0" / "targets" / "agent.py"


def said() -> Iterator[bytes]:
    """The agent's lines without their newlines; it reads this process's standard input."""
    with subprocess.Popen([sys.executable, str(AGENT)], stdout=subprocess.PIPE) as agent:
        assert agent.stdout is not None
        for line in agent.stdout:
            yield line.removesuffix(b"\n")


def write(spelling: Callable[[bytes], bytes]) -> None:
    """Say each line in another spelling, at once."""
    for line in said():
        sys.stdout.buffer.write(spelling(line))
        sys.stdout.buffer.flush()
