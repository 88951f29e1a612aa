"""Writes bytes that are nothing, with a newline here and there, and exits."""

import random
import sys

sys.stdout.buffer.write(random.Random(1).randbytes(100_000))
sys.stdout.flush()
