"""Schemas of one pack: a local registry, the sender and receiver form, errata, and two engines.

The verdict comes from jsonschema-rs; only when it says no does jsonschema with referencing explain
which keyword failed where. Nothing is ever fetched: a reference that the pack does not hold is an
error of the pack. Engines are imported when first needed, so a valid message pays for one only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urldefrag, urljoin

from conformance import jsontext
from conformance.errors import BadPack
from conformance.events import JSON
from conformance.findings import BrokenConstraint
from conformance.patterns import matches

Schema = dict[str, Any]

_FRAGMENT = "/~$!&'()*+,;=:@?"  # what RFC 3986 lets stand in a fragment

EXPLAINED = 50
"""At most this many errors of one message are explained."""


class SenderForm(NamedTuple):
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

    Raises BadPack where an operation is another, or meets nothing or another value than it tests for.
    """
    root = deepcopy(document)
    for operation in patch:
        try:
            _operate(root, **operation)
        except (LookupError, TypeError, ValueError):
            raise BadPack(f"a patch cannot {operation.get('op')} {operation.get('path')!r}") from None
    return root


def _operate(node: JSON, op: str, path: str, value: JSON = None) -> None:
    *parents, last = jsontext.parts(path)
    for step in parents:
        node = node[_key(node, step)]
    if op == "add" and isinstance(node, list):
        node.insert(len(node) if last == "-" else range(len(node) + 1)[_key(node, last)], value)
        return
    key = _key(node, last)
    if op == "add":
        node[key] = value
        return
    found = node[key]
    if op == "remove":
        del node[key]
    elif op == "replace":
        node[key] = value
    elif op != "test" or found != value:
        raise ValueError(op)


def _key(node: JSON, step: str) -> Any:
    if isinstance(node, list):
        return int(step) if step.isdecimal() else step  # a step that is no index meets nothing
    return step


def canonical_uri(document: Schema, name: str) -> str:
    """The document's `$id`, or a URN of its file name where it has none."""
    return str(document.get("$id", f"urn:agent-conformance-kit:{name}"))


def _of_dialect(document: Schema, dialect: str, name: str) -> Schema:
    """The document without its `$schema`, which is the dialect's; the engines are told that apart.

    (jsonschema would take a document's own `$schema` for a wish to be judged without our keywords.)
    """
    said = document.get("$schema", dialect)
    if str(said).rstrip("#") != dialect.rstrip("#"):
        raise BadPack(f"{name} is written in {said}, and its pack in {dialect}")
    return {keyword: value for keyword, value in document.items() if keyword != "$schema"}


def _accepts(judge: Any, value: JSON) -> bool:
    try:
        return bool(judge.is_valid(value))
    except UnicodeEncodeError:
        return bool(judge.is_valid(jsontext.replace_lone_surrogates(value)))


