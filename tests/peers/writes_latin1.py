"""Writes letters with accents as ISO 8859-1 has them."""

import respelt

respelt.write(lambda line: line.replace(b"reference", b"r\xe9f\xe9rence") + b"\n")
