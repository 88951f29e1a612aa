"""Writes nothing before its standard input ends."""

import sys

import respelt

lines = list(respelt.said())
sys.stdout.buffer.write(b"".join(line + b"\n" for line in lines))
