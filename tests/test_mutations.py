"""Mutations of recorded traffic: what the tables say has to notice each is what the kit then finds.

The records are those of `fixtures/…/transcripts/valid`: every mutation, once in each record.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from judging import DIALECT, row, toy

from conformance import packs, records, transcript
from conformance.events import Event, Opened, Received, Sent
from conformance.framing import read_message
from conformance.monitor import Monitor
from conformance.mutations import MUTATIONS, Change, Mutation, Seen
from conformance.mutator import Mutator
from conformance.packs import Pack

MANY = 30
"""Of a pack that has more records than this, every so many-th is taken."""

FRAGMENTS = ("from-the-middle",)
"""Records that begin in the middle of a session: who was named before is not in them."""

VA = packs.find("va-agent-protocol@0.1.0")
AWP = packs.find("awp@0.1-draft.7")


class Applied(NamedTuple):
    """A mutation that was applied to a record, and what was broken then and not without it."""

    pack: str
    record: str
    mutation: str
    change: Change
    by: set[str]


def records_of(pack: Pack) -> list[Path]:
    found = [
        path
        for name, path in pack.specimens.like("transcripts/valid/*.jsonl").items()
        if not any(one in name for one in FRAGMENTS)
    ]
    return found[:: max(1, len(found) // MANY * 4)]


@cache
def events_of(path: Path, pack: Pack) -> list[Event]:
    return list(records.open_record(path.read_bytes(), str(path), pack).events)


def mutated(events: list[Event], pack: Pack, mutator: Mutator) -> Iterator[Event]:
    number = 0
    for event in events:
        texts: list[bytes] = []
        if isinstance(event, Opened):
            mutator.opened(event.connection)
        if isinstance(event, (Sent, Received)) and event.party == pack.certifies:
            texts = mutator.received(event.connection, event.text.encode())
        else:
            if isinstance(event, (Sent, Received)):
                mutator.sent(event.connection, event.text.encode())
            number += 1
            yield event._replace(seq=number)
        for text in texts:
            number += 1
            yield transcript.event_of(
                read_message(text),
                number,
                pack.certifies,
                sent=isinstance(event, Sent),
                connection=event.connection,
                time=event.time,
            )


def broken(events: Iterator[Event] | list[Event], pack: Pack) -> set[str]:
    monitor = Monitor(pack)
    found = [one for event in events for one in monitor.feed(event)] + monitor.end()
    return {one.requirement for one in found if not one.ok and one.party in (pack.certifies, "")}


@pytest.fixture(scope="module")
def applied() -> list[Applied]:
    made = []
    for pack in packs.find_all():
        if pack.base is not None:
            continue  # its records are those of its base
        for path in records_of(pack):
            events = events_of(path, pack)
            before = broken(events, pack)
            for mutation in MUTATIONS.values():
                mutator = Mutator(pack, pack.certifies, mutation)
                after = broken(mutated(events, pack, mutator), pack)
                if mutator.applied:
                    made.append(Applied(pack.name, path.stem, mutation.name, mutator.applied, after - before))
    return made


def test_what_the_tables_say_is_what_is_found(applied: list[Applied]) -> None:
    assert [one for one in applied if not one.change.expected & one.by] == []


def test_every_mutation_is_applied_and_noticed(applied: list[Applied]) -> None:
    assert {one.mutation for one in applied} == set(MUTATIONS)


BY_HAND = {
    ("va-agent-protocol@0.1.0", "drop-reason"): {"VA-EVD-002", "VA-EVD-003"},
    ("va-agent-protocol@0.1.0", "skip-state"): {"VA-LIF-001"},
    ("va-agent-protocol@0.1.0", "repeat-terminal"): {"VA-LIF-002"},
    ("va-agent-protocol@0.1.0", "swap-ids"): {"VA-COR-001"},
    ("va-agent-protocol@0.1.0", "echo"): {"VA-MSG-003"},
    ("va-agent-protocol@0.1.0", "unknown-kind"): {"VA-MSG-001"},
    ("awp@0.1-draft.7", "drop-reason"): {"AWP-LIF-004"},
    ("awp@0.1-draft.7", "unknown-reason"): {"AWP-LIF-004"},
    ("awp@0.1-draft.7", "illegal-state"): {"AWP-LIF-001", "AWP-LIF-002"},
    ("awp@0.1-draft.7", "answer-id"): {"AWP-MSG-001"},
    ("awp@0.1-draft.7", "overflow-integer"): {"AWP-CTL-009"},
    ("awp@0.1-draft.7", "duplicate-key"): {"WIRE-KEYS"},
    ("awp@0.1-draft.7", "cut-off"): {"WIRE-JSON"},
}
"""From the protocols' texts: which requirement each of these breaks."""


