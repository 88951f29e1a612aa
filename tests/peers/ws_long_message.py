"""Sends one message of 50 MB, and closes."""

import raw

with raw.upgraded() as connection:
    connection.sendall(bytes([0x81, 127]) + (50_000_009).to_bytes(8, "big") + b'{"x": "')
    for _ in range(50):
        connection.sendall(b"x" * 1_000_000)
    connection.sendall(b'"}')
    connection.sendall(raw.frame(raw.CLOSE, (1000).to_bytes(2, "big")))
    while connection.recv(4096):
        pass
