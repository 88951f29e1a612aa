"""Closes the TCP connection instead of answering the opening handshake."""

import raw

connection, _ = raw.listen().accept()
with connection:
    raw.request(connection)
