"""What is said of the faults of a reference implementation: caught, missed, or another requirement's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance import packs, selftest
from conformance.errors import ExitCode, UsageError
from conformance.selftest import Matrix, Trial

VA = packs.find("va-agent-protocol")


def trial(fault: str, requirement: str, code: int, *ended: str, **verdicts: str) -> Trial:
    """A run with these verdicts, whose one scenario ended so."""
    status, reason = ended or ("passed", "")
    rows = [{"id": name.replace("_", "-"), "verdict": verdict} for name, verdict in verdicts.items()]
    report: dict[str, Any] = {
        "requirements": rows,
        "scenarios": [{"name": "cancel", "status": status, "reason": reason}],
    }
    return Trial(fault, requirement, code, report, Path())


HONEST = trial("", "", 0, VA_LIF_001="pass", VA_LIF_002="pass", VA_COR_001="not-applicable")
CAUGHT = trial("second-end", "VA-LIF-002", 1, VA_LIF_002="fail")
WARNED = trial("no-reason", "VA-CAN-002", 0, VA_CAN_002="warn")
MISSED = trial("mute", "VA-LIF-003", 3, "inconclusive", "it said nothing", VA_LIF_003="inconclusive")
OTHER = trial("leaps", "VA-LIF-001", 1, VA_LIF_001="pass", VA_COR_001="fail")
TOO = trial("swaps", "VA-LIF-001", 1, VA_LIF_001="fail", VA_COR_001="fail")
UNTRIED = trial("breaks-the-kit", "VA-LIF-001", 4, "error", "the kit failed: KeyError: 1")


def matrix(*trials: Trial, honest: Trial = HONEST) -> Matrix:
    return Matrix(VA, "agent", honest, trials, frozenset({"VA-LIF-002"}))


def test_every_outcome_is_told_in_the_order_of_the_requirements() -> None:
    said = selftest.as_text([matrix(CAUGHT, WARNED, MISSED, OTHER, TOO, UNTRIED)])
    assert said == (
        "va-agent-protocol@0.1.0, agent: 2 of 6 faults caught\n"
        "  VA-LIF-001  leaps           misattributed: VA-COR-001 failed instead\n"
        "  VA-LIF-001  swaps           misattributed: VA-COR-001 failed too\n"
        "  VA-LIF-001  breaks-the-kit  untried: scenario cancel: error: the kit failed: KeyError: 1\n"
        "  VA-LIF-002  second-end      caught\n"
        "  VA-LIF-003  mute            missed: scenario cancel: inconclusive: it said nothing\n"
        "  VA-CAN-002  no-reason       caught\n"
        "no fault breaks 1 requirement that it was seen to meet: VA-LIF-001\n"
    )


def test_the_matrix_as_json() -> None:
    [value] = json.loads(selftest.as_json([matrix(OTHER)]))
    assert value == {
        "protocol": "va-agent-protocol",
        "revision": "0.1.0",
        "role": "agent",
        "blamed": [],
        "faults": [
            {
                "fault": "leaps",
                "requirement": "VA-LIF-001",
                "outcome": "misattributed",
                "failed": ["VA-COR-001"],
            }
        ],
        "unbroken": ["VA-LIF-001"],
    }


@pytest.mark.parametrize(
    ("trials", "code"),
    [
        ((CAUGHT, WARNED), ExitCode.HOLDS),
        ((CAUGHT, MISSED), ExitCode.BROKEN),
        ((CAUGHT, OTHER), ExitCode.BROKEN),
        ((CAUGHT, TOO), ExitCode.BROKEN),
        ((OTHER, UNTRIED), ExitCode.KIT_ERROR),
    ],
)
def test_the_exit_code(trials: tuple[Trial, ...], code: int) -> None:
    assert matrix(*trials).code == code


@pytest.mark.parametrize(
    ("honest", "code", "said"),
    [
        (trial("", "", 1, VA_LIF_002="fail"), 1, "VA-LIF-002"),
        (trial("", "", 0, VA_CAN_002="warn"), 1, "VA-CAN-002"),
        (trial("", "", 3, "unreachable", "no such file"), 1, "scenario cancel: unreachable: no such file"),
        (trial("", "", 4, "error", "the kit failed"), 4, "scenario cancel: error: the kit failed"),
    ],
)
def test_the_honest_implementation_is_blamed_for_nothing(honest: Trial, code: int, said: str) -> None:
    found = matrix(CAUGHT, honest=honest)
    assert found.code == code
    assert f"the honest implementation is blamed: {said}\n" in selftest.as_text([found])


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (selftest.Request("ossa-a2a", role="nobody"), "no reference implementation of 'nobody' in ossa-a2a"),
        (selftest.Request("va-agent-protocol", faults=("none*",)), "no fault is called 'none*'; there is "),
    ],
)
def test_what_there_is_not_cannot_be_tried(request_: selftest.Request, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        selftest.execute(request_, selftest.as_text)
    assert said in str(caught.value)


def test_a_fault_that_is_said_to_break_another_requirement_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real runs of the reference: what it breaks is what is told, whatever its list says."""
    listed = {"no-block-reason": "VA-EVD-003", "duplicate-key": "VA-LIF-001"}
    monkeypatch.setattr(selftest.references, "faults", lambda *_: listed)
    found = selftest.matrix(VA, "agent", tmp_path, jobs=8)
    outcomes = {one.fault: (one.outcome, one.of("fail", "warn")) for one in found.trials}
    assert outcomes == {
        "no-block-reason": ("caught", ["VA-EVD-003"]),
        "duplicate-key": ("misattributed", ["WIRE-KEYS"]),
    }
    assert (found.code, found.blamed) == (1, [])
    assert (tmp_path / "duplicate-key" / "report.json").is_file()
