"""Sends a frame with a reserved opcode."""

import raw

with raw.upgraded() as connection:
    connection.sendall(raw.frame(3, b"?"))
    while connection.recv(4096):
        pass
