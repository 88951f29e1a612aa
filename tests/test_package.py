"""The wheel: everything that the kit reads travels in it, and is found there as in a checkout."""

import email
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from pathlib import Path

import pytest

import conformance

ROOT = Path(__file__).parents[1]

PLACE = "conformance/data"
"""Where the data folders lie in the wheel."""

PACKS = """
import json
from conformance import packs
from conformance.report.evaluation import digest
found = {pack.name: digest(pack) for pack in packs.find_all()}
messages = {pack.name: len(pack.specimens.like("messages/*/*.json")) for pack in packs.find_all()}
print(json.dumps([str(packs.data_root()), found, messages]))
"""


def built(kind: str, folder: Path) -> Path:
    """A distribution of this checkout. Hatchling builds it in a moment, and fetches nothing."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files, as an installer would lay them out."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def metadata(unpacked: Path) -> Message:
    (path,) = unpacked.glob("*.dist-info/METADATA")
    return email.message_from_string(path.read_text(encoding="utf-8"))


def data_files(root: Path) -> set[str]:
    """Every file under schemas/ and fixtures/, but for what Python leaves behind."""
    return {
        path.relative_to(root).as_posix()
        for folder in ("schemas", "fixtures")
        for path in (root / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def run_there(unpacked: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the wheel's files first on its path, from a folder that has nothing to do with them."""
    environment = dict(os.environ) | {"PYTHONPATH": str(unpacked)}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=60
    )


def test_schemas_and_fixtures_travel(unpacked: Path) -> None:
    expected = data_files(ROOT)
    assert len(expected) > 100
    assert data_files(unpacked / PLACE) == expected


def test_nothing_else_travels(unpacked: Path) -> None:
    tops = {path.name for path in unpacked.iterdir()}
    assert {name for name in tops if not name.endswith(".dist-info")} == {"conformance"}
    assert not list(unpacked.rglob("*.pyc"))


def test_every_module_travels(unpacked: Path) -> None:
    ours = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("conformance/**/*.py")}
    theirs = {path.relative_to(unpacked).as_posix() for path in unpacked.glob("conformance/**/*.py")}
    assert {name for name in theirs if not name.startswith(PLACE)} == ours


def test_it_is_typed(unpacked: Path) -> None:
    assert (unpacked / "conformance" / "py.typed").is_file()


def test_the_version_is_one(metadata: Message, wheel: Path) -> None:
    assert metadata["Version"] == conformance.__version__
    assert wheel.name.split("-")[1] == conformance.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[?([0-9]+\.[0-9]+\.[0-9]+)", changelog, re.MULTILINE)
    assert newest is not None
    assert newest[1] == conformance.__version__


def test_the_licence_travels(unpacked: Path, metadata: Message) -> None:
    assert metadata["License-Expression"] == "Apache-2.0"
    (path,) = unpacked.glob("*.dist-info/licenses/LICENSE")
    assert path.read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_entry_points(unpacked: Path) -> None:
    (path,) = unpacked.glob("*.dist-info")
    points = importlib.metadata.PathDistribution(path).entry_points
    found = {(point.group, point.name, point.value) for point in points}
    assert found == {
        ("console_scripts", "conformance", "conformance.cli:command"),
        ("pytest11", "conformance", "conformance.plugin"),
    }


def test_entry_points_lead_somewhere(unpacked: Path, tmp_path: Path) -> None:
    said = run_there(
        unpacked, tmp_path, "-c", "import conformance.cli, conformance.plugin as p; print(p.__file__)"
    )
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith(str(unpacked))


def test_data_is_found_in_wheel_and_checkout_alike(unpacked: Path, tmp_path: Path) -> None:
    """The same packs, with the same content, from two different places."""
    from_wheel = run_there(unpacked, tmp_path, "-c", PACKS)
    from_checkout = run_there(ROOT, tmp_path, "-c", PACKS)
    assert from_wheel.returncode == from_checkout.returncode == 0, from_wheel.stderr + from_checkout.stderr
    root, *found = json.loads(from_wheel.stdout)
    other_root, *other_found = json.loads(from_checkout.stdout)
    assert Path(root) == unpacked / PLACE
    assert Path(other_root) == ROOT
    assert found == other_found
    assert all(found[1].values()), "a pack has no message"


def test_the_wheel_judges(unpacked: Path, tmp_path: Path) -> None:
    message = ROOT / "fixtures/va-agent-protocol/0.1.0/messages/valid/completed.full.json"
    command = ("-c", "from conformance.cli import main; main()", "validate", str(message))
    said = run_there(unpacked, tmp_path, *command)
    assert said.returncode == 0, said.stderr
    assert "valid (va-agent-protocol@0.1.0, 1 message)" in said.stderr


def test_the_wheel_has_the_templates_of_the_page(unpacked: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    text = (ROOT / "reports/golden/va-agent-protocol.report.json").read_text(encoding="utf-8")
    report.write_text(text.replace("sha256:…", "sha256:" + "0" * 64), encoding="utf-8")
    command = ("-c", "from conformance.cli import main; main()", "render", str(report), "--format", "html")
    said = run_there(unpacked, tmp_path, *command)
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith("<!doctype html>")


def test_the_sdist_can_test_itself(tmp_path: Path) -> None:
    """What a packager needs to run the tests is in it: the data, the tests, the documents that are tested."""
    with tarfile.open(built("sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert data_files(ROOT) <= names
    for pattern in (
        "conformance/**/*.py",
        "conformance/report/templates/*",
        "tests/**/*.py",
        "docs/*.md",
        ".ci/*",
        "*.md",
        "tox.ini",
        "core.coveragerc",
    ):
        assert {path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern)} <= names, pattern
