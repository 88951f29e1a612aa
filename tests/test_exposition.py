"""`explain`: everything that is known of a requirement, as text and JSON."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from judging import AWP, ROOT, row, toy

from conformance import catalogue, exposition, packs
from conformance.cli import main
from conformance.events import Event
from conformance.findings import Finding
from conformance.packs import Pack


@pytest.fixture(autouse=True)
def _judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found on a fixture is the same each time that it is looked for."""
    monkeypatch.setattr(exposition, "_judged", judged)


@cache
def judged(data: bytes, where: str, pack: Pack) -> list[tuple[Event | None, Finding]]:
    return [*JUDGED(data, where, pack)]


JUDGED = exposition._judged


def called(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["explain", *arguments])


def explained(*arguments: str) -> str:
    result = called(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def value(*arguments: str) -> dict[str, Any]:
    return dict(json.loads(explained(*arguments, "--format", "json")))


def section(text: str, title: str) -> list[str]:
    """The lines below a title."""
    _, _, rest = text.partition(f"\n{title}")
    return [line.removeprefix("  ") for line in rest.partition("\n\n")[0].splitlines()[1:]]


def test_a_requirement_with_a_check() -> None:
    text = explained("VA-EVD-002")
    assert text.splitlines()[:10] == [
        "VA-EVD-002: A failed execution says why: its evidence has failureDetail.",
        "",
        "protocol  va-agent-protocol@0.1.0",
        "level     MUST",
        "role      agent",
        "area      evidence",
        "rule      evidence.schema.json#/properties/failureDetail",
        "judged    check",
        "",
        "How it is judged",
    ]
    judged, *_ = section(text, "How it is judged")
    assert judged.startswith(
        'The value at /payload/evidence of a message of failed fits {"required": ["failureDetail"]}'
    )
    folder = "fixtures/va-agent-protocol/0.1.0"
    assert f"{folder}/messages/valid/failed.full.json" in section(text, "What passes it")
    assert f"\nWhat passes it ({len(value('VA-EVD-002')['passed_by'])}), in {ROOT}\n" in text
    path = f"{folder}/messages/invalid/evidence.failed-without-detail.json"
    assert f"{path}: What failed has to be told." in section(text, "What fails it")
    assert "failure covers it: A task that cannot be done fails and says why" in section(text, "Scenarios")
    example = value("VA-EVD-002")["example"]
    file = json.loads((ROOT / example["path"]).read_text(encoding="utf-8"))
    assert "VA-EVD-002" in file["violates"]
    why, message, finding = section(text, "What fails it looks like this")
    assert (why, json.loads(message)) == (file["why"], file["message"])
    assert finding.startswith('the member "failureDetail" is missing')


def test_the_same_as_an_object() -> None:
    found = value("VA-EVD-002")
    assert (found["id"], found["level"], found["role"]) == ("VA-EVD-002", "MUST", "agent")
    assert found["criteria"][0]["check"]["then"] == {"required": ["failureDetail"]}
    assert "fixtures/va-agent-protocol/0.1.0/transcripts/valid/two-at-once.jsonl" in found["passed_by"]
    assert all((ROOT / path).is_file() for path in found["passed_by"])
    assert found["example"]["path"] in {one["path"] for one in found["failed_by"]}
    assert {"failure", "retry"} <= {one["name"] for one in found["scenarios"]}


def test_constraints_and_errata() -> None:
    text = explained("VA-MSG-002")
    assert "  every constraint on the message's /payload\n" in text
    assert [one["id"] for one in value("VA-MSG-002")["errata"]] == [f"VA-ERR-{n}" for n in range(1, 5)]
    assert "\nErrata of the published schemas\n  VA-ERR-1: The choices of the payload overlap" in text
    assert f"  and {len(value('VA-MSG-002')['passed_by']) - 5} more\n" in text


def test_an_example_that_the_end_of_a_record_shows() -> None:
    example = value("VA-LIF-003")["example"]
    assert "was still running" in example["finding"]
    assert '"type":"accepted"' in example["message"].replace(" ", "")


def test_a_requirement_of_the_wire() -> None:
    found = value("WIRE-UTF8")
    assert (found["protocol"], found["also_in"]) == (None, [])
    assert {"success", "run-succeeds"} <= {one["name"] for one in found["scenarios"]}
    assert "fixtures/wire/not-utf-8.json" in {one["path"] for one in found["failed_by"]}
    assert {Path(path).parts[1] for path in found["passed_by"]} == {p.protocol for p in packs.find_all()}
    assert explained("WIRE-UTF8").splitlines()[2] == "protocol  every protocol"
    assert value("WIRE-LIMIT")["example"]["path"].startswith("fixtures/")


def rows_with(*members: str) -> list[dict[str, Any]]:
    """The rows of a pack that have these members."""
    rows = json.loads((AWP.folder / "requirements.json").read_text(encoding="utf-8"))["requirements"]
    return [one for one in rows if all(name in one for name in members)]


@pytest.mark.parametrize(
    ("member", "said"),
    [
        ("excluded", "Not at all: {}."),
        ("manual", "By a person: {}."),
        ("untested", "Not yet: {}."),
        ("part", "That shows a part of it: {}."),
    ],
)
def test_what_is_not_judged_in_full_says_why(member: str, said: str) -> None:
    one = rows_with(member)[0]
    assert said.format(one[member]) in section(explained(one["id"], "-p", AWP.name), "How it is judged")


def test_what_a_scenario_proves() -> None:
    text = explained("AWP-SES-006", "-p", AWP.name)
    assert any(one.startswith("close-while-acting covers and proves it: ") for one in section(text, "Scen"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("va-evd-002",), "no pack has a requirement 'va-evd-002'; did you mean VA-EVD-002?"),
        (("VA-EVD-002", "-p", AWP.name), f"{AWP.name} has no requirement 'VA-EVD-002'"),
        (("VA-EVD-002", "-p", "nothing"), "there is no pack 'nothing'; there is "),
    ],
)
def test_what_cannot_be_explained(arguments: tuple[str, ...], said: str) -> None:
    result = called(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"conformance: {said}")


