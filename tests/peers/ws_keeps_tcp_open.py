"""Sends a close frame and never closes the TCP connection."""

import time

import raw

with raw.upgraded() as connection:
    connection.sendall(raw.frame(raw.CLOSE, (1000).to_bytes(2, "big")))
    time.sleep(600)
