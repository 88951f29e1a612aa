"""The keywords that the second engine judges otherwise than jsonschema's own, and why.

Numbers are exact, patterns and formats are the first engine's, nothing is quadratic, and every error
has its place and says which value it is about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache, partial
from typing import Any

import jsonschema_rs
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend, validator_for

from conformance import jsontext
from conformance.events import JSON
from conformance.integers import integral
from conformance.patterns import matches
from conformance.sentences import Forbidden, among, described, extra, words
from conformance.wording import plural, shown, type_name

Errors = Iterator[ValidationError]


class _Met(list[str]):
    """Stands for a schema, and notes which members it is asked about."""


def _descend(
    self: Any, instance: JSON, schema: Any, path: Any = None, schema_path: Any = None, resolver: Any = None
) -> Errors:
    if isinstance(schema, _Met):
        schema.append(path)
        return iter(())
    if schema is False:  # jsonschema's own would lose its place
        return iter([_forbidden(instance, path, schema_path)])
    found: Errors = self.descend_as_jsonschema(instance, schema, path, schema_path, resolver)
    return found


def _forbidden(instance: JSON, path: Any, schema_path: Any) -> ValidationError:
    said = f'the member "{path}"' if isinstance(path, str) else words(instance)
    return ValidationError(
        f"{said} is not allowed here",
        validator_value=Forbidden("" if schema_path is None else jsontext.pointer([str(schema_path)])),
        instance=instance,
        path=() if path is None else (path,),
        schema_path=() if schema_path is None else (schema_path,),
    )


def _is_integer(_: Any, value: JSON) -> bool:
    return integral(value)


def _is_number(_: Any, value: JSON) -> bool:
    return type_name(value) == "number"


def _pattern(validator: Any, pattern: str, value: JSON, schema: Any) -> Errors:
    if isinstance(value, str) and not matches(pattern, value):
        yield ValidationError("the pattern is not found")


def _pattern_properties(validator: Any, patterns: Any, value: JSON, schema: Any) -> Errors:
    if not isinstance(value, dict):
        return
    for pattern, sub in patterns.items():
        for key in value:
            if matches(pattern, key):
                yield from validator.descend(value[key], sub, path=key, schema_path=pattern)


def _additional(validator: Any, sub: Any, value: JSON, schema: Any) -> Errors:
    others = extra(schema, value) if isinstance(value, dict) else []
    if sub is False:
        yield from [ValidationError("there are members that are not allowed")] if others else ()
        return
    for key in others:
        yield from validator.descend(value[key], sub, path=key)


def _unevaluated(own: Any, validator: Any, sub: Any, value: JSON, schema: Any) -> Errors:
    met = _Met()
    yield from own(validator, met, value, schema)
    for key in met:
        yield from validator.descend(value[key], sub, path=key)


def _unevaluated_items(own: Any, validator: Any, sub: Any, value: JSON, schema: Any) -> Errors:
    for _ in own(validator, sub, value, schema):
        yield ValidationError(f"{words(value)} has items that are not allowed here")


def _property_names(validator: Any, sub: Any, value: JSON, schema: Any) -> Errors:
    for name in value if isinstance(value, dict) else ():
        for error in validator.descend(name, sub):
            error.path.appendleft(name)
            error.is_about_a_name = True
            yield error


def _dependencies(validator: Any, dependencies: Any, value: JSON, schema: Any) -> Errors:
    for name, sub in dependencies.items() if isinstance(value, dict) else ():
        if name in value and isinstance(sub, list):
            yield from [ValidationError("members are missing")] if set(sub) - set(value) else ()
        elif name in value:
            yield from validator.descend(value, sub, schema_path=name)


def _items(validator: Any, items: Any, value: JSON, schema: Any) -> Errors:
    yield from _rest(validator, items, value, len(schema.get("prefixItems", ())))


def _legacy_items(validator: Any, items: Any, value: JSON, schema: Any) -> Errors:
    if not isinstance(items, list):
        yield from _rest(validator, items, value, 0)
        return
    for index, (item, sub) in enumerate(zip(value if isinstance(value, list) else (), items, strict=False)):
        yield from validator.descend(item, sub, path=index, schema_path=index)


def _additional_items(validator: Any, sub: Any, value: JSON, schema: Any) -> Errors:
    if isinstance(schema.get("items"), list):
        yield from _rest(validator, sub, value, len(schema["items"]))


def _rest(validator: Any, sub: Any, value: JSON, first: int) -> Errors:
    if not isinstance(value, list):
        return
    if sub is False and len(value) > first:
        yield ValidationError(f"{words(value)} has more than {plural(first, 'item')}", validator_value=first)
        return
    for index in range(first, len(value)):
        yield from validator.descend(value[index], sub, path=index)


def _contains(counted: bool, validator: Any, sub: Any, value: JSON, schema: Any) -> Errors:
    if not isinstance(value, list):
        return
    fitting = sum(validator.evolve(schema=sub).is_valid(item) for item in value)
    limits = schema if counted else {}
    least, most = limits.get("minContains", 1), limits.get("maxContains")
    if fitting < least:
        keyword = "minContains" if fitting or "minContains" in limits else "contains"
        need = f"; at least {least} must be" if least > 1 else ""
        yield _counted(value, sub, fitting, need, keyword, least)
    if most is not None and fitting > most:
        yield _counted(value, sub, fitting, f"; at most {most} may be", "maxContains", most)


def _counted(value: JSON, sub: Any, fitting: int, need: str, keyword: str, limit: int) -> ValidationError:
    if fitting == 0:
        said = f"no item of {words(value)} {described(sub)}"
    elif fitting == 1:
        said = f"{words(value)} has 1 item that {described(sub)}"
    else:
        said = f"{words(value)} has {fitting} items, each of which {described(sub)}"
    return ValidationError(said + need, validator=keyword, validator_value=limit)


def _tried(keyword: str, validator: Any, branches: Any, value: JSON, schema: Any) -> list[Any]:
    """The errors of each branch."""
    found = [list(validator.descend(value, sub, schema_path=index)) for index, sub in enumerate(branches)]
    for index, sub in enumerate(branches):
        if sub is False:  # whose error nobody else places
            found[index][0].validator, found[index][0].schema = keyword, schema
    return found


def _any_of(validator: Any, branches: Any, value: JSON, schema: Any) -> Errors:
    found = _tried("anyOf", validator, branches, value, schema)
    if all(found):
        yield ValidationError("no alternative fits", context=[error for errors in found for error in errors])


def _one_of(validator: Any, branches: Any, value: JSON, schema: Any) -> Errors:
    found = _tried("oneOf", validator, branches, value, schema)
    fitting = [index for index, errors in enumerate(found) if not errors]
    if not fitting:
        yield ValidationError("no alternative fits", context=[error for errors in found for error in errors])
    elif len(fitting) > 1:
        yield ValidationError(f"{words(value)} fits {among(branches, fitting)}; exactly one is to fit")


def _unique(validator: Any, wanted: bool, value: JSON, schema: Any) -> Errors:
    if wanted and not _DISTINCT.is_valid(value):
        yield ValidationError("two of the items are equal")


def _multiple_of(validator: Any, step: Any, value: JSON, schema: Any) -> Errors:
    if _is_number(validator, value) and Fraction(str(value)) % Fraction(str(step)):
        yield ValidationError(f"{shown(value)} is not a multiple of {step}")


_DISTINCT = jsonschema_rs.validator_for({"uniqueItems": True})


@cache
def _encoded(encoding: str | None, media_type: str | None) -> Any:
    wanted = {"contentEncoding": encoding, "contentMediaType": media_type}
    said = {keyword: value for keyword, value in wanted.items() if value is not None}
    return jsonschema_rs.Draft7Validator(said)


def _content(validator: Any, _: Any, value: JSON, schema: Any) -> Errors:
    # Asserted in draft-07 by the first engine, and an annotation since.
    encoding, media_type = schema.get("contentEncoding"), schema.get("contentMediaType")
    if not _encoded(encoding, None).is_valid(value):
        said = f"{words(value)} is not encoded as {encoding}"
        yield ValidationError(said, validator="contentEncoding", validator_value=encoding)
    elif not _encoded(encoding, media_type).is_valid(value):
        said = f"{words(value)} holds nothing of the type {media_type}"
        yield ValidationError(said, validator="contentMediaType", validator_value=media_type)


_OURS: Mapping[str, Any] = {
    "additionalProperties": _additional,
    "anyOf": _any_of,
    "dependencies": _dependencies,
    "multipleOf": _multiple_of,
    "oneOf": _one_of,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "propertyNames": _property_names,
    "uniqueItems": _unique,
}
_BEFORE_2019_09: Mapping[str, Any] = {
    "additionalItems": _additional_items,
    "contains": partial(_contains, False),
    "contentEncoding": _content,
    "contentMediaType": _content,
    "items": _legacy_items,
}
_SINCE_2019_09: Mapping[str, Any] = {"contains": partial(_contains, True), "items": _items}


_UNEVALUATED: Mapping[str, Any] = {
    "unevaluatedItems": _unevaluated_items,
    "unevaluatedProperties": _unevaluated,
}
"""These ask jsonschema's own what has been evaluated."""


def validator_class(dialect: str) -> Any:
    """jsonschema's validator class for a dialect, with the keywords and types of this module."""
    base: Any = validator_for({"$schema": dialect})
    ours = {**_OURS, **(_BEFORE_2019_09 if "additionalItems" in base.VALIDATORS else _SINCE_2019_09)}
    for keyword in _UNEVALUATED.keys() & base.VALIDATORS.keys():
        ours[keyword] = partial(_UNEVALUATED[keyword], base.VALIDATORS[keyword])
    checker = base.TYPE_CHECKER.redefine("integer", _is_integer).redefine("number", _is_number)
    made: Any = extend(base, ours, type_checker=checker)  # type: ignore[no-untyped-call]
    made.descend_as_jsonschema, made.descend = made.descend, _descend
    return made
