"""governed-attempt-progress: what the snapshots of an attempt say together, and paths in their texts.

A snapshot is of one attempt, which is known by its task, operation, launch and number. Snapshots are
samples: between two of them an attempt may have gone through anything that the later one does not rule
out, and before the first one lies what the record does not hold. Of many attempts the latest are remembered:
one that is heard of again after that is as one from before the record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from conformance import jsontext
from conformance.checks import Observation, failed, passed, same
from conformance.checks.order import measure
from conformance.correlation import Message
from conformance.findings import Finding, Requirement
from conformance.packs import Pack
from conformance.remembered import REMEMBERED_MESSAGES, forget_oldest
from conformance.wording import shown

LEVELS = ("alive", "active", "productive", "verified")
PRODUCTIVE = LEVELS.index("productive")

ENDS = ("ready", "blocked", "failed")
"""Phases that an attempt goes on from only when something new was done."""

PHASES = ("observing", "editing", "testing", *ENDS)

COUNTERS = ("readOnlyToolCount", "writeToolCount", "testToolCount", "failedToolCount")

_count = measure("counter")
_time = measure("time")
_rank = measure([*LEVELS])


class Attempt(NamedTuple):
    """Which attempt a snapshot is of."""

    task: str
    operation: str
    launch: str
    number: int


def _attempt(message: Message) -> Attempt | None:
    """The attempt that a snapshot is of; None where it does not say so."""
    said = message.value
    if not isinstance(said, dict):
        return None
    task, operation, launch = said.get("taskId"), said.get("operationId"), said.get("launchId")
    number = _count(said.get("attempt"))
    if isinstance(task, str) and isinstance(operation, str) and isinstance(launch, str) and number:
        return Attempt(task, operation, launch, number)
    return None


def _is_lost(seen: Observation) -> bool:
    """Whether a snapshot may have come that cannot be laid to its attempt."""
    message = seen.message
    return seen.lost is None or (message is not None and _attempt(message) is None)


class _Known(NamedTuple):
    """The rank of an attempt's last level, if it has one; whether it was seen to have evidence; and how often
    anything had been lost when that was said.
    """

    rank: int | None
    shown: bool
    lost: int


_NOTHING = _Known(None, False, 0)


class Evidence:
    """GAP-LVL-002: what is productive has evidence: a change with a known digest, or a passed validation.

    A level never drops, but evidence may go: a change is taken back, a later validation fails. So it has to
    be there when the level is seen to rise, and an attempt that is productive when the record begins is
    judged only if nothing in the snapshot can ever have been evidence.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._known: dict[Attempt, _Known] = {}
        self._lost = 0
        """How often something came that may have been of any attempt."""
        self._schemas = pack.schemas()

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding for a snapshot that has evidence, or had to have it."""
        if not seen.plain and _is_lost(seen):
            self._lost += 1
        message = seen.message
        attempt = _attempt(message) if message is not None else None
        if message is None or attempt is None:
            return ()
        rank, known = _rank(message.at("/evidenceLevel")), self._known.get(attempt, _NOTHING)
        before = known.rank if known.lost == self._lost else None
        evident = _has_change(message) or _has_passed(message)
        self._known[attempt] = _Known(before if rank is None else rank, known.shown or evident, self._lost)
        forget_oldest(self._known)
        if rank is None or rank < PRODUCTIVE:
            return ()
        if evident:
            return [passed(self._requirement, message)] if seen.praise else ()
        return self._judge(message, known.shown, before)

    def _judge(self, message: Message, shown: bool, before: int | None) -> Iterator[Finding]:
        if shown or (before is not None and before >= PRODUCTIVE):
            return  # it had evidence, or was told already that it has none
        elif not all(self._is_readable(message, name) for name in ("worktree", "validation")):
            return
        elif before is not None or not _may_have_had(message):
            level = message.at("/evidenceLevel")
            said = f"the level is {level}, and there is no changed file with a known diffDigest"
            said += " and no passed validation"
            yield failed(self._requirement, message, said, "/evidenceLevel", actual=level)

    def _is_readable(self, message: Message, name: str) -> bool:
        """Whether the member is what it should be: else nobody knows whether it is evidence."""
        member = jsontext.resolve(message.value, f"/{name}")
        place = f"governed-attempt-progress.schema.json#/properties/{name}"
        return member is jsontext.MISSING or self._schemas.is_valid(place, member)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each snapshot is judged when it is seen."""
        return ()


