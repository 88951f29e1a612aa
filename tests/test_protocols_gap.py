"""What snapshots of attempts say together, and what is an absolute path: beyond what the fixtures show."""

from __future__ import annotations

import json
from typing import Any

import pytest
from judging import against, broken, judged, lines, of_text, said

from conformance import packs, records
from conformance.errors import UnknownProtocol
from conformance.events import Closed, Event, Fault, Malformed
from conformance.findings import Finding
from conformance.protocols.gap import COUNTERS, absolute_path

GAP = packs.find("governed-attempt-progress@1.0")

Snapshot = dict[str, Any]

UNKNOWN = {"baselineHead": "h", "statusDigest": "unknown", "diffDigest": "unknown",
           "changedFileCount": 0, "insertions": 0, "deletions": 0}  # fmt: skip
CHANGED = UNKNOWN | {"diffDigest": "sha256:1", "changedFileCount": 1}
CLEAN = UNKNOWN | {"diffDigest": "sha256:0"}
NOON, LATER, EARLIER = "2026-08-11T12:00:00Z", "2026-08-11T12:00:01Z", "2026-08-11T11:59:59Z"


def snapshot(level: str = "active", **members: Any) -> Snapshot:
    start = {"schemaVersion": "1.0", "taskId": "T", "operationId": "O", "launchId": "L", "attempt": 1}
    now = {"phase": "observing", "evidenceLevel": level, "lastActivityAt": NOON, "worktree": UNKNOWN}
    return start | now | {"validation": {"status": "not_run"}} | members


def productive(**members: Any) -> Snapshot:
    return snapshot("productive", lastProductiveAt=NOON, **members)


def ended(status: str) -> dict[str, Any]:
    return {"validation": {"status": status, "lastCommandId": "c", "evidenceRef": "e"}}


CUT_OFF = Malformed(99, "reporter", b"{", Fault("WIRE-LINE", "cut off"))
NAMELESS = snapshot(taskId=None)


def events(spoken: list[Any]) -> list[Event]:
    """The events of snapshots; a text that could not be read stands for itself."""
    told = iter(said(*(("reporter", one) for one in spoken if isinstance(one, dict))))
    return [*(one if isinstance(one, Malformed) else next(told) for one in spoken), Closed(100)]


def found(requirement: str, spoken: list[Any]) -> list[Finding]:
    return [one for one in judged(events(spoken), GAP) if one.requirement == requirement]


def marks(requirement: str, spoken: list[Any]) -> str:
    return "".join("+" if one.ok else "-" for one in found(requirement, spoken))


