"""Closes with a close frame that gives no code, which RFC 6455, 5.5.1 allows."""

import raw

with raw.upgraded() as connection:
    connection.sendall(raw.frame(raw.CLOSE, b""))
    connection.recv(4096)
