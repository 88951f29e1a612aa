"""The scenario interpreter, driven purely with events and readings of the clocks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playing import VA, Play, agent, error, notice, result, said, world

from conformance.actions import Action, Cut, Finish
from conformance.errors import BadScenario
from conformance.events import Closed
from conformance.packs import Pack
from conformance.scenarios import Scenario, Step

PING = "- request: ping\n  params: {origin_ns: 1}\n"
STATE = notice("session.state", state="ready")


# ── sending ──────────────────────────────────────────────────────────────────────────────────────


def test_it_connects_first_and_is_done_when_the_steps_are() -> None:
    play = agent("- send: dispatch\n  payload: {task: {id: T-1}}\n")
    assert play.outcome == ("passed", "")
    [(connection, message)] = play.sent
    assert connection == "main"
    assert message == {
        "protocol": "va-agent-protocol",
        "version": "0.1.0",
        "type": "dispatch",
        "timestamp": "2026-04-01T00:00:00Z",
        "correlationId": "id-1",
        "sourceId": "conformance",
        "payload": {"task": {"id": "T-1"}},
    }


def test_message_is_laid_upon_the_template_and_the_payload() -> None:
    play = agent(
        "- send: cancel\n  payload: {taskId: T-1}\n  message: {payload: {reason: x}, correlationId: c-9}\n"
    )
    message = play.sent[0][1]
    assert (message["payload"], message["correlationId"]) == ({"taskId": "T-1", "reason": "x"}, "c-9")


def test_requests_are_numbered_and_notifications_are_not() -> None:
    play = world("- send: ping\n- send: cmd.frame\n  params: {seq: 1}\n- send: ping\n")
    assert [message.get("id") for _, message in play.sent] == [1, None, 2]
    assert play.sent[1][1] == {"jsonrpc": "2.0", "method": "cmd.frame", "params": {"seq": 1}}


def test_raw_is_sent_as_it_is() -> None:
    play = world('- set: {x: [1, "a"]}\n- raw: \'{"a": ${x}}\'\n- raw: {base64: "/v8="}\n')
    assert [message for _, message in play.sent] == [{"a": [1, "a"]}, b"\xfe\xff"]


def test_a_number_is_sent_as_it_was_received() -> None:
    """An id that no float holds is echoed digit for digit."""
    play = world(PING).hears(
        b'{"jsonrpc":"2.0","id":9007199254740993.0,"method":"ping","params":{"origin_ns":1e400}}'
    )
    answer = play.sent[-1][1]
    assert (str(answer["id"]), str(answer["result"]["origin_ns"])) == ("9007199254740993.0", "1E+400")


def test_nothing_is_sent_over_a_connection_that_has_ended() -> None:
    play = world("- wait: 1 s\n- send: ping\n").ends(detail="the process exited with status 0").waits(1.0)
    assert play.outcome == ("inconclusive", "the process exited with status 0 before send could send")


def test_a_request_over_a_connection_that_has_ended_is_not_tested() -> None:
    play = world("- wait: 1 s\n" + PING + "  proves: AWP-CTL-004\n").hears(STATE).ends().waits(1.0)
    assert play.outcome == ("inconclusive", "the connection was closed before request could send")
    assert play.found == {"AWP-CTL-004": "inconclusive"}


def test_who_may_have_ended_the_connection_has_no_such_thing() -> None:
    rest = "  otherwise: not-applicable\n  because: it need not wait\n  proves: AWP-CTL-004\n"
    play = world("- wait: 1 s\n" + PING + rest).hears(STATE).ends().waits(1.0)
    assert (play.outcome, play.found) == (("not-applicable", "it need not wait"), {})


# ── requests and their answers ───────────────────────────────────────────────────────────────────


def test_a_request_waits_for_its_own_answer() -> None:
    play = world(PING + "  proves: AWP-CTL-004\n").hears(STATE).hears(result(7)).hears(result("1"))
    assert not play.done
    assert play.hears(result(1)).outcome == ("passed", "")
    assert play.found == {"AWP-CTL-004": "pass"}
    assert [one.seq for one in play.driver.findings] == [play.seq]


@pytest.mark.parametrize(("asked", "other"), [(1, "1"), ("1", 1)])
def test_ids_of_another_type_are_other_ids(asked: Any, other: Any) -> None:
    play = world(f"- request: ping\n  message: {{id: {json.dumps(asked)}}}\n").hears(result(other))
    assert not play.done
    assert play.hears(result(asked)).outcome == ("passed", "")


def test_an_answer_on_another_connection_is_none() -> None:
    play = world("- connect: second\n- request: ping\n  over: main\n").hears(result(1), "second")
    assert not play.done
    assert play.hears(result(1)).outcome == ("passed", "")


@pytest.mark.parametrize(
    ("wants", "answer", "said"),
    [
        ("", error(1, 7), "ping was to be answered with a result; it got the error"),
        ("  error: {}\n", result(1, {"a": 1}), 'answered with an error; it got the result {"a": 1}'),
        ("  error: {code: 7}\n", error(1, 8), "the answer to ping is otherwise: /error/code is 8, not 7"),
        ("  result: {a: {b: 1}}\n", result(1, {"a": {}}), "ping is otherwise: /result/a/b is missing"),
        ("  result: {a: {$is: {type: string}}}\n", result(1, {"a": 1}), "/result/a is 1, not"),
    ],
)  # fmt: skip
def test_an_answer_that_is_otherwise_fails_what_the_step_proves(
    wants: str, answer: dict[str, Any], said: str
) -> None:
    play = world(PING + wants + "  proves: [AWP-CTL-004, AWP-VER-003]\n").hears(answer)
    status, reason = play.outcome
    assert status == "failed"
    assert said in reason
    assert play.found == {"AWP-CTL-004": "fail", "AWP-VER-003": "fail"}
    # Where the step proves nothing, nothing is said against the implementation.
    play = world(PING + wants).hears(answer)
    assert play.outcome[0] == "inconclusive"
    assert play.found == {}


@pytest.mark.parametrize(
    ("wants", "answer"),
    [
        ("", result(1, [])),
        ("", {"jsonrpc": "2.0", "id": 1, "result": None}),
        ("  result: {a: 1}\n", result(1, {"a": 1, "b": 2})),
        ("  error: {code: {$is: {minimum: 1000}}}\n", error(1, 1001)),
    ],
)
def test_an_answer_that_is_as_wanted(wants: str, answer: dict[str, Any]) -> None:
    assert world(PING + wants).hears(answer).outcome == ("passed", "")


def test_an_answer_may_show_that_the_implementation_has_no_such_thing() -> None:
    rest = "  otherwise: not-applicable\n  proves: AWP-CTL-004\n"
    assert world(PING + rest).hears(error(1, 7)).outcome[0] == "not-applicable"
    play = world(PING + rest + "  because: it has no ping\n").hears(error(1, 7))
    assert play.outcome == ("not-applicable", "it has no ping")
    assert play.found == {}


def test_that_it_died_never_shows_that_it_has_no_such_thing() -> None:
    steps = PING + PING + "  otherwise: not-applicable\n  proves: AWP-CTL-004\n"
    play = world(steps).hears(result(1)).ends(detail="the process exited with status 1")
    assert play.outcome == (
        "failed",
        "the process exited with status 1 before the answer to ping came",
    )
    assert play.found == {"AWP-CTL-004": "fail"}


def test_a_request_that_did_not_get_through_shows_nothing() -> None:
    play = world(PING + PING + "  proves: AWP-CTL-004\n")
    play.cable = False
    play.hears(result(1)).ends(detail="the process exited with status 1")
    assert play.outcome[0] == "inconclusive"
    assert play.found == {"AWP-CTL-004": "inconclusive"}


def test_secrets_do_not_get_into_reasons() -> None:
    secret = {"session_token": "t0p-s3cret", "a": [{"session_token": "t0p-s3cret"}]}
    for wants, answer in (
        ("  error: {}\n", result(1, secret)),
        ("  result: {b: 1}\n", result(1, secret)),
        ("  result: {session_token: other}\n", result(1, secret)),
    ):
        play = world(PING + wants + "  proves: AWP-CTL-004\n").hears(answer)
        assert play.outcome[0] == "failed"
        assert "s3cret" not in play.outcome[1] + play.driver.findings[0].message
    play = world("- expect: session.state\n  instead: {session.telemetry: {}}\n")
    play.hears(notice("session.telemetry", session_token="t0p-s3cret"))
    assert play.outcome == (
        "inconclusive",
        'session.telemetry {"session_token": "(secret)"} came instead of session.state',
    )


# ── what arrives, and which step it is for ───────────────────────────────────────────────────────


def test_what_comes_before_the_answer_is_there_for_a_later_step() -> None:
    play = world(PING + "- expect: session.state\n  save: {s: /params/state}\n- raw: '${s}'\n")
    play.hears(STATE)
    assert not play.done
    play.hears(result(1))
    assert play.outcome == ("passed", "")
    assert play.sent[-1][1] is None  # `ready` is no JSON


def test_an_expected_message_is_there_for_one_step_only() -> None:
    play = world("- expect: session.state\n- expect: session.state\n").hears(STATE)
    assert not play.done
    assert play.hears(STATE).done


def test_the_answer_to_a_request_is_there_for_no_other_step() -> None:
    play = world(PING + "  error: {}\n- expect: error\n").hears(error(1, 5))
    assert not play.done
    play = world(PING + "- expect: ping.result\n").hears(result(1))
    assert not play.done


def test_messages_before_the_expected_one_are_passed_over() -> None:
    play = world("- expect: session.telemetry\n- expect: session.state\n")
    play.hears(STATE).hears(notice("session.telemetry"))
    assert not play.done
    assert play.hears(STATE).done


def test_never_looks_at_what_comes_from_then_on_and_takes_nothing() -> None:
    steps = PING + "- never: session.state\n  for: 1 s\n  proves: AWP-CTL-004\n- expect: session.state\n"
    play = world(steps).hears(STATE).hears(result(1)).hears(notice("session.telemetry"))
    assert not play.done
    play.waits(1.0)
    assert play.outcome == ("passed", "")
    assert play.found == {"AWP-CTL-004": "pass"}


def test_never_fails_when_it_comes() -> None:
    steps = "- never: session.state\n  match: {params: {state: ready}}\n  for: 1 s\n"
    play = world(steps + "  proves: AWP-CTL-004\n").hears(notice("session.state", state="closed"))
    assert not play.done
    play.hears(STATE)
    assert play.outcome == ("failed", 'session.state {"state": "ready"} came, which must not come here')
    assert play.found == {"AWP-CTL-004": "fail"}
    assert world(steps).hears(STATE).outcome[0] == "inconclusive"


def test_never_on_a_connection_that_ends_proves_nothing() -> None:
    steps = "- never: session.state\n  for: 1 s\n"
    proving = world(steps + "  proves: AWP-CTL-004\n").hears(notice("session.telemetry"))
    proving.ends(detail="closed with code 1000")
    assert proving.outcome == (
        "inconclusive",
        "closed with code 1000 before 1 s without session.state were over",
    )
    assert proving.found == {"AWP-CTL-004": "inconclusive"}
    # One that proves nothing is over then; what follows shows what that means.
    assert world(steps).ends().outcome == ("passed", "")
    late = world("- wait: 1 s\n" + steps + "  proves: AWP-CTL-004\n").ends().waits(1.0)
    assert late.found == {"AWP-CTL-004": "inconclusive"}


def test_an_error_is_named_for_its_request() -> None:
    play = world("- send: ping\n- expect: ping.error\n").hears(error(9, 1))
    assert not play.done
    assert play.hears(error(1, 1)).done


def test_any_kind_is_a_star() -> None:
    assert world('- expect: "*"\n').hears(STATE).done
    assert world('- expect: "*"\n').hears({"strange": 1}).done


def test_malformed_bytes_are_no_message_but_are_heard() -> None:
    play = agent("- expect: accepted\n").hears(b"Welcome")
    assert not play.done
    assert play.waits(5.0).outcome == ("inconclusive", "accepted did not come within 5 s")


def test_messages_are_kept_for_each_connection() -> None:
    steps = (
        "- connect: second\n- expect: session.state\n- expect: session.state\n  over: main\n"
        "- never: session.state\n  for: 1 s\n- never: session.state\n  over: main\n  for: 1 s\n"
    )
    play = world(steps).hears(STATE, "main")
    assert not play.done
    play.hears(STATE, "second").hears(STATE, "main").waits(1.5).hears(STATE, "second").waits(2.0)
    assert play.outcome == ("passed", "")


def test_instead_is_a_contradiction() -> None:
    steps = "- expect: completed\n  instead: {failed: {payload: {a: 1}}, blocked: {}}\n"
    play = agent(steps + "  proves: VA-LIF-003\n").hears(said("failed", a=2)).hears(said("progress"))
    assert not play.done
    play.hears(said("failed", a=1))
    assert play.outcome[0] == "failed"
    assert play.outcome[1].startswith("failed {")
    assert play.outcome[1].endswith("came instead of completed")
    assert play.found == {"VA-LIF-003": "fail"}
    assert agent(steps).hears(said("blocked")).outcome[0] == "inconclusive"
    assert agent(steps).hears(said("completed")).outcome == ("passed", "")


def test_what_is_no_kind_at_all_can_be_matched_and_shown() -> None:
    play = world('- expect: session.state\n  instead: {"*": {strange: 1}}\n').hears({"strange": 1})
    assert play.outcome == (
        "inconclusive",
        'a message of no known kind {"strange": 1} came instead of session.state',
    )


def test_a_match_is_filled_when_its_step_begins() -> None:
    """What an implementation sends is never taken for a name of ours."""
    steps = "- expect: session.state\n  save: {x: /params/state}\n- raw: '{\"a\":1}'\n" + (
        "- expect: session.telemetry\n  match: {params: {same: '${x}'}}\n"
    )
    play = world(steps).hears(notice("session.state", state="${fresh}"))
    assert play.hears(notice("session.telemetry", same="${fresh}")).done


# ── time ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("steps", "until"),
    [
        ("- expect: session.state\n", 5.0),
        ("- expect: session.state\n  within: 250 ms\n", 0.25),
        (PING + "  within: 2 s\n", 2.0),
    ],
)
def test_what_only_outlasts_the_patience_is_inconclusive(steps: str, until: float) -> None:
    for factor in (1.0, 3.0):
        play = world(steps + "  proves: AWP-CTL-004\n", patience=factor)
        play.hears(notice("session.telemetry")).waits(until * factor - 0.001)
        assert not play.done
        status, reason = play.waits(until * factor).outcome
        assert status == "inconclusive"
        assert reason.endswith(f"did not come within {until * factor:g} s")
        assert play.found == {"AWP-CTL-004": "inconclusive"}


def test_a_deadline_of_the_protocol_is_no_matter_of_patience() -> None:
    steps = "- expect: session.state\n  deadline: 1 s\n"
    play = world(steps + "  proves: AWP-CTL-004\n", patience=10.0).hears(notice("session.telemetry"))
    assert play.waits(1.0).outcome == ("failed", "session.state did not come within 1 s")
    assert play.found == {"AWP-CTL-004": "fail"}
    play = world(steps).hears(notice("session.telemetry")).waits(1.0)
    assert play.outcome[0] == "inconclusive"


def test_of_an_implementation_that_never_spoke_nothing_is_known() -> None:
    for steps, end in (
        ("- expect: session.state\n  deadline: 1 s\n", 1.0),
        ("- expect: session.state\n  within: 1 s\n  otherwise: not-applicable\n", 1.0),
        (PING + "  within: 1 s\n", 1.0),
    ):
        play = world(steps + "  proves: AWP-CTL-004\n").waits(end)
        assert play.outcome[0] == "inconclusive"
        assert play.outcome[1].startswith("the implementation said nothing: ")
        assert play.found == {"AWP-CTL-004": "inconclusive"}
        dead = world(steps + "  proves: AWP-CTL-004\n").ends(detail="the process exited with status 3")
        assert dead.outcome[0] == "inconclusive"
        assert dead.found == {"AWP-CTL-004": "inconclusive"}


def test_a_notification_that_does_not_come_may_be_one_that_there_is_not() -> None:
    steps = "- expect: session.telemetry\n  within: 1 s\n  otherwise: not-applicable\n"
    play = world(steps + "  because: it has no telemetry\n").hears(STATE).waits(1.0)
    assert play.outcome == ("not-applicable", "it has no telemetry")
    assert world(steps).hears(STATE).waits(1.0).outcome == ("not-applicable", "no session.telemetry came")


def test_a_wait_may_be_of_a_time_that_somebody_states() -> None:
    play = world('- set: {age: 250}\n- wait: "${age} ms"\n- send: ping\n').waits(0.249)
    assert play.sent == []
    assert len(play.waits(0.25).sent) == 1
    assert world('- wait: "${ics.pause} s"\n').outcome[0] == "not-applicable"


@pytest.mark.parametrize("value", ["true", "-1", "x", "1e400", "[1]", "'1 m'"])
def test_what_is_no_time_is_a_mistake_of_the_scenario(value: str) -> None:
    with pytest.raises(BadScenario, match="is no time; let a step `given` see to it before"):
        world(f'- set: {{age: {value}}}\n- wait: "${{age}} ms"\n')


def test_a_wait_is_a_wait_whatever_happens() -> None:
    play = world("- wait: 2 s\n- connect: main\n").ends().waits(1.9)
    assert not play.done
    assert play.waits(2.0).outcome == ("passed", "")


# ── connections ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("verb", "action"), [("close", Finish("main")), ("drop", Cut("main"))])
def test_a_connection_is_closed_or_cut_and_its_end_awaited(verb: str, action: Action) -> None:
    play = world(f"- {verb}: main\n")
    assert play.did == [action]
    assert not play.done
    assert play.ends().outcome == ("passed", "")
    stuck = world(f"- {verb}: main\n").waits(5.0)
    assert stuck.outcome[1].endswith("the end of the connection main did not come within 5 s")


def test_the_end_of_a_connection_is_awaited_of_the_implementation() -> None:
    steps = "- ends: main\n  proves: AWP-SES-009\n"
    play = world(steps)
    assert (play.did, play.done) == ([], False)
    assert play.hears(STATE).ends().found == {"AWP-SES-009": "pass"}
    assert play.outcome == ("passed", "")
    open_still = world(steps).hears(STATE).waits(5.0)
    assert open_still.outcome[0] == "inconclusive"
    assert open_still.found == {"AWP-SES-009": "inconclusive"}
    late = world(steps + "  deadline: 2 s\n").hears(STATE).waits(2.0)
    assert (late.outcome[0], late.found) == ("failed", {"AWP-SES-009": "fail"})


@pytest.mark.parametrize("verb", ["close", "drop"])
def test_a_connection_that_has_ended_need_not_be_closed(verb: str) -> None:
    play = world(f"- wait: 1 s\n- {verb}: main\n").ends().waits(1.0)
    assert play.did == []
    assert play.outcome == ("passed", "")


def test_the_end_of_another_connection_changes_nothing() -> None:
    play = world("- connect: second\n- expect: session.state\n").ends("main")
    assert not play.done
    assert play.hears(STATE, "second").done


def test_a_connection_can_be_made_again() -> None:
    play = world("- drop: main\n- connect: main\n- request: ping\n").ends().hears(result(1))
    assert play.outcome == ("passed", "")
    assert play.sent[0][0] == "main"


def test_a_connection_that_is_open_is_not_made_again() -> None:
    assert world("- connect: main\n").outcome == ("inconclusive", "the connection main is still open")


def test_an_expected_message_can_no_longer_come() -> None:
    steps = "- expect: accepted\n- expect: completed\n  proves: VA-LIF-003\n"
    play = agent(steps).hears(said("accepted")).ends()
    assert play.outcome == ("failed", "the connection was closed before completed came")
    assert play.found == {"VA-LIF-003": "fail"}


def test_a_connection_that_the_kit_gave_up_is_not_held_against_who_was_slow_to_read() -> None:
    steps = "- expect: accepted\n- expect: completed\n  proves: VA-LIF-003\n"
    play = agent(steps).hears(said("accepted"))
    play.tell(Closed(play.number(), by="orchestrator", clean=False, detail="it has not read its input"))
    assert play.outcome == ("inconclusive", "it has not read its input before completed came")
    assert play.found == {"VA-LIF-003": "inconclusive"}


def test_what_arrived_before_the_end_still_counts() -> None:
    steps = "- wait: 1 s\n- expect: completed\n  proves: VA-LIF-003\n- expect: failed\n  proves: VA-LIF-002\n"
    play = agent(steps).hears(said("completed")).ends().waits(1.0)
    assert play.found == {"VA-LIF-003": "pass", "VA-LIF-002": "fail"}


# ── names ────────────────────────────────────────────────────────────────────────────────────────


def test_a_fact_that_nobody_states_makes_it_not_applicable() -> None:
    play = agent("- send: dispatch\n  payload: {task: '${ics.tasks.fails}'}\n")
    assert play.outcome == ("not-applicable", "nothing says what ${ics.tasks.fails} is")
    assert play.driver.outcome is not None
    assert play.driver.outcome.line == 5


def test_a_value_that_a_message_lacks_makes_it_not_applicable() -> None:
    steps = PING + "  save: {x: /result/x}\n- request: ping\n  params: {origin_ns: '${x}'}\n"
    play = world(steps).hears(result(1))
    assert play.outcome == ("not-applicable", "nothing says what ${x} is: ping.result has no /result/x")


def test_the_first_of_several_pointers_that_meets_something() -> None:
    steps = (
        PING
        + "  save: {x: [/result/x, /result/y, /result/z]}\n- request: ping\n  params: {origin_ns: '${x}'}\n"
    )
    play = world(steps).hears(result(1, {"y": 5, "z": 6}))
    assert play.sent[-1][1]["params"]["origin_ns"] == 5
    play = world(steps).hears(result(1, {}))
    assert play.outcome == (
        "not-applicable",
        "nothing says what ${x} is: ping.result has no /result/x and no /result/y and no /result/z",
    )


def test_a_value_of_an_earlier_message_does_not_stand_in() -> None:
    steps = PING + "  save: {x: /result/x}\n" + PING + "  save: {x: /result/x}\n- raw: '${x}'\n"
    play = world(steps).hears(result(1, {"x": 5})).hears(result(2))
    assert play.outcome[0] == "not-applicable"


def test_given() -> None:
    steps = (
        "- set: {x: [1, 2]}\n- given: '${x}'\n  is: {contains: {const: '${ics.n}'}}\n  because: no ${ics.n}\n"
    )
    assert world(steps, ics={"n": 2}).outcome == ("passed", "")
    assert world(steps, ics={"n": 3}).outcome == ("not-applicable", "no 3")


def test_own_names_take_a_fresh_id_once() -> None:
    play = agent("- send: cancel\n- send: cancel\n- set: {correlationId: '${fresh}'}\n- send: cancel\n")
    assert [message["correlationId"] for _, message in play.sent] == ["id-1", "id-1", "id-2"]


# ── what the kit does of its own accord ──────────────────────────────────────────────────────────

OPEN = "- request: session.open\n"
READY = result(1, {"session_id": "s"})


def pings(play: Play) -> int:
    return sum(message.get("method") == "ping" for _, message in play.sent)


def test_a_session_is_kept_alive_until_it_is_closed() -> None:
    play = world(OPEN + "- wait: 2 s\n- request: session.close\n- wait: 2 s\n").waits(1.0)
    assert pings(play) == 0
    play.hears(READY).waits(2.9)
    assert pings(play) == 3
    play.waits(3.0)
    assert play.sent[-1][1]["method"] == "session.close"
    play.hears(result(play.sent[-1][1]["id"])).waits(5.0)
    assert pings(play) == 4
    assert play.outcome == ("passed", "")


def test_a_busy_kit_beats_once_and_not_for_every_beat_it_missed() -> None:
    play = world(OPEN + "- wait: 9 s\n").hears(READY)
    play.time = 5.0
    play.carry_out(play.driver.wake(play.now))
    assert pings(play) == 1


def test_the_answers_to_the_heartbeat_are_no_steps_affair() -> None:
    play = world(OPEN + "- expect: ping.result\n- never: error\n  for: 1 s\n").hears(READY).waits(0.6)
    play.hears(result(play.sent[-1][1]["id"]))
    assert not play.done
    play.hears(error(99, 1)).waits(1.1).hears(error(play.sent[-1][1]["id"], 1))
    assert play.driver.outcome is None


def test_a_heartbeat_need_not_be_a_request() -> None:
    pack = Pack(VA.folder)
    pack.meta["keepalive"] = {"after": ["accepted"], "until": ["completed"], "send": "cancel", "every": 1}
    play = agent("- wait: 9 s\n", pack=pack).hears(said("accepted")).waits(2.5)
    assert [message["type"] for _, message in play.sent] == ["cancel", "cancel"]
    play.hears(said("completed")).waits(8.0)
    assert len(play.sent) == 2


def test_silence_is_silence() -> None:
    play = world(OPEN + "- silence: 2 s\n- wait: 1 s\n").hears(READY)
    play.hears({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"origin_ns": 1}}).waits(2.0)
    assert len(play.sent) == 1
    play.waits(2.9)
    assert pings(play) == 1


def test_silence_ends_with_the_connection() -> None:
    play = world("- silence: 20 s\n- connect: main\n" + PING).ends()
    assert pings(play) == 1


def test_silence_ends_with_what_it_lasts_until_which_is_there_for_the_next_step() -> None:
    lost = "{world.event: {params: {event: safe_state_entered}}}"
    steps = f"- silence: 20 s\n  until: {lost}\n- expect: world.event\n  match: {{params: {{seq: 7}}}}\n"
    play = world(OPEN + steps + PING).hears(READY)
    play.hears(notice("world.event", event="envelope_violation")).waits(2.0)
    assert pings(play) == 0
    play.hears(notice("world.event", event="safe_state_entered", seq=7))
    assert pings(play) == 1


def test_a_ping_of_the_implementation_is_answered() -> None:
    play = world("- wait: 1 s\n")
    play.time = 0.25
    play.hears({"jsonrpc": "2.0", "id": "p", "method": "ping", "params": {"origin_ns": 5}})
    ns = 250_000_000
    assert play.sent == [
        (
            "main",
            {
                "jsonrpc": "2.0",
                "id": "p",
                "result": {"origin_ns": 5, "receive_ns": ns, "transmit_ns": ns},
            },
        )
    ]


def test_a_ping_with_a_lone_surrogate_is_answered() -> None:
    play = world("- wait: 1 s\n").hears(rb'{"jsonrpc":"2.0","id":"\ud800","method":"ping","params":{}}')
    assert play.sent[0][1]["id"] == "\ud800"


def test_an_end_that_was_left_open_is_made() -> None:
    play = world(OPEN + PING + "  error: {}\n").hears(READY).hears(result(2))
    assert not play.done
    connection, farewell = play.sent[-1]
    assert (connection, farewell["method"]) == ("main", "session.close")
    assert play.hears(result(farewell["id"])).outcome[0] == "inconclusive"


@pytest.mark.parametrize("factor", [1.0, 0.5])
def test_a_farewell_that_nobody_answers_takes_no_longer_than_its_time(factor: float) -> None:
    play = world(OPEN, patience=factor).hears(READY)
    play.waits(8 * factor - 0.1)
    assert not play.done
    assert play.waits(8 * factor).done
    assert play.driver.courtesy.is_awaiting  # so what it would still have said is open
    assert sum(message["method"] == "session.close" for _, message in play.sent) == 1


def test_a_farewell_that_is_refused_is_over() -> None:
    play = world(OPEN).hears(READY)
    assert play.hears(error(play.sent[-1][1]["id"], 5)).done
    assert not play.driver.courtesy.is_awaiting


def test_no_farewell_after_the_connection_ended() -> None:
    play = world(OPEN + "- wait: 1 s\n").hears(READY).ends().waits(1.0)
    assert play.done
    assert len(play.sent) == 1


# ── from outside ─────────────────────────────────────────────────────────────────────────────────


def test_stop_blames_nobody() -> None:
    play = world(PING + "  proves: AWP-CTL-004\n")
    play.carry_out(play.driver.stop("too much", play.now))
    assert play.outcome == ("inconclusive", "too much")
    assert play.found == {}
    play.carry_out(play.driver.stop("again", play.now))
    assert play.outcome == ("inconclusive", "too much")


def interactive() -> Play:
    return Play(Scenario("own", "own", "agent", (), ()), interactive=True)


def add(play: Play, verb: str, **args: Any) -> None:
    play.done = False
    play.carry_out(play.driver.add(Step(verb, args), play.now))


def test_steps_come_from_outside_one_by_one() -> None:
    play = interactive()
    assert play.done
    add(play, "request", request="session.open")
    assert not play.done
    play.hears(READY)
    assert play.done
    assert play.driver.met == READY
    add(play, "wait", wait="1 s")
    assert play.driver.met is None
    play.waits(1.0)
    assert play.done
    play.done = False
    play.carry_out(play.driver.leave(play.now))
    assert play.sent[-1][1]["method"] == "session.close"
    assert not play.done
    play.hears(result(play.sent[-1][1]["id"]))
    assert play.outcome == ("passed", "")


def test_after_the_end_a_step_does_nothing() -> None:
    play = interactive()
    add(play, "expect", expect="session.state")
    play.ends()
    assert play.outcome[0] == "inconclusive"
    add(play, "request", request="ping")
    assert play.done
    assert play.sent == []


def test_what_a_scenario_file_would_refuse_is_refused_here() -> None:
    play = interactive()
    with pytest.raises(BadScenario, match=r"obs\.report is no request"):
        add(play, "request", request="obs.report")
    with pytest.raises(BadScenario, match="no connection 'second'; there is main"):
        add(play, "send", send="ping", over="second")
    with pytest.raises(BadScenario, match=r"ping.result is no request and no notification"):
        add(play, "send", send="ping.result")


# ── a slow machine ───────────────────────────────────────────────────────────────────────────────


DEADLINE = """
- send: dispatch
  payload: {task: {id: T-1, objective: o, acceptanceCriteria: [x]}}
