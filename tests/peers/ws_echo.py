"""No fault: answers each message with the same, text or binary, and chooses the subprotocol `echo`.

What stands on its command line ends the URL that it prints.
"""

import sys
from collections.abc import Sequence

from websockets.sync.server import ServerConnection, serve
from websockets.typing import Subprotocol


def echo(connection: ServerConnection) -> None:
    for message in connection:
        connection.send(message)


def choose(_: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    return Subprotocol("echo") if "echo" in offered else None


with serve(echo, "127.0.0.1", 0, select_subprotocol=choose, compression=None, max_size=None) as server:
    print(f"ws://127.0.0.1:{server.socket.getsockname()[1]}{''.join(sys.argv[1:])}", flush=True)
    server.serve_forever()
