"""Which request a response answers, and so the kind of every message."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from judging import VA, row, toy

from conformance.correlation import Correlator, Message, Problem, Sessions
from conformance.events import Received
from conformance.packs import Pack

CALL = [
    {"name": "ask", "from": ["left"], "when": {"method": "ask", "part": "request"}},
    {"name": "ask.result", "from": ["right"], "when": {"method": "ask", "part": "result"}},
    {"name": "ping", "from": ["left", "right"], "when": {"method": "ping", "part": "request"}},
    {"name": "ping.result", "from": ["left", "right"], "when": {"method": "ping", "part": "result"}},
    {"name": "tell", "from": ["right"], "when": {"method": "tell", "part": "notification"}},
    {"name": "error", "from": ["left", "right"], "when": {"part": "error"}},
]


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    return toy(tmp_path, envelope="json-rpc", kinds=[one | {"schema": "toy.schema.json"} for one in CALL])


def named(pack: Pack, *spoken: tuple[str, Any], connection: str = "main") -> list[Message]:
    correlator = Correlator(pack)
    return [
        correlator.message(Received(seq, party, json.dumps(value, default=str), value, connection))
        for seq, (party, value) in enumerate(spoken, 1)
    ]


def ask(number: Any) -> dict[str, Any]:
    return {"id": number, "method": "ask"}


def answer(number: Any) -> dict[str, Any]:
    return {"id": number, "result": {}}


def test_a_result_has_the_kind_of_its_request(pack: Pack) -> None:
    request, result = named(pack, ("left", ask(1)), ("right", answer(1)))
    assert (request.name, result.name) == ("ask", "ask.result")
    assert result.request is request
    assert (result.party, result.known_party, result.seq) == ("right", True, 2)


def test_a_notification_has_a_kind_of_its_own(pack: Pack) -> None:
    (message,) = named(pack, ("right", {"method": "tell"}))
    assert message.name == "tell"


def test_a_protocol_may_have_no_errors(tmp_path: Path) -> None:
    kinds = [one | {"schema": "toy.schema.json"} for one in CALL[:2]]
    pack = toy(tmp_path, envelope="json-rpc", kinds=kinds)
    _, refused = named(pack, ("left", ask(1)), ("right", {"id": 1, "error": {"code": 1, "message": "no"}}))
    assert refused.kind is None
    said = "it is an error response, and this protocol has no kind of message for that"
    assert refused.problem == Problem(said, "/error")


@pytest.mark.parametrize("asked", [1, "1", None, 1.5, "", "a", [1], True])
def test_an_id_is_echoed_as_it_is(pack: Pack, asked: Any) -> None:
    assert named(pack, ("left", ask(asked)), ("right", answer(asked)))[1].name == "ask.result"


@pytest.mark.parametrize(("asked", "echoed"), [(1, 1.0), (1.0, 1), (2**60, Decimal(2**60))])
def test_equal_numbers_are_the_same_id(pack: Pack, asked: Any, echoed: Any) -> None:
    assert named(pack, ("left", ask(asked)), ("right", answer(echoed)))[1].name == "ask.result"


@pytest.mark.parametrize(
    ("asked", "echoed"), [(1, "1"), ("1", 1), (1, 2), (1, True), (True, 1), (1, None), (1.5, 1), ("a", "A")]
)
def test_another_id_answers_nothing(pack: Pack, asked: Any, echoed: Any) -> None:
    message = named(pack, ("left", ask(asked)), ("right", answer(echoed)))[1]
    assert (message.kind, message.name) == (None, "")
    assert message.problem.pointer == "/id"
    assert message.problem.said == f"it answers no open request: no request has the id {json.dumps(echoed)}"


def test_a_request_is_answered_once(pack: Pack) -> None:
    messages = named(pack, ("left", ask(1)), ("right", answer(1)), ("right", answer(1)))
    assert [message.name for message in messages] == ["ask", "ask.result", ""]


def test_of_requests_with_one_id_each_is_answered(pack: Pack) -> None:
    """Using an id twice at a time is the asker's doing; the answers are none the worse for it."""
    spoken = [("left", ask(1)), ("left", ask(1)), ("right", answer(1)), ("right", answer(1))]
    messages = named(pack, *spoken)
    assert [message.request for message in messages[2:]] == messages[:2]


def test_nobody_answers_oneself(pack: Pack) -> None:
    messages = named(pack, ("left", {"id": 1, "method": "ping"}), ("left", answer(1)), ("right", answer(1)))
    assert [message.name for message in messages] == ["ping", "?", "ping.result"]


def test_who_asks_out_of_turn_may_be_answered_by_either_side(pack: Pack) -> None:
    for answerer in ("left", "right"):
        asked, answered = named(pack, ("right", ask(1)), (answerer, answer(1)))
        assert answered.request is asked


