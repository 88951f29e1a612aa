"""Build the distributions and use the wheel as a stranger does: alone, in an empty environment.

    python .ci/package.py [FOLDER]

FOLDER, which does not exist yet (default: a temporary one), receives the distributions as `dist/`.
Needs `build` and `hatchling` (extra `lint`); nothing of the checkout is used after the build.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = "fixtures/va-agent-protocol/0.1.0"


def run(*command: str | Path, cwd: Path, code: int = 0) -> str:
    """Run a command to its end, show what it wrote, and return that; another exit code ends all."""
    print("$", *command, flush=True)
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    print(done.stdout, end="", flush=True)
    if done.returncode != code:
        sys.exit(f"package: exit code {done.returncode}, expected {code}: {' '.join(map(str, command))}")
    return done.stdout


def check(holds: bool, said: str) -> None:
    """End with a sentence unless something holds."""
    if not holds:
        sys.exit(f"package: {said}")


def main(folder: Path) -> None:
    """Build, install, and try everything from outside the checkout."""
    dist, home, outside = folder / "dist", folder / "alone", folder / "outside"
    outside.mkdir(parents=True)
    # The wheel is built from the sdist, so what the sdist forgets, the wheel has not.
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", dist, ROOT, cwd=outside)
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")

    venv.create(home, with_pip=True)
    bin_ = home / ("Scripts" if os.name == "nt" else "bin")
    pip = (bin_ / "python", "-m", "pip", "--disable-pip-version-check")
    run(*pip, "install", "--quiet", wheel, cwd=outside)
    run(*pip, "check", cwd=outside)

    place = run(bin_ / "python", "-c", "import conformance; print(conformance.__file__)", cwd=outside)
    check(home.resolve() in Path(place.strip()).resolve().parents, f"{place.strip()} is not the wheel's")
    run(bin_ / "conformance", "--version", cwd=outside)
    said = run(bin_ / "conformance", "run", "va-agent-protocol", cwd=outside)
    check("\nclaim: conformant\n" in said, "the run made no claim, or another one")
    check((outside / "conformance-report" / "report.json").is_file(), "the run left no report")

    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    fixtures = source / FIXTURES
    validate = (bin_ / "conformance", "validate")
    run(*validate, fixtures / "messages" / "valid" / "completed.full.json", cwd=outside)
    run(*validate, fixtures / "transcripts" / "invalid" / "completed-twice.jsonl", cwd=outside, code=1)

    pytest = (bin_ / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider")
    said = run(*pytest, "--conformance", "va-agent-protocol", cwd=outside)
    check("\nclaim: conformant\n" in said, "the plugin made no claim, or another one")
    print(f"package: {wheel.name} and {sdist.name} are sound")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]).resolve())
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary).resolve())
