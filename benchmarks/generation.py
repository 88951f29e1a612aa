"""Valid values of schemas, beside two other makers: how many are right, and how long they take.

    python benchmarks/generation.py [--hypothesis-jsonschema PYTHON] [--schemathesis PYTHON]
                                    [--only corpus|speed]

PYTHON is an interpreter of an environment in which the other maker is installed with the Hypothesis it works
with (hypothesis-jsonschema: hypothesis below 6.170.10). Each maker runs in a process of its own, and gets the
same schemas in the same order, turn by turn.

`corpus`: every schema of the official suite (draft-07 and 2020-12, what is optional left out). A schema is
right if all that is made of it fits, and something is made, unless the suite has no valid case of it either.
`speed`: seconds of processor time for 100 examples of four schemas, the strategy's making included, the
references inlined.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
OURS = "this kit"
SPEED = [
    ("va-agent-protocol@0.1.0", "message.schema.json"),
    ("awp@0.1-draft.12", "action-status.schema.json"),
    ("awp@0.1-draft.12", "session-ready.schema.json"),
    ("ossa-a2a@0.3.3", "a2a-communication.schema.json#/definitions/Message"),
]
EXAMPLES = {"corpus": 20, "speed": 100}
PATIENCE = {"corpus": 30, "speed": 300}
"""Seconds after which a schema is given up."""


# In the process of a maker


def _ours(schema: Any, others: dict[str, Any]) -> Any:
    from conformance import values

    return values(schema, others)


def _hypothesis_jsonschema(schema: Any, others: dict[str, Any]) -> Any:
    from hypothesis_jsonschema import from_schema

    return from_schema(schema)


def _schemathesis(schema: Any, others: dict[str, Any]) -> Any:
    from schemathesis.generation.jsonschema.builder import build
    from schemathesis.specs.openapi.formats import get_default_format_strategies

    draft = 7 if "draft-07" in str(isinstance(schema, dict) and schema.get("$schema")) else 2020
    import jsonschema_rs

    number = jsonschema_rs.Draft7 if draft == 7 else jsonschema_rs.Draft202012
    return build(schema, draft=number, formats=get_default_format_strategies())


MAKERS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    OURS: _ours,
    "hypothesis-jsonschema": _hypothesis_jsonschema,
    "schemathesis": _schemathesis,
}


def drawn(make: Callable[[Any, dict[str, Any]], Any], task: dict[str, Any]) -> dict[str, Any]:
    """What is made of one schema, and how long it took."""
    import signal

    from hypothesis import HealthCheck, Phase, given, settings

    found: list[Any] = []
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(task["patience"])
    began = time.process_time()
    try:
        strategy = make(task["schema"], task["others"])
        quiet = settings(
            max_examples=task["examples"], database=None, deadline=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck), derandomize=True,
        )  # fmt: skip
        quiet(given(strategy)(lambda value: found.append(value)))()
        said = ""
    except BaseException as error:
        said = f"{type(error).__name__}: {str(error)[:120]}"
    signal.alarm(0)
    return {"values": found, "seconds": time.process_time() - began, "said": said}


def _give_up(*_: Any) -> None:
    raise TimeoutError("given up")


def work(name: str) -> None:
    """Answer each line of standard input, a task, with a line."""
    drawn(
        MAKERS[name], {"schema": {"type": "integer"}, "others": {}, "examples": 1, "patience": 60}
    )  # imports
    for line in sys.stdin:
        print(json.dumps(drawn(MAKERS[name], json.loads(line)), default=str), flush=True)


# In the process that compares


class Worker:
    """A maker in a process of its own."""

    def __init__(self, name: str, python: str) -> None:
        self.name = name
        command = [python, str(Path(__file__)), "--work", name]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
        )

    def make(self, task: dict[str, Any]) -> dict[str, Any]:
        """What it answers."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        answer: dict[str, Any] = (
            json.loads(line) if line else {"values": [], "seconds": 0.0, "said": "it died"}
        )
        return answer

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


