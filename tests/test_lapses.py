"""What takes too long is held against nobody where the kit was late: every check about time, both ways."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from judging import AWP, VA, against, judged, row, said, toy
from test_protocols_awp_rules import OPEN, rpc

from conformance import packs, records
from conformance.cli import main
from conformance.events import Closed, Event, Opened, Received, Sent
from conformance.findings import Finding, Level, Verdict, verdict_of
from conformance.lapses import Lapse, between, hindered, told
from conformance.monitor import Monitor
from conformance.packs import Pack

OSSA = packs.find("ossa-a2a@0.3.3")


def at(time: float | None, lag: float = 0.0, late: float = 0.0) -> Received:
    return Received(1, "agent", "{}", {}, time=time, lag=lag, late=late)


# ── lapses ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("begun", "ended", "lapse"),
    [
        (at(1.0), at(3.5), Lapse(2.5, 2.5, 0.0)),
        (at(1.0), at(3.5, lag=0.5), Lapse(2.0, 2.5, 0.0)),  # it may have been there before
        (at(1.0, lag=0.5), at(3.5), Lapse(2.5, 3.0, 0.0)),  # and so may what it began with
        (at(1.0, late=4.0), at(3.5, late=5.5), Lapse(2.5, 2.5, 1.5)),
        (at(1.0), at(3.5, lag=0.5, late=0.5), Lapse(2.0, 2.5, 0.0)),  # one delay counts once
        (at(1.0), at(3.5, lag=0.5, late=0.75), Lapse(2.0, 2.5, 0.25)),
        (at(1.0), at(1.5, lag=2.0), Lapse(-1.5, 0.5, 0.0)),
        (Sent(1, "world", "{}", {}, time=1.0, late=1.0), Closed(2, time=2.0, late=1.5), Lapse(1.0, 1.0, 0.5)),
    ],
)
def test_the_time_between_two_events(begun: Event, ended: Event, lapse: Lapse) -> None:
    assert between(begun, ended) == lapse


def test_a_record_without_times_tells_no_time() -> None:
    assert between(at(None), at(1.0)) is None
    assert between(at(1.0), at(None)) is None


def test_a_time_by_another_clock_is_as_long_as_it_says() -> None:
    assert told(2.5, at(1.0, late=1.0), at(9.0, late=3.0)) == Lapse(2.5, 2.5, 2.0)
    assert hindered(Opened(1, late=3.0), at(9.0, late=1.0)) == 0.0  # of two sessions, say


@pytest.mark.parametrize(
    ("lapse", "exceeds", "falls_short"),
    [
        (Lapse(1.0, 1.0), False, True),
        (Lapse(2.0, 2.0), False, False),
        (Lapse(3.0, 3.0), True, False),
        (Lapse(1.5, 3.0), None, None),
        (Lapse(3.0, 3.0, 1.0), None, False),  # who was kept from acting may be late, but is not early
        (Lapse(3.5, 3.5, 1.0), True, False),
        (Lapse(2 + Fraction(1, 10**30), 2 + Fraction(1, 10**30)), True, False),
    ],
)
def test_two_seconds_are_allowed_or_have_to_be(
    lapse: Lapse, exceeds: bool | None, falls_short: bool | None
) -> None:
    assert lapse.exceeds(2.0) is exceeds
    assert lapse.falls_short(2.0) is falls_short


# ── checks ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Slow:
    """A record in which something takes `over` seconds longer than is allowed; 0 where nobody can say."""

    pack: Pack
    record: str
    requirement: str
    over: float

    def findings(self, late: float) -> list[Finding]:
        """What is against the requirement, where the kit was late for so long before each event."""
        path = self.pack.fixtures / "transcripts" / "invalid" / f"{self.record}.jsonl"
        events = records.open_record(path.read_bytes(), str(path), self.pack).events
        # All the delay is between what began and what came too late: these records have little else.
        slow = [event._replace(late=late * event.seq) for event in events]
        return [one for one in against(judged(slow, self.pack)) if one.requirement == self.requirement]


SLOW = [
    Slow(AWP, "ping-never-answered", "AWP-CTL-004", 1.0),
    Slow(AWP, "submission-never-answered", "AWP-LIF-002", 0.0),
    Slow(AWP, "telemetry-too-late", "AWP-TIM-006", 1.0),
    Slow(AWP, "world-without-heartbeat", "AWP-SAF-001", 0.6),
    Slow(AWP, "agent-without-heartbeat", "AWP-AGT-006", 0.6),
    Slow(AWP, "command-frame-from-the-future", "AWP-CLK-009", 0.0),
    Slow(AWP, "basis-is-stale", "AWP-SAF-010", 0.0),
    Slow(AWP, "begun-after-its-deadline", "AWP-ACT-004", 0.299),
    Slow(AWP, "completed-after-its-deadline", "AWP-ACT-004", 4.799),
    Slow(AWP, "completed-after-its-longest-duration", "AWP-ACT-008", 1.599),
    Slow(AWP, "begun-when-it-was-over", "AWP-ACT-007", 0.05),
    Slow(AWP, "abort-takes-too-long", "AWP-LIF-010", 0.1),
    Slow(AWP, "approval-too-late", "AWP-APR-003", 3.0),
    Slow(AWP, "twice-the-rate", "AWP-DAT-003", 0.03),
    Slow(AWP, "subscribed-to-the-past", "AWP-OBS-005", 0.4),
    Slow(VA, "later-than-the-timeout", "VA-TSK-002", 0.0),
    Slow(VA, "progress-after-cancel", "VA-CAN-001", 1.5),
    Slow(VA, "replaced-attempt-is-blocked", "VA-COR-004", 0.0),
    Slow(OSSA, "completed-after-the-deadline", "OSSA-TSK-003", 60.0),
]


@pytest.mark.parametrize("slow", SLOW, ids=lambda slow: slow.record)
def test_who_is_too_slow_fails_unless_the_kit_was_late(slow: Slow) -> None:
    calm = slow.findings(0.0)
    assert calm
    assert not any(one.inconclusive for one in calm)
    busy = slow.findings(1000.0)
    assert len(busy) == len(calm)
    assert all(one.inconclusive for one in busy)
    assert all(one.message.endswith(" s late") for one in busy)
    assert {verdict_of(one, Level.MUST) for one in busy} == {Verdict.INCONCLUSIVE}


@pytest.mark.parametrize("slow", [one for one in SLOW if one.over], ids=lambda slow: slow.record)
def test_who_is_slower_than_the_kit_was_late_fails_all_the_same(slow: Slow) -> None:
    assert not any(one.inconclusive for one in slow.findings(slow.over / 100))


def test_what_is_too_early_is_no_matter_of_a_late_kit() -> None:
    for record, requirement in (
        ("deadline-exceeded-too-early", "AWP-ACT-004"),
        ("approval-timeout-too-early", "AWP-APR-003"),
        ("expired-within-the-window", "AWP-CTL-005"),
    ):
        [found] = Slow(AWP, record, requirement, 0.0).findings(1000.0)
        assert not found.inconclusive


def test_a_window_that_may_have_been_over_when_it_was_lost_early() -> None:
    """AWP-CTL-005: the connection may have been gone before the kit noticed."""
    path = AWP.fixtures / "transcripts" / "invalid" / "expired-within-the-window.jsonl"
    events = list(records.open_record(path.read_bytes(), str(path), AWP).events)
    noticed = [one._replace(lag=500.0) if isinstance(one, Closed) else one for one in events]
    [found] = [one for one in against(judged(noticed, AWP)) if one.requirement == "AWP-CTL-005"]
    assert found.inconclusive


def exchange(number: int, offset: int) -> list[tuple[str, object]]:
    told = {"origin_ns": 0, "receive_ns": offset, "transmit_ns": offset}
    return [
        ("agent", rpc(id=100 + number, method="ping", params={"origin_ns": 0})),
        ("world", rpc(id=100 + number, result=told)),
    ]


def reported(offset: int, late: float) -> list[Finding]:
    """AWP-CLK-008 of a report after twelve exchanges, of which the kit saw all but the first at once."""
    pings = [message for number in range(12) for message in exchange(number, 10**9 * (number + 1))]
    report = ("agent", rpc(method="obs.report", params={"sync": {"offset_ns": offset, "rtt_ns": 0}}))
    events = said(*OPEN, *pings, report)
    burst = len(OPEN) + 2
    timed = [
        one._replace(
            time=float(place) if place < burst else 60.0 + place / 1000, late=late * (place >= burst)
        )
        for place, one in enumerate(events)
    ]
    last = timed[-2]
    assert isinstance(last, Received)
    timed[-2] = last._replace(lag=min(late, 5.0))
    return [one for one in judged(timed, AWP) if one.requirement == "AWP-CLK-008"]


def test_an_estimate_may_be_older_than_the_answers_that_a_late_kit_gave_at_once() -> None:
    first, newest, none = 10**9, 12 * 10**9, 5
    assert [(one.ok, one.inconclusive) for one in reported(first, 0.0)] == [(False, False)]
    assert [(one.ok, one.inconclusive) for one in reported(first, 5.0)] == [(False, True)]
    assert [(one.ok, one.inconclusive) for one in reported(newest, 5.0)] == [(True, False)]
    assert [(one.ok, one.inconclusive) for one in reported(none, 5.0)] == [(False, False)]


# ── what comes of it ─────────────────────────────────────────────────────────────────────────────


def test_what_is_not_decided_hides_no_fault_of_the_same_message(tmp_path: Path) -> None:
    """Both are of one requirement: that the answer was late is open, that it is malformed is not."""
    schema = {
        "toy.schema.json": {"$schema": "https://json-schema.org/draft/2020-12/schema", "required": ["n"]}
    }
    pack = toy(tmp_path, row({"kind": "schema"}), schemas=schema)
    doubt = Finding("TOY-MSG-001", False, "left", 1, inconclusive=True)

    class Doubtful:
        def see(self, _: object) -> list[Finding]:
            return [doubt]

        def end(self, _: bool) -> list[Finding]:
            return []

    monitor = Monitor(pack)
    everybody = monitor._everybody
    monitor._everybody = type(everybody)(everybody.attending, [Doubtful().see])
    found = monitor.feed(Received(1, "left", '{"type": "begin"}', {"type": "begin"}))
    assert [(one.ok, one.inconclusive) for one in found] == [(False, True), (False, False)]


def test_validate_tells_only_what_is_decided(tmp_path: Path) -> None:
    text = (AWP.fixtures / "transcripts" / "invalid" / "telemetry-too-late.jsonl").read_text("utf-8")
    for late, code in ((0, 1), (1000, 0)):
        rows = text.splitlines()
        rows = [
            one.replace('"connection"', f'"late": {late * at}, "connection"') for at, one in enumerate(rows)
        ]
        record = tmp_path / "record.jsonl"
        record.write_text("\n".join(rows) + "\n", encoding="utf-8")
        done = CliRunner().invoke(main, ["validate", str(record)])
        assert (done.exit_code, "AWP-TIM-006" in done.stdout) == (code, code == 1)
