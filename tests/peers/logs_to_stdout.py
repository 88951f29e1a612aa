"""Logs on standard output, between its messages."""

import respelt

respelt.write(lambda line: b"INFO agent: sending\n" + line + b"\n")
