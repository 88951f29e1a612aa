"""Writes bytes that are not UTF-8."""

import sys

sys.stdout.buffer.write(b'{"name": "\xff\xfe"}\n')
