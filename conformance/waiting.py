"""What a step waits for on a connection, and whether a message is it."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from conformance import jsontext
from conformance.bindings import difference
from conformance.correlation import Message
from conformance.events import JSON, Sent
from conformance.scenarios import Step
from conformance.wording import shown


@dataclass(slots=True)
class Line:
    """One connection: what arrived and no step took, and how it ended (None while it has not)."""

    inbox: list[Message] = field(default_factory=list)
    is_open: bool = False
    ended: str | None = None


@dataclass(slots=True)
class Waiting:
    """The step that waits: for what, on which connection, until when.

    `seen` is how many messages of the connection's inbox it has looked at, `asked` the id of the
    request whose answer it awaits, `sent` whether that has left.
    """

    step: Step
    connection: str
    until: float
    seen: int = 0
    match: JSON = None
    instead: Mapping[str, JSON] = field(default_factory=dict)
    asked: JSON = None
    sent: bool = True

    def is_request(self, message: Message) -> bool:
        """Whether this is the request that the step sent."""
        return (
            self.step.verb == "request"
            and isinstance(message.event, Sent)
            and message.event.connection == self.connection
            and difference(self.asked, message.at("/id")) is None
        )

    def is_answered_by(self, message: Message) -> bool:
        """Whether this is the answer to the request that the step sent."""
        return message.request is not None and self.is_request(message.request)

    def replies_to(self, message: Message) -> bool:
        """Whether this is a request that the step answers."""
        return (
            self.step.verb == "reply"
            and message.event.connection == self.connection
            and fits(self.step.args["reply"], self.match, message)
        )

    def otherwise(self, message: Message, secrets: Container[str]) -> str:
        """How the answer is not what the step wants, without secrets; empty where it is."""
        asked, found = self.step.args["request"], part(self.step)
        if jsontext.resolve(message.value, f"/{found}") is jsontext.MISSING:
            other = "result" if found == "error" else "error"
            got = shown(masked(message.at(f"/{other}"), secrets))
            article = "an" if found == "error" else "a"
            return f"{asked} was to be answered with {article} {found}; it got the {other} {got}"
        if difference(self.match, message.value) is None:
            return ""
        mistake = difference(masked(self.match, secrets), masked(message.value, secrets))
        return f"the answer to {asked} is otherwise: {mistake or 'in a member that is secret'}"


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
