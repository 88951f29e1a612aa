"""OSSA agent-to-agent communication: what its tasks, answers and agents show, and what its errata do not."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
import referencing
from judging import against, broken, judged, lines, of_text, recognised, said, shown_to_hold

from conformance import campaign, packs
from conformance.errors import UnknownProtocol, UsageError
from conformance.events import Closed, Event, Fault, Malformed, Opened
from conformance.findings import Finding

OSSA = packs.find("ossa-a2a@0.3.3")
BOSS, WORKER, OTHER = "agent://boss", "agent://worker-1", "agent://worker-2"


def message(number: int, kind: str, minute: int, sender: str = WORKER, to: str = BOSS, **payload: Any) -> Any:
    return {
        "id": f"{number:08x}-0000-4000-8000-000000000000",
        "from": sender,
        "to": to,
        "type": kind,
        "status": "pending",
        "createdAt": f"2026-04-01T09:{minute:02}:00Z",
        "payload": payload,
    }


def assigned(number: int, minute: int = 0, task: str = "t-1", to: str = WORKER, **more: Any) -> Any:
    return message(number, "TaskAssigned", minute, BOSS, to, taskId=task, action="a", input={}, **more)


def completed(number: int, minute: int = 5, task: Any = "t-1", sender: str = WORKER, **more: Any) -> Any:
    when = f"2026-04-01T09:{minute:02}:00Z"
    content = {"status": "completed", "result": {}, "completedAt": when} | more
    return message(number, "TaskCompleted", minute, sender, taskId=task, **content)


def failure(number: int, minute: int = 5, task: str = "t-1", **more: Any) -> Any:
    content = {"error": {"code": "E", "message": "m"}, "failedAt": f"2026-04-01T09:{minute:02}:00Z"} | more
    return message(number, "TaskFailed", minute, taskId=task, **content)


def asked(number: int, name: Any = "q-1", to: str = WORKER) -> Any:
    return message(number, "QueryRequest", 0, BOSS, to, query="?") | (
        {} if name is None else {"correlationId": name}
    )


def answered(number: int, name: str = "q-1", sender: str = WORKER) -> Any:
    return message(number, "QueryResponse", 1, sender, queryId=name, response="!")


def started(number: int, minute: int = 0, began: str = "09:00:00") -> Any:
    content = {"agentId": WORKER, "version": "1.0.0", "startedAt": f"2026-04-01T{began}Z"}
    return message(number, "AgentStarted", minute, **content)


def stopped(number: int, minute: int = 10) -> Any:
    when = f"2026-04-01T09:{minute:02}:00Z"
    return message(number, "AgentStopped", minute, agentId=WORKER, reason="shutdown", stoppedAt=when)


def note(number: int, minute: int = 5, sender: str = WORKER) -> Any:
    return message(number, "Custom", minute, sender)


def with_status(one: Any, status: str, **more: Any) -> Any:
    return one | {"status": status} | more


def party(one: Any) -> str:
    return "coordinator" if one.get("from") == BOSS else "worker"


def stream(*spoken: Any, opened: bool = True) -> list[Finding]:
    """The findings on a conversation of which the record has the beginning and the end."""
    events: list[Event] = said(*((party(one), one) for one in spoken))
    return judged([Opened(0, "main"), *events] if opened else events, OSSA)


DOWN = {"deliveredAt": "2026-04-01T09:00:01Z"}
UNREADABLE = Malformed(90, "worker", b"{", Fault("WIRE-JSON", "it breaks off"))

BROKEN: list[tuple[str, list[Any], str]] = [
    (
        "a second end is one more fault each",
        [assigned(1), completed(2), failure(3), failure(4, 6)],
        "LIF-002",
    ),
    (
        "an end after another assignment of an ended task",
        [completed(1), assigned(2, 6), completed(3, 7)],
        "LIF-002",
    ),
    (
        "completed by one, then assigned to the other",
        [assigned(1), completed(2), assigned(3, 6, to=OTHER), completed(4, 7, sender=OTHER)],
        "LIF-002",
    ),
    (
        "a deadline in another offset",
        [assigned(1, deadline="2026-04-01T10:00:00+01:00"), completed(2)],
        "TSK-003",
    ),
    (
        "more tries than none",
        [assigned(1, retryPolicy={"maxRetries": 0}), failure(2, retryCount=1)],
        "TSK-002",
    ),
]


@pytest.mark.parametrize(
    ("spoken", "requirement"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN]
)
def test_it_breaks_this_and_nothing_else(spoken: list[Any], requirement: str) -> None:
    assert broken(stream(*spoken)) == {f"OSSA-{requirement}"}


SOUND: list[tuple[str, list[Any]]] = [
    ("assigned twice, and done once", [assigned(1), assigned(2, 1), completed(3)]),
    (
        "handed over, and done by the new one",
        [assigned(1), assigned(2, 1, to=OTHER), completed(3), completed(4, sender=OTHER)],
    ),
    (
        "assigned, not delivered, and assigned anew to another",
        [
            assigned(1),
            with_status(assigned(1), "failed", error="gone"),
            assigned(2, 1, to=OTHER),
            completed(3, sender=OTHER),
        ],
    ),
    (
        "an assignment that overtook the end by its clock",
        [assigned(1), failure(2), assigned(3, 4), completed(4, 8)],
    ),
    ("an end of no task that can be read", [assigned(1), completed(2), note(3)]),
    ("tries without their number", [assigned(1, retryPolicy={"maxRetries": 1}), failure(2)]),
    (
        "a time that is none is not compared",
        [assigned(1), completed(2), started(3, 6, "09:05:30"), note(4, 7)],
    ),
    ("another's word about an agent", [started(1), stopped(2) | {"from": OTHER}, note(3, 20)]),
]


@pytest.mark.parametrize("spoken", [row[1] for row in SOUND], ids=[row[0] for row in SOUND])
def test_nothing_is_wrong_with_it(spoken: list[Any]) -> None:
    assert against(stream(*spoken)) == []


def test_a_redelivery_shows_and_breaks_nothing_new() -> None:
    """Every message, each also with another status: the same requirements hold, and none is broken."""
    once = [started(1), assigned(2, 1), asked(3), answered(4), completed(5), stopped(6)]
    again = [
        copy
        for one in once
        for copy in (one, one, with_status(one, "delivered", **{"deliveredAt": one["createdAt"]}))
    ]
    assert broken(stream(*again, *once)) == set()
    assert shown_to_hold(stream(*once)) <= shown_to_hold(stream(*again))


def test_what_is_wrong_is_told_once_however_often_it_is_delivered() -> None:
    wrong = assigned(1) | {"priority": "urgent"}
    found = against(stream(wrong, wrong, with_status(wrong, "delivered", **DOWN), completed(2)))
    assert [one.requirement for one in found] == ["OSSA-MSG-001"]


def test_each_new_status_is_judged() -> None:
    one = note(1)
    found = against(stream(one, with_status(one, "delivered"), with_status(one, "failed", **DOWN)))
    assert sorted(one.requirement for one in found) == ["OSSA-MSG-003", "OSSA-MSG-004", "OSSA-TIM-001"]


@pytest.mark.parametrize(
    "second",
    [
        completed(1, 6, "t-2"),
        completed(1, result={"a": 1}),
        note(1) | with_status(note(1), "failed", error="e"),
    ],
)
def test_a_used_id_is_one_fault(second: Any) -> None:
    """Whatever has the id of another message has no place in that one's delivery."""
    first = note(1)
    done = with_status(first, "acknowledged", acknowledgedAt="2026-04-01T09:05:01Z")
    expected = {"OSSA-COR-003"} if second["type"] != "Custom" else {"OSSA-LIF-001"}
    assert (
        broken(
            stream(
                first,
                with_status(first, "delivered", deliveredAt="2026-04-01T09:05:01Z"),
                done,
                second,
                second,
            )
        )
        == expected
    )