def test_both_sides_may_use_one_id(pack: Pack) -> None:
    ping = {"id": 1, "method": "ping"}
    messages = named(pack, ("left", ask(1)), ("right", ping), ("left", answer(1)), ("right", answer(1)))
    assert [message.name for message in messages] == ["ask", "ping", "ping.result", "ask.result"]


def test_each_connection_has_its_own_requests(pack: Pack) -> None:
    correlator = Correlator(pack)
    correlator.message(Received(1, "left", "", ask(1), "one"))
    assert correlator.message(Received(2, "right", "", answer(1), "two")).name == "?"
    assert correlator.message(Received(3, "right", "", answer(1), "one")).name == "ask.result"


def test_without_speakers_a_response_still_finds_its_request(pack: Pack) -> None:
    messages = named(pack, ("", ask(1)), ("", answer(1)), ("", {"id": 2, "method": "ping"}), ("", answer(2)))
    assert [message.name for message in messages] == ["ask", "ask.result", "ping", "ping.result"]
    assert [message.party for message in messages] == ["left", "right", "", ""]
    assert not any(message.known_party for message in messages)


# --- What is not in the record ---------------------------------------------------------------------


def test_a_lone_response_is_of_a_kind_that_nobody_knows(pack: Pack) -> None:
    (message,) = named(pack, ("right", answer(7)))
    assert (message.kind, message.name) == (None, "?")
    assert "not in this record" in message.problem.said


@pytest.mark.parametrize("response", [answer(3), {"id": 3, "error": {"code": 1}}], ids=str)
def test_a_request_from_before_the_record_may_be_answered_in_it(pack: Pack, response: Any) -> None:
    messages = named(pack, ("left", ask(4)), ("right", response), ("right", answer(4)))
    assert [message.name for message in messages] == [
        "ask",
        "?" if "result" in response else "error",
        "ask.result",
    ]


def test_a_later_id_than_any_asked_answers_nothing(pack: Pack) -> None:
    assert named(pack, ("left", ask(4)), ("right", answer(5)))[1].name == ""


UNHEARD = [
    {"method": "ask"},  # its id is missing
    {"methods": "ask", "id": 2},
    {"method": "dance"},
]


@pytest.mark.parametrize("unheard", UNHEARD, ids=str)
@pytest.mark.parametrize("response", [answer(2), {"id": 2, "error": {"code": 1}}], ids=str)
def test_what_was_no_request_may_be_answered_all_the_same(pack: Pack, unheard: Any, response: Any) -> None:
    """That is the asker's fault, and not the other's; one answer for each."""
    spoken = [("left", ask(1)), ("right", answer(1)), ("left", unheard), ("right", response)]
    *_, excused = named(pack, *spoken)
    assert excused.name == ("?" if "result" in response else "error")
    *_, again = named(pack, *spoken, ("right", response))
    assert (again.kind, again.problem.pointer) == (None, "/id")


def test_a_request_with_the_id_of_another_may_have_been_meant_to_have_its_own(pack: Pack) -> None:
    messages = named(pack, ("left", ask(1)), ("left", ask(1)), ("right", answer(1)), ("right", answer(2)))
    assert [message.name for message in messages[2:]] == ["ask.result", "?"]


def test_what_could_not_be_read_may_have_been_a_request(pack: Pack) -> None:
    correlator = Correlator(pack)
    correlator.message(Received(1, "left", "", ask(1)))
    correlator.lose("main", "left")
    heard = [correlator.message(Received(seq, "right", "", answer(seq))) for seq in (2, 3)]
    assert [message.name for message in heard] == ["?", ""]


# --- Errors ----------------------------------------------------------------------------------------


def test_an_error_is_named_for_its_request(pack: Pack) -> None:
    message = named(pack, ("left", ask(1)), ("right", {"id": 1, "error": {"code": 1}}))[1]
    assert message.name == "ask.error"
    assert message.is_a(["error"])
    assert message.is_a(["ask.error"])
    assert message.is_a("*")
    assert not message.is_a(["ping.error"])


@pytest.mark.parametrize("known", [True, False])
def test_an_error_of_a_request_that_could_not_be_read_has_no_id(pack: Pack, known: bool) -> None:
    """JSON-RPC 2.0, section 5: null, if there was an error in detecting the id."""
    before = [("left", ask(1))] if known else []
    message = named(pack, *before, ("right", {"id": None, "error": {"code": -32700}}))[-1]
    assert (message.name, message.request) == ("error", None)


def test_a_lone_error_is_an_error(pack: Pack) -> None:
    assert named(pack, ("right", {"id": 3, "error": {"code": 1}}))[0].name == "error"


