"""Which kind a message is of, as far as it says so itself; looked up, and not tried one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby

from conformance import jsontext
from conformance.events import JSON
from conformance.packs import Kind
from conformance.shapes import shape

Look = Callable[[JSON], Kind | None]
"""The kind of a value, if it is one of some."""


class Kinds:
    """The kinds of a pack, in whose order a message is of the first one that fits."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        listed = list(kinds)
        self._calls: dict[tuple[JSON, str], Kind] = {}
        for kind in listed:
            if "method" in kind.when:
                self._calls.setdefault((kind.when["method"], kind.when["part"]), kind)
        self._looks = [
            look
            for pointer, group in groupby(listed, lambda kind: kind.when.get("pointer"))
            for look in ([_named(pointer, [*group])] if pointer is not None else map(_shaped, group))
        ]
        self.of: Look = self._looks[0] if len(self._looks) == 1 else self._of
        """The kind of a message that is no call."""

    def called(self, method: JSON, part: str) -> Kind | None:
        """The kind of a call by JSON-RPC."""
        return self._calls.get((method, part)) if isinstance(method, str) else None

    def _of(self, value: JSON) -> Kind | None:
        for look in self._looks:
            kind = look(value)
            if kind is not None:
                return kind
        return None


def fits(kind: Kind, value: JSON) -> bool:
    """Whether a message that is no call is of this kind."""
    look = _named(kind.when["pointer"], [kind]) if "pointer" in kind.when else _shaped(kind)
    return look(value) is not None


def _named(pointer: str, kinds: list[Kind]) -> Look:
    """A look at the member that names the kind."""
    table: dict[JSON, Kind] = {}
    for kind in kinds:
        table.setdefault(kind.when["equals"], kind)

    named = jsontext.getter(pointer)

    def look(value: JSON) -> Kind | None:
        found = named(value)
        return table.get(found) if isinstance(found, str) else None

    return look


def _shaped(kind: Kind) -> Look:
    """A look at the message as a whole."""
    if "schema" not in kind.when:
        return lambda value: None  # a call, which is known by its method
    is_one = shape(kind.when["schema"])
    return lambda value: kind if is_one(value) else None