@pytest.mark.parametrize(("pack", "mutation"), BY_HAND)
def test_the_right_requirement_is_broken(pack: str, mutation: str, applied: list[Applied]) -> None:
    mine = [one for one in applied if (one.pack, one.mutation) == (pack, mutation)]
    assert mine
    assert [one for one in mine if not one.by & BY_HAND[pack, mutation]] == []


# ── the mutator ──────────────────────────────────────────────────────────────────────────────────


def va_message(kind: str, **payload: object) -> bytes:
    return json.dumps(
        {
            "protocol": "va-agent-protocol",
            "version": "0.1.0",
            "type": kind,
            "timestamp": "2026-01-01T00:00:00Z",
            "correlationId": "c-1",
            "payload": payload,
        }
    ).encode()


DISPATCH = va_message("dispatch", task={"id": "T", "objective": "o", "acceptanceCriteria": ["a"]})
ACCEPTED = va_message("accepted", taskId="T")
PROGRESS = va_message("progress", taskId="T")
COMPLETED = va_message("completed", evidence={"taskId": "T", "status": "completed"})


def mutator(name: str) -> Mutator:
    made = Mutator(VA, "agent", MUTATIONS[name])
    made.opened("main")
    made.sent("main", DISPATCH)
    return made


def test_it_acts_once() -> None:
    one = mutator("duplicate-key")
    assert one.received("main", ACCEPTED) != [ACCEPTED]
    assert one.received("main", PROGRESS) == [PROGRESS]


def test_a_message_is_held_back_until_the_next_about_the_same() -> None:
    one = mutator("reorder")
    assert one.received("main", ACCEPTED) == []
    assert one.holds("main")
    assert one.received("main", PROGRESS) == [PROGRESS, ACCEPTED]
    assert one.applied is not None
    assert not one.holds("main")


def test_what_was_held_back_for_long_is_let_go() -> None:
    one = mutator("skip-state")
    assert one.received("main", ACCEPTED) == []
    assert one.release("other") == []
    assert one.release("main") == [ACCEPTED]
    assert one.applied is None


def test_what_is_no_message_passes_and_lets_go() -> None:
    one = mutator("reorder")
    assert one.received("main", ACCEPTED) == []
    assert one.received("main", b"a line of a log") == [ACCEPTED, b"a line of a log"]
    assert one.received("main", b'{"type": "none"}') == [b'{"type": "none"}']


def test_what_the_kit_says_twice_changes_nothing() -> None:
    idle = Mutation("idle", "nothing", lambda rules, seen: None)
    one = Mutator(VA, "agent", idle)
    one.sent("main", b"no message")
    assert one.received("main", ACCEPTED) == [ACCEPTED]
    assert one.applied is None


def test_an_operation_sees_what_was_asked() -> None:
    asked: list[Seen] = []
    watching = Mutation("watching", "nothing", lambda rules, seen: asked.append(seen))
    one = Mutator(VA, "agent", watching)
    one.sent("main", DISPATCH)
    one.received("main", ACCEPTED)
    [seen] = asked
    assert seen.asked is not None
    assert seen.asked.name == "dispatch"
    assert [(moved.move.before, moved.move.target) for moved in seen.moved] == [("pending", "running")]


# ── a protocol of one's own ──────────────────────────────────────────────────────────────────────

BOTH = row({"kind": "requires", "on": ["go"], "when": {"type": "object"}, "then": {"required": ["a", "b"]}})
SHORT = {
    "name": "job",
    "initial": "asked",
    "states": {"asked": "transient", "done": "terminal"},
    "transitions": [{"from": "asked", "to": "done"}],
}


