"""Accepts every task of va-agent-protocol, and never says how it went."""

import json
import sys

for line in sys.stdin:
    order = json.loads(line)
    if order["type"] == "dispatch":
        payload = {"taskId": order["payload"]["task"]["id"]}
        print(json.dumps({**order, "type": "accepted", "sourceId": "peer", "payload": payload}), flush=True)
