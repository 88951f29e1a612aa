"""Answers the opening handshake with headers without end."""

import raw

connection, _ = raw.listen().accept()
with connection:
    raw.request(connection)
    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\n")
    while True:
        connection.sendall(b"X-More: yes\r\n" * 1000)
