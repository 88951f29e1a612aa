"""Hypothesis strategies of valid messages and values: for the tests of whoever implements a protocol."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from conformance.events import JSON
from conformance.generation import supply
from conformance.generation.building import NothingFits
from conformance.generation.choosing import Choices
from conformance.generation.supply import Supply


class _Drawn:
    """Choices that Hypothesis draws, and shrinks to the simplest."""

    def __init__(self, draw: DrawFn) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        return self._draw(_integers(low, high))

    def index(self, count: int) -> int:
        return self._draw(_integers(0, count - 1))

    def chance(self, percent: int) -> bool:
        return self._draw(_integers(0, 99)) >= 100 - percent

    def again(self, attempt: int) -> Choices:
        return self


@lru_cache(maxsize=4096)
def _integers(low: int, high: int) -> SearchStrategy[int]:
    return st.integers(low, high)


@st.composite
def _taken(draw: DrawFn, source: Supply) -> JSON:
    try:
        return source.take(_Drawn(draw))
    except NothingFits:
        reject()  # it was tried before, and something fits: only these choices led nowhere


def messages(
    protocol: str, kind: str | None = None, *, form: str = "sender", as_published: bool = False
) -> SearchStrategy[JSON]:
    """Valid messages of `protocol` or `protocol@revision`, of one kind or of any.

    Each is a JSON value (of JSON-RPC the whole message) that `conformance validate --stateless` accepts, in
    `form` `sender` or `receiver`. Raises NoSuchPack or NoSuchKind.
    """
    sources = supply.of_kinds(protocol, kind, form, as_published=as_published)
    if len(sources) == 1:
        return _strategy(sources[0])
    return st.sampled_from(sources).flatmap(_strategy)


def values(schema: Any, others: Mapping[str, Any] | None = None) -> SearchStrategy[JSON]:
    """Values that a JSON Schema accepts, draft-07 or 2020-12, formats included.

    `others` are the documents that it refers to, by name. Raises BadPack where the schema is none, and
    NothingFits where nothing fits it.
    """
    return _strategy(supply.of_schema(schema, others))


def _strategy(source: Supply) -> SearchStrategy[JSON]:
    return _taken(source.warm())
