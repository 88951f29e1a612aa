"""Where a record can be cut so that its parts can be judged apart, with what one judge would find.

A pack whose checks keep what they know by conversation says so (`conversations` in its `pack.json`). Such a
record can be cut where no conversation is going on: what was said before can then matter in four ways only,
and what is noted of each part shows that it does not.

1. A conversation goes on after the cut, or its key is used again: the keys of two parts must differ.
2. A conversation takes up something (`across`) that an earlier one left open: what is taken up must differ.
3. A message is of no conversation that was seen to begin, or is no message, or does not say of which
   conversation it is: then no later part stands for itself.
4. Something was forgotten, since there was too much of it (`remembered`). Within SPAN messages nothing is,
   and a conversation that goes on for longer counts as one that was not seen to begin.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from typing import Any, NamedTuple

from conformance.correlation import Message
from conformance.jsontext import getter, steps
from conformance.packs import Pack
from conformance.remembered import REMEMBERED, REMEMBERED_MESSAGES

SPAN = REMEMBERED_MESSAGES - REMEMBERED_MESSAGES // 8
"""For so many messages, each of which notes one thing of a sort at most, nothing is forgotten."""

ENOUGH = REMEMBERED // 2
"""Fewer than so many things of a sort are all remembered."""


class Rule(NamedTuple):
    """What a pack says of its conversations: where a message has its `key`, which kinds `begin` and `end`
    one, and where a beginning names what it has `across` conversations.
    """

    key: str
    begin: frozenset[str]
    end: frozenset[str]
    across: str

    @classmethod
    def of(cls, pack: Pack) -> Rule | None:
        """The pack's rule; None where it has none, and so no record of it is cut."""
        said: dict[str, Any] | None = pack.meta.get("conversations")
        if said is None:
            return None
        return cls(said["key"], frozenset(said["begin"]), frozenset(said["end"]), said["across"])


class Noted(NamedTuple):
    """What is noted of a stretch of a record; keys and what is taken up go by their hashes."""

    keys: tuple[int, ...] = ()
    """Of the conversations that begin here, or of which nothing was heard for long."""
    taken_up: tuple[int, ...] = ()
    left_open: tuple[int, ...] = ()
    """What conversations have that were still going on at its end; told at the end alone."""
    strays: int = 0
    """How many messages are of no conversation that was seen to begin."""
    replaced: int = 0
    """How many conversations took up what another one had, while that was going on."""
    open: int = 0
    """How many conversations were going on at a time, at most."""
    stay_open: int = 0
    """How many were at its end; told there alone."""
    odd: bool = False
    """Whether there was anything that does not say of which conversation it is."""


class Notes:
    """Notes what one stretch of a record says of its conversations, message by message."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._key, self._across = getter(rule.key), getter(rule.across)
        self._number = 0
        self._first: dict[str, int] = {}
        """The numbers of the first messages of conversations, of the latest SPAN messages."""
        self._begun: deque[tuple[int, str]] = deque()
        self._open: dict[str, int] = {}
        self._having: Counter[int] = Counter()
        """How many open conversations have something."""
        self._keys: list[int] = []
        self._taken_up: list[int] = []
        self._strays = self._replaced = self._most = 0
        self._odd = False

    def take(self, message: Message | None) -> None:
        """Note one message; None for what is no message without a fault."""
        key = self._key(message.value) if message is not None else None
        if message is None or type(key) is not str:
            self._odd = True
            return
        self._number += 1
        begins = message.name in self._rule.begin
        if key not in self._first:
            self._first[key] = self._number
            self._begun.append((self._number, key))
            self._keys.append(hash(key))
            self._strays += not begins
        if self._begun[0][0] < self._number - SPAN:
            self._let_go()
        if begins:
            self._close(key)
            self._take_up(key, self._across(message.value))
        elif message.name in self._rule.end:
            self._close(key)

    def _let_go(self) -> None:
        while self._begun[0][0] < self._number - SPAN:
            del self._first[self._begun.popleft()[1]]

    def _take_up(self, key: str, named: Any) -> None:
        thing = hash(named) if type(named) is str else 0
        self._replaced += self._having[thing] > 0
        self._taken_up.append(thing)
        self._open[key] = thing
        self._having[thing] += 1
        self._most = max(self._most, len(self._open))
        if self._most > REMEMBERED:  # nobody needs to know more
            self._odd = True
            self._open.clear()
            self._having.clear()

    def _close(self, key: str) -> None:
        thing = self._open.pop(key, None)
        if thing is not None:
            self._having[thing] -= 1
            if not self._having[thing]:
                del self._having[thing]

    @property
    def hopeless(self) -> bool:
        """Whether what was noted last keeps this stretch from standing for itself."""
        return self._odd or self._strays > 0

    def news(self, *, whole: bool = False) -> Noted:
        """What was noted since this was asked last; of the `whole`, with what is `left_open`."""
        left_open = tuple(self._having) if whole else ()
        found = Noted(tuple(self._keys), tuple(self._taken_up), left_open, self._strays, self._replaced)
        found = found._replace(open=self._most, stay_open=len(self._open) if whole else 0, odd=self._odd)
        self._keys, self._taken_up, self._strays, self._replaced = [], [], 0, 0
        return found


class Before:
    """What is known of all of a record that was judged so far."""

    def __init__(self) -> None:
        self._keys: set[int] = set()
        self._left_open: set[int] = set()
        self._strays = self._replaced = self._open = 0
        self._odd = False

    def allows(self, noted: Noted) -> bool:
        """Whether a stretch that was judged by itself, from the end of all this on, is judged right."""
        if self._odd or noted.odd or noted.strays:
            return False
        few = max(self._strays, self._replaced + noted.replaced, self._open + noted.open) < ENOUGH
        fresh = len({*noted.keys}) == len(noted.keys) and self._keys.isdisjoint(noted.keys)
        return few and fresh and self._left_open.isdisjoint(noted.taken_up)

    def add(self, noted: Noted) -> None:
        """Take in what was noted of one more stretch."""
        self._keys.update(noted.keys)
        self._left_open.update(noted.left_open)
        self._strays += noted.strays
        self._replaced += noted.replaced
        self._open += noted.stay_open
        self._odd = self._odd or noted.odd


def quiet(data: bytes, rule: Rule) -> list[int]:
    """Where lines begin in `data`, which is whole lines, at which no conversation seems to be going on.

    It is looked for without reading the messages, and may be mistaken: what is noted afterwards counts.
    """
    named = re.compile(rb'"%b"[ \t]*:[ \t]*"([^"\\]*)"' % re.escape(steps(rule.key)[-1].encode()))
    lines = data.split(b"\n")[:-1]
    keys = [found.group(1) if (found := named.search(line)) else b"" for line in lines]
    last = {key: index for index, key in enumerate(keys)}
    places, at, latest = [], 0, -1
    for index, line in enumerate(lines):
        if index > latest:
            places.append(at)
        latest, at = max(latest, last[keys[index]]), at + len(line) + 1
    return places
