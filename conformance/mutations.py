"""What can be broken in the traffic of a healthy implementation, whatever its protocol.

Each mutation is one general operation. Where it applies in a message, and which requirements then have
to notice, follows from the pack's own tables: its lifecycles, the rows of its requirements, its schemas.
Nothing here does I/O: messages go in, texts come out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from conformance import edits, jsontext
from conformance.attribution import Attribution
from conformance.checks import Moved
from conformance.checks.numbers import BOUNDS
from conformance.correlation import Message
from conformance.events import JSON
from conformance.jsontext import MISSING
from conformance.packs import Pack
from conformance.wording import shown, type_name

ENVELOPE = "jsonrpc.schema.json"


class Seen(NamedTuple):
    """A message of the implementation, and what it did to the lifecycles."""

    message: Message
    moved: tuple[Moved, ...] = ()
    asked: Message | None = None
    """What the kit sent last on the same connection."""

    @property
    def text(self) -> str:
        """The message as it came."""
        return self.message.event.text


class Change(NamedTuple):
    """What arrives in place of what was seen, in words what was done, and who has to notice."""

    texts: tuple[str, ...]
    told: str
    expected: frozenset[str]


Alter = Callable[["Rules", Seen], Change | None]
Swap = Callable[["Rules", Seen, Seen], Change | None]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One sort of change. `alter` changes one message, where it can; `pair` two about the same entity, one
    after the other, of which the first is held back meanwhile.
    """

    name: str
    summary: str
    alter: Alter | None = None
    pair: Swap | None = None


ONLY = "only messages of a kind are changed"


class Rules:
    """What the tables of a pack say of its messages, for those who want to break it."""

    def __init__(self, pack: Pack, role: str) -> None:
        self.pack, self.role = pack, role
        self._schemas = pack.schemas()
        self._attribution = Attribution(pack.requirements.values(), pack.unknown_kind_id)

    @cached_property
    def specs(self) -> list[tuple[str, int, Mapping[str, Any]]]:
        """Every check of every requirement: its requirement's id, its place there, its parameters."""
        return [
            (row.id, n, spec) for row in self.pack.requirements.values() for n, spec in enumerate(row.checks)
        ]

    def rows(self, kind: str, message: Message) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
        """The checks of this kind that look at such a message."""
        for one, place, spec in self.specs:
            if spec["kind"] == kind and message.is_a(spec.get("on", ["*"])):
                yield one, place, spec

    def moving(self, message: Message, moved: Moved, *kinds: str) -> set[str]:
        """The requirements that judge by such checks what the message says of the lifecycle."""
        return {
            one
            for kind in kinds
            for one, _, spec in self.rows(kind, message)
            if spec["lifecycle"] == moved.lifecycle
        }

    def numbers(self, message: Message) -> dict[str, set[str]]:
        """Where the message has a number of a sequence, and the requirements that judge it."""
        found: dict[str, set[str]] = {}
        for one, _, spec in self.specs:
            for row in spec["fields"] if spec["kind"] == "sequence" else ():
                if message.is_a(row["on"]) and type_name(message.at(row["at"])) == "number":
                    found.setdefault(row["at"], set()).add(one)
        return found

    def condition(self, requirement: str, place: int, name: str, value: JSON) -> bool:
        """Whether a value meets the condition of a check's row."""
        return self.pack.conditions.is_valid(f"{requirement}#/{place}/{name}", value)

    def places(self, message: Message, wanted: frozenset[str]) -> Iterator[tuple[str, str, JSON]]:
        """(location, pointer into the message, value) for each part that a wanted definition governs."""
        kind = message.kind
        assert kind is not None, ONLY
        if message.at(kind.at) is not None:
            for place, pointer, value in self._schemas.places(kind.schema, message.at(kind.at), wanted):
                yield place, kind.at + pointer, value

    def owners(self, message: Message, text: str) -> set[str]:
        """The requirements that own what the schemas have against another text for the message."""
        kind, value = message.kind, jsontext.parse(text).value
        envelope = (
            self._schemas.errors(ENVELOPE, value) if self.pack.meta.get("envelope") == "json-rpc" else []
        )
        if envelope:  # what is no whole message is none of its kind
            return {self._attribution.of(one, "") for one in envelope}
        assert kind is not None, ONLY
        part = jsontext.resolve(value, kind.at)
        if part is MISSING:
            return set()
        return {self._attribution.of(one, kind.name) for one in self._schemas.errors(kind.schema, part)}

    def is_valid(self, message: Message, text: str) -> bool:
        """Whether the schema of the message's kind has nothing against another text for it."""
        kind, value = message.kind, jsontext.parse(text).value
        assert kind is not None, ONLY
        part = jsontext.resolve(value, kind.at)
        return part is not MISSING and self._schemas.is_valid(kind.schema, part)

    def change(self, seen: Seen, text: str, told: str, expected: set[str]) -> Change:
        """The change of one text into another, noticed also by who owns what its schema has against it."""
        return Change((text,), told, frozenset(expected | self.owners(seen.message, text)))


