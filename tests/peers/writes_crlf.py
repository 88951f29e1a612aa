"""Ends every line with a carriage return too."""

import respelt

respelt.write(lambda line: line + b"\r\n")
