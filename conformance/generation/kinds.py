"""Messages of one kind of a pack: its schema, its envelope, and what the pack says of one message alone.

What a requirement asks by JSON Schemas is built in; what its other checks say is asked of the monitor, by
which `validate --stateless` judges too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from conformance import jsontext
from conformance.bindings import written
from conformance.events import JSON, Received
from conformance.findings import Finding
from conformance.generation.building import Builder, Wish
from conformance.generation.choosing import Choices
from conformance.monitor import Monitor
from conformance.packs import Kind, Pack
from conformance.schemas import DRAFT_7, Schemas

HOME = "message"
"""The location of the schema of a whole message among those of a `KindMaker`."""
_ANSWERS = ("result", "error")


class KindMaker:
    """Makes messages of a kind, in `sender` or `receiver` form, repaired unless `as_published`."""

    def __init__(self, pack: Pack, kind: Kind, form: str = "sender", *, as_published: bool = False) -> None:
        self.pack, self.kind = pack, kind
        self._form, self._as_published = form, as_published
        known = pack.schemas(form, as_published=as_published)
        self.schemas = Schemas({**known.documents, HOME: self._whole(known)}, known.dialect)
        self.builder = Builder(self.schemas, HOME)

    def build(self, choices: Choices, wish: Wish | None = None) -> JSON:
        """A message, which is not judged yet; NothingFits where there is none."""
        return self.builder.build(choices, wish)

    def is_valid(self, value: JSON) -> bool:
        """Whether a message is of the kind and fits, by its schema and by all that `validate --stateless` asks."""
        return self.schemas.is_valid(HOME, value) and not any(self.broken(value))

    def broken(self, value: JSON) -> Iterator[Finding]:
        """The findings against a message."""
        text = written(value)
        parsed = jsontext.parse(text)
        monitor = self._monitor
        event = Received(0, "", text, parsed.value, faults=parsed.faults)
        yield from (finding for finding in monitor.feed(event) if not finding.ok)
        assert monitor.message is not None
        if monitor.message.kind is None or monitor.message.kind.name != self.kind.name:
            yield Finding(self.pack.unknown_kind_id, False, "", 0, "it is taken for another kind")

    @property
    def _monitor(self) -> Monitor:
        """A monitor that has heard nothing yet. What answers is told its kind, which only a record could show."""
        told = self.kind.name if self.kind.when.get("part") in _ANSWERS else ""
        return Monitor(
            self.pack, form=self._form, as_published=self._as_published, stateless=True, kind=told
        )

    # The schema of the whole message

    def _whole(self, known: Schemas) -> dict[str, Any]:
        parts = [self._envelope(known), *self._rules]
        if self._as_published and self.pack.meta.get("published"):
            parts.append({"$ref": known.uri(self.pack.meta["published"])})
        return {"allOf": parts}

    def _envelope(self, known: Schemas) -> dict[str, Any]:
        when, inside = self.kind.when, {"$ref": known.uri(self.kind.schema)}
        if "method" in when or "part" in when:
            return _call(when, inside, self.kind.at)
        if "pointer" in when:
            tagged = _at(when["pointer"], {"const": when["equals"]})
            return {"allOf": [tagged, _at(self.kind.at, inside)]}
        return {"allOf": [when["schema"], _at(self.kind.at, inside)]}

    @cached_property
    def _rules(self) -> list[Any]:
        """What requirements ask of this kind by JSON Schemas, where no earlier message has a say."""
        if self._as_published:
            return []
        return [
            _at(check.get("at", ""), _conditional(check), needed=False)
            for requirement in self.pack.requirements.values()
            for check in requirement.checks
            if check["kind"] == "requires" and "from" not in check and self._concerns(check)
        ]

    def _concerns(self, check: Mapping[str, Any]) -> bool:
        return "*" in check["on"] or self.kind.name in check["on"]


def _conditional(check: Mapping[str, Any]) -> Any:
    return {"if": check["when"], "then": check["then"]} if "when" in check else check["then"]


def _at(pointer: str, schema: Any, needed: bool = True) -> Any:
    """A schema of a whole value that asks `schema` of the part at a pointer."""
    for step in reversed(jsontext.parts(pointer) if pointer else []):
        schema = {"properties": {step: schema}, **({"type": "object", "required": [step]} if needed else {})}
    return schema


def _call(when: Mapping[str, Any], inside: Any, at: str) -> dict[str, Any]:
    """A message of JSON-RPC 2.0: a request, a notification, a result or an error."""
    part = when["part"]
    members: dict[str, Any] = {"jsonrpc": {"const": "2.0"}}
    if part != "notification":
        members["id"] = {"type": "integer", "minimum": 1, "maximum": 1 << 31}
    if part not in _ANSWERS:
        members["method"] = {"const": when["method"]}
    name = jsontext.parts(at)[0]
    members[name] = inside if name != "params" else {"allOf": [{"type": "object"}, inside]}
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


__all__ = ["DRAFT_7", "KindMaker"]
