"""How much work one message is: function calls are counted, which no other load on the machine changes."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from conformance import packs, records
from conformance.events import Event
from conformance.monitor import Monitor

FIXTURES = Path(__file__).parents[1] / "fixtures"

MARGIN = 1.5
"""What costs more than this, compared with what was counted when the bound was set, is a regression."""


def awp() -> Iterator[str]:
    """A session in lockstep, again and again under other names, as a trace of the protocol's own suite."""
    path = FIXTURES / "awp/0.1-draft.7/transcripts/valid/core-lockstep.jsonl"
    text = path.read_text(encoding="utf-8")
    opened = next(line for line in map(json.loads, text.splitlines()) if _begins(line))["msg"]["result"]
    for number in range(6):
        again = text.replace(opened["session_id"], f"session-{number}")
        yield from again.replace(opened["session_token"], f"{opened['session_token']}-{number}").splitlines()


def _begins(line: Any) -> bool:
    return "session_token" in line.get("msg", {}).get("result", {})


def va() -> Iterator[str]:
    """One execution after the other, each of which completes."""
    path = FIXTURES / "va-agent-protocol/0.1.0/transcripts/valid/completed.jsonl"
    for number in range(100):
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            message = json.loads(line).get("message")
            if message is not None:
                message["correlationId"] = f"execution-{number}"
                yield json.dumps(message)


def again(path: str, **names: str) -> Iterator[str]:
    """The messages of a transcript, a hundred times, each time with other names for what has these."""
    lines = (FIXTURES / path).read_text(encoding="utf-8").splitlines()[1:]
    text = "\n".join(json.dumps(json.loads(line)["message"]) for line in lines if '"message"' in line)
    for name in names.values():
        assert name in text
        text = text.replace(name, f"{name.removesuffix('000')}###")
    for number in range(100):
        yield from text.replace("###", f"{number:03}").splitlines()


def gap() -> Iterator[str]:
    """One attempt after the other, up to where it is verified."""
    return again("governed-attempt-progress/1.0/transcripts/valid/to-verified.jsonl", operation="OP-1")


def ossa() -> Iterator[str]:
    """A worker starts, answers, does its task and stops; and then another one."""
    path = "ossa-a2a/0.3.3/transcripts/valid/a-day-at-work.jsonl"
    return again(
        path, id="-4000-8000-000000000000", worker="worker-001", task="task-1", other="task-2", question="q-1"
    )


def atep() -> Iterator[str]:
    """One run after the other, each of which succeeds."""
    return again("atep/1/transcripts/valid/succeeded.jsonl", run="run-7")


class Counted:
    """Counts the calls of functions, of Python and of C, while it is used."""

    def __init__(self) -> None:
        self.calls = 0

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        self.calls += event in ("call", "c_call")

    def __enter__(self) -> "Counted":
        self._before = sys.getprofile()
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._before)


@pytest.mark.parametrize(
    ("protocol", "lines", "most"),
    [
        ("awp", awp, 221),
        ("va-agent-protocol", va, 123),
        ("governed-attempt-progress", gap, 296),
        ("ossa-a2a", ossa, 322),
        ("atep", atep, 237),
    ],
)
def test_a_message_takes_so_many_calls(protocol: str, lines: Any, most: int) -> None:
    pack = packs.find(protocol)
    data = "".join(line + "\n" for line in lines()).encode()
    events: Iterator[Event] = records.open_record(data, protocol, pack).events
    monitor = Monitor(pack, praise=False)
    found = []
    while monitor.messages < 200:  # what is made once for each kind, and once for each process
        found += monitor.feed(next(events))
    with Counted() as counted:
        for event in events:
            found += monitor.feed(event)
    found += monitor.end()
    assert [one for one in found if not one.ok] == []
    messages = monitor.messages - 200
    assert messages >= 200
    assert counted.calls / messages < most * MARGIN
