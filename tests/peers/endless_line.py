"""Writes without end, and never a newline."""

import sys

while True:
    sys.stdout.buffer.write(b"x" * 65_536)
