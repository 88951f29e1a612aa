"""What a pipeline would run by the templates of docs/ci is run, as a pipeline would run it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

CI = Path(__file__).parents[1] / "docs" / "ci"
BASH = shutil.which("bash")

pytestmark = pytest.mark.skipif(BASH is None, reason="the templates are for bash")


def run(script: str, folder: Path, environment: dict[str, str]) -> int:
    """Run a step's script, which may only be given its inputs by the environment."""
    assert BASH is not None
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    words = [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    known = {**os.environ, **environment, "PATH": path}
    return subprocess.run(words, cwd=folder, env=known, check=False, timeout=60).returncode


def test_the_action_certifies_and_summarises(tmp_path: Path) -> None:
    action = yaml.safe_load((CI / "github" / "action.yml").read_text("utf-8"))
    steps = {step["name"]: step for step in action["runs"]["steps"] if "run" in step}
    for step in steps.values():
        assert "${{" not in step["run"], "an input in a script would be run"
        named = {value.split("inputs.")[1].split()[0] for value in step["env"].values()}
        assert named <= action["inputs"].keys()
    environment = {
        "PROTOCOL": "va-agent-protocol",
        "TARGET": "reference:no-failure-detail",
        "OPTIONS": "--scenario=failure\n\n--patience=2\n",
        "REPORT": "out",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    assert run(steps["Certify"]["run"], tmp_path, environment) == 1
    assert (tmp_path / "conformance.zip").is_file()
    assert run(steps["Summarise"]["run"], tmp_path, environment) == 0
    assert "VA-EVD-002" in (tmp_path / "summary.md").read_text("utf-8")
    assert json.loads((tmp_path / "conformance.sarif").read_text("utf-8"))["version"] == "2.1.0"


def test_the_job_of_gitlab_leaves_its_artifacts(tmp_path: Path) -> None:
    job = yaml.safe_load((CI / "gitlab.yml").read_text("utf-8"))[".conformance"]
    environment = {
        **job["variables"],
        "PROTOCOL": "va-agent-protocol",
        "TARGET": "reference:no-failure-detail",
        "OPTIONS": "--scenario=failure --patience=2",
    }
    assert run("\n".join(job["script"]), tmp_path, environment) == 1
    assert run("\n".join(job["after_script"]), tmp_path, environment) == 0
    kept = [*job["artifacts"]["paths"], *job["artifacts"]["reports"].values()]
    for name in kept:
        assert (tmp_path / name.replace("$REPORT", environment["REPORT"])).exists(), name