# ── lifecycles ───────────────────────────────────────────────────────────────────────────────────


def _drop_reason(rules: Rules, seen: Seen) -> Change | None:
    for moved in seen.moved:
        wanting = {
            one
            for one, _, spec in rules.rows("reason-required", seen.message)
            if spec["lifecycle"] == moved.lifecycle and moved.move.target in spec["states"]
        }
        if wanting and moved.reason_at is not None and moved.reason is not None:
            text = edits.without(seen.text, moved.reason_at)
            return rules.change(seen, text, f"{moved.reason_at} was dropped", wanting)
    return _drop_what_follows(rules, seen)


def _drop_what_follows(rules: Rules, seen: Seen) -> Change | None:
    """Drop what a rule requires under a condition that the message meets."""
    for one, place, spec in rules.rows("requires", seen.message):
        at, part = spec.get("at", ""), seen.message.at(spec.get("at", ""))
        holds = "when" in spec and "from" not in spec and rules.condition(one, place, "when", part)
        for name in spec["then"].get("required", ()) if holds and isinstance(part, dict) else ():
            if name in part:
                pointer = at + jsontext.pointer([name])
                return rules.change(seen, edits.without(seen.text, pointer), f"{pointer} was dropped", {one})
    return None


def _unknown_reason(rules: Rules, seen: Seen) -> Change | None:
    for moved in seen.moved:
        judges = rules.moving(seen.message, moved, "reason-allowed")
        edge = moved.move.edge
        if judges and edge and edge.reasons and isinstance(moved.reason, str) and moved.reason_at:
            text = edits.replaced(seen.text, moved.reason_at, "no_such_reason")
            return rules.change(seen, text, f"{moved.reason_at} became no_such_reason", judges)
    return None


def _illegal_state(rules: Rules, seen: Seen) -> Change | None:
    for moved in seen.moved:
        table, before = rules.pack.lifecycles[moved.lifecycle][0], moved.move.before
        judges = rules.moving(seen.message, moved, "transition")
        if not judges or not moved.state_at or moved.report or before is None or moved.move.edge is None:
            continue
        unlisted = [state for state in table.classes if table.edge(before, state) is None]
        for state in sorted(unlisted, key=table.is_terminal):
            if state not in (before, table.initial):
                told = f"{moved.state_at} became {state}, which does not follow {before}"
                return rules.change(seen, edits.replaced(seen.text, moved.state_at, state), told, judges)
    return None


def _repeat_terminal(rules: Rules, seen: Seen) -> Change | None:
    for moved in seen.moved:
        table, move = rules.pack.lifecycles[moved.lifecycle][0], moved.move
        if moved.report or move.edge is None or not table.is_terminal(move.target):
            continue
        judges = rules.moving(seen.message, moved, "transition", "terminal-silence")
        again, told = seen.text, f"that {move.entity} is {move.target} was said again"
        judges |= {rules.pack.unknown_kind_id} if seen.message.request is not None else set()
        for pointer, counting in rules.numbers(seen.message).items():
            again = edits.replaced(again, pointer, int(seen.message.at(pointer)) + 1)
            judges |= counting
        return Change((seen.text, again), told, frozenset(judges)) if judges else None
    return None


