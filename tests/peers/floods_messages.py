"""Writes small messages without end."""

import sys

while True:
    sys.stdout.buffer.write(b"{}\n" * 20_000)
