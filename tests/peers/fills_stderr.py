"""Writes 4 MiB to standard error before it answers."""

import sys

for _ in range(64):
    sys.stderr.buffer.write(b"e" * 65_535 + b"\n")
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
