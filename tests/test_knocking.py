"""Connections that are to be refused: what each answer to them means, and what gets into no report."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

import pytest
from judging import AWP
from live import conformance_run, peer
from playing import world

from conformance import scenarios
from conformance.actions import Aside
from conformance.errors import BadScenario
from conformance.runner import Plan, run_one
from conformance.scenarios import Scenario

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the peers use POSIX signals")

KNOCK = """- knock: {token: "${fresh}"}
  refused: {$is: {minimum: 400, maximum: 499}}
  within: 300 ms
  proves: AWP-SEC-006
"""


def scenario(steps: str) -> Scenario:
    return scenarios.read(f"title: x\nrole: agent\ncovers: [AWP-SEC-006]\nsteps:\n{steps}", "own.yaml", AWP)


BY = "a connection by a URL with token in its query was"

ANSWERS = {
    "400": ("passed", True, f"{BY} refused with HTTP 400"),
    "401": ("passed", True, f"{BY} refused with HTTP 401"),
    "503": ("inconclusive", False, f"{BY} refused with HTTP 503, which may have another reason"),
    "302": ("inconclusive", False, f"{BY} refused with HTTP 302, which may have another reason"),
    "hangs up": ("inconclusive", False, "is not a WebSocket server"),
    "ends": ("inconclusive", False, f"{BY} let in, and then closed with code 1008: policy"),
    "stays": ("failed", False, f"{BY} let in, where it has to be refused"),
}


@pytest.mark.parametrize("how", ANSWERS)
def test_what_an_answer_means(how: str, tmp_path: Path) -> None:
    status, ok, said = ANSWERS[how]
    plan = Plan(AWP, "world", peer("ws_minds_urls", how, scheme="launch"), {}, tmp_path)
    result = run_one(plan, scenario(f"- expect: '*'\n- drop: main\n{KNOCK}"))
    assert result.status == status, result.reason
    [found] = [one for one in result.findings if one.requirement == "AWP-SEC-006"]
    assert (found.ok, found.inconclusive, found.party) == (ok, status == "inconclusive", "world")
    assert said in found.message
    assert ok or said in result.reason


def test_who_has_no_url_has_nothing_to_refuse(tmp_path: Path) -> None:
    result = run_one(Plan(AWP, "world", peer("echo"), {}, tmp_path), scenario(KNOCK))
    assert result.status == "not-applicable"
    assert result.reason == "the kit connects to no URL here, in which something could be amiss"


def test_it_goes_on_when_it_is_known_what_became_of_it() -> None:
    play = world(KNOCK + "- send: obs.report\n")
    [action] = play.did
    assert isinstance(action, Aside)
    assert "$" not in action.args["knock"]["token"]
    play.waits(100)
    assert play.sent == []
    play.carry_out(play.driver.done(play.now))
    assert [message["method"] for _, message in play.sent] == ["obs.report"]


@pytest.mark.parametrize(
    ("step", "place", "said"),
    [
        ("- knock: {token: x}\n  refused: 400\n", "5:3", "proves"),
        ("- knock: {token: x}\n  proves: AWP-SEC-006\n", "5:3", "refused"),
        ("- knock: {}\n  refused: 400\n  proves: AWP-SEC-006\n", "5:10", "{}"),
        ("- knock: {token: 1}\n  refused: 400\n  proves: AWP-SEC-006\n", "5:18", "string"),
        ("- knock: {token: x}\n  refused: 200\n  proves: AWP-SEC-006\n", "6:12", "200"),
        (
            "- knock: {token: x}\n  refused: {status: 400}\n  proves: AWP-SEC-006\n",
            "6:12",
            '"$is" is missing',
        ),
        (
            "- knock: {token: x}\n  refused: 400\n  proves: AWP-SEC-060\n",
            "7:11",
            "no requirement 'AWP-SEC-060'",
        ),
        ("- knock: {token: '${mine}'}\n  refused: 400\n  proves: AWP-SEC-006\n", "5:18", "what ${mine} is"),
    ],
)
def test_a_mistake_is_told_where_it_stands(step: str, place: str, said: str) -> None:
    with pytest.raises(BadScenario) as caught:
        scenario(step)
    assert str(caught.value).startswith(f"own.yaml:{place}: ")
    assert said in str(caught.value)


def test_the_token_gets_nowhere_though_the_server_tells_it(tmp_path: Path) -> None:
    """The kit shows it as ever, and never in the URL."""
    token = f"c4nary{secrets.token_hex(12)}"
    (tmp_path / "token").write_text(f"{token}\n")
    (tmp_path / "own.yaml").write_text(f"title: x\nrole: agent\ncovers: [AWP-SEC-006]\nsteps:\n{KNOCK}")
    target = peer("ws_tells_the_token", "message", scheme="launch")
    options = ["--token-file", str(tmp_path / "token"), "-s", str(tmp_path / "own.yaml"), "--patience", "0.2"]
    done = conformance_run(tmp_path / "out", "awp", target, *options)
    assert done.statuses["own"] == "failed"
    assert "AWP-SEC-006" in done.of("fail")
    written = [path.read_text("utf-8") for path in (tmp_path / "out").rglob("*.*") if path.is_file()]
    said = "".join([done.text, done.said, *written])
    assert token[:12] not in said
    stderr = next((tmp_path / "out").rglob("stderr/own.txt")).read_text("utf-8")
    assert stderr == ("redacted".ljust(len(token), "-") + "\n") * 4, "both connections showed it"
