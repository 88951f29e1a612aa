"""Closes properly, with code 1000, before anything was said."""

import raw

with raw.upgraded() as connection:
    connection.sendall(raw.frame(raw.CLOSE, (1000).to_bytes(2, "big")))
    connection.recv(4096)
