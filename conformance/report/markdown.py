"""The report as Markdown, for a pull request or a job's summary: the claim, what failed, what stayed open.

What comes from elsewhere can neither format, nor link, nor mention anybody: it is escaped, and `@`, `#`
and the like have a word joiner behind them. It stays below what a comment on GitHub may hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conformance.exchanges import Exchanges
from conformance.report.dialects import CLAIMS, DIALECTS
from conformance.wording import plural, shown

MOST = 60_000
"""A comment on GitHub holds 65,536 characters."""

TOLD, SHOWN = 3, 40
"""So many findings are told of one requirement, and so many requirements of one verdict."""

LONGEST = 600

Row = dict[str, Any]


def render(report: Row, _: Exchanges) -> str:
    """The whole text, cut at the end of a line where it would be too long."""
    text, size = [], 0
    for line in _lines(report):
        size += len(line) + 1
        if size > MOST:
            text.append("\n*The rest is left out; it is in `report.json`.*")
            break
        text.append(line)
    return "\n".join(text) + "\n"


def _lines(report: Row) -> Iterator[str]:
    claim, pack = report["claim"], report["pack"]
    mark = DIALECTS[_MARKS[claim["status"]]].mark
    yield f"## {mark} {CLAIMS[claim['status']][2]}: {plain(pack['protocol'])} {plain(pack['revision'])}"
    yield ""
    yield _BEGINS.sub("\u2060", plain(claim["wording"]))
    yield ""
    used = [word for word in DIALECTS if claim["counts"].get(word)]
    yield "| " + " | ".join(f"{DIALECTS[word].mark} {word}" for word in used) + " |"
    yield "|" + " ---: |" * len(used)
    yield "| " + " | ".join(str(claim["counts"][word]) for word in used) + " |"
    for word, title in (("fail", "Failed"), ("inconclusive", "Inconclusive"), ("warn", "Warnings")):
        yield from _section(report, word, title)
    yield from _untested(report)
    if report["errata"]:
        yield ""
        yield f"Errata applied: {', '.join(plain(one['id']) for one in report['errata'])}."


_MARKS = {
    "conformant": "pass",
    "incomplete": "untested",
    "non-conformant": "fail",
    "not-evaluated": "inconclusive",
}


def _section(report: Row, word: str, title: str) -> Iterator[str]:
    rows = [row for row in report["requirements"] if row["verdict"] == word]
    if not rows:
        return
    yield f"\n### {title}\n"
    for row in rows[:SHOWN]:
        yield f"- **{plain(row['id'])}** ({row['level']}) {plain(row['summary'])}"
        for finding in row["findings"][:TOLD]:
            yield from _finding(finding)
        if not row["findings"]:
            yield f"  - {plain(row['reason'])}"
        further = row["further_findings"] + len(row["findings"][TOLD:])
        if further:
            yield f"  - and {plural(further, 'more finding')}"
    if len(rows) > SHOWN:
        yield f"- and {plural(len(rows) - SHOWN, 'more requirement')}"


def _finding(finding: Row) -> Iterator[str]:
    line = f":{finding['line']}" if finding["line"] else ""
    place = code(f"{finding['transcript'] or finding['scenario']}{line}")
    at = f" at {code(finding['pointer'])}" if finding["pointer"] else ""
    yield f"  - {place}{at}: {plain(finding['message'])}"
    if finding["expected"]:
        allowed = ", ".join(code(shown(one)) for one in finding["expected"][:8])
        yield f"    expected {allowed}; found {code(shown(finding['actual']))}"


def _untested(report: Row) -> Iterator[str]:
    rows = [row for row in report["requirements"] if row["verdict"] in ("untested", "manual")]
    if rows:
        yield f"\n<details><summary>{plural(len(rows), 'requirement')} not decided</summary>\n"
        yield from (f"- {plain(row['id'])} ({row['level']}): {plain(row['reason'])}" for row in rows)
        yield "\n</details>"


_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#!|~&$\"])")
_CALLS = re.compile(r"([@#]|:(?=//)|\bwww(?=\.)|\bGH(?=-))", re.IGNORECASE)
_BEGINS = re.compile(r"^(?=[-+=:]|[0-9]+[.)])")
"""What would begin a list, a heading or a table at the beginning of a line."""


def plain(text: str) -> str:
    """The text as nothing but text: escaped, on one line, and without mentions and links of its own."""
    escaped = _SPECIAL.sub(lambda found: _ENTITIES.get(found[0], "\\" + found[0]), _cut(text))
    return _CALLS.sub("\\1\u2060", escaped)


_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def code(text: str) -> str:
    """The text as code, in which nothing means anything; a bar would end a cell of a table all the same."""
    text = _cut(text).replace("|", "¦")
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return f"{fence}{pad}{text or ' '}{pad}{fence}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
