"""Connects to the kit, says something that is no message, and is gone without a close frame."""

import raw_dial

with raw_dial.dialled() as connection:
    connection.sendall(raw_dial.frame(b"hello"))
