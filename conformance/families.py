"""The kinds of check: with this module, every family has entered its own into `CHECKS`."""

from __future__ import annotations

from conformance import protocols
from conformance.checks import CHECKS, calls, movement, numbers, order, relation, sequences, text

__all__ = ["CHECKS", "FAMILIES"]

FAMILIES = (text, numbers, movement, order, sequences, relation, calls, protocols)
"""The modules whose import does so."""
