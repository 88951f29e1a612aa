"""Checks of the text itself, whatever the protocol."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.checks import Observation
from conformance.events import Closed, Fault, Malformed, Opened, Spoken, in_input
from conformance.findings import Finding, Level, Requirement
from conformance.packs import Pack


class JsonText:
    """The requirement's id is the code of the fault that breaks it; a text without it speaks for it."""

    praises = True

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per fault of this code, else one for the text."""
        event = seen.event
        if isinstance(event, (Opened, Closed)):
            return
        party = event.party or (seen.message.party if seen.message else "")
        mine = [fault for fault in event.faults if fault.code == self._requirement.id]
        for fault in mine:
            yield self._against(fault, party, event)
        if not mine and not isinstance(event, Malformed):
            yield Finding(self._requirement.id, True, party, event.seq, connection=event.connection)

    def _against(self, fault: Fault, party: str, event: Spoken | Malformed) -> Finding:
        line, column = in_input(event, fault.line, fault.column)
        # A line that ends with CR LF is read all the same: tolerated, with a warning.
        mild = fault.code == "WIRE-LINE" and not fault.fatal
        return Finding(
            self._requirement.id,
            False,
            party,
            event.seq,
            fault.message,
            fault.pointer,
            level=Level.SHOULD if mild else None,
            connection=event.connection,
            line=line,
            column=column,
        )

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each text is judged when it is seen."""
        return ()