def _has_digest(message: Message) -> bool:
    return message.at("/worktree/diffDigest") not in (None, "unknown")


def _has_change(message: Message) -> bool:
    return _has_digest(message) and message.at("/worktree/changedFileCount") not in (None, 0)


def _has_passed(message: Message) -> bool:
    return bool(message.at("/validation/status") == "passed")


def _may_have_had(message: Message) -> bool:
    """Whether there may have been evidence before: a change that was taken back, a validation that passed."""
    return _has_digest(message) or message.at("/validation/status") in ("running", "failed")


class NotYetProductive:
    """GAP-LVL-004: before an attempt is productive, lastProductiveAt is null or absent.

    Where it was seen to be productive the time is right, and that the level dropped is told by another.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._productive: dict[Attempt, None] = {}

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per snapshot of a lower level."""
        message = seen.message
        rank = _rank(message.at("/evidenceLevel")) if message is not None else None
        if message is None or rank is None:
            return ()
        if rank >= PRODUCTIVE:
            attempt = _attempt(message)
            if attempt is not None:
                self._productive[attempt] = None
                forget_oldest(self._productive)
            return ()
        return self._judge(seen, message)

    def _judge(self, seen: Observation, message: Message) -> Iterable[Finding]:
        time = message.at("/lastProductiveAt")
        if time is None and not seen.praise:
            return ()
        if _attempt(message) in self._productive:
            return ()
        if time is None:
            return [passed(self._requirement, message)]
        if not isinstance(time, str):
            return ()
        said = f"the level is {message.at('/evidenceLevel')}, and lastProductiveAt is {shown(time)}"
        return [failed(self._requirement, message, said, "/lastProductiveAt", expected=(None,), actual=time)]

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each snapshot is judged when it is seen."""
        return ()


class Phases:
    """GAP-PHS-001: from ready, blocked and failed an attempt goes on only with new activity.

    Of observing, editing and testing any may follow any, since what lay between two snapshots is not seen.
    Giving up needs no activity.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._last: dict[Attempt, Message] = {}
        """The last snapshot of each; of many, the latest ones alone."""

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per snapshot of another phase than the one before it."""
        message = seen.message
        attempt = _attempt(message) if message is not None else None
        if message is None or attempt is None:
            return ()
        last = self._last.pop(attempt, None)  # and is the latest again
        self._last[attempt] = message
        forget_oldest(self._last, REMEMBERED_MESSAGES)
        return self._judge(seen, message, last) if last is not None else ()

    def _judge(self, seen: Observation, message: Message, last: Message) -> Iterator[Finding]:
        before, after = last.at("/phase"), message.at("/phase")
        if before == after or before not in PHASES or after not in PHASES:
            return
        if before not in ENDS or after == "failed" or _is_active(last, message):
            if seen.praise:
                yield passed(self._requirement, message)
        elif _stands_still(last, message):
            said = f"the attempt goes from {before} to {after}, and nothing was done since it was {before}"
            yield failed(
                self._requirement,
                message,
                said,
                "/phase",
                expected=tuple(dict.fromkeys((before, "failed"))),
                actual=after,
            )

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each snapshot is judged when it is seen."""
        return ()


def _is_active(last: Message, message: Message) -> bool:
    """Whether something was done in between: it is later, a counter grew, or there is another result."""
    rising = [(_time, "/lastActivityAt"), *((_count, f"/activity/{name}") for name in COUNTERS)]
    for measured, at in rising:
        before, after = measured(last.at(at)), measured(message.at(at))
        if before is not None and after is not None and after > before:
            return True
    return any(not same(last.at(at), message.at(at)) for at in ("/worktree", "/validation", "/diagnostics"))


def _stands_still(last: Message, message: Message) -> bool:
    """Whether the time of the last activity is the same; one that went back tells nothing."""
    before, after = (_time(one.at("/lastActivityAt")) for one in (last, message))
    return before is not None and before == after


