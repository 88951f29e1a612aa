"""Whose turn it is: one after another, beside one that needs it later, and anew where two had it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import pytest

from conformance.turns import Turn, Turns

HOUR = 3600.0


def played(play: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(play, 30))


async def settled() -> None:
    """Everything has gone on that can."""
    for _ in range(10):
        await asyncio.sleep(0)


class Table:
    """Who has the arm, told in the order in which they got it."""

    def __init__(self) -> None:
        self.there_is: dict[str, Turns] = {}
        self.told: list[str] = []
        self.let_go: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    def turn(self, lasting: float = 0.0, takes: tuple[str, ...] = ("arm",)) -> Turn:
        return Turn(self.there_is, takes, lasting)

    async def begin(self, name: str, lasting: float = 0.0) -> Turn:
        turn = self.turn(lasting)
        self.let_go[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._have(name, turn))
        await settled()
        return turn

    async def _have(self, name: str, turn: Turn) -> None:
        async with turn:
            self.told.append(name)
            await self.let_go[name].wait()

    async def end(self, name: str) -> None:
        self.let_go[name].set()
        await self.tasks[name]
        await settled()


def test_one_has_it_after_another_as_they_came() -> None:
    async def play() -> None:
        table = Table()
        for name in "abc":
            await table.begin(name)
        assert table.told == ["a"]
        await table.end("a")
        assert table.told == ["a", "b"]
        await table.end("b")
        await table.end("c")
        assert table.told == ["a", "b", "c"]

    played(play())


def test_who_gives_up_waiting_is_passed_over_and_nobody_waits_for_it() -> None:
    async def play() -> None:
        table = Table()
        for name in "abc":
            await table.begin(name)
        table.tasks["b"].cancel()
        with suppress(asyncio.CancelledError):
            await table.tasks["b"]
        await table.end("a")
        assert table.told == ["a", "c"]
        await table.end("c")

    played(play())


def test_a_step_has_it_before_those_that_have_not_begun_until_it_leaves() -> None:
    async def play() -> None:
        table = Table()
        await table.begin("a")
        await table.begin("b")
        other = table.turn(takes=())
        taking = asyncio.create_task(other.take("arm"))
        await settled()
        assert not taking.done()
        await table.end("a")
        assert taking.done()
        assert table.told == ["a"]
        other.leave("arm")
        await settled()
        assert table.told == ["a", "b"]
        await table.end("b")

    played(play())


def test_what_a_scenario_takes_no_step_of_it_leaves() -> None:
    async def play() -> None:
        table = Table()
        turn = await table.begin("a")
        await table.begin("b")
        await turn.take("arm")  # which it has
        turn.leave("arm")
        await settled()
        assert table.told == ["a"]
        await table.end("a")
        await table.end("b")

    played(play())


def test_who_is_not_through_before_it_is_needed_begins_afterwards() -> None:
    async def play() -> None:
        table = Table()
        later = table.turn(takes=())
        later.reserve("arm", HOUR)
        await table.begin("too long", 2 * HOUR)
        await table.begin("short", 1.0)
        await table.begin("other", 1.0)
        assert table.told == ["short"]
        await table.end("short")
        assert table.told == ["short", "other"]
        await table.end("other")
        assert table.told == ["short", "other"]
        await later.__aexit__()
        await settled()
        assert table.told == ["short", "other", "too long"]
        await table.end("too long")

    played(play())


@pytest.mark.parametrize(("lasting", "second"), [(HOUR / 2, "long"), (1.0, "brief")])
def test_one_that_lasts_goes_before_those_that_find_time_anyway(lasting: float, second: str) -> None:
    async def play() -> None:
        table = Table()
        later = table.turn(takes=())
        later.reserve("arm", HOUR)
        await table.begin("a")
        await table.begin("brief", 0.5)
        await table.begin("long", lasting)
        await table.end("a")
        assert table.told == ["a", second]
        for name in [second, *({"brief", "long"} - {second})]:
            await table.end(name)

    played(play())


def test_who_has_it_still_when_another_needs_it_is_disturbed_and_has_it_anew() -> None:
    async def play() -> None:
        table = Table()
        turn = await table.begin("a", 0.0)
        later = table.turn(takes=())
        later.reserve("arm", 0.0)
        while not turn.is_disturbed:
            await asyncio.sleep(0.001)
        anew = asyncio.create_task(turn.is_taken_anew())
        await settled()
        assert not anew.done(), "the other has it"
        await later.__aexit__()
        assert await anew
        assert not turn.is_disturbed
        assert not await turn.is_taken_anew()
        await table.end("a")

    played(play())


def test_nobody_is_disturbed_where_the_other_has_left_before() -> None:
    async def play() -> None:
        table = Table()
        turn = await table.begin("a", 0.0)
        later = table.turn(takes=())
        later.reserve("arm", 0.0)
        later.leave("arm")
        await asyncio.sleep(0.01)
        assert not turn.is_disturbed
        await table.end("a")

    played(play())
