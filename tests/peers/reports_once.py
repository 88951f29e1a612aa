"""A reporter that writes one snapshot, without a newline at its end, and ends."""

import json
import sys
from datetime import UTC, datetime

SNAPSHOT = {
    "schemaVersion": "1.0",
    "taskId": "T",
    "operationId": "O",
    "launchId": "L",
    "attempt": 1,
    "phase": "observing",
    "evidenceLevel": "alive",
    "lastActivityAt": datetime.now(UTC).isoformat(),
}
sys.stdout.write(json.dumps(SNAPSHOT))
