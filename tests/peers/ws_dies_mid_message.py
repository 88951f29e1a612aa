"""Reads a little of a message, then closes the TCP connection."""

import raw

with raw.upgraded() as connection:
    connection.recv(1)