EVIDENCE: list[tuple[str, list[Any], str]] = [
    ("a change", [productive(worktree=CHANGED)], "+"),
    ("a passed validation", [productive(**ended("passed"))], "+"),
    ("neither", [productive()], "-"),
    ("neither member", [{k: v for k, v in productive().items() if k not in ("worktree", "validation")}], "-"),
    ("neither, and told once", [productive(), productive()], "-"),
    ("a change without a digest", [productive(worktree=CHANGED | {"diffDigest": "unknown"})], "-"),
    ("perhaps a change, taken back", [productive(worktree=CLEAN)], ""),
    ("perhaps a validation, failed since", [productive(**ended("failed"))], ""),
    ("perhaps a validation, repeated now", [productive(validation={"status": "running"})], ""),
    ("a rise without", [snapshot(), productive(worktree=CLEAN)], "-"),
    ("a rise without, after the middle", [productive(worktree=CLEAN), productive(worktree=CLEAN)], ""),
    ("a change that came before the rise", [snapshot(worktree=CHANGED), productive(worktree=CLEAN)], ""),
    ("taken back", [productive(worktree=CHANGED), productive()], "+"),
    ("a rise to verified", [productive(worktree=CHANGED), productive(evidenceLevel="verified")], "+"),
    ("another attempt's", [productive(worktree=CHANGED), productive(attempt=2, launchId="M")], "+-"),
    ("a lost line may have had it", [snapshot(), CUT_OFF, productive(worktree=CLEAN)], ""),
    ("a lost line excuses nothing else", [snapshot(), CUT_OFF, productive()], "-"),
    ("a snapshot of no attempt may have had it", [snapshot(), NAMELESS, productive(worktree=CLEAN)], ""),
    ("an unreadable level", [snapshot("done"), productive()], "-"),
    ("an unreadable tree", [snapshot(), productive(worktree=None)], ""),
    ("an unreadable status", [snapshot(), productive(validation={"status": "green"})], ""),
    ("a count beyond all counting", [productive(worktree=CHANGED | {"changedFileCount": 2**53})], "+"),
    ("of no attempt", [productive(taskId=None)], ""),
    ("no level above active", [snapshot(), snapshot(worktree=CHANGED)], ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spoken", "expected"), [case[1:] for case in EVIDENCE], ids=[case[0] for case in EVIDENCE]
)
def test_a_productive_attempt_has_evidence(spoken: list[Any], expected: str) -> None:
    assert marks("GAP-LVL-002", spoken) == expected


NOT_YET: list[tuple[str, list[Any], str]] = [
    ("absent", [snapshot()], "+"),
    ("null", [snapshot("alive", lastProductiveAt=None)], "+"),
    ("set", [snapshot(lastProductiveAt=NOON)], "-"),
    ("set, of no attempt", [snapshot(lastProductiveAt=NOON, taskId=None)], "-"),
    ("no date-time", [snapshot(lastProductiveAt=1)], ""),
    ("true in spite of the level", [productive(worktree=CHANGED), snapshot(lastProductiveAt=NOON)], "+"),
    ("of another attempt",
     [productive(worktree=CHANGED), snapshot(lastProductiveAt=NOON, attempt=2)], "+-"),
    ("productive, of no attempt", [productive(taskId=None)], "+"),
    ("no level", [snapshot("done", lastProductiveAt=NOON)], ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spoken", "expected"), [case[1:] for case in NOT_YET], ids=[case[0] for case in NOT_YET]
)
def test_what_is_not_productive_yet_has_no_time_of_it(spoken: list[Any], expected: str) -> None:
    assert marks("GAP-LVL-004", spoken) == expected


def activity(*counters: int) -> dict[str, Any]:
    names = ("readOnlyToolCount", "writeToolCount", "testToolCount", "failedToolCount")
    return {"activity": dict(zip(names, counters, strict=True))}


READY = snapshot(phase="ready", **activity(1, 1, 1, 1))
BLOCKED = READY | {"phase": "blocked"}

PHASES: list[tuple[str, list[Any], str]] = [
    ("the same", [snapshot(), snapshot()], ""),
    ("at work", [snapshot(), snapshot(phase="testing"), snapshot(phase="editing"), snapshot()], "+++"),
    ("ready", [snapshot(), READY], "+"),
    ("back", [READY, READY | {"phase": "editing"}], "-"),
    ("back, told once", [READY, READY | {"phase": "editing"}, READY | {"phase": "testing"}], "-+"),
    ("back, later", [READY, READY | {"phase": "editing", "lastActivityAt": LATER}], "+"),
    ("back, earlier", [READY, READY | {"phase": "editing", "lastActivityAt": EARLIER}], ""),
    ("back, at no time", [READY, READY | {"phase": "editing", "lastActivityAt": "noon"}], ""),
    ("back from no time", [READY | {"lastActivityAt": "noon"}, READY | {"phase": "editing"}], ""),
    *((f"back after use {n}",
       [READY, READY | {"phase": "editing"} | activity(*(1 + (n == m) for m in range(4)))], "+")
      for n in range(4)),
    ("back with fewer uses", [READY, READY | {"phase": "editing"} | activity(1, 0, 1, 1)], "-"),
    ("another tree", [READY, READY | {"phase": "editing", "worktree": CHANGED}], "+"),
    ("another validation", [READY, READY | {"phase": "testing", "validation": {"status": "running"}}], "+"),
    ("another diagnostic", [BLOCKED, BLOCKED | {"phase": "ready", "diagnostics": []}], "+"),
    ("from end to end", [BLOCKED, READY], "-"),
    ("given up", [BLOCKED, BLOCKED | {"phase": "failed"}], "+"),
    ("after failing", [BLOCKED | {"phase": "failed"}, READY], "-"),
    ("no phase", [READY, READY | {"phase": ["editing"]}, READY | {"phase": "editing"}], ""),
    ("another attempt's", [READY, snapshot(attempt=2)], ""),
    ("of no attempt", [READY, snapshot(taskId=None), READY], ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spoken", "expected"), [case[1:] for case in PHASES], ids=[case[0] for case in PHASES]
)
def test_an_attempt_goes_on_with_new_activity(spoken: list[Any], expected: str) -> None:
    assert marks("GAP-PHS-001", spoken) == expected


def number(attempt: Any, operation: str = "O", launch: str = "L") -> Snapshot:
    return snapshot(attempt=attempt, operationId=operation, launchId=launch)


NUMBERS: list[tuple[str, list[Any], str]] = [
    ("one", [number(1), number(1)], ""),
    ("any at first", [number(7), number(8)], "+"),
    ("one after the other", [number(1), number(2), number(2), number(3)], "++"),
    ("one left out", [number(1), number(3), number(4)], "-+"),
    ("a closed one", [number(1), number(2), number(1), number(2), number(3)], "+-+"),
    ("a closed one of another launch", [number(2, launch="M"), number(1)], "-"),
    ("several launches", [number(1), number(1, launch="M"), number(2)], "+"),
    ("two operations", [number(1), number(5, "P"), number(2), number(6, "P")], "++"),
    ("a lost line may have been the one", [number(1), CUT_OFF, number(3)], ""),
    ("a lost line opens nothing", [number(1), number(2), CUT_OFF, number(1)], "+-"),
    ("a snapshot of no attempt may have been it", [number(1), number(0), number(3)], ""),
    ("nothing is lost of what comes later", [number(1), CUT_OFF, number(2), number(4)], "+-"),
    ("1.0 is 1", [number(1), number(2.0), number(True)], "+"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spoken", "expected"), [case[1:] for case in NUMBERS], ids=[case[0] for case in NUMBERS]
)
def test_attempts_count_up(spoken: list[Any], expected: str) -> None:
    assert marks("GAP-ATT-001", spoken) == expected


def test_what_should_have_come_is_said() -> None:
    (left_out,) = found("GAP-ATT-001", [number(1), number(3)])
    assert (left_out.pointer, left_out.expected, left_out.actual) == ("/attempt", (2,), 3)
    assert left_out.message == "attempt 3 follows attempt 1; the one after 1 is 2"
    (closed,) = found("GAP-ATT-001", [number(2), number(1)])
    assert closed.message == "attempt 1 is reported, and attempt 2 of the operation had begun"
    (back,) = found("GAP-PHS-001", [READY, READY | {"phase": "editing"}])
    assert (back.pointer, back.expected, back.actual) == ("/phase", ("ready", "failed"), "editing")
    (early,) = found("GAP-LVL-004", [snapshot(lastProductiveAt=NOON)])
    assert early.message == f'the level is active, and lastProductiveAt is "{NOON}"'


PATHS = [
    ("/home/ada/x.py", "/home/ada/x.py"),
    ("/srv", ""),
    ("rm /tmp", "/tmp"),
    ("/abs/path", "/abs/path"),
    ("open '/srv/repo/a.py' failed", "/srv/repo/a.py"),
    ('File "/Users/ada/x.py", line 3', "/Users/ada/x.py"),
    ("at Object.<anonymous> (/srv/app/index.js:1:1)", "/srv/app/index.js:1:1"),
    ("PATH=/usr/bin:/bin", "/usr/bin:/bin"),
    ("cwd:/home/ada", "/home/ada"),
    ("{/usr/tool}", "/usr/tool"),
    ("\u201c/home/ada/x.py\u201d", "/home/ada/x.py"),
    ("\u8def\u5f84\uff1a/home/ada/x.py\u3002", "/home/ada/x.py"),
    ("\uff08/srv/data/x\uff09", "/srv/data/x"),
    ("could not delete /tmp/x", "/tmp/x"),
    ("C:\\Users\\ada", "C:\\Users\\ada"),
    ("C:\\\\Users\\\\ada", "C:\\\\Users\\\\ada"),
    ("see d:/builds/x", "d:/builds/x"),
    ("\\\\?\\C:\\x", "\\\\?\\C:\\x"),
    ("\\\\server\\share\\x", "\\\\server\\share\\x"),
    ("on \\\\server\\c$\\x", "\\\\server\\c$\\x"),
    ("file:///home/ada/x", "file:///home/ada/x"),
    ("FILE:/c:/x", "FILE:/c:/x"),
    ("git+file:///home/ada/x", "file:///home/ada/x"),
]

NO_PATHS = [
    "", "/", "//", "a / b", "n/a", "and/or", "I/O", "2026/08/11", "11/08/2026", "1/2", "MB /s",
    "text/plain", "application/json, text/plain, */*", "src/a/b.py", "./x/y", "../x/y", "~/x/y",
    "${root}/a/b", "</div>", "<br/>", "// see docs/x", "/* x */", "https://a.example/home/ada/x",
    "https://a.example/?next=/home/ada/x", "ssh://git@a.example/home/ada/x.git", "s3://bucket/home/x",
    "localhost:3000/home/ada", "/api/v1/users failed", "GET /home/users returned 500", "POST /v1/orders/1",
    "use /retry", "#/properties/home/x", "sha256:abc/def", "sha256-ab+/cd/ef==", "artifact:/x/y",
    "urn:x:/a/b", "N:/A", "C: drive", "\\d+\\w", "\\\\d+\\\\w", "\\\\n\\\\t", "origin/main",
    "@scope/package", "12:30/13:00", "profile:/x",
]  # fmt: skip


@pytest.mark.parametrize(("text", "path"), PATHS)
def test_an_absolute_path_is_found(text: str, path: str) -> None:
    assert absolute_path(text) == path


@pytest.mark.parametrize("text", NO_PATHS)
def test_what_is_no_absolute_path_is_let_be(text: str) -> None:
    assert absolute_path(text) == ""


@pytest.mark.parametrize("text", ["a." * 200_000, "/" * 200_000, "/a" * 200_000 + " ", "\\" * 200_000])
def test_no_text_takes_long(text: str) -> None:
    """An engine that tries again from every place would be at it for minutes."""
    assert absolute_path(text) in ("", text.strip())


def test_every_string_is_looked_at() -> None:
    note = {"timestamp": NOON, "code": "/etc/a", "message": "/etc/b"}
    spoken = [snapshot(taskId="/etc/c", diagnostics=[note], extra=["/etc/d", 1, None, "x"])]
    assert {one.pointer for one in found("GAP-PRV-001", spoken)} == {
        "/taskId", "/diagnostics/0/code", "/diagnostics/0/message", "/extra/0",
    }  # fmt: skip
    assert marks("GAP-PRV-001", [snapshot()]) == "+"


def test_a_path_hides_no_failure() -> None:
    """The warning about its content and the failure of its form are about the same place."""
    assert broken(judged(events([snapshot(cwd="/etc/x")]), GAP)) == {"GAP-DOC-001", "GAP-PRV-001"}
    assert broken(judged(events([snapshot(phase="/etc/x")]), GAP)) == {"GAP-DOC-001", "GAP-PRV-001"}


@pytest.mark.parametrize(
    "member", ["taskId", "operationId", "launchId", "attempt", "phase", "evidenceLevel", "lastActivityAt"]
)
def test_a_snapshot_that_lacks_something_is_known_for_one(member: str) -> None:
    text = json.dumps({name: value for name, value in snapshot().items() if name != member})
    assert records.open_record(text.encode(), "input").pack.protocol == GAP.protocol
    (finding,) = against(of_text(text, GAP))
    assert (finding.requirement, finding.message) == ("GAP-DOC-001", f'the member "{member}" is missing')


@pytest.mark.parametrize(
    "value",
    [
        {"taskId": "T", "phase": "ready"},
        {"launchId": "L", "attempt": 1},
        {"evidenceLevel": "verified"},
        {"operationId": "O", "lastActivityAt": NOON},
    ],
)
def test_what_only_resembles_a_snapshot_is_not_taken_for_one(value: Snapshot) -> None:
    with pytest.raises(UnknownProtocol):
        records.open_record(json.dumps(value).encode(), "input")


def test_an_object_among_snapshots_that_is_none_is_told_in_one_finding() -> None:
    (finding,) = against(of_text(lines(snapshot(), {"level": "info", "msg": "x"}, snapshot()), GAP))
    assert (finding.requirement, finding.line) == ("GAP-DOC-001", 2)
    assert finding.message == "it has the form of no kind; kinds are progress"


def test_a_value_that_is_no_object_is_a_matter_of_the_wire() -> None:
    assert broken(of_text(lines(snapshot(), 1, snapshot()), GAP)) == {"WIRE-OBJECT"}


@pytest.mark.parametrize("form", ["lines", "array", "pretty array"])
def test_a_stream_has_several_forms(form: str) -> None:
    spoken = [READY, READY | {"phase": "editing"}]
    text = {
        "lines": lines(*spoken),
        "array": json.dumps(spoken),
        "pretty array": json.dumps(spoken, indent=1),
    }
    assert broken(of_text(text[form], GAP)) == {"GAP-PHS-001"}


def test_snapshots_of_no_attempt_are_not_compared() -> None:
    later = snapshot("verified", taskId=None, operationId=None, launchId=None, lastActivityAt=LATER)
    first = snapshot("alive", taskId=None, operationId=None, launchId=None)
    assert broken(judged(events([later | {"lastProductiveAt": NOON}, first]), GAP)) == {"GAP-DOC-001"}


UNREADABLE: list[tuple[Snapshot, str]] = [
    ({"phase": "blocked", "activity": None}, "/activity"),
    ({"phase": "blocked", "activity": {}}, "/activity"),
    ({"phase": "blocked", "diagnostics": "none"}, "/diagnostics"),
    ({"phase": "failed", "validation": None}, "/validation"),
    ({"phase": "failed", "validation": {}}, "/validation"),
    ({"phase": "failed", "diagnostics": ["x"]}, "/diagnostics/0"),
    ({"phase": "failed", "diagnostics": [{"severity": "fatal"}]}, "/diagnostics/0"),
]


@pytest.mark.parametrize(("members", "place"), UNREADABLE)
def test_a_reason_that_cannot_be_read_may_be_one(members: Snapshot, place: str) -> None:
    found = against(judged(events([snapshot(**members)]), GAP))
    assert {one.requirement for one in found} == {"GAP-DOC-001"}
    assert all(one.pointer.startswith(place) for one in found)


def test_the_reporter_has_nobody_to_answer_it() -> None:
    assert (GAP.certifies, GAP.peer_of("reporter")) == ("reporter", "listener")
    assert {kind.senders for kind in GAP.kinds} == {("reporter",)}
    assert GAP.unknown_kind_id == "GAP-DOC-001"


@pytest.mark.parametrize(
    ("requirement", "one"),
    [
        ("GAP-LVL-001", productive(worktree=CHANGED)),
        ("GAP-CNT-001", snapshot(activity=dict.fromkeys(COUNTERS, 1))),
        ("GAP-LVL-004", productive(worktree=CHANGED) | {"lastProductiveAt": ""}),
        ("GAP-DOC-002", snapshot(schemaVersion="2.0")),
        ("GAP-DOC-002", snapshot(schemaVersion=None)),
        ("GAP-PHS-002", snapshot(phase="blocked", activity={"readOnlyToolCount": 1})),
        ("GAP-PHS-002", snapshot(phase="blocked", activity=None)),
        ("GAP-PHS-002", snapshot(phase="blocked", diagnostics=None)),
        ("GAP-PHS-003", snapshot(phase="failed", validation={"status": "red"})),
        ("GAP-PHS-003", snapshot(phase="failed", diagnostics=None)),
    ],
    ids=["one level", "one count", "no time", "another version", "no version", "no failed tools",
         "no activity", "no diagnostics", "no status", "no diagnostics of a failure"],
)  # fmt: skip
def test_a_snapshot_does_not_show_it(requirement: str, one: Snapshot) -> None:
    assert marks(requirement, [one]) == ""


@pytest.mark.parametrize(
    ("one", "message"),
    [
        (productive(worktree=CHANGED) | {"lastProductiveAt": None}, "null is not of type string"),
        (productive(worktree=CHANGED, evidenceLevel="verified", **ended("failed")),
         'the level is verified: the string "failed" is not "passed"'),
        (snapshot(validation={"status": "passed", "lastCommandId": None, "evidenceRef": "e"}),
         "null is not of type string"),
        (snapshot(phase="blocked"),
         'the attempt is blocked, no tool failed, and no diagnostic says why: the member "diagnostics" is '
         "missing"),
    ],
)  # fmt: skip
def test_what_is_missing_is_said(one: Snapshot, message: str) -> None:
    assert [finding.message for finding in against(judged(events([one]), GAP))] == [message]


def test_what_failed_may_only_stay_so() -> None:
    spoken = [snapshot(phase="failed", **ended("failed")), snapshot(phase="ready", **ended("failed"))]
    (finding,) = against(judged(events(spoken), GAP))
    assert (finding.requirement, finding.expected) == ("GAP-PHS-001", ("failed",))
