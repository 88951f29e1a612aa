"""Conversations through the lifecycles: what they show, and what no messages can."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from judging import row, toy

from conformance import packs, walking
from conformance.cli import main
from conformance.correlation import Correlator
from conformance.errors import BadPack
from conformance.events import Received, Sent
from conformance.generation import recording, walks
from conformance.judgement import Told
from conformance.monitor import Monitor
from conformance.packs import Pack
from conformance.validation import Options, judge_path

VA, OSSA, AWP, ATEP = map(packs.find, ("va-agent-protocol", "ossa-a2a", "awp@0.1-draft.7", "atep"))
legal, illegal = cache(walks.legal), cache(walks.illegal)
WALKED = [VA, OSSA, AWP]

each_pack = pytest.mark.parametrize("pack", WALKED, ids=lambda pack: pack.name)


@each_pack
def test_every_edge_is_walked_or_named(pack: Pack) -> None:
    found = legal(pack)
    for name, (table, _) in pack.lifecycles.items():
        named = {one.what for one in found.unwalked if one.lifecycle == name}
        walked = {f"{source} -> {target}" for source, target in found.covered(name)}
        assert walked | named == {f"{edge.source} -> {edge.target}" for edge in table.edges()}
        assert not walked & named


def test_what_no_messages_can_show_is_known() -> None:
    """By hand: a task that failed begins again under another correlationId; a run's state is on no wire."""
    assert [one.what for one in legal(VA).unwalked] == ["failed -> running"]
    assert [one for pack in (OSSA, AWP) for one in legal(pack).unwalked] == []
    assert len(legal(ATEP).unwalked) == 5
    assert legal(ATEP).walks == ()


@each_pack
def test_a_legal_walk_breaks_nothing_and_takes_its_edges(pack: Pack) -> None:
    for walk in legal(pack).walks:
        monitor = Monitor(pack)
        broken = [one for event in walk.events for one in monitor.feed(event) if not one.ok]
        assert [*broken, *(one for one in monitor.end() if not one.ok)] == []
        table = pack.lifecycles[walk.lifecycle][0]
        by_error = {pair for pair, edge in table.transitions.items() if edge.wire == "error"}
        taken = {(source, target) for name, source, target in monitor.edges if name == walk.lifecycle}
        again = {(state, state) for state in table.repeat}  # which a redelivery moves nobody along
        assert set(walk.edges) - by_error - again == taken - again, walk.name


def test_the_shortest_come_first_and_go_on_to_an_end() -> None:
    found = legal(VA).walks
    assert [walk.states for walk in found[:3]] == [
        ("pending", "cancelled"),
        ("pending", "running", "completed"),
        ("pending", "running", "completed"),
    ]
    assert {walk.states[-1] for walk in found} == {"completed", "cancelled", "failed"}


def test_an_error_takes_the_edge_that_no_status_may_report() -> None:
    [walk] = [walk for walk in legal(AWP).walks if walk.states == ("submitted", "rejected")]
    correlator = Correlator(AWP)
    names = [correlator.message(one).name for one in walk.events if isinstance(one, Sent | Received)]
    assert names[-2:] == ["action.submit", "action.submit.error"]


@pytest.mark.parametrize(
    ("pack", "counts"),
    [
        # 5 reports after each of completed, failed and cancelled; before that, what follows no edge.
        (VA, {"VA-LIF-002": 10, "VA-CAN-001": 5, "VA-LIF-001": 7}),
        (OSSA, {"OSSA-LIF-001": 4, "OSSA-LIF-002": 5, "OSSA-LIF-004": 1}),
    ],
    ids=["va", "ossa"],
)
def test_an_illegal_walk_fails_one_requirement(pack: Pack, counts: dict[str, int]) -> None:
    found = illegal(pack).walks
    assert {name: sum(walk.fails == name for walk in found) for name in counts} == counts
    assert len(found) == sum(counts.values())


@each_pack
def test_every_pair_without_an_edge_is_walked_or_named(pack: Pack) -> None:
    found = illegal(pack)
    for name, (table, _) in pack.lifecycles.items():
        told = [walk.name for walk in found.walks if walk.lifecycle == name]
        told += [one.what for one in found.unwalked if one.lifecycle == name]
        for source in table.classes:
            for target in table.classes:
                has_edge = table.edge(source, target) is not None
                assert has_edge or any(f"{one} ".startswith(f"{source} to {target} ") for one in told)