def altered(pack: Pack, mutation: str, *told: str) -> tuple[bytes, Change | None]:
    """The last of some messages, those before it sent by the kit, as it leaves the mutator; the change."""
    one = Mutator(pack, "left", MUTATIONS[mutation])
    one.opened("main")
    for text in told[:-1]:
        one.sent("main", text.encode())
    [last] = one.received("main", told[-1].encode())
    return last, one.applied


def test_of_what_follows_what_is_there_is_dropped(tmp_path: Path) -> None:
    left, change = altered(toy(tmp_path, BOTH), "drop-reason", '{"type": "go", "b": 1}')
    assert json.loads(left) == {"type": "go"}
    assert change is not None
    assert change.told == "/b was dropped"
    left, change = altered(toy(tmp_path, BOTH), "drop-reason", '{"type": "go", "c": 1}')
    assert (json.loads(left), change) == ({"type": "go", "c": 1}, None)


def test_where_the_part_of_the_kind_is_dropped_its_schema_says_nothing(tmp_path: Path) -> None:
    go = {"name": "go", "from": ["left"], "when": {"pointer": "/type", "equals": "go"}, "at": "/b"}
    pack = toy(tmp_path, BOTH, row({"kind": "schema"}, "TOY-2"), kinds=[go | {"schema": "toy.schema.json"}])
    left, change = altered(pack, "drop-reason", '{"type": "go", "b": {}}')
    assert json.loads(left) == {"type": "go"}
    assert change is not None
    assert change.expected == {"TOY-MSG-001"}


def test_where_the_envelope_is_broken_its_owner_notices(tmp_path: Path) -> None:
    """A notification of JSON-RPC 2.0 without its version is none."""
    go = {"name": "go", "from": ["left"], "when": {"method": "go", "part": "notification"}, "at": "/params"}
    then = {"kind": "requires", "on": ["go"], "when": {"type": "object"}, "then": {"required": ["jsonrpc"]}}
    pack = toy(
        tmp_path,
        row(then),
        row({"kind": "schema", "on": ["*"]}, "TOY-ENV", claims=[{"at": "jsonrpc.schema.json"}]),
        envelope="json-rpc",
        kinds=[go | {"schema": "toy.schema.json"}],
    )
    left, change = altered(pack, "drop-reason", '{"jsonrpc": "2.0", "method": "go", "params": {}}')
    assert json.loads(left) == {"method": "go", "params": {}}
    assert change is not None
    assert change.expected == {"TOY-MSG-001", "TOY-ENV"}


def test_where_every_other_state_may_follow_none_is_made_up(tmp_path: Path) -> None:
    moves = [
        {"on": ["go"], "entity": "/id", "state": "/state"},
        {"on": ["ask"], "entity": "/id", "to": "asked"},
    ]
    pack = toy(
        tmp_path,
        row({"kind": "transition", "lifecycle": "job"}),
        files={"job.json": SHORT},
        lifecycles=[{"file": "job.json", "moves": moves}],
    )
    told = '{"type": "go", "id": "1", "state": "done"}'
    left, change = altered(pack, "illegal-state", '{"type": "ask", "id": "1"}', told)
    assert (left.decode(), change) == (told, None)


@pytest.mark.parametrize(
    ("mutation", "told"),
    [
        ("drop-required", '{"type": "go", "a": {}, "b": []}'),
        ("overflow-integer", '{"type": "go", "n": "seven"}'),
    ],
)
def test_what_a_message_does_not_have_is_not_changed(tmp_path: Path, mutation: str, told: str) -> None:
    number = {"$schema": DIALECT, "type": "object", "properties": {"n": {"type": "integer"}}}
    bounds = row({"kind": "integer-bounds", "u53": ["toy.schema.json#/properties/n"]})
    pack = toy(tmp_path, bounds, schemas={"toy.schema.json": number})
    left, change = altered(pack, mutation, told)
    assert (left.decode(), change) == (told, None)


def test_a_message_without_the_part_of_its_kind_has_no_integer() -> None:
    told = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    one = Mutator(AWP, "agent", MUTATIONS["overflow-integer"])
    one.opened("main")
    assert one.received("main", told.encode()) == [told.encode()]
    assert one.applied is None
