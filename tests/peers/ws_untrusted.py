"""Speaks TLS by a certificate, named on its command line, that nobody vouches for."""

import socket
import ssl
import sys
from contextlib import suppress

context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
context.load_cert_chain(sys.argv[1])
server = socket.create_server(("127.0.0.1", 0))
print(f"wss://127.0.0.1:{server.getsockname()[1]}/", flush=True)
connection, _ = server.accept()
with connection, suppress(OSError):
    context.wrap_socket(connection, server_side=True)
