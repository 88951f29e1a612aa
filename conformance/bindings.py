"""Values with names in scenarios: `${name}`, the ICS, fresh ids, the clock; and partial matches.

A string that is one `${name}` becomes the value itself, of whatever type; inside a longer string the
value is written in. An object `{"$merge": [a, b]}` is `a` with `b` laid upon it, `{"$repeat": [text, n]}` the
text n times.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

from conformance import jsontext
from conformance.events import JSON
from conformance.packs import pointer_value
from conformance.schemas import fits
from conformance.wording import shown

NAME = re.compile(r"\$\{([^}]+)\}")

PROVIDED = ("now", "clock_ns", "began", "fresh")
"""Names that always have a value: the time in RFC 3339, a clock in nanoseconds, when that clock read 0 in
RFC 3339, and a new id at each use."""

COUNTERS = ("count.", "last.")
"""The names of counters begin so: the number that follows, and the one that was given last."""

FACTS = "ics."
"""The names of facts of the ICS begin with this; members follow after a dot."""


@dataclass(frozen=True, slots=True)
class Now:
    """A reading of the clocks: `monotonic` in seconds since the run began, `wall` in RFC 3339."""

    monotonic: float
    wall: str


Scope: TypeAlias = Mapping[str, JSON]
"""Values that one message's template knows, by the first part of their names (`request`, `kept`, `item`)."""

NOTHING: Scope = {}


class Unbound(KeyError):
    """A `${name}` that nothing gave a value."""


@dataclass(slots=True)
class Bindings:
    """The names of one scenario's run. `fresh` makes a new id each time it is called."""

    ics: Mapping[str, Any]
    fresh: Callable[[], str]
    names: dict[str, JSON] = field(default_factory=dict)
    own: tuple[str, ...] = ()
    """Names that take a fresh id when they are first used."""
    code: Callable[[str, Scope], JSON] | None = None
    """What `{"$code": name}` stands for, given everything that has a value."""
    counts: dict[str, int] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    """Names that a message was to give a value, and why it did not."""

    def unsaid(self, name: str) -> str:
        """That this name has no value, and why, as far as that is known."""
        absent = f": {self.absent[name]}" if name in self.absent else ""
        return f"nothing says what ${{{name}}} is{absent}"

    def save(self, wanted: Mapping[str, str | list[str]], value: JSON, name: str) -> None:
        """Give names their values out of a message of this name: the first that the JSON Pointers meet."""
        for one, written in wanted.items():
            pointers = [written] if isinstance(written, str) else written
            there = [jsontext.resolve(value, pointer) for pointer in pointers]
            found = next((each for each in there if each is not jsontext.MISSING), jsontext.MISSING)
            if found is jsontext.MISSING:
                self.absent[one] = f"{name} has no {' and no '.join(pointers)}"
                self.names.pop(one, None)
            else:
                self.names[one] = found

    def fill(self, node: JSON, now: Now, scope: Scope = NOTHING) -> JSON:
        """The value with every `${name}` replaced, `${part./pointer}` by what `scope` holds; or Unbound."""
        if isinstance(node, dict) and len(node) == 1:
            [(only, inside)] = node.items()
            if only in _MADE:
                return _MADE[only](self, inside, now, scope)
        if isinstance(node, dict):
            return {key: self.fill(value, now, scope) for key, value in node.items()}
        if isinstance(node, list):
            return [self.fill(value, now, scope) for value in node]
        if not isinstance(node, str):
            return node
        whole = NAME.fullmatch(node)
        if whole:
            return self._of(whole[1], now, scope)
        return NAME.sub(lambda found: _written(self._of(found[1], now, scope)), node)

    def count(self, name: str, by: int = 1) -> int:
        """The counter of this name, `by` further than before; it begins at 0."""
        self.counts[name] = self.counts.get(name, 0) + by
        return self.counts[name]

    def _of(self, name: str, now: Now, scope: Scope) -> JSON:
        if name in _CLOCKS:
            return _CLOCKS[name](now)
        if name == "fresh":
            return self.fresh()
        family, _, rest = name.partition(".")
        if name.startswith(FACTS):
            return self._fact(rest)
        if family == "count" and rest:
            return self.count(rest)
        if family == "last" and rest:
            return self.counts.get(rest, 0)
        if family in scope:
            return pointer_value(scope[family], rest)
        if name not in self.names and name in self.own:
            self.names[name] = self.fresh()
        if name in self.names:
            return self.names[name]
        found = jsontext.resolve(self.names.get(family), jsontext.pointer(rest.split(".")))
        if found is jsontext.MISSING:
            raise Unbound(name)
        return found

    def _fact(self, path: str) -> JSON:
        found = jsontext.resolve(self.ics, jsontext.pointer(path.split(".")))
        if found is jsontext.MISSING:
            raise Unbound(FACTS + path)
        return found

    def _merge(self, parts: JSON, now: Now, scope: Scope) -> JSON:
        made: JSON = {}
        for part in parts:
            made = merged(made, self.fill(part, now, scope))
        return made

    def _repeat(self, parts: JSON, now: Now, scope: Scope) -> JSON:
        text, times = self.fill(parts, now, scope)
        return str(text) * int(times)

    def _code(self, function: JSON, now: Now, scope: Scope) -> JSON:
        assert self.code is not None
        known = {"names": self.names, "ics": self.ics, "counts": self.counts, "now": now}
        return self.code(function, {**scope, **known})


