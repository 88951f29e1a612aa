"""How much of a record is remembered: a record may have no end, and memory has.

What is older than that is not known any longer, and what is not known is never held against anybody.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
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
    if len(known) <= most:  # as mostly
        return False
    for key in oldest(known, most):
        del known[key]
    return True


def oldest(known: dict[Key, Value], most: int = REMEMBERED) -> list[Key]:
    """What was noted first, and is to be forgotten, where there is more than can be remembered.

    It is many things at a time: a table has to be looked through from where its first one stood.
    """
    return [*islice(known, most // 8)] if len(known) > most else []
