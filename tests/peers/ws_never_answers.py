"""Accepts the TCP connection and never answers the opening handshake."""

import time

import raw

connection, _ = raw.listen().accept()
with connection:
    time.sleep(600)
