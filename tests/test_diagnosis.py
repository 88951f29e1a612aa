"""`conformance doctor`: each problem gets its own line, and a healthy implementation none."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cabling
import pytest
from live import PYTHON, peer

from conformance import diagnosis, initiation, packs
from conformance.campaign import Request
from conformance.diagnosis import Line

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the peers use POSIX signals")

VA, AWP = packs.find("va-agent-protocol"), packs.find("awp@0.1-draft.7")

PATIENCE = 2.0
"""So many processes start at once that each may take its time."""

Told = tuple[str, str, str]
"""Status, what, and some words of what is said."""

AGENTS: Mapping[str, list[Told]] = {
    "writes_crlf": [("wrong", "newline", "a carriage return before the newline")],
    "writes_no_newline": [
        ("wrong", "newline", "the last message did not end with a newline"),
        ("unknown", "handshake", "an answer did not come within 10 s"),
    ],
    "writes_over_lines": [
        ("wrong", "newline", "write each message on one line"),
        ("unknown", "handshake", "an answer did not come within 10 s"),
    ],
    "writes_bom": [("wrong", "encoding", "write UTF-8 without a byte order mark")],
    "writes_utf16": [
        ("wrong", "encoding", "what it writes is UTF-16; write UTF-8"),
        ("unknown", "handshake", "an answer did not come within 10 s"),
    ],
    "writes_latin1": [
        ("wrong", "encoding", "write UTF-8"),
        ("unknown", "handshake", "an answer did not come within 10 s"),
    ],
    "writes_at_the_end": [
        ("wrong", "flushing", "flush standard output after each message"),
        ("unknown", "handshake", "an answer did not come within 10 s"),
    ],
    "logs_to_stdout": [("wrong", "output", "'INFO agent: sending'; write logs to standard error")],
    "prints_banner": [
        ("wrong", "output", "'Welcome to Agent 1.0'; write logs to standard error"),
        ("wrong", "handshake", "VA-MSG-003: dispatch is for orchestrator to send"),
    ],
    "reads_short_lines": [("wrong", "long lines", "exited with status 1: the line is too long")],
    "exits_at_once": [("wrong", "start", "exited with status 3: no licence")],
    "says_nothing": [
        ("unknown", "output", "it wrote nothing"),
        ("unknown", "handshake", "an answer did not come within 10 s; a slow implementation may need"),
    ],
}
"""What is not ok about each; all are agents that are started as `stdio:` and whose facts are all stated."""

WORLDS: Mapping[str, list[Told]] = {
    "ws_no_subprotocol": [
        ("wrong", "subprotocol", "chose no subprotocol; the kit offered 'awp'; the two have")
    ],
    "ws_wrong_subprotocol": [("wrong", "subprotocol", "chose what the kit did not offer")],
    "ws_wants_credentials": [("wrong", "credentials", "HTTP 401")],
    "ws_answers_404": [("wrong", "start", "it answered HTTP 404 where 101 was expected")],
    "ws_exits_before_url": [
        ("wrong", "start", "gave no URL: the process exited with status 2: port already in use")
    ],
}
"""The same of worlds that are started as `launch:`."""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ICS of an agent of which no more is asked than that it completes a task."""
    path = tmp_path_factory.mktemp("ics") / "conformance.toml"
    facts = initiation.facts_for(VA, "agent")
    names = [name for name, row in facts.items() if row["schema"].get("type") == "boolean"]
    path.write_text("[ics]\n" + "".join(f"{name} = false\n" for name in names), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def found(config: Path) -> dict[str, list[Line]]:
    """What is told of every peer and of both references, tried at once."""
    agents = {name: Request(VA, peer(name), config=config, patience=PATIENCE) for name in AGENTS}
    worlds = {name: Request(AWP, peer(name, scheme="launch"), patience=PATIENCE) for name in WORLDS}
    references = {pack.protocol: Request(pack, patience=PATIENCE) for pack in (VA, AWP)}
    requests = agents | worlds | references
    with ThreadPoolExecutor(len(requests)) as pool:
        told = pool.map(lambda request: list(diagnosis.examine(request)), requests.values())
        return dict(zip(requests, told, strict=True))


def not_ok(lines: list[Line]) -> list[Line]:
    return [line for line in lines if line.status != "ok"]


@pytest.mark.parametrize(("name", "told"), (AGENTS | WORLDS).items())
def test_each_problem_gets_its_line(name: str, told: list[Told], found: dict[str, list[Line]]) -> None:
    lines = not_ok(found[name])
    assert [(line.status, line.what) for line in lines] == [(status, what) for status, what, _ in told]
    for line, (_, _, said) in zip(lines, told, strict=True):
        assert said in str(line)
        assert "\n" not in str(line)


@pytest.mark.parametrize(
    ("name", "code"),
    [("writes_bom", 1), ("exits_at_once", 1), ("says_nothing", 3), ("ws_wants_credentials", 2), ("awp", 0)],
)
def test_the_exit_code(name: str, code: int, found: dict[str, list[Line]]) -> None:
    assert diagnosis.exit_code(found[name]) == code


@pytest.mark.parametrize(
    ("protocol", "what"),
    [
        (VA.protocol, ["start", "output", "encoding", "JSON", "newline", "flushing"]),
        (AWP.protocol, ["start", "subprotocol", "output", "encoding", "JSON"]),
    ],
)
def test_all_is_well_with_a_reference(protocol: str, what: list[str], found: dict[str, list[Line]]) -> None:
    lines = found[protocol]
    assert not_ok(lines) == []
    tried = [line.what for line in lines if line.what != "facts"]
    assert tried == ["configuration", "command", *what, "handshake", "long lines"]


@pytest.mark.parametrize(
    ("protocol", "facts"),
    [
        (
            VA.protocol,
            {
                *("tasks.succeeds", "tasks.fails", "tasks.blocks", "tasks.runs", "failure", "blocking"),
                *("cancellation", "retry", "replacement", "gates", "evaluation"),
            },
        ),
        (AWP.protocol, {"action", "short_action", "other_params", "invalid_params"}),
    ],
)
def test_every_fact_is_tried(protocol: str, facts: set[str], found: dict[str, list[Line]]) -> None:
    told = [line.said.partition(": ")[0] for line in found[protocol] if line.what == "facts"]
    assert {name for names in told for name in names.split(", ")} >= facts


def told_of(target: str, config: Path) -> list[Told]:
    lines = not_ok(list(diagnosis.examine(Request(VA, target, config=config))))
    return [(line.status, line.what, line.said) for line in lines]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ('python "agent.py', "cannot read the command of 'stdio:python \"agent.py': no closing quotation"),
        ("no-such-program", "'no-such-program' is no program on PATH"),
        ("./none", "there is no file './none' in '{here}', from where it would be started"),
        ("agent", "'agent' is no program on PATH; a file of this folder is named with its path: ./agent"),
        ("./agent", "'./agent' may not be executed: chmod +x it, or name first what runs it, such as python"),
        ("./carriage", "'./carriage' wants to be run by '/bin/sh\\r', as its first line says, which is not"),
        ("./my agent", "but there is './my agent': quote a path with a space"),
        ("./a-folder", "'./a-folder' is a folder: name a program in it"),
        ("cd a-folder", "'cd' is a command of shells, and no shell runs"),
        ("DEBUG=1 python", "'DEBUG=1' sets a variable, and no shell runs; for what only a shell does, make"),
        ("~/agent", "'~/agent' is taken as it is, nothing replaces it: write the path out"),
        ("cat ./my agent", "'./my agent' is there and its name has a space, so it has to stand in quotes"),
        ("cat $HOME/agent", "'$HOME/agent' is handed to the program as it is, nothing replaces it"),
        ("cat ~/agent", "'~/agent' is handed to the program as it is, nothing replaces it: write it out"),
        ("cat | tee log", "'|' is handed to the program as it is: no shell runs; for what only a shell"),
        ("cat 2>/dev/null", "'2>/dev/null' is handed to the program as it is: no shell runs"),
    ],
)
def test_a_command_that_only_a_shell_would_read(
    command: str, said: str, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if command.startswith("cd ") and shutil.which("cd"):
        pytest.skip("there is a program cd here")
    for name in ("agent", "my agent", "carriage"):
        (tmp_path / name).write_text("#!/bin/sh\r\n" if name == "carriage" else "", encoding="utf-8")
    (tmp_path / "carriage").chmod(0o755)
    (tmp_path / "a-folder").mkdir()
    [(status, what, told)] = told_of(f"stdio:{command}", config)
    assert (status, what) == ("wrong", "command")
    assert told.startswith(said.format(here=tmp_path)) or said in told


def test_a_configuration_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "conformance.toml"
    path.write_text("[ics]\nfailur = true\n", encoding="utf-8")
    lines = list(diagnosis.examine(Request(VA, "stdio:cat", config=path)))
    assert [(line.status, line.what) for line in lines] == [("wrong", "configuration")]
    assert "the ICS states 'failur', which is no fact" in lines[0].said
    assert diagnosis.exit_code(lines) == 2


def test_a_server_that_is_not_there(config: Path) -> None:
    [(status, what, said)] = told_of("ws://127.0.0.1:1", config)
    assert (status, what) == ("unknown", "connection")
    assert "connection refused; is the server running, and is that its address?" in said


def test_a_certificate_that_nobody_vouches_for(tmp_path: Path) -> None:
    path = cabling.certificate(tmp_path)[1]
    lines = list(diagnosis.examine(Request(AWP, peer("ws_untrusted", str(path), scheme="launch"))))
    [line] = not_ok(lines)
    assert (line.what, diagnosis.exit_code(lines)) == ("TLS", 2)
    assert "its TLS certificate does not hold: self" in line.said


def test_facts_that_are_not_stated_and_one_that_does_not_hold(tmp_path: Path) -> None:
    """The agent fails what is said to succeed, and retries are promised of a task that is not named."""
    path = tmp_path / "conformance.toml"
    path.write_text(
        "[ics]\nretry = true\nblocking = false\ntimeout = false\ncancellation = true\n[ics.tasks.succeeds]\n"
        'objective = "o"\nacceptanceCriteria = ["a"]\nmetadata = {simulate = {outcome = "failed"}}\n',
        encoding="utf-8",
    )
    program = shlex.quote(str(VA.fixtures / "targets" / "agent.py"))
    told = told_of(f"stdio:{PYTHON} {program}", path)
    assert [(status, what) for status, what, _ in told] == [
        ("wrong", "facts"),
        *[("unknown", "facts")] * 4,
        ("wrong", "facts"),
    ]
    assert told[-1][2].startswith("tasks.succeeds: scenario happy-path was inconclusive: failed ")
    said = [one.partition(";")[0] for _, _, one in told[:-1]]
    assert said[0] == "tasks.runs: not stated, and scenario cancel, for which the rest is stated, needs it"
    assert "failure, tasks.fails: not stated, so nothing can be shown in scenario failure, retry" in said
    assert not any("blocking" in one for one in said)
