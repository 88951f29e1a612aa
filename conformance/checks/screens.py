"""What checks of single messages say as schemas, so that a message may be asked about many of them at once.

A check may have `screen(message)`: a schema of whole messages of the message's kind that accepts none against
which the check has anything to say. It may refuse others.
"""

from __future__ import annotations

from typing import Any

from conformance import jsontext
from conformance.schemas import Schema


def within(pointer: str, schema: Schema, *, needed: bool = False) -> Schema:
    """The schema of a whole whose part at the pointer, through members alone, is of a schema.

    A whole without the part is accepted, unless it is `needed`.
    """
    for step in reversed(jsontext.steps(pointer)):
        schema = {"properties": {step: schema}}
        if needed:
            schema |= {"type": "object", "required": [step]}
    return schema


def leads_through_items(pointer: str) -> bool:
    """Whether a pointer may mean an item of an array."""
    return any(step.isdecimal() for step in jsontext.steps(pointer))


def is_quotable(schema: Any) -> bool:
    """Whether a schema means the same wherever it stands: it refers to nothing, and names no format."""
    if isinstance(schema, dict):
        return not {"$ref", "$id", "format"} & schema.keys() and all(map(is_quotable, schema.values()))
    return all(map(is_quotable, schema)) if isinstance(schema, list) else True
