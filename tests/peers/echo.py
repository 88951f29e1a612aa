"""No fault: answers each line with the same line, and exits when its input ends."""

import sys

for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
