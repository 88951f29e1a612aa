"""How a server lets the kit in: certificates, tokens, and that no token gets anywhere else."""

from __future__ import annotations

import base64
import secrets
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cabling
import pytest
from cabling import rest, run, using
from click.testing import CliRunner
from live import PEERS, Run, conformance_run, peer

from conformance import cli
from conformance.errors import BadConfiguration, TargetUnavailable
from conformance.transports import Incoming
from conformance.transports.access import Access, Means, gained, refuse_useless

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the peers use POSIX signals")

TOKEN = "abcd/efgh+1234="


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that vouches for itself, with its key."""
    return cabling.certificate(tmp_path_factory.mktemp("tls"))[0]


# --- where they are from ------------------------------------------------------------------------


def test_a_token_is_read_from_the_environment_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_TOKEN", TOKEN)
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    for means in (Means(token_env="KIT_TOKEN"), Means(token_file=path)):
        access = gained(means)
        assert access.headers == {"Authorization": f"Bearer {TOKEN}"}
        assert access.offered(["a"]) == ["a"]
        assert TOKEN not in repr(access)
    assert gained(Means()) == Access()
    assert Access().headers == {}


def test_a_token_may_be_a_subprotocol() -> None:
    access = Access("s3cret-token", "subprotocol")
    assert access.headers == {}
    assert access.offered(["awp", "x"]) == ["awp", "x", "awp.bearer.s3cret-token"]
    assert access.offered([]) == ["bearer.s3cret-token"]
    assert Access(by="subprotocol").offered(["awp"]) == ["awp"]


def test_an_option_wins_over_the_configuration(tmp_path: Path) -> None:
    stated = Means(tmp_path / "ca", "STATED", None, "subprotocol")
    assert Means().over(stated) == stated
    own = Means(token_file=tmp_path / "t", token_by="header")
    assert own.over(stated) == Means(tmp_path / "ca", "", tmp_path / "t", "header")


@pytest.mark.parametrize(
    ("token", "by", "sentence"),
    [
        ("", "header", "has 0 characters"),
        ("abcdefg", "header", "has 7 characters; one of fewer than 8 is no secret"),
        ("abcd efgh-token", "header", "holds blanks"),
        ("abcdefgh\r\nX-Evil: 1", "header", "holds blanks"),
        ("abcdéfgh-token", "header", "not ASCII"),
        (TOKEN, "subprotocol", "a subprotocol may not have; show it by header"),
        ("abcdefgh-token", "cookie", "by header or subprotocol, not by 'cookie'"),
    ],
)
def test_a_token_that_cannot_be_shown_is_named_without_being_told(
    token: str, by: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_TOKEN", token)
    with pytest.raises(BadConfiguration) as caught:
        gained(Means(token_env="KIT_TOKEN", token_by=by))
    assert sentence in str(caught.value)
    assert not token or token not in str(caught.value)


def test_what_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_TOKEN", TOKEN)
    plain = tmp_path / "plain"
    plain.write_bytes(b"\xff\xfe")
    cases = {
        Means(token_env="s3cret-in-the-wrong-place"): "the variable that is to hold a token is not set",
        Means(token_env="KIT_TOKEN", token_file=plain): "either in a variable or in a file",
        Means(token_file=tmp_path / "gone"): "gone cannot be read: No such file or directory",
        Means(token_file=plain): "plain is not text",
        Means(ca=tmp_path / "gone"): "gone cannot be read: No such file or directory",
        Means(ca=plain): "plain holds no certificate in PEM",
    }
    for means, sentence in cases.items():
        with pytest.raises(BadConfiguration) as caught:
            gained(means)
        assert sentence in str(caught.value)
        assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("x", "x"),
        (f"a{TOKEN}b{TOKEN}", "aredacted-------bredacted-------"),
        (r'"abcd\/efgh+1234="', '"redacted-------"'),
        (r'"{\"a\":\"abcd\\\/efgh+1234=\"}"', r'"{\"a\":\"redacted-------\"}"'),
        (r'"\u0061bcd\u002Fefgh\u002b1234\u003D"', '"redacted-------"'),
        (r'"\\u0061bcd/efgh+1234="', '"redacted-------"'),
        (TOKEN[:-1], TOKEN[:-1]),
        (TOKEN.upper(), TOKEN.upper()),
    ],
)
def test_a_token_is_hidden_however_it_is_written(text: str, hidden: str) -> None:
    assert Access(TOKEN).hidden(text) == hidden
    assert Access(TOKEN).hidden_in(b"\xff" + text.encode()) == b"\xff" + hidden.encode()
    assert Access().hidden(text) == text
    assert Access().hidden_in(text.encode()) == text.encode()


# --- certificates -------------------------------------------------------------------------------


def test_a_certificate_of_ones_own_is_trusted_and_no_other(certificate: Path) -> None:
    target = peer("wss_echo", str(certificate.with_name("both.pem")), scheme="launch")

    async def main() -> None:
        async with using(target, access=gained(Means(ca=certificate))) as transport:
            connection = await transport.open()
            await connection.send(b"hello")
            assert await connection.receive() == Incoming(b"hello")
            await connection.finish(5)
            assert (await rest(connection))[1].clean
        async with using(target) as transport:
            with pytest.raises(TargetUnavailable, match="its TLS certificate does not hold: self"):
                await transport.open()

    run(main)


def test_a_certificate_without_tls_changes_nothing(certificate: Path) -> None:
    async def main() -> None:
        async with using(peer("ws_echo", scheme="launch"), access=gained(Means(ca=certificate))) as transport:
            connection = await transport.open()
            await connection.send(b"hello")
            assert await connection.receive() == Incoming(b"hello")

    run(main)


# --- a token gets nowhere -----------------------------------------------------------------------

TELLS = {
    # It may close before the kit has sent anything, or after.
    "message": ("inconclusive failed", "closed with code 4001: bad redacted-----"),
    "error": ("unreachable", "did not let the kit in, which showed a token by {by}: it answered HTTP 401"),
    "redirect": ("unreachable", "it answered HTTP 302 where 101 was expected"),
    "status line": ("unreachable", "is not a WebSocket server: "),
    "subprotocol": ("unreachable", "chose the token as the subprotocol; the kit offered 'awp'"),
}


def told(how: str, by: str, variable: str, token: str, folder: Path) -> Run:
    options = ["--token-env", variable, "--token-by", by]
    target = peer("ws_tells_the_token", how, scheme="launch")
    return conformance_run(
        folder / f"{how} {by}", "awp", f"{target} {token}", *options, "--patience", "0.2", "-s", "handshake"
    )


def test_a_token_gets_nowhere_however_often_it_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither from a message, a close reason, an error or standard error, nor from the command line."""
    cases = [(how, "header") for how in TELLS if how != "subprotocol"]
    cases += [(how, "subprotocol") for how in ("message", "error", "subprotocol")]
    tokens = {f"KIT_TOKEN_{number}": f"c4nary{secrets.token_hex(12)}" for number in range(len(cases))}
    # Before there is a thread: while one starts a process, nobody may change the environment.
    for variable, token in tokens.items():
        monkeypatch.setenv(variable, token)
    with ThreadPoolExecutor(5) as pool:
        started = [
            pool.submit(told, how, by, variable, token, tmp_path)
            for (how, by), (variable, token) in zip(cases, tokens.items(), strict=True)
        ]
        runs = [one.result() for one in started]
    for (how, by), token, done in zip(cases, tokens.values(), runs, strict=True):
        statuses, sentence = TELLS[how]
        assert done.statuses["handshake"] in statuses.split(), (how, by)
        assert sentence.format(by=by) in done.report["scenarios"][0]["reason"]
        written = {path: path.read_text("utf-8") for path in done.out.rglob("*") if path.is_file()}
        said = "".join([*written.values(), done.text, done.said])
        assert token not in said, (how, by)
        assert token[:12] not in said, (how, by)  # nor its beginning, where something was cut short
        stderr = next(text for path, text in written.items() if path.parent.name == "stderr")
        assert stderr == "redacted".ljust(len(token), "-") + "\n" + "redacted".ljust(len(token), "-") + "\n"


