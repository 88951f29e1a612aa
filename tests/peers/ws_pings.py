"""Sends fifty thousand pings, reads none of the pongs, and closes."""

import raw

with raw.upgraded() as connection:
    for _ in range(50):
        connection.sendall(raw.frame(raw.PING, b"x" * 125) * 1000)
    connection.sendall(raw.frame(raw.CLOSE, (1000).to_bytes(2, "big")))
    while connection.recv(4096):
        pass
