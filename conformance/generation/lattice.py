"""The boundary lattice of integers, on the token: for each integer of a kind, a message with each number text
that implementations are known to read differently, and whether it is valid.

Whether it is says the field itself: that it is an integer, from the least to the greatest that its schemas
and the pack's `integer-bounds` allow, computed exactly from the token.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from conformance import locating
from conformance.checks.numbers import BOUNDS
from conformance.generation.constraints import Spot
from conformance.generation.violations import Workshop, workshop
from conformance.integers import I53
from conformance.packs import Pack

TOKENS = (
    "-1", "0", "1",
    str(2**31 - 1), str(2**31), str(2**31 + 1),
    str(2**53 - 1), str(2**53), str(2**53 + 1), str(2**63), str(2**64),
    "1.0", "1e3", "9007199254740993.0", "1E400", '"1"', "true",
)  # fmt: skip
"""The texts that are tried: about every bound of an integer type, in all the ways to write one, and what is
no number."""


class Range(NamedTuple):
    """The integers that a field may be; None where there is no bound."""

    low: int | None = None
    high: int | None = None

    def within(self, low: Any, high: Any) -> Range:
        """Those of them that are within further bounds."""
        lows = [bound for bound in (self.low, low) if bound is not None]
        highs = [bound for bound in (self.high, high) if bound is not None]
        return Range(max(lows, default=None), min(highs, default=None))

    def holds(self, token: str) -> bool:
        """Whether a token of TOKENS is an integer of these."""
        if token[0] in '"tfn':
            return False
        value = Decimal(token)
        assert value == value.to_integral_value(), "of TOKENS, what is a number is a whole one"
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


class Point(NamedTuple):
    """A message with a token at a pointer, and whether that is valid; `twin` is, and differs there only.

    `schema` is the location of the field's schema.
    """

    schema: str
    pointer: str
    token: str
    valid: bool
    text: str
    twin: str


def lattice(pack: Pack, kind: str, *, form: str = "sender", as_published: bool = False) -> Iterator[Point]:
    """Every token in every integer field of a kind's messages, in document order."""
    shop = workshop(pack, kind, form=form, as_published=as_published)
    bounds, free = ({}, ()) if as_published else (_bounds(pack), tuple(_free(pack, kind)))
    for fields in _fields(shop):
        span = _range(fields, bounds)
        found = shop.twin(fields[0])
        if span is None or found is None:
            continue
        pointer, twin = found
        plain = span.within(*I53) if any(pointer.startswith(f"{part}/") for part in free) else span
        for token in TOKENS:
            valid = (plain if token.lstrip("-").isdigit() else span).holds(token)
            yield Point(fields[0].location, pointer, token, valid, _with(twin, pointer, token), twin)


def _fields(shop: Workshop) -> Iterator[list[Spot]]:
    """The spots of each place that is an integer, those of one place together, the one that says so first."""
    known = [
        spot for spot in shop.spots if isinstance(spot.site.schema, dict) and not spot.asked and not spot.dead
    ]
    done: set[Any] = set()
    for spot in known:
        if spot.site.keywords.get("type") == "integer" and spot.path not in done and not spot.names:
            done.add(spot.path)
            yield [spot, *(other for other in known if other.path == spot.path and other is not spot)]


def _range(fields: list[Spot], bounds: dict[str, tuple[int, int]]) -> Range | None:
    """What the field may be; None where its schemas ask for more than bounds, or choose."""
    span = Range()
    for spot in fields:
        keywords = spot.site.keywords
        if _MORE & keywords.keys() or spot.choices:
            return None
        span = span.within(keywords.get("minimum"), keywords.get("maximum"))
        low, high = keywords.get("exclusiveMinimum"), keywords.get("exclusiveMaximum")
        span = span.within(None if low is None else low + 1, None if high is None else high - 1)
        span = span.within(*bounds.get(spot.location, (None, None)))
    return span


_MORE = {"enum", "const", "multipleOf", "anyOf", "oneOf", "not", "if"}


def _bounds(pack: Pack) -> dict[str, tuple[int, int]]:
    """The bounds that the pack's requirements put on schemas, by location."""
    return {
        location: BOUNDS[name]
        for row in pack.requirements.values()
        for check in row.checks
        if check["kind"] == "integer-bounds" and check.get("only") != "type"
        for name in BOUNDS
        for location in check.get(name, ())
    }


def _free(pack: Pack, kind: str) -> Iterator[str]:
    """The parts of a kind's messages where whatever is written as an integer has the bounds of I53."""
    for row in pack.requirements.values():
        for check in row.checks:
            for part in check.get("free", ()) if check["kind"] == "integer-bounds" else ():
                if kind in part["on"] or "*" in part["on"]:
                    yield part["at"]


def _with(text: str, pointer: str, token: str) -> str:
    """The text with a token at the pointer, word for word."""
    place = locating.locate(text, pointer)
    assert place is not None, "the twin has the field"
    return text[: place.offset] + token + text[place.end :]


__all__ = ["TOKENS", "Point", "lattice"]
