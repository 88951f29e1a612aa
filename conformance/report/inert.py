"""A report's value made harmless: all of it may come from a stranger, and one field may hold a megabyte.

Long texts and lists are cut and say by how much, what nests too deep is left out, and what a terminal or
a reader would obey or not show (control characters, escapes, changes of direction, lone surrogates) is
written as an escape. Every rendering is made from such a value.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from conformance.wording import plural, printable

LONGEST = 4000
"""So many characters of a text are kept."""

DEEPEST = 40
"""So deep may a value be nested."""

MANY = 200
"""So many parts of a finding's value are kept, at each depth."""

HUGE = 10**80


def report_of(report: dict[str, Any]) -> dict[str, Any]:
    """The report with every text cut and printable; its own lists stay whole, unlike those in findings."""
    made: dict[str, Any] = _tamed(report, DEEPEST, len(report.get("requirements", ())) + 100_000)
    for row in made["requirements"]:
        for finding in row["findings"]:
            finding["expected"] = _tamed(finding["expected"], DEEPEST, MANY)
            finding["actual"] = _tamed(finding["actual"], DEEPEST, MANY)
    return made


def _tamed(value: Any, deep: int, many: int) -> Any:
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, (list, tuple, dict)) and not deep:
        return "…"
    if isinstance(value, dict):
        made = {text_of(str(name)): _tamed(one, deep - 1, many) for name, one in [*value.items()][:many]}
        return made | ({"…": f"{len(value) - many} more"} if len(value) > many else {})
    if isinstance(value, (list, tuple)):
        rest = [f"… {len(value) - many} more"] if len(value) > many else []
        return [_tamed(one, deep - 1, many) for one in value[:many]] + rest
    return _number(value)


def _number(value: Any) -> Any:
    """The value itself, unless it is a number that no format could write."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= HUGE:
        return "a number of very many digits"
    return str(value) if isinstance(value, Decimal) else value


def text_of(text: str, longest: int = LONGEST) -> str:
    """The text, cut in its middle, and escaped but for the ends of its lines."""
    if len(text) > longest:
        left_out = plural(len(text) - longest, "character")
        text = f"{text[: longest * 3 // 4]} … {left_out} left out … {text[-(longest // 4) :]}"
    if text.isprintable():
        return text
    return "\n".join(map(printable, text.split("\n")))
