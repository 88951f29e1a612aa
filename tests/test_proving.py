"""`conformance run --mutate`, as its users call it, against real implementations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conformance import campaign, packs, proving
from conformance.cli import main
from conformance.errors import ExitCode
from conformance.mutations import MUTATIONS, Change, Mutation

VA, AWP = "va-agent-protocol@0.1.0", "awp@0.1-draft.7"


def run(out: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["run", *arguments, "--out", str(out)])


def trials(out: Path) -> list[dict[str, Any]]:
    value = json.loads((out / "mutations" / "mutations.json").read_text("utf-8"))
    return list(value["trials"])


def test_what_is_broken_on_the_wire_is_noticed(tmp_path: Path) -> None:
    names = ("drop-reason", "repeat-terminal", "swap-ids", "reorder", "duplicate-key")
    mutate = [word for name in names for word in ("--mutate", name)]
    result = run(tmp_path, VA, "-s", "blocked", "-s", "happy-path", *mutate, "--jobs", "4")
    assert result.exit_code == ExitCode.HOLDS, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "drop-reason      noticed in 1 scenario, by VA-EVD-003"
    assert lines[1] == "repeat-terminal  noticed in 1 scenario, by VA-LIF-002"
    assert lines[3] == "swap-ids         noticed in 2 scenarios, by VA-COR-001"
    assert lines[4] == "duplicate-key    noticed in 2 scenarios, by WIRE-KEYS"
    assert {one["outcome"] for one in trials(tmp_path)} == {"noticed"}
    told = [(one["mutation"], one["scenario"]) for one in trials(tmp_path)]
    assert [one for one in told if one[0] in ("swap-ids", "duplicate-key")] == [
        ("swap-ids", "blocked"),
        ("swap-ids", "happy-path"),
        ("duplicate-key", "blocked"),
        ("duplicate-key", "happy-path"),
    ]
    assert all((tmp_path / "mutations" / one["transcript"]).is_file() for one in trials(tmp_path))


def test_a_server_of_websockets_is_mutated_too(tmp_path: Path) -> None:
    names = ("answer-id", "overflow-integer")
    mutate = [word for name in names for word in ("--mutate", name)]
    result = run(tmp_path, AWP, "-s", "handshake", *mutate)
    assert result.exit_code == ExitCode.HOLDS, result.output
    assert (
        result.stdout.splitlines()[:2]
        == [
            "overflow-integer  noticed in 1 scenario, by AWP-CTL-009",
            "answer-id         noticed in 1 scenario, by AWP-MSG-001",
        ][::-1]
    )


def test_nothing_of_it_is_a_report(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text("{}", encoding="utf-8")
    assert run(tmp_path, VA, "-s", "blocked", "--mutate", "cut-off").exit_code == ExitCode.HOLDS
    assert report.read_text("utf-8") == "{}"
    assert [path.name for path in tmp_path.rglob("report.json")] == ["report.json"]
    assert {path.name for path in tmp_path.iterdir()} == {"report.json", "mutations"}
    transcripts = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.jsonl")}
    assert transcripts == {
        "mutations/healthy/transcripts/blocked.jsonl",
        "mutations/cut-off/transcripts/blocked.jsonl",
    }


def test_what_an_earlier_run_left_is_removed(tmp_path: Path) -> None:
    old = tmp_path / "mutations" / "echo" / "transcripts" / "gone.jsonl"
    old.parent.mkdir(parents=True)
    old.write_text("{}\n", encoding="utf-8")
    run(tmp_path, VA, "-s", "blocked", "--mutate", "answer-id")
    assert old.exists()  # no run of this sort is known to have written it
    run(tmp_path, VA, "-s", "blocked", "--mutate", "answer-id")
    assert not old.exists()


@pytest.mark.parametrize(
    ("expected", "outcome"), [("VA-COR-001", "not noticed"), ("WIRE-KEYS", "noticed elsewhere")]
)
def test_a_mutation_that_is_not_noticed_as_it_should_be_fails_the_run(
    tmp_path: Path, expected: str, outcome: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def alter(_: Any, seen: Any) -> Change:
        text = seen.text if outcome == "not noticed" else seen.text[:-1]
        return Change((text,), "little was done", frozenset({expected}))

    prepared = campaign.prepare(campaign.Request(packs.find(VA), out=tmp_path, scenarios=("blocked",)))
    code = proving.prove(prepared, [Mutation("idle", "hardly anything", alter)])
    assert code == ExitCode.BROKEN
    told = capsys.readouterr().out
    assert "idle  NOT NOTICED in 1 of 1 scenario\n" in told
    assert f"    blocked: {outcome}: little was done\n        expected one of {expected}" in told


def test_an_implementation_that_is_not_healthy_proves_nothing(tmp_path: Path) -> None:
    result = run(tmp_path, VA, "-s", "blocked", "--target", "reference:no-block-reason", "--mutate", "echo")
    assert result.exit_code == ExitCode.UNDECIDED
    assert result.stdout.startswith("blocked: the implementation itself breaks VA-EVD-003; mend that first\n")
    assert trials(tmp_path) == []


def test_an_implementation_that_is_not_there_proves_nothing(tmp_path: Path) -> None:
    result = run(tmp_path, VA, "--target", "stdio:no-such-program", "--mutate", "echo")
    assert result.exit_code == ExitCode.UNDECIDED
    assert result.stdout.startswith("happy-path: without any change it ends as unreachable: ")
    assert result.stdout.count("unreachable") == 1


def test_nothing_to_mutate_is_no_success(tmp_path: Path) -> None:
    result = run(tmp_path, VA, "-s", "blocked", "--mutate", "answer-id")
    assert result.exit_code == ExitCode.UNDECIDED
    assert result.stdout.splitlines()[0] == "answer-id  nothing to mutate"


def test_an_unknown_mutation_is_an_error_that_lists_them(tmp_path: Path) -> None:
    result = run(tmp_path, VA, "--mutate", "reoder")
    assert result.exit_code == ExitCode.USAGE
    assert "did you mean reorder?" in result.stderr
    assert ", ".join(MUTATIONS) in result.stderr


def test_what_is_about_a_report_has_no_place_here(tmp_path: Path) -> None:
    result = run(tmp_path, VA, "--mutate", "echo", "--certify", "--rerun", "2")
    assert result.exit_code == ExitCode.USAGE
    assert "leave out --certify, --rerun" in result.stderr


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "mutations").write_text("taken", encoding="utf-8")
    result = run(tmp_path, VA, "-s", "blocked", "--mutate", "echo")
    assert result.exit_code == ExitCode.USAGE
    assert "nothing can be written to" in result.stderr
