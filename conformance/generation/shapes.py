"""A `Shape`: what several schemas that hold at once ask of one value, with no choice left among them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

from conformance import patterns
from conformance.checks import same
from conformance.generation.opposites import TYPES
from conformance.generation.schemata import Site
from conformance.wording import type_name

Path = tuple[int, ...]
"""Where a schema stands among those that are applied to the same value: its applicators' numbers."""

INFINITY = 1 << 62


class Impossible(Exception):
    """No value fits, or none that can be found this way."""


class Members(NamedTuple):
    """What one schema object says of an object's members."""

    path: Path
    named: dict[str, Site]
    patterned: tuple[tuple[str, Site], ...]
    rest: Site | None

    def of(self, name: str) -> list[Site]:
        """The schemas of the member of that name; none where it says nothing of it."""
        found = [self.named[name]] if name in self.named else []
        if self.patterned:
            found += [site for pattern, site in self.patterned if patterns.matches(pattern, name)]
        return found or ([self.rest] if self.rest is not None else [])


class Items(NamedTuple):
    """What one schema object says of an array's items."""

    path: Path
    first: tuple[Site, ...]
    rest: Site | None

    def of(self, index: int) -> Site | None:
        """The schema of the item at an index; None where it says nothing of it."""
        return self.first[index] if index < len(self.first) else self.rest


class Contains(NamedTuple):
    """So many items, `least` to `most`, fit a schema."""

    path: Path
    site: Site
    least: int
    most: int | None


class Shape:
    """Constraints on one value that hold together, by type."""

    def __init__(self) -> None:
        self.types = frozenset(TYPES)
        self.integral = False
        self.allowed: list[Any] | None = None
        self.banned: tuple[Any, ...] = ()
        self.low: tuple[Fraction, bool] | None = None  # and whether it is excluded itself
        self.high: tuple[Fraction, bool] | None = None
        self.multiples: tuple[Fraction, ...] = ()
        self.not_multiples: tuple[Fraction, ...] = ()
        self.length = self.size = self.count = (0, INFINITY)  # of a string, an object, an array
        self.patterns: tuple[str, ...] = ()
        self.formats: tuple[str, ...] = ()
        self.not_patterns: tuple[str, ...] = ()
        self.not_formats: tuple[str, ...] = ()
        self.required: dict[str, None] = {}
        self.members: tuple[Members, ...] = ()
        self.names: tuple[Site, ...] = ()
        self.some_members: tuple[tuple[Site, Site], ...] = ()
        self.other_members: tuple[tuple[Path, Site], ...] = ()
        self.items: tuple[Items, ...] = ()
        self.contains: tuple[Contains, ...] = ()
        self.some_items: tuple[tuple[int, bool, Site], ...] = ()
        self.other_items: tuple[tuple[Path, Site], ...] = ()
        self.unique = self.repeats = False
        self.parts: dict[Any, Any] = {}  # what a builder keeps of its members and items
        self.sources: frozenset[int] = frozenset()
        self.mentioned: frozenset[str] = frozenset()

    def member(self, name: str) -> list[Site]:
        """The schemas that a member of that name has to fit."""
        found = [site for members in self.members for site in members.of(name)]
        for path, site in self.other_members:
            within = (one for one in self.members if one.path[: len(path)] == path)
            if not any(one.of(name) for one in within):
                found.append(site)
        return found

    def item(self, index: int) -> list[Site]:
        """The schemas that the item at an index has to fit, `contains` aside."""
        return [site for one in self.items if (site := one.of(index)) is not None]

    def others(self, index: int, contained: Iterable[Path] = ()) -> list[Site]:
        """The schemas of an item that no other schema evaluates; `contained` are the paths of those
        `contains` that it fits."""
        paths = [one.path for one in self.items if one.of(index) is not None] + list(contained)
        return [
            site for path, site in self.other_items if not any(known[: len(path)] == path for known in paths)
        ]


LONGEST = 2_000_000
"""So many characters or items are made at most: a schema may ask for thousands of millions."""


def exact(number: Any) -> Fraction:
    """A number as the fraction that its shortest decimal text stands for."""
    return Fraction(str(number)) if isinstance(number, float) else Fraction(number)


def number_fits(shape: Shape, value: Fraction) -> bool:
    """Whether a number is within the bounds, and a multiple of what it has to be."""
    low, high = shape.low, shape.high
    return not (
        (shape.integral and value.denominator != 1)
        or (low is not None and (value < low[0] or (low[1] and value == low[0])))
        or (high is not None and (value > high[0] or (high[1] and value == high[0])))
        or any((value / one).denominator != 1 for one in shape.multiples)
        or any((value / one).denominator == 1 for one in shape.not_multiples)
    )


def fits(shape: Shape, value: Any) -> bool:
    """Whether a value fits a shape, as far as that is told without a look into objects and arrays."""
    sort = type_name(value)
    if sort not in shape.types or any(same(value, one) for one in shape.banned):
        return False
    if sort == "number":
        return number_fits(shape, exact(value))
    if sort == "string":
        return text_fits(shape, value)
    if sort == "object":
        return shape.size[0] <= len(value) <= shape.size[1] and all(name in value for name in shape.required)
    return sort != "array" or shape.count[0] <= len(value) <= shape.count[1]


def text_fits(shape: Shape, text: str) -> bool:
    """Whether a text has the length and the patterns of a shape, and is none of its banned values.

    Formats are left to who makes the text.
    """
    return (
        shape.length[0] <= len(text) <= shape.length[1]
        and all(patterns.matches(one, text) for one in shape.patterns)
        and not any(patterns.matches(one, text) for one in shape.not_patterns)
        and text not in shape.banned
        and (shape.allowed is None or text in shape.allowed)
    )
