"""The protocol's own conformance suite, whose monitor judges our records offline, and what both say.

    python tests/acceptance/peer_monitor.py

writes anew where it and the kit differ, `peer_monitor.json`, and keeps the explanations; whoever does so
explains what has none. The suite drives a live world; here its link is given the texts of a record instead
of a socket, and told of each request as if it had sent it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from awp_conformance.link import Link
from awp_conformance.monitor import SessionTracker
from awp_conformance.results import Outcome, Results
from awp_conformance.spec import REQUIREMENTS
from specimens import content, files, judged

from conformance import packs, records
from conformance.events import Event, Malformed, Opened
from conformance.findings import Verdict, fold, verdict_of
from conformance.monitor import Monitor

TABLE = Path(__file__).with_suffix(".json")

PACK = packs.find("awp@0.1-draft.7")
"""The revision that the suite is of."""

REVISION = f"{PACK.protocol}/{PACK.revision}"

TRANSCRIPTS = files(f"{REVISION}/transcripts/*/*.jsonl")

MESSAGES = files(f"{REVISION}/messages/invalid/*.json")
"""Those that a world may have sent of its own accord are judged by both; the rest needs what it answers."""

NOTHING = "-"
"""Nothing was said of a requirement."""

WORDS = {Outcome.PASS: "pass", Outcome.FAIL: "fail", Outcome.WARN: "warn"}


Key = tuple[str, str, str]
"""A requirement, what the suite says of it, and what the kit says."""

KITS_OWN = "AWP-MSG-001"
"""The requirement that is not in the protocol's matrix: what no row of it says."""


def named(path: Path) -> str:
    return f"{path.parent.parent.name}/{path.parent.name}/{path.stem}"


def events_of(path: Path) -> list[Event]:
    """What is on the record."""
    return list(records.open_record(content(path), path.name, PACK).events)


def ours(path: Path) -> dict[str, str]:
    """What the kit says of the world, by requirement; the suite's monitor judges no agent."""
    seen: dict[str, list[Verdict]] = {}
    for finding in judged(events_of(path), Monitor(PACK)):
        if finding.party != "agent":
            verdict = verdict_of(finding, PACK.requirements[finding.requirement].level)
            seen.setdefault(finding.requirement, []).append(verdict)
    return {name: fold(verdicts).word for name, verdicts in seen.items()}


def theirs(path: Path) -> dict[str, str]:
    """What the suite's monitor says of the world, by requirement."""
    results = asyncio.run(_monitored(events_of(path)))
    by_requirement = {finding.requirement for finding in results.findings}
    verdicts = {name: results.verdict(name) for name in by_requirement}
    return {name: WORDS[verdict] for name, verdict in verdicts.items() if verdict in WORDS}


async def _monitored(events: list[Event]) -> Results:
    results = Results()
    tracker = SessionTracker(results, "record", _manifest(events), _mode(events))
    links: dict[str, Link] = {}
    for event in events:
        link = links.setdefault(event.connection, _link(tracker))
        if isinstance(event, Opened) and len(links) > 1:
            tracker.closing = False
        text = event.data if isinstance(event, Malformed) else getattr(event, "text", None)
        if text is None:
            continue
        if getattr(event, "party", "") == "agent":
            _asked(link, _value(text))
        else:
            await link._receive(text)
    tracker.flush()
    return results


def is_of_a_world(path: Path) -> bool:
    """Whether a message on its own is no request of an agent, and answers nothing."""
    value = _value(content(path))
    if not isinstance(value, dict):
        return True
    method = str(value.get("method", ""))
    asks = "id" in value and method != "ping"
    return not asks and method not in ("obs.report", "cmd.frame", "action.submit")


def _link(tracker: SessionTracker) -> Link:
    return Link("", tracker, answer_pings=False, heartbeat=False)


def _asked(link: Link, message: Any) -> None:
    """What `Link.start` does, without a socket, and with the record's own id."""
    if not isinstance(message, dict) or "method" not in message or not isinstance(message.get("id"), int):
        return
    answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    closing, method = link.tracker.closing, message["method"]
    if method == "session.close":
        link.tracker.closing = True
    asked = (method, message.get("params") or {}, time.monotonic_ns(), closing, answer)
    link._pending[message["id"]] = asked


def _value(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _said(events: Iterable[Event]) -> list[dict[str, Any]]:
    values = [_value(getattr(event, "text", "")) for event in events]
    return [value for value in values if isinstance(value, dict)]


def _manifest(events: list[Event]) -> dict[str, Any]:
    """The manifest of the world, which the suite learns before it begins to monitor."""
    for value in _said(events):
        result = value.get("result")
        if isinstance(result, dict) and "embodiments" in result:
            return result
    return {}


def _mode(events: list[Event]) -> str:
    modes = [
        (value.get("params") or {}).get("mode")
        for value in _said(events)
        if value.get("method") == "session.open"
    ]
    return str(next((mode for mode in modes if isinstance(mode, str)), "streaming"))


def differences() -> dict[Key, list[str]]:
    """The records on which the two differ, by what they say; both name no record for what only one passes."""
    found: dict[Key, list[str]] = {}
    for path in (*TRANSCRIPTS, *filter(is_of_a_world, MESSAGES)):
        one, other = theirs(path), ours(path)
        for name in sorted(one.keys() | other.keys()):
            key = name, one.get(name, NOTHING), other.get(name, NOTHING)
            if key[1] != key[2] and name in REQUIREMENTS.keys() | {KITS_OWN}:
                where = found.setdefault(key, [])
                where += [named(path)] if {"fail", "warn"} & {*key} else []
    return found


def explained() -> dict[Key, dict[str, Any]]:
    """The rows of the table."""
    rows = json.loads(TABLE.read_text(encoding="utf-8"))["differences"] if TABLE.is_file() else []
    return {(row["requirement"], row["theirs"], row["ours"]): row for row in rows}


def main() -> None:
    """Write the table anew."""
    known, rows = explained(), []
    for key, where in sorted(differences().items()):
        row = dict(zip(("requirement", "theirs", "ours"), key, strict=True))
        row |= {"records": where} if where else {}
        rows.append(row | {"why": known.get(key, {}).get("why", "")})
    lines = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in rows)
    TABLE.write_text(f'{{\n  "differences": [\n{lines}\n  ]\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
