"""Closes with code 1009, since whatever it is told is too much for it."""

import raw

with raw.upgraded() as connection:
    connection.recv(1)
    connection.sendall(raw.frame(raw.CLOSE, (1009).to_bytes(2, "big") + b"too big for me"))
    connection.recv(4096)
