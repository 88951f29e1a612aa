"""Greets people on standard output before it answers anything."""

import sys

print("Welcome to Agent 1.0", flush=True)
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
