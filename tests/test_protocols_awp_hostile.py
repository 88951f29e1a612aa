"""Agent World Protocol: values that rules do not expect are the matter of the schema, and stop no rule."""

from __future__ import annotations

import json
from typing import Any

import pytest
from judging import AWP, of_text

HUGE = 10**400
"""An integer beyond every float."""

VALUES: list[Any] = [None, True, 1.5, HUGE, -HUGE, 1e308, 1e-320, "x", [], {}, [[]], [{}], [HUGE, 0, 0, 1]]

PLACES = [
    ("rate-granted-higher", 4, "/params/subscribe/0/channel"),
    ("rate-granted-higher", 4, "/params/subscribe/0/rate_hz"),
    ("rate-granted-higher", 5, "/result/granted/channels/0/channel"),
    ("rate-granted-higher", 5, "/result/session_id"),
    ("admitted-for-no-embodiment", 3, "/result/embodiments/0/multi_bind_group"),
    ("executing-without-an-advance", 5, "/result/granted/channels/0/rate_hz"),
    ("subscribed-to-the-past", 5, "/result/granted/channels/0/rate_hz"),
    ("subscription-lists-the-new-alone", 8, "/result/granted/0/channel"),
    ("denied", 10, "/params/approval_id"),
    ("rotation-of-another-norm", 5, "/result/frame_tree/frames/1/transform/q"),
    ("offset-from-an-exchange", 9, "/params/sync/offset_ns"),
    ("command-frames", 3, "/result/action_schemas/2/command_channel"),
]
"""Where values are looked up, compared or calculated with: a transcript, a message's number, a pointer."""


def spoilt(name: str, number: int, pointer: str, value: Any) -> str:
    """The transcript with another value at a pointer of one of its messages."""
    (path,) = (AWP.fixtures / "transcripts").glob(f"*/{name}.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    (message,) = (line["message"] for line in lines if line.get("seq") == number)
    *steps, last = pointer.removeprefix("/").split("/")
    for step in steps:
        message = message[int(step) if isinstance(message, list) else step]
    message[int(last) if isinstance(message, list) else last] = value
    return "".join(f"{json.dumps(line)}\n" for line in lines)


@pytest.mark.parametrize(("name", "number", "pointer"), PLACES, ids=lambda part: str(part))
def test_every_rule_bears_every_value(name: str, number: int, pointer: str) -> None:
    for value in VALUES:
        assert of_text(spoilt(name, number, pointer, value), AWP)


def test_a_whole_number_is_told_as_it_is_written() -> None:
    found = of_text(spoilt("rate-granted-higher", 4, "/params/subscribe/0/rate_hz", 20), AWP)
    (told,) = (one for one in found if one.requirement == "AWP-NEG-003" and not one.ok)
    assert told.message == "joints is granted at 50 Hz, and was asked for at 20 Hz"
    assert (repr(told.expected), repr(told.actual)) == ("(20,)", "50")


def test_an_offset_is_compared_exactly_however_great_it_is() -> None:
    found = of_text(spoilt("offset-from-an-exchange", 9, "/params/sync/offset_ns", HUGE), AWP)
    told = [one for one in found if one.requirement == "AWP-CLK-008" and not one.ok]
    assert [one.actual for one in told] == [HUGE]