def test_the_agent_that_was_assigned_the_task_is_to_blame() -> None:
    """Not who assigned it: in a report about the coordinator it is no failure of the coordinator."""
    (silent,) = against(stream(assigned(1)))
    assert (silent.requirement, silent.party) == ("OSSA-LIF-003", "worker")
    by_worker = message(1, "TaskAssigned", 0, WORKER, BOSS, taskId="t-1", action="a", input={})
    (silent,) = against(stream(by_worker))
    assert silent.party == "coordinator"
    to_another = message(2, "TaskAssigned", 0, WORKER, OTHER, taskId="t-2", action="a", input={})
    (silent,) = against(stream(note(1, sender=OTHER), to_another))
    assert silent.party == "worker"


def test_an_assignment_on_its_own_proves_nothing() -> None:
    assert against(of_text(lines(assigned(1)), OSSA)) == []
    assert against(of_text(lines(assigned(1), assigned(2, task="t-2", to=OTHER)), OSSA)) == []
    (silent,) = against(of_text(lines(assigned(1), note(2)), OSSA))
    assert (silent.requirement, silent.party, silent.line) == ("OSSA-LIF-003", "", 1)


def test_a_record_that_stops_leaves_a_task_open() -> None:
    events = [Opened(1, "main"), *said(("coordinator", assigned(1)), ("worker", note(2)))[:-1]]
    assert against(judged([*events, Closed(9, "main", final=False)], OSSA)) == []


