"""Small schemas by which messages are recognised, without an engine: every message is asked about.

They have `required`, `properties`, `const`, `enum`, `not` and `anyOf`, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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

    def fits(value: JSON) -> bool:
        for test in tests:  # noqa: SIM110 - `all` would make a generator for each message
            if not test(value):
                return False
        return True

    return fits


def simply_fits(schema: Mapping[str, Any], value: JSON) -> bool:
    """Whether the value fits a small schema that is asked about once."""
    return shape(schema)(value)


def _object(required: Iterable[str], members: Mapping[str, Mapping[str, Any]]) -> Shape:
    wanted = frozenset(required)
    inside = [(name, shape(sub)) for name, sub in members.items()]
    if not inside:
        return lambda value: isinstance(value, dict) and value.keys() >= wanted

    def fits(value: JSON) -> bool:
        if not isinstance(value, dict) or not value.keys() >= wanted:
            return False
        for name, test in inside:  # noqa: SIM110
            if name in value and not test(value[name]):
                return False
        return True

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

    def fits(value: JSON) -> bool:
        for branch in branches:  # noqa: SIM110
            if branch(value):
                return True
        return False

    return fits


_KEYWORDS: dict[str, Callable[[Any], Shape]] = {"const": _const, "enum": _enum, "not": _not, "anyOf": _any_of}
