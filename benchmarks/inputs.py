"""What the benchmarks judge: fixtures, as often as is asked for, each time with fresh ids.

    python benchmarks/inputs.py va|awp|trace MESSAGES [--open N]

prints so many messages, one a line, or a few more where they come in conversations. Of these, N are open at a
time; those of `awp` are connections of a transcript, those of a `trace` come one after the other.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parents[1] / "fixtures"

SMALL = FIXTURES / "va-agent-protocol/0.1.0/messages/valid/completed.full.json"
"""One small valid file."""

CONVERSATIONS = (
    ("dispatch.full", "accepted.full", "progress.full", "completed.full"),
    ("dispatch.full", "accepted.full", "progress.full", "failed.full"),
)
"""Messages that are valid one after the other, by the names of their files."""

TRACE = FIXTURES / "awp/0.1-draft.7/transcripts/valid/core-lockstep.jsonl"

LENGTH = TRACE.read_text(encoding="utf-8").count("\n")
"""So many messages are a session of AWP."""

FRESH = ("session_id", "session_token")
"""What no two sessions of AWP may share."""

ARM = "arm_01"
"""What no two sessions of AWP may have at a time."""


def conversations() -> list[list[str]]:
    """The lines of each of CONVERSATIONS, with `{}` where the id goes."""
    return [[_line(name) for name in names] for names in CONVERSATIONS]


def _line(name: str) -> str:
    value = json.loads((SMALL.parent / f"{name}.json").read_text(encoding="utf-8"))
    fresh = json.dumps(value | {"correlationId": "\0"}, separators=(",", ":"), ensure_ascii=False)
    return fresh.replace("\\u0000", "\0") + "\n"


def va(messages: int, at_once: int = 1) -> Iterator[str]:
    """So many messages, `at_once` conversations open at a time, rounded up to whole ones (`whole`)."""
    return islice(chain.from_iterable(_turns(at_once)), whole(messages, at_once))


def whole(messages: int, at_once: int, length: int = len(CONVERSATIONS[0])) -> int:
    """So many messages, or as many more as it takes until every conversation, of this length, is over."""
    size = at_once * length
    return -(-messages // size) * size


def _turns(at_once: int) -> Iterator[Iterator[str]]:
    known = conversations()
    for first in count(0, at_once):
        for turn in range(len(known[0])):
            yield (
                known[number % len(known)][turn].replace("\0", f"c-{number}")
                for number in range(first, first + at_once)
            )


def session() -> str:
    """The lines of a session of AWP, each with its party, with `\0` where ids go that no others may share."""
    text = TRACE.read_text(encoding="utf-8")
    for name in FRESH:
        for known in set(re.findall(rf'"{name}":"([^"]+)"', text)):
            text = text.replace(known, f"{known}-\0")
    return text


def awp(messages: int) -> Iterator[str]:
    """Whole sessions, one after the other, until there are so many messages; a line each, with its party."""
    text = session()
    sessions = -(-messages // text.count("\n"))
    return (text.replace("\0", str(number)) for number in range(sessions))


def connections(messages: int, at_once: int) -> Iterator[str]:
    """A transcript of whole sessions, each on a connection of its own, `at_once` of them open at a time."""
    turns, seq = _events(), count(1)
    sessions = whole(messages, at_once, LENGTH) // LENGTH
    yield '{"transcript": 1, "protocol": "awp", "revision": "0.1-draft.7"}\n'
    for first in range(0, sessions, at_once):
        for turn in turns:
            for number in range(first, first + at_once):
                yield f'{{"seq": {next(seq)}, ' + turn.replace("\0", str(number))


def _events() -> list[str]:
    """What happens on a connection, as lines of a transcript that go on after their number."""
    on = '"connection": "c-\0", "time": null'
    said = []
    for line in session().replace(ARM, f"{ARM}-\0").splitlines():
        found = re.fullmatch(r'\{"from":"(\w+)",.*?"msg":(.*)\}', line)
        assert found is not None, "every line of the trace holds a message"
        said.append(f'"event": "received", "party": "{found[1]}", {on}, "message": {found[2]}}}\n')
    closed = f'"event": "closed", {on}, "by": "agent", "clean": true, "detail": ""}}\n'
    return [f'"event": "opened", {on}}}\n', *said, closed]


def schema() -> dict[str, Any]:
    """The schema of a message of va in one document, with the kit's errata, for whoever has only a schema."""
    from conformance import packs

    pack = packs.find("va-agent-protocol")
    documents = pack.repaired(pack.errata)
    whole = dict(documents["message.schema.json"])
    others = {name: documents[name] for name in ("task-unit.schema.json", "evidence.schema.json")}
    return whole | {"$defs": whole["$defs"] | others}


def array_of(document: dict[str, Any]) -> dict[str, Any]:
    """The schema of an array of such messages."""
    head = {"$schema": document["$schema"], "$id": "https://example.org/array"}
    return head | {"type": "array", "items": {"$ref": document["$id"]}, "$defs": {"message": document}}


def write(path: Path, lines: Iterable[str]) -> Path:
    """Write the lines to a file."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(lines)
    return path


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description="Print messages that are valid, one a line.")
    parser.add_argument("protocol", choices=["va", "awp", "trace"])
    parser.add_argument("messages", type=int)
    parser.add_argument(
        "--open", type=int, default=1, metavar="N", help="conversations at a time (default: 1)"
    )
    arguments = parser.parse_args()
    of = arguments.messages, arguments.open
    made = {"va": partial(va, *of), "awp": partial(connections, *of), "trace": partial(awp, of[0])}
    sys.stdout.writelines(made[arguments.protocol]())


if __name__ == "__main__":
    main()
