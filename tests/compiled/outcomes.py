"""What the kit that is imported finds in inputs, one line for each: so two kits can be compared.

    python tests/compiled/outcomes.py CHECKOUT COUNT SEED [NUMBER]

judges the fixtures of the checkout, and COUNT inputs made of them. A line has the input's number and name, a
digest of all that was found, passes too, and the exception that ended it, which none should; for the input of
this NUMBER alone, all that was found follows.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

from spoilt import Input, inputs

from conformance import records, validation
from conformance.errors import CannotJudge
from conformance.judgement import Judged, Told
from conformance.monitor import Monitor
from conformance.validation import Options

FAILED = "! "


def outcome(one: Input) -> list[str]:
    """What `validate` tells of an input, and then what a monitor makes of each event."""
    return [*_lines(_told(one)), *_lines(_judged(one))]


def _lines(said: Iterator[str]) -> Iterator[str]:
    try:
        yield from said
    except CannotJudge as error:
        yield f"{type(error).__name__}: {error}"
    except Exception as error:
        yield f"{FAILED}{type(error).__name__}: {error}"


def _chunks(one: Input) -> list[bytes]:
    size = one.chunks or len(one.data) or 1
    return [one.data[at : at + size] for at in range(0, len(one.data), size)]


def _told(one: Input) -> Iterator[str]:
    options = Options(protocol=one.protocol, **one.options)
    pack = options.pack()
    judged, said = Judged("input", pack), list[str]()

    def tell(_: Judged, told: Told) -> None:
        said.append(repr((told.finding, told.level, told.verdict, told.region)))

    validation.judge(_chunks(one), judged, options, tell, pack)
    yield from said
    yield judged.summary()


def _judged(one: Input) -> Iterator[str]:
    options = Options(protocol=one.protocol, **one.options)
    record = records.open_stream(iter(_chunks(one)), "input", options.pack())
    if isinstance(record, records.Unrecognised):
        return
    monitor = Monitor(record.pack, **one.options)
    for event in record.events:
        yield repr(event)
        yield from map(repr, monitor.feed(event))
    yield from map(repr, monitor.end())
    yield repr((monitor.edges, monitor.illegal, monitor.reasons, monitor.unknown, monitor.why_unknown))


def main(root: Path, count: int, seed: int, only: int | None = None) -> None:
    """Write the lines."""
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    for number, one in enumerate(inputs(root, count, seed)):
        if only is None or number == only:
            said = outcome(one)
            text = "\n".join(said)
            digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
            failed = next((line for line in said if line.startswith(FAILED)), "")
            print(f"{number}\t{one.name}\t{digest}\t{failed}")
            if only is not None:
                print(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
