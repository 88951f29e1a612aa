"""Schemas in words that the first engine reads as the standards mean them.

Where it reads a pattern or a format otherwise, the pattern is rephrased, and a schema stands beside the
format. All other documents, and all places in them, stay what they are.
"""

from __future__ import annotations

from typing import Any

from conformance.patterns import ecma
from conformance.stringformats import AND_ALSO

_BY_NAME = ("$defs", "definitions", "dependencies", "dependentSchemas", "properties")
_BY_PATTERN = "patternProperties"
_NO_SCHEMAS = ("const", "default", "enum", "examples")


def rephrased(schema: Any) -> Any:
    """The schema, or list of schemas, as the first engine should hear it; BadPack where a pattern is none."""
    if isinstance(schema, list):
        return [rephrased(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {keyword: _value(keyword, value) for keyword, value in schema.items()}
    also = AND_ALSO.get(schema["format"]) if isinstance(schema.get("format"), str) else None
    if also is not None:
        made["allOf"] = [*made.get("allOf", ()), also]
    return made


def _value(keyword: str, value: Any) -> Any:
    if keyword in _NO_SCHEMAS:
        return value
    if keyword == "pattern" and isinstance(value, str):
        return ecma(value)
    if isinstance(value, dict) and keyword == _BY_PATTERN:
        return {ecma(pattern): rephrased(sub) for pattern, sub in value.items()}
    if isinstance(value, dict) and keyword in _BY_NAME:
        return {name: rephrased(sub) for name, sub in value.items()}
    return rephrased(value) if isinstance(value, (dict, list)) else value
