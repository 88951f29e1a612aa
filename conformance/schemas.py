"""Schemas of one pack: a local registry, the sender and receiver form, errata, and two engines.

The verdict comes from jsonschema-rs; only when it says no does jsonschema with referencing explain
which keyword failed where. Nothing is ever fetched: a reference that the pack does not hold is an
error of the pack. Engines are imported when first needed, so a valid message pays for one only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urldefrag

import orjson

from conformance import jsontext
from conformance.errors import BadPack
from conformance.events import JSON
from conformance.extracts import extract, needed
from conformance.findings import BrokenConstraint
from conformance.places import Places, walk
from conformance.rephrasing import rephrased
from conformance.stringformats import CHECKS

Schema = dict[str, Any]

_FRAGMENT = "/~$!&'()*+,;=:@?"  # what RFC 3986 lets stand in a fragment

DRAFT_7 = "http://json-schema.org/draft-07/schema"
DRAFT_2020_12 = "https://json-schema.org/draft/2020-12/schema"
_DRAFTS = {DRAFT_7: "Draft7", DRAFT_2020_12: "Draft202012"}  # by the names that the first engine gives them

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
    return str(document.get("$id", f"urn:agent-conformance-kit:{name}")).rstrip("#")


def _of_dialect(document: Schema, dialect: str, name: str) -> Schema:
    """The document without its `$schema`, which is the dialect's; the engines are told that apart.

    (jsonschema would take a document's own `$schema` for a wish to be judged without our keywords.)
    """
    said = document.get("$schema", dialect)
    if str(said).rstrip("#") != dialect.rstrip("#"):
        raise BadPack(f"{name} is written in {said}, and its pack in {dialect}")
    return {keyword: value for keyword, value in document.items() if keyword != "$schema"}


class Schemas:
    """The documents of a pack in one form, ready to judge.

    `documents` maps file names to schema documents. A reference to one of their definitions is
    written `file.schema.json#/json/pointer`, wherever this class or a pack speaks of a location.
    """

    def __init__(self, documents: Mapping[str, Schema], dialect: str) -> None:
        self._draft = dialect.rstrip("#")
        if self._draft not in _DRAFTS:
            raise BadPack(f"{dialect!r} is no dialect that the kit judges by; those are {', '.join(_DRAFTS)}")
        self.dialect = dialect
        self.documents = {name: _of_dialect(document, dialect, name) for name, document in documents.items()}
        self.uris = {name: canonical_uri(document, name) for name, document in documents.items()}
        self._names = {uri: name for name, uri in self.uris.items()}
        self._located: dict[str, dict[int, str]] = {}
        self._conditions: dict[int, str] = {}
        self._validators: dict[str, Any] = {}
        self._judges: dict[str, Callable[[JSON], bool]] = {}
        self.embedded: dict[tuple[str, str | bytes], Callable[[JSON], bool] | None] = {}

    def uri(self, location: str) -> str:
        """The absolute URI of a location such as `file.schema.json#/$defs/name`."""
        name, _, fragment = location.partition("#")
        if name not in self.uris:
            raise BadPack(f"no schema document is named {name!r}; there are {', '.join(self.uris)}")
        return f"{self.uris[name]}#{quote(fragment, safe=_FRAGMENT)}"

    def is_valid(self, location: str, value: JSON) -> bool:
        """Whether the definition at `location` accepts the value; formats are asserted."""
        judge = self._judges.get(location)
        if judge is None:
            judge = self._judges[location] = self._validator(location).is_valid
        try:
            return judge(value)
        except UnicodeEncodeError:
            return judge(jsontext.replace_lone_surrogates(value))

    def judge(self, schema: Schema, location: str) -> Callable[[JSON], bool]:
        """What judges by a schema that refers to these documents by URIs, and has the formats of one place.

        It does not take lone surrogates.
        """
        checks = CHECKS if self._places.may_meet(location, CHECKS) else {}
        whole = {"$schema": self.dialect, **rephrased(schema)}
        found: Callable[[JSON], bool] = _judge(whole, formats=checks, registry=self._registry).is_valid
        return found

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

    def broken(self, location: str, value: JSON) -> list[tuple[str, str]]:
        """(location of a constraint, pointer into the value) for what the first engine has against a value.

        Quick, and without an explanation: of a choice it is the choice itself that fails.
        """
        return [self._placed(error) for error in self._validator(location).iter_errors(value)]

    def _placed(self, error: Any) -> tuple[str, str]:
        name, fragment = urldefrag(error.absolute_keyword_location)
        where = jsontext.pointer(str(part) for part in error.instance_path)
        return f"{self._names.get(name, name)}#{unquote(fragment)}", where

    def _is_vacuous(self, error: BrokenConstraint, others: list[BrokenConstraint]) -> bool:
        """Whether a branch `then` applies only because the members that its `if` asks about are missing,
        which is an error of its own."""
        conditional, branch, _ = error.location.rpartition("/then/")
        name, _, fragment = conditional.partition("#")
        asked = jsontext.resolve(self.documents[name], f"{fragment}/if") if branch else True
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
        constraint, where = self._placed(error)
        said = str(error.message)  # which may repeat the whole value: only its end says what is wrong
        said = said if len(said) < 300 else f"…{said[-200:]}"
        return BrokenConstraint(str(error.schema_path[-1]), constraint, where, said)

    def _validator(self, location: str) -> Any:
        if location not in self._validators:
            schema = {"$schema": self.dialect, "$ref": self.uri(location)}
            checks = CHECKS if self._places.may_meet(location, CHECKS) else {}
            self._validators[location] = _judge(schema, formats=checks, registry=self._registry)
        return self._validators[location]

    @cached_property
    def _registry(self) -> Any:
        import jsonschema_rs

        resources = [
            (self.uris[name], {"$schema": self.dialect, **rephrased(document)})
            for name, document in self.documents.items()
        ]
        with _blaming_the_schema():
            return jsonschema_rs.Registry(resources, draft=getattr(jsonschema_rs, _DRAFTS[self._draft]))

    def canonical(self, location: str) -> Any:
        """The definition in the first engine's own form, with which one can compute."""
        import jsonschema_rs

        schema = {"$schema": self.dialect, "$ref": self.uri(location)}
        return jsonschema_rs.canonicalize(
            schema, registry=self._registry, validate_formats=True, offline=True
        )

    def size(self, location: str) -> int:
        """How many objects and arrays the definition consists of, with those of what it refers to."""
        return self._places.size(location)

    def _locations(self, name: str) -> dict[int, str]:
        """The location of each object of one document, by the object's identity."""
        if name not in self._located:
            self._located[name] = {id(node): f"{name}#{where}" for where, node in walk(self.documents[name])}
        return self._located[name]

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

        return explain.Explainer(self.documents, self.uris, self.dialect, self.location_of, self._members_of)

    def _members_of(self, schema: Any) -> Mapping[str, Any]:
        location = self.location_of(schema)
        return self._places.members(location) if location else {}

    def places(self, location: str, value: JSON, wanted: frozenset[str]) -> Iterator[tuple[str, str, JSON]]:
        """(wanted location, pointer, value) for each part of `value` that a wanted definition governs."""
        return self._places.of(location, value, wanted)

    def overlay(self, location: str, wanted: Mapping[str, Schema]) -> Schema | None:
        """A schema that holds what `places` finds to what is wanted there; None where none can say that."""
        found = self._places.overlay(location, wanted)
        return None if found is None else dict(found)

    @cached_property
    def _places(self) -> Places:
        return Places(self.documents, self.uris, self._draft == DRAFT_7, self._holds)

    def _holds(self, condition: Any, value: JSON) -> bool:
        if id(condition) not in self._conditions:
            self._conditions[id(condition)] = self.location_of(condition)
        return self.is_valid(self._conditions[id(condition)], value)


@contextmanager
def _blaming_the_schema() -> Iterator[None]:
    import jsonschema_rs

    try:
        yield
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise BadPack(f"a schema cannot be used: {_short(str(error).partition(chr(10))[0])}") from None


def _short(said: str) -> str:
    return said if len(said) <= SAID else f"{said[: SAID - 100]}…{said[-100:]}"


SAID = 400
"""So many characters of what an engine says of a schema are told: it repeats what the schema holds."""


def check(schema: dict[str, Any], dialect: str, name: str) -> None:
    """Raise BadPack where a document is no schema of the dialect, by the dialect's own schema of schemas."""
    import jsonschema_rs

    try:
        jsonschema_rs.meta.validate({**schema, "$schema": dialect})
    except jsonschema_rs.ValidationError as error:
        where = jsontext.pointer([str(step) for step in error.instance_path])
        raise BadPack(f"a schema cannot be used: {name}#{where}: {_short(error.message)}") from None


def _judge(schema: Any, **options: Any) -> Any:
    import jsonschema_rs

    with _blaming_the_schema():
        return jsonschema_rs.validator_for(schema, validate_formats=True, offline=True, **options)


def fits(schema: Any, value: JSON) -> bool:
    """Whether a value fits a schema that stands alone (draft 2020-12, formats asserted)."""
    judge = _judge(rephrased(schema), formats=CHECKS)
    try:
        return bool(judge.is_valid(value))
    except UnicodeEncodeError:
        return bool(judge.is_valid(jsontext.replace_lone_surrogates(value)))


def embedded(schemas: Schemas, document: JSON, pointer: str) -> Callable[[JSON], bool] | None:
    """What judges by a schema that stands at a pointer of another document: see `_embedded`.

    One session after the other has the same schema, and one judge of it serves for all.
    """
    document = extract(document, pointer)
    key = pointer, _written(document)
    known = schemas.embedded
    if key not in known:
        if len(known) >= EMBEDDED:
            known.clear()
        known[key] = _embedded(schemas, document, pointer)
    return known[key]


def _written(document: JSON) -> str | bytes:
    try:
        return orjson.dumps(document)
    except (TypeError, UnicodeEncodeError):  # a number that it does not hold, or half a character
        return json.dumps(document, default=str)


EMBEDDED = 256
"""So many judges of embedded schemas are kept."""


def _embedded(schemas: Schemas, document: JSON, pointer: str) -> Callable[[JSON], bool] | None:
    """What judges by a schema that stands at a pointer of another document, where that is a schema.

    Its own references lead into that document, and absolute ones to the documents of `schemas`.
    """
    home = "embedded"
    bare = {name: part for name, part in document.items() if name not in ("$id", "$schema")}
    others = {name: schemas.documents[name] for name in needed(bare, schemas.documents, schemas.uris)}
    known = Schemas({**others, home: bare}, schemas.dialect)
    location = f"{home}#{pointer}"
    try:
        known.is_valid(location, None)
    except BadPack:
        return None
    return lambda value: known.is_valid(location, value)


def load(text: str, name: str) -> Schema:
    """A schema document from its text; BadPack where it is none."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise BadPack(f"{name} is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise BadPack(f"{name} is not a JSON object")
    return document
