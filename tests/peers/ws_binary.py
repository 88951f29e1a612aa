"""Sends a binary message where text is expected."""

import raw

with raw.upgraded() as connection:
    connection.sendall(raw.frame(raw.BINARY, b"\x00\xff"))
    while connection.recv(4096):
        pass
