"""No fault but slowness, over WebSocket: accepts a task and works on it, or answers no ping, for longer than
anybody waits; meanwhile it tells of its progress."""

import json
from collections.abc import Sequence
from typing import Any

from websockets.sync.server import ServerConnection, serve
from websockets.typing import Subprotocol

SAID: dict[str, Any] = {"type": "accepted", "sourceId": "slow"}


def work(connection: ServerConnection) -> None:
    order = json.loads(next(iter(connection)))
    task = {"taskId": order["payload"]["task"]["id"]}
    connection.send(json.dumps(order | SAID | {"payload": task}))
    for _ in connection:  # the library answers the close frame; there is no time for the work to end
        pass


def choose(_: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    return next(iter(offered), None)


with serve(work, "127.0.0.1", 0, select_subprotocol=choose, compression=None) as server:
    print(f"ws://127.0.0.1:{server.socket.getsockname()[1]}", flush=True)
    server.serve_forever()
