"""What is wished of a value beside its definition, as a schema of our own that stands beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

Path = tuple[str | int, ...]
"""The steps to a part of a value: names of members, and numbers of items."""


class Wish(NamedTuple):
    """That there is something at a path, which fits a schema; its references are absolute.

    `location` is where that schema stands, if it does; `governs` says that it governs whatever is there.
    """

    path: Path
    schema: Any = True
    location: str = ""
    governs: bool = False


def further(wishes: Iterable[Wish], above: Path) -> tuple[Wish, ...]:
    """The wishes of a part as those of the value that has it at the path `above`."""
    return tuple(wish._replace(path=(*above, *wish.path)) for wish in wishes)


def as_schema(wishes: Iterable[Wish], legacy: bool) -> dict[str, Any]:
    """One schema for all the wishes; `legacy` for one of draft-07."""
    mine = list(wishes)
    made: dict[str, Any] = {}
    here = [wish.schema for wish in mine if not wish.path and wish.schema is not True]
    if here:
        made["allOf"] = here
    inner: dict[str | int, list[Wish]] = {}
    for wish in mine:
        if wish.path:
            inner.setdefault(wish.path[0], []).append(Wish(wish.path[1:], wish.schema))
    members = {step: as_schema(some, legacy) for step, some in inner.items() if isinstance(step, str)}
    items = {step: as_schema(some, legacy) for step, some in inner.items() if isinstance(step, int)}
    if members:
        made |= {"type": "object", "required": [*members], "properties": members}
    if items:
        count = max(items) + 1
        first = [items.get(index, True) for index in range(count)]
        made |= {"type": "array", "minItems": count, "items" if legacy else "prefixItems": first}
    return made
