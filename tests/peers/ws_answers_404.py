"""Is a web server that knows no such page."""

import raw

connection, _ = raw.listen().accept()
with connection:
    raw.request(connection)
    connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
