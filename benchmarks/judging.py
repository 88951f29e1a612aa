"""How fast the kit judges, beside other tools on the same input, in one run.

    python benchmarks/judging.py [--rounds N] [--messages N] [--most N] [--only ROW] [--out FILE.json]

The other tools are installed into a folder outside the checkout (`peers.py`). Those that are too slow for all
of the input get a part of it, and their start, measured by itself, is not multiplied. Each of them must first
refuse an input with one broken message, so that none is measured that looks at nothing. Ratios are of medians
of wall time; processor time stands beside it, since a busy machine hits it less.

The kit is measured as it is installed here and, where there is a C compiler, as a compiled wheel of this
checkout too (docs/compiled.md): `--kit` names one of them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import inputs
import peers
from measuring import Contender, Measured, cost, measure, surroundings

SLOW = {"awp-conformance": 970, "check-jsonschema": 1_000, "jsonschema": 1_000}
"""So many messages are enough for these."""

SMALL_ROUNDS = 3
"""A small file is judged so many times as often: it takes no time, and what it takes varies."""


class Target(NamedTuple):
    """A row of the table: the kit's work, what it is compared to, and how many times as fast it has to be."""

    row: str
    work: str
    against: str
    least: float | None


TARGETS = (
    Target("trace", "a long AWP trace, every passive check, one process", "awp-conformance", 100),
    Target("trace", "a long AWP trace, every passive check, one process", "json.loads", 1 / 3),
    Target("lines", "va messages, JSON Lines", "check-jsonschema", 20),
    Target("lines", "va messages, JSON Lines", "jsonschema", 20),
    Target("lines", "va messages, JSON Lines", "ajv", 1),
    Target("lines", "va messages, JSON Lines", "jsonschema-rs", None),
    Target("lines", "va messages, JSON Lines", "sourcemeta", None),
    Target("pair", "va messages in one file, --jobs 2", "sourcemeta", 1),
    Target("small", "one small valid file", "check-jsonschema, one file", 2.5),
    Target("small", "one small valid file", "sourcemeta", None),
)

KITS = ("conformance", "conformance, compiled")
"""In which ways the kit is installed."""

VALIDATE = ["-c", "from conformance.cli import command; command()", "validate"]
"""What a Python with the kit is told."""

FLAT = 200
"""MiB that piped messages may take."""

OPEN = {"va": len(inputs.CONVERSATIONS[0]), "awp": inputs.LENGTH}
"""What may be open at a time, and of how many messages it is."""

SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)

CONSTANT = 1.3
"""The most that a message may cost, to the least."""


class Bench:
    """The inputs of one run, and the contenders over them."""

    def __init__(
        self, folder: Path, at: Path, pythons: dict[str, Path], arguments: argparse.Namespace
    ) -> None:
        self.folder, self._peers, self._pythons = folder, at, pythons
        self.rounds, self.messages, self.most = arguments.rounds, arguments.messages, arguments.most
        self.environment = surroundings(folder)
        document = inputs.schema()
        self._one = _written(folder / "message.schema.json", document)
        self._all = _written(folder / "array.schema.json", inputs.array_of(document))

    def file(self, name: str, protocol: str, messages: int) -> Path:
        """So many messages, one a line."""
        lines = inputs.awp(messages) if protocol == "awp" else inputs.va(messages)
        return inputs.write(self.folder / name, lines)

    def written(self, name: str, protocol: str, messages: int, at_once: int) -> Path:
        """So many messages, of so many conversations at a time."""
        made = {"va": inputs.va, "awp": inputs.connections}[protocol]
        return inputs.write(self.folder / name, made(messages, at_once))

    def kits(self, *words: str, feed: list[str] | None = None) -> list[Contender]:
        """The kit over all of these, as it is installed in each way."""
        return [
            Contender(name, [str(python), *VALIDATE, *words], feed=feed)
            for name, python in self._pythons.items()
        ]

    def peer(self, name: str, protocol: str, files: list[Path], messages: int) -> Contender:
        """A peer over these, or over as much as is enough for it."""
        known = peers.PEERS[name]
        words = known.command(self._peers, self._one, self._all)
        enough = SLOW.get(name, messages)
        if enough >= messages and not known.array:
            return Contender(name, [*words, *map(str, files)])
        part, least = (self._part(known, protocol, size) for size in (min(enough, messages), 1))
        return Contender(name, [*words, str(part)], [*words, str(least)], min(enough, messages) / messages)

    def _part(self, known: peers.Peer, protocol: str, messages: int) -> Path:
        """The first so many messages, as the peer reads them."""
        path = self.folder / f"{protocol}-{messages}{'.json' if known.array else '.jsonl'}"
        lines = [*(inputs.awp(messages) if protocol == "awp" else inputs.va(messages))]
        return inputs.write(path, [f"[{','.join(lines)}]"] if known.array else lines)

    def refused(self, name: str) -> None:
        """Let a peer refuse a broken message; SystemExit where it does not."""
        known = peers.PEERS[name]
        broken = json.loads(next(inputs.va(1)))
        del broken["payload"]["task"]
        path = _written(self.folder / "broken.json", [broken] if known.array else broken)
        words = [*known.command(self._peers, self._one, self._all), str(path)]
        if cost(words, self.environment)[1] == 0:
            raise SystemExit(f"{name} accepts a message that is broken, and so measures nothing")


