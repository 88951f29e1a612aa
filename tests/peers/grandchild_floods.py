"""Exits with status 0 and leaves a child behind that writes to standard output without end."""

import subprocess
import sys

if len(sys.argv) > 1:
    while True:
        sys.stdout.buffer.write(b"x" * 65_536)
else:
    subprocess.Popen([sys.executable, __file__, "child"])
