"""Connects to the kit and offers a subprotocol that nobody asked for."""

import os
import sys

from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

offered = [Subprotocol(name) for name in sys.argv[1:]]
try:
    connect(os.environ["CONFORMANCE_URL"], subprotocols=offered or None)
except InvalidStatus as refused:
    print(refused.response.status_code, file=sys.stderr)
    sys.stdin.read()
