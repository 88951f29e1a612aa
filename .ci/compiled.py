"""Compile what judges, and hold it to what the interpreted kit finds.

    python .ci/compiled.py [FOLDER]

A wheel is built from an sdist of the checkout, and unpacked in an environment of its own, which has
everything else from the one that this runs in (extras `test` and `lint`). There, outside the checkout, the
tests that judge run with the compiled modules, and the same inputs are judged by both kits
(tests/compiled). Where there is no C compiler, this says so, and that is all.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

MODULES = ("monitor", "records", "jsontext", "framing", "checks.order", "protocols.awp_rules", "protocols.va")
"""Some of the modules that are compiled, of every sort."""

TESTS = [
    *("acceptance/test_golden.py", "test_checks.py", "test_correlation.py", "test_criteria.py"),
    *("test_delivery.py", "test_earlier.py", "test_framing.py", "test_instants.py", "test_integers.py"),
    *("test_jsontext.py", "test_kinds.py", "test_lapses.py", "test_lifecycles.py", "test_monitor.py"),
    *("test_protocols_awp.py", "test_protocols_awp_hostile.py", "test_protocols_awp_rules.py"),
    *("test_protocols_awp_unasked.py", "test_protocols_va.py", "test_records.py", "test_remembered.py"),
    "test_transcript.py",
]
"""Those that judge, each of them quick. What fixtures say is compared, and so need not be tested again."""

INPUTS, SEED = 400, 1

QUICKLY = "-g0 -DNDEBUG -fwrapv"
"""Without the warnings that Python is built with, the C compiler takes a third of the time."""


def say(line: str) -> None:
    """For a person."""
    print(f"compiled: {line}", flush=True)


def run(*command: str | Path, cwd: Path, out: Path | None = None, **more: str) -> None:
    """Run a command to its end; another exit code than 0 ends all."""
    print("$", *command, flush=True)
    left_out = ("PYTHONPATH", "VIRTUAL_ENV", "PYTEST_ADDOPTS")
    surroundings = {name: value for name, value in os.environ.items() if name not in left_out}
    with (out or cwd / "said").open("w", encoding="utf-8") as file:
        done = subprocess.run(
            [str(word) for word in command],
            cwd=cwd,
            env=surroundings | more,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=None if out else subprocess.STDOUT,
            check=False,
        )
    if out is None:
        print((cwd / "said").read_text(encoding="utf-8", errors="replace"), end="", flush=True)
    if done.returncode:
        sys.exit(f"compiled: exit code {done.returncode}: {' '.join(map(str, command))}")


def compiler() -> str | None:
    """The C compiler that this Python's extensions are built with, if there is one."""
    named = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    return shutil.which(named.split()[0]) or shutil.which("cc")


def build(folder: Path) -> Path:
    """The compiled wheel. The checkout itself is left alone: the build moves files about where it works."""
    run(
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        "sdist",
        "-d",
        folder,
        cwd=ROOT,
        out=folder / "built",
    )
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    wanted = {"HATCH_BUILD_HOOK_ENABLE_MYPYC": "1", "CFLAGS": QUICKLY}
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=source, **wanted)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, home: Path) -> Path:
    """An environment with the wheel, and behind it all that is installed here; its Python."""
    venv.create(home, with_pip=False)
    scheme = {"base": str(home), "platbase": str(home)}
    place = Path(sysconfig.get_path("purelib", "venv", scheme))
    shutil.unpack_archive(wheel, place, "zip")
    # A line of a .pth is a folder in which no other .pth is read, so an editable checkout does not get in.
    (place / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    return (
        Path(sysconfig.get_path("scripts", "venv", scheme)) / f"python{sysconfig.get_config_var('EXE') or ''}"
    )


def prove_compiled(python: Path, outside: Path) -> None:
    """That the modules are the compiled ones, and no others."""
    names = [f"conformance.{module}" for module in MODULES]
    program = "import sys, importlib as i; [print(i.import_module(one).__file__) for one in sys.argv[1:]]"
    found = outside / "modules"
    run(python, "-c", program, *names, cwd=outside, out=found)
    for place in map(Path, found.read_text(encoding="utf-8").split("\n")[:-1]):
        if place.suffix == ".py" or ROOT in place.parents:
            sys.exit(f"compiled: {place} is not compiled, or not the wheel's")


def test(python: Path, outside: Path) -> None:
    """The tests that judge, on the compiled kit: the checkout is not on the path of `pytest`."""
    tests = [ROOT / "tests" / name for name in TESTS]
    options = ("-q", "-p", "no:cacheprovider", "--rootdir", ROOT, "-c", ROOT / "pyproject.toml")
    run(python, "-P", "-m", "pytest", *options, *tests, cwd=outside, PYTHONDONTWRITEBYTECODE="1")


def compare(python: Path, outside: Path) -> None:
    """The outcomes of both kits on the same inputs."""
    program = ROOT / "tests" / "compiled" / "outcomes.py"
    asked = (program, ROOT, str(INPUTS), str(SEED))
    ours, theirs = outside / "interpreted", outside / "compiled"
    run(python, *asked, cwd=outside, out=theirs)
    run(sys.executable, *asked, cwd=outside, out=ours, PYTHONPATH=str(ROOT))
    one, other = (path.read_text(encoding="utf-8").split("\n") for path in (ours, theirs))
    wrong = [mine for mine, its in zip(one, other, strict=True) if mine != its]
    failed = [line for line in (*one, *other) if "\t! " in line]
    for line in [*wrong[:10], *failed[:10]]:
        say(f"differs, or failed: {line}")
    if wrong or failed:
        say(f"see one: python {program} {ROOT} {INPUTS} {SEED} NUMBER, with either kit")
        sys.exit(1)
    say(f"{len(one) - 1} inputs have the same outcome, interpreted and compiled")


def main(folder: Path) -> None:
    """All of it."""
    found = compiler()
    if found is None:
        say("there is no C compiler here, so nothing is compiled, and nothing was tried")
        return
    say(f"with {found}")
    outside = folder / "outside"
    outside.mkdir(parents=True)
    python = install(build(folder), folder / "alone")
    prove_compiled(python, outside)
    test(python, outside)
    compare(python, outside)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]).resolve())
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary).resolve())
