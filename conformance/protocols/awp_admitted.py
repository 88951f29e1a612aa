"""Agent World Protocol: the actions that were admitted, by what was submitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from conformance.checks import Observation
from conformance.correlation import Message
from conformance.protocols.awp_values import table
from conformance.remembered import REMEMBERED_MESSAGES, forget_oldest

CONTENT: Final[tuple[str, ...]] = (
    "type",
    "params",
    "embodiment_id",
    "preempt",
    "deadline_ms",
    "basis_ts_mono_ns",
    "valid_until_ns",
)
"""The members that make two submissions identical or not (AWP-ACT-001, AWP-ACT-009)."""


def content_of(message: Message) -> dict[str, Any]:
    """The members of a submission that make it what it is."""
    # AWP-ACT-009: absent from both, or present in both with equal JSON values.
    params = message.at("/params")
    return {name: params[name] for name in CONTENT if name in params} if isinstance(params, dict) else {}


@dataclass(slots=True)
class Submitted:
    """An admitted action: what was submitted, and the last state and number the world reported.

    The state is None where nobody knows it.
    """

    content: dict[str, Any]
    state: Any = None
    number: int = 0


class Admitted:
    """The admitted actions of a record, by session and id, and what was last said of each."""

    def __init__(self) -> None:
        self._actions: dict[tuple[str, str], Submitted] = {}
        self._now: Observation | None = None
        self.before: Submitted | None = None
        """The action that was known under the id of a submission before this answer to it."""

    def find(self, session: str, message: Message, pointer: str) -> Submitted | None:
        """The action that a message names at the pointer."""
        return self._actions.get((session, str(message.at(pointer))))

    def attend(self, seen: Observation) -> None:
        """Learn from an observation, once for all who ask."""
        if seen is self._now:
            return
        self._now, self.before = seen, None
        if not seen.plain and seen.loses_any:
            self._lose(seen)
        message = seen.message
        if message is None:
            return
        at, request = REPORTS.get(message.name), message.request
        if at is not None:
            said = table(table(message.value).get(at))
            action = self._actions.get((seen.session, str(said.get("action_id"))))
            if action is not None:
                _report(action, said, legal=not _is_illegal(seen))
        elif request is not None and request.is_a(["action.submit"]):
            self._answered(seen.session, message, request)

    def _answered(self, session: str, message: Message, request: Message) -> None:
        self.before = self.find(session, request, "/params/action_id")
        if self.before is None and message.at("/error/code") is None:
            action = Submitted(content_of(request))
            self._actions[session, str(request.at("/params/action_id"))] = action
            forget_oldest(self._actions, REMEMBERED_MESSAGES)
            _report(action, table(message.at("/result")))

    def _lose(self, seen: Observation) -> None:
        for (session, name), known in self._actions.items():
            known.state = None if seen.loses(name, session) else known.state


REPORTS: Final = {"action.status": "params", "action.cancel.result": "result"}
"""In which member messages say what became of an action."""


def _is_illegal(seen: Observation) -> bool:
    """Whether the table has not what the message says."""
    for moved in seen.moved:  # noqa: SIM110 - every status is asked, and `any` makes a generator
        if moved.move.illegal:
            return True
    return False


def _report(action: Submitted, said: dict[str, Any], *, legal: bool = True) -> None:
    """Take over what a message says of the action, unless it is older than what is known."""
    state, number = said.get("state"), said.get("status_seq")
    if type(number) is not int:
        action.state = None
    elif number > action.number:
        action.state, action.number = (state if legal else None), number
