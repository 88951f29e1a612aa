"""Accepts every task of va-agent-protocol, and never says how it went."""

import json
import sys

for line in sys.stdin:
    order = json.loads(line)
    task = order["payload"].get("task", {}).get("id", "?")
    print(
        json.dumps({**order, "type": "accepted", "sourceId": "peer", "payload": {"taskId": task}}), flush=True
    )
