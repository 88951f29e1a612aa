"""Chooses none of the subprotocols that were offered."""

import raw

with raw.upgraded() as connection:
    connection.recv(4096)
