"""What two parties say while an entity of a lifecycle moves: messages filled from a pack's tables.

The rows of `lifecycles` say which kinds tell which moves and where the entity, its state and a reason stand;
`templates` and `answers` fill the messages; `walks` of `pack.json` adds what these do not have. Ids and
times are made up, in order, and the same each time.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from conformance import configuration, jsontext, protocols
from conformance.actions import Transmit
from conformance.bindings import Bindings, Now, merged, written
from conformance.composing import Composer
from conformance.correlation import Correlator
from conformance.errors import BadPack
from conformance.events import JSON, Sent
from conformance.lifecycles import Lifecycle
from conformance.packs import Kind, Pack
from conformance.serving import Service

ENTITY = "${entity}"


class Telling(NamedTuple):
    """One way to tell of a move: a kind, by a row of the lifecycle's `moves`."""

    kind: str
    row: dict[str, Any]
    extra: tuple[dict[str, Any], ...] = ()
    """The rows of `walks` about this kind."""
    reason: str | None = None
    reasoned: bool = True
    """Whether it gives the reason that the edge permits; else it gives `reason`."""

    def tells(self, source: str, target: str, *, refused: bool) -> bool:
        """Whether such a message can say that what is in one state is now in another."""
        if self.row.get("forget"):
            return refused
        if refused or "create" in self.row or self.row.get("report") == "always":
            return False
        if self.row.get("only_from", source) != source:
            return False
        if self.row.get("report") == "when-unchanged" and source == target:
            return False
        return bool(self.row["to"] == target) if "to" in self.row else "state" in self.row

    def is_free(self, source: str) -> bool:
        """Whether the row may move what is in that state."""
        return source in self.row.get("from", (source,))

    def judges(self, source: str) -> set[str]:
        """What `walks` says that such a message breaks where no edge leads on from `source`."""
        return {one["breaks"] for one in self.extra if "breaks" in one and source in one["from"]}

    def overlay(self, source: str, target: str) -> JSON:
        """What `walks` lays upon the message of this move."""
        made: JSON = {}
        for one in self.extra:
            fits = source in one.get("from", (source,)) and target in one.get("to", (target,))
            made = merged(made, one.get("with", {})) if fits else made
        return made


def tellings(pack: Pack, table: Lifecycle) -> list[Telling]:
    """Every way to tell of moves of the lifecycle, in the pack's order; what mostly repeats comes last."""
    extra = _own(pack, table).get("messages", [])
    moves = sorted(pack.lifecycles[table.name][1], key=lambda row: "report" in row)
    return [
        Telling(name, row, tuple(one for one in extra if one["kind"] == name))
        for row in moves
        for name in row["on"]
        if name not in _own(pack, table).get("without", ())
    ]


def _own(pack: Pack, table: Lifecycle) -> dict[str, Any]:
    found: dict[str, Any] = pack.meta.get("walks", {}).get(table.name, {})
    return found