class Numbering:
    """GAP-ATT-001: attempts of an operation count up by one, and one that a later one closed is silent.

    The first attempt in the record may have any number. Snapshots of one number by several launches say
    nothing: a launch may be repeated within an attempt.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._latest: dict[tuple[str, str], tuple[int, int]] = {}
        """The latest attempt of each operation, and how often anything had been lost by then."""
        self._lost = 0

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per new attempt, and one per snapshot of a closed one."""
        if not seen.plain and _is_lost(seen):
            self._lost += 1
        message = seen.message
        attempt = _attempt(message) if message is not None else None
        if message is None or attempt is None:
            return ()
        operation = attempt.task, attempt.operation
        latest, lost = self._latest.get(operation, (attempt.number, 0))
        self._latest[operation] = (max(latest, attempt.number), self._lost)
        forget_oldest(self._latest)
        if attempt.number == latest:
            return ()
        return self._judge(message, attempt.number, latest, lost == self._lost)

    def _judge(self, message: Message, number: int, latest: int, certain: bool) -> Iterator[Finding]:
        said = ""
        if number < latest:
            said = f"attempt {number} is reported, and attempt {latest} of the operation had begun"
        elif number > latest + 1 and certain:
            said = f"attempt {number} follows attempt {latest}; the one after {latest} is {latest + 1}"
        if said:
            wanted = latest if number < latest else latest + 1
            yield failed(self._requirement, message, said, "/attempt", expected=(wanted,), actual=number)
        elif number == latest + 1:
            yield passed(self._requirement, message)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each snapshot is judged when it is seen."""
        return ()


_SEGMENT = r"[\w.@+~$%-]+"
_WIDE = "\u201c\u2018\uff08\u300c\u300e\u3010\u300a\uff1a\uff0c\uff1b\u3001\u3002"
"""Quotes, brackets and stops of other scripts, after which a path may begin."""

_CLOSING = "\"'`,;.:)>]}\u201d\u2019\uff09\u300d\u300f\u3011\u300b\uff0c\uff1b\u3002"
"""What may stand right behind a path and is no part of it, of our own script and others."""

_ROOTS = "Users|Volumes|app|etc|home|mnt|opt|private|root|srv|tmp|usr|var|work|workspaces?"

NO_FILES = re.compile(
    r"""
    \b(?!(?:[a-z0-9.-]{1,20}\+)?file:)[a-z][a-z0-9+.-]{1,30}://[^\s"'<>`]*  # a URL, path and query included
    | \b(?-i:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)\s+/\S*  # what a request asks for
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What has the form of an absolute path in part, and names no file of a machine."""

ABSOLUTE = re.compile(
    rf"""
    (?<![a-z0-9])file:/+[^/\s]\S*
    | (?<![a-z0-9:])[a-z]:(?:\\+[^\s\\/:]|/+[^\s\\/:]{{2}})\S*  # on a drive of Windows
    | (?<![^\s"'(=,;`<>|\[])\\\\[\w.$?-]+\\[^\s\\]\S*  # on a share of Windows, UNC
    | (?<![^\s"'(=,;`>|\[{{{_WIDE}])/(?:etc|opt|root|tmp|usr|var)(?![\w.-])\S*
    | (?<![^\s"'(=,;`>|\[{{:{_WIDE}])/(?:{_ROOTS})/[^\s/]\S*
    | (?<![^\s"'(=,;`>|\[{_WIDE}])/(?!api/|v\d+/){_SEGMENT}/{_SEGMENT}\S*
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""An absolute path: of POSIX, of Windows, of a share, or in a URL of a file."""


class Paths:
    """GAP-PRV-001: no string holds an absolute path."""

    stateless = True
    """It looks at one snapshot at a time."""

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per string that holds one, else one for the snapshot."""
        message = seen.message
        if message is None or message.kind is None:
            return
        if not seen.praise and seen.plain and not _may_hold_path(message.event.text):
            return
        broken = [*self._broken(message)]
        yield from broken or [passed(self._requirement, message)]

    def _broken(self, message: Message) -> Iterator[Finding]:
        for pointer, text in jsontext.leaves(message.value):
            path = absolute_path(text) if isinstance(text, str) else ""
            if path:
                said = f"the string holds the absolute path {shown(path)}"
                yield failed(self._requirement, message, said, pointer, actual=path)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each snapshot is judged when it is seen."""
        return ()


def _may_hold_path(text: str) -> bool:
    """Whether the text of a message has what every path has, as it is or escaped."""
    return "/" in text or "\\" in text


def absolute_path(text: str) -> str:
    """The first absolute path in a text; empty where there is none."""
    found = ABSOLUTE.search(NO_FILES.sub("-", text))
    return found.group().rstrip(_CLOSING) if found else ""
