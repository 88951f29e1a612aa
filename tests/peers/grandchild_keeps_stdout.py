"""Exits with status 0 and leaves a child behind that keeps standard output open and ignores SIGTERM."""

import signal
import subprocess
import sys
import time

if len(sys.argv) > 1:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("ready", flush=True)
    time.sleep(600)
else:
    subprocess.Popen([sys.executable, __file__, "child"])
    sys.stdin.read()
