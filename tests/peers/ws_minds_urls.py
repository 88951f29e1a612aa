"""Lets in whose URL has no query; the argument says what becomes of the others: a status of HTTP, or more."""

import sys

import raw

how = sys.argv[1]
server = raw.listen()
kept = []
while True:
    connection, _ = server.accept()
    kept.append(connection)
    request = raw.request(connection)
    if b"?" not in request.split(b"\r\n")[0]:
        raw.shake(connection, request, "Sec-WebSocket-Protocol: awp\r\n")
        connection.sendall(raw.frame(raw.TEXT, b'{"jsonrpc":"2.0","method":"x"}'))
    elif how.isdecimal():
        connection.sendall(f"HTTP/1.1 {how} No\r\nContent-Length: 0\r\n\r\n".encode())
        connection.close()
    elif how == "hangs up":
        connection.close()
    else:
        raw.shake(connection, request, "Sec-WebSocket-Protocol: awp\r\n")
        if how == "ends":
            connection.sendall(raw.frame(raw.CLOSE, (1008).to_bytes(2, "big") + b"policy"))
        connection.recv(4096)
        connection.close()
