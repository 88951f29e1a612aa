"""Sends a message that is marked as compressed, though nothing was agreed."""

import raw

with raw.upgraded() as connection:
    connection.sendall(bytes([0xC1, 2]) + b"\x00\x00")
    while connection.recv(4096):
        pass
