"""Small schemas by which messages are recognised, without an engine: every message is asked about.

They have `required`, `properties`, `const`, `enum`, `not` and `anyOf`, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from conformance.events import JSON

Shape: TypeAlias = Callable[[JSON], bool]
"""Whether a value is of a shape."""


def shape(schema: Mapping[str, Any]) -> Shape:
    """The small schema as a predicate, made once and asked often."""
    tests = [make(schema[keyword]) for keyword, make in _KEYWORDS.items() if keyword in schema]
    if "required" in schema or "properties" in schema:
        tests.append(_object(schema.get("required", ()), schema.get("properties", {})))
    if len(tests) == 1:
        return tests[0]
    return lambda value: all(test(value) for test in tests)


def simply_fits(schema: Mapping[str, Any], value: JSON) -> bool:
    """Whether the value fits a small schema that is asked about once."""
    return shape(schema)(value)


def _object(required: list[str], members: Mapping[str, Mapping[str, Any]]) -> Shape:
    wanted = frozenset(required)
    inside = [(name, shape(sub)) for name, sub in members.items()]

    def fits(value: JSON) -> bool:
        if not isinstance(value, dict) or not wanted <= value.keys():
            return False
        return all(name not in value or test(value[name]) for name, test in inside)

    return fits


def _const(wanted: JSON) -> Shape:
    return lambda value: bool(value == wanted)


def _enum(wanted: list[JSON]) -> Shape:
    return lambda value: value in wanted


def _not(schema: Mapping[str, Any]) -> Shape:
    refused = shape(schema)
    return lambda value: not refused(value)


def _any_of(schemas: list[Mapping[str, Any]]) -> Shape:
    branches = [shape(branch) for branch in schemas]
    return lambda value: any(branch(value) for branch in branches)


_KEYWORDS: dict[str, Callable[[Any], Shape]] = {"const": _const, "enum": _enum, "not": _not, "anyOf": _any_of}