class Dialogue:
    """One conversation from its opening on; `spoken` are its messages, not yet numbered."""

    def __init__(self, pack: Pack, table: Lifecycle) -> None:
        self._pack, self._table, self._own = pack, table, _own(pack, table)
        self._ids = 0
        names = {"entity": self._fresh()} | self._own.get("names", {})
        facts = merged(configuration.facts(pack, {}), self._own.get("ics", {}))
        own = tuple(pack.meta.get("fresh", ()))
        self._bindings = Bindings(facts, self._fresh, names, own=own, code=protocols.value)
        self._composer = Composer(pack, self._bindings)
        self._service = Service(pack, self._composer, self._bindings)
        self._correlator = Correlator(pack)
        self._first: JSON = None
        self._is_same = pack.meta.get("redelivery", {}).get("key")
        self.spoken: list[Sent] = []
        for step in self._own.get("opening", ()):
            self._open(step["send"], step.get("with", {}))

    def _fresh(self) -> str:
        self._ids += 1
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"conformance {self._ids}"))

    def _now(self) -> Now:
        at = float(len(self.spoken))
        wall = datetime(2026, 4, 1, 9, tzinfo=UTC) + timedelta(seconds=at)
        return Now(at, wall.isoformat(timespec="milliseconds").replace("+00:00", "Z"))

    def _speak(self, value: JSON, kind: Kind) -> JSON:
        party = self._party(kind)
        text = written(value)
        event = Sent(len(self.spoken) + 1, party, text, jsontext.parse(text).value)
        self.spoken.append(event)
        message = self._correlator.message(event)
        self._service.see(message, self._now())
        return event.value

    def _party(self, kind: Kind) -> str:
        """Who sends it: who may, else who `walks` says; an answer comes from the other side."""
        if kind.when.get("part") in ("result", "error"):
            return self._pack.peer_of(self.spoken[-1].party)
        stated = [one["party"] for one in self._rows(kind.name) if "party" in one]
        return stated[0] if stated else kind.senders[0]

    def _rows(self, name: str) -> list[dict[str, Any]]:
        return [one for one in self._own.get("messages", ()) if one["kind"] == name]

    def _open(self, name: str, overlay: JSON) -> None:
        """A message of the opening, and what the pack answers."""
        kind = self._pack.kind(name)
        self._speak(self._composer.message(name, overlay, self._now()), kind)
        if kind.when.get("part") != "request":
            return
        asked = self._correlator.message(self.spoken[-1]._replace(connection="aside"))
        answering = Kind("", (self._pack.peer_of(kind.senders[0]),), {}, "")
        for action in self._service.answer(asked, self._now()):
            assert isinstance(action, Transmit), "answers are sent and nothing else"
            self._speak(jsontext.parse(action.data.decode()).value, answering)

    # ── moves ─────────────────────────────────────────────────────────────────────────────────────

    def say(self, telling: Telling, source: str, target: str) -> None:
        """The message that tells of the move, after the request that it answers if it answers one."""
        name, is_error = telling.kind, telling.kind.endswith(".error")
        kind = self._pack.kind("error" if is_error else name)
        if kind.when.get("part") in ("result", "error"):
            self._answer(telling, kind, source, target)
        elif self._is_same == telling.row["entity"]:
            self._redeliver(telling, source, target)
        else:
            overlay = merged(telling.overlay(source, target), self._facts(telling, source, target))
            self._speak(self._composer.message(name, overlay, self._now()), kind)

    def _answer(self, telling: Telling, kind: Kind, source: str, target: str) -> None:
        asked = self._request_of(telling.kind)
        entity = self._entity_of(asked)
        overlay = merged(self._requested(asked.name), entity)
        scope = {"request": self._speak(self._composer.message(asked.name, overlay, self._now()), asked)}
        overlay = telling.overlay(source, target)
        if kind.when["part"] == "error":
            value = self._composer.refusal(overlay, self._now(), scope)
        else:
            facts = merged(overlay, self._facts(telling, source, target)["result"])
            value = self._composer.result(telling.kind, facts, self._now(), scope)
        self._speak(value, kind)

    def _request_of(self, name: str) -> Kind:
        method = name.rpartition(".")[0]
        for kind in self._pack.kinds:
            if kind.when.get("method") == method and kind.when.get("part") == "request":
                return kind
        raise BadPack(f"{name} answers no request of {self._pack.name}")

    def _requested(self, name: str) -> JSON:
        """What `walks` lays upon a request."""
        made: JSON = {}
        for one in self._rows(name):
            made = merged(made, one.get("with", {}))
        return made

    def _entity_of(self, asked: Kind) -> JSON:
        _, moves = self._pack.lifecycles[self._table.name]
        places = [row["entity"] for row in moves if asked.name in row["on"] and row.get("of") != "request"]
        return placed(places[0], ENTITY) if places else {}

    def _facts(self, telling: Telling, source: str, target: str) -> JSON:
        """What the move itself says: of which entity, which state, for which reason."""
        row = telling.row
        made: JSON = placed(row["entity"], ENTITY)
        if "state" in row:
            made = merged(made, placed(row["state"], target))
        reason = self._reason(telling, source, target)
        return merged(made, placed(row["reason"], reason)) if reason and "reason" in row else made

    def _reason(self, telling: Telling, source: str, target: str) -> str | None:
        edge = self._table.transitions.get((source, target)) or self._table.edge(source, target)
        if not telling.reasoned:
            return telling.reason
        if edge is not None and edge.reasons:
            return edge.reasons[0]
        known = [one for row in self._table.transitions.values() for one in _of(row.target, target, row)]
        return known[0] if known and (edge is None or edge.wire) else None

    def _redeliver(self, telling: Telling, source: str, target: str) -> None:
        """The same message once more, which only its state is another of."""
        if self._first is None:
            overlay = merged(telling.overlay("", source), self._facts(telling, "", source))
            self._first = self._composer.message(telling.kind, overlay, self._now())
            self._speak(self._first, self._pack.kind(telling.kind))
        overlay = merged(telling.overlay(source, target), self._facts(telling, source, target))
        value = merged(self._first, self._bindings.fill(overlay, self._now()))
        self._speak(value, self._pack.kind(telling.kind))


def _of(state: str, target: str, row: Any) -> Iterator[str]:
    if state == target:
        yield from row.reasons or ()


def placed(pointer: str, value: JSON) -> JSON:
    """The value inside objects, so that it stands at the pointer."""
    for name in reversed(jsontext.parts(pointer)):
        value = {name: value}
    return value