def test_every_reason_that_is_missing_or_not_permitted_is_walked() -> None:
    """By hand, from the table: eight edges to rejected, failed and cancelled ask for a reason, and eleven
    edges list some.
    """
    wrong = [walk.name for walk in illegal(AWP).walks if walk.fails == "AWP-LIF-004"]
    assert sum(" with no reason" in name for name in wrong) == 9
    assert len(wrong) == 20


@each_pack
def test_a_record_says_what_it_fails_and_is_judged_so(pack: Pack, tmp_path: Path) -> None:
    walk = illegal(pack).walks[0]
    lines = recording.lines(pack, walk)
    header = json.loads(lines[0])
    path = tmp_path / recording.file_name(walk, 1)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    told: list[Told] = []
    judge_path(path, Options(), lambda _, found: told.append(found))
    assert [one.finding.requirement for one in told] == header["fails"] == [walk.fails]


def test_walks_are_written_one_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert walking.execute(VA, tmp_path, illegal=False) == 0
    assert len(list(tmp_path.iterdir())) == 10
    assert (tmp_path / "001-task-pending-to-cancelled.jsonl").is_file()
    said = capsys.readouterr().err
    assert "task: 10 of 11 edges covered, in 10 walks" in said
    assert "not walked: failed -> running: no message reports" in said


def test_a_pack_without_lifecycles_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    walking.execute(packs.find("governed-attempt-progress"), None, illegal=True)
    assert "no lifecycle" in capsys.readouterr().err


def called(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["generate", *arguments])


def test_walks_by_the_command_line() -> None:
    result = called("va-agent-protocol", "--walks", "--invalid")
    assert result.exit_code == 0
    headers = [json.loads(line) for line in result.stdout.splitlines() if line.startswith('{"transcript"')]
    assert [header["fails"][0] for header in headers].count("VA-LIF-002") == 10


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("va-agent-protocol", "cancel", "--walks"), "leave out kind"),
        (
            ("va-agent-protocol", "--walks", "--coverage", "--as-published"),
            "leave out as-published, coverage",
        ),
        (("--walks",), "say whose lifecycles to walk through"),
        (("va-agent-protocol", "cancel", "--out", "x"), "--out goes with --walks"),
    ],
)
def test_what_is_about_messages_is_refused(arguments: tuple[str, ...], said: str) -> None:
    result = called(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr


JOB = {
    "name": "job",
    "initial": "asked",
    "states": {"asked": "transient", "lost": "transient", "done": "terminal"},
    "transitions": [{"from": "asked", "to": "done"}, {"from": "lost", "to": "done"}],
}


def test_what_no_message_leads_to_is_named(tmp_path: Path) -> None:
    moves = [{"on": ["go"], "entity": "/id", "state": "/state"}]
    other = JOB | {"name": "lamp", "states": {"asked": "transient", "done": "terminal"}}
    other["transitions"] = [{"from": "asked", "to": "done"}]
    pack = toy(
        tmp_path,
        row({"kind": "direction"}),
        templates={"go": {"type": "go"}},
        files={"job.json": JOB, "lamp.json": other},
        lifecycles=[{"file": "job.json", "moves": moves}, {"file": "lamp.json", "moves": []}],
    )
    told = [(one.lifecycle, one.what, one.because) for one in walks.legal(pack).unwalked]
    assert ("job", "lost -> done", "no walk leads to lost") in told
    assert [(name, what) for name, what, _ in told] == [("job", "lost -> done"), ("lamp", "asked -> done")]
    said = [*recording.summary(walks.legal(pack), illegal=False)]
    assert [line.split(": ")[:2] for line in said] == [
        ["job", "1 of 2 edges covered, in 1 walks"],
        ["  not walked", "lost -> done"],
        ["lamp", "0 of 1 edges covered, in 0 walks"],
        ["  not walked", "asked -> done"],
    ]
    lost = [(one.what, one.because) for one in walks.illegal(pack).unwalked if one.what.startswith("lost ")]
    assert lost == [(f"lost to {state} by go", "no walk leads to lost") for state in ("asked", "lost")]


def test_an_answer_that_no_request_asks_for_is_the_packs_fault(tmp_path: Path) -> None:
    answer = {"name": "job.result", "from": ["left"], "when": {"method": "job", "part": "result"}}
    pack = toy(
        tmp_path,
        files={"job.json": JOB},
        kinds=[answer | {"at": "/result", "schema": "toy.schema.json"}],
        lifecycles=[{"file": "job.json", "moves": [{"on": ["job.result"], "entity": "/id", "to": "done"}]}],
    )
    with pytest.raises(BadPack, match=r"job\.result answers no request of toy@1"):
        walks.legal(pack)
