"""Spreads every message over several lines."""

import json

import respelt

respelt.write(lambda line: json.dumps(json.loads(line), indent=2).encode() + b"\n")
