"""Messages of one kind of a pack: its schema, its envelope, and what the pack says of one message alone.

What a requirement asks by JSON Schemas is built in; what its other checks say is asked of the monitor, by
which `validate --stateless` judges too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cached_property
from typing import Any

from conformance import jsontext
from conformance.bindings import written
from conformance.events import JSON, Received
from conformance.findings import Finding
from conformance.generation.arranging import arrange, orders
from conformance.generation.building import Builder, Wish
from conformance.generation.choosing import Choices
from conformance.integers import I53, U53
from conformance.monitor import Monitor
from conformance.packs import Kind, Pack
from conformance.schemas import Schemas

HOME = "message"
"""The location of the schema of a whole message among those of a `KindMaker`."""
_ANSWERS = ("result", "error")


class KindMaker:
    """Makes messages of a kind, in `sender` or `receiver` form, repaired unless `as_published`."""

    def __init__(self, pack: Pack, kind: Kind, form: str = "sender", *, as_published: bool = False) -> None:
        self.pack, self.kind = pack, kind
        self._as_published = as_published
        known = pack.schemas(form, as_published=as_published)
        documents = known.documents if as_published else bounded(pack, known)
        self.schemas = Schemas({**documents, HOME: self._whole(known)}, known.dialect)
        self.builder = Builder(self.schemas, HOME)

        self._orders = [] if as_published else orders(pack, kind.name)
        told = kind.name if kind.when.get("part") in _ANSWERS else ""  # which only a record could show
        self._monitor = Monitor(pack, form=form, as_published=as_published, stateless=True, kind=told)

    def build(self, choices: Choices, wish: Wish | None = None) -> JSON:
        """A message, which is not judged yet; NothingFits where there is none."""
        made = self.builder.build(choices, wish)
        arrange(made, self._orders)
        return made

    def is_valid(self, value: JSON) -> bool:
        """Whether a message is of the kind and fits, by all that `validate --stateless` asks."""
        return self.schemas.is_valid(HOME, value) and not any(self.broken(value))

    def broken(self, value: JSON) -> Iterator[Finding]:
        """The findings against a message."""
        text = written(value)
        parsed = jsontext.parse(text)
        monitor = self._monitor
        monitor.forget()
        event = Received(0, "", text, parsed.value, faults=parsed.faults)
        yield from (finding for finding in monitor.feed(event) if not finding.ok)
        assert monitor.message is not None
        if monitor.message.kind is None or monitor.message.kind.name != self.kind.name:
            yield Finding(self.pack.unknown_kind_id, False, "", 0, "it is taken for another kind")

    # The schema of the whole message

    def _whole(self, known: Schemas) -> dict[str, Any]:
        parts = [self._envelope(known), *self._rules, *self._agreements]
        if self._as_published and self.pack.meta.get("published"):
            parts.append({"$ref": known.uri(self.pack.meta["published"])})
        return {"allOf": parts}

    def _envelope(self, known: Schemas) -> dict[str, Any]:
        when, inside = self.kind.when, {"$ref": known.uri(self.kind.schema)}
        if "method" in when or "part" in when:
            return _call(when, inside, self.kind.at)
        if "pointer" in when:
            tagged = _at(when["pointer"], {"const": when["equals"]})
            return {"allOf": [_at(self.kind.at, inside), tagged]}
        return {"allOf": [_at(self.kind.at, inside), when["schema"]]}

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

    @cached_property
    def _agreements(self) -> list[Any]:
        """What keeps the members of a message that is made up from contradicting each other."""
        rows = [] if self._as_published else self.pack.meta.get("agreements", ())
        return [
            _at(row.get("at", ""), row["schema"], needed=False) for row in rows if self.kind.name in row["on"]
        ]

    def _concerns(self, check: Mapping[str, Any]) -> bool:
        return "*" in check["on"] or self.kind.name in check["on"]


def bounded(pack: Pack, known: Schemas) -> dict[str, Any]:
    """The documents of a pack with the bounds of integers that its requirements ask for as keywords."""
    documents = deepcopy(known.documents)
    for requirement in pack.requirements.values():
        for check in requirement.checks:
            for sort in SORTS if check["kind"] == "integer-bounds" else ():
                for location in check.get(sort, ()):
                    _bound(documents, location, SORTS[sort])
    return documents


SORTS = {"u53": U53, "i53": I53}
"""The bounds by the name that a row gives them."""


def _bound(documents: Mapping[str, Any], location: str, bounds: tuple[int, int]) -> None:
    name, _, pointer = location.partition("#")
    node = jsontext.resolve(documents.get(name), pointer)
    if isinstance(node, dict) and "$ref" not in node:
        node["allOf"] = [*node.get("allOf", ()), {"minimum": bounds[0], "maximum": bounds[1]}]


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
