"""Writes one message of 50 MB."""

import sys

sys.stdout.write('{"type": "accepted", "x": "')
for _ in range(50):
    sys.stdout.write("x" * 1_000_000)
print('"}', flush=True)
