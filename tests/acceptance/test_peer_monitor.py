"""Where the kit and the protocol's own conformance suite differ on our records is listed, with the reason."""

from __future__ import annotations

import peer_monitor
from specimens import FIXTURES


def test_every_difference_is_explained() -> None:
    """A new one is either a defect of the kit's, or needs a line that says why it is none."""
    assert peer_monitor.differences().keys() - peer_monitor.explained().keys() == set()


def test_nothing_is_explained_that_is_no_difference() -> None:
    assert peer_monitor.explained().keys() - peer_monitor.differences().keys() == set()


def test_a_difference_of_what_fails_is_on_these_records() -> None:
    listed = {key: row.get("records", []) for key, row in peer_monitor.explained().items()}
    assert listed == peer_monitor.differences()


def test_what_the_suite_does_not_watch_is_listed() -> None:
    assert peer_monitor.table()["not_watched"]["requirements"] == peer_monitor.not_watched()


def test_each_has_a_reason() -> None:
    assert [key for key, row in peer_monitor.explained().items() if len(row["why"]) < 20] == []


def test_the_suite_judges_what_it_is_given() -> None:
    """Without this, a record that never reached its monitor would be a difference, explained away."""
    folder = FIXTURES / peer_monitor.REVISION / "transcripts"
    for name, requirement in {
        "cancelling-then-completed": "AWP-LIF-001",
        "number-missing": "AWP-CTL-008",
        "frame-number-goes-back": "AWP-DAT-001",
        "frame-without-send-time": "AWP-OBS-006",
    }.items():
        said = peer_monitor.theirs(folder / "invalid" / f"{name}.jsonl")
        assert said[requirement] == "fail", name
    valid = peer_monitor.theirs(folder / "valid" / "core-lockstep.jsonl")
    assert len(valid) >= 20
    assert set(valid.values()) == {"pass"}


def test_both_agree_on_most_of_what_fails() -> None:
    agreed = [
        name
        for theirs, ours in peer_monitor.compared().values()
        for name, verdict in ours.items()
        if verdict == "fail" == theirs.get(name)
    ]
    assert len(agreed) >= 20, agreed
    assert {"AWP-LIF-001", "AWP-CTL-008", "AWP-SES-011", "AWP-ACT-001"} <= set(agreed)
