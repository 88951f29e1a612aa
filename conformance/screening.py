"""One schema for all that has to be said of a message by itself: most messages are right, and asked once.

A screen is made for each kind of message. What it accepts fits its schema, and is nothing that any of the
screened checks has anything against; what it refuses is judged by each of them, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from conformance.checks import Check, See, gathered
from conformance.checks.screens import leads_through_items, within
from conformance.correlation import Message
from conformance.events import JSON
from conformance.schemas import Schema, Schemas

Screening = Callable[[Message], Schema | None]


class Screen(NamedTuple):
    """What accepts messages of one kind, and how checks see it that have to be shown it all the same."""

    accepts: Callable[[JSON], bool]
    shown: list[See]


def screen(
    message: Message, checks: Iterable[Check], schemas: Schemas, besides: Iterable[Schema]
) -> Screen | None:
    """The screen of the message's kind, of these checks that hear it; None where its schema allows none.

    It also accepts nothing that is not of the schemas `besides`.
    """
    kind = message.kind
    if kind is None or leads_through_items(kind.at):
        return None
    asked = [within(kind.at, {"$ref": schemas.uri(kind.schema)}, needed=True)]
    asked += besides
    shown: list[Check] = []
    for check in checks:
        says: Screening | None = getattr(check, "screen", None)
        said = says(message) if says is not None else None
        if said is None:
            shown.append(check)
        else:
            asked.append(said)
    seeing: list[See] = [check.see for check in gathered(shown, message)]
    return Screen(schemas.judge({"allOf": asked}, kind.schema), seeing)