@pytest.mark.parametrize(
    "end",
    [
        completed(2) | {"type": "TaskDone"},
        completed(2, task=7),
        completed(2) | {"from": "worker"},
        completed(2) | {"from": 7},
        completed(2, task="t-9"),
        completed(2, sender=OTHER),
    ],
    ids=[
        "unknown type",
        "task is a number",
        "another sender",
        "sender is a number",
        "another task",
        "another agent",
    ],
)
def test_an_end_that_was_not_understood_is_one_fault(end: Any) -> None:
    found = against(stream(assigned(1), end))
    assert len({one.requirement for one in found}) == 1
    assert "OSSA-LIF-003" not in broken(found)


LOST: list[tuple[str, list[Any]]] = [
    ("an assignment", [assigned(1), completed(2), completed(3, task="t-2")]),
    ("a question", [asked(1), answered(2), answered(3, "q-2")]),
    ("a start", [started(1), stopped(2), note(3, 20)]),
]


@pytest.mark.parametrize("spoken", [row[1] for row in LOST], ids=[row[0] for row in LOST])
def test_what_could_not_be_read_may_have_been_it(spoken: list[Any]) -> None:
    *first, last = said(*((party(one), one) for one in spoken))[:-1]
    assert len(against(judged([*first, last, Closed(99)], OSSA))) == 1
    assert broken(judged([*first, UNREADABLE, last, Closed(99)], OSSA)) == {"WIRE-JSON"}


def test_a_message_of_no_known_type_may_have_been_it_too() -> None:
    task = assigned(2, task="t-2") | {"type": "TaskGiven"}
    found = stream(assigned(1), completed(3), task, completed(4, task="t-2"))
    assert broken(found) == {"OSSA-MSG-001"}
    question = asked(2, "q-2") | {"type": "Question"}
    assert broken(stream(asked(1), answered(3), question, answered(4, "q-2"))) == {"OSSA-MSG-001"}


def test_what_came_before_the_record_is_nobody_s_fault() -> None:
    assert (
        broken(stream(completed(1, task="t-0"), assigned(2), completed(3, task="t-00"), completed(4)))
        == set()
    )
    assert broken(stream(answered(1, "q-0"), asked(2), answered(3, "q-00"))) == set()
    assert not {"OSSA-COR-001", "OSSA-LIF-002"} & shown_to_hold(stream(completed(1, task="t-0")))
    assert {"OSSA-COR-001", "OSSA-LIF-002"} <= shown_to_hold(stream(assigned(1), completed(2)))
    assert "OSSA-COR-002" not in shown_to_hold(stream(answered(1, "q-0")))


def test_a_question_of_no_name_may_be_answered_under_any() -> None:
    assert broken(stream(asked(1, None), asked(2), answered(3, "x"), answered(4))) == set()
    assert broken(stream(asked(1), answered(2), answered(3, "x"))) == {"OSSA-COR-002"}


