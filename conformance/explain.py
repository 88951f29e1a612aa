"""Why a schema refuses a value: the second engine, asked only about values that were refused.

jsonschema with referencing walks the same documents; what it adds here is exact numbers, ECMA-262
patterns, the absolute place of each failing keyword, the branch of a choice that was meant, and
sentences for a person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import jsonschema
import jsonschema_rs
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend, validator_for
from jsonschema_specifications import REGISTRY as SPECIFICATIONS
from referencing import Registry
from referencing.jsonschema import specification_with

from conformance import jsontext
from conformance.events import JSON
from conformance.findings import BrokenConstraint
from conformance.patterns import matches
from conformance.wording import shown, type_name

FORMATS = ("date", "date-time", "duration", "email", "hostname", "idn-email", "idn-hostname", "ipv4", "ipv6",
           "iri", "iri-reference", "json-pointer", "regex", "relative-json-pointer", "time", "uri",
           "uri-reference", "uri-template", "uuid")  # fmt: skip


def _is_integer(_: Any, value: JSON) -> bool:
    return jsontext.integral(value)


def _is_number(_: Any, value: JSON) -> bool:
    return type_name(value) == "number"


def _pattern(validator: Any, pattern: str, value: JSON, schema: Any) -> Iterator[ValidationError]:
    if isinstance(value, str) and not matches(pattern, value):
        yield ValidationError("the pattern is not found")


def _properties(validator: Any, properties: Any, value: JSON, schema: Any) -> Iterator[ValidationError]:
    for name, sub in properties.items() if isinstance(value, dict) else ():
        if name in value and sub is False:  # jsonschema's own would lose the place
            yield ValidationError(f'the member "{name}" is not allowed here', path=(name,))
        elif name in value:
            yield from validator.descend(value[name], sub, path=name, schema_path=name)


def _pattern_properties(validator: Any, patterns: Any, value: JSON, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(value, dict):
        return
    for pattern, sub in patterns.items():
        for key in value:
            if matches(pattern, key):
                yield from validator.descend(value[key], sub, path=key, schema_path=pattern)


def _extra(schema: Mapping[str, Any], value: Mapping[str, JSON]) -> list[str]:
    """The members that `additionalProperties` is about."""
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return [
        key for key in value if key not in known and not any(matches(pattern, key) for pattern in patterns)
    ]


def _additional(validator: Any, sub: Any, value: JSON, schema: Any) -> Iterator[ValidationError]:
    extra = _extra(schema, value) if isinstance(value, dict) else []
    if sub is False:
        yield from [ValidationError("there are members that are not allowed")] if extra else ()
        return
    for key in extra:
        yield from validator.descend(value[key], sub, path=key)


def _unique(validator: Any, wanted: bool, value: JSON, schema: Any) -> Iterator[ValidationError]:
    if wanted and not _DISTINCT.is_valid(value):
        yield ValidationError("two of the items are equal")


def _multiple_of(validator: Any, step: Any, value: JSON, schema: Any) -> Iterator[ValidationError]:
    if _is_number(validator, value) and Fraction(str(value)) % Fraction(str(step)):
        yield ValidationError(f"{shown(value)} is not a multiple of {step}")


_DISTINCT = jsonschema_rs.validator_for({"uniqueItems": True})

# What differs from jsonschema's own: numbers are exact, patterns ECMA-262, nothing is quadratic, and
# every error has its place.
_KEYWORDS = {
    "pattern": _pattern,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "uniqueItems": _unique,
    "multipleOf": _multiple_of,
}


def _format_checker(dialect: str) -> jsonschema.FormatChecker:
    # The first engine's own judgement of formats, so that the two can never differ on one.
    checker = jsonschema.FormatChecker(formats=())
    for name in FORMATS:
        judge = jsonschema_rs.validator_for({"$schema": dialect, "format": name}, validate_formats=True)
        checker.checks(name)(judge.is_valid)
    return checker


def _words(value: JSON) -> str:
    text = shown(value)
    return f"the {type_name(value)} {text}" if type_name(value) != "null" else "null"


class Explainer:
    """Explains refusals over the documents of one `Schemas`."""

    def __init__(
        self,
        documents: Mapping[str, Any],
        uris: Mapping[str, str],
        dialect: str,
        location_of: Callable[[Any], str],
    ) -> None:
        specification = specification_with(dialect)
        self._location_of = location_of
        self._registry: Registry[Any] = SPECIFICATIONS.with_resources(
            (uris[name], specification.create_resource(document)) for name, document in documents.items()
        )
        base = validator_for({"$schema": dialect})
        checker = base.TYPE_CHECKER.redefine("integer", _is_integer).redefine("number", _is_number)
        self._class: Any = extend(base, _KEYWORDS, type_checker=checker)  # type: ignore[no-untyped-call]
        self._formats = _format_checker(dialect)

    def explain(self, uri: str, value: JSON) -> Iterator[BrokenConstraint]:
        """One BrokenConstraint for each constraint; of a choice, those of the branch that was meant."""
        validator = self._class({"$ref": uri}, registry=self._registry, format_checker=self._formats)
        done: set[tuple[str, str]] = set()
        for error in validator.iter_errors(value):
            for leaf in self._leaves(error):
                for one in self._describe(leaf):
                    if (one.location + one.about, one.pointer) not in done:
                        done.add((one.location + one.about, one.pointer))
                        yield one

    def _leaves(self, error: ValidationError) -> Iterator[ValidationError]:
        if error.validator not in ("anyOf", "oneOf") or not error.context:
            yield error
            return
        for inner in _meant(error.context):
            yield from self._leaves(inner)

    def _describe(self, error: ValidationError) -> Iterator[BrokenConstraint]:
        base = self._location_of(error.schema)
        keyword = str(error.validator or "false")  # the schema `false` has no keyword
        pointer = jsontext.pointer([str(part) for part in error.absolute_path])
        for about, inside, message, expected, actual in _told(error):
            yield BrokenConstraint(
                keyword=keyword,
                location=f"{base}/{keyword}" if base else keyword,
                pointer=pointer + inside,
                message=message,
                expected=expected,
                actual=actual,
                about=f"{base}/properties{jsontext.pointer([about])}" if about else "",
            )


def _meant(context: list[ValidationError]) -> list[ValidationError]:
    """The errors of the branch that came closest: no wrong type at its top, then the fewest errors."""
    branches: dict[Any, list[ValidationError]] = {}
    for error in context:
        branches.setdefault(error.schema_path[0], []).append(error)

    def distance(errors: list[ValidationError]) -> tuple[bool, bool, int]:
        top = [error for error in errors if not error.path]
        wrong_type = any(error.validator == "type" for error in top)
        wrong_tag = any(error.validator in ("const", "enum") and len(error.path) <= 1 for error in errors)
        return wrong_type, wrong_tag, len(errors)

    return min(branches.values(), key=distance)


Told = tuple[str, str, str, tuple[Any, ...], Any]


def _told(error: Any) -> Iterator[Told]:
    teller = _TELLERS.get(str(error.validator), _tell_other)
    yield from teller(error)


def _tell_required(error: Any) -> Iterator[Told]:
    for name in error.validator_value:
        if name not in error.instance:
            yield name, "", f'the member "{name}" is missing', (name,), sorted(error.instance)


def _tell_extra(error: Any) -> Iterator[Told]:
    known = tuple(error.schema.get("properties", {}))
    for name in _extra(error.schema, error.instance):
        said = f'the member "{name}" is not allowed here'
        yield name, jsontext.pointer([name]), said, known, error.instance[name]


def _tell_enum(error: Any) -> Iterator[Told]:
    allowed = tuple(error.validator_value)
    listed = ", ".join(shown(value) for value in allowed)
    yield "", "", f"{_words(error.instance)} is not one of {listed}", allowed, error.instance


def _tell_const(error: Any) -> Iterator[Told]:
    allowed = error.validator_value
    said = f"{_words(error.instance)} is not {shown(allowed)}"
    yield "", "", said, (allowed,), error.instance


def _tell_type(error: Any) -> Iterator[Told]:
    wanted = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
    said = f"{_words(error.instance)} is not of type {' or '.join(wanted)}"
    yield "", "", said, tuple(wanted), error.instance


def _tell_format(error: Any) -> Iterator[Told]:
    wanted = error.validator_value
    yield "", "", f"{_words(error.instance)} is not a valid {wanted}", (wanted,), error.instance


def _tell_pattern(error: Any) -> Iterator[Told]:
    wanted = error.validator_value
    said = f"{_words(error.instance)} does not match the pattern {wanted}"
    yield "", "", said, (wanted,), error.instance


_BOUNDS = {
    "minimum": "less than",
    "maximum": "greater than",
    "exclusiveMinimum": "not greater than",
    "exclusiveMaximum": "not less than",
}
_SIZES = {
    "minLength": "is shorter than {} characters",
    "maxLength": "is longer than {} characters",
    "minItems": "has fewer than {} items",
    "maxItems": "has more than {} items",
    "minProperties": "has fewer than {} members",
    "maxProperties": "has more than {} members",
}


def _tell_bound(error: Any) -> Iterator[Told]:
    limit = error.validator_value
    said = f"{_words(error.instance)} is {_BOUNDS[str(error.validator)]} {shown(limit)}"
    yield "", "", said, (limit,), error.instance


def _tell_size(error: Any) -> Iterator[Told]:
    limit = error.validator_value
    said = f"{_words(error.instance)} {_SIZES[str(error.validator)].format(limit)}"
    yield "", "", said, (limit,), error.instance


def _tell_not(error: Any) -> Iterator[Told]:
    said = f"{_words(error.instance)} is what this schema forbids: {shown(error.validator_value)}"
    yield "", "", said, (), error.instance


_LONG = re.compile(r"^.{300,}?(?= (is|does|has|should|was) )", re.DOTALL)


def _tell_other(error: Any) -> Iterator[Told]:
    # jsonschema's own sentence may repeat the whole value: only its end says what is wrong.
    said = _LONG.sub(lambda _: _words(error.instance), error.message)
    yield "", "", said, (), error.instance


_TELLERS = {
    "required": _tell_required,
    "additionalProperties": _tell_extra,
    "enum": _tell_enum,
    "const": _tell_const,
    "type": _tell_type,
    "format": _tell_format,
    "pattern": _tell_pattern,
    "not": _tell_not,
    **dict.fromkeys(_BOUNDS, _tell_bound),
    **dict.fromkeys(_SIZES, _tell_size),
}
