"""What is forgotten, since there is more than can be remembered, is never held against anybody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, zip_longest

import pytest
from test_work import atep, awp, gap, ossa

from conformance import lifecycles, packs, records, remembered
from conformance.checks import delivery
from conformance.findings import Finding
from conformance.monitor import Monitor
from conformance.protocols import atep as atep_runs
from conformance.protocols import atep_exchange, awp_registry, ossa_replies
from conformance.protocols import gap as gap_attempts
from conformance.protocols import ossa as ossa_tasks

pytestmark = pytest.mark.interpreted(reason="another limit than the compiled one")

SESSIONS = {"governed-attempt-progress": gap, "ossa-a2a": ossa, "atep": atep}
"""By protocol, a hundred sessions, one after the other."""


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten things of a sort are remembered."""
    for function in (remembered.forget_oldest, remembered.oldest):
        monkeypatch.setattr(function, "__defaults__", (10,))
    for module in (atep_runs, atep_exchange, gap_attempts, ossa_tasks, ossa_replies):
        if hasattr(module, "REMEMBERED_MESSAGES"):
            monkeypatch.setattr(module, "REMEMBERED_MESSAGES", 10)
    monkeypatch.setattr(lifecycles, "OPEN", 15)
    monkeypatch.setattr(delivery, "DELIVERED", 20)
    monkeypatch.setattr(atep_exchange, "ASKED", 10)


def against(protocol: str, lines: list[str]) -> list[Finding]:
    """The findings against a record."""
    pack = packs.find(protocol)
    monitor = Monitor(pack, praise=False)
    events = records.open_record("".join(f"{line}\n" for line in lines).encode(), protocol, pack).events
    found = [finding for event in events for finding in monitor.feed(event)]
    return [finding for finding in [*found, *monitor.end()] if not finding.ok]


def sessions(protocol: str) -> list[list[str]]:
    """The messages of each session."""
    lines = [*SESSIONS[protocol]()]
    size = len(lines) // 100
    return [lines[at : at + size] for at in range(0, len(lines), size)]


def by_turns(of: list[list[str]]) -> Iterator[str]:
    """A message of each, and so on."""
    return (line for line in chain.from_iterable(zip_longest(*of)) if line is not None)


@pytest.mark.parametrize("protocol", SESSIONS)
@pytest.mark.parametrize("turns", [1, 5, 40])
def test_many_at_a_time(protocol: str, turns: int, forgetful: None) -> None:
    whole = sessions(protocol)
    groups = [whole[at : at + turns] for at in range(0, 100, turns)]
    assert against(protocol, [line for group in groups for line in by_turns(group)]) == []


@pytest.mark.parametrize("protocol", SESSIONS)
def test_one_that_goes_on_for_long(protocol: str, forgetful: None) -> None:
    """Its messages stand among those of many others, so that it is forgotten after each."""
    one, *others = sessions(protocol)
    apart = zip_longest(one, [others[at : at + 12] for at in range(0, 96, 12)], fillvalue=[])
    lines = [line for own, group in apart for line in ([own] if own else []) + [*chain.from_iterable(group)]]
    assert against(protocol, lines) == []


def test_what_is_delivered_again_after_long(forgetful: None) -> None:
    first, *others = sessions("ossa-a2a")
    many = [*chain.from_iterable(others)]
    again = [line for line in first if "AgentSt" not in line]
    started = [line for line in first if "AgentStarted" in line]
    assert against("ossa-a2a", [*first, *many, *started, *again]) == []


@pytest.mark.parametrize(
    ("protocol", "at", "name", "wrong", "broken"),
    [
        ("governed-attempt-progress", 3, "attempt", 3, "GAP-ATT-001"),
        ("atep", 1, "step_id", "another", "ATEP-OUT-002"),
        ("ossa-a2a", 4, "id", "00000000-0000-4000-8000-00000000ffff", "OSSA-LIF-002"),
    ],
)
def test_what_is_wrong_is_told_all_the_same(
    protocol: str, at: int, name: str, wrong: object, broken: str, forgetful: None
) -> None:
    """A message is said again with something else, when much was forgotten already."""
    whole = sessions(protocol)
    said = json.loads(whole[90][at]) | {name: wrong}
    whole[90][at + (protocol == "ossa-a2a") : at + 1] = [json.dumps(said)]
    assert broken in {one.requirement for one in against(protocol, [*chain.from_iterable(whole)])}


def worlds(many: int) -> list[list[str]]:
    """The lines of so many sessions of AWP, each under a name of its own."""
    lines = [*awp()]
    size = len(lines) // 6
    return [[line.replace('-0"', f'-{number}"') for line in lines[:size]] for number in range(many)]


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three sessions of AWP are remembered at least that are over."""
    monkeypatch.setattr(awp_registry, "ENDED", 3)


@pytest.mark.usefixtures("brief")
def test_of_sessions_that_are_over_the_latest_are_remembered() -> None:
    """What is used again of the last one is held against the world, as if there had been no others."""
    said = worlds(20)
    last = said[-1]
    assert against("awp@0.1-draft.7", [*chain(*said)]) == []
    again = {one.requirement for one in against("awp@0.1-draft.7", [*chain(*said), *last])}
    assert again == {one.requirement for one in against("awp@0.1-draft.7", [*last, *last])} != set()


@pytest.mark.usefixtures("brief")
def test_a_fault_after_many_sessions_is_told_as_after_one() -> None:
    said = worlds(20)
    broken = [line for line in said[-1] if '"state":"executing"' not in line]
    assert len(broken) < len(said[-1])
    alone = [one.requirement for one in against("awp@0.1-draft.7", broken)]
    after = [one.requirement for one in against("awp@0.1-draft.7", [*chain(*said[:-1]), *broken])]
    assert after == alone != []
