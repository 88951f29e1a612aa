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
from functools import cache
from pathlib import Path
from typing import Any

from awp_conformance import spec
from awp_conformance.link import Link
from awp_conformance.monitor import SessionTracker
from awp_conformance.results import Outcome, Results
from awp_conformance.spec import REQUIREMENTS
from specimens import content, files, judged

from conformance import locating, packs, records
from conformance.events import Event, Malformed
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

NOT_WATCHED = (
    "The suite's monitor has no check of these: it leaves them to tests that drive a live world, or books "
    "them under another requirement."
)

WORDS = {Outcome.PASS: "pass", Outcome.FAIL: "fail", Outcome.WARN: "warn"}


REFUSED: dict[tuple[str, str, bool], list[str]] = {}


def _errors(name: str, value: Any, *, sender: bool = False) -> list[str]:
    """What the suite's schemas say of a value: asked once, since most records begin with one manifest."""
    key = name, json.dumps(value), sender
    if key not in REFUSED:
        REFUSED[key] = _ASK(name, value, sender=sender)
    return REFUSED[key]


_ASK, spec.schema_errors = spec.schema_errors, _errors

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
    results, links = Results(), dict[str, Link]()
    manifest, mode = _manifest(events), _mode(events)
    for event in events:
        text = event.data if isinstance(event, Malformed) else getattr(event, "text", None)
        if text is None:
            continue
        if event.connection not in links:
            tracker = SessionTracker(results, event.connection, manifest, mode)
            links[event.connection] = Link("", tracker, answer_pings=False, heartbeat=False)
        link, message = links[event.connection], _value(text)
        if getattr(event, "party", "") == "agent":
            _resumed(link, message, links.values())
            _asked(link, message)
        else:
            await link._receive(_with_number(text, message))
    for tracker in {id(link.tracker): link.tracker for link in links.values()}.values():
        tracker.flush()
    return results


def _resumed(link: Link, message: Any, links: Iterable[Link]) -> None:
    """A session that goes on over another connection is one session to the suite."""
    if isinstance(message, dict) and message.get("method") == "session.resume":
        token = (message.get("params") or {}).get("session_token")
        known = (one.tracker for one in links if one.tracker.token and one.tracker.token == token)
        link.tracker = next(known, link.tracker)
        link.tracker.closing = False


NUMBERS: dict[str, int] = {}
"""The suite's own ids are numbers, and it knows no others: for each string, a number that nobody uses."""


def _number(name: Any) -> Any:
    return NUMBERS.setdefault(name, 10**9 + len(NUMBERS)) if isinstance(name, str) else name


def _with_number(text: str | bytes, message: Any) -> str | bytes:
    """The text of an answer with a number in the place of an id that is a string."""
    place = locating.locate(text, "/id") if isinstance(text, str) and _is_answer(message) else None
    if place is None or not isinstance(message["id"], str):
        return text
    return f"{text[: place.offset]}{_number(message['id'])}{text[place.end :]}"


def _is_answer(message: Any) -> bool:
    return isinstance(message, dict) and "method" not in message and "id" in message


def is_of_a_world(path: Path) -> bool:
    """Whether a message on its own is no request of an agent, and answers nothing."""
    value = _value(content(path))
    if not isinstance(value, dict):
        return True
    method = str(value.get("method", ""))
    asks = "id" in value and method != "ping"
    return not asks and method not in ("obs.report", "cmd.frame", "action.submit")


def _asked(link: Link, message: Any) -> None:
    """What `Link.start` does, without a socket, and with the record's own id."""
    if not isinstance(message, dict) or "method" not in message or "id" not in message:
        return
    answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    closing, method = link.tracker.closing, message["method"]
    if method == "session.close":
        link.tracker.closing = True
    asked = (method, message.get("params") or {}, time.monotonic_ns(), closing, answer)
    if isinstance(message["id"], int | str):
        link._pending[_number(message["id"])] = asked


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


@cache
def compared() -> dict[Path, tuple[dict[str, str], dict[str, str]]]:
    """By record, what the suite says, and what the kit says."""
    paths = (*TRANSCRIPTS, *filter(is_of_a_world, MESSAGES))
    return {path: (theirs(path), ours(path)) for path in paths}


def not_watched() -> list[str]:
    """The requirements that the kit judges on some record, and the suite's monitor on none."""
    watched = {name for one, _ in compared().values() for name in one}
    judged_here = {name for _, other in compared().values() for name in other if name in REQUIREMENTS}
    return sorted(judged_here - watched)


def differences() -> dict[Key, list[str]]:
    """The records on which the two differ, by what they say; both name no record for what only one passes."""
    found: dict[Key, list[str]] = {}
    known = REQUIREMENTS.keys() - set(not_watched()) | {KITS_OWN}
    for path, (one, other) in compared().items():
        for name in sorted(known & (one.keys() | other.keys())):
            key = name, one.get(name, NOTHING), other.get(name, NOTHING)
            if key[1] != key[2]:
                where = found.setdefault(key, [])
                where += [named(path)] if {"fail", "warn"} & {*key} else []
    return found


def table() -> dict[str, Any]:
    """What is listed; nothing where there is no list yet."""
    return dict(json.loads(TABLE.read_text(encoding="utf-8"))) if TABLE.is_file() else {}


def explained() -> dict[Key, dict[str, Any]]:
    """The rows of the table."""
    rows = table().get("differences", [])
    return {(row["requirement"], row["theirs"], row["ours"]): row for row in rows}


def main() -> None:
    """Write the table anew."""
    known, rows = explained(), []
    for key, where in sorted(differences().items()):
        row = dict(zip(("requirement", "theirs", "ours"), key, strict=True))
        row |= {"records": where} if where else {}
        rows.append(row | {"why": known.get(key, {}).get("why", "")})
    lines = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in rows)
    listed = json.dumps({"why": NOT_WATCHED, "requirements": not_watched()})
    text = f'{{\n  "not_watched": {listed},\n  "differences": [\n{lines}\n  ]\n}}\n'
    TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
