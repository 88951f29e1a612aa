"""The values of a message put in the order that its pack asks for: times that do not go back.

Which they are say the pack's requirements that are judged by `ordered`: the values at their places change
places with each other, and nothing else changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from conformance import jsontext
from conformance.checks.order import measure
from conformance.events import JSON
from conformance.packs import Pack

Order = Mapping[str, Any]
"""The row of a check `ordered`."""


def orders(pack: Pack, kind: str) -> list[Order]:
    """What the pack orders within a message of the kind."""
    return [
        check
        for requirement in pack.requirements.values()
        for check in requirement.checks
        if check["kind"] == "ordered" and (kind in check["on"] or "*" in check["on"])
    ]


def arrange(value: JSON, known: Iterable[Order]) -> None:
    """Put the values that the rows are about in order, within `value` itself."""
    for order in known:
        sort = measure(order.get("as", "counter"))
        found = [
            (place, one) for place in _places(value, order) if sort(one := _at(value, place)) is not None
        ]
        ordered = sorted((one for _, one in found), key=sort)
        for (place, _), one in zip(found, ordered, strict=True):
            _put(value, place, one)


def _places(value: JSON, order: Order) -> Iterator[str]:
    if "each" not in order:
        yield from order["at"]
        return
    items = _at(value, order["each"])
    for index in range(len(items) if isinstance(items, list) else 0):
        yield from (f"{order['each']}/{index}{at}" for at in order["at"])


def _at(value: JSON, place: str) -> JSON:
    found = jsontext.resolve(value, place)
    return None if found is jsontext.MISSING else found


def _put(value: JSON, place: str, one: JSON) -> None:
    *above, last = jsontext.parts(place)
    inside = jsontext.resolve(value, jsontext.pointer(above))
    inside[int(last) if isinstance(inside, list) else last] = one
