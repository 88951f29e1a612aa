"""What earlier messages of a record named, for all the checks that look back at it: it is kept once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from typing import Any, Final

from conformance.checks import Observation, same
from conformance.correlation import ByKind
from conformance.events import JSON
from conformance.jsontext import getter
from conformance.remembered import forget_oldest
from conformance.wording import shown, type_name

_CONTAINERS: Final[tuple[str, ...]] = ("array", "object")


class Named:
    """Values that earlier messages had: REMEMBERED of them, and those that are no names besides."""

    __slots__ = ("_names", "_others", "forgot", "latest", "types")

    def __init__(self, *values: JSON) -> None:
        self._names: dict[JSON, None] = {}
        self._others: deque[JSON] = deque(maxlen=100)
        self.latest: deque[JSON] = deque(maxlen=5)
        self.types: set[str] = set()
        self.forgot = False
        """Whether there were more than are remembered."""
        for value in values:
            self.add(value)

    def add(self, value: JSON) -> None:
        """Take in one more value."""
        kind = type_name(value)
        self.types.add(kind)
        self.latest.append(value)
        if kind in _CONTAINERS:
            self.forgot = self.forgot or len(self._others) == self._others.maxlen
            self._others.append(value)
            return
        self._names[value if kind == "string" else (kind, value)] = None
        if forget_oldest(self._names):
            self.forgot = True

    def has(self, value: JSON) -> bool:
        """Whether one of them is the same."""
        if type(value) is str:
            return value in self._names
        kind = type_name(value)
        if kind in _CONTAINERS:
            return any(same(value, one) for one in self._others)
        return (kind, value) in self._names  # equal numbers have one hash, however they are written


Key = str | tuple[str]
"""What two values have in common that are the same."""


def key_of(value: JSON) -> Key:
    """A value as a key, quickly for the strings that they mostly are."""
    return value if type(value) is str else (shown(value, 10_000),)


class Field:
    """What earlier messages had at the pointer `field`, by what they had at the pointer `related`, if any.

    One text, as mostly, stands for itself, since thousands are remembered.
    """

    def __init__(self, field: str, related: str) -> None:
        self._value = getter(field)
        self._key = getter(related) if related else None
        self._known: dict[Key, str | Named] = {}

    def note(self, message: JSON) -> None:
        """Take in one more message."""
        value = self._value(message)
        key: Key = ""
        if self._key is not None:
            key = key_of(self._key(message))
        known = self._known.get(key)
        if known is None:
            self._known[key] = value if type(value) is str else Named(value)
            forget_oldest(self._known)
        elif isinstance(known, Named):
            known.add(value)
        else:
            self._known[key] = Named(known, value)

    def of(self, key: Key) -> str | Named | None:
        """The values, or the one text, of messages that agree in `related`; None where there were none."""
        return self._known.get(key)


class Subjects:
    """What earlier messages were about, at the pointer `field`."""

    def __init__(self, field: str) -> None:
        self._value = getter(field)
        self._known: dict[Key, None] = {}

    def note(self, message: JSON) -> None:
        """Take in one more message."""
        self._known[key_of(self._value(message))] = None
        forget_oldest(self._known)

    def has(self, value: JSON) -> bool:
        """Whether one of them was about this."""
        return key_of(value) in self._known


class Earlier:
    """The messages of a record as far as checks asked for something of them, which they then share."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Any, ...], tuple[Collection[str], Any]] = {}
        self._noting = ByKind(
            lambda message: [one.note for names, one in self._kept.values() if message.is_a(names)]
        )

    @staticmethod
    def shared_in(shared: dict[str, Any]) -> Earlier:
        """The one that all checks of one stream have in common."""
        earlier: Earlier = shared.setdefault("earlier", Earlier())
        return earlier

    def field(self, names: Collection[str], field: str, related: str = "") -> Field:
        """What messages of these kinds have at a pointer, from now on."""
        found: Field = self._keep(names, Field, field, related)
        return found

    def subjects(self, names: Collection[str], field: str) -> Subjects:
        """What messages of these kinds are about, from now on."""
        found: Subjects = self._keep(names, Subjects, field)
        return found

    def _keep(self, names: Collection[str], make: Callable[..., Any], *pointers: str) -> Any:
        return self._kept.setdefault((make, *sorted(names), *pointers), (names, make(*pointers)))[1]

    @property
    def hears(self) -> frozenset[str]:
        """The messages of which something is kept."""
        return frozenset(name for names, _ in self._kept.values() for name in names)

    def attend(self, seen: Observation) -> bool:
        """Note what the message says."""
        message = seen.message
        if message is None:
            return False
        for note in self._noting.of(message):
            note(message.value)
        return True