def _same(first: Seen, second: Seen) -> Iterator[tuple[Moved, Moved]]:
    """The moves of one entity that both messages make, one on from the other."""
    for one in first.moved:
        for two in second.moved:
            same = (one.lifecycle, one.move.entity) == (two.lifecycle, two.move.entity)
            onward = one.move.before is not None and one.move.edge and one.move.target == two.move.before
            if same and onward and not two.report:
                yield one, two


def _may_follow(rules: Rules, before: str, moved: Moved) -> bool:
    """Whether a message that moves something may come where it stands so."""
    table = rules.pack.lifecycles[moved.lifecycle][0]
    return (not moved.sources or before in moved.sources) and table.edge(
        before, moved.move.target
    ) is not None


def _skip_state(rules: Rules, first: Seen, second: Seen) -> Change | None:
    for one, two in _same(first, second):
        before = str(one.move.before)
        if one.report or before == one.move.target or _may_follow(rules, before, two):
            continue
        judges = rules.moving(second.message, two, "transition")
        judges |= {name for names in rules.numbers(first.message).values() for name in names}
        told = f"that {one.move.entity} is {one.move.target} was left out"
        return Change((second.text,), told, frozenset(judges)) if judges else None
    return None


def _reorder(rules: Rules, first: Seen, second: Seen) -> Change | None:
    for one, two in _same(first, second):
        if _may_follow(rules, str(one.move.before), two) and _may_follow(rules, two.move.target, one):
            continue
        judges = rules.moving(second.message, two, "transition")
        judges |= rules.moving(first.message, one, "transition", "terminal-silence")
        judges |= {name for names in rules.numbers(second.message).values() for name in names}
        told = f"that {one.move.entity} is {two.move.target} came before that it is {one.move.target}"
        return Change((second.text, first.text), told, frozenset(judges)) if judges else None
    return None


def _swap_ids(rules: Rules, seen: Seen) -> Change | None:
    message = seen.message
    for _, rows in rules.pack.lifecycles.values():
        for row in rows:
            pointer = str(row["entity"])
            entity = message.at(pointer)
            known = any(one.move.entity == entity and one.move.before is not None for one in seen.moved)
            if not message.is_a(row["on"]) or row.get("of") == "request" or not known:
                continue
            judges = {one for one, _, spec in rules.rows("matches", message) if spec["field"] == pointer}
            judges |= {one for one, _, spec in rules.rows("transition", message) if spec.get("begun")}
            if judges and entity:
                text = edits.replaced(seen.text, pointer, _another(entity))
                return rules.change(seen, text, f"{pointer} became an id that nobody named", judges)
    return None


def _another(name: str) -> str:
    """A string of the same form that nothing else is named."""
    return name[:-1] + ("1" if name[-1] == "0" else "0")


# ── calls and kinds ──────────────────────────────────────────────────────────────────────────────


def _answer_id(rules: Rules, seen: Seen) -> Change | None:
    number = seen.message.at("/id")
    if seen.message.request is None or isinstance(number, bool) or not isinstance(number, (int, str)):
        return None
    text = edits.replaced(seen.text, "/id", number + 1_000_000 if isinstance(number, int) else number + "x")
    told = f"the answer to {seen.message.request.name} got the id of no request"
    return Change((text,), told, frozenset({rules.pack.unknown_kind_id}))


def _unknown_kind(rules: Rules, seen: Seen) -> Change | None:
    when = seen.message.kind.when if seen.message.kind else {}
    pointer = when.get("pointer") or ("/method" if "method" in seen.message.value else "")
    if not pointer:
        return None
    text = edits.replaced(seen.text, pointer, "no_such_kind")
    return rules.change(seen, text, f"{pointer} became no_such_kind", {rules.pack.unknown_kind_id})


def _echo(rules: Rules, seen: Seen) -> Change | None:
    asked, judges = seen.asked, {one for one, _, spec in rules.specs if spec["kind"] == "direction"}
    if asked is None or asked.kind is None or rules.role in asked.kind.senders or not judges:
        return None
    told = f"the kit's own {asked.name} came back after it"
    return Change((seen.text, asked.event.text), told, frozenset(judges))


# ── schemas ──────────────────────────────────────────────────────────────────────────────────────


