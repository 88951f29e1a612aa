"""Gives a message a length below nothing."""

import sys

sys.stdout.write("Content-Length: -2\r\n\r\n{}")
sys.stdout.flush()
sys.stdin.read()
