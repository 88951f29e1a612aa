"""`conformance.toml`: what is read, and what is said of every mistake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance import configuration, packs
from conformance.errors import BadConfiguration, UsageError
from conformance.packs import Pack

VA = packs.find("va-agent-protocol")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "conformance.toml"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_a_statement(tmp_path: Path) -> None:
    text = (
        'target = "stdio:agent"\r\n[implementation]\r\nname = "a"\r\nversion = "1"\r\n'
        "[ics]\r\nfailure = true\r\n[ics.tasks.runs]\r\nn = [1, 2.5, -3]\r\n"
    )
    made = configuration.read(written(tmp_path, text))
    assert made.target == "stdio:agent"
    assert made.implementation == {"name": "a", "version": "1"}
    assert made.ics == {"failure": True, "tasks": {"runs": {"n": [1, 2.5, -3]}}}


def test_an_empty_file_states_nothing(tmp_path: Path) -> None:
    assert configuration.read(written(tmp_path, "")) == configuration.Configuration()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("target = ", "is not TOML: Invalid value"),
        ("a = 1\na = 2\n", "is not TOML: "),
        ("target = 1\n", "/target: "),
        ('target = ""\n', "/target: "),
        ("targets = 1\n", '/targets: the member "targets" is not allowed here'),
        ("implementation = 1\n", "/implementation: "),
        ("[implementation]\nname = 1\n", "/implementation/name: "),
        ("[implementation]\ncolour = 'red'\n", "/implementation/colour: "),
        ("ics = []\n", "/ics: "),
        ("[ics]\nday = 2026-04-01\n", "/ics/day is 2026-04-01, which JSON cannot say; quote it"),
        ("[ics]\nat = 12:30:45\n", "/ics/at is 12:30:45, which JSON cannot say; quote it"),
        ("[ics]\nat = [1, [{a = 2026-04-01T00:00:00Z}]]\n", "/ics/at/1/0/a is 2026-04-01 00:00:00"),
        ("[ics]\nn = inf\n", "/ics/n is inf, which JSON cannot say"),
        ("[ics]\nn = nan\n", "/ics/n is nan, which JSON cannot say"),
        ("[ics]\nn = " + "9" * 5000 + "\n", "is not TOML: "),
        ("[ics]\nn = " + "[" * 5000 + "\n", "is not TOML: "),
    ],
)
def test_a_mistake(text: str, said: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(BadConfiguration) as caught:
        configuration.read(path)
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match="cannot be read: No such file"):
        configuration.read(tmp_path / "none.toml")
    with pytest.raises(BadConfiguration, match="cannot be read: Is a directory"):
        configuration.read(tmp_path)
    path = tmp_path / "latin.toml"
    path.write_bytes(b"target = '\xff'\n")
    with pytest.raises(BadConfiguration, match="is not TOML: "):
        configuration.read(path)


def test_a_stated_fact_takes_the_place_of_the_packs_default() -> None:
    task = {"objective": "mine", "acceptanceCriteria": ["mine too"]}
    facts = configuration.facts(VA, {"failure": True, "tasks": {"succeeds": task}})
    assert facts == {"failure": True, "tasks": {"succeeds": task}, "orders": {"promises": [], "outputs": {}}}


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"failures": True}, "the ICS states 'failures', which is no fact; there is tasks.succeeds, "),
        ({"tasks": {"fail": {}}}, "the ICS states 'tasks.fail', which is no fact"),
        ({"tasks": 1}, "the ICS states 'tasks', which is no fact"),
        ({"failure": "yes"}, "the ICS says of ics.failure: "),
        ({"tasks": {"fails": {"objective": "o"}}}, 'the ICS says of ics.tasks.fails: the member "accept'),
        (
            {"tasks": {"fails": {"objectiv": "o", "objective": "o", "acceptanceCriteria": ["a"]}}},
            "the ICS says of ics.tasks.fails",
        ),
    ],
)
def test_a_fact_that_is_none_is_refused(stated: dict[str, Any], said: str) -> None:
    with pytest.raises(BadConfiguration) as caught:
        configuration.facts(VA, stated)
    assert str(caught.value).startswith(said)


def test_a_fact_without_a_default_is_not_stated() -> None:
    made = configuration.facts(VA, {})
    assert {name: set(facts) for name, facts in made.items()} == {
        "tasks": {"succeeds"},
        "orders": {"promises", "outputs"},
    }


def test_a_pack_need_not_know_any_facts() -> None:
    pack = Pack(VA.folder)
    del pack.meta["ics"]
    assert configuration.facts(pack, {}) == {}


def test_the_schema_says_what_the_pack_says() -> None:
    ics = configuration.schema(VA)["properties"]["ics"]
    assert ics["properties"]["failure"] == {
        "description": "the agent can be made to fail (tasks.fails)",
        "type": "boolean",
    }
    fails = ics["properties"]["tasks"]["properties"]["fails"]
    assert fails["description"] == "a task (without id) that the agent fails"
    wrong = {"ics": {"tasks": {"fail": {}}}}
    assert not Draft202012Validator(configuration.schema(VA)).is_valid(wrong)


def test_the_protocol_is_the_one_that_the_file_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"name a PROTOCOL: conformance\.toml is not there"):
        configuration.protocol(None)
    path = written(tmp_path, "")
    with pytest.raises(UsageError, match=r"name a PROTOCOL: .*conformance\.toml names none"):
        configuration.protocol(path)
    written(tmp_path, 'protocol = "va-agent-protocol"\n')
    assert configuration.protocol(None) == configuration.protocol(path) == "va-agent-protocol"
