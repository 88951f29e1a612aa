"""What is noted of a stretch of a record, and whether that lets it be judged by itself: by hand."""

from __future__ import annotations

from typing import Any

import pytest

from conformance import conversations, packs
from conformance.conversations import Before, Noted, Notes, Rule
from conformance.correlation import Message
from conformance.events import Received

VA = packs.find("va-agent-protocol")
RULE = Rule("/key", frozenset({"begin"}), frozenset({"end"}), "/thing")


def message(name: str, key: Any, thing: Any = None) -> Message:
    value = {"key": key, "thing": thing}
    return Message(Received(1, "left", "{}", value), None, name, "left", value=value)


def noted(*told: Message | None) -> Notes:
    notes = Notes(RULE)
    for one in told:
        notes.take(one)
    return notes


def test_a_pack_says_how_its_records_can_be_cut_or_they_are_not() -> None:
    rule = Rule.of(VA)
    assert rule is not None
    assert (rule.key, rule.begin) == ("/correlationId", {"dispatch"})
    assert Rule.of(packs.find("governed-attempt-progress")) is None


def test_what_begins_and_ends_within_a_stretch_leaves_nothing_open() -> None:
    notes = noted(
        message("begin", "a", "x"), message("go", "a"), message("end", "a"), message("begin", "b", "y")
    )
    assert not notes.hopeless
    whole = notes.news(whole=True)
    assert whole == Noted((hash("a"), hash("b")), (hash("x"), hash("y")), (hash("y"),), 0, 0, 1, 1)
    assert notes.news() == Noted(open=1)


def test_what_another_has_open_is_taken_up_anew() -> None:
    told = (message("begin", "a", "x"), message("begin", "b", "x"), message("begin", "b", "z"))
    found = noted(*told).news(whole=True)
    assert (found.replaced, found.open) == (1, 2)
    assert {*found.left_open} == {hash("x"), hash("z")}


def test_what_names_nothing_takes_up_the_same() -> None:
    found = noted(message("begin", "a"), message("begin", "b", 7)).news()
    assert (found.taken_up, found.replaced) == ((0, 0), 1)


@pytest.mark.parametrize(
    "told", [None, message("go", 7), message("go", "a")], ids=["no message", "no key", "stray"]
)
def test_what_is_of_no_conversation_that_began_is_hopeless(told: Message | None) -> None:
    notes = noted(message("begin", "b", "x"), told)
    assert notes.hopeless
    assert not Before().allows(notes.news())


def test_what_goes_on_for_long_counts_as_not_seen_to_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "SPAN", 3)
    begun = (message("begin", "a", "x"), *(message("go", "a") for _ in range(3)))
    assert not noted(*begun).hopeless
    others = (message("begin", "b", "y"), message("go", "a"))
    assert noted(*begun, *others).hopeless


def test_of_more_than_is_remembered_nobody_needs_to_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "REMEMBERED", 2)
    two = noted(message("begin", "a", "x"), message("begin", "b", "y"))
    assert not two.hopeless
    two.take(message("begin", "c", "z"))
    assert two.hopeless


def test_a_stretch_stands_for_itself_where_nothing_before_can_matter() -> None:
    before = Before()
    before.add(
        noted(message("begin", "a", "x"), message("end", "a"), message("begin", "b", "y")).news(whole=True)
    )
    assert before.allows(noted(message("begin", "c", "x")).news())
    assert not before.allows(noted(message("begin", "a", "z")).news())  # a key that was used
    assert not before.allows(noted(message("begin", "c", "y")).news())  # what was left open
