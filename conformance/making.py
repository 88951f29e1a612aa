"""`generate`: messages made to order, one JSON text a line.

Each way of making has a function here that gives the lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urldefrag, urljoin

from conformance import packs
from conformance.bindings import written
from conformance.errors import BadPack, UsageError
from conformance.generation import coverage, supply
from conformance.generation.building import NothingFits
from conformance.generation.choosing import Seeded
from conformance.generation.coverage import Tally
from conformance.generation.supply import Supply
from conformance.generation.violations import Violation, Workshop, workshop
from conformance.jsontext import Parsed, decode, parse
from conformance.schemas import Schemas


class Request(NamedTuple):
    """What to make: see `conformance generate --help`."""

    protocol: str = ""
    kind: str = ""
    schema: Path | None = None
    number: int = 1
    seed: int = 0
    form: str = "sender"
    as_published: bool = False
    invalid: bool = False
    bare: bool = False
    coverage: bool = False


def lines(request: Request) -> Iterator[str]:
    """The lines that `generate` prints; NothingFits where nothing can be made."""
    try:
        yield from _lines(request)
    except RecursionError:
        whose = f"the schema {request.schema}" if request.schema else f"a schema of {request.protocol}"
        raise NothingFits(f"{whose} nests too deeply for the kit") from None


def _lines(request: Request) -> Iterator[str]:
    if request.bare and not request.invalid:
        raise UsageError("--bare goes with --invalid; valid messages are bare")
    if not (request.invalid or request.coverage):
        return valid(source(request), request)
    if request.invalid and request.coverage:
        raise UsageError("--invalid prints messages and --coverage counts them: one or the other")
    if (request.number, request.seed) != (1, 0):
        raise UsageError("-n and --seed are for valid messages: of each violation there is one")
    return coverage.table(_tallies(request)) if request.coverage else invalid(request)


def valid(made: Supply, request: Request) -> Iterator[str]:
    """Valid messages; the nth is the same however many there are."""
    for number in range(request.number):
        yield written(made.take(Seeded(f"{request.seed}/{number}")))


def invalid(request: Request) -> Iterator[str]:
    """A message for each constraint that can be broken, with what it breaks; that is left out if `bare`."""
    _, shop = next(_workshops(request))
    for _, one in shop.all():
        if isinstance(one, Violation):
            violates = {"schema": one.schema, "keyword": one.keyword, "pointer": one.pointer}
            yield one.text if request.bare else json.dumps({"violates": violates, "text": one.text})


def _tallies(request: Request) -> Iterator[Tally]:
    return (coverage.tally(name, shop) for name, shop in _workshops(request))


def _workshops(request: Request) -> Iterator[tuple[str, Workshop]]:
    """What breaks constraints: of the schema, of the kind, or of every kind where none is named."""
    if request.schema is not None:
        _either(request)
        yield str(request.schema), Workshop(schemas_of(request.schema), supply.HOME)
        return
    if not request.protocol or not (request.kind or request.coverage):
        raise UsageError("say what to break: a PROTOCOL and one of its kinds, or --schema FILE")
    pack = packs.find(request.protocol)
    for name in [request.kind] if request.kind else [kind.name for kind in pack.kinds]:
        yield name, workshop(pack, name, form=request.form, as_published=request.as_published)


def _either(request: Request) -> None:
    if request.protocol or request.kind:
        raise UsageError("messages are made of a PROTOCOL's KIND or of a schema file, not of both")


def source(request: Request) -> Supply:
    """What makes the messages that are asked for; UsageError where that is not said, or twice."""
    if request.schema is not None:
        _either(request)
        return of_file(request.schema)
    if not request.protocol or not request.kind:
        raise UsageError("say what to make: a PROTOCOL and one of its kinds, or --schema FILE")
    [made] = supply.of_kinds(request.protocol, request.kind, request.form, as_published=request.as_published)
    return made


def of_file(path: Path) -> Supply:
    """Values of the schema in a file, which may refer to files beside it; BadPack where it is none."""
    return supply.of_schema(*_with_others(path), str(path))


def schemas_of(path: Path) -> Schemas:
    """The same schema, and those that it refers to, as they are judged by."""
    return supply.schemas_of(*_with_others(path), str(path))


def _with_others(path: Path) -> tuple[Any, dict[str, Any]]:
    named = _read(path)
    if isinstance(named, bool):
        return named, {}
    documents = {str(path): _with_id(named, path)}
    todo = [(path, named)]
    while todo:
        home, document = todo.pop()
        for other in _beside(home, document):
            if str(other) not in documents:
                found = _read(other)
                documents[str(other)] = _with_id(found, other, documents[str(home)]["$id"], home)
                todo.append((other, found))
    return documents.pop(str(path)), documents


def _read(path: Path) -> Any:
    try:
        text, faults = decode(path.read_bytes())
    except OSError as error:
        raise BadPack(f"{path} cannot be read: {error.strerror}") from None
    document, found = parse(text) if text is not None else Parsed(None)
    for fault in (*faults, *found):
        raise BadPack(f"{path}:{fault.line}:{fault.column} is not JSON: {fault.message}")
    if not isinstance(document, (bool, dict)):
        raise BadPack(f"{path} is no JSON Schema: it is neither an object nor a boolean")
    return document


def _with_id(document: Any, path: Path, base: str = "", home: Path | None = None) -> Any:
    """The document with an `$id`, which its own references, and those to it, are relative to."""
    if "$id" in document:
        return document
    near = path.resolve().as_uri()
    if base and home is not None and not base.startswith("file:"):
        near = urljoin(base, path.relative_to(home.parent).as_posix())
    return {**document, "$id": near}


def _beside(home: Path, document: Any) -> Iterator[Path]:
    """The files that a document refers to, by names relative to its own."""
    for reference in _references(document):
        name = urldefrag(reference).url
        if name and ":" not in name:
            path = home.parent / name
            if path.is_file():
                yield path


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        yield from chain.from_iterable(map(_references, node.values()))
    elif isinstance(node, list):
        yield from chain.from_iterable(map(_references, node))
