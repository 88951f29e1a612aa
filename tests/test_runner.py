"""Runs against misbehaving implementations: what is their fault, what is nobody's, what is left behind."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from live import COMMAND, PEERS, Run, assert_sound, conformance_run, free_port, peer, processes

from conformance import packs, scenarios
from conformance.cables import LOOK
from conformance.errors import ConformanceError
from conformance.packs import Pack, data_root
from conformance.runner import Plan, Session, run_one
from conformance.scenarios import Scenario

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the peers use POSIX signals")

VA = "va-agent-protocol"
ICS = data_root() / "fixtures" / VA / "0.1.0" / "targets" / "agent.toml"


def run(tmp_path: Path, target: str, *options: str) -> Run:
    """Run against a target with a mark in its command line, by which nothing is left afterwards."""
    mark = f"mark-{secrets.token_hex(6)}"
    own = re.match(r"stdio:|launch:", target)
    done = conformance_run(
        tmp_path,
        VA,
        f"{target} {mark}" if own else target,
        "--config",
        str(ICS),
        "--patience",
        "0.05",
        *options,
    )
    assert processes(mark) == []
    return done


# ── nobody there, nobody speaks ──────────────────────────────────────────────────────────────────


REFUSED = "refused"


NEVER_SPOKE = {
    "connection refused": (REFUSED, "unreachable", "connection refused"),
    "silent": (peer("says_nothing"), "inconclusive", "the implementation said nothing: blocked did not come"),
}
"""Many others do so in acceptance/test_hostile.py."""


@pytest.mark.parametrize(
    ("target", "status", "said"), [pytest.param(*row, id=name) for name, row in NEVER_SPOKE.items()]
)
def test_who_never_spoke_is_not_judged(tmp_path: Path, target: str, status: str, said: str) -> None:
    if target == REFUSED:
        target = f"ws://user:s3cret@127.0.0.1:{free_port()}/x?key=s3cret"
    done = run(tmp_path, target)
    assert done.code == 3
    assert done.of("fail", "warn") == []
    # One scenario showed it, so no other was tried.
    assert list(done.statuses.items()) == [("blocked", status)]
    assert done.report["complete"] is False
    assert done.report["claim"]["status"] == "not-evaluated"
    told = [line for line in done.text.splitlines() if line.startswith("scenario ")]
    assert len(told) == 1
    assert told[0].startswith(f"scenario blocked: {status}: ")
    assert said in told[0]
    [progress] = done.said.splitlines()
    assert progress.startswith(f"[1/9] blocked: {status} (")
    assert done.seconds < 20
    assert "s3cret" not in done.text + done.said + (done.out / "report.json").read_text("utf-8")


def test_a_silent_target_costs_the_patience_of_one_scenario(tmp_path: Path) -> None:
    done = run(tmp_path, peer("says_nothing"))
    [row] = done.report["scenarios"]
    assert 1.5 <= row["seconds"] < 4.0  # 30 s of the step, with a patience of 0.05


# ── who breaks the rules of the wire ─────────────────────────────────────────────────────────────


BREAKS_THE_WIRE = {
    "banner": (peer("prints_banner"), "WIRE-NOISE", "on the protocol stream: 'Welcome to Agent 1.0'"),
    "binary": (peer("ws_binary", scheme="launch"), "WIRE-NOISE", "a binary message where messages are texts"),
}


@pytest.mark.parametrize(
    ("target", "requirement", "line"), [pytest.param(*row, id=name) for name, row in BREAKS_THE_WIRE.items()]
)
def test_who_breaks_the_wire_fails(tmp_path: Path, target: str, requirement: str, line: str) -> None:
    done = run(tmp_path, target, "-s", "happy-path")
    assert done.code == 1
    assert requirement in done.of("fail")
    others = [name for name in done.of("fail", "warn") if name.startswith("WIRE-")]
    assert others == [requirement]
    assert done.report["complete"] is True
    assert f"FAIL {requirement} (MUST): " in done.text
    assert line in done.text
    assert done.said.splitlines()[0].startswith("[1/1] happy-path: ")


def test_who_stops_speaking_in_the_middle_is_inconclusive(tmp_path: Path) -> None:
    done = run(tmp_path, peer("accepts_only"), "-s", "happy-path", "-s", "failure")
    # The conversation was ended by the kit, in good order, and the peer left without the last word.
    assert done.statuses == {"failure": "inconclusive", "happy-path": "inconclusive"}
    assert done.of("fail") == ["VA-LIF-003"]
    assert done.code == 1


# ── interruption ─────────────────────────────────────────────────────────────────────────────────


def test_who_is_waited_for_no_longer_is_not_blamed_for_what_it_had_still_to_say(tmp_path: Path) -> None:
    """It works on a task that it accepted when the kit's own patience ends, and is ended by force."""
    done = conformance_run(tmp_path, VA, peer("works_for_long"), "--patience", "0.1", "-s", "happy-path")
    assert (done.code, done.statuses) == (3, {"happy-path": "inconclusive"})
    assert done.of("fail", "warn") == []
    assert "VA-LIF-003" in done.of("inconclusive")