def _written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value) + "\n", encoding="utf-8")
    return path


# ── the rows of the table ────────────────────────────────────────────────────────────────────────


def trace(bench: Bench) -> list[Measured]:
    """A trace as long as `--messages` says."""
    path = bench.file("awp.jsonl", "awp", bench.messages)
    others = [bench.peer(name, "awp", [path], bench.messages) for name in ("awp-conformance", "json.loads")]
    return measure([*bench.kits(str(path)), *others], bench.rounds, bench.environment)


def lines(bench: Bench) -> list[Measured]:
    """Messages one a line, one conversation after the other."""
    path = bench.file("va.jsonl", "va", bench.messages)
    names = ("check-jsonschema", "jsonschema", "jsonschema-rs", "ajv", "sourcemeta")
    others = [bench.peer(name, "va", [path], bench.messages) for name in names if _is_there(name)]
    return measure([*bench.kits(str(path)), *others], bench.rounds, bench.environment)


def pair(bench: Bench) -> list[Measured]:
    """The same, by two processes."""
    path = bench.file("va.jsonl", "va", bench.messages)
    other = bench.peer("sourcemeta", "va", [path], bench.messages)
    return measure([*bench.kits("--jobs", "2", str(path)), other], bench.rounds, bench.environment)


def small(bench: Bench) -> list[Measured]:
    """One message."""
    path = [inputs.SMALL]
    others = [bench.peer(name, "va", path, 1) for name in ("check-jsonschema, one file", "sourcemeta")]
    kits = bench.kits(str(inputs.SMALL))
    return measure([*kits, *others], bench.rounds * SMALL_ROUNDS, bench.environment)


ROWS: dict[str, Callable[[Bench], list[Measured]]] = {
    "trace": trace, "lines": lines, "pair": pair, "small": small,
}  # fmt: skip
"""By name, what is measured."""


def _is_there(name: str) -> bool:
    return name != "ajv" or (bool(peers.shutil.which("node")) and (peers.FOLDER / "node_modules").is_dir())


# ── the kit beside itself ────────────────────────────────────────────────────────────────────────


def growth(bench: Bench) -> Iterator[dict[str, Any]]:
    """What a message costs, by how many there are and how many conversations are open, without the start."""
    for protocol, length in OPEN.items():
        least = bench.written("least.jsonl", protocol, 1, 1)
        starts = [one.processor for one in measure(bench.kits(str(least)), bench.rounds, bench.environment)]
        for messages, at_once in product(SIZES, (1, 100, 10_000)):
            if messages > bench.most or at_once * length > messages:
                continue
            path = bench.written("grown.jsonl", protocol, messages, at_once)
            rounds = 1 if messages > 100_000 else bench.rounds
            there = inputs.whole(messages, at_once, length)
            kits = measure(bench.kits(str(path)), rounds, bench.environment)
            for took, start in zip(kits, starts, strict=True):
                each = (took.processor - start) / (there - length) * 1_000_000
                row = {"messages": there, "open": at_once, "microseconds": each, "memory": took.memory}
                yield {"protocol": protocol, "kit": took.name, **row}


def piped(bench: Bench) -> Iterator[dict[str, Any]]:
    """As many as there are at most, through a pipe that another process fills."""
    for protocol in OPEN:
        feed = [sys.executable, inputs.__file__, protocol, str(bench.most), "--open", "100"]
        for kit in bench.kits("-", feed=feed):
            took = measure([kit], 1, bench.environment)[0].costs[0]
            row = {"messages": bench.most, "memory": took.memory, "seconds": took.seconds}
            yield {"protocol": protocol, "kit": kit.name, **row}


# ── what is told ─────────────────────────────────────────────────────────────────────────────────


def compared(measured: dict[str, list[Measured]]) -> Iterator[dict[str, Any]]:
    """A row for each target of what was measured."""
    for target in TARGETS:
        found = {one.name: one for one in measured.get(target.row, ())}
        theirs = found.get(target.against)
        for ours in (found[name] for name in KITS if theirs and name in found):
            ratio = theirs.seconds / ours.seconds
            yield {
                **target._asdict(),
                "kit": ours.name,
                "ours": ours.seconds,
                "theirs": theirs.seconds,
                "ratio": ratio,
                "processor_ratio": theirs.processor / ours.processor,
                "memory": [ours.memory, theirs.memory],
                "share": theirs.share,
                "holds": None if target.least is None else ratio >= target.least,
            }


