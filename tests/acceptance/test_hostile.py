"""Implementations at their worst: whatever they do, a run ends in time, with one sentence and a report."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from live import PEERS, free_port, peer, processes

from conformance import formats

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the peers use POSIX signals")

FORKED = Path(__file__).parents[1] / "forked.py"
VA, AWP = "va-agent-protocol", "awp@0.1-draft.7"
SCENARIO = {VA: "happy-path", AWP: "handshake"}
SECONDS, CPU, MIB = 200.0, 15.0, 700.0
"""What a run may take at most; so much by the clock since the machine may have many other things to do."""

UNREACHABLE, SILENT, BROKEN = ("unreachable", 3), ("inconclusive", 3), ("inconclusive", 1)


class Row(NamedTuple):
    """A target, what becomes of the scenario and the exit code, and what the sentence about it says."""

    target: str
    outcome: tuple[str, int]
    said: str
    protocol: str = VA
    finding: str = ""
    patience: float = 0.1


def stdio(name: str, *rest: str) -> str:
    return peer(name, *rest)


def of(scheme: str, name: str, *rest: str) -> str:
    return peer(name, *rest, scheme=scheme)


ROWS = {
    # Nobody is there.
    "no such program": Row("stdio:no-such-program", UNREACHABLE, "no such file or directory"),
    "not executable": Row(f"stdio:{PEERS}/echo.py", UNREACHABLE, "echo.py': permission denied"),
    "a folder": Row("stdio:/", UNREACHABLE, "cannot start '/': permission denied"),
    "nobody listens": Row("REFUSED", UNREACHABLE, "connection refused"),
    "no such host": Row("ws://no-such-host.invalid/", UNREACHABLE, "the name is not known", patience=2),
    "prints no url": Row(of("launch", "says_nothing"), UNREACHABLE, "printed no ws:// URL within 1 s"),
    "prints another url": Row(
        of("launch", "prints_other_url"), UNREACHABLE, "instead of a ws:// URL", patience=2
    ),
    "floods before its url": Row(of("launch", "floods"), UNREACHABLE, "instead of a ws:// URL", patience=2),
    "exits before its url": Row(
        of("launch", "ws_exits_before_url"), UNREACHABLE, "gave no URL: the process", patience=2
    ),
    # It says nothing.
    "exits at once": Row(stdio("exits_at_once"), SILENT, "exited with status 3: no licence", patience=2),
    "crashes": Row(stdio("crashes"), SILENT, "was ended by signal SIGABRT", patience=2),
    "silent": Row(stdio("says_nothing"), SILENT, "said nothing: completed did not come within"),
    "deaf": Row(stdio("never_reads"), SILENT, "said nothing: completed did not come within"),
    "closes its output": Row(stdio("closes_stdout"), SILENT, "closed its standard output"),
    "dies in a message of ours": Row(stdio("dies_mid_message"), SILENT, "exited with status 4", patience=2),
    "many children": Row(
        stdio("forks_many"), SILENT, "exited with status 0 before completed came", patience=2
    ),
    # It breaks the line.
    "closes its input": Row(stdio("closes_stdin"), BROKEN, "completed", finding="WIRE-NOISE", patience=0.1),
    "ignores SIGTERM": Row(stdio("ignores_sigterm"), BROKEN, "completed did not", finding="WIRE-NOISE"),
    "ignores the end of its input": Row(
        stdio("ignores_end_of_input"), BROKEN, "completed did not", finding="WIRE-NOISE"
    ),
    "banner": Row(stdio("prints_banner"), BROKEN, "completed did not", finding="WIRE-NOISE"),
    "garbage": Row(stdio("garbage"), BROKEN, "exited with status 0", finding="WIRE-UTF8", patience=20),
    "not utf-8": Row(stdio("not_utf8"), BROKEN, "exited with status 0", finding="WIRE-UTF8", patience=2),
    "flood": Row(stdio("floods"), BROKEN, "more than the kit reads", finding="WIRE-NOISE", patience=20),
    "line without end": Row(
        stdio("endless_line"), BROKEN, "more than the kit reads", finding="WIRE-LIMIT", patience=20
    ),
    "one byte at a time": Row(stdio("drips"), BROKEN, "completed did not come", finding="WIRE-LINE"),
    "a line of 50 MB": Row(
        stdio("long_line"), BROKEN, "exited with status 0", finding="VA-MSG-001", patience=20
    ),
    "a hundred thousand brackets": Row(
        stdio("nests_deeply"), BROKEN, "exited with status 0", finding="WIRE-LIMIT", patience=20
    ),
    "many members": Row(
        stdio("many_members"), BROKEN, "exited with status 0", finding="WIRE-KEYS", patience=20
    ),
    "half a line": Row(
        stdio("half_line_then_exit"), BROKEN, "exited with status 0", finding="WIRE-LINE", patience=2
    ),
    "crash in the middle": Row(
        stdio("accepts_and_crashes"), BROKEN, "SIGSEGV", finding="VA-LIF-003", patience=2
    ),
    "child keeps the pipe": Row(
        stdio("grandchild_keeps_stdout"), BROKEN, "completed did not", finding="WIRE-NOISE"
    ),
    "fills standard error": Row(stdio("fills_stderr"), BROKEN, "completed did not", finding="VA-MSG-003"),
    # Headers.
    "lines instead of headers": Row(
        of("stdio+lsp", "not_utf8"), BROKEN, "status 0", finding="WIRE-LINE", patience=2
    ),
    "a terabyte": Row(of("stdio+lsp", "lsp_huge"), BROKEN, "completed did not", finding="WIRE-LIMIT"),
    "a length below nothing": Row(
        of("stdio+lsp", "lsp_negative"), BROKEN, "completed did not", finding="WIRE-LINE"
    ),
    "half a message": Row(
        of("stdio+lsp", "lsp_half_message"), BROKEN, "status 0", finding="WIRE-LINE", patience=2
    ),
    "flood, no header": Row(
        of("stdio+lsp", "floods"), BROKEN, "more than the kit reads", finding="WIRE-NOISE", patience=20
    ),
    "silent, headers": Row(of("stdio+lsp", "says_nothing"), SILENT, "said nothing: completed did not come"),
    # One process per message.
    "no such adapter": Row("exec:no-such-program {input}", UNREACHABLE, "no such file or directory"),
    "never answers": Row(of("exec", "never_reads"), SILENT, "said nothing: completed did not come within"),
    "no answer": Row(of("exec", "says_nothing"), SILENT, "wrote nothing to standard output", patience=2),
    "a status": Row(
        of("exec", "exits_at_once"), SILENT, "the process exited with status 3: no licence", patience=2
    ),
    "answer is a folder": Row(
        of("exec", "answers_amiss", "directory", "{output}"),
        SILENT,
        "made no regular file of its output",
        patience=2,
    ),
    "answer is a pipe": Row(
        of("exec", "answers_amiss", "pipe", "{output}"),
        SILENT,
        "made no regular file of its output",
        patience=2,
    ),
    "answer without end": Row(
        of("exec", "floods"), SILENT, "wrote more than 67108864 bytes to standard output", patience=20
    ),
    # No WebSocket.
    "accepts and says nothing": Row(of("launch", "ws_never_answers"), UNREACHABLE, "did not answer within"),
    "answers one byte at a time": Row(of("launch", "ws_drips"), UNREACHABLE, "did not answer within"),
    "not http": Row(of("launch", "ws_not_http"), UNREACHABLE, "is not a WebSocket server", patience=2),
    "hangs up": Row(of("launch", "ws_hangs_up"), UNREACHABLE, "is not a WebSocket server", patience=2),
    "404": Row(
        of("launch", "ws_answers_404"), UNREACHABLE, "it answered HTTP 404 where 101 was expected", patience=2
    ),
    "headers without end": Row(of("launch", "ws_endless_headers"), UNREACHABLE, "ws://127.0.0.1:"),
    "no tls": Row(of("launch", "wss_without_tls"), UNREACHABLE, "TLS failed: ", patience=20),
    "wrong subprotocol": Row(
        of("launch", "ws_wrong_subprotocol"), UNREACHABLE, "chose what the kit did not offer", AWP, patience=2
    ),
    "no subprotocol": Row(
        of("launch", "ws_no_subprotocol"), UNREACHABLE, "chose no subprotocol", AWP, patience=2
    ),
    "bomb": Row(of("launch", "ws_bomb"), UNREACHABLE, "chose what the kit did not offer", patience=2),
    # A WebSocket, of a kind.
    "closes at once": Row(of("launch", "ws_closes_at_once"), SILENT, "closed with code 1000", patience=2),
    "closes with 1009": Row(
        of("launch", "ws_closes_with_1009"), SILENT, "code 1009: too big for me", patience=2
    ),
    "keeps tcp open": Row(of("launch", "ws_keeps_tcp_open"), SILENT, "closed with code 1000"),
    "never answers a close frame": Row(of("launch", "ws_ignores_close"), SILENT, "said nothing: completed"),
    "never reads": Row(of("launch", "ws_never_reads"), SILENT, "said nothing: completed did not come within"),
    "compressed": Row(
        of("launch", "ws_compressed"), SILENT, "the WebSocket protocol was broken (code 1002", patience=2
    ),
    "breaks framing": Row(
        of("launch", "ws_breaks_framing"), SILENT, "protocol was broken (code 1002", patience=2
    ),
    "announces a terabyte": Row(
        of("launch", "ws_huge_message"), SILENT, "is larger than 67108864 bytes", patience=2
    ),
    "pings and pings": Row(of("launch", "ws_pings"), SILENT, "closed with code 1000", patience=20),
    "fragments without end": Row(
        of("launch", "ws_empty_fragments"), SILENT, "has more than 100000 fragments", patience=5
    ),
    "no close frame": Row(
        of("launch", "ws_closes_without_frame"),
        BROKEN,
        "without a close frame",
        finding="WIRE-NOISE",
        patience=2,
    ),
    "binary": Row(of("launch", "ws_binary"), BROKEN, "completed did not", finding="WIRE-NOISE", patience=0.3),
    "text is not utf-8": Row(
        of("launch", "ws_not_utf8"), BROKEN, "is not UTF-8", finding="WIRE-NOISE", patience=2
    ),
    "a message of 50 MB": Row(
        of("launch", "ws_long_message"), BROKEN, "closed with code 1000", finding="VA-MSG-001", patience=20
    ),
    # It is to connect.
    "never connects": Row(of("ws-listen", "never_reads"), UNREACHABLE, "made no WebSocket connection"),
    "exits instead": Row(
        of("ws-listen", "exits_at_once"), UNREACHABLE, "exited with status 3: no licence", patience=2
    ),
    "asks for a page": Row(
        of("ws-listen", "dials_by_http"), UNREACHABLE, "the kit refused one with HTTP 426"
    ),
    "offers others": Row(
        of("ws-listen", "dials_without_subprotocol", "other"),
        UNREACHABLE,
        "offered 'other'",
        AWP,
        patience=20,
    ),
    "connects twice": Row(of("ws-listen", "dials_twice"), SILENT, "said nothing: completed", patience=0.1),
    "connects and connects": Row(of("ws-listen", "dials_many"), SILENT, "said nothing: ", patience=0.1),
    "connects and leaves": Row(
        of("ws-listen", "dials_and_leaves"), BROKEN, "without a close frame", finding="WIRE-NOISE", patience=2
    ),
}


def command(row: Row, mark: str) -> list[str]:
    """The run of a row; a mark in the target's command line tells what is left of it."""
    target = row.target
    if target == "REFUSED":
        target = f"ws://127.0.0.1:{free_port()}/"
    elif PEERS.name in target:
        target = f"{target} {mark}"
    return ["run", row.protocol, "--target", target, "-s", SCENARIO[row.protocol], "--out", "report",
            "--patience", str(row.patience)]  # fmt: skip


