"""What decides while a value is made: everything that is drawn goes through three questions.

The first answer to each is the simplest one, so whatever shrinks choices shrinks the value.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol


class Choices(Protocol):
    """Answers the questions of a builder."""

    def integer(self, low: int, high: int) -> int:
        """An integer of `low` to `high`, both included; the simplest is `low`."""
        ...

    def index(self, count: int) -> int:
        """An integer of 0 to `count` - 1; the simplest is 0."""
        ...

    def chance(self, percent: int) -> bool:
        """True in about so many cases of a hundred; the simplest is False."""
        ...

    def again(self, attempt: int) -> Choices:
        """What answers when the answers until now led nowhere, `attempt` (from 1) times."""
        ...


_AT_ONCE = 1 << 24


def spelt(letters: Sequence[str], count: int, choices: Choices) -> str:
    """A text of so many of the letters; the simplest repeats the first. Several are decided at once."""
    size = len(letters)
    if size == 1 or not count:
        return letters[0] * count
    each = 1
    while size ** (each + 1) <= _AT_ONCE and each < count:
        each += 1
    made = ""
    while len(made) < count:
        taken = min(each, count - len(made))
        number = choices.integer(0, size**taken - 1)
        for _ in range(taken):
            number, place = divmod(number, size)
            made += letters[place]
    return made


class Simplest:
    """Always the simplest answer; others only where it leads nowhere. The same every time."""

    def integer(self, low: int, high: int) -> int:
        """The low end."""
        return low

    def index(self, count: int) -> int:
        """The first."""
        return 0

    def chance(self, percent: int) -> bool:
        """No, unless it is certain."""
        return percent >= 100

    def again(self, attempt: int) -> Choices:
        """Something less simple, but the same in every process."""
        return Seeded(attempt)


class Seeded:
    """Answers by a generator of random numbers with this seed."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed)  # noqa: S311 - reproducible on purpose; nothing secret is drawn

    def integer(self, low: int, high: int) -> int:
        """Small ones are likelier where there are very many."""
        span = high - low
        if span > _AT_ONCE and self._random.random() < 0.7:
            high = low + (1 << 16)
        return low + self._below(high - low + 1)

    def _below(self, count: int) -> int:
        return int(self._random.random() * count) if count < 1 << 32 else self._random.randrange(count)

    def index(self, count: int) -> int:
        """Each is as likely."""
        return int(self._random.random() * count)

    def chance(self, percent: int) -> bool:
        """By the generator."""
        return self._random.random() * 100 < percent

    def again(self, attempt: int) -> Choices:
        """The generator goes on."""
        return self
