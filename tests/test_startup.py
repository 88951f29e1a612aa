"""What a valid message does not pay for: structure, not time (for time see benchmarks/startup.py)."""

import json
import subprocess
import sys
from collections import Counter
from itertools import chain, repeat
from pathlib import Path

import pytest

from conformance import packs, records
from conformance.packs import Pack

MESSAGES = Path(__file__).parents[1] / "fixtures"

MESSAGE = "va-agent-protocol/0.1.0/messages/valid/dispatch.minimal.json"

UNUSED = (
    *("jsonschema", "hypothesis", "websockets", "rich", "yaml", "pytest", "asyncio", "jinja2"),
    *("multiprocessing", "shutil"),
)
"""The explainer, the generator, the cables, the terminal, scenarios, the plugin, the runner, the workers."""

MODULES = 75
"""Of the kit's own, so many at most; there were 59 for a message of AWP."""

CALLS = 50
"""So many calls does it cost at most to read one small message that is plainly JSON; there were 27."""

PROGRAM = """
import json, sys
opened = []
sys.addaudithook(lambda event, about: opened.append(str(about[0])) if event == "open" else None)
from conformance.cli import main
try:
    main(["validate", sys.argv[1]])
except SystemExit as ended:
    print(json.dumps({"code": ended.code, "modules": sorted(sys.modules), "opened": opened}))
"""


def started(path: Path) -> tuple[int, set[str], Counter[Path]]:
    """The exit code of `conformance validate` on a file, what was imported by then, and what was opened."""
    command = [sys.executable, "-c", PROGRAM, str(path)]
    done = subprocess.run(command, capture_output=True, check=True, encoding="utf-8", timeout=60)
    said = json.loads(done.stdout.splitlines()[-1])
    return said["code"], set(said["modules"]), Counter(map(Path, said["opened"]))


def read(pack: Pack) -> set[Path]:
    """The files that judging by a pack may read: its own, and its base's."""
    own = set(pack.folder.rglob("*.json"))
    return own | (read(pack.base) if pack.base else set())


@pytest.mark.parametrize(
    ("pack", "name"),
    [
        ("va-agent-protocol", "va-agent-protocol/0.1.0/messages/valid/completed.full.json"),
        ("va-agent-protocol", "va-agent-protocol/0.1.0/transcripts/valid/completed.jsonl"),
        ("awp", "awp/0.1-draft.7/messages/valid/action.cancel.json"),
    ],
)
def test_a_valid_file_imports_one_engine_and_reads_one_pack(pack: str, name: str) -> None:
    code, modules, opened = started(MESSAGES / name)
    assert code == 0
    assert "jsonschema_rs" in modules
    assert modules.isdisjoint(UNUSED), sorted(modules.intersection(UNUSED))
    assert 20 < sum(module.startswith("conformance.") for module in modules) <= MODULES
    data = {
        path: times for path, times in opened.items() if path.is_relative_to(packs.data_root() / "schemas")
    }
    shared = {path for path in data if path.name == "pack.json" or path.parent.name == "kit"}
    assert data.keys() - shared - read(packs.find(pack)) == set()
    assert packs.find(pack).folder / "requirements.json" in data


def test_no_file_of_a_pack_is_read_twice_while_nothing_is_wrong() -> None:
    _, _, opened = started(MESSAGES / "awp/0.1-draft.7/messages/valid/action.cancel.json")
    twice = {path for path, times in opened.items() if times > 1 and path.is_relative_to(packs.data_root())}
    assert twice == set()


def test_reading_a_message_costs_so_many_calls() -> None:
    """Of a message in the middle of many: what the first ones cost is not counted."""
    few, many = called(100), called(1_100)
    assert 0 < (many - few) / 1_000 <= CALLS


def called(messages: int) -> int:
    """Calls within Python, of Python and of C, to read so many messages as events."""
    line = json.dumps(json.loads((MESSAGES / MESSAGE).read_text(encoding="utf-8"))).encode() + b"\n"
    calls = Counter[str]()
    record = records.open_stream(chain(repeat(line, messages)), "it", packs.find("va-agent-protocol"))
    sys.setprofile(lambda frame, event, about: calls.update([event]))
    try:
        read = sum(1 for _ in record.events)
    finally:
        sys.setprofile(None)
    assert read == messages + 1  # and the end
    return calls["call"] + calls["c_call"]


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
