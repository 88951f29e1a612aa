"""How a server lets the kit in is said alike to every command that connects to one, and to the plugin."""

from __future__ import annotations

from pathlib import Path

import forks
import pytest
from click.testing import CliRunner
from live import free_port, peer

from conformance import admission, configuration
from conformance.cli import main
from conformance.transports.access import Means

pytest_plugins = ["pytester"]

CONNECTING = ("run", "init", "doctor")
TOKEN = "s3cret-token-0123"
REFUSED = "which showed a token by {}: it answered HTTP 401"
"""What the kit says of a server that wants another token."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a token in it, and one in the environment."""
    monkeypatch.setenv("TOKEN", TOKEN)
    (tmp_path / "token").write_text(f"{TOKEN}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_options_are_the_same_everywhere() -> None:
    def told(command: str) -> list[tuple[str, str, object]]:
        options = {one.name: one for one in main.commands[command].params}
        found = [options[name.replace("-", "_")] for name in admission.OPTIONS]
        return [(str(one.opts), str(getattr(one, "help", "")), one.type.name) for one in found]

    assert told("run") == told("init") == told("doctor")
    assert [row[0] for row in told("run")] == [
        "['--ca']",
        "['--token-env']",
        "['--token-file']",
        "['--token-by']",
    ]


def test_paths_are_of_the_folder() -> None:
    folder = Path("/etc/kit")
    named = admission.means(folder, ca="ca.pem", token_file="/run/token", token_by="subprotocol")
    assert named == Means(Path("/etc/kit/ca.pem"), "", Path("/run/token"), "subprotocol")
    assert admission.means(folder) == Means()
    assert admission.means(folder, ca="", token_env="", token_file="", token_by="") == Means()


@pytest.mark.parametrize(
    ("options", "by"),
    [
        (("--token-env", "TOKEN"), "header"),
        (("--token-file", "token", "--token-by", "subprotocol"), "subprotocol"),
    ],
)
def test_doctor_shows_the_token(here: Path, options: tuple[str, ...], by: str) -> None:
    target = peer("ws_tells_the_token", "error", scheme="launch")
    done = CliRunner().invoke(main, ["doctor", "awp", "--target", target, "--patience", "0.2", *options])
    assert REFUSED.format(by) in done.stdout
    assert TOKEN not in done.output


def test_what_was_said_to_init_is_in_the_file(here: Path) -> None:
    """As paths of the file's own folder; and it is what the first connection was tried with."""
    (here / "etc").mkdir()
    target = peer("ws_tells_the_token", "error", scheme="launch")
    options = ["--token-file", "token", "--token-by", "subprotocol", "--out", "etc/mine.toml", "-y"]
    done = CliRunner().invoke(main, ["init", "awp", "--role", "world", "--target", target, *options])
    assert done.exit_code == 0, done.output
    assert REFUSED.format("subprotocol") in done.stderr
    text = (here / "etc" / "mine.toml").read_text(encoding="utf-8")
    assert '\n[connection]\ntoken_file = "../token"\ntoken_by = "subprotocol"\n' in text
    assert configuration.read(here / "etc" / "mine.toml").target == target
    assert TOKEN not in text + done.output


def test_a_certificate_that_is_not_there_is_an_error_everywhere(here: Path) -> None:
    target = f"wss://127.0.0.1:{free_port()}/"
    for command in CONNECTING:
        done = CliRunner().invoke(main, [command, "awp", "--target", target, "--ca", "no.pem"])
        assert "the certificate in no.pem cannot be read: No such file or directory" in done.output, command


def test_the_plugin_shows_the_token(here: Path, pytester: pytest.Pytester) -> None:
    """By an ini file, whose paths are of where pytest is started; an option goes before it."""
    (pytester.path / "token").write_text(TOKEN, encoding="utf-8")
    pytester.makeini(
        "[pytest]\nconformance = awp\nconformance_scenario = handshake\nconformance_patience = 0.2\n"
        f"conformance_target = {peer('ws_tells_the_token', 'error', scheme='launch')}\n"
        "conformance_token_file = token\nconformance_token_by = subprotocol\n"
    )
    command = [*forks.command("pytest"), "-p", "no:cacheprovider", "-p", "no:xdist"]
    pytester.run(*command).stdout.fnmatch_lines([f"*{REFUSED.format('subprotocol')}*"])
    again = pytester.run(*command, "--conformance-token-by", "header")
    again.stdout.fnmatch_lines([f"*{REFUSED.format('header')}*"])
    assert TOKEN not in again.stdout.str() + again.stderr.str()
    wrong = pytester.run(*command, "--conformance-token-by", "smoke")
    assert wrong.ret == pytest.ExitCode.USAGE_ERROR
    wrong.stderr.fnmatch_lines(["ERROR: a token is shown by header or subprotocol, not by 'smoke'"])
