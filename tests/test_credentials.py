"""Connections that are opened as somebody else: which credential they show, and that it gets nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from judging import AWP, VA
from live import peer

from conformance import configuration, scenarios, statements
from conformance.campaign import Request, prepare
from conformance.errors import BadConfiguration
from conformance.runner import Plan, run_one
from conformance.scenarios import Scenario
from conformance.transports.access import HIDDEN, Access, Means, all_gained

OTHERS = "the-token-of-someone-else"
OWN = "the-kits-own-token"

ONE = '[connection.credentials.approver]\ntoken_file = "approver"\n'


def second(name: str = "approver") -> Scenario:
    head = "title: x\nrole: agent\ncovers: [AWP-APR-002]\nsteps:\n"
    steps = f"- connect: second\n  credential: {name}\n- expect: '*'\n"
    return scenarios.read(head + steps, "own.yaml", AWP)


def stated(tmp_path: Path, text: str) -> Path:
    (tmp_path / "approver").write_text(OTHERS + "\n", encoding="utf-8")
    (tmp_path / "own").write_text(OWN + "\n", encoding="utf-8")
    path = tmp_path / "ics.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_each_connection_shows_its_own_token_and_all_are_hidden(tmp_path: Path) -> None:
    """Whoever repeats one token over the connection of the other tells nothing."""
    config = stated(tmp_path, '[connection]\ntoken_file = "own"\n' + ONE)
    target = peer("ws_tells_the_token", "message", scheme="launch")
    made = prepare(Request(AWP, target, "world", config, tmp_path / "out"))
    result = run_one(made.plan, second())
    assert result.status == "passed", result.reason
    log = (made.plan.out / result.stderr).read_text("utf-8").splitlines()
    assert log[::2] == [HIDDEN.ljust(len(OWN), "-"), HIDDEN.ljust(len(OTHERS), "-")]
    written = "".join(path.read_text("utf-8") for path in made.plan.out.rglob("*.*") if path.is_file())
    assert OWN not in written
    assert OTHERS not in written


def test_all_tokens_are_hidden_over_each_connection(tmp_path: Path) -> None:
    paths = {name: tmp_path / name for name in ("own", "approver", "longer")}
    for name, token in zip(paths, (OWN, OTHERS, OTHERS + "-too"), strict=True):
        paths[name].write_text(token, encoding="utf-8")
    named = {name: Means(token_file=paths[name]) for name in ("approver", "longer")}
    main, others = all_gained(Means(token_file=paths["own"]), named)
    assert others["approver"].headers == {"Authorization": f"Bearer {OTHERS}"}
    for access in (main, *others.values()):
        text = f"{OWN} {OTHERS} {OTHERS}-too"
        expected = [HIDDEN.ljust(length, "-") for length in (len(OWN), len(OTHERS), len(OTHERS) + 4)]
        assert access.hidden(text) == " ".join(expected)
        assert access.longest == (len(OTHERS) + 4) * 7
    assert OTHERS not in repr(main)


def test_without_a_credential_of_that_name_it_is_not_applicable(tmp_path: Path) -> None:
    said = "the ICS names no credential 'operator' in [connection.credentials]"
    assert statements.unmet({}, second("operator"), {"approver": Access()}) == said
    result = run_one(Plan(AWP, "world", "stdio:x", {}, tmp_path), second("operator"))
    assert (result.status, result.reason) == ("not-applicable", said)


@pytest.mark.parametrize(
    ("target", "known"), [("launch:x", ["approver"]), ("ws://127.0.0.1:1", ["approver"]), ("stdio:x", [])]
)
def test_only_a_server_is_shown_a_credential(target: str, known: list[str], tmp_path: Path) -> None:
    made = prepare(Request(AWP, target, "world", stated(tmp_path, ONE), tmp_path / "out"))
    assert list(made.plan.credentials) == known


def test_the_reference_says_where_its_own_are() -> None:
    assert list(prepare(Request(AWP, "reference")).plan.credentials) == ["approver"]
    assert dict(prepare(Request(VA, "reference")).plan.credentials) == {}


@pytest.mark.parametrize(
    "row",
    [
        "",
        'token_env = "A"\ntoken_file = "b"',
        'token = "secret-itself"',
        'token_file = "b"\ntoken_by = "mail"',
    ],
)
def test_a_credential_is_in_one_place_and_never_in_the_file_itself(row: str, tmp_path: Path) -> None:
    path = stated(tmp_path, f"[connection.credentials.approver]\n{row}\n")
    with pytest.raises(BadConfiguration, match="/connection/credentials/approver"):
        configuration.read(path)


def test_a_credential_that_is_not_there_is_a_mistake_of_the_configuration(tmp_path: Path) -> None:
    path = stated(tmp_path, '[connection.credentials.approver]\ntoken_file = "gone"\n')
    with pytest.raises(BadConfiguration, match="gone cannot be read"):
        prepare(Request(AWP, "launch:x", "world", path))
