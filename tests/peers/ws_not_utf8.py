"""Sends a text message that is not UTF-8."""

import raw

with raw.upgraded() as connection:
    connection.sendall(raw.frame(raw.TEXT, b"before") + raw.frame(raw.TEXT, b"\xff\xfe"))
    while connection.recv(4096):
        pass
