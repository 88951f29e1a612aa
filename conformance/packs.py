"""Packs: one protocol revision each, as a folder of data. Finding them, reading them, their problems.

The data folders lie beside the package in a checkout and inside it in a wheel; `data_root` finds
either. Everything of a pack is read when first needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from conformance import jsontext, lifecycles
from conformance.errors import BadPack, NoSuchKind, NoSuchPack
from conformance.events import JSON
from conformance.findings import Level, Requirement
from conformance.schemas import Schemas, SenderForm, apply_patch, load


def data_root() -> Path:
    """The folder that holds `schemas/` and `fixtures/`."""
    packaged = Path(__file__).parent / "data"
    return packaged if packaged.is_dir() else Path(__file__).parents[1]


class Kind(NamedTuple):
    """One sort of message: who sends it, how to know it, which definition judges it.

    `when` is `{"pointer", "equals"}`, `{"method", "part"}` (JSON-RPC) or `{"schema": …}`; `at` is the
    pointer of the part of the message that `schema` (a location) judges.
    """

    name: str
    senders: tuple[str, ...]
    when: Mapping[str, Any]
    schema: str
    at: str = ""
    document: bool = False
    summary: str = ""


class Erratum(NamedTuple):
    """A repair of a published schema that contradicts its own protocol, with the message that shows it."""

    id: str
    reason: str
    schema: str
    patch: list[dict[str, Any]]
    witness: Mapping[str, Any]


MEMBERS = ("protocol", "revision", "prefix", "dialect", "roles", "certifies", "recognise", "kinds")
"""What a `pack.json` cannot do without."""


class Pack:
    """One protocol revision. Raises BadPack when one of its files is not what it should be."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.meta = _object(folder / "pack.json")
        lacking = [name for name in MEMBERS if name not in self.meta]
        if lacking:
            raise BadPack(f"{folder / 'pack.json'} lacks {', '.join(lacking)}")
        self.protocol: str = self.meta["protocol"]
        self.revision: str = self.meta["revision"]
        self._schemas: dict[tuple[str, bool], Schemas] = {}

    @property
    def name(self) -> str:
        """`protocol@revision`."""
        return f"{self.protocol}@{self.revision}"

    def __repr__(self) -> str:
        """For people and for the names of tests: the same in every process."""
        return f"Pack({self.name})"

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that the protocol knows."""
        return tuple(self.meta["roles"])

    @property
    def certifies(self) -> str:
        """The role that a run certifies unless told otherwise."""
        return str(self.meta["certifies"])

    def peer_of(self, role: str) -> str:
        """The role that the kit plays towards an implementation in `role`; empty where there is only one."""
        return next((other for other in self.roles if other != role), "")

    @property
    def unknown_kind_id(self) -> str:
        """The requirement that a message of no known kind breaks."""
        return str(self.meta.get("unknown", f"{self.meta['prefix']}-MSG-001"))

    @property
    def secrets(self) -> tuple[str, ...]:
        """Member names whose string values never reach disk."""
        return tuple(self.meta.get("secrets", ()))

    @property
    def fixtures(self) -> Path:
        """The folder of this pack's scenarios, messages, transcripts and reference implementations."""
        return self.folder.parents[2] / "fixtures" / self.folder.parent.name / self.folder.name

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """Every kind, in the order in which they are tried."""
        with _reading(self.folder / "pack.json"):
            return tuple(
                Kind(
                    name=row["name"],
                    senders=tuple(row["from"]),
                    when=row["when"],
                    schema=row["schema"],
                    at=row.get("at", ""),
                    document=row.get("document", False),
                    summary=row.get("summary", ""),
                )
                for row in self.meta["kinds"]
            )

    def kind(self, name: str) -> Kind:
        """The kind of that name; NoSuchKind lists what there is."""
        for kind in self.kinds:
            if kind.name == name:
                return kind
        there_is = ", ".join(kind.name for kind in self.kinds)
        raise NoSuchKind(f"{self.name} has no kind {name!r}; it has {there_is}")

    @cached_property
    def requirements(self) -> dict[str, Requirement]:
        """Every requirement by id: the pack's own, then the kit's own of the wire."""
        path = self.folder / "requirements.json"
        with _reading(path):
            own = _object(path)["requirements"]
            rows = [*map(_requirement, own), *wire_requirements(self.folder.parents[2]).values()]
        twice = [name for name, count in Counter(row.id for row in rows).items() if count > 1]
        if twice:
            raise BadPack(f"{path} has more than one row of {', '.join(twice)}")
        return {row.id: row for row in rows}

    @cached_property
    def lifecycles(self) -> dict[str, tuple[lifecycles.Lifecycle, list[dict[str, Any]]]]:
        """Name → the table and the rows that say which kind moves what to which state."""
        found = {}
        for row in self.meta.get("lifecycles", ()):
            with _reading(self.folder / row["file"]):
                table = lifecycles.read(_object(self.folder / row["file"]))
                found[table.name] = (table, row["moves"])
        return found

    @cached_property
    def errata(self) -> tuple[Erratum, ...]:
        """The repairs that this pack makes to its published schemas."""
        path = self.folder / "errata.json"
        with _reading(path):
            return tuple(Erratum(**row) for row in (_object(path)["errata"] if path.is_file() else []))

    @cached_property
    def _published(self) -> dict[str, JSON]:
        files = sorted(self.folder.rglob("*.schema.json"))
        named = {path.relative_to(self.folder).as_posix(): path for path in files}
        if self.meta.get("envelope") == "json-rpc":
            named["jsonrpc.schema.json"] = self.folder.parents[1] / "kit" / "jsonrpc.schema.json"
        return {name: load(path.read_text(encoding="utf-8"), str(path)) for name, path in named.items()}

    def schemas(self, form: str = "sender", *, as_published: bool = False) -> Schemas:
        """The schemas in `sender` or `receiver` form, repaired unless `as_published`."""
        key = (form, as_published)
        if key not in self._schemas:
            documents = self._published if as_published else self.repaired(self.errata)
            shape = self.meta.get("sender_form")
            if form == "sender" and shape:
                documents = {name: SenderForm(**shape).of(document) for name, document in documents.items()}
            self._schemas[key] = Schemas(documents, self.meta["dialect"])
        return self._schemas[key]

    def repaired(self, errata: tuple[Erratum, ...]) -> dict[str, JSON]:
        """The published documents with these errata applied."""
        documents = dict(self._published)
        for erratum in errata:
            documents[erratum.schema] = apply_patch(documents[erratum.schema], erratum.patch)
        return documents

    @cached_property
    def conditions(self) -> Schemas:
        """The JSON Schemas inside requirement rows; the one of a row's nth check is `ID#/n/when`."""
        documents = {
            name: {str(place): check for place, check in enumerate(row.checks)}
            for name, row in self.requirements.items()
            if any("then" in check for check in row.checks)
        }
        return Schemas(documents, self.meta["dialect"])

    def recognises(self, value: JSON) -> bool:
        """Whether a message, or a document, may belong to this protocol."""
        return simply_fits(self.meta["recognise"], value)

    def problems(self) -> Iterator[str]:
        """What is wrong with this pack's own tables, one sentence each."""
        for said in self._problems():
            yield f"{self.name}: {said}"

    def _problems(self) -> Iterator[str]:
        for kind in self.kinds:
            if not self.schemas().holds(kind.schema):
                yield f"{kind.name} is judged by {kind.schema}, which is nowhere"
        for requirement in self.requirements.values():
            yield from self._problems_of(requirement)
        for name, (table, moves) in self.lifecycles.items():
            for move in moves:
                yield from self._unknown_kinds(f"lifecycle {name} is moved", move)
                target = move.get("to")
                if target is not None and target not in table.classes:
                    yield f"lifecycle {name} moves to {target!r}, which is no state of it"

    def _problems_of(self, requirement: Requirement) -> Iterator[str]:
        said = [
            bool(requirement.checks),
            bool(requirement.excluded),
            bool(requirement.untested or requirement.manual),
        ]
        if sum(said) != 1:
            yield (
                f"{requirement.id} needs exactly one of a check (or a scenario that proves it), "
                "`excluded`, and `untested` or `manual`"
            )
        if requirement.role not in (*self.roles, "both"):
            yield f"{requirement.id} names the unknown role {requirement.role!r}"
        for check in requirement.checks:
            yield from self._unknown_kinds(f"{requirement.id} is judged", check)
            for place in (*check.get("u53", ()), *check.get("i53", ())):
                if not self.schemas().holds(place):
                    yield f"{requirement.id} is judged at {place}, which is nowhere"
        for claim in requirement.claims:
            yield from self._unknown_kinds(f"{requirement.id} claims something", claim)
            if "at" in claim and not self.schemas().holds(claim["at"]):
                yield f"{requirement.id} claims {claim['at']}, which is nowhere"

    def _unknown_kinds(self, said: str, row: Mapping[str, Any]) -> Iterator[str]:
        known = {"*", *(kind.name for kind in self.kinds)}
        for name in (
            *row.get("on", ()),
            *row.get("with", ()),
        ):
            if name.removesuffix(".error") not in known:
                yield f"{said} on the unknown kind {name!r}"


