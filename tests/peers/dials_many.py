"""Connects to the kit without end, and keeps every connection."""

import os
import socket
import sys
import time

ADDRESS = os.environ["CONFORMANCE_URL"].removeprefix("ws://")
HOST, PORT = ADDRESS.split(":")
HELLO = (
    f"GET / HTTP/1.1\r\nHost: {ADDRESS}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Protocol: echo\r\n\r\n"
)
kept = []
for _ in range(200):
    kept.append(socket.create_connection((HOST, int(PORT))))
    kept[-1].sendall(HELLO.encode())
    kept[-1].recv(4096)
print("done", file=sys.stderr)
time.sleep(600)
