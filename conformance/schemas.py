"""Schemas of one pack: a local registry, the sender and receiver form, errata, and two engines.

The verdict comes from jsonschema-rs; only when it says no does jsonschema with referencing explain
which keyword failed where. Nothing is ever fetched: a reference that the pack does not hold is an
error of the pack. Engines are imported when first needed, so a valid message pays for one only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from conformance import jsontext
from conformance.errors import BadPack
from conformance.events import JSON
from conformance.findings import BrokenConstraint
from conformance.patterns import matches

Schema = dict[str, Any]

EXPLAINED = 50
"""At most this many errors of one message are explained."""


@dataclass(frozen=True, slots=True)
class SenderForm:
    """How a dialect of a pack says what senders alone must heed.

    `closed` names the keyword that forbids unknown members to senders, `extension` the pattern of
    members that stay allowed, `merge` the keyword whose object is merged into its schema.
    """

    closed: str
    extension: str
    merge: str

    def of(self, node: Any) -> Any:
        """`node` (a schema document) with the sender's constraints as plain keywords."""
        if isinstance(node, list):
            return [self.of(item) for item in node]
        if not isinstance(node, dict):
            return node
        made = {key: self.of(value) for key, value in node.items() if key != self.merge}
        made.update(node.get(self.merge, {}))
        if node.get(self.closed) is True and "additionalProperties" not in node:
            made["additionalProperties"] = False
            made["patternProperties"] = {**made.get("patternProperties", {}), self.extension: {}}
        return made


def apply_patch(document: JSON, patch: list[dict[str, Any]]) -> JSON:
    """A copy of `document` with the JSON Patch applied (RFC 6902: `add`, `remove`, `replace`, `test`).

    Raises BadPack where an operation meets nothing or another value than it tests for.
    """
    root = deepcopy(document)
    for operation in patch:
        *parents, last = jsontext.parts(operation["path"])
        _operate(_descend(root, parents, operation), last, operation)
    return root


def _descend(node: JSON, steps: list[str], operation: dict[str, Any]) -> JSON:
    for step in steps:
        try:
            node = node[int(step)] if isinstance(node, list) else node[step]
        except (KeyError, IndexError, ValueError, TypeError):
            raise BadPack(f"a patch meets nothing at {operation['path']!r}") from None
    return node


def _operate(parent: JSON, last: str, operation: dict[str, Any]) -> None:
    name, value = operation["op"], operation.get("value")
    key = int(last) if isinstance(parent, list) and last != "-" else last
    present = key in parent if isinstance(parent, dict) else key != "-" and int(key) < len(parent)
    if name == "add":
        if isinstance(parent, list):
            parent.insert(len(parent) if key == "-" else int(key), value)
        else:
            parent[key] = value
    elif not present or (name == "test" and parent[key] != value):
        raise BadPack(f"a patch cannot {name} {operation['path']!r}")
    elif name == "remove":
        del parent[key]
    elif name == "replace":
        parent[key] = value


def canonical_uri(document: Schema, name: str) -> str:
    """The document's `$id`, or a URN of its file name where it has none."""
    return str(document.get("$id", f"urn:agent-conformance-kit:{name}"))


