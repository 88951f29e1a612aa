"""Where the values stand that a check asks every message for."""

from __future__ import annotations

from typing import final

from conformance.events import JSON
from conformance.jsontext import getter, steps


@final
class Part:
    """What stands at a JSON Pointer of messages: `of` gives it, and None where there is nothing.

    Most stand in a member of a member, which is looked up at once.
    """

    __slots__ = ("_first", "_read", "_second", "at")

    def __init__(self, at: str) -> None:
        path = steps(at)
        self.at = at
        self._read = getter(at)
        self._first, self._second = path if len(path) == 2 else ("", "")

    def of(self, value: JSON) -> JSON:
        """The part of the value of a message."""
        if self._second and type(value) is dict:
            part = value.get(self._first)
            if type(part) is dict:
                return part.get(self._second)
        return self._read(value)
