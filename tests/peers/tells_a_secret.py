"""Answers every JSON-RPC request with a session token, as result and as notification."""

import json
import sys

TOKEN = sys.argv[1]

for line in sys.stdin:
    held = {"session_token": TOKEN, "nested": [{"session_token": TOKEN}]}
    request = json.loads(line)
    for message in ({"method": "session.state", "params": held}, {"id": request.get("id"), "result": held}):
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