class Schemas:
    """The documents of a pack in one form, ready to judge.

    `documents` maps file names to schema documents. A reference to one of their definitions is
    written `file.schema.json#/json/pointer`, wherever this class or a pack speaks of a location.
    """

    def __init__(self, documents: Mapping[str, Schema], dialect: str) -> None:
        self.documents = dict(documents)
        self.dialect = dialect
        self._uris = {name: canonical_uri(document, name) for name, document in documents.items()}
        self._validators: dict[str, Any] = {}
        self._conditions: dict[int, Any] = {}

    def uri(self, location: str) -> str:
        """The absolute URI of a location such as `evidence.schema.json#/$defs/Artifact`."""
        name, _, fragment = location.partition("#")
        if name not in self._uris:
            raise BadPack(f"no schema document is named {name!r}; there are {', '.join(self._uris)}")
        return f"{self._uris[name]}#{fragment}"

    def is_valid(self, location: str, value: JSON) -> bool:
        """Whether the definition at `location` accepts the value; formats are asserted."""
        return bool(self._validator(location).is_valid(value))

    def errors(self, location: str, value: JSON) -> list[BrokenConstraint]:
        """Every constraint that the value breaks, in document order; none where it is valid."""
        if self.is_valid(location, value):
            return []
        explained = list(self._explainer.explain(self.uri(location), value))[:EXPLAINED]
        return explained or [self._unexplained(location, value)]

    def _unexplained(self, location: str, value: JSON) -> BrokenConstraint:
        # The two engines differ. The first one decided; its own words are all there is to say.
        for error in self._validator(location).iter_errors(value):
            where = jsontext.pointer([str(part) for part in error.instance_path])
            keyword = str(error.schema_path[-1]) if error.schema_path else ""
            return BrokenConstraint(keyword, location, where, str(error.message))
        raise AssertionError("a value that is not valid has an error")

    def _validator(self, location: str) -> Any:
        if location not in self._validators:
            self._validators[location] = self._compile({"$ref": self.uri(location)})
        return self._validators[location]

    def _compile(self, schema: Schema) -> Any:
        import jsonschema_rs

        try:
            return jsonschema_rs.validator_for(
                {"$schema": self.dialect, **schema},
                registry=self._registry,
                validate_formats=True,
                offline=True,
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
            raise BadPack(f"a schema of this pack cannot be used: {error}") from None

    @cached_property
    def _registry(self) -> Any:
        import jsonschema_rs

        resources = [(self._uris[name], document) for name, document in self.documents.items()]
        return jsonschema_rs.Registry(resources)

    @cached_property
    def _locations(self) -> dict[int, str]:
        return {
            id(node): f"{name}#{where}" for name, doc in self.documents.items() for where, node in walk(doc)
        }

    def location_of(self, schema: Any) -> str:
        """Where a (sub)schema object of this registry stands; empty for a foreign one."""
        return self._locations.get(id(schema), "")

    @cached_property
    def _explainer(self) -> Any:
        from conformance import explain

        return explain.Explainer(self.documents, self._uris, self.dialect, self.location_of)

    def places(self, location: str, value: JSON, wanted: frozenset[str]) -> Iterator[tuple[str, str, JSON]]:
        """(wanted location, pointer, value) for each part of `value` that a wanted definition governs.

        Follows references, members, items and every branch that applies; a branch of `if` applies
        when its condition says so, branches of `oneOf` and `anyOf` when they accept the value's part
        or reach a wanted definition at all. Free-form parts of a message are never reached.
        """
        seen: set[tuple[str, str]] = set()
        for found, pointer, part in self._reach(self._resolve(location), value, "", wanted, 0):
            if (found, pointer) not in seen:
                seen.add((found, pointer))
                yield found, pointer, part

    def _resolve(self, location: str) -> tuple[str, Any]:
        name, _, fragment = location.partition("#")
        if name not in self.documents:
            return "", True
        node = jsontext.resolve(self.documents[name], fragment)
        return name, True if node is jsontext.MISSING else node

    def _reach(
        self, place: tuple[str, Any], value: JSON, pointer: str, wanted: frozenset[str], depth: int
    ) -> Iterator[tuple[str, str, JSON]]:
        name, schema = place
        if not isinstance(schema, dict) or depth > jsontext.LIMITS.depth:
            return
        here = self.location_of(schema)
        if here in wanted:
            yield here, pointer, value
        for target, part, step in self._next(name, schema, value):
            inside = pointer if step is None else pointer + jsontext.pointer([step])
            yield from self._reach(target, part, inside, wanted, depth + 1)

    def _next(
        self, name: str, schema: Schema, value: JSON
    ) -> Iterator[tuple[tuple[str, Any], JSON, str | None]]:
        if "$ref" in schema:
            yield self._target(name, schema["$ref"]), value, None
        for keyword in ("allOf", "anyOf", "oneOf"):
            for branch in schema.get(keyword, ()):
                yield (name, branch), value, None
        if "if" in schema:
            branch = "then" if self._condition(name, schema["if"]).is_valid(value) else "else"
            yield (name, schema.get(branch, True)), value, None
        if isinstance(value, dict):
            yield from self._members(name, schema, value)
        elif isinstance(value, list):
            first = schema.get("prefixItems", ())
            for index, item in enumerate(value):
                within = first[index] if index < len(first) else schema.get("items", True)
                yield (name, within), item, str(index)

    def _members(
        self, name: str, schema: Schema, value: dict[str, JSON]
    ) -> Iterator[tuple[tuple[str, Any], JSON, str | None]]:
        for key, member in value.items():
            governing = [schema["properties"][key]] if key in schema.get("properties", ()) else []
            governing += [
                sub for pattern, sub in schema.get("patternProperties", {}).items() if matches(pattern, key)
            ]
            for sub in governing or [schema.get("additionalProperties", True)]:
                yield (name, sub), member, key

    def _condition(self, name: str, schema: Schema) -> Any:
        if id(schema) not in self._conditions:
            where = self.location_of(schema)
            self._conditions[id(schema)] = self._validator(where) if where else self._compile(schema)
        return self._conditions[id(schema)]

    def _target(self, name: str, reference: str) -> tuple[str, Any]:
        document, _, fragment = reference.partition("#")
        if not document:
            return self._resolve(f"{name}#{fragment}")
        by_uri = {uri.rpartition("/")[2]: known for known, uri in self._uris.items()}
        return self._resolve(f"{by_uri.get(document.rpartition('/')[2], '')}#{fragment}")


def walk(node: JSON, where: str = "") -> Iterator[tuple[str, JSON]]:
    """Every object of a document with its JSON Pointer, the document itself first."""
    if isinstance(node, dict):
        yield where, node
        for key, value in node.items():
            yield from walk(value, where + jsontext.pointer([key]))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from walk(value, f"{where}/{index}")


def load(text: str, name: str) -> Schema:
    """A schema document from its text; BadPack where it is none."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise BadPack(f"{name} is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise BadPack(f"{name} is not a JSON object")
    return document
