"""No fault: a server with the certificate and key of the argument, which answers with the same."""

import ssl
import sys

from websockets.sync.server import ServerConnection, serve


def echo(connection: ServerConnection) -> None:
    for message in connection:
        connection.send(message)


context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
context.load_cert_chain(sys.argv[1])
with serve(echo, "127.0.0.1", 0, ssl=context) as server:
    print(f"wss://127.0.0.1:{server.socket.getsockname()[1]}", flush=True)
    server.serve_forever()
