"""The command line: exit codes, one sentence for every error, and never a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from conformance import __version__, cli, guarding, monitor, packs, scenarios
from conformance.errors import ConformanceError

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "fixtures" / "va-agent-protocol" / "0.1.0"
VALID = FIXTURES / "messages" / "valid" / "accepted.minimal.json"
INVALID = FIXTURES / "messages" / "invalid"
TRANSCRIPT = FIXTURES / "transcripts" / "valid" / "completed.jsonl"
COMMAND = [sys.executable, "-c", "from conformance.cli import main; main(prog_name='conformance')"]
VA = packs.find("va-agent-protocol")


def called(*arguments: Any, **options: Any) -> Result:
    return CliRunner().invoke(cli.main, [str(one) for one in arguments], **options)


def process(*arguments: Any, cwd: Path | None = None, **options: Any) -> subprocess.CompletedProcess[bytes]:
    command = [*COMMAND, *(str(one) for one in arguments)]
    return subprocess.run(
        command,
        capture_output=True,
        check=False,
        timeout=60,
        cwd=cwd,
        **{"stdin": subprocess.DEVNULL, **options},
    )


def heeds_interrupts() -> None:
    """A child of a shell's background job would ignore Ctrl-C from its birth."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def one_sentence(text: str) -> str:
    """What is said on standard error, which is one line and no traceback."""
    assert "Traceback" not in text
    [line] = text.splitlines()
    assert line.startswith("conformance: ")
    return line.removeprefix("conformance: ")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ── validate ─────────────────────────────────────────────────────────────────────────────────────


def test_valid() -> None:
    result = called("validate", VALID, TRANSCRIPT)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        f"{VALID}: valid (va-agent-protocol@0.1.0, 1 message)",
        f"{TRANSCRIPT}: valid (va-agent-protocol@0.1.0, 5 messages)",
    ]


def test_invalid(here: Path) -> None:
    text = VALID.read_text("utf-8").replace('"taskId"', '"task"')
    (here / "x.json").write_text(text, encoding="utf-8", newline="\r\n")
    result = called("validate", "x.json")
    assert result.exit_code == 1
    assert result.stdout.startswith("x.json:")
    said = 'the member "taskId" is missing; there is "task": did you mean "taskId"? (at /payload)'
    assert f" MUST VA-MSG-002: {said}\n" in result.stdout
    value = json.loads(called("validate", "x.json", "--format", "json").stdout)
    assert [one["path"] for one in value["inputs"]] == ["x.json"]
    assert called("validate", VALID, "x.json").exit_code == 1


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_standard_input(arguments: tuple[str, ...]) -> None:
    result = called("validate", *arguments, input=VALID.read_bytes())
    assert result.exit_code == 0
    assert result.stderr == "-: valid (va-agent-protocol@0.1.0, 1 message)\n"


def test_a_terminal_is_no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = os.openpty()
    try:
        result = process("validate", stdin=slave)
    finally:
        os.close(master)
        os.close(slave)
    assert result.returncode == 2
    assert b"name a FILE" in result.stderr


