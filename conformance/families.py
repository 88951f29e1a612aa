"""The kinds of check by name, as the rows of a pack name them."""

from __future__ import annotations

from conformance import protocols
from conformance.checks import CheckFactory, calls, movement, numbers, order, relation, sequences, text

CHECKS: dict[str, CheckFactory] = {
    "answered": calls.Answered,
    "direction": relation.Direction,
    "integer-bounds": numbers.IntegerBounds,
    "json-text": text.JsonText,
    "matches": relation.Matches,
    "monotonic": order.Monotonic,
    "ordered": order.Ordered,
    "reason-allowed": movement.ReasonAllowed,
    "reason-required": movement.ReasonRequired,
    "requires": relation.Requires,
    "sequence": sequences.Sequence,
    "terminal-silence": movement.TerminalSilence,
    "transition": movement.Transition,
    "unique": order.Unique,
    "unique-ids": calls.UniqueIds,
    "code": protocols.code,
}
