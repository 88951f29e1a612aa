"""Answers the opening handshake with something that is not HTTP."""

import raw

connection, _ = raw.listen().accept()
with connection:
    raw.request(connection)
    connection.sendall(b"220 mail.example ESMTP\r\n")
