"""Several processes tell what one tells, and what becomes of them."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from forks import REAL, command

FIXTURES = Path(__file__).parents[1] / "fixtures" / "va-agent-protocol" / "0.1.0"

GOOD = FIXTURES / "messages" / "valid" / "dispatch.minimal.json"

BROKEN = {"protocol": "va-agent-protocol", "version": "0.1.0", "type": "cancel"}

PROGRAM = """
import os, signal, sys
from conformance import validation, workers
from conformance.cli import main

def judge_path(path, options, tell):
    if path.name == "killed.json":
        os.kill(os.getpid(), signal.SIGKILL)
    if path.name == "broken.json":
        raise ZeroDivisionError("nobody foresaw it")
    return validation.judge_path(path, options, tell)

workers.judge_path = judge_path
main(["validate", "--jobs", "2", *sys.argv[1:]])
"""
"""The kit, with a fault: what a file of some name does to whoever judges it."""


def told(form: str, jobs: int, folder: Path) -> tuple[int, bytes, bytes]:
    """What one command says of all that a person may name: folders, files twice, what is not there."""
    named = [*("messages", "transcripts", "-", "messages/valid", "nowhere.json"), str(folder)]
    done = subprocess.run(
        [*command("conformance"), "validate", "--format", form, "--jobs", str(jobs), *named],
        cwd=FIXTURES,
        input=b'{"protocol": "va-agent-protocol", "protocol": "va-agent-protocol"}\n',
        capture_output=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit", "github"])
def test_three_processes_tell_what_one_tells(form: str, tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text(json.dumps(BROKEN | {"payload": {"x": nested(500)}}), "utf-8")
    (tmp_path / "blank.json").write_text("\n", "utf-8")
    (tmp_path / "other.json").write_text('{"hello": "world"}', "utf-8")
    code, out, err = told(form, 3, tmp_path)
    assert (code, out, err) == told(form, 1, tmp_path)
    assert code == 1
    assert len(out) > 5_000
    assert len(err.splitlines()) > 200


def nested(depth: int) -> list[object]:
    return [] if depth == 1 else [nested(depth - 1)]


def test_a_protocol_that_there_is_not_is_told_once() -> None:
    words = ["validate", "--jobs", "2", "-p", "vaagentprotocol", str(GOOD), str(GOOD)]
    done = subprocess.run([*command("conformance"), *words], capture_output=True, check=False, timeout=60)
    assert done.returncode == 2
    [line] = done.stderr.decode().splitlines()
    assert line.startswith("conformance: there is no pack 'vaagentprotocol'")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("killed.json", "the process that was to judge {} was killed by signal 9 before it had; without"),
        (
            "broken.json",
            "an error in the kit, not in what it judges: ZeroDivisionError: nobody foresaw it (<str",
        ),
    ],
)
def test_a_process_that_cannot_judge_is_the_kits_error(name: str, said: str, tmp_path: Path) -> None:
    bad = tmp_path / name
    bad.write_bytes(GOOD.read_bytes())
    words = [sys.executable, "-c", PROGRAM, str(GOOD), str(bad), str(GOOD)]
    done = subprocess.run(words, capture_output=True, check=False, timeout=60)
    assert done.returncode == 4
    first, last = done.stderr.decode().splitlines()
    assert first == f"{GOOD}: valid (va-agent-protocol@0.1.0, 1 message)"
    assert last.startswith(f"conformance: {said.format(bad)}")


def test_an_interruption_ends_all_of_them(tmp_path: Path) -> None:
    """Each file says more than the pipes hold, so nobody is done before it is interrupted."""
    for name in ("one.jsonl", "two.jsonl", "three.jsonl"):
        (tmp_path / name).write_text(f"{json.dumps(BROKEN)}\n" * 20_000, "utf-8")
    with subprocess.Popen(
        [*REAL["conformance"], "validate", "--jobs", "3", "one.jsonl", "two.jsonl", "three.jsonl"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        start_new_session=True,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline().startswith(b"one.jsonl:1:")
        os.killpg(child.pid, signal.SIGINT)
        said = child.communicate(timeout=60)[1].decode()
    assert child.returncode == 130
    assert said.startswith("one.jsonl: interrupted (")
    assert len(said.splitlines()) == 1
    with pytest.raises(ProcessLookupError):
        os.killpg(child.pid, 0)