def simply_fits(schema: Mapping[str, Any], value: JSON) -> bool:
    """Whether the value fits a small schema of `required`, `properties`, `const`, `enum`, `not`, `anyOf`.

    The few keywords that recognition needs, without an engine: every pack is asked about every
    message whose protocol is not known yet.
    """
    if "const" in schema and value != schema["const"]:
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "not" in schema and simply_fits(schema["not"], value):
        return False
    if "anyOf" in schema and not any(simply_fits(choice, value) for choice in schema["anyOf"]):
        return False
    if "required" not in schema and "properties" not in schema:
        return True
    if not isinstance(value, dict) or any(name not in value for name in schema.get("required", ())):
        return False
    members = schema.get("properties", {}).items()
    return all(name not in value or simply_fits(sub, value[name]) for name, sub in members)


def _requirement(row: Mapping[str, Any]) -> Requirement:
    checks = row.get("check", [])
    return Requirement(
        id=row["id"],
        level=Level(row["level"]),
        role=row["role"],
        summary=row["summary"],
        reference=row.get("reference", ""),
        area=row.get("area", ""),
        checks=tuple(checks if isinstance(checks, list) else [checks]),
        claims=tuple(row.get("claims", ())),
        excluded=row.get("excluded", ""),
        untested=row.get("untested", ""),
        manual=row.get("manual", ""),
        part=row.get("part", ""),
    )


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadPack(f"{path} is not what it should be ({type(error).__name__}: {error})") from None


