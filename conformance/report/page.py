"""The report as one page of HTML that needs nothing else: no network, no fonts, no script to be read.

The templates beside this module draw what is prepared here. Everything that they write is escaped, and made
printable on the way; what is bounded says what it left out.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from conformance.exchanges import Exchange, Exchanges, Step, place_of
from conformance.report import layers, sequences, timing
from conformance.report.dialects import CLAIMS, DIALECTS
from conformance.report.inert import text_of
from conformance.wording import plural, shown

FOLDER = Path(__file__).parent / "templates"

DRAWN = 40
"""So many exchanges are drawn."""

OPEN, TOLD = 30, 600
"""So many requirements are told of with all their findings, and so many findings in all."""

STATES, EDGES = 60, 200
"""A lifecycle with more is not drawn."""

SHORT = 120
"""So many characters of a name are written where it is a heading."""

UNNAMED = "other"
"""The heading of requirements of no area."""

Row = dict[str, Any]


class Told(NamedTuple):
    """A finding, with what stands around it on the wire and the diagram of that, where there is one."""

    finding: Row
    exchange: Exchange | None
    diagram: sequences.Sequence | None


class Failure(NamedTuple):
    """A requirement that something speaks against, the findings told of it, and how many are not told."""

    row: Row
    told: tuple[Told, ...]
    left_out: int


class Area(NamedTuple):
    """Requirements of one part of the protocol."""

    name: str
    rows: tuple[Row, ...]
    counts: Mapping[str, int]


def render(report: Row, exchanges: Exchanges) -> str:
    """The page."""
    failures, unlisted = _failures(report, exchanges)
    style, script = (Markup(_source(name)) for name in ("style.css", "script.js"))  # noqa: S704 our own files
    start, stop = timing.span(report)
    return (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            who={"name": "The implementation", "version": "", "vendor": ""} | report["implementation"],
            claim=CLAIMS[report["claim"]["status"]],
            verdicts=_verdicts(report),
            failures=failures,
            unlisted=unlisted,
            areas=_areas(report["requirements"]),
            lifecycles=[(one, _drawing(one), _reasons(one)) for one in report["lifecycles"]],
            untested=_untested(report["requirements"]),
            seconds=max(stop - start, 0) / 1000,
            slowest=max((run["seconds"] for run in report["scenarios"]), default=0.0),
            facts=[*_facts(report["ics"])],
            style=style,
            script=script,
            policy=_policy(style, script),
        )
    )


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_harmless,
    )
    made.filters.update(
        shown=lambda value: shown(value, 400), number=_number, anchor=_anchor, href=_href, parts=_parts,
        plural=plural, prose=_prose, short=lambda text: text_of(text, SHORT), seconds=_seconds,
    )  # fmt: skip
    return made


def _harmless(value: Any) -> Any:
    """What a template writes: text is cut and printable. It is escaped afterwards."""
    return text_of(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _source(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded or sent; of styles and scripts, these two alone are heeded."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


# ── what is told ─────────────────────────────────────────────────────────────────────────────────


def _verdicts(report: Row) -> list[Row]:
    """For the bar and its legend: each verdict that occurs, with where its part of the bar begins."""
    made: list[Row] = []
    total, at = max(sum(report["claim"]["counts"].values()), 1), 0.0
    for word in ("fail", "inconclusive", "warn", "pass", "manual", "untested", "not-applicable"):
        count = report["claim"]["counts"][word]
        if count:
            width = 1000 * count / total
            made.append({"word": word, "count": count, "x": round(at, 2), "width": round(width, 2)})
            made[-1]["meaning"] = DIALECTS[word].meaning
            at += width
    return made


def _failures(report: Row, exchanges: Exchanges) -> tuple[list[Failure], int]:
    """What speaks against requirements, the worst first, and how many findings are not told."""
    rows = [
        row
        for word in ("fail", "inconclusive", "warn")
        for row in report["requirements"]
        if row["verdict"] == word
    ]
    failures, room, drawings = [], TOLD, DRAWN
    for place, row in enumerate(rows):
        wanted = row["findings"] if place < OPEN else row["findings"][:1]
        told = [_told(one, exchanges, drawings > number) for number, one in enumerate(wanted[:room])]
        drawings -= sum(one.diagram is not None for one in told)
        room -= len(told)
        failures.append(Failure(row, tuple(told), len(row["findings"]) - len(told) + row["further_findings"]))
    return failures, sum(one.left_out for one in failures)


def _told(finding: Row, exchanges: Exchanges, draws: bool) -> Told:
    exchange = exchanges.get(place_of(finding)) if draws else None
    return Told(finding, exchange, sequences.drawn(exchange) if exchange else None)


def _areas(rows: Sequence[Row]) -> list[Area]:
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        by_name.setdefault(row.get("area") or UNNAMED, []).append(row)
    return [Area(name, tuple(of), _counts(of)) for name, of in by_name.items()]


def _counts(rows: Sequence[Row]) -> dict[str, int]:
    counts = Counter(row["verdict"] for row in rows)
    return {word: counts[word] for word in DIALECTS if counts[word]}


def _untested(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The untested requirements by their reason; those with an explanation of their own come first."""
    by_reason: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: not row.get("lacking")):
        if row["verdict"] == "untested":
            by_reason.setdefault(row["reason"], []).append(row)
    return by_reason


