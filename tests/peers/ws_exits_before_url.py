"""Exits with status 2 before it prints a URL."""

import sys

print("port already in use", file=sys.stderr)
sys.exit(2)
