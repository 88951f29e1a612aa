"""Ignores the end of its input, but ends on SIGTERM, with status 0."""

import signal
import sys
import time

signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("ready", flush=True)
while True:
    time.sleep(60)