def mistakes(name: str, row: Row, folder: Path, ended: tuple[int, float, float, float]) -> list[str]:
    """What is not as it should be about a run."""
    code, seconds, cpu, mib = ended
    out, err = ((folder / name / stream).read_text("utf-8") for stream in ("out", "err"))
    path = folder / name / "report" / "report.json"
    if not path.is_file():
        return [f"no report; exit code {code}; {err}"]
    report = json.loads(path.read_text("utf-8"))
    status, wanted = row.outcome
    [scenario] = report["scenarios"]
    began = f"scenario {scenario['name']}: {status}: "  # a line before it may say that the machine was slow
    [told] = [line for line in out.splitlines() if line.startswith(began)] or [""]
    found = {row["id"] for row in report["requirements"] if row["verdict"] == "fail"}
    wrong = {
        f"exit code {code}": code != wanted,
        f"it took {seconds} s": seconds > SECONDS,
        f"it took {cpu} s of the processor": cpu > CPU,
        f"it took {mib:.0f} MiB": mib > MIB,
        f"status {scenario['status']}": scenario["status"] != status,
        f"it said {scenario['reason']!r}": row.said not in scenario["reason"],
        f"it told {told!r}": scenario["reason"][:100] not in told or len(told) > 600,
        f"it found {sorted(found)}": bool(row.finding) != bool(found) or not {row.finding} - {""} <= found,
        f"it wrote {err!r}": len(err.splitlines()) != 1,
        "a traceback": "Traceback" in out + err,
        "no schema fits the report": bool(list(formats.errors("report", report))),
    }
    return [what for what, is_wrong in wrong.items() if is_wrong]


def test_whatever_they_do_a_run_ends_in_time_with_a_sentence_and_a_report(tmp_path: Path) -> None:
    assert len(ROWS) >= 40
    mark = f"mark-{secrets.token_hex(6)}"
    runs = tmp_path / "runs.json"
    runs.write_text(json.dumps({name: command(row, mark) for name, row in ROWS.items()}))
    done = subprocess.run(
        [sys.executable, str(FORKED), str(runs)],
        capture_output=True, text=True, timeout=600, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.stderr == ""
    ended = json.loads(done.stdout)
    assert {
        name: wrong for name, row in ROWS.items() if (wrong := mistakes(name, row, tmp_path, ended[name]))
    } == {}
    assert processes(mark) == []
