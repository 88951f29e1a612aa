"""No peer, but what the rude ones share that connect to the kit: a connection on a raw socket."""

import os
import socket


def dialled() -> socket.socket:
    """A connection after the opening handshake of RFC 6455, 4.1, with the subprotocols of the arguments."""
    address = os.environ["CONFORMANCE_URL"].removeprefix("ws://")
    host, port = address.split(":")
    connection = socket.create_connection((host, int(port)))
    hello = (
        f"GET / HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Protocol: echo, awp\r\n\r\n"
    )
    connection.sendall(hello.encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(4096)
    return connection


def frame(data: bytes, opcode: int = 1) -> bytes:
    """A frame of at most 125 bytes, masked with zeros, final (RFC 6455, 5.3)."""
    return bytes([0x80 | opcode, 0x80 | len(data), 0, 0, 0, 0]) + data
