"""Writes without end, whatever it is told, and does not notice the end of its input."""

import sys

while True:
    sys.stdout.buffer.write(b"x" * 65_535 + b"\n")
