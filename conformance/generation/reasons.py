"""Why a constraint cannot be broken alone, with a proof: the schema without it accepts nothing more.

The proofs are the first engine's: it computes the values that one schema accepts and another does not.
That is quick for what one schema object says by itself, which is asked first, and may be slow for much that
is nested, which is asked last and only of small schemas.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from typing import Any

from conformance import jsontext
from conformance.explain import FORMATS
from conformance.generation.constraints import ASSERTIONS, Constraint, Spot
from conformance.rephrasing import rephrased
from conformance.schemas import Schemas

SMALL = 120
"""Schemas that hold, or lead to, more objects than these are not computed with."""

_PLAIN = tuple(name for name in ASSERTIONS if name not in ("contains", "not", "anyOf", "oneOf", "minContains",
                                                           "maxContains", "dependencies"))  # fmt: skip
"""The keywords that no other schema stands in."""

_LINK = r"\^[a-z][a-z0-9]*:(?:[A-Za-z0-9/_~-]|\[[A-Za-z0-9_~.-]+\]|[()*+?]|\{[0-9,]+\})+\$"
_HEX = r"\[(?=[^]]*0-9)(?=[^]]*a-f)(?=[^]]*A-F)(?:0-9|a-f|A-F){3}\]"
_UUID = rf"\^{_HEX}\{{8}}(?:\((?:\?:)?-{_HEX}\{{4}}\)\{{3}}-|-\((?:\?:)?{_HEX}\{{4}}-\)\{{3}}){_HEX}\{{12}}\$"
_SURE: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(("uri", "uri-reference", "iri", "iri-reference"), re.compile(_LINK)),
    "uuid": re.compile(_UUID),
}
"""Patterns such that whatever matches is of a format: a scheme, and characters that a link may hold."""

_SPELT = {"uuid": _SURE["uuid"]}
"""Patterns that say the same as a format."""


class Reasons:
    """The reasons of the constraints of one definition."""

    def __init__(self, schemas: Schemas, root: str) -> None:
        self._schemas, self._root = schemas, root

    def covering(self, location: str, others: list[str]) -> str:
        """The location of the one of the others that accepts all that the schema there does, if one does."""
        for other in others:
            if self._schemas.size(location) <= SMALL:
                with _giving_up():
                    one, two = self._schemas.canonical(location), self._schemas.canonical(other)
                    if _is_no(one.subtract(two)):
                        return other
        return ""

    def at_once(self, constraint: Constraint) -> str:
        """A reason that needs no look at anything else; empty where there is none."""
        spot = constraint.spot
        if spot.asked:
            return f"it is part of a condition, {spot.asked}, which is asked and never an error"
        if spot.dead:
            return spot.dead
        if spot.names and constraint.keyword == "type":
            return "the name of a member is always a string"
        if isinstance(spot.site.schema, bool) or constraint.keyword not in _PLAIN:
            return ""
        if constraint.keyword == "format" and spot.site.keywords["format"] not in FORMATS:
            return "the format is none that is asserted: it only tells what the text is"
        if self._implies({}, constraint):
            return "every value fits it"
        beside = _without(_plain(spot), constraint)
        for names in (*([name] for name in beside), *([[*beside]] if len(beside) > 1 else [])):
            if self._implies({name: beside[name] for name in names}, constraint):
                return f"{_listed(names)} beside it leaves no value that breaks it"
        return ""

    def by_another(self, constraint: Constraint, others: Iterable[Spot]) -> str:
        """Whether a schema that governs the same part always fails with it."""
        if isinstance(constraint.spot.site.schema, bool) or constraint.keyword not in _PLAIN:
            return ""
        for spot in others:
            if not isinstance(spot.site.schema, bool) and self._implies(_plain(spot), constraint):
                return f"{spot.location}, which governs the same value, fails with it"
        return ""

    def at_last(self, constraint: Constraint) -> str:
        """A reason that has to be computed from all that stands around; empty where none is found."""
        for location in self._around(constraint):
            if self._is_idle(constraint, location):
                return f"{location} accepts nothing more without it"
        return ""

    def _implies(self, schema: Mapping[str, Any], constraint: Constraint) -> bool:
        """Whether what fits a plain schema can never break the constraint."""
        keywords = constraint.spot.site.keywords
        value: Any = [constraint.detail] if constraint.keyword == "required" else keywords[constraint.keyword]
        if constraint.keyword == "format" and value in _SURE:
            return _SURE[value].fullmatch(str(schema.get("pattern", ""))) is not None
        if constraint.keyword == "pattern" and schema.get("format") in _SPELT:
            return _SPELT[schema["format"]].fullmatch(value) is not None
        return self._is_empty(schema, {constraint.keyword: value})

    def _is_empty(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Whether no value fits the one and not the other, as far as that is found out."""
        import jsonschema_rs

        dialect = {"$schema": self._schemas.dialect}
        with _giving_up():
            made = [
                jsonschema_rs.canonicalize({**dialect, **rephrased(schema)}, validate_formats=True)
                for schema in (one, other)
            ]
            return _is_no(made[0].subtract(made[1]))
        return False

    def _around(self, constraint: Constraint) -> Iterator[str]:
        """The schemas that the constraint stands in or that lead to it, the nearest first."""
        if constraint.spot.location.startswith("#"):  # it is of no document
            return
        yield constraint.spot.location
        for choice in reversed(constraint.spot.choices):
            yield choice.location.rpartition("/")[0]
        yield self._root

    def _is_idle(self, constraint: Constraint, location: str) -> bool:
        if self._schemas.size(location) > SMALL:
            return False
        with _giving_up():
            less = self._without(constraint).canonical(location)
            return _is_no(less.subtract(self._schemas.canonical(location)))
        return False

    def _without(self, constraint: Constraint) -> Schemas:
        """The schemas without the constraint."""
        name, _, pointer = constraint.location.partition("#")
        documents = {**self._schemas.documents}
        documents[name] = _edited(documents[name], jsontext.parts(pointer), constraint)
        return Schemas(documents, self._schemas.dialect)


@contextmanager
def _giving_up() -> Iterator[None]:
    """Leave what cannot be computed."""
    import jsonschema_rs

    with suppress(ValueError, jsonschema_rs.ReferencingError, jsonschema_rs.canonical.CanonicalizationError):
        yield


def _is_no(schema: Any) -> bool:
    import jsonschema_rs

    return bool(schema.satisfiability() == jsonschema_rs.canonical.Satisfiability.NO)


def _edited(document: Any, steps: list[str], constraint: Constraint) -> Any:
    """A copy of a document without the constraint."""
    copy = deepcopy(document)
    node = jsontext.resolve(copy, jsontext.pointer(steps[:-1]))
    last: Any = int(steps[-1]) if isinstance(node, list) else steps[-1]
    if node[last] is False:
        node[last] = True
    elif constraint.detail and constraint.keyword == "required":
        node[last].remove(constraint.detail)
    elif constraint.detail:
        name, other = constraint.detail.split(" ", 1)
        node[last][name].remove(other)
    else:
        del node[last]
    return copy


def _plain(spot: Spot) -> dict[str, Any]:
    """What a schema says without other schemas."""
    return {name: value for name, value in spot.site.keywords.items() if name in _PLAIN}


def _without(schema: dict[str, Any], constraint: Constraint) -> dict[str, Any]:
    """The same but for the constraint."""
    if constraint.keyword == "required" and len(schema["required"]) > 1:
        return {**schema, "required": [name for name in schema["required"] if name != constraint.detail]}
    return {name: value for name, value in schema.items() if name != constraint.keyword}


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
