"""The report in EARL 1.0 (W3C) as JSON-LD: an assertion for each requirement.

The context stands in the document, so that nobody has to fetch one. EARL has no outcome for a
recommendation that was not followed; there is one of our own.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from conformance.exchanges import Exchanges
from conformance.report.dialects import DIALECTS

URN = "urn:agent-conformance-kit:"

CONTEXT = {
    "earl": "http://www.w3.org/ns/earl#",
    "dct": "http://purl.org/dc/terms/",
    "doap": "http://usefulinc.com/ns/doap#",
    "kit": f"{URN}outcome:",
    "assertedBy": {"@id": "earl:assertedBy", "@type": "@id"},
    "subject": {"@id": "earl:subject", "@type": "@id"},
    "test": {"@id": "earl:test", "@type": "@id"},
    "result": "earl:result",
    "mode": {"@id": "earl:mode", "@type": "@id"},
    "outcome": {"@id": "earl:outcome", "@type": "@id"},
    "info": "earl:info",
    "title": "dct:title",
    "description": "dct:description",
    "source": "dct:source",
    "name": "doap:name",
    "revision": "doap:revision",
}

Row = dict[str, Any]


def render(report: Row, _: Exchanges) -> str:
    """The graph as JSON text."""
    who, kit = report["implementation"], report["kit"]
    assertor, subject = f"{URN}{quote(kit['version'])}", f"{URN}subject"
    graph: list[Row] = [
        {
            "@id": assertor,
            "@type": ["earl:Assertor", "earl:Software"],
            "name": kit["name"],
            "revision": kit["version"],
        },
        {
            "@id": subject,
            "@type": "earl:TestSubject",
            "name": who.get("name", "The implementation"),
            "revision": who.get("version", ""),
            "description": report["claim"]["wording"],
        },
        {
            "@id": "kit:warned",
            "@type": "earl:OutcomeValue",
            "title": "warned",
            "description": "It was met, or is no MUST, and a recommendation was not followed.",
        },
    ]
    for row in report["requirements"]:
        graph += _assertion(report, row, assertor, subject)
    return json.dumps({"@context": CONTEXT, "@graph": graph}, indent=2) + "\n"


def _assertion(report: Row, row: Row, assertor: str, subject: str) -> list[Row]:
    pack = report["pack"]
    about = f"{URN}{quote(pack['protocol'], safe='')}:{quote(pack['revision'], safe='')}:{quote(row['id'])}"
    criterion: Row = {
        "@id": about,
        "@type": "earl:TestRequirement",
        "title": row["id"],
        "description": row["summary"],
    }
    criterion |= {"source": row["reference"]} if row["reference"] else {}
    result = {"@type": "earl:TestResult", "outcome": DIALECTS[row["verdict"]].earl}
    result |= {"info": row["reason"]} if row["reason"] else {}
    mode = "earl:manual" if row["verdict"] == "manual" else "earl:automatic"
    made = {"@type": "earl:Assertion", "assertedBy": assertor, "subject": subject, "test": about}
    return [criterion, made | {"mode": mode, "result": result}]
