"""An orchestrator that delivers its order twice, and then listens; or leaves at once with --leave."""

import json
import sys

TASK = {"id": "T", "objective": "Do it.", "acceptanceCriteria": ["it is done"]}
if "--promise" in sys.argv:
    TASK["outputContract"] = {"keys": ["what no ICS states"]}
ORDER = {
    "protocol": "va-agent-protocol",
    "version": "0.1.0",
    "type": "dispatch",
    "timestamp": "2026-04-01T09:00:00Z",
    "correlationId": "c-1",
    "payload": {"task": TASK},
}
for _ in range(2):
    print(json.dumps(ORDER))
if "--leave" not in sys.argv:
    sys.stdin.read()
