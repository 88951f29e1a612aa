"""Chooses a subprotocol that was not offered."""

import raw

with raw.upgraded("Sec-WebSocket-Protocol: other\r\n") as connection:
    connection.recv(4096)
