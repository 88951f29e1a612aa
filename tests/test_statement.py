"""What the ICS says, held against what was seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance import packs
from conformance.packs import Pack
from conformance.report import evaluation, statement
from conformance.report.evaluation import Evidence, Run
from conformance.report.text import render

VA = packs.find("va-agent-protocol")


def run(
    status: str, needs: tuple[str, ...] = (), shown: dict[str, int] | None = None, name: str = "one"
) -> Run:
    reason = "" if status == "passed" else "because"
    about = (name, "A scenario", status, reason, 0, 0.25, f"transcripts/{name}.jsonl", "", ())
    return Run(*about, Evidence(shown=shown or {}), needs=needs)


def told(ics: dict[str, Any], *runs: Run, pack: Pack = VA) -> list[tuple[str, bool, str]]:
    return [(one["fact"], one["stated"], one["message"]) for one in statement.findings(pack, ics, [*runs])]


@pytest.mark.parametrize(
    ("ics", "runs", "expected"),
    [
        # Stated and seen, neither, and nothing tried.
        ({"failure": True}, [run("passed", ("failure",), {"failure": 4})], []),
        ({}, [run("passed")], []),
        ({"failure": True, "cancellation": True}, [run("passed")], []),
        # Seen by a message, whatever became of the scenario that needs it.
        ({"failure": True}, [run("inconclusive", ("failure",)), run("passed", (), {"failure": 4})], []),
        # Shown by a scenario that came to its end, where no message shows it.
        ({"cancellation": True}, [run("passed", ("cancellation",))], []),
        (
            {"cancellation": True},
            [run("inconclusive", ("cancellation",)), run("passed", ("cancellation",))],
            [],
        ),
        # What failed, or was cut short by nobody's doing, is told elsewhere.
        ({"cancellation": True}, [run("failed", ("cancellation",))], []),
        ({"cancellation": True}, [run("interrupted", ("cancellation",))], []),
        # Of what is not true there is nothing to see.
        ({"cancellation": False}, [run("not-applicable", ("cancellation",))], []),
        (
            {"cancellation": True},
            [run("inconclusive", ("cancellation",), name="cancel")],
            [("cancellation", True, "the ICS states cancellation, and it was not seen in cancel: because")],
        ),
        (
            {"failure": True, "retry": True},
            [run("passed", ("failure",)), run("not-applicable", ("failure", "retry"), name="two")],
            [
                ("failure", True, "the ICS states failure, and it was not seen in one, two: because"),
                ("retry", True, "the ICS states retry, and it was not seen in two: because"),
            ],
        ),
        (
            {"failure": False},
            [run("failed", (), {"failure": 4, "blocking": 5})],
            [
                (
                    "failure",
                    False,
                    "the ICS does not state failure, and it was seen: "
                    "the agent can be made to fail (tasks.fails)",
                ),
                (
                    "blocking",
                    False,
                    "the ICS does not state blocking, and it was seen: "
                    "the agent can be made to block (tasks.blocks)",
                ),
            ],
        ),
    ],
)
def test_the_two_agree_or_it_is_told(
    ics: dict[str, Any], runs: list[Run], expected: list[tuple[str, bool, str]]
) -> None:
    assert told(ics, *runs) == expected


def test_it_is_told_with_its_place_and_turns_no_verdict() -> None:
    def report(ics: dict[str, Any]) -> dict[str, Any]:
        runs = [run("passed", (), {"failure": 4})]
        return evaluation.evaluate(VA, "agent", runs, target="x", implementation={}, ics=ics, complete=True)

    silent, loud = report({"failure": True}), report({})
    assert (silent["requirements"], silent["claim"]) == (loud["requirements"], loud["claim"])
    assert silent["ics_findings"] == []
    assert "ICS: " not in render(silent)
    [one] = loud["ics_findings"]
    assert (one["scenarios"], one["transcript"], one["line"]) == (["one"], "transcripts/one.jsonl", 5)
    assert "ICS: the ICS does not state failure, and it was seen: " in render(loud)
    assert " (transcripts/one.jsonl:5)\n" in render(loud)


GATE = '{"gate": "g", "passed": true, %s}'


@pytest.mark.parametrize(
    ("type_", "evidence", "facts"),
    [
        ("failed", '"gateResults": []', {"failure": 2}),
        ("completed", '"x": 1', {}),
        ("completed", '"gateResults": [%s]' % (GATE % '"command": "make", "exitCode": 0'), {"gates": 2}),
        ("completed", '"gateResults": [%s]' % (GATE % '"score": 0.5'), {"evaluation": 2}),
        ("blocked", '"x": 1', {"blocking": 2}),
        ("dispatch", '"x": 1', {}),
    ],
)
def test_what_messages_of_the_implementation_show(
    type_: str, evidence: str, facts: dict[str, int], tmp_path: Path
) -> None:
    record = tmp_path / "record.jsonl"

    def shown(role: str) -> dict[str, int]:
        record.write_text(
            '{"transcript": 1, "protocol": "va-agent-protocol", "revision": "0.1.0"}\n'
            '{"seq": 1, "event": "opened"}\n'
            '{"seq": 2, "event": "received", "party": "agent", "message": {"protocol": "va-agent-protocol", '
            f'"type": "{type_}", "payload": {{"evidence": {{{evidence}}}}}}}}}\n'
        )
        return evaluation.judge(record, VA, role).shown

    assert shown("agent") == facts
    assert shown("orchestrator") == {}  # what the kit says shows nothing


def test_which_facts_a_scenario_needs() -> None:
    needs = {"failure": True, "orders": {"retry": True, "other": {"$is": {"minimum": 2}}}, "gates": False}
    assert [*statement.needed(needs)] == ["failure", "orders.retry"]
