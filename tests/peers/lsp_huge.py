"""Announces a message of a terabyte."""

import sys

sys.stdout.write("Content-Length: 1099511627776\r\n\r\n{}")
sys.stdout.flush()
sys.stdin.read()
