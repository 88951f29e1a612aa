"""Messages that the kit sends."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from conformance import packs
from conformance.bindings import Bindings, Now, Unbound
from conformance.composing import Composer, dump, encoded
from conformance.errors import BadScenario, NoSuchKind
from conformance.monitor import Monitor
from conformance.records import open_record

NOW = Now(1.5, "2026-04-01T00:00:00Z")
AWP = packs.find("awp@0.1-draft.7")
VA = packs.find("va-agent-protocol")


def composer(pack: packs.Pack) -> Composer:
    ics = {"modalities": ["proprio/json"]}
    return Composer(pack, Bindings(ics, lambda: "id-1", own=tuple(pack.meta.get("fresh", ()))))


def test_a_request_has_the_next_number_the_method_and_the_template() -> None:
    made = composer(AWP)
    first = made.message("initialize", {}, NOW)
    assert (first["jsonrpc"], first["id"], first["method"]) == ("2.0", 1, "initialize")
    assert first["params"]["consumes_modalities"] == ["proprio/json"]
    assert made.message("ping", {}, NOW) == {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "ping",
        "params": {"origin_ns": 1_500_000_000},
    }


def test_a_kind_of_another_name_than_its_method() -> None:
    assert composer(AWP).message("action.status.request", {}, NOW)["method"] == "action.status"


def test_a_notification_has_no_number_and_params_only_if_there_are_some() -> None:
    made = composer(AWP)
    assert made.message("obs.report", {}, NOW) == {"jsonrpc": "2.0", "method": "obs.report"}
    assert made.message("obs.report", {"params": {"a": 1}, "x": 2}, NOW) == {
        "jsonrpc": "2.0",
        "method": "obs.report",
        "params": {"a": 1},
        "x": 2,
    }


def test_a_kind_without_a_template_is_what_the_step_says() -> None:
    assert composer(VA).message("Evidence", {"status": "failed"}, NOW) == {"status": "failed"}


def test_what_cannot_be_sent() -> None:
    with pytest.raises(BadScenario, match=r"ping\.result is no request and no notification"):
        composer(AWP).message("ping.result", {}, NOW)
    with pytest.raises(NoSuchKind):
        composer(AWP).message("pong", {}, NOW)
    with pytest.raises(Unbound):
        composer(AWP).message("ping", {"params": {"origin_ns": "${x}"}}, NOW)


def test_a_refusal_has_what_its_template_says_of_errors() -> None:
    request = {"jsonrpc": "2.0", "id": 7, "method": "world.dance"}
    refused = composer(AWP).refusal({"code": 1001, "message": "no"}, NOW, {"request": request})
    assert refused == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {"code": 1001, "message": "no", "data": {"retryable": False}},
    }


def test_an_answer_echoes_the_id_and_what_its_template_takes_of_the_request() -> None:
    request = {"jsonrpc": "2.0", "id": "p", "method": "ping", "params": {"origin_ns": 5}}
    assert composer(AWP).result("ping.result", {}, NOW, {"request": request}) == {
        "jsonrpc": "2.0",
        "id": "p",
        "result": {"origin_ns": 5, "receive_ns": 1_500_000_000, "transmit_ns": 1_500_000_000},
    }


TASK = {"id": "T-1", "objective": "o", "acceptanceCriteria": ["x"]}


@pytest.mark.parametrize(
    ("pack", "kind", "overlay"),
    [
        (AWP, "initialize", {}),
        (AWP, "ping", {}),
        (VA, "dispatch", {"payload": {"task": TASK}}),
        (VA, "cancel", {"payload": {"taskId": "T-1", "reason": "no longer needed"}}),
    ],
)
def test_what_the_templates_make_is_valid(pack: packs.Pack, kind: str, overlay: dict[str, object]) -> None:
    """The kit speaks the protocol correctly: else it would blame others for their answers."""
    data = dump(composer(pack).message(kind, overlay, NOW))
    monitor = Monitor(pack, kind=kind)
    findings = [one for event in open_record(data, "x", pack).events for one in monitor.feed(event)]
    assert [one.message for one in findings if not one.ok] == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"é": "\u2028", "a": [None, True, 1.5]}, '{"é":"\u2028","a":[null,true,1.5]}'),
        ({"a": Decimal("9007199254740993.0")}, '{"a":9007199254740993.0}'),
        ({"a\nb": "\x00\U0001f600"}, '{"a\\nb":"\\u0000😀"}'),
    ],
)
def test_dump(value: object, text: str) -> None:
    assert dump(value).decode() == text


def test_a_lone_surrogate_becomes_its_escape() -> None:
    assert dump({"\udfff": "a\ud800"}) == b'{"\\udfff":"a\\ud800"}'
    assert json.loads(dump({"\udfff": "a\ud800"})) == {"\udfff": "a\ud800"}
    assert encoded('"\ud800"') == b'"\\ud800"'
