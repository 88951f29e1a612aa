"""Closes with code 1002 and a reason."""

import raw

with raw.upgraded() as connection:
    connection.sendall(raw.frame(raw.CLOSE, (1002).to_bytes(2, "big") + b"protocol error"))
    connection.recv(4096)