# ── lifecycles ───────────────────────────────────────────────────────────────────────────────────


def _drawing(lifecycle: Row) -> layers.Drawing | None:
    fits = len(lifecycle["states"]) <= STATES and len(lifecycle["edges"]) <= EDGES
    named = {one[end] for one in lifecycle["edges"] for end in ("from", "to")} | {lifecycle["initial"]}
    return layers.drawn(lifecycle) if fits and named <= set(lifecycle["states"]) else None


def _reasons(lifecycle: Row) -> Row:
    """Terminal states × reasons: how often each was given, where the table or the wire has it."""
    cells = {(one["state"], one["reason"]): one for one in lifecycle["reasons"]}
    states = list(dict.fromkeys(state for state, _ in cells))
    names = list(dict.fromkeys(reason for _, reason in cells))
    seen = sum(one["seen"] > 0 for one in cells.values() if one["listed"])
    listed = sum(one["listed"] for one in cells.values())
    return {"states": states, "names": names, "cells": cells, "seen": seen, "listed": listed}


# ── how values are written ───────────────────────────────────────────────────────────────────────


def _number(value: int | str | None) -> str:
    """An integer as people write it: those next to 2^53 as such. A text is what stands for one too long."""
    if value is None or isinstance(value, str):
        return value or "–"
    bound = 2**53 - 1
    if abs(value) == bound:
        return "2⁵³−1" if value > 0 else "−(2⁵³−1)"
    if abs(value) >= 10**30:
        return shown(value)
    return Markup(f"{value:,}".replace(",", "\u202f").replace("-", "−"))  # noqa: S704 digits and spaces


def _prose(text: str) -> Markup:
    """A sentence in which what stands between backticks is code."""
    parts = text_of(text).split("`")
    if len(parts) % 2 == 0:  # one of them has no other
        return escape("`".join(parts))
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(one) if place % 2 else escape(one) for place, one in enumerate(parts))


def _seconds(value: float) -> str:
    if value < 60:
        return f"{value:.2f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest:02d} s"


def _anchor(name: str) -> str:
    """The name of an element, of letters that need no care."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:80]


_PLAIN = re.compile(r"(transcripts|stderr)/[\w.@+-]+(/[\w.@+-]+)*", re.ASCII)


def _href(path: str) -> str:
    """A link to a file beside the page; empty where the path is not one that a report has."""
    return path if _PLAIN.fullmatch(path) and ".." not in path else ""


def _parts(exchange: Exchange, step: Step) -> tuple[str, str, str]:
    """The text of a step before, at and after the value that is meant."""
    start, end = exchange.mark
    if not step.meant or start == end:
        return step.text, "", ""
    return step.text[:start], step.text[start:end], step.text[end:]


def _facts(value: Any, within: str = "") -> Iterator[tuple[str, str]]:
    """The facts of an ICS by their paths."""
    for name, one in value.items():
        if isinstance(one, Mapping) and one and len(within) < 100:
            yield from _facts(one, f"{within}{name}.")
        else:
            yield within + name, json.dumps(one, ensure_ascii=False)
