"""Writes a byte order mark before every message."""

import respelt

respelt.write(lambda line: b"\xef\xbb\xbf" + line + b"\n")
