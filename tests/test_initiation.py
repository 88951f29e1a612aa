"""`conformance init`: what it writes can be read back, and says what was answered and learnt."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import forks
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from live import COMMAND

from conformance import campaign, configuration, initiation, packs, tomltext
from conformance.initiation import Statement
from conformance.packs import Pack
from conformance.transports.access import Means

VA, AWP = packs.find("va-agent-protocol"), packs.find("awp@0.1-draft.7")

scalars = st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10
)


@settings(deadline=None)
@given(st.dictionaries(st.text(), values))
def test_a_value_is_read_back_as_it_was(value: dict[str, Any]) -> None:
    text = "\n".join(
        line for name in value for line in [f"{tomltext.key(name)} = {tomltext.value(value[name])}"]
    )
    assert tomllib.loads(text) == value


def test_what_toml_cannot_say_is_refused() -> None:
    assert initiation.mistake({}, {"a": [None]}) == "TOML knows no null; leave the member out"
    assert initiation.mistake({"type": "string"}, 1) != ""
    assert initiation.mistake({"type": "string"}, "1") == ""


def at(facts: Mapping[str, Any], path: str) -> Any:
    """What is stated at a path, or None."""
    node: Any = facts
    for name in path.split("."):
        node = node.get(name) if isinstance(node, dict) else None
    return node


def stated(pack: Pack, role: str) -> dict[str, Any]:
    """The facts that the reference implementation states, by path."""
    row = pack.meta.get("reference", {}).get(role)
    ics = configuration.read(pack.specimens.at(row["ics"])).ics if row else {}
    found = {path: at(ics, path) for path in initiation.facts_for(pack, role)}
    return {path: fact for path, fact in found.items() if fact is not None}


@pytest.mark.parametrize("pack", packs.find_all(), ids=lambda pack: pack.name)
def test_what_is_written_is_read_back(pack: Pack, tmp_path: Path) -> None:
    """And obeys the schema, whatever is uncommented in it; for each role that can be certified."""
    assert initiation.roles(pack)
    for role in initiation.roles(pack):
        assert_is_read_back(pack, role, tmp_path)


def assert_is_read_back(pack: Pack, role: str, tmp_path: Path) -> None:
    facts = stated(pack, role)
    who = {"name": 'a "b" \\', "version": "1\x7f", "vendor": "Ä\n"}
    written = initiation.text(Statement(pack, role, "reference", who, facts))
    path = tmp_path / "conformance.toml"
    path.write_text(written, encoding="utf-8")
    read = configuration.read(path)
    assert (read.protocol, read.role, read.target) == (pack.name, role, "reference")
    assert read.implementation == who
    assert {name: at(read.ics, name) for name in facts} == facts
    plan = campaign.prepare(campaign.Request(pack, config=path)).plan
    assert (plan.role, plan.ics) == (role, configuration.facts(pack, read.ics))
    shape = Draft202012Validator(configuration.schema(pack))
    shape.validate(tomllib.loads(written))
    bare = initiation.text(Statement(pack, role))
    head, *rest = bare.split("# not stated:\n")
    filled = head + "".join(part.replace("# ", "", part.split("\n\n")[0].count("# ")) for part in rest)
    # An example shows the form of a fact; what pattern a text has to fit is for its description to say.
    assert {error.validator for error in shape.iter_errors(tomllib.loads(filled))} <= {"pattern"}
    ics = tomllib.loads(filled)["ics"]
    unsaid = [name for name in initiation.facts_for(pack, role) if at(ics, name) is None]
    assert [
        name for name in unsaid if "null" not in json.dumps(pack.meta["ics"][name].get("default", ""))
    ] == []


def test_a_first_connection_teaches() -> None:
    """By hand, from the manifest of the reference world."""
    lesson = initiation.learn(AWP, "world", "reference", Means())
    assert lesson.trouble == ""
    assert lesson.implementation["name"] == "reference-world"
    assert lesson.facts["modalities"] == ["proprio/json", "text/event+json"]
    assert lesson.hints["action"][:2] == ["move_to_pose", "stop"]


def init(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*forks.command("conformance"), "init", *arguments]
    return subprocess.run(command, cwd=folder, input="", capture_output=True, text=True, timeout=60)


def test_without_a_terminal_nothing_is_asked_and_nothing_overwritten(tmp_path: Path) -> None:
    done = init(tmp_path, VA.name, "--role", "agent", "--target", "stdio:no-such-program")
    assert done.returncode == 0, done.stderr
    said = "nothing was learnt from a first connection: cannot start 'no-such-program'"
    assert said in done.stderr
    path = tmp_path / "conformance.toml"
    assert configuration.read(path).ics == {
        "tasks": {"succeeds": VA.meta["ics"]["tasks.succeeds"]["default"]}
    }
    path.write_text("mine", encoding="utf-8")
    again = init(tmp_path, VA.name)
    assert (again.returncode, again.stdout) == (2, "")
    assert "conformance.toml is there already; --force writes it anew" in again.stderr
    assert path.read_text(encoding="utf-8") == "mine"
    assert init(tmp_path, VA.name, "--force").returncode == 0
    assert configuration.read(path).protocol == VA.name


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name a PROTOCOL; there is "),
        (("nothing",), "there is no pack 'nothing'"),
        (("awp", "--role", "nobody"), "no scenario certifies 'nobody'"),
        (("awp", "--out", "no/such/folder.toml"), "cannot be written: No such file or directory"),
    ],
)
def test_what_cannot_be_written(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = init(tmp_path, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_on_a_terminal_everything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "conformance.toml").write_text("old", encoding="utf-8")
    task = {"objective": "Fail", "acceptanceCriteria": ["exit 0"]}
    asked = {
        "tasks.fails": ['{"objective": 1}', json.dumps(task)],  # the first is none, so it is asked again
        "failure": ["y"],
    }
    facts = initiation.facts_for(VA, "agent")
    answers = ["y", VA.name, "", "mine", "2", "", *(one for path in facts for one in asked.get(path, [""]))]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "init", "--role", "agent"],
        cwd=tmp_path,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
    ) as child:
        os.write(ours, "".join(f"{answer}\n" for answer in answers).encode())
        try:
            out, _ = child.communicate(timeout=60)
        finally:
            child.kill()
    os.close(theirs)
    shown = os.read(ours, 1_000_000).decode()
    os.close(ours)
    assert child.returncode == 0, shown
    left_out = 2  # tasks that have no default
    said = (
        f"conformance.toml: {len(facts) - left_out} of {len(facts)} facts stated; edit it, then: conformance"
    )
    assert said in out.decode()
    read = configuration.read(tmp_path / "conformance.toml")
    assert read.implementation == {"name": "mine", "version": "2"}
    assert read.ics["tasks"] == {"succeeds": VA.meta["ics"]["tasks.succeeds"]["default"], "fails": task}
    assert {name: read.ics[name] for name in ("failure", "retry")} == {"failure": True, "retry": False}
