"""Announces a message of 1 TiB."""

import raw

with raw.upgraded() as connection:
    connection.sendall(bytes([0x80 | raw.TEXT, 127]) + (2**40).to_bytes(8, "big") + b"x" * 1000)
    while connection.recv(4096):
        pass
