"""How each keyword is broken in a valid value: other values for its place, those nearest to it first.

Nothing here judges: of what is offered, whoever asks takes the first that breaks this keyword alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from conformance.events import JSON
from conformance.generation.shapes import LONGEST
from conformance.wording import type_name

Schema = Mapping[str, Any]
Breaker = Callable[[JSON, Schema, str], Iterator[JSON]]

NO_VALUE = "no_such_value"
_SIZES = {f"{bound}{of}" for bound in ("min", "max") for of in ("Length", "Items", "Contains", "Properties")}
_PLAIN: Mapping[str, tuple[JSON, ...]] = {
    "string": ("7", "wrong", ""),
    "number": (7, 0, 0.5, -1),
    "boolean": (True, False),
    "null": (None,),
    "array": ([], [7]),
    "object": ({}, {"wrong": 7}),
}
_NEAR: Mapping[str, tuple[str, ...]] = {
    "string": ("number", "boolean", "null", "array", "object"),
    "number": ("string", "boolean", "null", "array", "object"),
    "boolean": ("string", "number", "null", "array", "object"),
    "null": ("string", "number", "boolean", "array", "object"),
    "array": ("object", "string", "number", "boolean", "null"),
    "object": ("array", "string", "number", "boolean", "null"),
}

NOT_OF_FORMAT: Mapping[str, tuple[str, ...]] = {
    "date": ("2026-02-30", "30 March 2026"),
    "date-time": ("2026-01-01 12:00", "2026-02-30T12:00:00Z", "yesterday"),
    "duration": ("1 hour", "PT"),
    "email": ("nobody", "a@@b"),
    "hostname": ("-a.example", "a..b", "not a host"),
    "idn-email": ("nobody",),
    "idn-hostname": ("-a.example", "a..b"),
    "ipv4": ("256.0.0.1", "1.2.3"),
    "ipv6": ("1::2::3", "12345::"),
    "iri": ("no scheme", "//a b"),
    "iri-reference": ("\\\\a", "a b"),
    "json-pointer": ("a", "/~2"),
    "regex": ("(", "[a"),
    "relative-json-pointer": ("/a", "-1"),
    "time": ("24:00:00Z", "12:00"),
    "uri": ("no scheme", "//a b", "relative/path"),
    "uri-reference": ("\\\\a", "a b"),
    "uri-template": ("{a", "a}{"),
    "uuid": ("123e4567-e89b-12d3-a456-42661417400", "no-uuid"),
}
"""Texts that are none of a format, by its name, the one that is nearly one first."""

TEXTS = ("", "-", "x", "X", "7", " ", "no such value", "no_such_value", "é", "x\n", "_", ".", "a" * 70)


def offers(value: JSON, schema: Schema, keyword: str, detail: str = "") -> Iterator[JSON]:
    """Values for the place of `value`, which fits; perhaps none, as where more than LONGEST is allowed."""
    if keyword in _BREAKERS and not (keyword in _SIZES and schema[keyword] > LONGEST):
        yield from _BREAKERS[keyword](value, schema, detail)


def _type(value: JSON, schema: Schema, _: str) -> Iterator[JSON]:
    for name in _NEAR[type_name(value)]:
        yield from _PLAIN[name]
    yield from _PLAIN[type_name(value)]


def _value(value: JSON, schema: Schema, _: str) -> Iterator[JSON]:
    if isinstance(value, str):
        yield from (f"no_such_{value}"[:24], f"{value}_", NO_VALUE, *TEXTS)
    elif type_name(value) == "number":
        yield from (value + 1, value - 1, value + 1000)
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, list):
        yield from (value[:-1], [*value, NO_VALUE])
    elif isinstance(value, dict):
        yield from ({}, {**value, NO_VALUE: 7})
    yield from _type(value, schema, "")


def _beyond(name: str, direction: int) -> Breaker:
    def offer(value: JSON, schema: Schema, _: str) -> Iterator[JSON]:
        limit = schema[name]
        yield from (limit + direction, limit + direction / 2, limit, limit + 1000 * direction)

    return offer


def _multiple(value: JSON, schema: Schema, _: str) -> Iterator[JSON]:
    step = Fraction(str(schema["multipleOf"]))
    for part in (Fraction(1, 2), Fraction(1, 3), Fraction(1, 10)):
        for near in (float(Fraction(str(value)) + step * part), float(Fraction(str(value)) - step * part)):
            yield int(near) if near.is_integer() else near
    yield from (value + 1, value - 1)


def _shorter(value: JSON, schema: Schema, _: str) -> Iterator[JSON]:
    length = int(schema["minLength"]) - 1
    if isinstance(value, str) and length >= 0:
        yield from (value[:length], value[-length:] if length else "", "x" * length)


def _longer(value: JSON, schema: Schema, _: str) -> Iterator[JSON]:
    length = int(schema["maxLength"]) + 1
    if isinstance(value, str):
        filling = value or "x"
        yield (filling * (length // len(filling) + 1))[:length]
        yield filling + filling[-1:] * (length - len(filling))
        yield "x" * length


def _texts(value: JSON, _: Schema, __: str) -> Iterator[JSON]:
    if isinstance(value, str):
        for at in range(min(len(value), 40)):
            yield from (value[:at] + "!" + value[at + 1 :], value[:at] + value[at + 1 :])
        yield from (f"{value}!", f"!{value}", f"{value}\n", value.upper(), value.lower(), f" {value}")
        yield from (value * 2, value * 80)
    yield from TEXTS


def _format(value: JSON, schema: Schema, _: str) -> Iterator[JSON]:
    yield from NOT_OF_FORMAT.get(schema["format"], ())
    yield from _texts(value, schema, "")


def _fewer(value: JSON, schema: Schema, _: str) -> Iterator[JSON]:
    if isinstance(value, list) and int(schema["minItems"]):
        yield value[: int(schema["minItems"]) - 1]


def _more(value: JSON, schema: Schema, _: str) -> Iterator[JSON]:
    if isinstance(value, list) and value:
        yield value + value[-1:] * (int(schema["maxItems"]) + 1 - len(value))
    if isinstance(value, list):
        yield [*value, *range(1, int(schema["maxItems"]) + 2 - len(value))]
        yield value + [f"item-{n}" for n in range(1, int(schema["maxItems"]) + 2 - len(value))]


def _twice(value: JSON, _: Schema, __: str) -> Iterator[JSON]:
    if isinstance(value, list) and value:
        yield [*value, value[0]]
        yield [value[0], value[0], *value[2:]]
    yield from ([7, 7], ["x", "x"])


def _without(value: JSON, _: Schema, name: str) -> Iterator[JSON]:
    if isinstance(value, dict) and name in value:
        yield {key: part for key, part in value.items() if key != name}


def _without_other(value: JSON, schema: Schema, detail: str) -> Iterator[JSON]:
    yield from _without(value, schema, detail.split(" ", 1)[1])


def _fewer_members(value: JSON, schema: Schema, _: str) -> Iterator[JSON]:
    if isinstance(value, dict):
        names = [name for name in value if name not in schema.get("required", ())] or [*value]
        dropped = names[: max(len(value) - int(schema["minProperties"]) + 1, 0)]
        yield {name: part for name, part in value.items() if name not in dropped}
    yield {}


def _more_members(value: JSON, schema: Schema, _: str) -> Iterator[JSON]:
    if isinstance(value, dict):
        fillings = [*value.values(), "x", 7, True, {}, []]
        for filling in fillings[-9:]:
            missing = int(schema["maxProperties"]) + 1 - len(value)
            yield {**value, **{f"extra{n}": filling for n in range(1, missing + 1)}}


def _none_contained(value: JSON, _: Schema, __: str) -> Iterator[JSON]:
    if isinstance(value, list):
        for count in range(len(value)):
            yield value[:count]
        yield from ([*value[:-1], part] for parts in _PLAIN.values() for part in parts)
    yield []


def _more_contained(value: JSON, schema: Schema, _: str) -> Iterator[JSON]:
    if isinstance(value, list) and value:
        for part in value:
            yield [*value, *[part] * int(schema["maxContains"])]
            yield [*value, part]


def _anything(value: JSON, schema: Schema, _: str) -> Iterator[JSON]:
    if isinstance(value, dict):
        for name in value:
            yield from _without(value, schema, name)
        yield from ({}, {**value, NO_VALUE: 7})
    yield from _value(value, schema, "")


def _garbled(value: JSON, _: Schema, __: str) -> Iterator[JSON]:
    yield from ("!", "{", "e30", "%%%", "AAA")


def _no_schema(_: JSON, __: Schema, ___: str) -> Iterator[JSON]:
    yield from ({"type": 7}, 7, "wrong", None, {}, [])


_BREAKERS: Mapping[str, Breaker] = {
    "$ref": _no_schema,
    "type": _type,
    "const": _value,
    "enum": _value,
    "minimum": _beyond("minimum", -1),
    "maximum": _beyond("maximum", 1),
    "exclusiveMinimum": lambda _, schema, __: iter(
        (schema["exclusiveMinimum"], schema["exclusiveMinimum"] - 1)
    ),
    "exclusiveMaximum": lambda _, schema, __: iter(
        (schema["exclusiveMaximum"], schema["exclusiveMaximum"] + 1)
    ),
    "multipleOf": _multiple,
    "minLength": _shorter,
    "maxLength": _longer,
    "pattern": _texts,
    "format": _format,
    "minItems": _fewer,
    "maxItems": _more,
    "uniqueItems": _twice,
    "required": _without,
    "dependentRequired": _without_other,
    "dependencies": _without_other,
    "minProperties": _fewer_members,
    "maxProperties": _more_members,
    "contains": _none_contained,
    "minContains": _none_contained,
    "maxContains": _more_contained,
    "not": _anything,
    "anyOf": _anything,
    "oneOf": _anything,
    "contentEncoding": _garbled,
    "contentMediaType": _garbled,
}
