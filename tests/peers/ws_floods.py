"""Sends small messages without end."""

import raw

with raw.upgraded() as connection:
    while True:
        connection.sendall(raw.frame(raw.TEXT, b"{}") * 20_000)