def test_an_error_for_a_request_that_nobody_made(pack: Pack) -> None:
    message = named(pack, ("left", ask(1)), ("right", {"id": 9, "error": {"code": 1}}))[1]
    assert message.problem.said == "it answers no open request: no request has the id 9"


# --- What is no message of the protocol ------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "said", "pointer", "expected"),
    [
        (
            {"method": "dance", "id": 1},
            'the method "dance" is none of this protocol',
            "/method",
            {"ask", "ping"},
        ),
        (
            {"method": "Ask", "id": 1},
            'the method "Ask" is none of this protocol; did you mean "ask"?',
            "/method",
            {"ask", "ping"},
        ),
        ({"method": 5}, "the method 5 is none of this protocol", "/method", {"tell"}),
        (
            {"method": "ask"},
            '"ask" is no notification of this protocol; it is a request or a result',
            "/method",
            set(),
        ),
        (
            {"method": "tell", "id": 1},
            '"tell" is no request of this protocol; it is a notification',
            "/method",
            set(),
        ),
        (
            {"id": 1},
            "it has neither a method, nor a result, nor an error: it is no JSON-RPC message",
            "",
            set(),
        ),
        ([], "it has neither a method, nor a result, nor an error: it is no JSON-RPC message", "", set()),
    ],
    ids=lambda one: " ".join(sorted(one)) if isinstance(one, set) else str(one)[:30],
)
def test_why_a_message_has_no_kind(
    pack: Pack, value: Any, said: str, pointer: str, expected: set[str]
) -> None:
    (message,) = named(pack, ("left", value))
    assert message.kind is None
    assert (message.problem.said, message.problem.pointer) == (said, pointer)
    assert set(message.problem.expected) == expected


def test_an_unknown_method_that_is_refused_is_refused_as_it_should_be(pack: Pack) -> None:
    asked, refused = named(pack, ("left", {"id": 1, "method": "sing"}), ("right", {"id": 1, "error": {}}))
    assert asked.kind is None
    assert refused.name == "sing.error"


def test_an_unknown_method_has_no_result(pack: Pack) -> None:
    message = named(pack, ("left", {"id": 1, "method": "sing"}), ("right", answer(1)))[1]
    assert message.kind is None
    assert message.problem == Problem(
        'the method "sing" is none of this protocol, and yet it is answered with a result', "/result"
    )


def test_a_message_that_has_the_form_of_no_kind(tmp_path: Path) -> None:
    shaped = {
        "name": "song",
        "from": ["left"],
        "when": {"schema": {"required": ["tune"]}},
        "schema": "toy.schema.json",
    }
    (message,) = named(toy(tmp_path, row(), kinds=[shaped]), ("left", {"text": "la"}))
    assert (message.kind, message.problem) == (None, Problem("it has the form of no kind; kinds are song"))


VA_KINDS = "kinds are dispatch, accepted, progress, completed, failed, blocked, cancel"
VA_CASES = [
    ({"type": "progress"}, "progress", "", ""),
    ({"taskId": "T", "status": "completed"}, "Evidence", "", ""),
    ({"type": "sing"}, "", f'/type is "sing", which names no kind; {VA_KINDS}', "/type"),
    ({"type": "complete"}, "", f'/type is "complete", which names no kind; {VA_KINDS}; '
     'did you mean "completed"?', "/type"),
    ({"type": None}, "", f"/type is null, which names no kind; {VA_KINDS}", "/type"),
    ({"type": {"a": 1}}, "", f'/type is {{"a": 1}}, which names no kind; {VA_KINDS}', "/type"),
    ({}, "", f"it has no /type to tell its kind by; {VA_KINDS}", ""),
]  # fmt: skip


@pytest.mark.parametrize(("value", "name", "said", "pointer"), VA_CASES, ids=lambda one: str(one)[:30])
def test_a_kind_is_told_by_a_member_or_a_shape(value: Any, name: str, said: str, pointer: str) -> None:
    (message,) = named(VA, ("", value))
    assert (message.name, message.problem.said, message.problem.pointer) == (name, said, pointer)


def test_of_the_kinds_there_are_the_one_that_was_meant_comes_first() -> None:
    (message,) = named(VA, ("", {"type": "Cancel"}))
    assert message.problem.expected[0] == "cancel"
    assert len(message.problem.expected) == 7


def test_a_kind_may_be_forced() -> None:
    message = Correlator(VA, "cancel").message(Received(1, "", "{}", {}))
    assert (message.name, message.party, message.at("")) == ("cancel", "orchestrator", {})


