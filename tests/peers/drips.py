"""Writes the beginning of a message, then one byte of it every 10 ms, and never its end."""

import sys
import time

sys.stdout.write('{"type": "')
while True:
    sys.stdout.write("a")
    sys.stdout.flush()
    time.sleep(0.01)
