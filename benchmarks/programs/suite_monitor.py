"""The monitor of the protocol's own suite (awp-conformance) over a trace, without a socket.

    suite_monitor.py TRACE

The suite drives a live world; here its link is given the lines of a trace instead, and told of each request
as if it had sent it. Each `initialize` begins another session.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from awp_conformance.link import Link
from awp_conformance.monitor import SessionTracker
from awp_conformance.results import Results


async def monitored(lines: list[bytes]) -> Results:
    """What the monitor says of them."""
    values = [json.loads(line) for line in lines]
    answers = (value["msg"].get("result") for value in values)
    manifest = next(one for one in answers if isinstance(one, dict) and "embodiments" in one)
    results, link = Results(), None
    for number, value in enumerate(values):
        message = value["msg"]
        if message.get("method") == "initialize":
            if link is not None:
                link.tracker.flush()
            tracker = SessionTracker(results, str(number), manifest, "lockstep")
            link = Link("", tracker, answer_pings=False, heartbeat=False)
        assert link is not None
        if value["from"] == "agent":
            asked(link, message)
        else:
            await link._receive(json.dumps(message))
    assert link is not None
    link.tracker.flush()
    return results


def asked(link: Link, message: dict[str, Any]) -> None:
    """Tell the link of a request."""
    if "id" not in message:
        return
    answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    closing, method = link.tracker.closing, message["method"]
    if method == "session.close":
        link.tracker.closing = True
    link._pending[message["id"]] = (method, message.get("params") or {}, time.monotonic_ns(), closing, answer)


def main() -> int:
    """Monitor, and say how many findings there are against the world: none is exit code 0."""
    results = asyncio.run(monitored(Path(sys.argv[1]).read_bytes().splitlines()))
    failed = [finding for finding in results.findings if not finding.ok]
    print(len(failed), "failed of", len(results.findings))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