@pytest.mark.parametrize("name", ["createdAt", "startedAt"])
def test_times_that_are_none_are_not_compared(name: str) -> None:
    late = started(2, 5)
    (late if name == "createdAt" else late["payload"])[name] = "soon"
    assert "OSSA-LIF-004" not in broken(stream(note(1, 1), late))
    assert "OSSA-LIF-004" in broken(stream(note(1, 1), started(2, 5)))
    assert broken(stream(assigned(1), completed(2, completedAt="soon"))) == {"OSSA-MSG-002"}
    assert broken(stream(assigned(1) | {"createdAt": "soon"}, completed(2))) == {"OSSA-MSG-001"}


@pytest.mark.parametrize(
    ("counts", "rate", "marks"),
    [
        ((1, 2), 0.33, "+"),
        ((1, 2), 0.35, "-"),
        ((99, 1), 1, "+"),
        ((98, 2), 1, "-"),
        ((0, 0), 0, ""),
        ((-1, 1), 0, ""),
        ((1.5, 1), 0.6, ""),
        ((1, None), 1, ""),
        ((1, 1), "0.5", ""),
        ((1, 1), True, ""),
    ],
)
def test_success_rates(counts: tuple[Any, Any], rate: Any, marks: str) -> None:
    stats = {"totalDelivered": counts[0], "totalFailed": counts[1], "successRate": rate}
    name = "00000001-0000-4000-8000-000000000000"
    value = {
        "id": name,
        "channelId": name,
        "agentId": WORKER,
        "deliveryMode": "pull",
        "createdAt": "2026-04-01T09:00:00Z",
        "deliveryStats": stats,
    }
    found = of_text(json.dumps(value), OSSA)
    assert "".join("+" if one.ok else "-" for one in found if one.requirement == "OSSA-SUB-002") == marks


# --- Recognition ------------------------------------------------------------------------------------


def samples(pack: packs.Pack) -> list[Any]:
    return [
        json.loads(path.read_text("utf-8")) for path in sorted(pack.fixtures.glob("messages/valid/*.json"))
    ]


def test_its_messages_and_documents_are_recognised() -> None:
    assert samples(OSSA)
    assert {recognised(value).name for value in samples(OSSA)} == {OSSA.name}


@pytest.mark.parametrize("pack", [one for one in packs.find_all() if one != OSSA], ids=repr)
def test_nothing_of_another_protocol_is(pack: packs.Pack) -> None:
    for value in samples(pack):
        try:
            found = recognised(value)
        except UnknownProtocol:
            continue
        assert found.protocol == pack.protocol, value


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"type": "Custom"},
        {"type": "dispatch", "payload": {}},
        {"id": 1, "name": "x"},
        {"topic": 1, "type": "x"},
    ],
)
def test_nor_is_anything_else(value: Any) -> None:
    with pytest.raises(UnknownProtocol):
        recognised(value)


# --- The document -----------------------------------------------------------------------------------

DOCUMENT = json.loads((OSSA.folder / "a2a-communication.schema.json").read_text("utf-8"))


def without_ids(node: Any) -> Any:
    """The document without the `$id`s of its definitions (OSSA-ERR-3)."""
    definitions = {
        name: {keyword: part for keyword, part in one.items() if keyword != "$id"}
        for name, one in node["definitions"].items()
    }
    return node | {"definitions": definitions}


def test_ids_of_definitions_change_no_verdict() -> None:
    assert all(one["$id"] == f"#/definitions/{name}" for name, one in DOCUMENT["definitions"].items())
    published = [
        json.loads(path.read_text("utf-8"))["message"] for path in OSSA.fixtures.glob("published/*.json")
    ]
    values = published + samples(OSSA)
    for place in ("", *(f"#/definitions/{name}" for name in DOCUMENT["definitions"])):
        verdicts = set()
        for document in (DOCUMENT, without_ids(DOCUMENT)):
            registry = jsonschema_rs.Registry([(document["$id"], document)])
            schema = {"$schema": document["$schema"], "$ref": document["$id"] + place}
            first = jsonschema_rs.validator_for(schema, registry=registry, offline=True)
            resource = referencing.jsonschema.DRAFT7.create_resource(document)
            known: Any = referencing.Registry().with_resource(document["$id"], resource)
            second = jsonschema.Draft7Validator({"$ref": document["$id"] + place}, registry=known)
            verdicts |= {tuple(map(first.is_valid, values)), tuple(map(second.is_valid, values))}
        assert len(verdicts) == 1, place