def _began(now: Now) -> str:
    began = datetime.fromisoformat(now.wall) - timedelta(seconds=now.monotonic)
    return began.isoformat(timespec="milliseconds").replace("+00:00", "Z")


_CLOCKS: dict[str, Callable[[Now], JSON]] = {
    "now": lambda now: now.wall,
    "clock_ns": lambda now: int(now.monotonic * 1_000_000_000),
    "began": _began,
}

_MADE: dict[str, Callable[[Bindings, JSON, Now, Scope], JSON]] = {
    "$merge": Bindings._merge,
    "$repeat": Bindings._repeat,
    "$code": Bindings._code,
}
"""What an object with this one member stands for."""


def _written(value: JSON) -> str:
    return value if isinstance(value, str) else written(value)


def written(value: JSON) -> str:
    """The value as compact JSON text. Every number keeps its exact value, a Decimal included."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{written(key)}:{written(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)


def merged(under: JSON, over: JSON) -> JSON:
    """`over` laid upon `under`: members of objects join, anything else replaces.

    A `$merge` that is not carried out yet takes the other in.
    """
    if not isinstance(under, dict) or not isinstance(over, dict):
        return over
    if set(under) == {"$merge"} or set(over) == {"$merge"}:
        return {"$merge": [*_parts(under), *_parts(over)]}
    joined = dict(under)
    for key, value in over.items():
        joined[key] = merged(under[key], value) if key in under else value
    return joined


def _parts(node: dict[str, JSON]) -> list[JSON]:
    return list(node["$merge"]) if set(node) == {"$merge"} else [node]


def difference(match: JSON, value: JSON, pointer: str = "") -> str | None:
    """Where and how the value is not what `match` says, or None where it is.

    A mapping is a subset, `{"$is": schema}` a JSON Schema, anything else equality.
    """
    if isinstance(match, dict) and set(match) == {"$is"}:
        found = None if value is jsontext.MISSING else value
        ok = value is not jsontext.MISSING and fits(match["$is"], value)
        return None if ok else f"{pointer or 'the message'} is {shown(found)}, not {shown(match['$is'])}"
    if value is jsontext.MISSING:
        return f"{pointer} is missing"
    if isinstance(match, dict):
        if not isinstance(value, dict):
            return f"{pointer or 'the message'} is {shown(value)}, not an object"
        for key, sub in match.items():
            found = difference(sub, value.get(key, jsontext.MISSING), pointer + jsontext.pointer([key]))
            if found:
                return found
        return None
    if isinstance(match, list) and isinstance(value, list) and len(match) == len(value):
        for index, sub in enumerate(match):
            found = difference(sub, value[index], f"{pointer}/{index}")
            if found:
                return found
        return None
    same = match == value and isinstance(match, bool) is isinstance(value, bool)
    return None if same else f"{pointer or 'the message'} is {shown(value)}, not {shown(match)}"
