"""What the kit's own messages break: announced, not announced, or announced and not done."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance import packs, scenarios
from conformance.actions import Transmit
from conformance.announcing import Announcements, Mistake, Said, mistake, unmet
from conformance.campaign import Request, prepare, run_of
from conformance.events import Closed, Fault, Malformed, Received, Sent
from conformance.findings import Finding
from conformance.runner import run_one
from conformance.scenarios import Step

VA = packs.find("va-agent-protocol")


def broken(requirement: str, seq: int, party: str = "orchestrator") -> Finding:
    return Finding(requirement, False, party, seq, "it is wrong")


def step(line: int, *breaks: str) -> Step:
    return Step("raw", {"raw": "{}", "breaks": list(breaks)}, line)


# ── which step a message is of ───────────────────────────────────────────────────────────────────


def test_messages_are_of_the_steps_that_sent_them_in_order() -> None:
    seen = Announcements("agent")
    seen.leave([Transmit("main", b"{}", step=step(3, "X-1")), Transmit("main", b"{}")])
    seen.leave([Transmit("main", b"{", raw=True, step=step(5))])
    seen.see(Received(1, "world", "{}", {}))
    seen.see(Sent(2, "agent", "{}", {}))
    seen.see(Sent(3, "agent", "{}", {}))
    seen.see(Malformed(4, "agent", b"{", Fault("WIRE-JSON", "it breaks off")))
    assert seen.said == [Said(2, 3, ("X-1",)), Said(4, 5, ())]


def test_what_a_connection_that_broke_did_not_carry_is_no_message_of_a_later_one() -> None:
    seen = Announcements("agent")
    seen.leave([Transmit("main", b"{}", step=step(3, "X-1"))])
    seen.see(Closed(1, "main"))
    seen.leave([Transmit("main", b"{}", step=step(4))])
    seen.see(Sent(2, "agent", "{}", {}))
    assert seen.said == [Said(2, 4, ())]


def test_what_is_broken_by_what_is_not_said_has_no_message() -> None:
    seen = Announcements("agent")
    seen.keep_back(Step("silence", {"silence": "2 s", "breaks": ["X-1"]}, 6))
    seen.keep_back(Step("wait", {"wait": "2 s"}, 7))
    assert seen.said == [Said(0, 6, ("X-1",))]


# ── whether that is what was announced ───────────────────────────────────────────────────────────


def test_what_a_step_announces_is_no_mistake() -> None:
    said = [Said(4, 7, ("X-1",))]
    assert mistake([broken("X-1", 4)], [], said) is None


def test_what_no_step_announces_is_one_at_the_line_of_the_step() -> None:
    found = mistake([broken("X-2", 4)], [], [Said(4, 7, ("X-1",))])
    assert found == Mistake(
        "the step's message breaks X-2 and nothing announces it: it is wrong (event 4)", 7, 4
    )


def test_the_first_of_several_is_told() -> None:
    found = mistake([broken("X-2", 9), broken("X-3", 4)], [], [])
    assert found is not None
    assert found.seq == 4


def test_a_step_does_not_announce_for_another_step() -> None:
    said = [Said(4, 7, ("X-1",)), Said(6, 9, ())]
    found = mistake([broken("X-1", 4), broken("X-1", 6)], [], said)
    assert found is not None
    assert found.line == 9


def test_what_the_kit_says_of_its_own_accord_may_go_on_breaking_what_a_step_broke() -> None:
    said = [Said(4, 7, ("X-1",))]
    assert mistake([broken("X-1", 5)], [], said) is None
    found = mistake([broken("X-1", 3)], [], said)
    assert found is not None
    assert (found.line, "own accord" in found.said) == (0, True)


def test_what_is_left_out_on_purpose_counts_wherever_it_shows() -> None:
    said = [Said(2, 5, ()), Said(0, 7, ("X-1",))]
    assert mistake([broken("X-1", 2), broken("X-1", 9)], [], said) is None


def test_what_follows_a_fault_of_the_implementation_is_no_mistake() -> None:
    theirs = [Finding("X-9", True, "agent", 2), broken("X-9", 4, "agent")]
    assert mistake([broken("X-1", 5)], theirs, []) is None
    assert mistake([broken("X-1", 3)], theirs, []) is not None


def test_an_announcement_that_nothing_came_of_is_a_mistake() -> None:
    said = [Said(4, 7, ("X-1", "X-2"))]
    assert unmet([broken("X-1", 4), broken("X-2", 6)], said) is None
    assert unmet([broken("X-2", 9)], [Said(0, 7, ("X-1",))]) is None  # what was left out may not show
    assert unmet([broken("X-1", 4), broken("X-2", 6)], [*said, Said(6, 9, ("X-2",))]) is not None
    assert unmet([broken("X-1", 4), broken("X-2", 3)], said) == Mistake(
        "the step announces that it breaks X-2, and nothing did", 7, 4
    )


# ── in a run ─────────────────────────────────────────────────────────────────────────────────────


def ran(tmp_path: Path, steps: str) -> tuple[str, str, int, list[str]]:
    plan = prepare(Request(VA, target="reference", out=tmp_path)).plan
    text = f"title: t\nrole: orchestrator\ncovers: [VA-MSG-001]\nsteps:\n{steps}"
    run = run_of(plan, run_one(plan, scenarios.read(text, str(tmp_path / "mine.yaml"), VA)))
    return run.status, run.reason, run.line, [one.requirement for one in run.evidence.findings if not one.ok]


def test_a_message_that_breaks_what_the_step_does_not_say_is_an_error_of_the_scenario(
    tmp_path: Path,
) -> None:
    status, reason, line, against = ran(tmp_path, "  - raw: '[]'\n")
    assert (status, line, against) == ("error", 5, [])
    assert reason.startswith(f"{tmp_path / 'mine.yaml'}: the step's message breaks ")


@pytest.mark.parametrize(
    ("steps", "status"),
    [
        ("  - {raw: '[]', breaks: WIRE-OBJECT}\n", "passed"),
        ("  - {raw: '[]', breaks: [WIRE-OBJECT, VA-MSG-001]}\n", "error"),
        ("  - {send: cancel, payload: {taskId: T-1, reason: none}, breaks: VA-CAN-002}\n", "error"),
    ],
)
def test_what_a_step_announces_has_to_happen(tmp_path: Path, steps: str, status: str) -> None:
    assert ran(tmp_path, steps)[0] == status
