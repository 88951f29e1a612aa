"""A conformance test kit and schema validator for agent protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.generation.strategies import messages as messages
    from conformance.generation.strategies import values as values

__version__ = "0.1.0"

KIT = {"name": "agent-conformance-kit", "version": __version__}
"""How the kit names itself in everything that it writes."""

_STRATEGIES = ("messages", "values")


def __getattr__(name: str) -> Any:
    # Hypothesis is slow to import, so only who asks for its strategies does.
    if name in _STRATEGIES:
        from conformance.generation import strategies

        return getattr(strategies, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
