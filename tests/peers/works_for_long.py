"""No fault but slowness: accepts a task, and works on it for longer than anybody waits."""

import json
import sys
import time

order = json.loads(sys.stdin.readline())
accepted = {"type": "accepted", "payload": {"taskId": order["payload"]["task"]["id"]}}
print(json.dumps(order | accepted | {"sourceId": "slow"}), flush=True)
time.sleep(60)
