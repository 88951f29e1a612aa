"""Answers every JSON-RPC request with a session token, that of a file, as result and as notification."""

import json
import sys
from pathlib import Path

TOKEN = Path(sys.argv[1]).read_text("utf-8")

for line in sys.stdin:
    held = {"session_token": TOKEN, "nested": [{"session_token": TOKEN}]}
    request = json.loads(line)
    for message in ({"method": "session.state", "params": held}, {"id": request.get("id"), "result": held}):
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