def test_ids_of_definitions_lead_nowhere_in_later_dialects() -> None:
    """Which is what OSSA-ERR-3 says; the document is written in draft-07, where that is left undefined."""
    typed = assigned(1)
    for document, usable in ((DOCUMENT, False), (without_ids(DOCUMENT), True)):
        whole = jsonschema.Draft202012Validator(document)
        alone = whole.evolve(schema=document["definitions"]["Message"])
        if usable:
            assert not alone.is_valid(typed)
        else:
            with pytest.raises(referencing.exceptions.Unresolvable):
                alone.is_valid(typed)


def examples(node: Any, where: str = "") -> Any:
    """(place, schema, example) of the document."""
    if isinstance(node, dict):
        if not where.endswith("/properties"):
            yield from ((where, node, one) for one in node.get("examples", ()))
        for key, value in node.items():
            if key not in ("examples", "enum", "default"):
                yield from examples(value, f"{where}/{key}")


def test_its_schema_refuses_one_of_its_own_examples() -> None:
    """And with the errata none (OSSA-ERR-4)."""
    for document, refused in (
        (DOCUMENT, ["2.0.0-beta.1"]),
        (OSSA.repaired(OSSA.errata)["a2a-communication.schema.json"], []),
    ):
        found = []
        for _, schema, example in examples(document):
            alone = {"definitions": document["definitions"]} | {
                key: part for key, part in schema.items() if key != "$id"
            }
            judge = jsonschema_rs.validator_for(
                alone | {"$schema": document["$schema"]}, validate_formats=True
            )
            found += [] if judge.is_valid(example) else [example]
        assert found == refused
        assert len(list(examples(document))) > 20


@pytest.mark.parametrize("role", [role for role in OSSA.roles if role != "worker"])
def test_a_run_says_that_there_is_no_scenario_yet(role: str) -> None:
    with pytest.raises(UsageError, match=f"no scenario yet that certifies the {role} of ossa-a2a@0.3.3"):
        campaign.prepare(campaign.Request(OSSA, role=role))


# --- What is not shown, and what is one fault ------------------------------------------------------


def null(one: Any, *names: str) -> Any:
    return one | dict.fromkeys(names)


def subscription(**members: Any) -> Any:
    number = "00000001-0000-4000-8000-000000000000"
    whole = {"id": number, "channelId": number, "agentId": WORKER, "deliveryMode": "push"}
    return whole | {"createdAt": "2026-04-01T09:00:00Z", "webhookUrl": "https://example.org/hook"} | members


@pytest.mark.parametrize(
    ("requirement", "spoken"),
    [
        ("MSG-003", null(with_status(note(1), "failed"), "error")),
        ("MSG-004", null(with_status(note(1), "delivered"), "deliveredAt")),
        ("MSG-004", null(with_status(note(1), "acknowledged"), "acknowledgedAt")),
        ("MSG-004", with_status(note(1), "delivered", deliveredAt="yesterday")),
        ("SUB-001", subscription(webhookUrl=None)),
        ("SUB-001", subscription(webhookUrl="")),
    ],
    ids=["null", "null time", "null second time", "no time", "null address", "no address"],
)
def test_a_member_that_is_none_shows_nothing_and_is_the_schemas_matter(requirement: str, spoken: Any) -> None:
    found = of_text(json.dumps(spoken), OSSA)
    assert [one.requirement for one in against(found)] == ["OSSA-MSG-001"]
    assert f"OSSA-{requirement}" not in shown_to_hold(found)


