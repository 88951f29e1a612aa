from typing import Any

from conformance.correlation import Correlator, Message
from conformance.events import Received
from conformance.lifecycles import States, read
from conformance.packs import find
from conformance.remembered import REMEMBERED, forget_oldest, oldest, recall


def test_what_was_noted_first_is_forgotten_first() -> None:
    known = {number: str(number) for number in range(9)}
    assert oldest(known, 9) == []
    assert oldest(known, 8) == [0]
    assert not forget_oldest(known, 9)
    assert forget_oldest(known, 8)
    assert list(known) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_what_is_recalled_is_made_once_even_if_it_is_nothing() -> None:
    known: dict[str, None] = {}
    made: list[str] = []
    for _ in range(2):
        assert recall(known, "a", lambda: made.append("a")) is None
    assert made == ["a"]


TABLE: dict[str, Any] = {
    "name": "job",
    "initial": "open",
    "states": {"open": "active", "done": "terminal"},
    "transitions": [{"from": "open", "to": "done"}],
}


def test_of_what_is_over_the_latest_is_known_and_nothing_is_said_of_the_rest() -> None:
    states = States(read(TABLE))
    states.create("still open")
    for number in range(REMEMBERED + 1):
        states.create(f"job-{number}")
        states.move(f"job-{number}", "done")
    assert states.state("job-0") is None
    assert not states.never_began("job-0")
    assert states.state(f"job-{REMEMBERED}") == "done"
    assert states.state("still open") == "open"


def test_an_answer_to_what_is_forgotten_is_no_answer_to_nothing() -> None:
    correlator, party = Correlator(find("awp")), {True: "agent", False: "world"}

    def said(number: int, **part: Any) -> Message:
        value = {"jsonrpc": "2.0", "id": number, **part}
        return correlator.message(Received(number, party["method" in part], "", value))

    correlator.opened("main")
    for number in range(REMEMBERED + 1):
        said(number, method="ping", params={"origin_ns": 0})
    assert said(REMEMBERED, result={}).name == "ping.result"
    assert said(0, result={}).name == "?"
    assert said(REMEMBERED + 9, result={}).name == "?"  # it may answer one of those that are forgotten
