"""What a step waits for on a connection, and whether a message is it."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from conformance import jsontext
from conformance.bindings import NAME, difference
from conformance.correlation import Message
from conformance.events import JSON, Sent
from conformance.findings import Finding
from conformance.scenarios import Scenario, Step, seconds
from conformance.wording import shown

TIMED = ("wait", "silence", "never")
"""Steps that last as long as they say, whatever comes."""

APART = ("wait", "knock", "take", "leave", "operate", "read")
"""Steps that no connection is needed for."""

STATED = 5.0
"""Seconds that a time may be of which a scenario says only who states it."""


def lasts(scenario: Scenario) -> float:
    """How many seconds its steps let pass at most, as it seems."""
    names = {"never": "for", "wait": "wait", "silence": "silence"}
    written = (step.args.get(names.get(step.verb, "deadline"), "0 s") for step in scenario.steps)
    return sum(STATED if NAME.search(one) else seconds(one) for one in written)


@dataclass(slots=True)
class Line:
    """One connection: what arrived and no step took, and how it ended (None while it has not)."""

    inbox: list[Message] = field(default_factory=list)
    is_open: bool = False
    ended: str | None = None
    ended_by_kit: bool = False

    def end(self, how: str, *, by_kit: bool) -> None:
        """The connection has ended."""
        self.is_open, self.ended, self.ended_by_kit = False, how, by_kit


@dataclass(slots=True)
class Waiting:
    """The step that waits: for what, on which connection, until when.

    `seen` is how many messages of the connection's inbox it has looked at, `asked` the id of the
    request whose answer it awaits, `sent` whether that has left. `instead` says which messages
    end the wait for others, or a silence.
    """

    step: Step
    connection: str
    until: float
    seen: int = 0
    match: JSON = None
    instead: Mapping[str, JSON] = field(default_factory=dict)
    asked: JSON = None
    sent: bool = True

    def stretch(self, more: float) -> None:
        """Wait longer, where the time is the kit's own; `more` is to be added to the factor of `allowed`."""
        if self.step.verb not in TIMED and "deadline" not in self.step.args:
            self.until += self.step.patience * more

    def since(self, patience: float) -> float:
        """Since when it waits for something to come; `until` where it only lets time pass."""
        return self.until if self.step.verb in TIMED else self.until - allowed(self.step, patience)

    def is_request(self, message: Message) -> bool:
        """Whether this is the request that the step sent."""
        return (
            self.step.verb == "request"
            and isinstance(message.event, Sent)
            and message.event.connection == self.connection
            and difference(self.asked, message.at("/id")) is None
        )

    def is_for(self, message: Message) -> bool:
        """Whether this is what the step takes: the answer to its request, or what it expects."""
        if self.step.verb == "request":
            return message.request is not None and self.is_request(message.request)
        if self.step.verb == "reply":
            return self.replies_to(message)
        return self.step.verb == "expect" and fits(self.step.args["expect"], self.match, message)

    def is_over(self, message: Message) -> bool:
        """Whether this ends the silence; it stays there for a step that awaits it."""
        return self.step.verb == "silence" and self._is_instead(message)

    def replies_to(self, message: Message) -> bool:
        """Whether this is a request that the step answers."""
        here = self.step.verb == "reply" and message.event.connection == self.connection
        return here and fits(self.step.args["reply"], self.match, message)

    def against(self, message: Message, secrets: Container[str]) -> str:
        """How the message contradicts the step, without secrets; empty where it does not."""
        verb, wanted_ = self.step.verb, self.step.args[self.step.verb]
        if verb == "request":
            return self._otherwise(message, secrets) if self.is_for(message) else ""
        if verb == "never" and fits(wanted_, self.match, message):
            return f"{gist(message, secrets)} came, which must not come here"
        if verb != "expect" or self.is_for(message):
            return ""
        if not self._is_instead(message):
            return ""
        said = f"{gist(message, secrets)} came instead of {wanted_}"
        return f"{said} as awaited: {self._mistake(message, secrets)}" if message.is_a([wanted_]) else said

    def _is_instead(self, message: Message) -> bool:
        return any(fits(kind, match, message) for kind, match in self.instead.items())

    def _otherwise(self, message: Message, secrets: Container[str]) -> str:
        """How the answer is not what the step wants, without secrets; empty where it is."""
        asked, found = self.step.args["request"], part(self.step)
        if jsontext.resolve(message.value, f"/{found}") is jsontext.MISSING:
            other = "result" if found == "error" else "error"
            got = shown(masked(message.at(f"/{other}"), secrets))
            article = "an" if found == "error" else "a"
            return f"{asked} was to be answered with {article} {found}; it got the {other} {got}"
        if difference(self.match, message.value) is None:
            return ""
        return f"the answer to {asked} is otherwise: {self._mistake(message, secrets)}"

    def _mistake(self, message: Message, secrets: Container[str]) -> str:
        """How the message differs from what was awaited, without secrets."""
        found = difference(masked(self.match, secrets), masked(message.value, secrets))
        return found or "in a member that is secret"


def allowed(step: Step, patience: float) -> float:
    """The seconds that the step waits: `patience` times what it says, or the deadline of the protocol."""
    return step.patience * (1.0 if "deadline" in step.args else patience)


def part(step: Step) -> str:
    """The member of the answer that a request wants."""
    return "error" if "error" in step.args else "result"


def wanted(step: Step) -> str:
    """What the step waits for, in words."""
    if step.verb == "request":
        return f"the answer to {step.args['request']}"
    if step.verb in ("close", "drop", "ends"):
        return f"the end of the connection {step.args[step.verb]}"
    return str(step.args[step.verb])


def undecided(step: Step, patience: float, hindered: float, heard: bool) -> str:
    """Why nothing can be said though what the step waits for did not come, in words."""
    if "deadline" in step.args and heard:
        late = f"{wanted(step)} did not come within {step.args['deadline']}"
        return f"{late}, but the kit itself was {hindered:.1f} s late"
    mute = "" if heard else "the implementation said nothing: "
    return f"{mute}{wanted(step)} did not come within {allowed(step, patience):g} s"


def unproved(step: Step, party: str, seq: int, said: str) -> list[Finding]:
    """That nothing can be said about what the step proves: a finding for each requirement."""
    return [Finding(name, False, party, seq, said, inconclusive=True) for name in step.proves]


def fits(kind: str, match: JSON, message: Message) -> bool:
    """Whether the message is of the kind and as `match` says."""
    return message.is_a([kind]) and difference(match, message.value) is None


def gist(message: Message, secrets: Container[str]) -> str:
    """The message's name and the part that its kind is about, as text without secrets."""
    value = message.at(message.kind.at) if message.kind is not None else message.value
    return f"{message.name or 'a message of no known kind'} {shown(masked(value, secrets))}"


def masked(node: JSON, secrets: Container[str]) -> JSON:
    """The value with what its secret members hold replaced: reasons are written to disk."""
    if isinstance(node, list):
        return [masked(item, secrets) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: "(secret)" if key in secrets else masked(value, secrets) for key, value in node.items()}
