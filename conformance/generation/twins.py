"""Valid values in which a constraint applies: what a violation is compared with.

A value for a few wishes more is the value without them with a part put in, where that is valid; only
otherwise it is made anew. So those of one definition are much alike, and quick to make.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from itertools import islice
from typing import Any, NamedTuple

from conformance import jsontext
from conformance.events import JSON
from conformance.generation.sampling import Sampler
from conformance.generation.wishes import Path, Wish, as_schema
from conformance.jsontext import MISSING
from conformance.schemas import Schemas

PATIENCE = 3
"""So many values are asked about that are valid, but perhaps not right."""

Wishes = tuple[Wish, ...]


class Home(NamedTuple):
    """What twins are: they fit the definition at `loose`; better that at `strict` as well, by which they are
    made, and best `is_right` too. `specimens` are some that are known, the smallest first.
    """

    loose: str
    strict: str
    is_right: Callable[[JSON], bool] = lambda _: True
    specimens: tuple[JSON, ...] = ()


class Twins:
    """Makes valid values of a home, with wishes."""

    def __init__(self, schemas: Schemas, maker: Sampler, home: Home) -> None:
        self._schemas, self._maker, self._home = schemas, maker, home
        self._made: dict[str, tuple[JSON, bool]] = {}

    def of(self, wishes: Wishes) -> JSON:
        """The value, or MISSING where none was found."""
        return self._known(wishes)[0]

    def _known(self, wishes: Wishes) -> tuple[JSON, bool]:
        """The value, and whether it is right."""
        key = json.dumps(wishes)
        if key not in self._made:
            hopeful = not wishes or self._known(wishes[:-1])[1]
            self._made[key] = self._best(self._tries(wishes), PATIENCE if hopeful else 1)
        return self._made[key]

    def _best(self, values: Iterator[JSON], patience: int) -> tuple[JSON, bool]:
        """The first that is right, or else the first that is valid, of not too many."""
        valid = []
        for value in values:
            if self.is_valid(value):
                valid.append(value)
                if self._home.is_right(value):
                    return value, True
                if len(valid) == patience:
                    break
        return (valid[0], False) if valid else (MISSING, False)

    def schema(self, wishes: Wishes, strict: bool = False) -> dict[str, Any]:
        """The schema of all values that meet the wishes."""
        wished = [as_schema(wishes, self._maker.schemata.legacy)] if wishes else []
        home = self._home.strict if strict else self._home.loose
        return {"allOf": [{"$ref": self._schemas.uri(home)}, *wished]}

    def is_valid(self, value: JSON) -> bool:
        """Whether a value is valid, by the schemas."""
        return self._schemas.is_valid(self._home.loose, value)

    def _tries(self, wishes: Wishes) -> Iterator[JSON]:
        yield from (one for one in self._home.specimens if self._meets(one, wishes))
        before, right = self._known(wishes[:-1]) if wishes else (MISSING, True)
        if before is not MISSING:
            yield from self._extended(before, wishes)
        if self._home.strict != self._home.loose and right:  # or else fewer wishes are too many already
            made = self._maker.with_root(self.schema(wishes, strict=True))
            yield from () if self._maker.is_hopeless(made) else islice(self._maker.values(made), PATIENCE)
        yield from self._maker.values(self._maker.with_root(self.schema(wishes)))

    def _extended(self, twin: JSON, wishes: Wishes) -> Iterator[JSON]:
        """A value for all wishes but the last, with a part that meets the last as well."""
        last = wishes[-1]
        if not last.path:
            return
        if self._meets(twin, [last]):
            yield twin
        else:
            here = [wish.schema for wish in wishes if wish.path == last.path]
            for other in self._maker.values(self._maker.with_root({"allOf": here})):
                made = put(twin, last.path, other)
                if jsontext.resolve(made, jsontext.pointer(last.path)) is not MISSING:
                    yield made

    def _meets(self, value: JSON, wishes: Iterable[Wish]) -> bool:
        return all(
            (part := jsontext.resolve(value, jsontext.pointer(wish.path))) is not MISSING
            and (wish.schema is True or (wish.location != "" and self._schemas.is_valid(wish.location, part)))
            for wish in wishes
        )


def put(value: JSON, path: Path, part: JSON) -> JSON:
    """A copy of the value with another part at the path, for which there is a place."""
    if not path:
        return deepcopy(part)
    step = path[0]
    if isinstance(value, list) and isinstance(step, int):
        inner = value[step] if step < len(value) else MISSING
        return [*value[:step], put(inner, path[1:], part), *value[step + 1 :]]
    members = value if isinstance(value, dict) else {}
    return {**members, str(step): put(members.get(str(step), MISSING), path[1:], part)}
