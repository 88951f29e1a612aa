"""Violations: for each constraint of a kind, at each place in a message, one message that breaks just that.

They are deterministic. With each comes its twin, a valid message that differs at that place only, so that
what is refused is refused for the constraint. What cannot be broken is named, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from conformance import jsontext
from conformance.bindings import written
from conformance.events import JSON
from conformance.generation import breaking
from conformance.generation.constraints import FRESH, OF_THE_KIND, Constraint, Spot, Walk, constraints
from conformance.generation.exactness import hit
from conformance.generation.kinds import HOME, KindMaker
from conformance.generation.reasons import Reasons
from conformance.generation.sampling import Sampler
from conformance.generation.twins import Home, Twins, put
from conformance.generation.wishes import Path, Wish, further
from conformance.jsontext import MISSING
from conformance.packs import Pack
from conformance.schemas import Schemas

TRIALS: tuple[JSON, ...] = (7, "wrong", True, None, {}, [], 0.5)
"""What is tried where any value is one too many."""

NAMES = (FRESH, "x-extra.extra", "x", "X", "_7")
"""Names of members that nobody knows."""


class Violation(NamedTuple):
    """A message, as a text, that breaks one constraint; `twin` is valid and differs at that place only.

    `schema` is the constraint's place in the schemas, `pointer` that in the message (a JSON Pointer).
    """

    schema: str
    keyword: str
    pointer: str
    text: str
    twin: str


class Unbroken(NamedTuple):
    """A constraint that no message was found to break, at a place in the message (a JSON Pointer), and why.

    The reason is empty where nobody knows.
    """

    schema: str
    keyword: str
    pointer: str
    reason: str = ""


class Workshop:
    """Breaks what the definition at `root` asks of the part at `at` of whatever has this `home`."""

    def __init__(self, schemas: Schemas, root: str, home: Home | None = None, at: str = "") -> None:
        self._schemas, self._root = schemas, root if "#" in root else f"{root}#"
        self._at, self._above = at, tuple(jsontext.parts(at))
        self._maker = Sampler(schemas)
        self._twins = Twins(schemas, self._maker, home or Home(self._root, self._root))
        self._reasons = Reasons(schemas, self._root)
        self._walk = Walk(self._maker.schemata, self._name, self._is_dead, self._reasons.covering)

    def constraints(self) -> Iterator[Constraint]:
        """Everything that can be broken, in the order in which the schemas say it."""
        for spot in self.spots:
            yield from constraints(spot)

    def all(self) -> Iterator[tuple[Constraint, Violation | Unbroken]]:
        """A violation of each constraint, or that there is none."""
        for constraint in self.constraints():
            yield constraint, self.broken(constraint)

    def broken(self, constraint: Constraint) -> Violation | Unbroken:
        """A violation of one constraint."""
        unbroken = Unbroken(constraint.location, constraint.keyword, self._at + constraint.spot.pointer)
        reason = self._reasons.at_once(constraint)
        if reason:
            return unbroken._replace(reason=reason)
        if self._twins.of(()) is MISSING:
            return unbroken._replace(reason=f"{OF_THE_KIND} is valid, as far as the kit finds")
        twin = self._twins.of(self._wishes(constraint))
        found = None if twin is MISSING else self._near(constraint, twin)
        if found is not None:
            return found
        reason = self._reasons.by_another(constraint, self._same_place(constraint))
        if reason:
            return unbroken._replace(reason=reason)
        found = self._in_one_more(constraint, twin)
        reason = "" if found else self._reasons.at_last(constraint)
        if found or reason:
            return found or unbroken._replace(reason=reason)
        return self._otherwise(constraint, twin) or unbroken

    def _near(self, constraint: Constraint, twin: JSON) -> Violation | None:
        """A message that breaks the constraint where the twin meets it."""
        for value in self._candidates(constraint, twin):
            pointer = self._hit(constraint, value)
            if pointer is not None:
                return self._told(constraint, pointer, value, twin)
        return None

    def _in_one_more(self, constraint: Constraint, twin: JSON) -> Violation | None:
        """The same in an item of an array that has another one that is as it should be."""
        spot = constraint.spot
        depth = next((at for at in reversed(range(len(spot.path))) if isinstance(spot.path[at], int)), None)
        if depth is None or twin is MISSING:
            return None
        above, index = spot.path[:depth], int(spot.path[depth])
        items = jsontext.resolve(twin, self._at + jsontext.pointer(above))
        if not isinstance(items, list) or index >= len(items):
            return None
        longer = put(twin, (*self._above, *above), [*items, items[index]])
        moved = constraint._replace(spot=spot.moved(depth, len(items)))
        return self._near(moved, longer) if self._twins.is_valid(longer) else None

    def twin(self, spot: Spot) -> tuple[str, str] | None:
        """The pointer of a spot in a message that has it, and the text of that; None where none was found."""
        found = self._twins.of(further(spot.wishes, self._above))
        return None if found is MISSING else (self._at + spot.pointer, written(found))

    def _same_place(self, constraint: Constraint) -> Iterator[Spot]:
        """The spots that govern the same part, whatever a value takes there."""
        spot = constraint.spot
        for other in self.spots:
            alike = (other.path, other.names, other.asked, other.dead) == (spot.path, spot.names, "", "")
            always = alike and all(wish.governs or wish in spot.wishes for wish in other.wishes)
            if always and other.location != spot.location:
                yield other

    @cached_property
    def spots(self) -> list[Spot]:
        """Every schema where it is met on the way from the definition."""
        return [*self._walk.spots(Spot(self._maker.schemata.at(self._root), self._root))]

    def _hit(self, constraint: Constraint, value: JSON) -> str | None:
        """The pointer where a message breaks just the constraint; None where it does not."""
        part = jsontext.resolve(value, self._at)
        found = None if part is MISSING else hit(self._schemas, self._root, part, constraint)
        return None if found is None else self._at + found.pointer

    def _told(self, constraint: Constraint, pointer: str, value: JSON, twin: JSON) -> Violation:
        return Violation(constraint.location, constraint.keyword, pointer, written(value), written(twin))

    def _wishes(self, constraint: Constraint) -> tuple[Wish, ...]:
        """What has to be there for the constraint to say something, in the message."""
        wishes, path = constraint.spot.wishes, constraint.spot.path
        if constraint.keyword in ("dependentRequired", "dependencies"):
            wishes = (*wishes, Wish((*path, constraint.detail.split(" ", 1)[0])))
        elif constraint.keyword in ("uniqueItems", "maxItems"):
            wishes = (*wishes, Wish((*path, 0)))
        elif constraint.spot.names:  # a member whose value another name can have
            name = self._name(constraint.spot, True)
            wishes = wishes if name is None else (*wishes, Wish((*path, name)))
        return further(wishes, self._above)

    def _is_dead(self, wishes: tuple[Wish, ...]) -> bool:
        wished = self._twins.schema(further(wishes, self._above))
        return self._maker.is_hopeless(self._maker.with_root(wished))

    def _name(self, spot: Spot, schema: Any) -> str | None:
        """A name of one more member of the object at the spot, which fits the schema."""
        fits = self._maker.with_root({"type": "string", "allOf": [schema]})
        for name in NAMES:
            if self._maker.accepts(fits, name):
                wishes = further((*spot.wishes, Wish((*spot.path, name))), self._above)
                if self._twins.of(wishes) is not MISSING:
                    return name
        member = Wish(spot.path, {"type": "object", "~member": {"names": schema, "values": True}})
        twin = self._twins.of(further((*spot.wishes, member), self._above))
        found = jsontext.resolve(twin, self._at + spot.pointer) if twin is not MISSING else {}
        return next((name for name in found if self._maker.accepts(fits, name)), None)

    def _candidates(self, constraint: Constraint, twin: JSON) -> Iterator[JSON]:
        """Messages that differ from the twin at the constraint's place."""
        spot, above = constraint.spot, self._above
        if spot.names:
            found = self._with_bad_name(constraint, twin)
        elif spot.site.schema is False:
            found = _with_one_more((*above, *spot.path), twin)
        else:
            part = jsontext.resolve(twin, self._at + spot.pointer)
            found = (put(twin, (*above, *spot.path), other) for other in self._others(constraint, part))
        yield from found

    def _others(self, constraint: Constraint, part: JSON) -> Iterator[JSON]:
        spot = constraint.spot
        yield from breaking.offers(part, spot.site.keywords, constraint.keyword, constraint.detail)
        if constraint.keyword != "$ref":
            yield from self._maker.values(spot.site, spot.location, constraint.keyword)

    def _with_bad_name(self, constraint: Constraint, twin: JSON) -> Iterator[JSON]:
        spot = constraint.spot
        members = jsontext.resolve(twin, self._at + spot.pointer)
        known = members if isinstance(members, dict) else {}
        names: Iterable[JSON] = NAMES if spot.site.schema is False else self._others(constraint, FRESH)
        path = (*self._above, *spot.path)
        for name in (name for name in names if isinstance(name, str)):
            yield from (put(twin, (*path, name), value) for value in (*known.values(), *TRIALS))
            for old, value in known.items():  # where there is no room for one more
                others = {key: part for key, part in known.items() if key != old}
                yield put(twin, path, {**others, name: value})

    def _otherwise(self, constraint: Constraint, twin: JSON) -> Violation | None:
        """Another message altogether that breaks the constraint, and a twin that is made of it."""
        spot = constraint.spot
        if isinstance(spot.site.schema, bool) or constraint.keyword == "$ref":
            return None
        whole = self._maker.with_root(self._twins.schema(self._wishes(constraint)))
        for value in self._maker.values(whole, spot.location, constraint.keyword):
            pointer = self._hit(constraint, value)
            healthy = MISSING if pointer is None else self._healed(value, (*self._above, *spot.path), twin)
            if pointer is not None and healthy is not MISSING:
                return self._told(constraint, pointer, value, healthy)
        return None

    def _healed(self, value: JSON, path: Path, twin: JSON) -> JSON:
        """The message with the twin's part at the path, or else a plain one; MISSING if not valid."""
        part = MISSING if twin is MISSING else jsontext.resolve(twin, jsontext.pointer(path))
        healed = (put(value, path, other) for other in ([] if part is MISSING else [part]) + [*TRIALS])
        return next(filter(self._twins.is_valid, healed), MISSING)


