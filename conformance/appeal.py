"""`verify` and `diff`: reports judged again and compared, on a terminal or as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conformance import bundle, comparison, verification
from conformance import report as reports
from conformance.comparison import Comparison
from conformance.console import say
from conformance.errors import ExitCode
from conformance.verification import Changed, Verification
from conformance.wording import plural, printable


def verify(path: Path, form: str, whole: Path | None = None) -> int:
    """Judge a report again, in its folder or bundle; 0 if it agrees, 1 if it does not.

    If it agrees, it is written to `whole` as a bundle.
    """
    with _opened(path) as (report, folder, denied):
        found = verification.verify(report, folder)
        found = found._replace(tampered=(*denied, *found.tampered))
        if whole is not None and found.agrees:
            bundle.write(whole, folder, report)
    say(VERIFIED[form](found, path), nl=False)
    return ExitCode.HOLDS if found.agrees else ExitCode.BROKEN


def diff(before: Path, after: Path, form: str) -> int:
    """Compare two reports; 1 if the second one has lost something."""
    with _opened(before) as (first, _, _), _opened(after) as (second, _, _):
        found = comparison.compare(first, second)
    say(COMPARED[form](found), nl=False)
    return ExitCode.BROKEN if found.worse else ExitCode.HOLDS


@contextmanager
def _opened(path: Path) -> Iterator[tuple[dict[str, Any], Path, tuple[Changed, ...]]]:
    """A report, the folder that it lies in, and what a bundle's statement denies."""
    if path.suffix == ".zip":
        with bundle.opened(path) as (folder, denied):
            yield reports.read(folder), folder, denied
    else:
        yield reports.read(path), path if path.is_dir() else path.parent, ()


def _verified(found: Verification, path: Path) -> str:
    lines = [one.message for one in (*found.causes, *found.tampered, *found.verdicts)]
    if found.verdicts:
        lines.append(f"why: {'; '.join(found.why)}")
    rows, runs = len(found.report["requirements"]), found.report["scenarios"]
    judged = plural(sum(1 for run in runs if run["transcript"]), "transcript")
    about = f"{plural(rows, 'requirement')}, {judged}, claim: {found.report['claim']['status']}"
    word = "agrees" if found.agrees else "does not agree"
    return "".join(f"{printable(line)}\n" for line in (*lines, f"{path}: {word} ({about})"))


def _verified_json(found: Verification, path: Path) -> str:
    value = {
        "report": str(path),
        "agrees": found.agrees,
        "causes": [one._asdict() for one in found.causes],
        "tampered": [one._asdict() for one in found.tampered],
        "verdicts": [one._asdict() for one in found.verdicts],
        "why": list(found.why),
    }
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


VERIFIED: dict[str, Callable[[Verification, Path], str]] = {"text": _verified, "json": _verified_json}
"""By name of the format."""


def _compared(found: Comparison) -> str:
    lines = [f"note: {said}" for said in found.apart]
    for name, title in comparison.TITLES.items():
        rows: tuple[comparison.Row, ...] = getattr(found, name)
        lines += [f"{title}: {plural(len(rows), 'requirement')}"] if rows else []
        for row in rows:
            reason = f": {row.reason}" if row.reason else ""
            lines.append(
                f"  {row.requirement} ({row.level}) {row.before or '-'} → {row.after or '-'}{reason}"
            )
    before, after = found.claims
    lines.append(f"claim: {after}" if before == after else f"claim: {before} → {after}")
    return "".join(f"{printable(line)}\n" for line in lines)


def _compared_json(found: Comparison) -> str:
    value = {name: [row._asdict() for row in getattr(found, name)] for name in comparison.TITLES}
    before, after = found.claims
    whole = {**value, "claim": {"before": before, "after": after}, "apart": list(found.apart)}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


COMPARED: dict[str, Callable[[Comparison], str]] = {"text": _compared, "json": _compared_json}
"""By name of the format."""
