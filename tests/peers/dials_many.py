"""Connects to the kit again and again, and keeps every connection."""

import sys
import time

import raw_dial

kept = [raw_dial.dialled() for _ in range(200)]
print("done", file=sys.stderr)
time.sleep(600)
