"""The claim as the JSON that an endpoint badge of shields.io reads."""

from __future__ import annotations

import json
from typing import Any

from conformance.exchanges import Exchanges
from conformance.report.badge import words
from conformance.report.dialects import CLAIMS


def render(report: dict[str, Any], _: Exchanges) -> str:
    """One object; an error is what is no claim at all."""
    label, said = words(report)
    status = report["claim"]["status"]
    made: dict[str, Any] = {"schemaVersion": 1, "label": label, "message": said, "color": CLAIMS[status][0]}
    return json.dumps(made | ({"isError": True} if status == "not-evaluated" else {}), indent=2) + "\n"
