"""Messages of every kind of every pack, judged by what had no part in making them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema
import pytest
from judging import against, of_text
from referencing import Registry
from referencing.jsonschema import specification_with

from conformance import jsontext
from conformance.bindings import written
from conformance.generation import supply
from conformance.generation.choosing import Seeded, Simplest
from conformance.packs import Kind, Pack, find, find_all

KINDS = [(pack, kind) for pack in find_all() for kind in pack.kinds]
NAMES = [f"{pack.name}-{kind.name}" for pack, kind in KINDS]
ANSWERS = ("result", "error")


def made(pack: Pack, kind: Kind, count: int = 2, **options: Any) -> Iterator[Any]:
    source = supply.of_kind(pack, kind.name, **options)
    yield source.take(Simplest())
    yield from (source.take(Seeded(seed)) for seed in range(count))


@cache
def second(pack: Pack, form: str, as_published: bool = False) -> Any:
    """jsonschema with referencing over the documents; nothing of the kit is in it."""
    schemas = pack.schemas(form, as_published=as_published)
    specification = specification_with(schemas.dialect)
    registry: Any = Registry().with_resources(
        (schemas.uri(name).rstrip("#"), specification.create_resource(document))
        for name, document in schemas.documents.items()
    )
    validator = jsonschema.validators.validator_for({"$schema": schemas.dialect})
    return lambda kind: validator({"$ref": schemas.uri(kind.schema)}, registry=registry)


@pytest.mark.parametrize(("pack", "kind"), KINDS, ids=NAMES)
def test_every_kind_has_messages_that_both_engines_and_the_monitor_accept(pack: Pack, kind: Kind) -> None:
    for message in made(pack, kind):
        part = jsontext.resolve(message, kind.at)
        second(pack, "sender")(kind).validate(part)
        if kind.when.get("part") not in ANSWERS:  # whose kind only a record shows
            assert against(of_text(written(message), pack, stateless=True)) == []


FEW = [(pack, pack.kinds[0]) for pack in find_all() if not pack.meta.get("published")]


@pytest.mark.parametrize(("pack", "kind"), FEW, ids=[f"{pack.name}-{kind.name}" for pack, kind in FEW])
def test_what_the_published_documents_accept_and_what_receivers_take_is_made_too(
    pack: Pack, kind: Kind
) -> None:
    for message in made(pack, kind, form="receiver"):
        second(pack, "receiver")(kind).validate(jsontext.resolve(message, kind.at))
    for message in made(pack, kind, as_published=True):
        second(pack, "sender", True)(kind).validate(jsontext.resolve(message, kind.at))


def test_what_all_alternatives_of_a_published_definition_but_one_refuse_is_made_too() -> None:
    pack = find("ossa-a2a@0.3.3")
    for message in made(pack, pack.kind("Channel"), as_published=True):
        (root,) = [pack.meta["published"]]
        judge = second(pack, "sender", True)(pack.kind("Channel")._replace(schema=root))
        judge.validate(message)


@pytest.mark.parametrize("seed", range(8))
def test_the_members_of_a_message_agree(seed: int) -> None:
    pack = find("va-agent-protocol@0.1.0")
    completed = supply.of_kind(pack, "completed").take(Seeded(seed))
    evidence = completed["payload"]["evidence"]
    assert evidence["status"] == "completed"
    assert all(gate["passed"] or gate["severity"] == "warning" for gate in evidence.get("gateResults", ()))
    record = supply.of_kind(pack, "TaskExecution").take(Seeded(seed))
    walk = ["pending", *(one["to"] for one in record["transitions"])]
    assert walk[:-1] == [one["from"] for one in record["transitions"]]
    assert walk[-1] == record["currentState"]


def test_times_that_have_an_order_are_in_it() -> None:
    source = supply.of_kind(find("ossa-a2a@0.3.3"), "TaskAssigned")
    both = [m for m in map(source.take, map(Seeded, range(40))) if {"createdAt", "deliveredAt"} <= m.keys()]
    assert len(both) > 5
    order = second_schema_of_times()
    assert all(order(message) for message in both)


def second_schema_of_times() -> Any:
    from datetime import datetime

    return lambda m: datetime.fromisoformat(m["createdAt"]) <= datetime.fromisoformat(m["deliveredAt"])


def test_a_message_is_json_and_keeps_its_numbers() -> None:
    for message in made(find("awp@0.1-draft.7"), find("awp@0.1-draft.7").kind("action.status")):
        assert json.loads(written(message)) == message
