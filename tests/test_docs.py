"""Every command that the documents show is run, and every option that they name exists.

A fenced block of the language `console` holds commands (lines that begin with `$ `) and some of what they
write. The commands of one document run one after another in one folder, which holds a copy of fixtures/.
Each must end with exit code 0, or with the one that the fence names: ```console exit=1 is about the last
command of its block. The shown lines must occur in that order; `…` stands for anything.

Blocks of another language (```sh) are for people: they install something, or need a server.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import pytest

from conformance import plugin
from conformance.cli import main

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]
FENCE = re.compile(r"^```(\w*)(?: exit=(\d+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")

OF_OTHERS = {
    "--junitxml": "pytest",
    "--list-faults": "the reference implementations",
    "--mode": "awp-sim",
    "--no-audit": "awp-sim",
    "--port": "awp-sim",
}
"""Options of other programs that the documents name."""


@dataclass
class Command:
    """A command line of a document, the exit code it should have, and lines of what it should write."""

    line: int
    text: str
    code: int = 0
    shown: list[str] = field(default_factory=list)


def commands(document: Path) -> Iterator[Command]:
    text = document.read_text(encoding="utf-8")
    for block in FENCE.finditer(text):
        if block[1] != "console":
            continue
        first = text.count("\n", 0, block.start(3)) + 1
        found: list[Command] = []
        for number, line in enumerate(block[3].splitlines(), first):
            if line.startswith("$ "):
                found.append(Command(number, line.removeprefix("$ ")))
            elif line.strip():
                assert found, f"{document.name}:{number}: something is shown before any command"
                found[-1].shown.append(line)
        assert found, f"{document.name}:{first}: a console block without a command"
        found[-1].code = int(block[2] or 0)
        yield from found


def run(command: Command, folder: Path) -> tuple[int, str]:
    environment = dict(os.environ)
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        ["/bin/sh", "-c", command.text],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=60,
    )
    return done.returncode, done.stdout


def fits(shown: str, line: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, shown.split("…"))), line) is not None


def missing(shown: list[str], said: str) -> str | None:
    """The first shown line that does not occur after the ones before it."""
    lines = iter(said.splitlines())
    for wanted in shown:
        if not any(fits(wanted, line) for line in lines):
            return wanted
    return None


@pytest.mark.skipif(os.name != "posix", reason="the documents show a POSIX shell")
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_shown_commands_run(document: Path, tmp_path: Path) -> None:
    found = list(commands(document))
    if found:
        shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures", ignore=shutil.ignore_patterns("__pycache__"))
    for command in found:
        code, said = run(command, tmp_path)
        where = f"{document.name}:{command.line}: $ {command.text}\n{said}"
        assert code == command.code, f"exit code {code}, not {command.code}\n{where}"
        wanted = missing(command.shown, said)
        assert wanted is None, f"this line is shown and does not occur: {wanted}\n{where}"


def test_the_documents_show_commands() -> None:
    """An extraction that finds nothing would make the tests above pass."""
    assert sum(1 for document in DOCUMENTS for _ in commands(document)) >= 20


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (["claim: conformant"], "claim: conformant, almost"),
        (["b", "a"], "a\nb"),
        (["a…c"], "a b"),
    ],
)
def test_a_line_that_does_not_occur_is_missing(shown: list[str], said: str) -> None:
    assert missing(shown, said) is not None


def test_lines_that_occur_are_not_missing() -> None:
    assert missing(["a…c", "d (x)"], "0\nabc\n-\nd (x)") is None


# ── options ──────────────────────────────────────────────────────────────────────────────────────


def options_of(command: click.Command) -> set[str]:
    return {name for parameter in command.get_params(click.Context(command)) for name in parameter.opts}


class Recorder:
    """Takes down what the plugin's pytest_addoption adds, in the place of pytest's parser."""

    def __init__(self) -> None:
        self.options: set[str] = set()

    def getgroup(self, *_: Any, **__: Any) -> "Recorder":
        return self

    def addoption(self, *names: str, **_: Any) -> None:
        self.options.update(names)

    def addini(self, *_: Any, **__: Any) -> None:
        pass


def of_plugin() -> set[str]:
    recorder = Recorder()
    plugin.pytest_addoption(recorder)  # type: ignore[arg-type]
    return recorder.options


def own_command(line: str) -> str | None:
    """The subcommand of `conformance` that a line of code calls, if it calls one."""
    called = re.search(r"(?:^|[\s`/])conformance ([a-z]+)\b", line)
    return called[1] if called and called[1] in main.commands else None


def named(document: Path) -> Iterator[tuple[int, str, str]]:
    """(line number, line, option) for each option of the document; a line goes on after a backslash."""
    text = document.read_text(encoding="utf-8").replace("\\\n", "  ")
    for number, line in enumerate(text.splitlines(), 1):
        for option in OPTION.findall(line):
            yield number, line, option


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_named_options_exist(document: Path) -> None:
    """An option exists; one that stands in a call of a subcommand is an option of that one."""
    of_kit = {option for command in main.commands.values() for option in options_of(command)}
    of_kit |= options_of(main) | of_plugin()
    for number, line, option in named(document):
        where = f"{document.name}:{number}: {line.strip()}"
        assert option in of_kit or option in OF_OTHERS, where
        called = own_command(line) if line.lstrip("$ ").startswith("conformance ") else None
        if called is not None and option not in OF_OTHERS:
            assert option in options_of(main.commands[called]), where


def test_options_of_others_are_named_somewhere() -> None:
    """An entry that nothing needs would hide a mistake."""
    seen = {option for document in DOCUMENTS for _, _, option in named(document)}
    assert set(OF_OTHERS) <= seen


def test_every_option_is_documented() -> None:
    """What the command line and the plugin offer is described in docs/."""
    seen = {option for path in ROOT.glob("docs/*.md") for _, _, option in named(path)}
    offered = {option for command in main.commands.values() for option in options_of(command)} | of_plugin()
    assert {option for option in offered if option.startswith("--")} <= seen | {"--help"}
