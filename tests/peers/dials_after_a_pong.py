"""No fault: connects to the kit, pings it, and connects once more only when the ping was answered."""

import json
import os

from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

PING = {"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"origin_ns": 1}}


def dial() -> ClientConnection:
    return connect(os.environ["CONFORMANCE_URL"], subprotocols=[Subprotocol("awp")])


with dial() as first:
    first.send(json.dumps(PING))
    while json.loads(first.recv()).get("id") != PING["id"]:
        pass
    with dial() as second:
        for _ in second:
            pass
