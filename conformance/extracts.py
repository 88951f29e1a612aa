"""The part of a document that a schema in it consists of: where documents share it, one judge serves all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from conformance import jsontext
from conformance.events import JSON

_ELSEWHERE = ("$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor")
"""What makes a reference lead elsewhere than its pointer says."""


def extract(document: dict[str, JSON], pointer: str) -> dict[str, JSON]:
    """What the schema at the pointer and those that it refers to are of the document, at their places.

    Items of arrays become members. It is the whole document where that is not plain to see.
    """
    taken: dict[str, JSON] = {}
    waiting = [pointer]
    while waiting:
        at = waiting.pop()
        if any(at == known or at.startswith(f"{known}/") for known in taken):
            continue
        part = jsontext.resolve(document, at)
        if not at or part is jsontext.MISSING or (waits := _leads_to(part)) is None:
            return document
        taken[at] = part
        waiting += waits
    made: dict[str, JSON] = {}
    for at, part in taken.items():
        if not any(at.startswith(f"{known}/") for known in taken):  # else it stands in that one
            _put(made, jsontext.steps(at), part)
    return made


def _put(made: dict[str, JSON], steps: tuple[str, ...], part: JSON) -> None:
    for step in steps[:-1]:
        made = made.setdefault(step, {})
    made[steps[-1]] = part


def _leads_to(part: JSON) -> list[str] | None:
    """The pointers that its references into its own document are; None where there are others."""
    found = []
    for name, value in _members(part):
        if name in _ELSEWHERE:
            return None
        if name == "$ref":
            if not isinstance(value, str) or value == "#" or (value.startswith("#") and value[1] != "/"):
                return None
            found += [unquote(value[1:])] if value.startswith("#") else []
    return found


def _members(part: JSON) -> Iterator[tuple[str, JSON]]:
    waiting = [part]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield from one.items()
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def needed(part: JSON, documents: Mapping[str, Any], uris: Mapping[str, str]) -> Iterable[str]:
    """The names of the documents to which a part of another one refers, and to which these refer in turn."""
    names, found = {uri: name for name, uri in uris.items()}, dict[str, None]()
    waiting: list[tuple[str, JSON]] = [("", part)]
    while waiting:
        base, schema = waiting.pop()
        for keyword, value in _members(schema):
            if keyword in ("$ref", "$dynamicRef") and isinstance(value, str):
                name = names.get(urldefrag(urljoin(base, value))[0])
                if name is not None and name not in found:
                    found[name] = None
                    waiting.append((uris[name], documents[name]))
    return found
