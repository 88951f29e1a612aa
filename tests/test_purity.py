"""Protocol facts are data: no protocol's name, method, kind or requirement stands in the general code."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from judging import ROOT

from conformance.packs import find_all

GENERAL = sorted(
    path
    for path in (ROOT / "conformance").rglob("*.py")
    if "protocols" not in path.relative_to(ROOT / "conformance").parts and "data" not in path.parts
)

# Words of everyday language, or of the kit's own, that some protocol uses as well.
EVERYDAY = {"error", "ping", "accepted", "progress", "completed", "failed", "blocked", "cancel", "dispatch",
            "Evidence"}  # fmt: skip


def words_of_protocols() -> dict[str, str]:
    """Each name of a protocol, a method, a kind or a schema file → the pack whose it is."""
    words: dict[str, str] = {}
    for pack in find_all():
        names = {pack.protocol, *(path.name for path in pack.folder.rglob("*.schema.json"))}
        for kind in pack.kinds:
            names |= {kind.name, str(kind.when.get("method", ""))}
        words |= {name: pack.name for name in names if name and name not in EVERYDAY}
    return words


def prefixes() -> set[str]:
    """What the packs' own requirement ids begin with."""
    return {str(pack.meta["prefix"]) for pack in find_all()}


def ids() -> set[str]:
    return {name for pack in find_all() for name in pack.requirements if not name.startswith("WIRE-")}


def prose_of(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of every string and comment of a module, docstrings and parts of f-strings included."""
    source = path.read_text(encoding="utf-8")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def word(name: str) -> re.Pattern[str]:
    """The name as a word of its own: `ping` is not in `mapping`, nor `obs.frame` in `obs.framed`."""
    return re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", re.IGNORECASE)


FORBIDDEN = {
    **{word(name): f"{name} is a word of {pack}" for name, pack in words_of_protocols().items()},
    **{
        re.compile(rf"\b{re.escape(prefix)}-[A-Z]+-\d+"): f"{prefix}-… is a requirement id"
        for prefix in sorted(prefixes())
    },
}


def offences(path: Path) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{line}: {why}"
        for line, text in prose_of(path)
        for pattern, why in FORBIDDEN.items()
        if pattern.search(text)
    ]


def test_the_general_code_knows_no_protocol() -> None:
    assert [said for path in GENERAL for said in offences(path)] == []


def test_the_test_would_find_something(tmp_path: Path) -> None:
    names, identifiers = words_of_protocols(), ids()
    assert {"awp", "va-agent-protocol", "action.submit", "TaskUnit"} <= names.keys()
    assert {"AWP-LIF-001", "VA-EVD-002"} <= identifiers
    assert len(GENERAL) > 30
    planted = [
        *(f"x = {name!r}" for name in names),
        *(f"# see {name}" for name in identifiers),
        'x = f"{1}AWP-LIF-001"',
        'def f():\n    """Like `awp@1`."""',
    ]
    for number, source in enumerate(planted):
        path = tmp_path / f"m{number}.py"
        path.write_text(source + "\n")
        found = [
            why for _, text in prose_of(path) for pattern, why in FORBIDDEN.items() if pattern.search(text)
        ]
        assert found, source


@pytest.mark.parametrize("text", ["mapping", "a typing matter", "WIRE-JSON", "-MSG-001", "initialized"])
def test_other_words_are_free(text: str) -> None:
    assert not [why for pattern, why in FORBIDDEN.items() if pattern.search(text)]