@pytest.fixture
def revisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Pack, Pack]:
    """A toy in two revisions, in which one requirement is the same and another is not."""
    same = row({"kind": "direction"}, "TOY-DIR-001")
    older = toy(tmp_path, same, row({"kind": "direction"}), row(name="TOY-OLD-001", untested="it is gone"))
    newer_folder = older.folder.with_name("2")
    older.folder.rename(newer_folder)
    newer = toy(tmp_path, same, row({"kind": "schema", "on": ["go"]}, level="SHOULD", summary="Ω."))
    both = Pack(newer.folder), Pack(newer_folder)
    for pack, revision in zip(both, ("2", "1"), strict=True):
        pack.revision = revision
    monkeypatch.setattr(packs, "data_root", lambda: tmp_path)
    monkeypatch.setattr(packs, "find_all", lambda root=None: both)
    return both


def test_of_several_revisions_the_newest_is_explained(revisions: tuple[Pack, Pack]) -> None:
    found = exposition.of("TOY-MSG-001")
    assert (found["revision"], found["level"]) == ("2", "SHOULD")
    assert found["also_in"] == [
        {"protocol": "toy", "revision": "1", "differs": ["level", "summary", "checks"]}
    ]
    assert "\nalso in   toy@1 (other level, summary, checks)\n" in exposition.as_text(found)
    assert "\nalso in   toy@1 (the same)\n" in exposition.as_text(exposition.of("TOY-DIR-001"))
    assert exposition.of("TOY-MSG-001", "toy@1")["also_in"][0]["revision"] == "2"
    assert exposition.of("TOY-OLD-001")["also_in"] == []


def test_a_requirement_that_nothing_proves_has_no_example(revisions: tuple[Pack, Pack]) -> None:
    text = exposition.as_text(exposition.of("TOY-DIR-001"))
    assert "looks like this" not in text
    assert "What fails it" not in text


def test_a_fixture_that_does_not_fail_what_it_says_is_not_shown(revisions: tuple[Pack, Pack]) -> None:
    folder = revisions[0].fixtures / "messages" / "invalid"
    folder.mkdir(parents=True)
    said = {"violates": ["TOY-DIR-001"], "why": "It is not so.", "message": {"toy": 1, "type": "go"}}
    (folder / "go.json").write_text(json.dumps(said), encoding="utf-8")
    found, place = exposition.of("TOY-DIR-001"), f"fixtures/toy/{revisions[0].folder.name}"
    assert found["failed_by"] == [{"path": f"{place}/messages/invalid/go.json", "why": "It is not so."}]
    assert found["example"] is None


def test_a_requirement_may_be_judged_by_constraints_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claiming = row(name="TOY-CLM-001", claims=[{"at": "toy.schema.json#/properties/n"}])
    pack = toy(tmp_path, row({"kind": "schema", "on": ["go"]}), claiming)
    monkeypatch.setattr(packs, "data_root", lambda: tmp_path)
    monkeypatch.setattr(packs, "find_all", lambda root=None: (pack,))
    text = exposition.as_text(exposition.of("TOY-CLM-001"))
    assert "A message that breaks a constraint of its own fails it all the same." in text
    assert "fails it all the same" not in exposition.as_text(exposition.of("TOY-MSG-001"))


def test_a_long_message_is_cut_in_the_text_alone() -> None:
    found = value("WIRE-KEYS")
    found["example"]["message"] = "x" * 5000
    assert max(map(len, exposition.as_text(found).splitlines())) < 1000


@pytest.mark.parametrize(
    "pack", [pack for pack in packs.find_all() if pack.base is None], ids=lambda pack: pack.name
)
def test_what_fails_a_requirement_has_an_example(pack: Pack) -> None:
    """Of the first requirement of each area, which is judged by what is seen; of at most six areas."""
    areas: dict[str, str] = {}
    for requirement in catalogue.own_requirements(pack):
        if catalogue.judged(requirement) == "check":
            areas.setdefault(requirement.area, requirement.id)
    assert areas
    for name in [*areas.values()][:: -(-len(areas) // 6)]:
        found = exposition.of(name, pack.name)
        assert found["passed_by"], name
        assert found["failed_by"], name
        assert found["example"]["finding"], name