def test_an_endless_input_is_judged_as_it_comes() -> None:
    good = json.dumps(json.loads(VALID.read_text("utf-8"))).encode()
    with subprocess.Popen(
        [*COMMAND, "validate", "--stateless", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heeds_interrupts,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        for line in (1, 2):
            child.stdin.write(good.replace(b"taskId", b"task") + b"\n" + b"log line\n" * 2)
            child.stdin.flush()
            said = b"".join(child.stdout.readline() for _ in range(4))  # it would wait here for ever
            assert f"-:{line * 3 - 2}:".encode() in said
        child.send_signal(signal.SIGINT)
        assert child.stderr.read() == b"-: interrupted (va-agent-protocol@0.1.0, 2 messages, 8 findings)\n"
        assert child.wait(30) == 130


def test_a_terminal_shows_the_text_that_a_finding_is_about(here: Path) -> None:
    (here / "x.json").write_text(json.dumps(json.loads(VALID.read_text("utf-8")) | {"timestamp": "soon"}))
    master, slave = os.openpty()
    try:
        environment = {**os.environ, "COLUMNS": "60"}
        command = [*COMMAND, "validate", "x.json"]
        done = subprocess.run(
            command, stdout=slave, stderr=subprocess.PIPE, check=False, timeout=60, env=environment
        )
        said = os.read(master, 100_000).decode().replace("\r\n", "\n").splitlines()
    finally:
        os.close(master)
        os.close(slave)
    assert done.returncode == 1
    assert said[0].startswith("x.json:1:")
    column = said[1].index('"soon"')
    assert said[2] == " " * column + "^" + "~" * 5
    assert len(said[1]) <= 60


def test_a_folder(here: Path) -> None:
    result = called("validate", FIXTURES / "transcripts" / "valid")
    assert result.exit_code == 0
    assert len(result.stderr.splitlines()) == len([*(FIXTURES / "transcripts" / "valid").glob("*.jsonl")])
    (here / "empty").mkdir()
    result = called("validate", "empty")
    assert result.exit_code == 3
    assert one_sentence(result.stderr) == "empty holds no .json, .jsonl or .ndjson file"


def test_options_of_validate(here: Path) -> None:
    (here / "x.json").write_text('{"jsonrpc":"2.0","id":1,"result":{}}')
    assert called("validate", "x.json").exit_code == 3
    assert called("validate", "x.json", "-p", "awp", "-k", "session.close.result").exit_code == 0
    assert called("validate", "x.json", "-p", "awp", "-k", "ping.result", "--form", "receiver").exit_code == 1
    completed = FIXTURES / "published" / "completed.minimal.json"
    (here / "completed.json").write_text(json.dumps(json.loads(completed.read_text())["message"]))
    assert called("validate", "completed.json", "--stateless").exit_code == 0
    assert called("validate", "completed.json", "--as-published").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("x.json",), 3, "x.json cannot be read: No such file or directory"),
        (("-p", "nothing", "-"), 2, "there is no pack 'nothing'; there is atep@1, awp@0.1-draft.12, "),
        (("-p", "awp@9", "-"), 2, "there is no pack 'awp@9'; there is awp@0.1-draft.12, awp@0.1-draft.7"),
        (("-p", "awp", "-k", "pong", "-"), 2, "awp@0.1-draft.12 has no kind 'pong' (did you mean ping?)"),
        (("-k", "pong", str(VALID)), 2, "va-agent-protocol@0.1.0 has no kind 'pong'"),
        (("-",), 3, "-: no known protocol recognises this input"),
        (("a" * 300,), 3, "a" * 300 + " cannot be read: File name too long"),
    ],
)
def test_errors_of_validate(arguments: tuple[str, ...], code: int, said: str, here: Path) -> None:
    result = called("validate", *arguments, input=b"")
    assert result.exit_code == code
    assert one_sentence(result.stderr).startswith(said)
    assert result.stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", "--speed"),
        ("validate", "--form", "both", "-"),
        ("validate", "--format", "xml", "-"),
        ("run",),
        ("run", "awp", "--patience", "0"),
        ("run", "awp", "--patience", "much"),
        ("render",),
        ("render", "x.json", "--format", "pdf"),
        ("dance",),
    ],
)
def test_usage(arguments: tuple[str, ...]) -> None:
    result = called(*arguments, input=b"")
    assert result.exit_code == 2
    assert "Usage: " in result.stderr
    assert "Traceback" not in result.output


def test_help_and_version() -> None:
    for arguments in (("-h",), ("--help",), ("validate", "-h"), ("run", "--help")):
        assert called(*arguments).exit_code == 0
    built = "" if str(monitor.__file__).endswith(".py") else ", compiled"
    assert called("--version").stdout == f"conformance, version {__version__}{built}\n"


def test_what_an_input_says_is_never_obeyed_by_a_terminal(here: Path) -> None:
    message = json.loads(VALID.read_text("utf-8"))
    message["\x1b[2J"] = "\ud800"
    (here / "x.json").write_text(json.dumps(message))
    for form in ("text", "json"):
        result = process("validate", "x.json", "--format", form, cwd=here)
        assert result.returncode == 1
        assert b"\x1b" not in result.stdout + result.stderr
        result.stdout.decode("utf-8")


