"""Accepts a task of va-agent-protocol, and is then ended by a signal of its own making."""

import json
import os
import signal
import sys

order = json.loads(sys.stdin.readline())
payload = {"taskId": order["payload"]["task"]["id"]}
print(json.dumps({**order, "type": "accepted", "sourceId": "peer", "payload": payload}), flush=True)
os.kill(os.getpid(), signal.SIGSEGV)
