"""No fault: answers one message with the same and ends: from --input to --output, or from pipe to pipe.

With --status it exits with that; with --pid it answers with its process id and its files instead.
"""

import argparse
import json
import os
import sys
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--input", type=Path)
parser.add_argument("--output", type=Path)
parser.add_argument("--status", type=int, default=0)
parser.add_argument("--pid", action="store_true")
given = parser.parse_args()
said = given.input.read_bytes() if given.input else sys.stdin.buffer.read()
if given.pid:
    said = json.dumps({"pid": os.getpid(), "input": str(given.input), "output": str(given.output)}).encode()
if given.output:
    print("a line that is no answer")
    given.output.write_bytes(said)
else:
    sys.stdout.buffer.write(said)
if given.status:
    print("it did not go well", file=sys.stderr)
sys.exit(given.status)
