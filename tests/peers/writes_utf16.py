"""Writes UTF-16."""

import respelt

respelt.write(lambda line: (line + b"\n").decode().encode("utf-16-le"))
