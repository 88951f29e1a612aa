"""Whether a value breaks just the constraint that it was made to break, as the judge sees it.

The judge's first engine says at once which keywords fail where. Where it speaks of a choice (`anyOf`,
`oneOf`) that the constraint stands in, or places an error otherwise, the second is asked too; of a choice
the branch that leads to the constraint may be what is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from conformance import jsontext
from conformance.events import JSON
from conformance.generation.constraints import Choice, Constraint
from conformance.schemas import Schemas

COUNTED = ("contains", "minContains", "maxContains")
"""Which of these fails, the two engines put differently where nothing fits."""


class Hit(NamedTuple):
    """Where in the value the constraint is broken, and by what choice it is hidden, if by one."""

    pointer: str
    hidden: str = ""


def hit(schemas: Schemas, root: str, value: JSON, constraint: Constraint) -> Hit | None:
    """Where the value breaks this constraint, of the definition at `root`, alone; None where it does not."""
    found = schemas.broken(root, value)
    if not found or len(found) > 4:
        return None
    if _is_it(found, constraint) and _is_about(constraint, value, found[0][1]):
        return Hit(found[0][1])
    if not _may_be(found, constraint):
        return None
    told = [(error.location, error.pointer) for error in schemas.errors(root, value)]
    if _is_it(told, constraint) and _is_about(constraint, value, told[0][1]):
        return Hit(told[0][1])
    return _in_a_branch(schemas, value, constraint, {where for where, _ in found})


def _is_it(found: Sequence[tuple[str, str]], constraint: Constraint) -> bool:
    wanted = _same(constraint.location)
    spot = constraint.spot
    if constraint.keyword == "$ref":
        return all(":" in location.partition("#")[0] for location, _ in found)
    within = jsontext.pointer(spot.path[:-1]) if spot.site.schema is False else spot.pointer
    return all(
        _same(location) == wanted and (pointer == within or pointer.startswith(f"{within}/"))
        for location, pointer in found
    ) and len({pointer for _, pointer in found}) == 1  # fmt: skip


def _same(location: str) -> str:
    above, _, keyword = location.rpartition("/")
    return f"{above}/contains" if keyword in COUNTED else location


def _is_about(constraint: Constraint, value: JSON, pointer: str) -> bool:
    """Whether, of what one keyword says of several members, it is the part that is meant, alone."""
    part = jsontext.resolve(value, pointer)
    schema = constraint.spot.site.schema
    if constraint.keyword == "required":
        return [name for name in schema["required"] if name not in part] == [constraint.detail]
    if constraint.keyword in ("dependentRequired", "dependencies"):
        missing = [
            f"{name} {other}"
            for name, needed in schema[constraint.keyword].items()
            if name in part and isinstance(needed, list)
            for other in needed
            if other not in part
        ]
        return missing == [constraint.detail]
    if constraint.keyword == "maxContains":
        return not isinstance(part, list) or len(part) > schema["maxContains"]
    return True


def _may_be(found: Sequence[tuple[str, str]], constraint: Constraint) -> bool:
    """Whether what the first engine says can be the constraint all the same."""
    choices = {choice.location for choice in constraint.spot.choices}
    return all(
        location in choices
        or (location.rpartition("/")[2], pointer) == (constraint.keyword, constraint.spot.pointer)
        or constraint.keyword == "$ref"
        or (constraint.spot.names and location.endswith("/propertyNames"))
        or location.startswith((constraint.location, constraint.spot.location))
        or "/allOf/" in location  # what stands beside a format for the first engine
        for location, pointer in found
    )


def _in_a_branch(schemas: Schemas, value: JSON, constraint: Constraint, found: set[str]) -> Hit | None:
    """The same for the branch of the one choice that fails."""
    for choice in constraint.spot.choices:
        if found == {choice.location}:
            part = jsontext.resolve(value, jsontext.pointer(choice.path))
            inner = _from(constraint, choice)
            broken = None if part is jsontext.MISSING else hit(schemas, choice.branch, part, inner)
            if broken is not None:
                return Hit(jsontext.pointer(choice.path) + broken.pointer, choice.location)
    return None


def _from(constraint: Constraint, choice: Choice) -> Constraint:
    """The constraint as it is met from a branch of a choice on the way to it."""
    spot = constraint.spot
    depth = len(choice.path)
    later = spot.choices[spot.choices.index(choice) + 1 :]
    inner = tuple(one._replace(path=one.path[depth:]) for one in later)
    return constraint._replace(spot=spot._replace(path=spot.path[depth:], choices=inner))