- expect: accepted
- expect: completed
  deadline: 2 s
  proves: VA-MSG-002
"""


def test_a_deadline_that_the_kit_itself_missed_is_inconclusive() -> None:
    for hindered, status in ((0.9, "failed"), (1.1, "inconclusive")):
        play = agent(DEADLINE).hears(said("accepted"))
        play.time = 2.0
        play.carry_out(play.driver.wake(play.now, hindered))
        assert play.outcome[0] == status
        assert play.outcome[1].startswith("completed did not come within 2 s")


def test_the_kit_waits_longer_but_no_deadline_is_put_off() -> None:
    own = agent("- expect: completed\n  within: 2 s\n- expect: completed\n", patience=0.5)
    assert own.driver.deadline() == 1.0
    own.driver.stretch(3.0)
    assert own.driver.deadline() == 3.0
    own.driver.stretch(4.0)
    assert own.driver.deadline() == 4.0
    assert own.driver.since(4.0) == 0.0
    own.time = 1.0
    own.hears(said("completed"))
    assert own.driver.deadline() == 1.0 + 5.0 * 0.5 * 4.0  # what begins later is stretched as well

    stated = agent(DEADLINE).hears(said("accepted"))
    for play, due in ((stated, 2.0), (agent("- wait: 2 s\n"), 2.0)):
        play.driver.stretch(3.0)
        assert play.driver.deadline() == due
    assert stated.driver.since(2.0) == 0.0
    assert agent("- wait: 2 s\n").driver.since(2.0) == 2.0


# ── what depends on time ─────────────────────────────────────────────────────────────────────────

WRONG = {"jsonrpc": "2.0", "id": 1, "error": {"code": 3008, "message": "AWP_ACTION_UNKNOWN"}}
PROVED = "- request: ping\n  proves: AWP-CTL-004\n"


@pytest.mark.parametrize(
    ("steps", "said", "timed"),
    [
        (PROVED, WRONG, False),
        (PROVED + "  timely: true\n", WRONG, True),
        (PROVED + "  deadline: 2 s\n", WRONG, True),
        ("- never: session.state\n  for: 1 s\n  proves: AWP-SES-009\n", STATE, True),
        ("- expect: ping\n  instead: {session.state: {}}\n  proves: AWP-SAF-001\n", STATE, False),
        (
            "- expect: ping\n  instead: {session.state: {}}\n  timely: true\n  proves: AWP-SAF-001\n",
            STATE,
            True,
        ),
    ],
)
def test_an_outcome_says_whether_it_depends_on_time(steps: str, said: dict[str, Any], timed: bool) -> None:
    outcome = world(steps).hears(said).driver.outcome
    assert outcome is not None
    assert (outcome.status, outcome.timed) == ("failed", timed)


def test_patience_may_grow_when_nothing_is_awaited_any_more() -> None:
    over = agent("- wait: 2 s\n").waits(2.0)
    over.driver.stretch(3.0)
    assert (over.outcome, over.driver.deadline()) == (("passed", ""), None)
