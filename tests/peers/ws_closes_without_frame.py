"""Sends one message, then closes the TCP connection without a close frame."""

import raw

with raw.upgraded() as connection:
    connection.sendall(raw.frame(raw.TEXT, b"hello"))
