"""Integer bounds, judged on the exact value of the number token."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance import jsontext
from conformance.checks import Observation, failed, passed, register
from conformance.findings import Finding, Requirement
from conformance.packs import Pack
from conformance.wording import shown, type_name

BOUNDS = {"u53": jsontext.U53, "i53": jsontext.I53}


@register("integer-bounds")
class IntegerBounds:
    """Parameters: `u53` and `i53`, lists of schema locations whose values have these bounds.

    Only numbers are judged here; that they are numbers at all is the schema's matter.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._schemas = pack.schemas()
        self._bounds = {place: BOUNDS[name] for name in BOUNDS for place in spec.get(name, ())}
        self._wanted = frozenset(self._bounds)

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per number out of bounds, else one for the message if it holds such numbers."""
        message = seen.message
        if message is None or message.kind is None:
            return
        kind, judged, broken = message.kind, False, False
        body = message.at(kind.at)
        for place, pointer, value in self._schemas.places(kind.schema, body, self._wanted):
            if type_name(value) != "number":
                continue
            judged = True
            fault = jsontext.bounds_fault(value, *self._bounds[place])
            if fault:
                broken = True
                yield failed(
                    self._requirement,
                    message,
                    f"the number {shown(value)} {fault}",
                    kind.at + pointer,
                    expected=self._bounds[place],
                    actual=value,
                )
        if judged and not broken:
            yield passed(self._requirement, message)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each message is judged when it is seen."""
        return ()