def test_over_a_websocket_nobody_can_say_anything_after_the_kits_goodbye(tmp_path: Path) -> None:
    """It is at work when the kit's patience ends, and its library answers the kit's close frame at once."""
    slow = peer("ws_works_for_long", scheme="launch")
    done = conformance_run(tmp_path, VA, slow, "--patience", "0.1", "-s", "happy-path")
    assert (done.code, done.statuses) == (3, {"happy-path": "inconclusive"})
    assert done.of("fail", "warn") == []
    assert "VA-LIF-003" in done.of("inconclusive")
    *_, closed = (done.out / "transcripts" / "happy-path.jsonl").read_text("utf-8").splitlines()
    end = json.loads(closed)
    assert (end["event"], end["by"], end["clean"], end["final"]) == ("closed", "orchestrator", True, False)


def begin(tmp_path: Path, mark: str, *before: str) -> subprocess.Popen[str]:
    """A run in the middle of its second scenario, in which the peer has accepted and says no more."""
    command = [
        *before,
        *COMMAND,
        "run",
        VA,
        "--target",
        f"{peer('accepts_only')} {mark}",
        "--config",
        str(ICS),
    ]
    child = subprocess.Popen(
        [*command, "--out", "report", "-s", "cancel", "-s", "happy-path"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    transcript = tmp_path / "report" / "transcripts" / "happy-path.jsonl"
    until = time.monotonic() + 30
    while not (transcript.is_file() and '"accepted"' in transcript.read_text("utf-8")):
        assert time.monotonic() < until
        assert child.poll() is None
        time.sleep(0.02)
    assert processes(mark)
    return child


@pytest.mark.parametrize(
    "signals",
    [
        [signal.SIGINT],
        [signal.SIGTERM],
        [signal.SIGINT, signal.SIGINT],
        [signal.SIGTERM, signal.SIGTERM, signal.SIGTERM],
        [signal.SIGINT, signal.SIGTERM, signal.SIGINT],
    ],
    ids=lambda signals: " ".join(one.name for one in signals),
)
def test_interrupted(tmp_path: Path, signals: list[signal.Signals]) -> None:
    mark = f"mark-{secrets.token_hex(6)}"
    with begin(tmp_path, mark) as child:
        for number in signals:
            child.send_signal(number)
            time.sleep(0.05)
        began = time.monotonic()
        text, said = child.communicate(timeout=30)
    assert child.returncode == 130
    assert time.monotonic() - began < 10
    assert "Traceback" not in text + said
    assert processes(mark) == []
    assert_sound(tmp_path / "report")
    report = json.loads((tmp_path / "report" / "report.json").read_text("utf-8"))
    assert report["complete"] is False
    assert [(row["name"], row["status"]) for row in report["scenarios"]] == [
        ("cancel", "passed"),
        ("happy-path", "interrupted"),
    ]
    assert report["claim"]["wording"].endswith(" The run was not completed.")
    assert "scenario happy-path: interrupted: the run was interrupted" in text
    # What was cut short by us is not held against the implementation.
    assert [row["id"] for row in report["requirements"] if row["verdict"] == "fail"] == []


def test_terminated_in_the_background(tmp_path: Path) -> None:
    """A shell without job control starts what is in the background deaf to SIGINT."""
    mark = f"mark-{secrets.token_hex(6)}"
    with begin(tmp_path, mark, "/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh") as child:
        child.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert child.poll() is None
        child.send_signal(signal.SIGTERM)
        text, said = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "scenario happy-path: interrupted: " in text
    assert "Traceback" not in text + said
    assert processes(mark) == []
    assert_sound(tmp_path / "report")


def test_interrupted_while_it_closes(tmp_path: Path) -> None:
    """The process ignores that its input ended, so the kit is waiting for it when it is interrupted."""
    (tmp_path / "stays.py").write_text(
        'import pathlib, sys, time\nprint(\'{"type": "completed"}\', flush=True)\n'
        "sys.stdin.read()\npathlib.Path('ended').touch()\ntime.sleep(60)\n"
    )
    mark = f"mark-{secrets.token_hex(6)}"
    target = f"stdio:{sys.executable} stays.py {mark}"
    command = [*COMMAND, "run", VA, "--target", target, "--out", "report", "-s", "happy-path"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        until = time.monotonic() + 30
        while not (tmp_path / "ended").exists():
            assert time.monotonic() < until
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        text, said = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "scenario happy-path: interrupted: " in text
    assert "Traceback" not in text + said
    assert processes(mark) == []
    assert_sound(tmp_path / "report")


# ── what lies in the folder ──────────────────────────────────────────────────────────────────────


def test_a_later_run_leaves_nothing_of_an_earlier_one(tmp_path: Path) -> None:
    own = tmp_path / "report" / "transcripts" / "notes.txt"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    first = conformance_run(tmp_path, VA, "reference:banner", "-s", "cancel", "-s", "failure")
    assert first.statuses == {"cancel": "passed", "failure": "passed"}
    assert first.code == 1
    second = conformance_run(tmp_path, VA, "reference", "-s", "failure")
    assert second.code == 0
    names = {path.name for path in (tmp_path / "report").rglob("*") if path.is_file()}
    assert names == {"report.html", "report.json", "failure.jsonl", "notes.txt"}
    third = conformance_run(tmp_path, VA, "stdio:no-such-program", "-s", "failure")
    assert third.code == 3
    assert third.of("pass") == []


def test_a_folder_that_holds_no_report_is_not_cleared(tmp_path: Path) -> None:
    own = tmp_path / "report" / "transcripts" / "mine.jsonl"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    command = [*COMMAND, "run", VA, "-s", "failure", "--out", "report"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    assert own.read_text() == "mine"


def test_a_secret_gets_nowhere(tmp_path: Path) -> None:
    token = f"t0p-{secrets.token_hex(12)}"
    (tmp_path / "token").write_text(token)
    target = peer("tells_a_secret", str(tmp_path / "token"))
    done = conformance_run(tmp_path, "awp", target, "--patience", "0.3", "-s", "handshake", "-s", "observer")
    assert done.code in (1, 3)
    written = [path for path in (tmp_path / "report").rglob("*") if path.is_file()]
    assert len(written) >= 3
    for path in written:
        assert token not in path.read_text("utf-8")
    assert token not in done.text + done.said


# ── the loop itself ──────────────────────────────────────────────────────────────────────────────

PACK = packs.find(VA)


def scenario(steps: str, name: str = "own") -> Scenario:
    head = "title: x\nrole: orchestrator\ncovers: [VA-MSG-001]\nsteps:\n"
    return scenarios.read(head + steps, f"{name}.yaml", PACK)


def plan(tmp_path: Path, target: str, patience: float = 1.0) -> Plan:
    return Plan(PACK, "agent", target, {}, tmp_path, patience)


DISPATCH = "- send: dispatch\n  payload: {task: {id: T-1, objective: o, acceptanceCriteria: [x]}}\n"


def test_events_are_on_record_in_the_order_in_which_they_were_acted_on(tmp_path: Path) -> None:
    """Three messages come in one chunk; the kit answers the first before it looks at the second."""
    sends = ("- raw: '{\"a\": 1}'\n", "- raw: '{\"b\": 1}'\n", "- raw: '{\"c\": 1}'\n")
    text = "- expect: '*'\n".join(sends) + "- wait: 300 ms\n"
    (tmp_path / "three.py").write_text(
        "import sys\nsys.stdin.readline()\nprint('{}\\n' * 3, end='', flush=True)\nsys.stdin.read()\n"
    )
    target = f"stdio:{sys.executable} {tmp_path / 'three.py'}"
    result = run_one(plan(tmp_path, target), scenario(text))
    assert result.status == "passed", result.reason
    header, *rows = [
        json.loads(row) for row in (tmp_path / result.transcript).read_text("utf-8").splitlines()
    ]
    assert header["scenario"] == "own"
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
    assert [row["event"] for row in rows] == [
        *("opened", "sent", "received", "sent", "received", "sent", "received", "closed")
    ]


def test_a_kit_that_was_busy_blames_nobody(tmp_path: Path) -> None:
    """The answer is there in time, and the kit comes to look at it only long after the deadline."""
    text = '- raw: \'{"type":"accepted"}\'\n- expect: accepted\n  within: 300 ms\n  proves: VA-MSG-002\n'

    async def conversation() -> str:
        session = Session(plan(tmp_path, peer("echo")), scenario(text))
        try:
            done = await session.begin()
            time.sleep(2.0)  # nothing can be read meanwhile
            while not done:
                done = await session._next()
        finally:
            await session.close()
        return session.driver.outcome.reason if session.driver.outcome else "passed"

    assert asyncio.run(conversation()) == "passed"


def test_what_comes_too_late_comes_too_late(tmp_path: Path) -> None:
    """However much else comes: a deadline is not put off by a chatty implementation."""
    text = "- expect: completed\n  within: 300 ms\n"
    code = (
        "import sys, time\n"
        "for _ in range(400): print('{}', flush=True); time.sleep(0.005)\n"
        'print(\'{\\"type\\": \\"completed\\"}\', flush=True); sys.stdin.read()'
    )
    (tmp_path / "chatty.py").write_text(code.replace('\\"', '"'))
    result = run_one(plan(tmp_path, f"stdio:{sys.executable} {tmp_path / 'chatty.py'}"), scenario(text))
    assert result.status == "inconclusive"
    assert result.reason == "completed did not come within 0.3 s"
    assert result.seconds < 0.3 + LOOK + 3.0


def test_a_second_connection_that_is_refused_is_no_reason_to_stop(tmp_path: Path) -> None:
    text = "- wait: 300 ms\n- connect: second\n- expect: completed\n"
    result = run_one(plan(tmp_path, peer("one_connection_only", scheme="launch"), 0.5), scenario(text))
    assert result.status == "inconclusive"
    assert "connection refused" in result.reason


def test_a_connection_is_cut_and_made_again(tmp_path: Path) -> None:
    ping = '- raw: \'{"type":"accepted"}\'\n- expect: accepted\n'
    text = f"{ping}- drop: main\n- connect: main\n{ping}- close: main\n- connect: third\n{ping}"
    result = run_one(plan(tmp_path, peer("echo")), scenario(text))
    assert result.status == "passed", result.reason
    events = [
        json.loads(row)["event"] for row in (tmp_path / result.transcript).read_text("utf-8").splitlines()[1:]
    ]
    assert events == ["opened", "sent", "received", "closed"] * 3


def test_bytes_are_sent_as_they_are(tmp_path: Path) -> None:
    text = "- raw: {base64: '/v8K'}\n- wait: 100 ms\n"
    result = run_one(plan(tmp_path, peer("echo")), scenario(text))
    rows = [json.loads(row) for row in (tmp_path / result.transcript).read_text("utf-8").splitlines()[1:]]
    assert [(row["event"], row.get("party")) for row in rows[1:3]] == [
        ("malformed", "orchestrator"),
        ("malformed", "agent"),
    ]


def test_an_error_of_the_kit_is_one(tmp_path: Path) -> None:
    text = "- given: 1\n  is: {type: nonsense}\n  because: x\n"
    result = run_one(plan(tmp_path, peer("echo")), scenario(text))
    assert result.status == "error"
    assert "a schema cannot be used" in result.reason

    broken = Plan(Pack(PACK.folder), "agent", peer("echo"), {}, tmp_path)
    broken.pack.meta["templates"] = 5
    result = run_one(broken, scenario(DISPATCH))
    assert result.status == "error"
    assert result.reason.startswith("the kit failed: ")


def test_what_the_ics_does_not_state_is_not_applicable(tmp_path: Path) -> None:
    made = scenarios.read(
        "title: x\nrole: orchestrator\ncovers: [VA-MSG-001]\nneeds: {retry: true}\nsteps: [wait: 1 s]\n",
        "x.yaml",
        PACK,
    )
    result = run_one(plan(tmp_path, "stdio:no-such-program"), made)
    assert (result.status, result.transcript) == ("not-applicable", "")
    assert result.reason == "the ICS does not say what this needs: /retry is missing"


def test_standard_error_is_kept_where_there_is_some(tmp_path: Path) -> None:
    result = run_one(plan(tmp_path, peer("exits_at_once"), 0.1), scenario("- expect: accepted\n"))
    assert result.stderr == "stderr/own.txt"
    assert "a line before the last" in (tmp_path / result.stderr).read_text("utf-8")
    assert run_one(plan(tmp_path, peer("echo")), scenario("- wait: 1 ms\n")).stderr == ""


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises((OSError, ConformanceError)):
        run_one(plan(tmp_path / "file", peer("echo")), scenario("- wait: 1 ms\n"))


def test_every_peer_says_what_is_wrong_with_it() -> None:
    for path in PEERS.glob("*.py"):
        assert path.read_text("utf-8").startswith('"""'), path.name