def _with_one_more(path: Path, twin: JSON) -> Iterator[JSON]:
    """The twin with a value at the path, or one more item in the array there."""
    part = jsontext.resolve(twin, jsontext.pointer(path))
    for value in TRIALS:
        if isinstance(part, list):
            yield from (put(twin, path, [*part, *[value] * count]) for count in range(1, 4))
        elif path and path[-1] == FRESH:
            yield from (put(twin, (*path[:-1], name), value) for name in NAMES)
        elif path:
            yield put(twin, path, value)


def workshop(pack: Pack, kind: str, *, form: str = "sender", as_published: bool = False) -> Workshop:
    """The workshop of a kind of a pack; NoSuchKind where it has none of that name."""
    found = pack.kind(kind)
    maker, known = (
        KindMaker(pack, found, form, as_published=as_published),
        pack.schemas(form, as_published=as_published),
    )
    schemas = Schemas({**known.documents, HOME: maker.schemas.documents[HOME]}, known.dialect)
    # The first part of its schema is the envelope with the kind's own; the others are what requirements ask.
    home = Home(f"{HOME}#/allOf/0", HOME, maker.is_valid, tuple(_specimens(pack, kind)))
    return Workshop(schemas, found.schema, home, found.at)


def _specimens(pack: Pack, kind: str) -> list[JSON]:
    """The valid messages of the kind that the pack has, the plain ones first, then the smallest."""
    found = pack.specimens.inside("messages/valid").like(f"{kind}.*json")
    plain = (f"{kind}.minimal.json", f"{kind}.json")
    read = ((name not in plain, path.read_text(encoding="utf-8"), name) for name, path in found.items())
    texts = (text for _, text, _ in sorted(read, key=lambda one: (one[0], len(one[1]), one[2])))
    return [parsed.value for parsed in map(jsontext.parse, texts) if not parsed.faults]


def violations(
    pack: Pack, kind: str, *, form: str = "sender", as_published: bool = False
) -> Iterator[Violation]:
    """Every violation of a kind, in the order in which its schemas state what they break."""
    found = workshop(pack, kind, form=form, as_published=as_published).all()
    return (one for _, one in found if isinstance(one, Violation))
