"""Ends no message with a newline."""

import respelt

respelt.write(lambda line: line)
