"""What a valid message does not pay for: structure, not time (for time see benchmarks/startup.py)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MESSAGES = Path(__file__).parents[1] / "fixtures"

UNUSED = ("jsonschema", "hypothesis", "websockets", "rich", "yaml", "pytest", "asyncio", "jinja2")
"""The explainer, the generator, the cables, the terminal, scenarios, the plugin, the runner."""

PROGRAM = """
import json, sys
from conformance.cli import main
try:
    main(["validate", sys.argv[1]])
except SystemExit as ended:
    print(json.dumps({"code": ended.code, "modules": sorted(sys.modules)}))
"""


def started(path: Path) -> tuple[int, set[str]]:
    """The exit code of `conformance validate` on a file, and what was imported until then."""
    command = [sys.executable, "-c", PROGRAM, str(path)]
    done = subprocess.run(command, capture_output=True, check=True, encoding="utf-8", timeout=60)
    said = json.loads(done.stdout.splitlines()[-1])
    return said["code"], set(said["modules"])


@pytest.mark.parametrize(
    "name",
    [
        "va-agent-protocol/0.1.0/messages/valid/completed.full.json",
        "va-agent-protocol/0.1.0/transcripts/valid/completed.jsonl",
        "awp/0.1-draft.7/messages/valid/action.cancel.json",
    ],
)
def test_a_valid_file_imports_one_engine(name: str) -> None:
    code, modules = started(MESSAGES / name)
    assert code == 0
    assert "jsonschema_rs" in modules
    assert modules.isdisjoint(UNUSED), sorted(modules.intersection(UNUSED))


def test_an_invalid_file_imports_the_explainer() -> None:
    """The list above would prove nothing if its names were wrong: here the explainer is found by its name."""
    path = MESSAGES / "va-agent-protocol/0.1.0/messages/invalid/payload.no-acceptance-criteria.json"
    message = json.loads(path.read_text(encoding="utf-8"))["message"]
    command = [sys.executable, "-c", PROGRAM, "-"]
    done = subprocess.run(
        command, input=json.dumps(message), capture_output=True, check=True, encoding="utf-8", timeout=60
    )
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["code"] == 1
    assert "jsonschema" in said["modules"]
