"""Starts children that ignore SIGTERM and keep every pipe, and exits."""

import signal
import subprocess
import sys
import time

if len(sys.argv) > 2:
    time.sleep(600)
else:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for _ in range(5):
        subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)", sys.argv[-1]])