def corpus(workers: list[Worker]) -> None:
    """Print how many schemas of the suite each maker is right about, and which not."""
    sys.path.insert(0, str(ROOT / "tests"))
    from test_official_suite import DIALECTS, GROUPS, judge, reason

    total: Counter[tuple[str, str]] = Counter()
    missed: dict[str, list[str]] = {worker.name: [] for worker in workers}
    for group in GROUPS:
        draft = group.file.partition("/")[0]
        if "optional" in group.file or reason(group):
            continue
        total[draft, "all"] += 1
        schemas = judge(group)
        others = {name: document for name, document in schemas.documents.items() if name != "a.json"}
        schema = (
            {"$schema": DIALECTS[draft], **group.schema} if isinstance(group.schema, dict) else group.schema
        )
        task = {"schema": schema, "others": others, **_bounds("corpus")}
        for worker in workers:
            answer = worker.make(task)
            wrong = [value for value in answer["values"] if not schemas.is_valid("a.json", value)]
            some = answer["values"] or not any(case["valid"] for case in group.cases)
            if wrong or not some:
                why = f"wrong: {json.dumps(wrong[0])[:60]}" if wrong else f"none ({answer['said'][:60]})"
                missed[worker.name].append(f"{group.file}: {group.description}: {why}")
            else:
                total[draft, worker.name] += 1
    for worker in workers:
        for draft in DIALECTS:
            right, all_ = total[draft, worker.name], total[draft, "all"]
            print(f"{worker.name:22} {draft:13} {right} of {all_} right ({right / all_:.1%})")
        for line in missed[worker.name]:
            print(f"    {line}")


def speed(workers: list[Worker]) -> None:
    """Print the seconds for the examples of each schema, side by side, and how many of them fit."""
    from conformance import packs

    for name, location in SPEED:
        schemas = packs.find(name).schemas()
        task = {"schema": inlined(schemas, location), "others": {}, **_bounds("speed")}
        print(f"{name} {location}, {EXAMPLES['speed']} examples")
        ours = 0.0
        for worker in workers:
            answer = worker.make(task)
            good = sum(schemas.is_valid(location, value) for value in answer["values"])
            ours = ours or answer["seconds"]
            times = f"{answer['seconds'] / ours:6.1f} ×"
            print(
                f"    {worker.name:22} {answer['seconds']:7.2f} s {times}  {good} fit  {answer['said'][:80]}"
            )


def _bounds(part: str) -> dict[str, int]:
    return {"examples": EXAMPLES[part], "patience": PATIENCE[part]}


def inlined(schemas: Any, location: str) -> Any:
    """The definition with its references replaced by what they refer to, since not all makers follow them."""
    from conformance.generation.schemata import Schemata

    def of(site: Any, schema: Any) -> Any:
        if isinstance(schema, list):
            return [of(site, one) for one in schema]
        if not isinstance(schema, dict):
            return schema
        made = {
            name: of(site, value)
            for name, value in schema.items()
            if name not in ("$ref", "$defs", "definitions", "$id")
        }
        if "$ref" not in schema:
            return made
        target = site.child(schema).target(schema["$ref"])
        return (
            {**made, "allOf": [*made.get("allOf", ()), of(target, target.schema)]}
            if made
            else of(target, target.schema)
        )

    site = Schemata(schemas).at(location)
    return {"$schema": schemas.dialect, **of(site, site.schema)}


def chosen() -> Iterator[tuple[str, str]]:
    """(maker, interpreter) of those that were named, this kit first."""
    yield OURS, sys.executable
    for name in list(MAKERS)[1:]:
        python = vars(arguments)[name.replace("-", "_")]
        if python:
            yield name, python


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare makers of valid values.")
    parser.add_argument("--hypothesis-jsonschema", metavar="PYTHON")
    parser.add_argument("--schemathesis", metavar="PYTHON")
    parser.add_argument("--only", choices=["corpus", "speed"])
    parser.add_argument("--work", choices=list(MAKERS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.work)
    else:
        workers = [Worker(name, python) for name, python in chosen()]
        try:
            for part, run in (("speed", speed), ("corpus", corpus)):
                if arguments.only in (None, part):
                    run(workers)
        finally:
            for worker in workers:
                worker.end()
