"""Values of schemas of our own over one pack's documents, the simplest first, the same every time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import copy
from typing import Any

from conformance.events import JSON
from conformance.generation.building import SHAPES, Builder, NothingFits, Wish
from conformance.generation.choosing import Choices, Seeded, Simplest
from conformance.generation.schemata import Schemata, Site
from conformance.generation.shapes import Impossible, fits
from conformance.schemas import Schemas

SEEDS = 4
"""So many values are drawn at most beside the simplest."""


class Sampler:
    """Makes values; what one needs to know of the schemas is found out once for all of them."""

    def __init__(self, schemas: Schemas) -> None:
        # Most schemas are met in the first way that is found; only where that leads nowhere, others are.
        self._builders = [Builder(schemas, schema=True, shapes=1)]
        self.schemata: Schemata = self._builders[0].schemata
        self._builders.append(self._builders[0].keeping(SHAPES))
        self._roots: dict[str, Site] = {}  # which are told apart by identity, so they have to stay

    def values(self, site: Site, location: str = "", breaking: str = "") -> Iterator[JSON]:
        """Values that fit the site but for the keyword `breaking` of the schema at `location`; perhaps none."""
        wish = Wish(location=location, breaking=breaking)
        for known in self._builders:
            builder = copy(known)
            builder.root = site
            for choices in _choices():
                try:
                    yield builder.build(choices, wish)
                except (NothingFits, Impossible):
                    break

    def with_root(self, schema: Any) -> Site:
        """The site of a schema whose references are absolute."""
        key = json.dumps(schema)
        if key not in self._roots:
            self._roots[key] = self.schemata.with_root(schema)
        return self._roots[key]

    def accepts(self, site: Site, text: str) -> bool:
        """Whether a text fits a site that is about strings alone."""
        try:
            return any(fits(shape, text) for shape in self._builders[1].shapes([site]))
        except Impossible:
            return False

    def is_hopeless(self, site: Site) -> bool:
        """Whether it is seen at once that no value fits the site."""
        return self._builders[0].is_hopeless([site])


def _choices() -> Iterator[Choices]:
    yield Simplest()
    yield from (Seeded(seed) for seed in range(1, SEEDS + 1))
