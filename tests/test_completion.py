"""Shell completion, as shells do it: the words of a line in, what may come next out."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from judging import VA

from conformance import completion, packs
from conformance.cli import main
from conformance.errors import BadPack

BASH = shutil.which("bash")
COMMAND = "from conformance.cli import main; main(prog_name='conformance')"

HEAVY = {"jsonschema", "hypothesis", "websockets", "rich", "yaml", "pytest", "asyncio"}


def offered(line: str, shell: str = "bash") -> list[str]:
    """What a shell is told when a person presses the tab key at the end of the line."""
    *words, last = line.split(" ")
    asked = {
        "COMP_WORDS": line,
        "COMP_CWORD": last if shell == "fish" else str(len(words)),
        "_CONFORMANCE_COMPLETE": f"{shell}_complete",
    }
    result = CliRunner(env=asked).invoke(main, prog_name="conformance")
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.splitlines()


def words(line: str) -> list[str]:
    return [one.removeprefix("plain,") for one in offered(line) if one]


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("conformance l", {"list"}),
        ("conformance run va-", {VA.protocol, VA.name}),
        ("conformance validate -p va-", {VA.protocol, VA.name}),
        ("conformance list kinds va-", {VA.protocol, VA.name}),
        ("conformance explain -p va-", {VA.protocol, VA.name}),
        ("conformance list s", {"scenarios"}),
        ("conformance validate -k action.cancel", {"action.cancel", "action.cancel.result"}),
        ("conformance validate -p va-agent-protocol -k can", {"cancel"}),
        ("conformance explain VA-EVD-00", {"VA-EVD-001", "VA-EVD-002"}),
        ("conformance explain WIRE-K", {"WIRE-KEYS"}),
        ("conformance run va-agent-protocol -s ", {"happy-path", "failure"}),
        ("conformance run va-agent-protocol --role ", {"agent", "orchestrator"}),
        ("conformance run awp -r AWP-LIF-00", {"AWP-LIF-001"}),
        ("conformance list requirements -r VA-EVD-00", {"VA-EVD-001"}),
        ("conformance render x.json --format ", {"text", "junit"}),
        ("conformance validate --format ", {"text", "json"}),
        ("conformance completion ", {"bash", "zsh", "fish"}),
    ],
)
def test_what_may_come_next(line: str, some: set[str]) -> None:
    found = words(line)
    assert some <= set(found)
    assert len(found) == len(set(found))
    assert all(one.startswith(line.rpartition(" ")[2]) for one in found)


@pytest.mark.parametrize(
    ("line", "none"),
    [
        ("conformance validate -p va-agent-protocol -k ", "action.cancel"),
        ("conformance run va-agent-protocol -s ", "handshake"),
        ("conformance run va-agent-protocol -s ", "_open"),
        ("conformance explain -p va-agent-protocol AWP", "AWP-LIF-001"),
        ("conformance run va-agent-protocol -r AWP", "AWP-LIF-001"),
    ],
)
def test_the_protocol_that_the_line_names_decides(line: str, none: str) -> None:
    assert none not in words(line)


@pytest.mark.parametrize(
    "line", ["conformance validate -p nothing -k ", "conformance explain XYZ", "conformance run 'a "]
)
def test_where_nothing_may_come_nothing_is_said(line: str) -> None:
    assert words(line) == []


def test_a_broken_pack_is_no_error_while_one_types(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(root: Path | None = None) -> None:
        raise BadPack("it is broken")

    monkeypatch.setattr(packs, "find_all", broken)
    assert words("conformance explain VA") == []


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_told_what_a_word_means(shell: str) -> None:
    said = "\n".join(offered("conformance explain VA-EVD-002", shell))
    assert "VA-EVD-002" in said
    assert VA.requirements["VA-EVD-002"].summary in said


def test_files_are_completed_by_the_shell() -> None:
    assert offered("conformance validate READ") == ["file,READ"]


def test_a_person_does_not_wait_for_what_is_not_needed() -> None:
    program = f"import json, sys\ntry: {COMMAND}\nexcept SystemExit: print(json.dumps(sorted(sys.modules)))"
    for line in ("conformance explain VA-EVD", "conformance validate -p awp -k action", "conformance run va"):
        asked = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")),
                 "_CONFORMANCE_COMPLETE": "bash_complete"}  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, **asked}, capture_output=True, check=True
        )
        modules = set(json.loads(done.stdout.splitlines()[-1]))
        assert "conformance.packs" in modules
        assert not modules & HEAVY
        assert done.stderr == b""


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_the_script_of_a_shell(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    assert f"_CONFORMANCE_COMPLETE={shell}_complete" in result.stdout
    assert result.stderr == ""
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=result.stdout, text=True, check=True, timeout=30)


def test_a_shell_that_is_not_known() -> None:
    result = CliRunner().invoke(main, ["completion", "tcsh"])
    assert result.exit_code == 2
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in result.stderr


# ── a real bash, on a terminal ───────────────────────────────────────────────────────────────────


def read_until(terminal: int, ending: str) -> str:
    """What comes on the terminal until it ends with a pattern, but no longer than 20 s."""
    said, until = "", time.monotonic() + 20
    while not re.search(f"{ending}$", said):
        assert time.monotonic() < until, said
        if select.select([terminal], [], [], 0.1)[0]:
            said += os.read(terminal, 65536).decode()
    return said


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
def test_typed_into_bash(tmp_path: Path) -> None:
    """Each line is typed with a tab at its end, and then echoed by the shell instead of run."""
    lines = {
        "conformance run va-agent-protocol@\t": f"conformance run {VA.name}",
        "conformance validate --protocol=va-agent-protocol@0\t": f"conformance validate --protocol={VA.name}",
        "conformance validate --format=js\t": "conformance validate --format=json",
        "conformance run va-agent-protocol --target 'stdio:python a.py' -s ha\t":
            "conformance run va-agent-protocol --target stdio:python a.py -s happy-path",
        "conformance explain WIRE-K\t": "conformance explain WIRE-KEYS",
        "conformance explain nothing\t": "conformance explain nothing",
    }  # fmt: skip
    (tmp_path / "conformance").write_text(f"#!{sys.executable}\n{COMMAND}\n")
    (tmp_path / "conformance").chmod(0o755)
    (tmp_path / "script").write_text(completion.script("bash", main))
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover
        environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "TERM": "dumb", "PS1": "> "}
        os.execve(str(BASH), ["bash", "--norc", "--noprofile", "-i"], environment)
    try:
        read_until(terminal, "> ")
        os.write(terminal, f". {tmp_path}/script; bind 'set bell-style none'; COLUMNS=500\n".encode())
        read_until(terminal, "\n.*> ")
        for typed, whole in lines.items():
            # Control-A, `echo `, control-E: the completed line becomes what is said.
            os.write(terminal, f"{typed}\x01echo \x05 | sed 's/^/said: /'\n".encode())
            said = read_until(terminal, "\n> ")
            assert f"said: {whole}" in [line.strip() for line in said.splitlines()], said
    finally:
        os.close(terminal)
        os.waitpid(child, 0)
