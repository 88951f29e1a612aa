"""Packs: one protocol revision each, as a folder of data: finding them, and reading them.

The data folders lie beside the package in a checkout and inside it in a wheel; `data_root` finds
either. Everything of a pack is read when first needed. A pack may name a `base`, an older revision of
its protocol; its own files then say only what is different (`revisions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from conformance import jsontext, lifecycles, revisions
from conformance.errors import BadPack, NoSuchKind, NoSuchPack
from conformance.events import JSON
from conformance.findings import Level, Requirement
from conformance.revisions import Layers
from conformance.schemas import Schemas, SenderForm, apply_patch, load
from conformance.shapes import Shape, shape
from conformance.wording import nearest


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
        own = _object(folder / "pack.json")
        base = self.base = _based_on(folder, own["base"]) if "base" in own else None
        with _reading(folder / "pack.json"):
            self.meta: dict[str, Any] = revisions.changed_pack(base.meta, own) if base else own
        lacking = [name for name in MEMBERS if name not in self.meta]
        if lacking:
            raise BadPack(f"{folder / 'pack.json'} lacks {', '.join(lacking)}")
        self.protocol: str = self.meta["protocol"]
        self.revision: str = self.meta["revision"]
        self.without: Mapping[str, str] = self.meta.get("without", {})
        """What the base has and this pack has not, and why: requirements, kinds, files, fixtures."""
        fixtures = folder.parents[2] / "fixtures" / folder.parent.name / folder.name
        self.data: Layers = Layers(folder, base.data if base else None, self.without)
        self.specimens: Layers = Layers(fixtures, base.specimens if base else None, self.without)
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
        """The folder of this pack's own scenarios, messages, transcripts and reference implementations.

        Those of its base that hold here too are among its `specimens`.
        """
        return self.specimens.own

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
        names = [kind.name for kind in self.kinds]
        raise NoSuchKind(f"{self.name} has no kind {name!r}{_meant(name, names)}; it has {', '.join(names)}")

    @cached_property
    def requirements(self) -> dict[str, Requirement]:
        """Every requirement by id: the pack's own, then the kit's own of the wire."""
        path = self.folder / "requirements.json"
        with _reading(path):
            rows = [*map(_requirement, self.rows), *wire_requirements(self.folder.parents[2]).values()]
        twice = revisions.repeated(row.id for row in rows)
        if twice:
            raise BadPack(f"{path} has more than one row of {', '.join(twice)}")
        return {row.id: row for row in rows}

    @cached_property
    def rows(self) -> list[Mapping[str, Any]]:
        """The pack's own requirements as its files have them, those of the base included."""
        path = self.folder / "requirements.json"
        with _reading(path):
            if self.base is None:
                return list(_object(path)["requirements"])
            changes = _object(path)["changes"] if path.is_file() else ()
            return revisions.changed_rows(self.base.rows, changes, "id", self.without)

    @cached_property
    def lifecycles(self) -> dict[str, tuple[lifecycles.Lifecycle, list[dict[str, Any]]]]:
        """Name → the table and the rows that say which kind moves what to which state."""
        found = {}
        for row in self.meta.get("lifecycles", ()):
            path = self.data.at(row["file"])
            with _reading(path):
                table = lifecycles.read(_object(path))
                found[table.name] = (table, row["moves"])
        return found

    @cached_property
    def errata(self) -> tuple[Erratum, ...]:
        """The repairs that this pack makes to its published schemas."""
        path = self.data.at("errata.json")
        with _reading(path):
            return tuple(Erratum(**row) for row in (_object(path)["errata"] if path.is_file() else []))

    @cached_property
    def _published(self) -> dict[str, JSON]:
        named = self.data.like("**/*.schema.json")
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
        if self.shape(value):
            return self._has_method_of(value)
        return any(is_one(value) for is_one in self._documents)

    @cached_property
    def shape(self) -> Shape:
        """Whether a value has the shape of the protocol's messages."""
        return shape(self.meta["recognise"])

    @cached_property
    def _documents(self) -> list[Shape]:
        return [shape(kind.when["schema"]) for kind in self.kinds if kind.document and "schema" in kind.when]

    def _has_method_of(self, value: JSON) -> bool:
        """Whether a JSON-RPC message, if it is one and calls a method, calls one of this protocol's."""
        if self.meta.get("envelope") != "json-rpc" or "method" not in value:
            return True
        return any(kind.when.get("method") == value["method"] for kind in self.kinds)


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


def _based_on(folder: Path, revision: str) -> Pack:
    """The pack that the one in `folder` is based on; BadPack where it is none, or no older one."""
    if _age(revision) >= _age(folder.name):
        raise BadPack(f"{folder / 'pack.json'} is based on {revision}, which is no older revision")
    return _at(folder.parent / revision)


@cache
def _at(folder: Path) -> Pack:
    """The one pack of a folder: what is based on it reads nothing again."""
    return Pack(folder)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadPack(f"{path} is not what it should be ({type(error).__name__}: {error})") from None


@cache
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
    packs = [_at(path.parent) for path in folder.glob("*/*/pack.json")]
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
    meant = _meant(protocol, [pack.protocol for pack in find_all()])
    raise NoSuchPack(f"there is no pack {name!r}{meant}; there is {there_is}")


def _meant(word: str, names: Iterable[str]) -> str:
    near = nearest(word, names)
    return f" (did you mean {near}?)" if near else ""


def pointer_value(value: JSON, where: str) -> JSON:
    """The value at a JSON Pointer, or None where there is none."""
    found = jsontext.resolve(value, where)
    return None if found is jsontext.MISSING else found
