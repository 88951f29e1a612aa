"""No fault: connects to the kit, answers each message with the same, and ends with the connection."""

import os
import sys

from websockets.sync.client import connect
from websockets.typing import Subprotocol

[url] = sys.argv[1:] or [os.environ["CONFORMANCE_URL"]]
with connect(url, subprotocols=[Subprotocol("echo")], compression=None, max_size=None) as socket:
    for message in socket:
        socket.send(message)
