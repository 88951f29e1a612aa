"""Values of schemas of our own over one pack's documents, the simplest first, the same every time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from conformance.events import JSON
from conformance.generation.choosing import Choices, Seeded, Simplest
from conformance.generation.drawing import Drawing
from conformance.generation.drawing import Spot as Start
from conformance.generation.joints import Joints
from conformance.generation.quests import Quest, Wish, distances
from conformance.generation.schemata import Schemata, Site
from conformance.generation.shapes import Impossible, fits
from conformance.schemas import Schemas

SEEDS = 4
"""So many values are drawn at most beside the simplest."""


class Sampler:
    """Makes values; what one needs to know of the schemas is found out once for all of them."""

    def __init__(self, schemas: Schemas) -> None:
        self.schemata = Schemata(schemas)
        # Most schemas are met in the first shape that is found; only where that leads nowhere, others are.
        self._joints = (Joints(1), Joints())
        self._roots: dict[str, Site] = {}  # which are told apart by identity, so they have to stay

    def values(self, site: Site, location: str = "", breaking: str = "") -> Iterator[JSON]:
        """Values that fit the site, but for the keyword `breaking` of the schema at `location`."""
        wish = Wish(location=location, breaking=breaking)
        target = self.schemata.at(location) if location else None
        steps = distances(site, target) if target else {}
        for joints in self._joints:
            for choices in _choices():
                quest = Quest(wish, target, steps) if target else None
                try:
                    value = Drawing(joints, choices).value(joints.of([site]), Start("", 0, quest))
                except Impossible:
                    break
                if quest is not None and quest.found is None:
                    break
                yield value

    def with_root(self, schema: Any) -> Site:
        """The site of a schema whose references are absolute."""
        key = json.dumps(schema)
        if key not in self._roots:
            self._roots[key] = self.schemata.with_root(schema)
        return self._roots[key]

    def accepts(self, site: Site, text: str) -> bool:
        """Whether a text fits a site that is about strings alone."""
        return any(fits(shape, text) for shape in self._joints[1].of([site]).shapes)

    def is_hopeless(self, site: Site) -> bool:
        """Whether it is seen at once that no value fits the site."""
        return self._joints[0].is_hopeless([site])


def _choices() -> Iterator[Choices]:
    yield Simplest()
    yield from (Seeded(seed) for seed in range(1, SEEDS + 1))
