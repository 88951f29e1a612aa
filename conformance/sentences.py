"""What a broken constraint says to a person: one sentence, what was allowed, and what was there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from conformance import jsontext
from conformance.events import JSON
from conformance.patterns import matches
from conformance.wording import by_nearness, nearest, plural, shown, type_name

LISTED = 8
"""At most so many allowed values are listed in a sentence; `expected` has them all."""


class Told(NamedTuple):
    """One thing that is wrong.

    `about` names the member that is missing or unknown, `inside` is its pointer within the value.
    """

    message: str
    expected: tuple[Any, ...] = ()
    actual: Any = None
    about: str = ""
    inside: str = ""


class Forbidden(NamedTuple):
    """The schema `false`, in place of the value of the keyword it belongs to, and where in that it stands."""

    within: str


class Alternatives(NamedTuple):
    """What all branches of a choice want, in its place: values (`enum`), types, members (`required`)."""

    sort: str
    wanted: tuple[Any, ...]


def words(value: JSON) -> str:
    """The value with its type: `the string "a"`."""
    text = shown(value)
    return f"the {type_name(value)} {text}" if type_name(value) != "null" else "null"


def extra(schema: Mapping[str, Any], value: Mapping[str, JSON]) -> list[str]:
    """The members that `additionalProperties` is about."""
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return [
        key for key in value if key not in known and not any(matches(pattern, key) for pattern in patterns)
    ]


def among(branches: Sequence[Any], fitting: Sequence[int]) -> str:
    """The alternatives of these numbers, each by the name of its definition where it has one."""
    named = [
        str(branches[index]["$ref"]).rpartition("/")[2]
        if isinstance(branches[index], dict) and "$ref" in branches[index]
        else f"number {index + 1}"
        for index in fitting
    ]
    return f"{len(fitting)} alternatives ({', '.join(named)})"


def described(schema: Any) -> str:
    """What a schema asks for as the end of a sentence that begins with what it asks it of: `is a string`."""
    if isinstance(schema, dict) and len(schema) == 1:
        ((keyword, wanted),) = schema.items()
        if keyword in _PHRASES:
            return _PHRASES[keyword](wanted)
    return f"fits {shown(schema)}"


def _having(names: list[str]) -> str:
    quoted = [f'"{name}"' for name in names]
    if len(quoted) < 2:
        return f"has the member {''.join(quoted)}"
    return f"has the members {', '.join(quoted[:-1])} and {quoted[-1]}"


_PHRASES: Mapping[str, Callable[[Any], str]] = {
    "const": lambda wanted: f"is {shown(wanted)}",
    "enum": lambda wanted: f"is one of {_listed(wanted, None)}",
    "type": lambda wanted: f"is of type {_types(wanted)}",
    "pattern": lambda wanted: f"matches the pattern {wanted}",
    "required": _having,
    "anyOf": lambda wanted: " or ".join(map(described, wanted)),
}


def _types(wanted: Any) -> str:
    return " or ".join(wanted) if isinstance(wanted, list) else str(wanted)


def _listed(allowed: Sequence[JSON], actual: JSON) -> str:
    """The allowed values, the nearest first where there are too many to list them all."""
    if len(allowed) <= LISTED + 1:
        return ", ".join(map(shown, allowed))
    near = by_nearness(actual, allowed) if isinstance(actual, str) else allowed
    return f"{', '.join(map(shown, near[:LISTED]))} and {len(allowed) - LISTED} more"


def _meant(word: JSON, candidates: Sequence[JSON]) -> str:
    """The end of a sentence that asks for the near one of the candidates, if there is one."""
    near = (
        nearest(word, [one for one in candidates if isinstance(one, str)]) if isinstance(word, str) else None
    )
    return f'; did you mean "{near}"?' if near is not None else ""


def told(error: Any) -> Iterator[Told]:
    """What an error of the second engine (a ValidationError of jsonschema) says; one for each member."""
    forbidden = isinstance(error.validator_value, Forbidden)
    teller = _other if forbidden else _TELLERS.get(str(error.validator), _other)
    for one in teller(error):
        named = getattr(error, "is_about_a_name", False)
        yield one._replace(message=one.message.replace("the string", "the name", 1)) if named else one


def _missing(error: Any, names: Sequence[str], because: str = "") -> Iterator[Told]:
    known = error.schema.get(
        "properties"
    )  # where it is not said what else there may be, any name may be meant
    unknown = [name for name in error.instance if known and name not in known and name not in names]
    for name in names:
        if name not in error.instance:
            near = nearest(name, unknown)
            hint = f'; there is "{near}": did you mean "{name}"?' if near is not None else ""
            said = f'the member "{name}" is missing{because}{hint}'
            yield Told(said, (name,), sorted(error.instance), name)


def _required(error: Any) -> Iterator[Told]:
    yield from _missing(error, error.validator_value)


def _dependent(error: Any) -> Iterator[Told]:
    for name, needed in error.validator_value.items():
        if name in error.instance and isinstance(needed, list):
            yield from _missing(error, needed, f', which has to stand beside "{name}"')


def _extra(error: Any) -> Iterator[Told]:
    known = tuple(error.schema.get("properties", {}))
    free = [name for name in known if name not in error.instance]
    for name in extra(error.schema, error.instance):
        said = f'the member "{name}" is not allowed here{_meant(name, free)}'
        yield Told(said, known, error.instance[name], name, jsontext.pointer([name]))


def _choice(error: Any) -> Iterator[Told]:
    wanted = error.validator_value
    if not isinstance(wanted, Alternatives):
        yield from _other(error)
    else:
        yield _ONE_OF[wanted.sort](error.instance, wanted.wanted)


def _enum(error: Any) -> Iterator[Told]:
    yield _one_of_values(error.instance, tuple(error.validator_value))


def _one_of_values(actual: JSON, allowed: tuple[Any, ...]) -> Told:
    said = f"{words(actual)} is not one of {_listed(allowed, actual)}{_meant(actual, allowed)}"
    return Told(said, allowed, actual)


def _const(error: Any) -> Iterator[Told]:
    allowed, actual = error.validator_value, error.instance
    yield Told(f"{words(actual)} is not {shown(allowed)}{_meant(actual, [allowed])}", (allowed,), actual)


def _type(error: Any) -> Iterator[Told]:
    wanted = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
    yield _one_of_types(error.instance, tuple(wanted))


def _one_of_types(actual: JSON, wanted: tuple[Any, ...]) -> Told:
    return Told(f"{words(actual)} is not of type {' or '.join(wanted)}", wanted, actual)


def _one_of_members(actual: JSON, wanted: tuple[Any, ...]) -> Told:
    names = [f'"{name}"' for name in wanted if name not in actual]
    return Told(f"one of the members {', '.join(names)} is missing", wanted, sorted(actual))


_ONE_OF: Mapping[str, Callable[[JSON, tuple[Any, ...]], Told]] = {
    "enum": _one_of_values,
    "required": _one_of_members,
    "type": _one_of_types,
}


def _format(error: Any) -> Iterator[Told]:
    wanted = error.validator_value
    yield Told(f"{words(error.instance)} is not a valid {wanted}", (wanted,), error.instance)


def _pattern(error: Any) -> Iterator[Told]:
    wanted = error.validator_value
    yield Told(f"{words(error.instance)} does not match the pattern {wanted}", (wanted,), error.instance)


_BOUNDS = {
    "minimum": "less than",
    "maximum": "greater than",
    "exclusiveMinimum": "not greater than",
    "exclusiveMaximum": "not less than",
}
_SIZES = {
    "minLength": ("is shorter than", "character"),
    "maxLength": ("is longer than", "character"),
    "minItems": ("has fewer than", "item"),
    "maxItems": ("has more than", "item"),
    "minProperties": ("has fewer than", "member"),
    "maxProperties": ("has more than", "member"),
}


def _bound(error: Any) -> Iterator[Told]:
    limit = error.validator_value
    said = f"{words(error.instance)} is {_BOUNDS[str(error.validator)]} {shown(limit)}"
    yield Told(said, (limit,), error.instance)


def _size(error: Any) -> Iterator[Told]:
    limit = error.validator_value
    verb, word = _SIZES[str(error.validator)]
    yield Told(f"{words(error.instance)} {verb} {plural(limit, word)}", (limit,), error.instance)


def _not(error: Any) -> Iterator[Told]:
    schema = error.validator_value
    plain = isinstance(schema, dict) and set(schema) in ({"const"}, {"enum"})
    why = "is forbidden here" if plain else f"{described(schema)}, which is forbidden here"
    yield Told(f"{words(error.instance)} {why}", (), error.instance)


def _limited(error: Any) -> Iterator[Told]:
    yield Told(error.message, (error.validator_value,), error.instance)


def _other(error: Any) -> Iterator[Told]:
    yield Told(error.message, (), error.instance)


_TELLERS: Mapping[str, Callable[[Any], Iterator[Told]]] = {
    "anyOf": _choice,
    "oneOf": _choice,
    "required": _required,
    "dependentRequired": _dependent,
    "dependencies": _dependent,
    "additionalProperties": _extra,
    "enum": _enum,
    "const": _const,
    "type": _type,
    "format": _format,
    "pattern": _pattern,
    "not": _not,
    **dict.fromkeys(_BOUNDS, _bound),
    **dict.fromkeys(_SIZES, _size),
    **dict.fromkeys(("items", "additionalItems", "minContains", "maxContains"), _limited),
}
