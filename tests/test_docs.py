"""Every command that the documents show is run, and every option that they name exists.

A fenced block of the language `console` holds commands (lines that begin with `$ `) and some of what they
write. The commands of one document run one after another in one folder, which holds a copy of fixtures/.
Each must end with exit code 0, or with the one that the fence names: ```console exit=1 is about the last
command of its block. The shown lines must occur in that order; `…` stands for anything.

Blocks of another language (```sh) are for people: they install something, or need a server.
"""

import json
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
import forks
import pytest

from conformance import baseline, bindings, configuration, monitor, packs, plugin, scenarios
from conformance.cli import main
from conformance.families import CHECKS

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]
FENCE = re.compile(r"^```(\w*) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")

OF_OTHERS = {
    "--junitxml": "pytest",
    "--collect-only": "pytest",
    "--lf": "pytest",
    "--strict-markers": "pytest",
    "--list-faults": "the reference implementations",
    "--mode": "awp-sim",
    "--no-audit": "awp-sim",
    "--port": "awp-sim",
    "--no-deps": "pip",
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
            if found and found[-1].text.endswith("\\") and not found[-1].shown:
                found[-1].text += f"\n{line}"
                continue
            if line.startswith("$ "):
                found.append(Command(number, line.removeprefix("$ ")))
            elif line.strip():
                assert found, f"{document.name}:{number}: something is shown before any command"
                found[-1].shown.append(line)
        assert found, f"{document.name}:{first}: a console block without a command"
        found[-1].code = int(block[2].removeprefix("exit=") or 0)
        yield from found


def run(command: Command, folder: Path) -> tuple[int, str]:
    environment = dict(os.environ)
    python = str(Path(sys.executable).parent)
    environment["PATH"] = os.pathsep.join([forks.on_path(), python, environment["PATH"]])
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
        shutil.copytree(
            ROOT / "fixtures", tmp_path / "fixtures", ignore=shutil.ignore_patterns("__pycache__")
        )
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


# ── examples ─────────────────────────────────────────────────────────────────────────────────────


def examples(language: str) -> list[Any]:
    """The fenced blocks of a language: (what follows it on the fence, the text), named by their place."""
    found = []
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for block in FENCE.finditer(text):
            if block[1] == language:
                place = f"{document.name}:{text.count(chr(10), 0, block.start()) + 1}"
                found.append(pytest.param(block[2], block[3], id=place))
    assert found, f"no document has an example in {language}"
    return found


@pytest.mark.parametrize(("protocol", "text"), examples("yaml"))
def test_shown_scenarios_can_be_read(protocol: str, text: str) -> None:
    """The fence names the pack; a list of steps is read as steps of a scenario that knows their names."""
    pack = packs.find(protocol)
    if text.startswith(("-", "#")):
        covered, role = next(iter(pack.requirements)), pack.peer_of(pack.certifies)
        known = {name: 1 for name in re.findall(r"\$\{(\w+)\}", text) if name not in bindings.PROVIDED}
        start = f"- set: {json.dumps({'shown': 1} | known)}\n"
        text = f"title: shown\nrole: {role}\ncovers: [{covered}]\nsteps:\n{start}{text}"
    assert scenarios.read(text, "shown.yaml", pack).steps


def test_every_step_is_shown() -> None:
    shown = "".join(parameter.values[1] for parameter in examples("yaml"))
    for verb in (*scenarios.VERBS, "use", "repeat"):
        assert re.search(rf"^ *- {verb}:", shown, re.MULTILINE), verb


def values(node: Any) -> Iterator[Any]:
    """A JSON value and everything in it."""
    yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from values(inner)


@pytest.mark.parametrize(("of", "text"), examples("json"))
def test_shown_rows_are_of_a_pack(of: str, text: str) -> None:
    """An example of a pack's data stands so in a pack."""
    files = [path for path in ROOT.glob("schemas/*/*/*.json") if not path.name.endswith(".schema.json")]
    shown = json.loads(text)
    assert any(shown == value for path in files for value in values(json.loads(path.read_text("utf-8"))))


@pytest.mark.parametrize(("of", "text"), [one for one in examples("toml") if one.values[0] != "pyproject"])
def test_shown_statements_can_be_read(of: str, text: str, tmp_path: Path) -> None:
    if of == "baseline":
        assert baseline.read(text, "known.toml")
        return
    path = tmp_path / "conformance.toml"
    path.write_text(text, encoding="utf-8")
    assert configuration.read(path).target


def test_every_kind_of_check_is_described() -> None:
    text = (ROOT / "docs/packs.md").read_text(encoding="utf-8")
    described = set(re.findall(r"^\| `([a-z-]+)` \| [^|]+ \| [^|]*\|$", text, re.MULTILINE))
    assert described == {*CHECKS, *monitor.NOT_OBSERVED}


def test_every_member_of_a_pack_is_described() -> None:
    text = (ROOT / "docs/packs.md").read_text(encoding="utf-8")
    for path in ROOT.glob("schemas/*/*/pack.json"):
        for member in json.loads(path.read_text(encoding="utf-8")):
            assert f"`{member}`" in text, member


def test_every_member_of_a_report_is_described(tmp_path: Path) -> None:
    text = (ROOT / "docs/report.md").read_text(encoding="utf-8")
    code, said = run(Command(0, "conformance run va-agent-protocol -s failure"), tmp_path)
    assert code == 0, said
    report = json.loads((tmp_path / "conformance-report/report.json").read_text(encoding="utf-8"))
    for row in (report, report["requirements"][0], report["scenarios"][0]):
        for member in row:
            assert f"`{member}`" in text, member


def test_every_module_is_on_the_map() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for path in ROOT.glob("conformance/*"):
        if path.name != "__init__.py" and (path.suffix == ".py" or (path / "__init__.py").is_file()):
            assert f"`{path.stem}`" in text or f"`{path.name}/`" in text, path.name


def test_links_lead_somewhere() -> None:
    """Of links within the project, the file exists, and so does the heading that a fragment names."""
    for document in DOCUMENTS:
        for link in re.findall(r"\]\(((?!https?:)[^)]+)\)", document.read_text(encoding="utf-8")):
            name, _, heading = link.partition("#")
            target = document.parent / name if name else document
            assert target.is_file(), f"{document.name}: {link}"
            if heading:
                lines = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
                anchors = {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in lines}
                assert heading in anchors, f"{document.name}: {link}"


# ── options ──────────────────────────────────────────────────────────────────────────────────────


def options_of(command: click.Command) -> set[str]:
    return {
        name
        for parameter in command.get_params(click.Context(command, **main.context_settings))
        for name in parameter.opts
    }


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
