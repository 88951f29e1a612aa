"""The claim as a badge: an SVG that draws itself without a font of its own."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from conformance.exchanges import Exchanges
from conformance.report.dialects import CLAIMS
from conformance.xmltext import xml_text

HEIGHT, PADDING, LETTER = 20, 8, 6.6
"""In pixels; so wide is a letter of 11 pixels at most on average, and `textLength` makes it so."""

LONGEST = 40


def words(report: dict[str, Any]) -> tuple[str, str]:
    """What stands on the left and on the right."""
    counts = report["claim"]["counts"]
    met, judged = counts["pass"] + counts["warn"], sum(counts.values()) - counts["not-applicable"]
    label = f"{report['pack']['protocol']}@{report['pack']['revision']}"
    said = report["claim"]["status"].replace("-", " ")
    return _short(label), f"{said}, {met} of {judged}"


def render(report: dict[str, Any], _: Exchanges) -> str:
    """The picture, which has its text as its title too."""
    label, said = words(report)
    colour = CLAIMS[report["claim"]["status"]][1]
    left, right = (round(len(text) * LETTER + 2 * PADDING) for text in (label, said))
    root = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "width": str(left + right),
            "height": str(HEIGHT),
            "role": "img",
            "aria-label": f"{label}: {said}",
        },
    )
    SubElement(root, "title").text = f"{label}: {said}"
    clip = SubElement(SubElement(root, "clipPath", {"id": "r"}), "rect")
    clip.attrib.update({"width": str(left + right), "height": str(HEIGHT), "rx": "3"})
    group = SubElement(root, "g", {"clip-path": "url(#r)"})
    for at, width, fill in ((0, left, "#3d4247"), (left, right, colour)):
        box = {"x": str(at), "width": str(width), "height": str(HEIGHT), "fill": fill}
        SubElement(group, "rect", box)
    font = {"fill": "#fff", "font-family": "Verdana,DejaVu Sans,Geneva,sans-serif", "font-size": "11"}
    texts = SubElement(root, "g", font)
    for at, width, text in ((0, left, label), (left, right, said)):
        length = {"textLength": str(width - 2 * PADDING), "lengthAdjust": "spacingAndGlyphs"}
        SubElement(texts, "text", {"x": str(at + PADDING), "y": "14", **length}).text = text
    indent(root)
    return tostring(root, encoding="unicode") + "\n"


def _short(text: str) -> str:
    text = xml_text(text)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
