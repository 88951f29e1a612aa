"""How much of a record is remembered: a record may have no end, and memory has.

What is older than that is not known any longer, and what is not known is never held against anybody.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

REMEMBERED: Final = 20_000
"""So many things of one sort are remembered by one check; more than ever go on at the same time."""

REMEMBERED_MESSAGES: Final = 2_000
"""So many whole messages are."""

Key = TypeVar("Key")
Value = TypeVar("Value")


def recall(known: dict[Key, Value], key: Key, make: Callable[[], Value]) -> Value:
    """What is known by the key; if nothing is, it is made, and the oldest is forgotten for it."""
    if key not in known:
        known[key] = make()
        forget_oldest(known)
    return known[key]


def forget_oldest(known: dict[Key, Value], most: int = REMEMBERED) -> bool:
    """Forget what was noted first, where there is more than can be remembered; whether there was."""
    if len(known) <= most:
        return False
    del known[next(iter(known))]
    return True