def table(told: dict[str, Any]) -> Iterator[str]:
    """All that was measured for a person, in Markdown."""
    yield from _compared(told["compared"])
    yield from _grown(told.get("growth", []))
    for pipe in told.get("piped", ()):
        holds, of = _held(pipe["memory"] < FLAT), f"{pipe['messages']} messages of {pipe['protocol']}"
        took = f"{pipe['memory']:.0f} MiB (under {FLAT}: {holds}), {pipe['seconds']:.0f} s"
        yield f"\n{of} piped into {pipe['kit']}: {took}"


def _compared(rows: list[dict[str, Any]]) -> Iterator[str]:
    if not rows:
        return
    yield (
        "| work | kit | against | ours, s | theirs, s | ratio | of processors | at least "
        "| MiB, ours · theirs |"
    )
    yield f"|{'---|' * 9}"
    for row in rows:
        least = "" if row["least"] is None else f"{row['least']:.3g} {_held(row['holds'])}"
        part = "" if row["share"] == 1 else f" ({row['share']:.1%} of it)"
        yield (
            f"| {row['work']} | {row['kit']} | {row['against']}{part} "
            f"| {row['ours']:.3f} | {row['theirs']:.3f} "
            f"| {row['ratio']:.3g} | {row['processor_ratio']:.3g} | {least} "
            f"| {row['memory'][0]:.0f} · {row['memory'][1]:.0f} |"
        )


def _held(holds: bool) -> str:
    return "holds" if holds else "IS MISSED"


def _grown(rows: list[dict[str, Any]]) -> Iterator[str]:
    for protocol, kit in dict.fromkeys((row["protocol"], row["kit"]) for row in rows):
        of = [row for row in rows if (row["protocol"], row["kit"]) == (protocol, kit)]
        yield f"\n| messages of {protocol}, {kit} | open conversations | µs a message | MiB |"
        yield "|---|---|---|---|"
        for row in of:
            yield f"| {row['messages']} | {row['open']} | {row['microseconds']:.1f} | {row['memory']:.0f} |"
        costs = [row["microseconds"] for row in of]
        spread = max(costs) / min(costs)
        yield f"\nfrom least to most: {spread:.2f} (at most {CONSTANT}: {_held(spread <= CONSTANT)})"


def main() -> None:
    """Measure what was asked for, and tell it."""
    parser = argparse.ArgumentParser(description="Measure how fast the kit judges, beside other tools.")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of each (default: 5)")
    parser.add_argument("--messages", type=int, default=100_000, metavar="N", help="of a long input (100000)")
    parser.add_argument("--most", type=int, default=100_000, metavar="N", help="of the kit alone (100000)")
    parser.add_argument(
        "--only", action="append", choices=[*ROWS, "growth", "piped"], help="measure this alone"
    )
    parser.add_argument("--kit", choices=KITS, help="measure the kit in this way alone")
    parser.add_argument("--peers", type=Path, default=peers.FOLDER, metavar="FOLDER", help="where peers are")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write what was measured as JSON")
    arguments = parser.parse_args()
    wanted = arguments.only or [*ROWS, "growth", "piped"]
    beside = bool({*wanted} & ROWS.keys())
    at = peers.install(arguments.peers) if beside else arguments.peers
    with tempfile.TemporaryDirectory() as folder:
        told = _told(Bench(Path(folder), at, _pythons(arguments), arguments), wanted)
    told["peers"] = peers.versions(at) if beside else []
    if arguments.out:
        _written(arguments.out, told)
    before, after = (f"{load:.1f}" for load in told["load"])
    print(f"load {before} to {after}, {told['processors']} processors, Python {told['python']}\n")
    print("\n".join(table(told)))


def _pythons(arguments: argparse.Namespace) -> dict[str, Path]:
    """By the way in which it is installed, the Python that has the kit."""
    interpreted, compiled = KITS
    found = {interpreted: Path(sys.executable)} if arguments.kit != compiled else {}
    if arguments.kit != interpreted:
        python = peers.compiled(arguments.peers)
        found |= {compiled: python} if python else {}
    return found


def _told(bench: Bench, wanted: list[str]) -> dict[str, Any]:
    load = [os.getloadavg()[0]]
    used = {target.against for target in TARGETS if target.row in wanted} - {"json.loads", "awp-conformance"}
    for name in filter(_is_there, used):
        bench.refused(name)
    measured = {name: row(bench) for name, row in ROWS.items() if name in wanted}
    told: dict[str, Any] = {"compared": [*compared(measured)]}
    if "growth" in wanted:
        told["growth"] = [*growth(bench)]
    if "piped" in wanted:
        told["piped"] = [*piped(bench)]
    raw = {name: [one._asdict() for one in row] for name, row in measured.items()}
    load.append(os.getloadavg()[0])
    return told | {
        "measured": raw, "load": load, "processors": os.cpu_count(), "python": platform.python_version(),
    }  # fmt: skip


if __name__ == "__main__":
    main()
