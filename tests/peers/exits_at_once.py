"""Exits at once with status 3, after a long last line with terminal codes on standard error."""

import sys

print("a line before the last", file=sys.stderr)
print("no licence \x1b[31mfound" + "!" * 300, file=sys.stderr)
sys.exit(3)