def test_a_name_that_is_not_utf_8(here: Path) -> None:
    name = os.fsdecode(b"x\xff.json")
    try:
        Path(name).write_bytes(b'{"hello": 1}')
    except OSError:
        return  # this file system has no such names
    result = process("validate", name, cwd=here)
    assert result.returncode == 3
    assert one_sentence(result.stderr.decode("utf-8")).startswith(r"x\udcff.json: ")
    for form in ("json", "junit", "github"):
        assert process("validate", name, "--format", form, cwd=here).returncode == 3
    log = json.loads(process("validate", name, "--format", "sarif", cwd=here).stdout)
    [notification] = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert notification["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "x%FF.json"}


def test_output_that_is_not_utf_8(here: Path) -> None:
    (here / "x.json").write_text('{"protocol":"va-agent-protocol","type":"é→"}', encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    result = process("validate", "x.json", cwd=here, env=environment)
    assert result.returncode == 1
    assert rb'/type is "' + "é".encode("latin-1") + rb'\u2192", which names no kind' in result.stdout


def test_a_reader_that_goes_away_changes_no_verdict(here: Path) -> None:
    broken = VALID.read_text("utf-8").replace('"taskId"', '"task"').replace("\n", "") + "\n"
    (here / "many.jsonl").write_text(broken * 1000)
    for form in ("text", "json"):
        command = [*COMMAND, "validate", "--stateless", "--format", form, "many.jsonl"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=here, stdin=subprocess.DEVNULL
        ) as child:
            assert child.stdout is not None
            assert child.stderr is not None
            child.stdout.read(10)
            child.stdout.close()
            said = child.stderr.read()
            assert child.wait(60) == 1
        assert said.startswith(b"many.jsonl: invalid (va-agent-protocol@0.1.0, 1000 messages, ")
        assert len(said.splitlines()) == 1


def test_nobody_who_reads_errors_is_no_error_either() -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        result = subprocess.run(
            [*COMMAND, "validate", "-"], input=VALID.read_bytes(), stdout=subprocess.PIPE, stderr=write,
            check=False, timeout=60,
        )  # fmt: skip
    finally:
        os.close(write)
    assert result.returncode == 0


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("form", ["text", "json"])
def test_output_that_cannot_be_written_is_no_fault_of_the_input(form: str) -> None:
    command = [*COMMAND, "validate", "--format", form, "-p", "va-agent-protocol"]
    with FULL.open("w") as full:
        result = subprocess.run(
            command, input=b"{}", stdout=full, stderr=subprocess.PIPE, check=False, timeout=60
        )
    assert result.returncode == 2
    last = result.stderr.decode().splitlines()[-1]
    assert last == "conformance: standard output cannot be written: No space left on device"
    with FULL.open("w") as full:
        result = subprocess.run(
            [*COMMAND, "validate", str(VALID)], stdout=full, stderr=full, check=False, timeout=60
        )
    assert result.returncode == 0


@pytest.mark.parametrize(
    ("closed", "code", "said"),
    [
        (0, 3, b"conformance: - cannot be read: standard input is closed"),
        (1, 0, b"-: valid (va-agent-protocol@0.1.0, 1 message)"),
        (2, 0, b""),
    ],
    ids=["input", "output", "errors"],
)
@pytest.mark.skipif(os.name == "nt", reason="a stream cannot be closed before the program starts")
def test_a_stream_that_is_closed(closed: int, code: int, said: bytes) -> None:
    closing = [
        sys.executable,
        "-c",
        "import os, sys; os.close(int(sys.argv[1])); os.execv(sys.argv[2], sys.argv[2:])",
    ]
    result = subprocess.run(
        [*closing, str(closed), *COMMAND, "validate", "-"], input=VALID.read_bytes(), capture_output=True,
        check=False, timeout=60,
    )  # fmt: skip
    assert (result.returncode, result.stdout, result.stderr.strip()) == (code, b"", said)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_judged_as_it_comes(here: Path) -> None:
    os.mkfifo("pipe")
    with subprocess.Popen(
        [*COMMAND, "validate", "pipe"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        with Path("pipe").open("wb", buffering=0) as pipe:
            pipe.write(b'{"protocol":"va-agent-protocol","type":"x"}\n')
            assert child.stdout.readline().startswith(b"pipe:1:40: MUST VA-MSG-001")
        assert child.wait(30) == 1


def test_interrupted() -> None:
    with subprocess.Popen(
        [*COMMAND, "validate"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heeds_interrupts,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdin.write(b'{"protocol":"va-agent-protocol","type":"accepted"}\n')
        child.stdin.flush()
        assert child.stdout.readline().startswith(b"-:1:1: MUST VA-")  # it then waits for more
        child.send_signal(signal.SIGINT)
        said = child.stderr.read().decode()
        assert child.wait(30) == 130
    assert said.startswith("-: interrupted (va-agent-protocol@0.1.0, 1 message, ")


# ── errors of the kit ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ConformanceError("the kit is broken"), 4, "the kit is broken"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (
            ZeroDivisionError("by zero"),
            4,
            "an error in the kit, not in what it judges: ZeroDivisionError: by",
        ),
    ],
)
def test_an_error_is_one_sentence(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    @guarding.guarded
    def command() -> int:
        raise error

    with pytest.raises(SystemExit) as caught:
        command()
    assert caught.value.code == code
    assert one_sentence(capsys.readouterr().err).startswith(said)


def test_a_usage_error_is_left_to_click() -> None:
    @guarding.guarded
    def command() -> int:
        raise click.UsageError("no")

    with pytest.raises(click.UsageError):
        command()


def test_an_error_says_where_in_the_kit_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    @guarding.guarded
    def command() -> int:
        return 1 // len("")

    with pytest.raises(SystemExit):
        command()
    assert "(test_cli.py:" in one_sentence(capsys.readouterr().err)


# ── run ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing",), "there is no pack 'nothing'; there is "),
        (("awp", "--role", "robot"), "awp@0.1-draft.12 has no role 'robot'; it has world, agent"),
        (
            ("ossa-a2a", "--role", "coordinator"),
            "there is no scenario yet that certifies the coordinator of ossa-a2a@0.3.3",
        ),
        (("awp", "-s", "nothing"), "no scenario is called 'nothing'; there is action-lockstep, "),
        (("awp", "-s", "handshake", "-s", "typo"), "no scenario is called 'typo'"),
        (("awp", "-r", "AWP-NONE-*"), "no scenario concerns a requirement 'AWP-NONE-*'"),
        (("awp", "-s", "version", "-r", "AWP-ACT-*"), "no scenario is selected: "),
        (("awp", "--target", "agent.py"), "'agent.py' is no target: it must begin with one of "),
        (("awp", "--target", "stdio:"), "'stdio:' names no command"),
        (
            ("awp", "--target", "reference:typo"),
            "the reference world has no fault 'typo'; it has no-reason, ",
        ),
        (("awp", "--config", "none.toml"), "none.toml cannot be read: No such file"),
        (("awp", "--config", "empty.toml"), "empty.toml names no target, and neither does --target"),
        (("awp", "--config", "broken.toml"), "broken.toml is not TOML: "),
        (("awp", "--config", "wrong.toml"), 'wrong.toml: /ice: the member "ice" is not allowed here'),
        (("awp", "--out", "empty.toml/report"), "the report cannot be written to empty.toml/report: "),
    ],
)
def test_usage_of_run(arguments: tuple[str, ...], said: str, here: Path) -> None:
    (here / "empty.toml").write_text("")
    (here / "broken.toml").write_text("a = ")
    (here / "wrong.toml").write_text("[ice]\n")
    result = called("run", *arguments)
    assert result.exit_code == 2, result.output
    assert one_sentence(result.stderr).startswith(said)
    assert not (here / "conformance-report").exists()


def test_the_reference_is_not_tested_in_place_of_ones_own(here: Path) -> None:
    """A `conformance.toml` without a target must not certify the reference under the vendor's name."""
    (here / "conformance.toml").write_text('[implementation]\nname = "acme"\n')
    result = called("run", "va-agent-protocol")
    assert result.exit_code == 2
    assert one_sentence(result.stderr) == "conformance.toml names no target, and neither does --target"


def test_the_reference_is_called_the_reference(here: Path) -> None:
    (here / "conformance.toml").write_text('[implementation]\nname = "acme"\n')
    result = called("run", "va-agent-protocol", "--target", "reference", "-s", "happy-path")
    assert result.exit_code == 0
    assert "reference-agent 0.1.0, tested as agent" in result.stdout
    (here / "own.toml").write_text(
        (FIXTURES / "targets" / "agent.toml").read_text().replace("reference-agent", "acme")
    )
    result = called(
        "run", "va-agent-protocol", "--config", "own.toml", "--target", "reference", "-s", "failure"
    )
    assert "reference-agent 0.1.0, tested as agent" in result.stdout


def test_run_and_render(here: Path) -> None:
    result = called("run", "va-agent-protocol", "-s", "happy-path", "--out", "out")
    assert result.exit_code == 0
    assert result.stderr.startswith("[1/1] happy-path: passed (")
    assert result.stdout.splitlines()[-1] == f"report: {Path('out') / 'report.json'}"
    text = called("render", "out/report.json")
    assert text.exit_code == 0
    page, value = Path("out") / "report.html", Path("out") / "report.json"
    assert result.stdout == text.stdout + f"page: {page}\nreport: {value}\n"
    assert called("render", "out", "--format", "html").stdout == page.read_text(encoding="utf-8")
    junit = called("render", "out/report.json", "--format", "junit")
    assert junit.stdout.startswith("<?xml version='1.0' encoding='utf-8'?>\n<testsuites ")


def test_what_cannot_be_rendered(here: Path) -> None:
    result = called("render", "none.json")
    assert result.exit_code == 3
    assert one_sentence(result.stderr) == "none.json cannot be read: No such file or directory"
    (here / "x.json").write_text('{"report": 1}')
    result = called("render", "x.json")
    assert result.exit_code == 3
    assert one_sentence(result.stderr).startswith("x.json is no report of this kit: the file: ")


def test_a_run_on_a_terminal_shows_a_bar(here: Path) -> None:
    master, slave = os.openpty()
    command = [*COMMAND, "run", "va-agent-protocol", "-s", "happy-path"]
    try:
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave, cwd=here
        ) as child:
            assert child.stdout is not None
            out = child.stdout.read()
            assert child.wait(60) == 0
        drawn = os.read(master, 65536)
    finally:
        os.close(master)
        os.close(slave)
    assert b"happy-path" in drawn
    assert b"1/1" in drawn
    assert b"[1/1]" not in drawn
    assert b"claim: incomplete" in out


def test_a_reader_of_the_report_that_goes_away_changes_no_verdict(here: Path) -> None:
    command = [*COMMAND, "run", "va-agent-protocol", "--target", "reference:banner", "-s", "happy-path"]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=here
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        said = child.stderr.read()
        assert child.wait(60) == 1
    assert len(said.splitlines()) == 1
    assert json.loads((here / "conformance-report" / "report.json").read_text())["complete"] is True


@pytest.mark.skipif(os.name == "nt", reason="no such file names on Windows")
def test_the_name_of_a_file_obeys_nobody(tmp_path: Path) -> None:
    path = tmp_path / "a\nb\x1b[31m.json"
    path.write_bytes(VALID.read_bytes())
    done = process("validate", path)
    assert len(done.stderr.splitlines()) == 1
    assert b"\x1b" not in done.stderr


def test_a_terminal_shows_the_place_that_a_scenario_is_wrong_in(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @guarding.guarded
    def reads() -> int:
        scenarios.read("title: x\nrole: agnet\ncovers: [VA-MSG-001]\nsteps: [{wait: 1 s}]\n", "x.yaml", VA)
        return 0

    for columns, extra in ((0, []), (60, ["    role: agnet", "          ^~~~~"])):
        monkeypatch.setattr(guarding, "width", lambda *, err, columns=columns: columns)
        with pytest.raises(SystemExit):
            reads()
        sentence, *marks = capsys.readouterr().err.splitlines()
        assert sentence.startswith("conformance: x.yaml:2:7: ")
        assert marks == extra


@pytest.mark.parametrize(
    "options",
    [
        ["--budget", "5"],
        ["--seed", "0"],
        ["--fuzz", "--mutate", "all"],
        ["--fuzz", "--beside", "ws://127.0.0.1:1"],
        ["--mutate", "all", "--beside", "ws://127.0.0.1:1"],
        ["--mutate", "all", "--bundle", "out.zip"],
    ],
)
def test_no_option_of_a_run_is_passed_over_in_silence(options: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = CliRunner().invoke(cli.main, ["run", "va-agent-protocol", "--out", str(out), *options])
    assert (done.exit_code, out.exists()) == (2, False)
    assert options[0] in done.output
