"""No peer, but what the rude ones share: one connection on a raw socket, its URL on standard output."""

import base64
import hashlib
import re
import socket


def listen() -> socket.socket:
    server = socket.create_server(("127.0.0.1", 0))
    print(f"ws://127.0.0.1:{server.getsockname()[1]}/", flush=True)
    return server


def request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(4096)
    return data


def shake(connection: socket.socket, request: bytes, headers: str = "") -> None:
    """The opening handshake of RFC 6455, 4.2.2."""
    found = re.search(rb"(?i)sec-websocket-key: *(\S+)", request)
    assert found
    digest = hashlib.sha1(found[1] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" + headers
    connection.sendall(f"{answer}Sec-WebSocket-Accept: {base64.b64encode(digest).decode()}\r\n\r\n".encode())


def upgraded(headers: str = "") -> socket.socket:
    """A connection after the opening handshake."""
    connection, _ = listen().accept()
    shake(connection, request(connection), headers)
    return connection


def frame(opcode: int, data: bytes) -> bytes:
    """A frame of at most 65,535 bytes, unmasked, final (RFC 6455, 5.2)."""
    length = bytes([len(data)]) if len(data) < 126 else bytes([126]) + len(data).to_bytes(2, "big")
    return bytes([0x80 | opcode]) + length + data


TEXT, BINARY, CLOSE, PING = 1, 2, 8, 9
