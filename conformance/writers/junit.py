"""Findings as JUnit XML: a test case for each input, in the dialect that CI servers read."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from conformance.judgement import Judged, Told
from conformance.writers import Write
from conformance.writers.text import sentence
from conformance.xmltext import xml_text


class Writing:
    """One document at the end."""

    def __init__(self, write: Write, width: int) -> None:
        self._write = write
        self._cases: list[Element] = []
        self._told: list[str] = []
        self._counts = {"tests": 0, "failures": 0, "errors": 0}

    def told(self, judged: Judged, told: Told) -> None:
        """Keep it for its input."""
        self._told.append(sentence(judged, told))

    def done(self, judged: Judged) -> None:
        """A test case that fails where a MUST is broken; warnings are its output."""
        name = judged.pack.name if judged.pack else "no protocol"
        case = Element("testcase", {"classname": name, "name": xml_text(judged.path), "time": "0"})
        text, self._told = xml_text("\n".join(self._told)), []
        if judged.error:
            SubElement(case, "error", {"message": xml_text(judged.error)}).text = text
        elif judged.fails:
            SubElement(case, "failure", {"message": xml_text(judged.summary()), "type": "fail"}).text = text
        elif text:
            SubElement(case, "system-out").text = text
        self._cases.append(case)
        self._counts["tests"] += 1
        self._counts["failures"] += judged.fails and not judged.error
        self._counts["errors"] += bool(judged.error)

    def end(self) -> None:
        """Write the document."""
        counts = {name: str(count) for name, count in self._counts.items()} | {"time": "0"}
        root = Element("testsuites", {"name": "conformance", **counts})
        suite = SubElement(root, "testsuite", {"name": "conformance validate", "skipped": "0", **counts})
        suite.extend(self._cases)
        indent(root)
        self._write("<?xml version='1.0' encoding='utf-8'?>\n" + tostring(root, encoding="unicode"))
