"""Prints a URL where nobody listens."""

import time

import raw

raw.listen().close()
time.sleep(600)
