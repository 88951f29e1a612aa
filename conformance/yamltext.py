"""YAML text as a JSON value, with the line and column where each part stands.

Plain scalars are read by the core schema of YAML 1.2 (section 10.3.2), so `yes`, `12:30:45` and
`2026-04-01` are strings; numbers keep their exact value. What JSON has not is an error: other tags,
infinities, lone surrogates, a member written twice. Aliases are written out, up to a bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias

import yaml

from conformance import jsontext
from conformance.errors import BadScenario
from conformance.events import JSON

LIMIT = 100_000
"""A file holds at most this many values, those of its aliases counted wherever they are used."""

Positions: TypeAlias = dict[str, tuple[int, int]]
"""JSON Pointer → line and column, from 1."""

_TAG = "tag:yaml.org,2002:"


class _Loader(yaml.SafeLoader):
    """The safe loader with the plain scalars of the core schema."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 (PyYAML has it so)


for _name, _pattern, _first in (
    ("null", r"(?:~|null|Null|NULL|)", "~nN"),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)", "tTfF"),
    ("int", r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("infinite", r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))", "-+."),
):
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(f"^{_pattern}$"), [*_first, ""])


def _integer(text: str) -> int:
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


def _fraction(text: str) -> float | Decimal:
    near, exact = float(text), Decimal(text)
    return near if Decimal(repr(near)) == exact else exact


_MADE: dict[str, Callable[[str], JSON]] = {
    _TAG + "null": lambda _: None,
    _TAG + "bool": lambda text: text.lower() == "true",
    _TAG + "int": _integer,
    _TAG + "float": _fraction,
    _TAG + "str": str,
}


def parse(text: str, name: str) -> tuple[JSON, Positions]:
    """The value, and where each of its parts stands. `name` stands in errors.

    Raises BadScenario at file:line:column.
    """
    reading = _Reading(name, text)
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
        if node is None:
            raise BadScenario(f"{name}:1:1: the file is empty")
        return reading.value(node, ""), reading.positions
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        said = f"the character U+{error.character:04X} may not stand in YAML"
        raise misplaced(name, text, (line, column), said) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise misplaced(name, text, where, str(error.problem)) from None
    except RecursionError:
        raise BadScenario(f"{name}:1:1: the file is nested too deeply") from None


def misplaced(name: str, text: str, where: tuple[int, int], said: str) -> BadScenario:
    """The error about a place in a file's text: line and column, from 1."""
    line, column = where
    return BadScenario(f"{name}:{line}:{column}: {said}", text, line, column)


class _Reading:
    """Makes values of nodes and remembers where they stand."""

    def __init__(self, name: str, text: str) -> None:
        self._name, self._text = name, text
        self.positions: Positions = {}

    def value(self, node: yaml.Node, where: str) -> JSON:
        """The value of a node whose JSON Pointer is `where`."""
        self.positions[where] = (node.start_mark.line + 1, node.start_mark.column + 1)
        if len(self.positions) > LIMIT:
            raise self._error(node, f"the file holds more than {LIMIT} values, those of aliases included")
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self._members(node, where)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return [self.value(item, f"{where}/{index}") for index, item in enumerate(node.value)]
        return self._scalar(node)

    def _members(self, node: yaml.MappingNode, where: str) -> dict[str, JSON]:
        made: dict[str, JSON] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self._error(key, "the name of a member is a string")
            if key.value in made:
                raise self._error(key, f"the member {key.value!r} is written twice")
            if key.value == "<<" and key.style is None:
                raise self._error(key, "YAML 1.2 has no merge key; write `$merge: [one, other]`")
            made[key.value] = self.value(value, where + jsontext.pointer([key.value]))
        return made

    def _scalar(self, node: yaml.Node) -> JSON:
        make = _MADE.get(node.tag)
        if make is None or not isinstance(node, yaml.ScalarNode):
            told = node.tag.removeprefix(_TAG)
            raise self._error(node, f"JSON has no {told} value; quote it if it is a string")
        try:
            made = make(node.value)
        except (ValueError, ArithmeticError):
            told = node.tag.removeprefix(_TAG)
            raise self._error(node, f"{node.value[:40]!r} is no {told}, or one of too many digits") from None
        if isinstance(made, str) and not made.isascii() and re.search("[\ud800-\udfff]", made):
            raise self._error(node, "a string holds a lone surrogate; a message with one is sent by `raw`")
        return made

    def _error(self, node: yaml.Node, said: str) -> BadScenario:
        mark = node.start_mark
        return misplaced(self._name, self._text, (mark.line + 1, mark.column + 1), said)
