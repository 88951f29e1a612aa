"""Lets nobody in without a token."""

import raw

connection, _ = raw.listen().accept()
with connection:
    raw.request(connection)
    connection.sendall(b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\n\r\n")
