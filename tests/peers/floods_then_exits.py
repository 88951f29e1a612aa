"""Writes 20 MiB at once and exits."""

import sys

sys.stdout.buffer.write(b"x" * (20 * 1024 * 1024))