@pytest.mark.parametrize(
    ("target", "how"),
    [
        ("{url}?key={token}", "message"),
        ("{url}?key={token}", "error"),
        ("{password}", "message"),
        ("{url}", "file"),
    ],
)
def test_what_a_url_or_a_file_holds_gets_nowhere(tmp_path: Path, target: str, how: str) -> None:
    """The server tells what it was shown in messages, close reasons and errors."""
    token = f"c4nary{secrets.token_hex(12)}"
    (tmp_path / "token").write_text(f"{token}\n")
    options = ["--token-file", str(tmp_path / "token")] if how == "file" else []
    words = [sys.executable, str(PEERS / "ws_tells_the_token.py"), "error" if how == "error" else "message"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        password = url.replace("ws://", f"ws://someone:{token}@")
        shown = target.format(url=url, token=token, password=password)
        done = conformance_run(
            tmp_path / "out", "awp", shown, *options, "--patience", "0.2", "-s", "handshake"
        )
        server.kill()
    basic = base64.b64encode(f"someone:{token}".encode()).decode()
    assert done.statuses["handshake"] in ("inconclusive", "failed", "unreachable")
    said = "".join([done.text, done.said, *(path.read_text("utf-8") for path in done.out.rglob("*.*"))])
    assert "redacted-" in said or how == "error", "the server told it, and it was hidden"
    for secret in (token, token[:12], basic, basic[:12]):
        assert secret not in said


def test_a_configuration_says_how_the_kit_is_let_in(tmp_path: Path, certificate: Path) -> None:
    """Its paths are of its own folder; and who shows no token is told that none was shown."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "token").write_text("s3cret-token-0123\n")
    shutil.copy(certificate, tmp_path / "etc" / "ca.pem")
    target = peer("ws_tells_the_token", "error", scheme="launch")
    config = tmp_path / "etc" / "conformance.toml"
    for said, sentence in {
        'ca = "ca.pem"\ntoken_file = "token"\ntoken_by = "subprotocol"': "showed a token by subprotocol",
        'ca = "ca.pem"': "showed no token",
    }.items():
        config.write_text(f"[connection]\n{said}\n")
        done = conformance_run(tmp_path, "awp", target, "--config", str(config), "-s", "handshake")
        assert done.code == 3
        assert sentence in done.text
        assert "s3cret" not in done.text + done.said


# ── options that can do nothing ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("target", "options", "said"),
    [
        (
            "stdio:x",
            ["--token-env", "HOME"],
            "--token-env can do nothing here: a token is shown to a WebSocket",
        ),
        (
            "exec:x",
            ["--token-file", "t", "--token-by", "header"],
            "--token-file and --token-by can do nothing",
        ),
        ("ws-listen:x", ["--token-env", "HOME"], "and the target is of ws-listen:"),
        (
            "reference",
            ["--ca", "c.pem"],
            "certificates vouch for a wss:// server, and the target is of stdio:",
        ),
        (
            "ws://127.0.0.1:9",
            ["--ca", "c.pem"],
            "certificates vouch for a wss:// server, and the target is of ws:",
        ),
        (
            "ws://127.0.0.1:9",
            ["--token-by", "header"],
            "--token-by says where a token is shown, and there is none",
        ),
    ],
)
def test_an_option_that_can_do_nothing_for_the_target_is_an_error(
    target: str, options: list[str], said: str
) -> None:
    done = CliRunner().invoke(cli.main, ["run", "va-agent-protocol", "--target", target, *options])
    assert done.exit_code == 2
    assert said in done.stderr


def test_what_a_configuration_has_for_another_target_is_let_pass(tmp_path: Path) -> None:
    known = Means(tmp_path / "ca.pem", token_env="TOKEN", token_by="header")
    refuse_useless(Means(), known, "stdio:x")
    refuse_useless(Means(token_by="subprotocol"), known, "WS://127.0.0.1:9")
    refuse_useless(Means(tmp_path / "ca.pem"), known, "launch:x")
