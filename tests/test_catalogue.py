"""What there is: lists as text and JSON, and finding a requirement in the packs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from judging import AWP, ROOT, VA, row, toy

from conformance import catalogue, packs
from conformance.cli import main
from conformance.errors import NoSuchPack, NoSuchRequirement
from conformance.packs import Pack


def called(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def listed(*arguments: str) -> list[str]:
    """The lines of a list."""
    result = called("list", *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def objects(*arguments: str) -> list[dict[str, Any]]:
    """The same as JSON."""
    return list(json.loads("\n".join(listed(*arguments, "--format", "json"))))


def data(pack: Pack, name: str) -> Any:
    return json.loads((pack.folder / f"{name}.json").read_text(encoding="utf-8"))


def test_packs() -> None:
    lines = listed("packs")
    folders = {f"{path.parent.parent.name}@{path.parent.name}" for path in ROOT.glob("schemas/*/*/pack.json")}
    assert {line.split()[0] for line in lines} == folders
    [va] = [line for line in lines if line.startswith("va-agent-protocol@0.1.0")]
    rows, kinds = data(VA, "requirements")["requirements"], data(VA, "pack")["kinds"]
    scenarios = [*VA.fixtures.glob("scenarios/[!_]*.yaml")]
    counts = f"  {len(rows)} requirements, {len(kinds)} kinds, {len(scenarios)} scenarios"
    assert va.endswith(counts)
    assert listed("packs", "va-agent-protocol")[0].split()[0] == "va-agent-protocol@0.1.0"
    assert {one["name"]: one["certifies"] for one in objects("packs")}["va-agent-protocol@0.1.0"] == "agent"


def test_kinds() -> None:
    lines = listed("kinds", "va-agent-protocol")
    assert [line.split()[0] for line in lines] == [kind["name"] for kind in data(VA, "pack")["kinds"]]
    assert lines[1] == "accepted       agent         the agent takes the execution on"
    assert "TaskUnit       document      a task on its own" in lines
    assert objects("kinds", "va-agent-protocol")[1]["from"] == ["agent"]


def test_a_kind_without_a_summary_is_told_by_its_method() -> None:
    told = {name: rest for name, *rest in (re.split(" {2,}", line) for line in listed("kinds", AWP.name))}
    assert told["world.tick"] == ["agent", "request of world.tick"]
    assert told["ping.result"] == ["agent or world", "result of ping"]
    assert told["error"] == ["agent or world", "error"]


def test_requirements() -> None:
    lines = listed("requirements", "va-agent-protocol")
    rows = data(VA, "requirements")["requirements"]
    assert [line.split()[0] for line in lines][: len(rows)] == [one["id"] for one in rows]
    [said] = [line for line in lines if line.startswith("VA-EVD-002")]
    assert re.split(" {2,}", said) == [
        "VA-EVD-002", "MUST", "agent", "check",
        "A failed execution says why: its evidence has failureDetail.",
    ]  # fmt: skip
    assert lines[-1].startswith("WIRE-LIMIT")
    assert max(len(line) for line in lines) > 120, "a summary is never cut"


def test_how_a_requirement_is_judged_in_one_word() -> None:
    found = {one["id"]: one["judged"] for one in objects("requirements", AWP.name)}
    assert (found["AWP-LIF-001"], found["AWP-CNF-001"], found["AWP-UNI-001"]) == (
        "check",
        "excluded",
        "manual",
    )
    rows = data(AWP, "requirements")["requirements"]
    by_scenarios = {one["id"] for one in rows if one.get("check") == {"kind": "scenario"}}
    assert by_scenarios
    # That messages are refused is the kit's own, and shown by steps as well.
    assert {name for name, said in found.items() if said == "scenario"} == by_scenarios | {"WIRE-REFUSAL"}
    for word in ("excluded", "manual", "untested"):
        assert {name for name, said in found.items() if said == word} == {
            one["id"] for one in rows if word in one
        }


def test_requirements_by_glob() -> None:
    lines = listed("requirements", "-r", "VA-EVD-00[123]", "-r", "WIRE-KEYS")
    assert [line.split()[:2] for line in lines] == [
        ["VA-EVD-001", "va-agent-protocol@0.1.0"],
        ["VA-EVD-002", "va-agent-protocol@0.1.0"],
        ["VA-EVD-003", "va-agent-protocol@0.1.0"],
        ["WIRE-KEYS", "every"],
    ]
    assert [one["protocol"] for one in objects("requirements", "-r", "WIRE-KEYS")] == [None]
    assert [one["protocol"] for one in objects("requirements", "awp", "-r", "WIRE-KEYS")] == ["awp"]


def test_scenarios() -> None:
    files = {path.stem for path in VA.fixtures.glob("scenarios/[!_]*.yaml")}
    assert {line.split()[0] for line in listed("scenarios", "va-agent-protocol")} == files
    assert "failure" in files
    found = objects("scenarios", "-r", "VA-EVD-002")
    assert {"failure", "retry"} <= {one["name"] for one in found} < files
    assert {one["certifies"] for one in found} == {"agent"}
    assert all("VA-EVD-002" in one["requirements"] for one in found)


def test_without_a_protocol_every_line_says_whose_it_is() -> None:
    known = {pack.name for pack in packs.find_all()}
    with_scenarios = {pack.name for pack in packs.find_all() if pack.specimens.like("scenarios/[!_]*")}
    assert {line.split()[1] for line in listed("kinds")} == known
    assert {line.split()[1] for line in listed("scenarios")} == with_scenarios
    assert {line.split()[1] for line in listed("requirements")} == {*known, "every"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("packs", "awq"), "there is no pack 'awq'; there is "),
        (("kinds", "va-agent-protocl"), "did you mean va-agent-protocol"),
        (("requirements", "va-agent-protocol", "-r", "VA-X-*"), "no requirement is called 'VA-X-*'"),
        (("scenarios", "-r", "VA-EVD-002", "-r", "X"), "no scenario concerns a requirement 'X'"),
        (("kinds", "-r", "X"), "no requirement selects kinds"),
        (("packs", "-r", "X"), "no requirement selects packs"),
        (("nothing",), "'nothing' is not one of 'packs', 'kinds', 'requirements', 'scenarios'"),
    ],
)
def test_what_cannot_be_listed(arguments: tuple[str, ...], said: str) -> None:
    result = called("list", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_every_list_can_be_asked_for() -> None:
    what = main.commands["list"].params[0].type
    assert isinstance(what, click.Choice)
    assert list(what.choices) == list(catalogue.LISTS)


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -c 'from conformance.cli import main; main()' list requirements | head -n 1"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, timeout=60, check=True)
    assert done.stdout.startswith(b"AWP-MSG-001") or done.stdout.count(b"\n") == 1
    assert done.stderr == b""


def test_what_a_pack_says_is_not_obeyed_by_a_terminal(tmp_path: Path) -> None:
    pack = toy(tmp_path, row(summary="\x1b[2J"))
    text = catalogue.as_text("requirements", list(catalogue.LISTS["requirements"].rows((pack,), ("TOY-*",))))
    assert "\x1b" not in text
    assert catalogue.as_text("kinds", []) == ""


def test_the_packs_that_have_a_requirement() -> None:
    assert catalogue.having("VA-EVD-002") == [VA]
    assert catalogue.having("WIRE-KEYS") == list(packs.find_all())
    assert catalogue.having("WIRE-KEYS", "va-agent-protocol") == [VA]


@pytest.mark.parametrize(
    ("name", "pack", "said"),
    [
        ("va-evd-002", "", "no pack has a requirement 'va-evd-002'; did you mean VA-EVD-002?"),
        ("XYZZY", "", "no pack has a requirement 'XYZZY'"),
        ("WIRE-KEYES", VA.name, f"{VA.name} has no requirement 'WIRE-KEYES'; did you mean WIRE-KEYS or "),
    ],
)
def test_a_requirement_that_no_pack_has(name: str, pack: str, said: str) -> None:
    with pytest.raises(NoSuchRequirement) as caught:
        catalogue.having(name, pack)
    assert str(caught.value).startswith(said)


def test_a_pack_that_there_is_not() -> None:
    with pytest.raises(NoSuchPack, match=r"; there is va-agent-protocol@0\.1\.0$"):
        catalogue.chosen("va-agent-protocol@0.1.1")
