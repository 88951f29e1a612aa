"""What keeps an implementation from being tested, a line for each thing that was tried, and what to do.

Everything is tried by the transports and the runner that a run would use: one first exchange, the same
with long messages, then the scenarios that show what the ICS states. Nothing here is a verdict.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance import campaign, contact, packs, quoting, records, statements
from conformance.campaign import Campaign
from conformance.console import heed_termination
from conformance.errors import (
    AccessRefused,
    BadTarget,
    ExitCode,
    NotTrusted,
    TargetUnavailable,
    UsageError,
    WrongSubprotocol,
)
from conformance.findings import Verdict, verdict_of
from conformance.framing import Framing, Reading
from conformance.monitor import Monitor
from conformance.runner import Result, run_one
from conformance.scenarios import Scenario
from conformance.taps import Tap
from conformance.transports import process

LONG = 70_000
"""Bytes of a long message: more than a pipe holds, and than readers of lines take unless they are told."""


@dataclass(frozen=True, slots=True)
class Line:
    """What was tried, and what came out. `status` is `ok`, `wrong` or `unknown`; `code` is of a `wrong`."""

    what: str
    said: str
    status: str = "ok"
    code: int = ExitCode.BROKEN

    def __str__(self) -> str:
        """As it is printed."""
        return f"{self.status:<7}  {self.what}: {self.said}"


def wrong(what: str, said: str, code: int = ExitCode.BROKEN) -> Line:
    """Something that has to change: in the implementation, or in the configuration by `ExitCode.USAGE`."""
    return Line(what, said, "wrong", code)


def unknown(what: str, said: str) -> Line:
    """What could not be tried, or did not show."""
    return Line(what, said, "unknown")


def exit_code(lines: Iterable[Line]) -> int:
    """0 all is well, 1 the implementation has to change, 2 the configuration has to, 3 neither shows."""
    found = list(lines)
    codes = {line.code for line in found if line.status == "wrong"}
    if codes:
        return min(codes)
    return ExitCode.UNDECIDED if any(line.status == "unknown" for line in found) else ExitCode.HOLDS


def examine(request: campaign.Request) -> Iterator[Line]:
    """Try everything, in an order in which what comes first explains what follows."""
    try:
        made = campaign.prepare(request)
    except BadTarget as error:
        yield wrong("command", f"{error}", ExitCode.USAGE)
        return
    except UsageError as error:
        yield wrong("configuration", f"{error}", ExitCode.USAGE)
        return
    yield Line("configuration", f"{made.plan.role} of {made.plan.pack.name}, {made.target}")
    found = list(_command(made.plan.target))
    yield from found
    if any(line.status == "wrong" for line in found):
        return
    with tempfile.TemporaryDirectory() as folder:
        made.plan = replace(made.plan, out=Path(folder))
        yield from _contact(made)


def _command(target: str) -> Iterator[Line]:
    if _is_url(target):
        return
    words = process.command(target)
    found = [wrong("command", said, ExitCode.USAGE) for said in quoting.mistakes(words)]
    yield from found or [Line("command", " ".join(words[:3]) + (" …" if words[3:] else ""))]


def _is_url(target: str) -> bool:
    return target.partition(":")[2].startswith("//")


# ── the first contact ────────────────────────────────────────────────────────────────────────────


def _contact(made: Campaign) -> Iterator[Line]:
    first = contact.first(made)
    if first is None:
        yield unknown("handshake", "no scenario begins without facts that the ICS does not state")
        return
    tap = Tap()
    result = contact.carried_out(made, first, tap)
    if result.status == "error":
        yield unknown("start", result.reason)
    elif tap.refused is not None and not tap.opened:
        yield _refused(made.plan.target, tap.refused)
    elif tap.ended is not None and not tap.came:
        yield wrong("start", f"it ended before it said anything: {tap.ended.detail}")
    else:
        yield from _connected(made, tap)
        yield from _spoken(made, first, result, tap)


def _refused(target: str, error: TargetUnavailable) -> Line:
    """Why there was no connection, as far as its condition is known."""
    for condition, (what, advice, code) in _CONDITIONS.items():
        if isinstance(error, condition):
            return wrong(what, f"{error}; {advice}", code)
    if _is_url(target):
        return unknown("connection", f"{error}; is the server running, and is that its address?")
    return wrong("start", f"{error}")


_CONDITIONS: Mapping[type[TargetUnavailable], tuple[str, str, int]] = {
    AccessRefused: (
        "credentials",
        "name a token in the configuration: [connection] token_env or token_file",
        ExitCode.USAGE,
    ),
    NotTrusted: ("TLS", "name who vouches for it in the configuration: [connection] ca", ExitCode.USAGE),
    WrongSubprotocol: ("subprotocol", "the two have to agree on one", ExitCode.BROKEN),
}


def _connected(made: Campaign, tap: Tap) -> Iterator[Line]:
    """What a connection shows that came to be."""
    target, offered = made.plan.target, made.plan.pack.meta.get("subprotocols", ())
    yield Line("connection" if _is_url(target) else "start", "it came to be")
    if offered and not tap.stream:
        yield Line("subprotocol", f"it chose {' or '.join(offered)}")
    if target.startswith("wss:"):
        yield Line("TLS", "its certificate holds")
    if _is_url(target):
        yield Line("credentials", "it lets the kit in")


# ── what was spoken ──────────────────────────────────────────────────────────────────────────────


def _spoken(made: Campaign, first: Scenario, result: Result, tap: Tap) -> Iterator[Line]:
    yield from _bytes(tap)
    handshake = _handshake(made, first, result, tap)
    yield handshake
    if handshake.status == "ok":
        if any(step.verb in ("send", "request") for step in first.steps):
            yield _long(made, first)
        yield from _facts(made)


def _bytes(tap: Tap) -> Iterator[Line]:
    """What the bytes show, whatever was said: a line for each of `_WIRE`."""
    came = tap.came or tap.late
    data = b"".join(one.data for one in came)
    if not data:
        yield unknown("output", "it wrote nothing")
        return
    if _is_utf16(data):
        yield wrong("encoding", "what it writes is UTF-16; write UTF-8")
        return
    told = dict(_told(came, tap))
    for what in ("output", "encoding", "JSON", *(("newline", "flushing") if tap.stream else ())):
        yield wrong(what, told[what]) if what in told else Line(what, _WELL[what])


def _is_utf16(data: bytes) -> bool:
    return data[:2] in (b"\xff\xfe", b"\xfe\xff") or data.count(0) * 4 > len(data)


def _told(came: list[Any], tap: Tap) -> Iterator[tuple[str, str]]:
    """What is wrong with the bytes; the last of its kind counts."""
    for reading in reversed(list(_readings(came, tap.framing()))):
        for fault in reading.faults:
            what, advice = _WIRE.get(fault.code, ("JSON", ""))
            yield what, f"{fault.message}{advice}"
    if any(one.binary for one in came):
        yield "output", "a binary message came where messages are texts; send text messages"
    if tap.stream and tap.came and tap.ended is None and not tap.came[-1].data.endswith(b"\n"):
        yield "newline", "the last message did not end with a newline, so nobody can know that it is whole"
    if tap.stream and not tap.came:
        yield (
            "flushing",
            "it wrote only after the kit had closed its standard input; "
            "flush standard output after each message, and answer each line as it comes",
        )


def _readings(came: list[Any], framing: Framing) -> Iterator[Reading]:
    for one in came:
        yield from () if one.binary else framing.feed(one.data)
    yield from framing.end()


_WIRE = {
    "WIRE-NOISE": ("output", "; write logs to standard error"),
    "WIRE-LINE": ("newline", "; write each message on one line that ends with a line feed alone"),
    "WIRE-BOM": ("encoding", "; write UTF-8 without a byte order mark"),
    "WIRE-UTF8": ("encoding", "; write UTF-8"),
}

_WELL = {
    "output": "nothing but messages is on it",
    "encoding": "UTF-8",
    "JSON": "every message is a JSON object",
    "newline": "every message is a line that ends with a line feed",
    "flushing": "messages come when they are written",
}


def _handshake(made: Campaign, first: Scenario, result: Result, tap: Tap) -> Line:
    broken = list(_broken(made, made.plan.out / result.transcript))
    if broken:
        more = f"; and {len(broken) - 3} more" if broken[3:] else ""
        return wrong("handshake", "; ".join(broken[:3]) + more)
    if result.status == "passed":
        return Line("handshake", _met(first))
    if result.status == "failed" or tap.ended is not None:
        return wrong("handshake", _reason(result))
    advice = (
        "; a slow implementation may need more --patience" if " did not come within " in result.reason else ""
    )
    return unknown("handshake", f"{_reason(result)}{advice}")


def _broken(made: Campaign, transcript: Path) -> Iterator[str]:
    """Which MUST its messages break, but for what the bytes have shown already.

    The conversation was cut off, so what its end would show is nobody's fault.
    """
    plan, wire = made.plan, packs.wire_requirements()
    monitor = Monitor(plan.pack)
    for event in records.open_record(transcript.read_bytes(), str(transcript), plan.pack).events:
        for one in monitor.feed(event):
            level = plan.pack.requirements[one.requirement].level
            failed = one.party in (plan.role, "") and verdict_of(one, level) is Verdict.FAIL
            if failed and one.requirement not in wire:
                yield f"{one.requirement}: {one.message}"


def _reason(result: Result) -> str:
    return result.reason.replace("* ", "an answer ")


def _met(first: Scenario) -> str:
    sent = [step.args[step.verb] for step in first.steps if step.verb in ("send", "request")]
    return f"{sent[-1]} was answered" if sent else f"scenario {first.name} was passed"


def _long(made: Campaign, first: Scenario) -> Line:
    result = contact.carried_out(made, first, Tap(length=LONG))
    if result.status == "passed":
        return Line("long lines", f"a message of {LONG} bytes was taken as the short one was")
    said = f"a message made {LONG} bytes long by white space was not taken as the short one was"
    return wrong("long lines", f"{said}: {_reason(result)}; read lines without a limit of 64 KiB")


# ── facts ────────────────────────────────────────────────────────────────────────────────────────


def _facts(made: Campaign) -> Iterator[Line]:
    """Whether what the ICS states can be seen, and what it does not state."""
    yield from _unstated(made)
    shown: set[str] = set()
    for scenario in sorted(made.scenarios, key=lambda one: len(one.steps)):
        facts = set(statements.needed(made.plan.pack, scenario))
        if facts <= shown or not contact.applies(made, scenario):
            continue
        result = run_one(made.plan, scenario)
        if result.status == "not-applicable":
            continue
        named = ", ".join(sorted(facts - shown))
        shown |= facts
        if result.status == "passed":
            yield Line("facts", f"{named}: seen in scenario {scenario.name}")
        else:
            said = f"{named}: scenario {scenario.name} was {result.status}: {result.reason}"
            yield (wrong if result.status in ("failed", "inconclusive") else unknown)("facts", said)


def _unstated(made: Campaign) -> Iterator[Line]:
    """Facts that scenarios need and that are stated nowhere: not even that they do not hold."""
    plan = made.plan
    missing = {one.name: statements.unstated(plan.pack, plan.ics, one) for one in made.scenarios}
    wanted: dict[str, list[str]] = {}
    for scenario in made.scenarios:
        names = ", ".join(sorted(missing[scenario.name]))
        if names and not statements.unmet(plan.ics, scenario, plan.credentials):
            said = (
                f"{names}: not stated, and scenario {scenario.name}, for which the rest is stated, needs it"
            )
            yield wrong("facts", f"{said}; state it in [ics]", ExitCode.USAGE)
        elif names:
            wanted.setdefault(names, []).append(scenario.name)
    for names, scenarios in wanted.items():
        said = f"{names}: not stated, so nothing can be shown in scenario {', '.join(scenarios)}"
        yield unknown("facts", f"{said}; state in [ics] what holds, or that it is false")


def execute(request: campaign.Request, told: Callable[[str], None]) -> int:
    """Tell each line as it is known; the exit code."""
    heed_termination()
    lines = []
    for line in examine(request):
        told(str(line))
        lines.append(line)
    return exit_code(lines)
