"""The kit's own output on its own fixtures, as it was read and found right: `reports/golden/`.

    python tests/acceptance/golden.py

writes it anew. Whoever does so reads the difference, since that is what users will see.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conformance import exchanges, packs, report
from conformance.packs import Pack
from conformance.report import evaluation

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "reports" / "golden"

RECORDS = {
    "va-agent-protocol@0.1.0": (
        "valid/completed", "valid/blocked-and-resumed", "invalid/completed-twice",
        "invalid/ends-while-running", "invalid/log-line-on-stdout",
    ),
    "awp@0.1-draft.7": (
        "valid/cancelled-while-executing", "valid/resumed-with-replay", "invalid/close-answered-too-early",
        "invalid/frame-without-send-time",
    ),
}  # fmt: skip
"""By pack, the transcripts that stand for a run's scenarios."""


FORMS = {"text": "txt", "junit": "xml", "markdown": "md"}
"""The renderings that are kept, and how their files end."""

DEMO = FOLDER / "demo"
"""The report of a real run that failed, with its transcripts; its page is the one that is kept."""


def value_of(pack: Pack, names: tuple[str, ...]) -> dict[str, Any]:
    """The report's value, with the digest left out, which changes with every word of the pack."""
    runs = [_run(pack, name) for name in names]
    value = evaluation.evaluate(
        pack,
        pack.certifies,
        runs,
        target="stdio:an-implementation",
        implementation={"name": "an-implementation", "version": "1.0"},
        ics={},
        complete=True,
    )
    value["pack"]["digest"] = "sha256:…"
    return value


def _run(pack: Pack, name: str) -> evaluation.Run:
    path = pack.fixtures / "transcripts" / f"{name}.jsonl"
    evidence = evaluation.judge(path, pack, pack.certifies)
    where = f"transcripts/{path.name}"
    return evaluation.Run(path.stem, path.stem, "passed", "", 0, 0.25, where, "", (), evidence)


def outputs() -> dict[str, str]:
    """File name → content, for every pack and rendering."""
    made: dict[str, str] = {}
    for name, records in RECORDS.items():
        value = value_of(packs.find(name), records)
        stem = name.partition("@")[0]
        made[f"{stem}.report.json"] = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        made |= {f"{stem}.{ending}": report.RENDERERS[form](value) for form, ending in FORMS.items()}
    value = report.read(DEMO)
    made["demo/report.html"] = report.RENDERERS["html"](value, exchanges.of_report(value, DEMO))
    return made


def main() -> None:
    """Write every file anew."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in outputs().items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