def test_a_rate_that_is_none_is_one_fault() -> None:
    stats = {"totalDelivered": 1, "totalFailed": 2, "successRate": 33.3}
    found = of_text(json.dumps(subscription(deliveryStats=stats)), OSSA)
    assert [(one.requirement, one.pointer) for one in against(found)] == [
        ("OSSA-MSG-001", "/deliveryStats/successRate")
    ]


def test_a_deadline_that_was_over_before_the_assignment_says_nothing_of_the_worker() -> None:
    found = stream(assigned(1, 3, deadline="2026-04-01T09:02:00Z"), completed(2, 5))
    assert not broken(found)
    assert "OSSA-TSK-003" not in shown_to_hold(found)


def test_a_late_completion_is_shown_with_its_time() -> None:
    (finding,) = against(stream(assigned(1, deadline="2026-04-01T09:02:00Z"), completed(2, 5)))
    assert finding.actual == "2026-04-01T09:05:00Z"


def test_a_longest_delay_is_not_less_than_the_first() -> None:
    policy = {"initialDelayMs": 5000, "maxDelayMs": 2000}
    (finding,) = against(stream(assigned(1, retryPolicy=policy), completed(2)))
    assert finding.message == "2000 is less than 5000, which stands at /payload/retryPolicy/initialDelayMs"


def test_an_assignment_of_nothing_hides_no_other_fault() -> None:
    nothing = assigned(3)
    del nothing["payload"]["taskId"]
    found = stream(assigned(1), assigned(2, task="t-2"), nothing, completed(4))
    assert broken(found) == {"OSSA-MSG-002", "OSSA-LIF-003"}
    found = stream(assigned(1), nothing, completed(4, sender=OTHER))
    assert broken(found) == {"OSSA-MSG-002", "OSSA-COR-001"}


def early(number: int, **more: Any) -> Any:
    """An assignment that was made before what it comes after."""
    return assigned(number, 1, **more)


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        ([assigned(1, task="t-2"), completed(2), early(3), completed(4, task="t-2")], []),
        ([assigned(1, task="t-2"), completed(2), assigned(3, 6), completed(4, task="t-2"), completed(5, 7)],
         ["OSSA-COR-001", "OSSA-LIF-002"]),
        ([assigned(1, to=OTHER), completed(2), completed(4, sender=OTHER)], ["OSSA-COR-001"]),
        ([asked(1), answered(2, "q-2"), asked(3, "q-2"), answered(4)], []),
        ([asked(1), answered(2, "q-2"), asked(3, "q-3"), answered(4)], ["OSSA-COR-002"]),
        ([asked(1), answered(2, "q-2"), asked(3, "q-2") | {"createdAt": "2026-04-01T09:09:00Z"}],
         ["OSSA-COR-002"]),
    ],
    ids=["an assignment", "one of later", "to another only", "a question", "another question",
         "a later question"],
)  # fmt: skip
def test_messages_may_overtake_each_other(spoken: list[Any], expected: list[str]) -> None:
    found = stream(*spoken)
    assert sorted(broken(found)) == expected
    assert all(one.line for one in against(found))


def test_what_may_still_come_in_a_record_that_stops_is_not_missing() -> None:
    spoken = [assigned(1, task="t-2"), completed(2), asked(3), answered(4, "q-2")]
    events = said(*((party(one), one) for one in spoken))
    assert broken(judged(events, OSSA)) == {"OSSA-COR-001", "OSSA-COR-002"}
    assert not broken(judged([*events[:-1], events[-1]._replace(final=False)], OSSA))
    assert not {"OSSA-COR-001", "OSSA-COR-002"} & broken(judged([*events[:-1], UNREADABLE, events[-1]], OSSA))


def test_a_count_beyond_all_counting_is_one_fault() -> None:
    found = stream(assigned(1, retryPolicy={"maxRetries": 1}), failure(2, retryCount=2**53))
    assert broken(found) == {"OSSA-INT-001"}


def test_silence_is_not_shown_where_something_could_not_be_understood() -> None:
    assert "OSSA-LIF-002" in shown_to_hold(stream(assigned(1), completed(2)))
    assert "OSSA-LIF-002" not in shown_to_hold(
        stream(assigned(1), completed(2), failure(3, 6) | {"type": "TaskDone"})
    )
