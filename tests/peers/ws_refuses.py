"""Prints a URL where nobody listens."""

import socket
import time

with socket.create_server(("127.0.0.1", 0)) as server:
    port = server.getsockname()[1]
print(f"ws://127.0.0.1:{port}/", flush=True)
time.sleep(600)
