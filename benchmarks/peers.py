"""Other tools, installed for the benchmarks alone into a folder of their own, and how each is fed.

A command is given the file that it judges as its last word. Each is given what serves it best: lines where it
reads lines, else one array.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(tempfile.gettempdir()) / "conformance-benchmark-peers"

PACKAGES = (
    "awp-conformance==0.1.0a1",
    "check-jsonschema",
    "jsonschema",
    "jsonschema-rs",
    "sourcemeta-jsonschema",
)

MODULES = ("ajv", "ajv-formats")

CHECKOUT = Path(__file__).parents[1]

PROGRAMS = Path(__file__).parent / "programs"


COMPILED = {"HATCH_BUILD_HOOK_ENABLE_MYPYC": "1", "CFLAGS": "-g0 -DNDEBUG -fwrapv"}
"""What makes a compiled wheel, without the warnings of the C compiler, which take most of its time."""


class Peer(NamedTuple):
    """A tool: the words before the file, and whether it reads an array instead of lines."""

    name: str
    command: Callable[[Path, Path, Path], list[str]]
    """Of the folder where the peers are, the schema of a message, and the schema of an array of them."""
    array: bool = False


def _python(folder: Path) -> Path:
    found = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    return found.with_suffix(".exe") if sys.platform == "win32" else found


def _native(folder: Path) -> str:
    """The binary that the package has for this machine, without the Python that starts it."""
    program = "from sourcemeta_jsonschema import __main__ as m; print(m.__file__)"
    done = subprocess.run([str(_python(folder)), "-c", program], check=True, capture_output=True, text=True)
    machine = "arm64" if _machine() in ("arm64", "aarch64") else "x86_64"
    system = {"win32": "windows", "darwin": "darwin"}.get(sys.platform, "linux")
    return str(next(Path(done.stdout.strip()).parent.glob(f"jsonschema-{system}-{machine}*")))


def _machine() -> str:
    import platform

    return platform.machine().lower()


PEERS = {
    peer.name: peer
    for peer in (
        Peer("json.loads", lambda at, one, all_: [sys.executable, str(PROGRAMS / "loads.py")]),
        Peer("awp-conformance", lambda at, one, all_: [str(_python(at)), str(PROGRAMS / "suite_monitor.py")]),
        Peer(
            "check-jsonschema",
            lambda at, one, all_: [str(_python(at)), "-m", "check_jsonschema", "--schemafile", str(all_)],
            array=True,
        ),
        Peer(
            "check-jsonschema, one file",
            lambda at, one, all_: [str(_python(at)), "-m", "check_jsonschema", "--schemafile", str(one)],
        ),
        Peer(
            "jsonschema",
            lambda at, one, all_: [
                *(str(_python(at)), "-W", "ignore", "-m", "jsonschema", str(all_), "-i"),
            ],
            array=True,
        ),
        Peer(
            "jsonschema-rs",
            lambda at, one, all_: [str(_python(at)), str(PROGRAMS / "rust_lines.py"), str(one)],
        ),
        Peer("ajv", lambda at, one, all_: ["node", str(PROGRAMS / "ajv_lines.js"), str(at), str(one)]),
        Peer("sourcemeta", lambda at, one, all_: [_native(at), "validate", "--fast", str(one)]),
    )
}
"""By name. Formats are judged where the tool has a way to."""


def install(folder: Path = FOLDER) -> Path:
    """Install them, unless they are there; without npm, those of PACKAGES alone."""
    if not _python(folder).is_file():
        venv.create(folder / "venv", with_pip=True)
        pip = [str(_python(folder)), "-m", "pip", "install", "--quiet", *PACKAGES]
        subprocess.run(pip, check=True)
    npm = shutil.which("npm")
    if npm and not (folder / "node_modules").is_dir():
        (folder / "package.json").write_text('{"name": "peers", "private": true}\n', encoding="utf-8")
        words = [npm, "install", "--silent", "--no-audit", "--no-fund", *MODULES]
        subprocess.run(words, check=True, cwd=folder)
    return folder


def compiled(folder: Path = FOLDER) -> Path | None:
    """The Python of an environment with the kit of this checkout, compiled; None without a C compiler."""
    if not shutil.which(os.environ.get("CC", "cc")):
        print("there is no C compiler: the compiled kit is not measured", file=sys.stderr)
        return None
    python = _python(folder / "compiled")
    if not python.is_file():
        venv.create(folder / "compiled" / "venv", with_pip=True)
    with tempfile.TemporaryDirectory() as place:
        # It is compiled where it stands, and what comes of that would stand before the sources.
        copy = shutil.copytree(CHECKOUT, Path(place) / "copy", ignore=shutil.ignore_patterns(".git", ".venv"))
        pip = [str(python), "-m", "pip", "install", "--quiet", str(copy)]
        subprocess.run(pip, check=True, env=os.environ | COMPILED)
    return python


def versions(folder: Path) -> list[str]:
    """What is installed, as NAME==VERSION."""
    pip = [str(_python(folder)), "-m", "pip", "freeze"]
    frozen = subprocess.run(pip, check=True, capture_output=True, text=True).stdout.split()
    names = {name.partition("=")[0].lower() for name in PACKAGES}
    return [row for row in frozen if row.partition("==")[0].lower().replace("_", "-") in names]