def wire_requirements(root: Path | None = None) -> dict[str, Requirement]:
    """The kit's own requirements of every text, whatever the protocol, by id."""
    rows = _object((root or data_root()) / "schemas" / "kit" / "wire.json")["requirements"]
    return {row["id"]: _requirement(row) for row in rows}


def _object(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadPack(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadPack(f"{path} is not UTF-8") from None
    return load(text, str(path))


@cache
def find_all(root: Path | None = None) -> tuple[Pack, ...]:
    """Every pack, by protocol and then by revision, the newest first within a protocol."""
    folder = (root or data_root()) / "schemas"
    packs = [Pack(path.parent) for path in folder.glob("*/*/pack.json")]
    packs.sort(key=lambda pack: _age(pack.revision), reverse=True)
    packs.sort(key=lambda pack: pack.protocol)
    return tuple(packs)


def _age(revision: str) -> tuple[tuple[int, str], ...]:
    # Numbers compare as numbers, so that draft.12 is newer than draft.7; and what ends is newer than what
    # goes on with a word, so that a release is newer than its drafts.
    tokens = revision.replace("-", ".").split(".")
    return *((int(token), "") if token.isdecimal() else (-1, token) for token in tokens), (0, "")


def find(name: str) -> Pack:
    """The pack of `protocol` (its newest revision) or `protocol@revision`; NoSuchPack lists the others."""
    protocol, _, revision = name.partition("@")
    known = [pack for pack in find_all() if pack.protocol == protocol]
    for pack in known:
        if revision in ("", pack.revision):
            return pack
    there_is = ", ".join(pack.name for pack in (known or find_all()))
    raise NoSuchPack(f"there is no pack {name!r}; there is {there_is}")


def pointer_value(value: JSON, where: str) -> JSON:
    """The value at a JSON Pointer, or None where there is none."""
    found = jsontext.resolve(value, where)
    return None if found is jsontext.MISSING else found
