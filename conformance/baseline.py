"""Known failures: each with a reason, and the day until which it may stay. It says what is known and turns
no verdict: what is expected to fail has failed, and the claim says so.

A failure that no entry names is unexpected. An entry that is not true (any more) is stale, and both
have to be mended. The day is given from outside, since nothing here has a clock.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from typing import Any

from conformance import formats
from conformance.errors import BadConfiguration
from conformance.wording import nearest, printable

DAYS = 30
"""So long a proposed entry may stay."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A requirement that is known to fail: anywhere, or in one `scenario`; `flaky` if not each time."""

    requirement: str
    reason: str
    expires: str
    scenario: str = ""
    issue: str = ""
    flaky: bool = False

    def toml(self) -> str:
        """The entry as a file holds it; without the link of an issue, the place for one."""
        lines = ["[[known]]", f"requirement = {_quoted(self.requirement)}"]
        lines += [f"scenario = {_quoted(self.scenario)}"] if self.scenario else []
        lines += [f"reason = {_quoted(self.reason)}"]
        lines += [f"issue = {_quoted(self.issue)}" if self.issue else '# issue = "https://…"']
        lines += ["flaky = true"] if self.flaky else []
        return "\n".join([*lines, f"expires = {self.expires}"]) + "\n"


def _quoted(text: str) -> str:
    """A basic string of TOML, on one line."""
    return json.dumps(printable(text), ensure_ascii=False)


def read(text: str, name: str) -> tuple[Entry, ...]:
    """The entries in a file's text; BadConfiguration says what is wrong with it."""
    try:
        value = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadConfiguration(f"{name} is not TOML: {error}") from None
    rows = value.get("known")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("expires"), date):
            row["expires"] = row["expires"].isoformat()  # of a date with a time, no date of the schema
    for broken in formats.errors("baseline", value):
        raise BadConfiguration(f"{name}: {broken.pointer or 'the file'}: {broken.message}")
    return tuple(Entry(**row) for row in value.get("known", ()))


def compare(
    entries: tuple[Entry, ...],
    report: dict[str, Any],
    scenarios: Collection[str],
    today: date,
    *,
    whole: bool,
) -> dict[str, Any]:
    """The member `baseline` of a report, but for its path: what was expected, and what was not.

    `scenarios` are the names of all that there are; `whole` says that all of them were run, since only
    then does it mean something that an entry's failure was not seen.
    """
    rows = {row["id"]: row for row in report["requirements"]}
    told: dict[str, list[dict[str, Any]]] = {"expected": [], "stale": [], "unseen": []}
    for entry in entries:
        name, said = _judged(entry, rows, scenarios, today, whole=whole)
        told[name].append({**asdict(entry), "said": said})
    return told | {"unexpected": list(_unexpected(entries, rows.values(), today))}


def _judged(
    entry: Entry, rows: dict[str, Any], scenarios: Collection[str], today: date, *, whole: bool
) -> tuple[str, str]:
    """What the entry is, and what is to be said of it."""
    if entry.requirement not in rows:
        return "stale", _unknown("requirement", entry.requirement, rows)
    if entry.scenario and entry.scenario not in scenarios:
        return "stale", _unknown("scenario", entry.scenario, scenarios)
    row = rows[entry.requirement]
    if date.fromisoformat(entry.expires) < today:
        return "stale", f"it expired on {entry.expires}; fix the failure, or say anew until when it may stay"
    if any(_covers(entry, row["id"], name) for name in row.get("failed_in", ())):
        return "expected", row["reason"]
    if _passed(entry, row) and not entry.flaky and (whole or entry.scenario):
        return "stale", "it does not fail any more; remove it"
    return "unseen", f"it did not fail in this run, in which it is {row['verdict']}"


def _unknown(what: str, name: str, known: Collection[str]) -> str:
    near = nearest(name, known)
    meant = f" (is {near} meant?)" if near else ""
    return f"there is no {what} {name}{meant}; correct the entry, or remove it"


def _covers(entry: Entry, requirement: str, scenario: str) -> bool:
    return entry.requirement == requirement and entry.scenario in ("", scenario)


def _passed(entry: Entry, row: dict[str, Any]) -> bool:
    if entry.scenario:
        return entry.scenario in row["proved_by"]
    return row["verdict"] in ("pass", "warn")


def _unexpected(entries: tuple[Entry, ...], rows: Collection[Any], today: date) -> Iterator[dict[str, Any]]:
    """Each requirement that failed where no entry says so, with an entry that would."""
    until = (today + timedelta(days=DAYS)).isoformat()
    for row in rows:
        left = [
            name
            for name in row.get("failed_in", ())
            if not any(_covers(entry, row["id"], name) for entry in entries)
        ]
        if left:
            reason = _why(row, left)
            entry = Entry(row["id"], reason, until, flaky="flaky" in row)
            # One entry for all of them, or for the only one.
            entry = replace(entry, scenario=left[0]) if len(left) == 1 else entry
            yield {"requirement": row["id"], "scenarios": left, "reason": reason, "entry": entry.toml()}


def _why(row: dict[str, Any], scenarios: list[str]) -> str:
    found = (one for one in row["findings"] if one["verdict"] == "fail" and one["scenario"] in scenarios)
    return str(next((one["message"] for one in found), row["reason"]) or row["summary"])
