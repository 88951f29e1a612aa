"""Exits in the middle of a message behind a header."""

import sys

sys.stdout.write('Content-Length: 100\r\n\r\n{"half": ')
