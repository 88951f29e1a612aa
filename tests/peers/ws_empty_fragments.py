"""Sends a message whose fragments are empty, and have no end."""

import raw

with raw.upgraded() as connection:
    connection.sendall(bytes([raw.TEXT, 0]))
    while True:
        connection.sendall(bytes([0, 0]) * 50_000)
