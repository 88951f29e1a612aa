"""No fault: connects to the kit and, whenever the connection ends, once more, until it is refused."""

import os
from contextlib import suppress

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol

with suppress(OSError, EOFError):
    for number in range(1000):
        socket = connect(os.environ["CONFORMANCE_URL"], subprotocols=[Subprotocol("echo")])
        with socket, suppress(ConnectionClosed):
            socket.send(f"connection {number}")
            for message in socket:
                socket.send(message)