OTHERS = [
    (VA, "cancel", {"type": "accepted"}, "it is of the kind accepted, and not of the kind cancel", "/type"),
    (VA, "Evidence", {"type": "failed"}, "it is of the kind failed, and not of the kind Evidence", "/type"),
    (None, "ask", {"id": 1, "method": "ping"}, "it is of the kind ping, and not of the kind ask", "/method"),
    (None, "ask.result", ask(1), "it is of the kind ask, and not of the kind ask.result", "/method"),
    (None, "ask", {"id": 1, "method": "dance"}, 'the method "dance" is none of this protocol', "/method"),
    (None, "ask", {"method": "ask"}, '"ask" is no notification of this protocol; it is a request or a result',
     "/method"),
    (None, "ask", answer(1), "it is a result, and ask is a request", "/result"),
    (None, "tell", answer(1), "it is a result, and tell is a notification", "/result"),
    (None, "ask.result", {"id": 1, "error": {}}, "it is an error, and ask.result is a result", "/error"),
    (None, "error", answer(1), "it is a result, and error is an error", "/result"),
]  # fmt: skip


@pytest.mark.parametrize(("of", "kind", "value", "said", "pointer"), OTHERS, ids=str)
def test_what_is_plainly_of_another_kind_is_not_of_the_one_that_was_named(
    pack: Pack, of: Pack | None, kind: str, value: Any, said: str, pointer: str
) -> None:
    message = Correlator(of or pack, kind).message(Received(1, "", json.dumps(value), value))
    assert (message.kind, message.problem.said, message.problem.pointer) == (None, said, pointer)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("ask", ask(1)),
        ("ask.result", answer(1)),
        ("ping.result", answer(1)),
        ("tell", {"method": "tell"}),
        ("error", {"id": 1, "error": {}}),
        ("ask", {"id": 1}),
        ("ask", []),
    ],
    ids=str,
)
def test_what_may_be_of_the_named_kind_is_of_it(pack: Pack, kind: str, value: Any) -> None:
    assert Correlator(pack, kind).message(Received(1, "", json.dumps(value), value)).name == kind


def test_a_misspelt_name_does_not_hinder_the_named_kind() -> None:
    assert Correlator(VA, "cancel").message(Received(1, "", "", {"type": "cancell"})).name == "cancel"


# --- Each message alone ----------------------------------------------------------------------------


@pytest.mark.parametrize("response", [answer(9), answer("x"), {"id": 9, "error": {"code": 1}}], ids=str)
def test_alone_a_response_without_its_request_is_of_a_kind_that_nobody_knows(
    pack: Pack, response: Any
) -> None:
    correlator = Correlator(pack, alone=True)
    correlator.opened("main")
    asked, answered, again = (
        correlator.message(Received(seq, party, "", value))
        for seq, (party, value) in enumerate([("left", ask(4)), ("right", answer(4)), ("right", response)])
    )
    assert (asked.name, answered.name) == ("ask", "ask.result")
    assert again.name == ("?" if "result" in response else "error")


def test_alone_the_result_of_an_unknown_method_is_of_a_kind_that_nobody_knows(pack: Pack) -> None:
    correlator = Correlator(pack, alone=True)
    correlator.message(Received(1, "left", "", {"id": 1, "method": "sing"}))
    assert correlator.message(Received(2, "right", "", answer(1))).name == "?"


# --- Sessions --------------------------------------------------------------------------------------

ROWS = [
    {"on": ["begin"], "key": "/id"},
    {"on": ["go"], "key": "/id", "after": "/after", "replay_to": "/to"},
]


def spoken(kind: str, connection: str, name: str) -> Message:
    return Message(Received(1, "", "", {"id": name}, connection), None, kind, "", value={"id": name})


def test_a_session_may_go_on_over_another_connection() -> None:
    sessions = Sessions(ROWS)
    before = spoken("note", "one", "")
    assert sessions.of(before) == ""
    assert sessions.begun(spoken("begin", "one", "s")) == ROWS[0]
    assert sessions.begun(spoken("note", "one", "t")) is None
    assert sessions.begun(spoken("go", "two", "s")) == ROWS[1]
    assert [sessions.of(spoken("note", name, "")) for name in ("one", "two", "three")] == ["s", "s", ""]
    assert sessions.is_whole(spoken("note", "two", ""))


def test_a_session_that_is_only_resumed_began_before_the_record() -> None:
    sessions = Sessions(ROWS)
    assert not sessions.is_whole(spoken("note", "one", ""))
    sessions.begun(spoken("go", "one", "s"))
    assert not sessions.is_whole(spoken("note", "one", ""))


def test_where_there_are_no_sessions_nothing_is_missing() -> None:
    assert Sessions([]).is_whole(spoken("note", "one", ""))
