"""Messages that are delivered more than once: what is said again is never a second message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from conformance.checks import same
from conformance.correlation import Message
from conformance.events import JSON
from conformance.findings import Finding
from conformance.jsontext import parse
from conformance.remembered import REMEMBERED, forget_oldest

DELIVERED: Final = 2 * REMEMBERED
"""The keys of so many messages are remembered: of more than there are entities (`lifecycles`), so that what
is said again of one of them is never taken for new."""

COPIES: Final = 20
"""So many messages with one key are, and so many ways in which one of them was said."""


class Delivery(NamedTuple):
    """What a message is to those before it that have its key.

    `again`: it was said before, but for what may differ; `verbatim`: even that is as it was; `key_taken`:
    another message had the key first.
    """

    key: str = ""
    again: bool = False
    verbatim: bool = False
    key_taken: bool = False


NO_DELIVERY: Final = Delivery()


class Deliveries:
    """Tells a message from one that is only delivered again, as a pack's `redelivery` says.

    `key` is the pointer of what names a message, `except` are those of what may differ when it is
    delivered again. A pack without it knows no redelivery.
    """

    def __init__(self, rule: dict[str, Any] | None) -> None:
        self._key = str(rule["key"]) if rule else ""
        self._spared = frozenset(rule["except"] if rule else ())
        self._known: dict[str, list[list[str]]] = {}
        """By key the messages that have it, each in all the ways in which it was said, as texts."""
        self._found: dict[str, set[tuple[str, str, str]]] = {}

    def of(self, message: Message) -> Delivery:
        """What the message is to those before it."""
        key = message.at(self._key) if self._key else None
        if message.kind is None or not isinstance(key, str):
            return NO_DELIVERY
        messages = self._known.get(key)
        if messages is None:
            self._known[key] = [[message.event.text]]
            forget_oldest(self._known, DELIVERED)
            return Delivery(key)
        for copies in messages:
            if said_again(parse(copies[0]).value, message.value, self._spared):
                verbatim = any(same(parse(copy).value, message.value) for copy in copies)
                if not verbatim and len(copies) < COPIES:
                    copies.append(message.event.text)
                return Delivery(key, True, verbatim, copies is not messages[0])
        if len(messages) < COPIES:
            messages.append([message.event.text])
        return Delivery(key, key_taken=True)

    def moves(self, delivery: Delivery, row: dict[str, Any]) -> bool:
        """Whether the message moves anything by this row of a lifecycle.

        Delivered again it moves only what may differ, and under another message's key all but that.
        """
        differs = row.get("state") in self._spared
        if delivery.again:
            return differs and not delivery.verbatim and not delivery.key_taken
        return not (differs and delivery.key_taken)

    def news(self, delivery: Delivery, findings: list[Finding]) -> list[Finding]:
        """The findings without those that were made on the message when it was delivered before."""
        if not delivery.key:
            return findings
        found = self._found.get(delivery.key, set()) if delivery.again else set()
        against = {_said(one) for one in findings if not one.ok}
        if against:
            self._found[delivery.key] = found | against
            forget_oldest(self._found)
        return [one for one in findings if one.ok or _said(one) not in found]


def _said(finding: Finding) -> tuple[str, str, str]:
    return finding.requirement, finding.pointer, finding.message


def said_again(first: JSON, again: JSON, spared: Iterable[str]) -> bool:
    """Whether a message is the first one word for word, the members at `spared` aside."""
    return same(_without(first, spared), _without(again, spared))


def _without(value: JSON, pointers: Iterable[str]) -> JSON:
    """A copy of the object without some of its members."""
    spared = {pointer.removeprefix("/") for pointer in pointers}
    return {name: member for name, member in value.items() if name not in spared}