def _objects(message: Message) -> Iterator[tuple[str, dict[str, JSON]]]:
    """The objects that the schema of the message's kind judges, the outermost first."""
    kind = message.kind
    pending = [(kind.at, message.at(kind.at))] if kind else []
    while pending:
        pointer, value = pending.pop(0)
        if isinstance(value, dict):
            yield pointer, value
            pending += [(pointer + jsontext.pointer([name]), inner) for name, inner in value.items()]


def _drop_required(rules: Rules, seen: Seen) -> Change | None:
    telling = seen.message.kind.when.get("pointer") if seen.message.kind else None
    for where, members in _objects(seen.message):
        for name in members:
            pointer = where + jsontext.pointer([name])
            text = edits.without(seen.text, pointer)
            if pointer != telling and not rules.is_valid(seen.message, text):
                return rules.change(seen, text, f"{pointer} was dropped", set())
    return None


def _unknown_member(rules: Rules, seen: Seen) -> Change | None:
    for where, _ in _objects(seen.message):
        text = edits.with_member(seen.text, where, "no_such_member", 1)
        if not rules.is_valid(seen.message, text):
            return rules.change(seen, text, f"{where or 'the message'} got the member no_such_member", set())
    return None


def _overflow_integer(rules: Rules, seen: Seen) -> Change | None:
    bounds = {
        place: (one, BOUNDS[name])
        for one, _, spec in rules.specs
        if spec["kind"] == "integer-bounds" and spec.get("only") != "type"
        for name in BOUNDS
        for place in spec.get(name, ())
    }
    for place, pointer, value in rules.places(seen.message, frozenset(bounds)):
        if type_name(value) == "number":
            one, (_, highest) = bounds[place]
            told = f"{pointer} became {shown(highest + 1)}"
            return rules.change(seen, edits.replaced(seen.text, pointer, highest + 1), told, {one})
    return None


# ── the text ─────────────────────────────────────────────────────────────────────────────────────


def _duplicate_key(_: Rules, seen: Seen) -> Change | None:
    text = edits.with_first_twice(seen.text)
    return Change((text,), "the first member came twice", frozenset({"WIRE-KEYS"}))


def _cut_off(_: Rules, seen: Seen) -> Change | None:
    text = seen.text.rstrip()[:-1]
    return Change((text,), "the last bracket was dropped", frozenset({"WIRE-JSON", "WIRE-LINE"}))


def _byte_order_mark(_: Rules, seen: Seen) -> Change | None:
    return Change((jsontext.BOM + seen.text,), "a byte order mark came first", frozenset({"WIRE-BOM"}))


def _log_line(_: Rules, seen: Seen) -> Change | None:
    texts = ("all is well so far", seen.text)
    return Change(texts, "a line that is no message came first", frozenset({"WIRE-NOISE"}))


MUTATIONS: Mapping[str, Mutation] = {
    one.name: one
    for one in (
        Mutation("drop-reason", "a reason, or what else a rule then requires, is left out", _drop_reason),
        Mutation("unknown-reason", "a reason is none that the table permits", _unknown_reason),
        Mutation("illegal-state", "a state is reported that the table does not allow here", _illegal_state),
        Mutation("skip-state", "a state is left out on the way to the next", pair=_skip_state),
        Mutation("repeat-terminal", "the last word about something is said twice", _repeat_terminal),
        Mutation("reorder", "two messages about one thing come in the wrong order", pair=_reorder),
        Mutation("swap-ids", "a message is about something that nobody named", _swap_ids),
        Mutation("answer-id", "an answer has the id of no request", _answer_id),
        Mutation("unknown-kind", "a message is of a kind that there is not", _unknown_kind),
        Mutation("echo", "a message of the kit's own comes back to it", _echo),
        Mutation("drop-required", "a member is missing that the schema requires", _drop_required),
        Mutation("unknown-member", "a member is there that the schema does not know", _unknown_member),
        Mutation("overflow-integer", "an integer is beyond its bound by one", _overflow_integer),
        Mutation("duplicate-key", "an object has a member twice", _duplicate_key),
        Mutation("cut-off", "a message ends before its end", _cut_off),
        Mutation("byte-order-mark", "a text begins with a byte order mark", _byte_order_mark),
        Mutation("log-line", "a line that is no message stands among them", _log_line),
    )
}
"""By name, in the order in which they are tried. To add a mutation is to add a row."""
