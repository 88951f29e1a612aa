"""Answers the opening handshake one byte every 10 ms."""

import time

import raw

connection, _ = raw.listen().accept()
with connection:
    raw.request(connection)
    while True:
        connection.sendall(b"H")
        time.sleep(0.01)
