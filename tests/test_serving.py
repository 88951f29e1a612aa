"""What the kit answers by itself where it plays a server, and what follows: AWP's world, driven by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from judging import row, toy
from playing import AWP, Play, notice

from conformance import configuration, scenarios
from conformance.errors import BadScenario
from conformance.packs import find

WAITS = "- wait: 1000 s\n"


def hosting(steps: str = WAITS, mode: str = "streaming") -> Play:
    """The kit plays a world; the first step is the time model."""
    head = f"title: x\nrole: world\ncovers: [AWP-MSG-001]\nsteps:\n- set: {{time_model: {mode}}}\n"
    ics = configuration.facts(AWP, {})
    return Play(scenarios.read(head + steps, "x.yaml", AWP), ics=ics)


def asks(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def opened(mode: str = "streaming", steps: str = WAITS) -> Play:
    """A session on the arm, with one channel."""
    play = hosting(steps, mode)
    who = {"name": "a", "version": "1", "vendor": "v"}
    play.hears(
        asks(1, "initialize", protocol_versions=["0.1"], agent=who, consumes_modalities=["proprio/json"])
    )
    return play.hears(
        asks(2, "session.open", mode=mode, embodiment="arm_01", subscribe=[{"channel": "proprio"}])
    )


def submits(play: Play, number: int, action: str, **other: Any) -> Play:
    intent = {
        "action_id": action,
        "type": "move_to_pose",
        "params": {"pose": {"frame": "base", "p_m": [0, 0, 0]}},
    }
    return play.hears(asks(number, "action.submit", **{**intent, **other}))


def answers(play: Play) -> dict[Any, Any]:
    """Number → result, or the code of the error."""
    return {
        one["id"]: one.get("result", one.get("error", {}).get("code"))
        for _, one in play.sent
        if "method" not in one
    }


def told(play: Play, method: str, connection: str = "main") -> list[dict[str, Any]]:
    return [one["params"] for where, one in play.sent if one.get("method") == method and where == connection]


def states(play: Play, action: str) -> list[str]:
    return [one["state"] for one in told(play, "action.status") if one["action_id"] == action]


# ── answers ──────────────────────────────────────────────────────────────────────────────────────


def test_a_session_has_what_was_asked_for_and_the_manifest_offers() -> None:
    ready = answers(opened())[2]
    assert ready["granted"]["channels"] == [{"channel": "proprio", "rate_hz": 10, "channel_id": 1}]
    assert ready["granted"]["action_types"] == ["move_to_pose", "stop"]
    assert (ready["session_id"], ready["session_token"]) == ("id-1", "id-2")


@pytest.mark.parametrize(
    ("params", "granted"),
    [
        ({"action_types": ["stop", "fly"]}, ["stop"]),
        ({"action_types": []}, []),
        ({"embodiment": "nobody"}, []),
        ({"embodiments": ["arm_01", "arm_02"], "embodiment": None}, ["move_to_pose", "stop"]),
    ],
)
def test_what_was_not_asked_for_or_is_not_there_is_not_granted(params: Any, granted: list[str]) -> None:
    play = hosting()
    play.hears(asks(1, "session.open", **{"mode": "streaming", "embodiment": "arm_01", **params}))
    assert answers(play)[1]["granted"]["action_types"] == granted


def test_a_channel_runs_no_faster_than_was_asked_for_and_declared() -> None:
    play = hosting()
    rows = [
        {"channel": "proprio", "rate_hz": 2},
        {"channel": "smell"},
        {"channel": "arm_state", "rate_hz": 9},
    ]
    play.hears(asks(1, "session.open", mode="streaming", embodiment="arm_01", subscribe=rows))
    assert [one["rate_hz"] for one in answers(play)[1]["granted"]["channels"]] == [2, 5]


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (asks(9, "initialize", protocol_versions=["7.0"]), 1001),
        (asks(9, "session.open", mode="streaming"), 2004),
        (asks(9, "session.resume", session_token="another", last_status_seq=0), 2005),
        (asks(9, "action.submit", action_id="a", type="fly", params={}), 4001),
        (asks(9, "action.cancel", action_id="nobody"), 3008),
        (asks(9, "action.status", action_id="nobody"), 3008),
        (asks(9, "world.tick", expected_tick=0), 3006),
        (asks(9, "world.dance"), -32601),
    ],
)
def test_what_cannot_be_is_refused(request_: Any, code: int) -> None:
    assert answers(opened().hears(request_))[9] == code


def test_a_mode_that_the_world_has_not_is_refused() -> None:
    assert answers(hosting().hears(asks(1, "session.open", mode="lockstep", embodiment="arm_01")))[1] == 2002


def test_nothing_is_submitted_without_a_session() -> None:
    assert answers(submits(hosting(), 1, "a"))[1] == 2005


def test_a_notification_that_nobody_knows_is_not_answered() -> None:
    play = opened()
    before = len(play.sent)
    play.hears(notice("world.dance"))
    assert len(play.sent) == before


# ── what follows ─────────────────────────────────────────────────────────────────────────────────


def test_an_action_is_executed_and_completed_while_time_passes() -> None:
    play = submits(opened(), 3, "a")
    assert states(play.waits(0.04), "a") == []
    assert states(play.waits(0.06), "a") == ["executing"]
    assert states(play.waits(2.0), "a") == ["executing", "executing", "completed"]
    numbers = [one["status_seq"] for one in (*told(play, "session.state"), *told(play, "action.status"))]
    assert sorted([*numbers, answers(play)[3]["status_seq"]]) == [1, 2, 3, 4, 5, 6]


def test_the_session_becomes_active_once() -> None:
    play = submits(submits(opened(), 3, "a"), 4, "b")
    assert [one["state"] for one in told(play, "session.state")] == ["ready", "active"]


def test_a_submission_that_is_repeated_has_the_state_of_its_action() -> None:
    play = submits(submits(opened(), 3, "a").waits(0.1), 4, "a")
    again = answers(play)[4]
    assert (again["state"], again["status_seq"]) == (
        "executing",
        told(play, "action.status")[-1]["status_seq"],
    )
    assert states(play.waits(3.0), "a") == ["executing", "executing", "completed"]


def test_a_submission_under_the_same_id_with_other_content_is_refused() -> None:
    assert answers(submits(submits(opened(), 3, "a"), 4, "a", params={"pose": {}}))[4] == 3004


def test_a_cancelled_action_ends_as_cancelled_and_not_otherwise() -> None:
    play = submits(opened(), 3, "a").waits(0.3)
    play.hears(asks(4, "action.cancel", action_id="a"))
    assert answers(play)[4]["state"] == "cancelling"
    assert states(play.waits(3.0), "a") == ["executing", "executing", "cancelled"]
    assert told(play, "action.status")[-1]["aborted_at_progress"] == 0.5


def test_an_action_that_has_not_begun_is_cancelled_at_once() -> None:
    play = submits(opened(), 3, "a").hears(asks(4, "action.cancel", action_id="a"))
    assert answers(play)[4]["state"] == "cancelled"
    assert states(play.waits(3.0), "a") == []
    assert answers(play.hears(asks(5, "action.cancel", action_id="a")))[5]["state"] == "cancelled"


def test_a_later_action_takes_the_place_of_an_earlier_one() -> None:
    play = submits(submits(opened(), 3, "a").waits(0.1), 4, "b").waits(3.0)
    assert states(play, "a") == ["executing", "preempted"]
    assert states(play, "b") == ["executing", "executing", "completed"]


@pytest.mark.parametrize(("policy", "code"), [("reject", 3002), ("queue", 3003)])
def test_an_action_that_gives_way_or_waits_is_refused_while_there_is_another(policy: str, code: int) -> None:
    play = submits(submits(opened(), 3, "a").waits(0.1), 4, "b", preempt=policy)
    assert answers(play)[4] == code
    assert states(play.waits(3.0), "a")[-1] == "completed"


def test_a_session_that_is_closed_ends_what_is_under_way_first() -> None:
    play = submits(opened(), 3, "a").waits(0.1).hears(asks(4, "session.close"))
    assert states(play, "a") == ["executing", "cancelling", "cancelled"]
    assert answers(play)[4] == {}
    before = len(play.sent)
    assert len(play.waits(3.0).sent) == before


def test_during_silence_nothing_is_said_and_afterwards_what_was_due() -> None:
    play = submits(opened(steps="- expect: action.submit\n- silence: 2 s\n" + WAITS), 3, "a")
    assert states(play.waits(1.9), "a") == []
    assert states(play.waits(2.1), "a") == ["executing"]


# ── streams ──────────────────────────────────────────────────────────────────────────────────────


def test_frames_come_at_the_rate_that_was_granted() -> None:
    play = opened().waits(1.02)
    frames = told(play, "obs.frame")
    assert [one["seq"] for one in frames] == list(range(1, 12))
    assert frames[1]["ts_mono_ns"] - frames[0]["ts_mono_ns"] == 100_000_000


def test_in_lockstep_each_tick_has_a_frame_and_time_moves_with_ticks_alone() -> None:
    play = opened("lockstep").waits(5.0)
    assert [one["tick"] for one in told(play, "obs.frame")] == [0]
    play.hears(asks(3, "world.tick", expected_tick=0, count=3))
    assert answers(play)[3] == {"tick": 3}
    assert [one["tick"] for one in told(play, "obs.frame")] == [0, 1, 2, 3]
    assert [one["ts_mono_ns"] for one in told(play, "obs.frame")] == [0, 20_000_000, 40_000_000, 60_000_000]
    assert answers(play.hears(asks(4, "world.tick", expected_tick=1)))[4] == 3009


def test_in_lockstep_what_follows_waits_for_a_tick() -> None:
    play = submits(opened("lockstep"), 3, "a").waits(9.0)
    assert states(play, "a") == []
    play.hears(asks(4, "world.tick", expected_tick=0, count=2))
    assert states(play, "a") == ["executing", "executing"]
    play.hears(asks(5, "world.tick", expected_tick=2, count="many"))
    assert states(play, "a") == ["executing", "executing", "completed"]
    assert answers(play)[5] == {"tick": 3}


# ── over another connection ──────────────────────────────────────────────────────────────────────


def test_what_was_missed_is_said_again_and_what_was_to_follow_follows() -> None:
    steps = "- expect: action.submit\n- drop: main\n- connect: second\n" + WAITS
    play = submits(opened(steps=steps).waits(0.12), 3, "a")
    play.ends().waits(1.0)
    assert states(play, "a") == []
    play.hears(asks(1, "session.resume", session_token="id-2", last_status_seq=1), "second")
    resumed = next(one["result"] for where, one in play.sent if where == "second" and "result" in one)
    assert resumed["replay_to_status_seq"] == 4
    said = [(one["state"], one["status_seq"]) for one in told(play, "session.state", "second")]
    assert said == [("active", 3), ("suspended", 4), ("active", 5)]
    play.waits(3.0)
    assert [one["state"] for one in told(play, "action.status", "second")][-1] == "completed"
    first = told(play, "obs.frame", "second")[0]
    assert (first["flags"], first["seq"]) == (9, told(play, "obs.frame")[-1]["seq"] + 1)


# ── replies ──────────────────────────────────────────────────────────────────────────────────────


def test_a_step_answers_in_place_of_the_pack() -> None:
    steps = "- reply: action.submit\n  result: {state: queued}\n  save: {action_id: /params/action_id}\n"
    play = submits(
        opened(steps=steps + "- send: action.status\n  params: {state: accepted}\n" + WAITS), 3, "a"
    )
    assert (answers(play)[3]["state"], states(play.waits(3.0), "a")) == ("queued", ["accepted"])
    submits(play, 4, "b").waits(9.0)
    assert states(play, "b")[-1] == "completed"


def test_a_step_refuses() -> None:
    steps = "- reply: action.submit\n  match: {params: {action_id: b}}\n  error: {code: 3001, message: no}\n"
    play = submits(submits(opened(steps=steps + WAITS), 3, "a"), 4, "b")
    assert (answers(play)[3]["state"], answers(play)[4]) == ("accepted", 3001)


def test_a_step_that_says_nothing_of_the_answer_leaves_it_to_the_pack() -> None:
    play = submits(opened(steps="- reply: action.submit\n" + WAITS), 3, "a")
    assert answers(play)[3]["state"] == "accepted"
    assert states(play.waits(3.0), "a")[-1] == "completed"


def test_a_request_that_nobody_makes_is_not_held_against_anyone() -> None:
    play = hosting(
        "- reply: action.submit\n  within: 1 s\n  otherwise: not-applicable\n  because: it does not act\n"
    )
    play.hears(notice("obs.report")).waits(2.0)
    assert play.outcome == ("not-applicable", "it does not act")


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("- reply: action.jump\n", "has no kind 'action.jump'"),
        ("- reply: obs.report\n", "obs.report is no request, so it has no answer"),
        ("- reply: ping.result\n", "ping.result is no request, so it has no answer"),
        ("- reply: action.submit\n  result: {}\n  error: {}\n", "a step has result or error, not both"),
    ],
)
def test_a_reply_that_cannot_be(step: str, said: str) -> None:
    with pytest.raises(BadScenario, match=said):
        hosting(step)


# ── whatever is said is as the protocol has it ───────────────────────────────────────────────────


@pytest.mark.parametrize("revision", ["0.1-draft.7", "0.1-draft.12"])
def test_the_manifest_of_the_pack_is_one(revision: str) -> None:
    pack = find(f"awp@{revision}")
    manifest = configuration.facts(pack, {})["manifest"]
    assert pack.schemas("sender").errors("world-manifest.schema.json", manifest) == []


@pytest.mark.parametrize(
    "nonsense",
    [
        {"jsonrpc": "2.0", "id": 9, "method": "session.open", "params": [1]},
        asks(9, "session.open", mode="streaming", subscribe={"channel": 1}, action_types=7, embodiments=[[]]),
        asks(
            9,
            "session.open",
            mode="streaming",
            subscribe=[1, {"channel": [1]}, {"channel": "proprio", "rate_hz": "x"}],
        ),
        asks(9, "action.submit", action_id={"a": 1}, type=[], params=None),
        asks(9, "session.resume", session_token=None, last_status_seq="x"),
        asks(9, "world.tick", expected_tick=[], count=-1),
        asks(9, "ping"),
    ],
)
@pytest.mark.parametrize("before", [hosting, opened])
def test_nonsense_has_an_answer_too(nonsense: Any, before: Any) -> None:
    assert 9 in answers(before().hears(nonsense))


def test_where_no_row_of_the_pack_applies_nothing_is_answered(tmp_path: Path) -> None:
    ask = {"name": "ask", "from": ["right"], "when": {"method": "ask", "part": "request"}, "at": "/params"}
    error = {"name": "error", "from": ["left"], "when": {"part": "error"}, "at": "/error"}
    refused = {"given": {"request": {"params": {"n": 1}}}, "error": {"code": 7, "message": "no"}}
    pack = toy(
        tmp_path,
        row({"kind": "direction"}),
        envelope="json-rpc",
        kinds=[one | {"schema": "toy.schema.json"} for one in (ask, error)],
        answers={"ask": [refused]},
    )
    head = "title: x\nrole: left\ncovers: [TOY-MSG-001]\nsteps:\n"
    play = Play(scenarios.read(head + WAITS, "x.yaml", pack), pack=pack)
    play.hears(asks(1, "ask", n=2)).hears(asks(2, "ask", n=1))
    assert answers(play) == {2: 7}
