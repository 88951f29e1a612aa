"""Lets in who shows a token, and then tells it to everybody: the argument says where."""

import json
import re
import sys

import raw

how = sys.argv[1]
server = raw.listen()


def found(request: bytes) -> str:
    match = re.search(rb"(?i)[?&]key=(\S+)|authorization: (?:bearer|basic) (\S+)|bearer\.([^\s,]+)", request)
    return (match[1] or match[2] or match[3]).decode() if match else ""


def told(token: str) -> None:
    for part in (token[:5], token[5:], "\n", token, "\n"):
        print(part, end="", file=sys.stderr, flush=True)


while True:
    connection, _ = server.accept()
    request = raw.request(connection)
    token = found(request)
    told(token)
    if how == "error":
        body = f"the token {token} has expired"
        head = f"HTTP/1.1 401 {token}\r\nX-Token: {token}\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall((head + body).encode())
    elif how == "redirect":
        where = f"ws://127.0.0.1:{server.getsockname()[1]}/?token={token}"
        connection.sendall(f"HTTP/1.1 302 Found\r\nLocation: {where}\r\nContent-Length: 0\r\n\r\n".encode())
    elif how == "status line":
        connection.sendall(f"HTTP/9 {token}\r\n\r\n".encode())
    else:
        chosen = re.search(rb"(?i)sec-websocket-protocol: *(.+?)\r\n", request)
        offered = chosen[1].decode().split(", ") if chosen else []
        choice = offered[-1] if how == "subprotocol" else offered[0] if offered else ""
        raw.shake(connection, request, f"Sec-WebSocket-Protocol: {choice}\r\n" if choice else "")
        escaped = "".join(f"\\u{ord(mark):04X}" for mark in token)
        message = {"jsonrpc": "2.0", "method": token, "params": {"inner": json.dumps({"x": f'"{token}"'})}}
        texts = [
            json.dumps(message),
            f'{{"method": "{escaped}"}}',
            token.replace("/", "\\/"),
            "x" * 50 + token,
        ]
        for text in texts:
            connection.sendall(raw.frame(raw.TEXT, text.encode()))
        connection.sendall(raw.frame(raw.BINARY, b"\xff" + token.encode()))
        connection.sendall(raw.frame(raw.CLOSE, (4001).to_bytes(2, "big") + f"bad {token}".encode()))
        connection.recv(4096)
    connection.close()
