"""The hook that other repositories use: what `.pre-commit-hooks.yaml` promises, run as pre-commit does."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import forks
import pytest
import yaml
from judging import ROOT

from conformance.cli import main

VA = ROOT / "fixtures" / "va-agent-protocol" / "0.1.0"


def hook() -> dict[str, Any]:
    """The one hook that there is."""
    [row] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    return dict(row)


def hooked(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the entry on the names of all files that its pattern fits, in the root of a repository."""
    program, *words = [*shlex.split(hook()["entry"]), *arguments]
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    fitting = [name for name in names if re.search(hook()["files"], name)]
    return subprocess.run(
        [*forks.command(program), *words, *fitting],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_the_entry_is_a_command_of_the_package() -> None:
    """pre-commit installs the package, and starts the entry in its environment."""
    command, called = shlex.split(hook()["entry"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert command in project["scripts"]
    assert called in main.commands
    assert hook()["language"] == "python"
    assert set(hook()) == {"id", "name", "description", "entry", "language", "files"}


def test_it_is_the_hook_that_the_documents_name() -> None:
    text = (ROOT / "docs" / "validate.md").read_text(encoding="utf-8")
    assert f"- id: {hook()['id']}\n" in text


@pytest.mark.parametrize(
    ("name", "judged"),
    [("a.json", True), ("b/c.jsonl", True), ("a.json5", False), ("json", False), ("a.json.txt", False)],
)
def test_which_files_are_judged(name: str, judged: bool) -> None:
    assert bool(re.search(hook()["files"], name)) is judged


def test_messages_that_are_right_pass(tmp_path: Path) -> None:
    for number in range(300):
        shutil.copy(VA / "transcripts" / "valid" / "completed.jsonl", tmp_path / f"recording {number}.jsonl")
    shutil.copy(VA / "messages" / "valid" / "accepted.minimal.json", tmp_path)
    (tmp_path / "README.md").write_text("This is no message.\n")
    done = hooked(tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert len(done.stderr.splitlines()) == 301


def test_a_message_that_is_wrong_stops_the_commit(tmp_path: Path) -> None:
    shutil.copy(VA / "transcripts" / "valid" / "completed.jsonl", tmp_path)
    shutil.copy(VA / "transcripts" / "invalid" / "completed-twice.jsonl", tmp_path)
    done = hooked(tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("completed-twice.jsonl:6:98: MUST VA-LIF-002: ")
    assert hooked(tmp_path, "--stateless", "--protocol", "va-agent-protocol").returncode == 0


def test_a_file_that_is_no_message_has_to_be_left_out(tmp_path: Path) -> None:
    shutil.copy(VA / "transcripts" / "valid" / "completed.jsonl", tmp_path)
    (tmp_path / "package.json").write_text('{"name": "x"}')
    done = hooked(tmp_path)
    assert done.returncode == 3
    assert "package.json: no known protocol recognises this input" in done.stderr