class Schemas:
    """The documents of a pack in one form, ready to judge.

    `documents` maps file names to schema documents. A reference to one of their definitions is
    written `file.schema.json#/json/pointer`, wherever this class or a pack speaks of a location.
    """

    def __init__(self, documents: Mapping[str, Schema], dialect: str) -> None:
        self.dialect = dialect
        self.documents = {name: _of_dialect(document, dialect, name) for name, document in documents.items()}
        self._uris = {name: canonical_uri(document, name) for name, document in documents.items()}
        self._names = {uri: name for name, uri in self._uris.items()}
        self._located: dict[str, dict[int, str]] = {}
        self._marked: dict[frozenset[str], dict[int, str]] = {}
        self._validators: dict[str, Any] = {}
        self._targets: dict[tuple[str, str], tuple[str, Any]] = {}

    def uri(self, location: str) -> str:
        """The absolute URI of a location such as `file.schema.json#/$defs/name`."""
        name, _, fragment = location.partition("#")
        if name not in self._uris:
            raise BadPack(f"no schema document is named {name!r}; there are {', '.join(self._uris)}")
        return f"{self._uris[name]}#{quote(fragment, safe=_FRAGMENT)}"

    def is_valid(self, location: str, value: JSON) -> bool:
        """Whether the definition at `location` accepts the value; formats are asserted."""
        return _accepts(self._validator(location), value)

    def errors(self, location: str, value: JSON) -> list[BrokenConstraint]:
        """Every constraint that the value breaks, in document order; none where it is valid.

        No more than EXPLAINED of them. A lone surrogate counts as U+FFFD.
        """
        if self.is_valid(location, value):
            return []
        whole = jsontext.replace_lone_surrogates(value)
        explained: list[BrokenConstraint] = []
        with suppress(RecursionError):  # what was found before it counts
            for error in islice(self._explainer.explain(self.uri(location), whole), EXPLAINED):
                explained.append(error)
        explained = [error for error in explained if not self._is_vacuous(error, explained)]
        return explained or [self._unexplained(location, whole)]

    def _is_vacuous(self, error: BrokenConstraint, others: list[BrokenConstraint]) -> bool:
        """Whether a branch `then` applies only because the members that its `if` asks about are missing,
        which is an error of its own."""
        conditional, branch, _ = error.location.rpartition("/then/")
        asked = self._resolve(f"{conditional}/if")[1] if branch else True
        names = set(asked.get("properties", ())) if isinstance(asked, dict) else set()
        missing = {
            other.expected[0]
            for other in others
            if other.keyword == "required" and error.pointer.startswith(other.pointer) and other is not error
        }
        return bool(names) and names <= missing

    def _unexplained(self, location: str, value: JSON) -> BrokenConstraint:
        # The value nests too deeply for the second engine, or the two differ. The first one decided,
        # and its own words are all there is to say, if it too has not given up.
        try:
            error = next(self._validator(location).iter_errors(value))
        except ValueError:
            return BrokenConstraint("", location, "", "something nested deeply in it is not as it should be")
        where = jsontext.pointer(str(part) for part in error.instance_path)
        name, fragment = urldefrag(error.absolute_keyword_location)
        constraint = f"{self._names.get(name, name)}#{unquote(fragment)}"
        said = str(error.message)  # which may repeat the whole value: only its end says what is wrong
        said = said if len(said) < 300 else f"…{said[-200:]}"
        return BrokenConstraint(str(error.schema_path[-1]), constraint, where, said)

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
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            raise BadPack(f"a schema of this pack cannot be used: {error}") from None

    @cached_property
    def _registry(self) -> Any:
        import jsonschema_rs

        resources = [
            (self._uris[name], {"$schema": self.dialect, **document})
            for name, document in self.documents.items()
        ]
        return jsonschema_rs.Registry(resources)

    def _locations(self, name: str) -> dict[int, str]:
        """The location of each object of one document, by the object's identity."""
        if name not in self._located:
            self._located[name] = {id(node): f"{name}#{where}" for where, node in walk(self.documents[name])}
        return self._located[name]

    def _marks(self, wanted: frozenset[str]) -> dict[int, str]:
        """The wanted locations by the identity of the definitions that stand there."""
        if wanted not in self._marked:
            self._marked[wanted] = {id(self._resolve(location)[1]): location for location in wanted}
        return self._marked[wanted]

    def holds(self, location: str) -> bool:
        """Whether there is something at the location."""
        name, _, fragment = location.partition("#")
        document = self.documents.get(name, jsontext.MISSING)
        return jsontext.resolve(document, fragment) is not jsontext.MISSING

    def location_of(self, schema: Any) -> str:
        """Where a (sub)schema object of this registry stands; empty for a foreign one."""
        found = (self._locations(name).get(id(schema)) for name in self.documents)
        return next(filter(None, found), "")

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
        marks = self._marks(wanted)
        pending = [(self._resolve(location), value, "")]
        done: set[tuple[int, str]] = set()
        while pending:
            (name, schema), part, pointer = pending.pop()
            if not isinstance(schema, dict) or (id(schema), pointer) in done:
                continue
            done.add((id(schema), pointer))
            here = marks.get(id(schema))
            if here is not None:
                yield here, pointer, part
            inward = [
                (target, inner, pointer if step is None else pointer + jsontext.pointer([step]))
                for target, inner, step in self._next(name, schema, part)
            ]
            pending += reversed(inward)

    def _resolve(self, location: str) -> tuple[str, Any]:
        name, _, fragment = location.partition("#")
        if name not in self.documents or fragment[:1] not in ("", "/"):
            return "", True
        node = jsontext.resolve(self.documents[name], fragment)
        return name, True if node is jsontext.MISSING else node

    def _next(
        self, name: str, schema: Schema, value: JSON
    ) -> Iterator[tuple[tuple[str, Any], JSON, str | None]]:
        if "$ref" in schema:
            yield self._target(name, schema["$ref"]), value, None
        for keyword in ("allOf", "anyOf", "oneOf"):
            for branch in schema.get(keyword, ()):
                yield (name, branch), value, None
        if "if" in schema:
            branch = "then" if self._holds(name, schema["if"], value) else "else"
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

    def _holds(self, name: str, condition: Any, value: JSON) -> bool:
        if isinstance(condition, bool):
            return condition
        return self.is_valid(self._locations(name)[id(condition)], value)

    def _target(self, name: str, reference: str) -> tuple[str, Any]:
        key = name, reference
        if key not in self._targets:
            document, _, fragment = reference.partition("#")
            meant = self._names.get(urljoin(self._uris[name], document), "") if document else name
            self._targets[key] = self._resolve(f"{meant}#{unquote(fragment)}")
        return self._targets[key]


def walk(node: JSON, where: str = "") -> Iterator[tuple[str, JSON]]:
    """Every object of a document with its JSON Pointer, the document itself first."""
    if isinstance(node, dict):
        yield where, node
        for key, value in node.items():
            yield from walk(value, where + jsontext.pointer([key]))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from walk(value, f"{where}/{index}")


def fits(schema: Any, value: JSON) -> bool:
    """Whether a value fits a schema that stands alone (draft 2020-12, formats asserted)."""
    import jsonschema_rs

    try:
        judge = jsonschema_rs.validator_for(schema, validate_formats=True, offline=True)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise BadPack(f"a schema cannot be used: {error}") from None
    return _accepts(judge, value)


def embedded(schemas: Schemas, document: JSON, pointer: str) -> Callable[[JSON], bool] | None:
    """What judges by a schema that stands at a pointer of another document, where that is a schema.

    Its own references lead into that document, and absolute ones to the documents of `schemas`.
    """
    import jsonschema_rs

    home = "urn:agent-conformance-kit:embedded"
    held = [
        (schemas.uri(name).rstrip("#"), {"$schema": schemas.dialect, **schemas.documents[name]})
        for name in schemas.documents
    ]
    try:
        judge = jsonschema_rs.validator_for(
            {"$schema": schemas.dialect, "$ref": f"{home}#{quote(pointer, safe=_FRAGMENT)}"},
            registry=jsonschema_rs.Registry([*held, (home, {"$schema": schemas.dialect, **document})]),
            validate_formats=True,
            offline=True,
        )
    except (ValueError, jsonschema_rs.ReferencingError):
        return None
    return lambda value: _accepts(judge, value)


def load(text: str, name: str) -> Schema:
    """A schema document from its text; BadPack where it is none."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise BadPack(f"{name} is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise BadPack(f"{name} is not a JSON object")
    return document
