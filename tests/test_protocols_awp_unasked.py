"""Agent World Protocol: what is not asked of a message, since it was found to be right, or cannot matter.

Nobody asks for praise here: else every rule is asked about every message.
"""

from __future__ import annotations

import base64
from typing import Any

from judging import AWP, against, judged, said
from test_protocols_awp_rules import Spoken, answer, call, frame, greeted, opened, state

RIGHT, WRONG = "e30=", base64.b64encode(b"{").decode()


def quick(spoken: Spoken, requirement: str) -> list[int]:
    """The numbers of the messages that break the requirement."""
    found = against(judged(said(*spoken), AWP, praise=False))
    return [one.seq for one in found if one.requirement == requirement]


def shown(payload: str, number: int, **more: Any) -> tuple[str, Any]:
    return frame(number, tick=number, payload_b64=payload, **more)


LOCKSTEP: Spoken = [*greeted(), *opened("lockstep")]


def test_a_payload_that_was_wrong_is_wrong_again() -> None:
    payloads = (RIGHT, RIGHT, WRONG, WRONG, RIGHT, WRONG)
    frames = [shown(payload, number) for number, payload in enumerate(payloads, 1)]
    assert quick([*LOCKSTEP, *frames], "AWP-MOD-001") == [7, 8, 10]


def test_a_modality_that_was_right_is_wrong_of_another_channel() -> None:
    """The same number is granted for a channel that the agent does not consume."""
    asked = call(3, "obs.subscribe", channels=[{"channel": "eyes"}])
    granted = answer(3, granted=[{"channel": "eyes", "rate_hz": None, "channel_id": 1}])
    channels = [{"id": "joints", "modality": "proprio/json"}, {"id": "eyes", "modality": "x-eyes"}]
    spoken = [*greeted(observation_channels=channels), *opened("lockstep"), shown(RIGHT, 1)]
    assert quick([*spoken, asked, granted, shown(RIGHT, 2)], "AWP-AGM-001") == [8]


def test_a_tick_that_is_missing_once() -> None:
    frames = [shown(RIGHT, 1), frame(2), shown(RIGHT, 3)]
    assert quick([*LOCKSTEP, *frames], "AWP-OBS-002") == [6]


def test_one_more_frame_of_a_tick_on_the_same_channel_after_a_subscription() -> None:
    asked = call(3, "obs.subscribe", channels=[{"channel": "joints"}])
    granted = answer(3, granted=[{"channel": "joints", "rate_hz": None, "channel_id": 1}])
    again = frame(2, tick=1)
    assert quick([*LOCKSTEP, shown(RIGHT, 1), asked, granted, again], "AWP-DAT-003") == [8]


def test_what_comes_after_the_close_is_told_though_all_was_asked_before() -> None:
    closed = [call(3, "session.close"), state(1, "closed"), answer(3)]
    frames = [shown(RIGHT, 1), shown(RIGHT, 2)]
    assert quick([*LOCKSTEP, *frames, *closed, shown(RIGHT, 3)], "AWP-SES-006") == [10]


def test_findings_stand_in_the_order_of_the_requirements() -> None:
    """Of rules that are asked together, and of those between which others stand."""
    spoken = said(*LOCKSTEP, frame(1, ns=1, ts_send_ns=0, payload_b64=WRONG))
    quickly, with_praise = (against(judged(spoken, AWP, praise=praise)) for praise in (False, True))
    names = [one.requirement for one in quickly if one.seq == 5]
    assert names == ["AWP-CLK-004", "AWP-MOD-001", "AWP-OBS-002"]
    assert quickly == with_praise
