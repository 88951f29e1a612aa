"""Each kind of check, on a toy protocol: what it says for, what against, and when it says nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from judging import AWP, DIALECT, against, broken, judged, row, said, shown_to_hold, toy

from conformance import packs
from conformance.checks import same
from conformance.errors import BadPack
from conformance.events import Closed, Event, Fault, Malformed, Opened
from conformance.families import CHECKS
from conformance.findings import Finding, Level
from conformance.integers import I53, U53
from conformance.monitor import Monitor
from conformance.packs import Pack

ID = "TOY-MSG-001"

JOB = {
    "name": "job",
    "initial": "asked",
    "states": {"asked": "transient", "open": "execution", "held": "execution", "done": "terminal"},
    "repeat": ["open"],
    "transitions": [
        {"from": "asked", "to": "open"},
        {"from": "open", "to": "held", "reasons": ["tired", "lost"]},
        {"from": "held", "to": "open"},
        {"from": "open", "to": "done"},
    ],
}
MOVES = [
    {"on": ["ask"], "entity": "/id", "create": True},
    {"on": ["begin"], "entity": "/id", "to": "open", "from": ["asked"]},
    {"on": ["go"], "entity": "/id", "state": "/state", "reason": "/reason"},
    {"on": ["end"], "entity": "/id", "to": "done"},
]


def job(root: Path, check: dict[str, Any], **meta: Any) -> Pack:
    lifecycles = [{"file": "job.json", "moves": MOVES}]
    return toy(root, row(check), files={"job.json": JOB}, **{"lifecycles": lifecycles, **meta})


def to(state: str, **members: Any) -> tuple[str, Any]:
    return "left", {"type": "go", "id": "j", "state": state, **members}


Spoken = list[tuple[str, Any]]

ASK = ("right", {"type": "ask", "id": "j"})
BEGIN = ("left", {"type": "begin", "id": "j"})
END = ("left", {"type": "end", "id": "j"})
UNREADABLE = Fault("WIRE-JSON", "no JSON")
NOISE = Fault("WIRE-NOISE", "a log line")


def with_malformed(events: list[Event], place: int, fault: Fault, party: str = "left") -> list[Event]:
    return [*events[:place], Malformed(99, party, b"{", fault), *events[place:]]


def mine(found: list[Finding]) -> list[Finding]:
    return [finding for finding in found if finding.requirement == ID]


def verdicts(found: list[Finding]) -> str:
    """One mark for each finding of the requirement: + for it, - against it."""
    return "".join("+" if finding.ok else "-" for finding in mine(found))


# --- transition ------------------------------------------------------------------------------------

TRANSITION = {"kind": "transition", "lifecycle": "job"}


@pytest.mark.parametrize(
    ("spoken", "marks"),
    [
        ([ASK, BEGIN, to("held"), to("open"), to("open"), END], "+++++"),
        ([ASK, to("held")], "-"),
        ([ASK, to("flying")], "-"),
        ([ASK, BEGIN, BEGIN], "+-"),
        ([ASK, BEGIN, END, to("open")], "++-"),
        ([to("done")], ""),
        ([BEGIN], ""),
        ([END, END], "-"),
        ([ASK, to(5)], ""),
        ([("left", {"type": "go", "state": "open"})], ""),
        ([ASK, BEGIN, to("done"), to("held"), to("held")], "++-"),
        ([ASK, to("held"), to("done"), BEGIN, END, to("held")], "-++-"),
    ],
    ids=str,
)
def test_every_move_is_in_the_table(tmp_path: Path, spoken: list[tuple[str, Any]], marks: str) -> None:
    found = judged(said(*spoken), job(tmp_path, TRANSITION))
    assert verdicts(found) == marks


def test_an_illegal_move_says_what_was_allowed(tmp_path: Path) -> None:
    (finding,) = against(judged(said(ASK, BEGIN, to("asked")), job(tmp_path, TRANSITION)))
    assert finding.message == "j goes from open to asked; from open the table allows held, done, open"
    assert (finding.pointer, finding.expected, finding.actual) == (
        "/state",
        ("held", "done", "open"),
        "asked",
    )
    assert (finding.seq, finding.party) == (3, "left")
    (finding,) = against(judged(said(ASK, BEGIN, END, to("open")), job(tmp_path, TRANSITION)))
    assert finding.message.endswith("from done the table allows nothing")


def test_a_kind_with_states_of_its_own_says_so(tmp_path: Path) -> None:
    (finding,) = against(judged(said(ASK, BEGIN, BEGIN), job(tmp_path, TRANSITION)))
    assert (
        finding.message == "j is open, and begin follows asked; from open the table allows held, done, open"
    )


def test_successors_of_some_states_are_judged_elsewhere(tmp_path: Path) -> None:
    found = judged(said(ASK, BEGIN, END, to("open")), job(tmp_path, TRANSITION | {"unless": ["done"]}))
    assert verdicts(found) == "++"


def test_some_kinds_only(tmp_path: Path) -> None:
    found = judged(said(ASK, BEGIN, to("flying"), END), job(tmp_path, TRANSITION | {"on": ["end"]}))
    assert verdicts(found) == "+"


@pytest.mark.parametrize(("fault", "marks"), [(UNREADABLE, ""), (NOISE, "-")], ids=["message", "noise"])
def test_what_could_not_be_read_may_have_moved_anything(tmp_path: Path, fault: Fault, marks: str) -> None:
    events = with_malformed(said(ASK, to("done")), 1, fault)
    assert verdicts(judged(events, job(tmp_path, TRANSITION))) == marks


def test_a_message_of_no_kind_may_have_moved_what_it_is_about(tmp_path: Path) -> None:
    spoken = [ASK, ("right", {"type": "ask", "id": "k"}), ("left", {"type": "beginn", "id": "j"}), END]
    other = ("left", {"type": "end", "id": "k"})
    found = against(judged(said(*spoken, other), job(tmp_path, TRANSITION)))
    assert [finding.seq for finding in found] == [3, 5]
    assert "names no kind" in found[0].message


def test_a_message_of_no_kind_and_of_nothing_moves_nothing(tmp_path: Path) -> None:
    found = judged(said(ASK, ("left", {"type": "beginn"}), to("done")), job(tmp_path, TRANSITION))
    assert [finding.seq for finding in against(found)] == [2, 3]


def test_who_may_not_say_it_moves_nothing(tmp_path: Path) -> None:
    """Whether the other side said it after all, nobody knows, nor where things stand."""
    wrong = ("right", BEGIN[1])
    pack = job(tmp_path, TRANSITION)
    assert verdicts(judged(said(ASK, wrong, BEGIN), pack)) == ""
    assert verdicts(judged(said(ASK, wrong, END), pack)) == ""
    assert verdicts(judged(said(ASK, wrong, BEGIN, END), pack)) == "+"


# Rows that a protocol with answers needs: reports of an earlier state, and one that takes over a state.
ROWS = [
    {"on": ["ask"], "entity": "/id", "create": True},
    {"on": ["begin"], "entity": "/id", "state": "/state", "only_from": "asked", "force": True},
    {"on": ["go"], "entity": "/id", "state": "/state", "number": "/number"},
    {"on": ["end"], "entity": "/id", "state": "/state", "report": "when-unchanged"},
    {"on": ["note"], "entity": "/id", "state": "/state", "report": "always", "reason": "/reason"},
]


def say(kind: str, state: str, **members: Any) -> tuple[str, Any]:
    return "left", {"type": kind, "id": "j", "state": state, **members}


@pytest.mark.parametrize(
    ("spoken", "marks"),
    [
        ([ASK, say("begin", "open"), say("begin", "open")], "+"),
        ([ASK, say("begin", "open"), say("go", "held"), say("begin", "open")], "++"),
        ([ASK, say("begin", "held"), say("go", "open")], "-+"),
        ([ASK, say("begin", "flying"), say("go", "open")], "-+"),
        ([say("begin", "held"), say("go", "open")], "+"),
        ([ASK, say("go", "open"), say("end", "open"), say("end", "held"), say("end", "open")], "+++"),
        ([ASK, say("go", "open"), say("note", "done"), say("go", "held")], "++"),
        ([ASK, say("go", "open", number=1), say("go", "done", number=2), say("go", "open", number=1)], "++"),
        ([ASK, say("go", "open", number=1), say("go", "done", number=2), say("go", "open", number=3)], "++-"),
    ],
    ids=str,
)
def test_a_report_of_what_was_reached_moves_nothing(
    tmp_path: Path, spoken: list[tuple[str, Any]], marks: str
) -> None:
    pack = job(tmp_path, TRANSITION, lifecycles=[{"file": "job.json", "moves": ROWS}])
    assert verdicts(judged(said(*spoken), pack)) == marks


def test_a_creation_that_was_refused_never_was(tmp_path: Path) -> None:
    rows = [ROWS[0], {"on": ["note"], "entity": "/id", "forget": True}, ROWS[2]]
    pack = job(tmp_path, TRANSITION, lifecycles=[{"file": "job.json", "moves": rows}])
    refused = ("left", {"type": "note", "id": "j"})
    assert verdicts(judged(said(ASK, refused, to("done")), pack)) == ""
    assert verdicts(judged(said(ASK, to("open"), refused, to("done")), pack)) == "++"


def test_what_may_begin_once_is_unknown_when_it_is_said_to_begin_again(tmp_path: Path) -> None:
    rows = [ROWS[0] | {"create": "once"}, *MOVES[1:]]
    pack = job(tmp_path, TRANSITION, lifecycles=[{"file": "job.json", "moves": rows}])
    assert verdicts(judged(said(ASK, BEGIN, END), pack)) == "++"
    for later in (BEGIN, END):  # it may begin again, and may as well go on
        assert verdicts(judged(said(ASK, BEGIN, ASK, later), pack)) == "+"
    assert verdicts(judged(said(ASK, BEGIN, ASK, ASK, END, END), pack)) == "+-"


def test_in_a_session_that_began_before_the_record_nothing_is_known_to_begin(tmp_path: Path) -> None:
    opened = ("right", {"type": "note", "id": "s"})
    pack = job(tmp_path, TRANSITION, sessions=[{"on": ["note"], "key": "/id"}])
    assert verdicts(judged(said(ASK, to("done")), pack)) == ""
    assert verdicts(judged(said(opened, ASK, to("done")), pack)) == "-"


def test_sessions_have_entities_of_their_own(tmp_path: Path) -> None:
    opened = [("right", {"type": "note", "id": name}) for name in "st"]
    pack = job(tmp_path, TRANSITION, sessions=[{"on": ["note"], "key": "/id"}])
    assert verdicts(judged(said(opened[0], ASK, BEGIN, opened[1], ASK, BEGIN), pack)) == "++"


@pytest.mark.parametrize(
    ("check", "one", "other", "marks"),
    [
        ({"kind": "transition"}, [to("done"), to("done")], [to("done")], "--"),
        ({"kind": "terminal-silence", "states": ["done"]}, [BEGIN, END], [BEGIN, END], "++"),
        # The one that is of no kind is told as well.
    ],
)
def test_what_is_known_of_an_entity_is_known_in_its_session(
    tmp_path: Path, check: dict[str, Any], one: Spoken, other: Spoken, marks: str
) -> None:
    first, second = [("right", {"type": "note", "id": name}) for name in "st"]
    pack = job(tmp_path, {**check, "lifecycle": "job"}, sessions=[{"on": ["note"], "key": "/id"}])
    assert verdicts(judged(said(first, ASK, *one, second, ASK, *other), pack)) == marks


# --- terminal-silence ------------------------------------------------------------------------------

SILENCE = {"kind": "terminal-silence", "lifecycle": "job", "states": ["done"]}


@pytest.mark.parametrize(
    ("spoken", "marks"),
    [
        ([ASK, BEGIN, END], "+"),
        ([ASK, BEGIN, END, to("open")], "-+"),
        ([ASK, BEGIN, END, END, END], "--+"),
        ([ASK, BEGIN], ""),
        ([END], ""),
        ([END, to("open")], "-"),
        ([ASK, END], ""),
    ],
    ids=str,
)
def test_nothing_is_said_after_the_end(tmp_path: Path, spoken: list[tuple[str, Any]], marks: str) -> None:
    assert verdicts(judged(said(*spoken), job(tmp_path, SILENCE))) == marks


def test_what_came_after_the_end_is_named(tmp_path: Path) -> None:
    (finding,) = against(judged(said(ASK, BEGIN, END, to("open")), job(tmp_path, SILENCE)))
    assert finding.message == "j had ended as done, and go says something more"
    assert (finding.pointer, finding.actual) == ("/state", "go")


def test_a_report_after_the_end_says_nothing_more(tmp_path: Path) -> None:
    pack = job(tmp_path, SILENCE, lifecycles=[{"file": "job.json", "moves": ROWS}])
    spoken = [ASK, say("go", "open"), say("go", "done"), say("note", "done")]
    assert verdicts(judged(said(*spoken), pack)) == "+"


def test_silence_is_not_shown_by_a_record_that_stops(tmp_path: Path) -> None:
    events = [*said(ASK, BEGIN, END)[:-1], Closed(4, final=False)]
    assert verdicts(judged(events, job(tmp_path, SILENCE))) == ""


# --- reason-required, reason-allowed ---------------------------------------------------------------

REQUIRED = {"kind": "reason-required", "lifecycle": "job", "states": ["held"], "on": ["go"]}
ALLOWED = {"kind": "reason-allowed", "lifecycle": "job", "vendor": "^x-[a-z]+\\."}
RUNNING = [ASK, BEGIN]


@pytest.mark.parametrize(
    ("spoken", "marks"),
    [
        ([*RUNNING, to("held", reason="tired")], "+"),
        ([*RUNNING, to("held", reason="bored")], "+"),
        ([*RUNNING, to("held")], "-"),
        ([*RUNNING, to("held", reason=None)], "-"),
        ([to("held")], "-"),
        ([*RUNNING, END], ""),
        ([*RUNNING, to("open")], ""),
    ],
    ids=str,
)
def test_a_state_that_needs_a_reason(tmp_path: Path, spoken: list[tuple[str, Any]], marks: str) -> None:
    assert verdicts(judged(said(*spoken), job(tmp_path, REQUIRED))) == marks


def test_a_missing_reason_says_which_are_permitted(tmp_path: Path) -> None:
    (finding,) = against(judged(said(*RUNNING, to("held")), job(tmp_path, REQUIRED)))
    assert finding.message == "j is held and no reason is given; permitted here: tired, lost"
    assert (finding.pointer, finding.expected) == ("/reason", ("tired", "lost"))
    (finding,) = against(judged(said(to("held")), job(tmp_path, REQUIRED)))
    assert (finding.message, finding.expected) == ("j is held and no reason is given", ())


def test_a_kind_without_a_place_for_a_reason_needs_none(tmp_path: Path) -> None:
    check = REQUIRED | {"states": ["done"], "on": ["end"]}
    assert verdicts(judged(said(*RUNNING, END), job(tmp_path, check))) == ""


@pytest.mark.parametrize(
    ("spoken", "marks"),
    [
        ([*RUNNING, to("held", reason="tired")], "+"),
        ([*RUNNING, to("held", reason="x-acme.bored")], "+"),
        ([*RUNNING, to("held", reason="bored")], "-"),
        ([*RUNNING, to("held", reason="x-.bored")], "-"),
        ([*RUNNING, to("held", reason="\ud800")], "-"),
        ([*RUNNING, to("held", reason=5)], ""),
        ([*RUNNING, to("held")], ""),
        ([*RUNNING, to("asked", reason="bored")], ""),
        ([to("held", reason="bored")], ""),
        ([*RUNNING, to("done", reason="bored")], "-"),
        ([*RUNNING, to("open", reason="x-acme.bored")], "+"),
    ],
    ids=ascii,
)
def test_a_reason_is_one_of_its_edge(tmp_path: Path, spoken: list[tuple[str, Any]], marks: str) -> None:
    assert verdicts(judged(said(*spoken), job(tmp_path, ALLOWED))) == marks


def test_a_reason_of_another_edge_fails_and_one_where_none_is_listed_warns(tmp_path: Path) -> None:
    (finding,) = against(judged(said(*RUNNING, to("held", reason="bored")), job(tmp_path, ALLOWED)))
    assert finding.message == "the reason bored is not permitted from open to held; permitted: tired, lost"
    assert (finding.level, finding.expected, finding.actual) == (None, ("tired", "lost"), "bored")
    (finding,) = against(judged(said(*RUNNING, to("done", reason="bored")), job(tmp_path, ALLOWED)))
    assert finding.message == "the reason bored is not permitted from open to done, which lists no reason"
    assert (finding.level, finding.pointer) == (Level.SHOULD, "/reason")


def test_a_report_is_not_asked_for_the_right_reason(tmp_path: Path) -> None:
    pack = job(tmp_path, ALLOWED, lifecycles=[{"file": "job.json", "moves": ROWS}])
    assert verdicts(judged(said(ASK, say("go", "open"), say("note", "held", reason="bored")), pack)) == ""


# --- sequence --------------------------------------------------------------------------------------

SESSIONS = [{"on": ["ask"], "key": "/id"}]
SEQUENCE = {
    "kind": "sequence",
    "start": 1,
    "fields": [{"on": ["go"], "at": "/n"}, {"on": ["end"], "at": "/n", "report": True}],
}


def n(number: Any, kind: str = "go", **members: Any) -> tuple[str, Any]:
    return "left", {"type": kind, "n": number, **members}


def counted(root: Path, check: dict[str, Any] = SEQUENCE) -> Pack:
    return toy(root, row(check), sessions=SESSIONS)


@pytest.mark.parametrize(
    ("spoken", "marks"),
    [
        ([ASK, n(1), n(2), n(3)], "+++"),
        ([ASK, n(1), n(2.0), n(3)], "+++"),
        ([ASK, n(0)], "-"),
        ([ASK, n(2), n(3)], "-+"),
        ([ASK, n(1), n(3), n(4)], "+-+"),
        ([ASK, n(1), n(1), n(2)], "+-+"),
        ([ASK, n(1), n(2), n(1), n(3)], "++-+"),
        ([ASK, n(1), n(1, "end"), n(2, "end"), n(3), n(1, "end")], "+++++"),
        ([ASK, n(1), n(3, "end")], "+-"),
        ([ASK, n(1), n(0, "end")], "+-"),
        ([n(7), n(8), n(10)], "++-"),
        ([n(3, "end"), n(11), n(12)], "++"),
        ([ASK, n(1), ASK, n(1)], "++"),
        ([ASK, n(1), n("two"), n(3), n(4)], "+++"),
        ([ASK, n(1), n(2**53), n(3), n(4)], "+++"),
        ([ASK, n(1), ("left", {"type": "go"}), n(3)], "++"),
        ([ASK, n(1), ("left", {"type": "end"}), n(2)], "++"),
    ],
    ids=str,
)
def test_numbers_grow_by_one(tmp_path: Path, spoken: list[tuple[str, Any]], marks: str) -> None:
    assert verdicts(judged(said(*spoken), counted(tmp_path))) == marks


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (4, "the number is 4, and the one after 2 is 3; numbers in between are missing"),
        (2, "the number is 2, and the one after 2 is 3; it was used before"),
    ],
)
def test_a_wrong_number_says_what_is_next(tmp_path: Path, number: int, message: str) -> None:
    (finding,) = against(judged(said(ASK, n(1), n(2), n(number)), counted(tmp_path)))
    assert (finding.message, finding.pointer) == (message, "/n")
    assert (finding.expected, finding.actual) == ((3,), number)


@pytest.mark.parametrize("unread", ["malformed", "no kind"])
def test_what_could_not_be_read_may_have_had_a_number(tmp_path: Path, unread: str) -> None:
    events = said(ASK, n(1), ("left", {"type": "gogo", "n": 2}), n(3), n(4))
    if unread == "malformed":
        events[2] = Malformed(3, "left", b"{", UNREADABLE)
    assert verdicts(judged([Opened(0), *events], counted(tmp_path))).count("-") == (unread == "no kind")


def test_each_session_has_its_own_numbers(tmp_path: Path) -> None:
    other = ("right", {"type": "ask", "id": "k"})
    assert verdicts(judged(said(ASK, n(1), n(2), other, n(1)), counted(tmp_path))) == "+++"


# A resumption is an answer, and the number after which it goes on stands in what it answers.
RPC = [
    {"name": "open.result", "from": ["left"], "when": {"method": "open", "part": "result"}},
    {"name": "open", "from": ["right"], "when": {"method": "open", "part": "request"}},
    {"name": "resume", "from": ["right"], "when": {"method": "resume", "part": "request"}},
    {"name": "resume.result", "from": ["left"], "when": {"method": "resume", "part": "result"}},
    {"name": "go", "from": ["left"], "when": {"method": "go", "part": "notification"}},
]


@pytest.fixture
def resumable(tmp_path: Path) -> Pack:
    return toy(
        tmp_path,
        row(SEQUENCE | {"fields": [{"on": ["go"], "at": "/params/n"}]}),
        envelope="json-rpc",
        kinds=[kind | {"schema": "toy.schema.json"} for kind in RPC],
        sessions=[
            {"on": ["open.result"], "key": "/result/id"},
            {
                "on": ["resume.result"],
                "key": "/result/id",
                "after": "/params/after",
                "replay_to": "/result/to",
            },
        ],
    )


def rpc(**members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", **members}


def opened() -> list[tuple[str, Any]]:
    return [("right", rpc(id=1, method="open")), ("left", rpc(id=1, result={"id": "s"}))]


def resumed(after: Any, to: Any) -> list[tuple[str, Any]]:
    request = rpc(id=2, method="resume", params={"after": after})
    return [("right", request), ("left", rpc(id=2, result={"id": "s", "to": to}))]


def goes(number: int, text: Any = "") -> tuple[str, Any]:
    return "left", rpc(method="go", params={"n": number, "text": text})


@pytest.mark.parametrize(
    ("spoken", "marks"),
    [
        ([*opened(), goes(1), goes(2), *resumed(1, 2), goes(2), goes(3)], "++++"),
        ([*opened(), goes(1), goes(2), *resumed(0, 2), goes(1), goes(2), goes(3)], "+++++"),
        ([*opened(), goes(1), goes(2, 1), *resumed(1, 2), goes(2, 1.0)], "+++"),
        ([*opened(), goes(1), goes(2, 1), *resumed(1, 2), goes(2, True)], "++-"),
        ([*opened(), goes(1), goes(2), *resumed(1, 2), goes(2, "other")], "++-"),
        ([*opened(), goes(1), goes(2), goes(3), *resumed(1, 3), goes(3)], "+++-"),
        ([*opened(), goes(1), *resumed("one", 1), goes(2)], "++"),
        ([*resumed(7, 9), goes(8), goes(9), goes(10)], "+++"),
        ([*resumed(7, 9), goes(9)], "-"),
        ([*opened(), goes(1), *resumed(1, None), goes(2, "new")], "++"),
    ],
    ids=str,
)
def test_a_resumed_session_is_replayed_word_for_word(
    resumable: Pack, spoken: list[tuple[str, Any]], marks: str
) -> None:
    assert verdicts(judged(said(*spoken), resumable)) == marks


def test_a_resumption_whose_request_is_not_known_says_nothing_of_numbers(resumable: Pack) -> None:
    answer = ("left", rpc(id=2, result={"id": "s", "to": 9}))
    assert verdicts(judged(said(answer), resumable, kind="resume.result")) == ""


# --- monotonic -------------------------------------------------------------------------------------

SERIES = {"on": ["go", "note"], "at": "/n"}
NOON, AFTER, SAME = "2024-05-01T12:00:00Z", "2024-05-01T12:00:00.5Z", "2024-05-01T14:00:00.5+02:00"


@pytest.mark.parametrize(
    ("series", "spoken", "marks"),
    [
        (SERIES, [n(1), n(1), n(5, "note"), n(7)], "+++"),
        (SERIES, [n(1)], ""),
        (SERIES, [n(5), n(4), n(4), n(6)], "-++"),
        (SERIES, [n(5), n(900), n(6), n(7)], "+-+"),
        (SERIES, [n(5), n("6"), n(2**53), n(6)], "+"),
        (SERIES, [("left", {"type": "end"})], ""),
        (SERIES, [ASK, n(5), ("right", {"type": "ask", "id": "k"}), n(1), n(2)], "+"),
        (SERIES | {"strict": True}, [n(0), n(1), n(1), n(3)], "+-+"),
        (SERIES | {"per": "/of"}, [n(5, of=1), n(1, of=2), n(4, of=1), n(2, of=2)], "-+"),
        (SERIES | {"per": ["/of", "/to"]}, [n(5, of=1, to=1), n(4, of=1, to=2), n(3, of=1, to=1)], "-"),
        (SERIES | {"per": ["/of", "/to"]}, [n(5, of=1), n(4, of=1), n(3, of=1, to=None), n(2)], ""),
        (SERIES | {"as": ["low", "high"]}, [n("low"), n("high"), n("odd"), n(3), n("low")], "+-"),
        (SERIES | {"as": "time"}, [n(NOON), n(AFTER), n(SAME), n(NOON)], "++-"),
        (SERIES | {"order": "/o"}, [n(5, o=1), n(6, o=2), n(5, o=1), n(7, o=3)], "++"),
        (SERIES | {"order": "/o"}, [n(5, o=1), n(4, o=2), n(6)], "-+"),
    ],
    ids=str,
)
def test_a_value_never_goes_back(
    tmp_path: Path, series: dict[str, Any], spoken: list[tuple[str, Any]], marks: str
) -> None:
    pack = counted(tmp_path, {"kind": "monotonic", "series": [series]})
    assert verdicts(judged(said(*spoken), pack)) == marks


def test_a_value_that_went_back_is_shown_with_the_one_before(tmp_path: Path) -> None:
    pack = counted(tmp_path, {"kind": "monotonic", "series": [SERIES]})
    (finding,) = against(judged(said(n(5), n(4)), pack))
    assert finding.message == "the value is 4, and the message before had 5"
    assert (finding.pointer, finding.expected, finding.actual) == ("/n", (5,), 4)


def test_a_series_that_went_back_is_named(tmp_path: Path) -> None:
    pack = counted(tmp_path, {"kind": "monotonic", "series": [SERIES | {"per": ["/of", "/to"]}]})
    (finding,) = against(judged(said(n(5, of="a", to=1), n(9, of="b", to=1), n(4, of="a", to=1)), pack))
    assert finding.message == 'the value is 4, and the message before of "a", 1 had 5'


# --- ordered ---------------------------------------------------------------------------------------

ORDERED = {"kind": "ordered", "on": ["go"], "at": ["/a", "/b", "/c"], "as": "time"}
LISTED = {"kind": "ordered", "on": ["go"], "each": "/list", "at": ["/t"]}


def go(**members: Any) -> tuple[str, Any]:
    return "left", {"type": "go", **members}


@pytest.mark.parametrize(
    ("check", "spoken", "marks"),
    [
        (ORDERED, go(a=NOON, b=AFTER, c=SAME), "+"),
        (ORDERED, go(a=AFTER, b=NOON, c=SAME), "-"),
        (ORDERED, go(a=AFTER, c=NOON), "-"),
        (ORDERED, go(a=AFTER, b="soon", c=AFTER), "+"),
        (ORDERED, go(a=AFTER), ""),
        (ORDERED, ("left", {"type": "note", "a": AFTER, "b": NOON}), ""),
        (LISTED, go(list=[{"t": 1}, {"t": 1}, {}, {"t": 2}]), "+"),
        (LISTED, go(list=[{"t": 1}, {"t": 3}, {"t": 2}, {"t": 1}]), "--"),
        (LISTED, go(list=[{"t": 1}]), ""),
        (LISTED, go(list="none"), ""),
    ],
    ids=str,
)
def test_values_of_a_message_do_not_go_back(
    tmp_path: Path, check: dict[str, Any], spoken: tuple[str, Any], marks: str
) -> None:
    assert verdicts(judged(said(spoken), toy(tmp_path, row(check)))) == marks


def test_a_value_before_the_one_before_it_is_shown_with_both(tmp_path: Path) -> None:
    pack = toy(tmp_path, row(LISTED))
    (finding,) = against(judged(said(go(list=[{"t": 3}, {"t": 2}])), pack))
    assert finding.message == "2 is less than 3, which stands at /list/0/t"
    assert (finding.pointer, finding.expected, finding.actual) == ("/list/1/t", (3,), 2)


# --- unique ----------------------------------------------------------------------------------------

UNIQUE = {"kind": "unique", "on": ["go", "note"], "field": "/n", "except": ["/status"]}


@pytest.mark.parametrize(
    ("spoken", "marks"),
    [
        ([n("a"), n("b"), n("c", "note")], "++"),
        ([n("a"), n("a", of=1)], "-"),
        ([n("a"), n("a")], "+"),
        ([n("a", status="new"), n("a", status="old"), n("a")], "++"),
        ([n("a"), n("a", "note")], "-"),
        ([n(1), n(1, of=1), ("left", {"type": "end", "n": "a"}), n("a")], ""),
        ([ASK, n("a"), ("right", {"type": "ask", "id": "k"}), n("a", of=1)], "+"),
    ],
    ids=str,
)
def test_a_value_is_used_once(tmp_path: Path, spoken: list[tuple[str, Any]], marks: str) -> None:
    assert verdicts(judged(said(*spoken), counted(tmp_path, UNIQUE))) == marks


def test_a_value_used_again_is_shown_with_its_first_use(tmp_path: Path) -> None:
    (finding,) = against(judged(said(n("a"), n("a", "note")), counted(tmp_path, UNIQUE)))
    assert finding.message == '"a" was used for another message: go, number 1'
    assert (finding.pointer, finding.actual) == ("/n", "a")


# --- direction -------------------------------------------------------------------------------------

DIRECTION = {"kind": "direction"}


@pytest.mark.parametrize(
    ("spoken", "marks"),
    [
        ([ASK, BEGIN, ("left", {"type": "note"}), ("right", {"type": "note"})], "++++"),
        ([("left", ASK[1])], "-"),
        ([("middle", BEGIN[1])], "-"),
        ([("", BEGIN[1])], ""),
    ],
    ids=str,
)
def test_each_kind_is_for_some_to_send(tmp_path: Path, spoken: list[tuple[str, Any]], marks: str) -> None:
    assert verdicts(judged(said(*spoken), toy(tmp_path, row(DIRECTION)))) == marks


def test_who_should_have_sent_it_is_named(tmp_path: Path) -> None:
    (finding,) = against(judged(said(("middle", {"type": "note"})), toy(tmp_path, row(DIRECTION))))
    assert finding.message == "note is for left or right to send, and middle sent it"
    assert (finding.party, finding.expected, finding.actual) == ("middle", ("left", "right"), "middle")


def test_a_document_may_be_held_by_anyone(tmp_path: Path) -> None:
    kind = {"name": "paper", "from": ["left"], "document": True, "when": {"schema": {"required": ["paper"]}}}
    pack = toy(tmp_path, row(DIRECTION), kinds=[kind | {"schema": "toy.schema.json"}])
    assert verdicts(judged(said(("right", {"paper": 1})), pack)) == ""


# --- requires --------------------------------------------------------------------------------------

REQUIRES = {
    "kind": "requires",
    "on": ["go"],
    "at": "/body",
    "when": {"properties": {"bad": {"const": True}}, "required": ["bad"]},
    "then": {"required": ["why"], "properties": {"why": {"minLength": 2}}},
}


@pytest.mark.parametrize(
    ("body", "marks"),
    [
        ({"bad": True, "why": "so"}, "+"),
        ({"bad": True}, "-"),
        ({"bad": True, "why": "s"}, "-"),
        ({"bad": False}, ""),
        ({}, ""),
        (None, ""),
    ],
    ids=str,
)
def test_where_one_thing_holds_so_does_another(tmp_path: Path, body: Any, marks: str) -> None:
    spoken = ("left", {"type": "go", "body": body})
    assert verdicts(judged(said(spoken), toy(tmp_path, row(REQUIRES)))) == marks


def test_what_is_missing_is_told_as_by_a_schema(tmp_path: Path) -> None:
    pack = toy(tmp_path, row(REQUIRES))
    (finding,) = against(judged(said(("left", {"type": "go", "body": {"bad": True, "why": ""}})), pack))
    assert (finding.pointer, finding.expected, finding.actual) == ("/body/why", (2,), "")
    assert finding.message == 'the string "" is shorter than 2 characters'


def test_what_is_required_may_be_said_in_words(tmp_path: Path) -> None:
    pack = toy(tmp_path, row(REQUIRES | {"said": "bad without a reason"}))
    (finding,) = against(judged(said(("left", {"type": "go", "body": {"bad": True}})), pack))
    assert finding.message == 'bad without a reason: the member "why" is missing'


def test_a_condition_takes_a_lone_surrogate(tmp_path: Path) -> None:
    spoken = ("left", '{"type":"go","body":{"bad":true,"why":"\\ud800"}}')
    found = judged(said(spoken), toy(tmp_path, row(REQUIRES)))
    assert broken(found) == {ID, "WIRE-SURROGATE"}


def test_something_may_be_required_of_every_message(tmp_path: Path) -> None:
    pack = toy(tmp_path, row({"kind": "requires", "on": ["*"], "then": {"type": "object"}}))
    assert (
        verdicts(judged(said(("left", {"type": "?"}), ("left", []), ("left", "null")), pack)).count("-") == 3
    )
    assert verdicts(judged(said(BEGIN), pack)) == "+"


def test_a_requirement_may_be_of_those_that_left_a_state(tmp_path: Path) -> None:
    check = {
        "kind": "requires",
        "on": ["go", "end"],
        "lifecycle": "job",
        "from": ["held"],
        "then": {"required": ["why"]},
    }
    held = [*RUNNING, to("held")]
    assert verdicts(judged(said(*held, to("open")), job(tmp_path, check))) == "-"
    assert verdicts(judged(said(*held, to("open", why=1)), job(tmp_path, check))) == "+"
    assert verdicts(judged(said(*held, END), job(tmp_path, check))) == ""
    assert verdicts(judged(said(*RUNNING, to("done")), job(tmp_path, check))) == ""


# --- matches ---------------------------------------------------------------------------------------

MATCHES = {"kind": "matches", "on": ["go"], "field": "/id", "with": ["ask"], "their": "/id"}
RELATED = MATCHES | {"field": "/task", "their": "/task", "related": ["/id", "/id"]}


def about(name: Any, kind: str = "go", **members: Any) -> tuple[str, Any]:
    return "right" if kind == "ask" else "left", {"type": kind, "id": name, **members}


@pytest.mark.parametrize(
    ("check", "spoken", "marks"),
    [
        (MATCHES, [about("j", "ask"), about("j")], "+"),
        (MATCHES, [about("j", "ask"), about("k", "ask"), about("j"), about("k")], "++"),
        (MATCHES, [about("j", "ask"), about("k")], "-"),
        (MATCHES, [about(1, "ask"), about(True)], ""),
        (MATCHES, [about(1, "ask"), about("k", "ask"), about("1")], "-"),
        (MATCHES, [about("k")], ""),
        (MATCHES, [about("k"), about("j", "ask"), about("k"), about("j")], "+"),
        (MATCHES, [about("j", "ask"), about(None)], ""),
        (RELATED, [about("j", "ask", task="a"), about("j", task="a")], "+"),
        (RELATED, [about("j", "ask", task="a"), about("j", task="b")], "-"),
        (RELATED, [about("j", "ask", task="a"), about("k", task="b")], ""),
    ],
    ids=str,
)
def test_a_field_is_one_that_was_named(
    tmp_path: Path, check: dict[str, Any], spoken: list[tuple[str, Any]], marks: str
) -> None:
    assert verdicts(judged(said(*spoken), toy(tmp_path, row(check)))) == marks


def test_what_was_named_is_shown(tmp_path: Path) -> None:
    spoken = [*(about(name, "ask") for name in "abcdef"), about("z")]
    (finding,) = against(judged(said(*spoken), toy(tmp_path, row(MATCHES))))
    assert finding.message == '"z" is none that ask named ("b", "c", "d", "e", "f")'
    assert (finding.pointer, finding.expected, finding.actual) == ("/id", tuple("bcdef"), "z")


# --- integer-bounds --------------------------------------------------------------------------------

NUMBERS = {
    "$schema": DIALECT,
    "$defs": {"u": {"type": "integer", "maximum": U53[1]}, "i": {"type": "integer"}},
    "properties": {"u": {"$ref": "#/$defs/u"}, "i": {"$ref": "#/$defs/i"}, "free": True},
}
BOUNDS = {"kind": "integer-bounds", "u53": ["toy.schema.json#/$defs/u"], "i53": ["toy.schema.json#/$defs/i"]}


@pytest.mark.parametrize(
    ("members", "marks"),
    [
        ('"u": 0, "i": 0', "+"),
        ('"u": 9007199254740991, "i": -9007199254740991', "+"),
        ('"u": 1.0, "i": 1e3', "+"),
        ('"u": 9007199254740991.0', "+"),
        ('"u": 9007199254740992', "-"),
        ('"u": 9007199254740991.4', "-"),
        ('"u": 9007199254740993.0', "-"),
        ('"u": -1', "-"),
        ('"u": 1E400', "-"),
        ('"i": -9007199254740992, "u": 0.5', "--"),
        ('"u": "1"', ""),
        ('"u": true', ""),
        ('"free": 1E400', ""),
    ],
)
def test_bounds_are_judged_on_the_token(tmp_path: Path, members: str, marks: str) -> None:
    pack = toy(tmp_path, row(BOUNDS, "TOY-INT-001"), schemas={"toy.schema.json": NUMBERS})
    found = judged(said(("left", f'{{"type": "go", {members}}}')), pack)
    own = [finding for finding in found if finding.requirement == "TOY-INT-001"]
    assert "".join("+" if finding.ok else "-" for finding in own) == marks
    # What the schema sees of such a number too is not told again; a wrong type is its own matter.
    assert broken(found) - {"TOY-INT-001"} == (
        {"TOY-MSG-001"} if marks == "" and "u" in members[:3] else set()
    )


def test_a_number_out_of_bounds_is_shown_as_it_stands(tmp_path: Path) -> None:
    pack = toy(tmp_path, row(BOUNDS), schemas={"toy.schema.json": NUMBERS})
    (finding,) = against(judged(said(("left", '{"type":"go","i":9007199254740993.0}')), pack))
    assert finding.message == "the number 9007199254740993.0 is greater than 9007199254740991"
    assert (finding.pointer, finding.expected) == ("/i", I53)


# --- json-text -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"type":"go","a":1,"a":2}', "WIRE-KEYS"),
        ('{"type":"go","a":"\\ud800"}', "WIRE-SURROGATE"),
    ],
)
def test_a_fault_of_the_text_breaks_the_requirement_of_its_code(tmp_path: Path, text: str, code: str) -> None:
    found = judged(said(("left", text)), toy(tmp_path, row(DIRECTION)))
    assert broken(found) == {code}
    assert "WIRE-JSON" in shown_to_hold(found)


def test_bytes_that_are_no_message_speak_for_nothing(tmp_path: Path) -> None:
    event = Malformed(1, "left", b"{", Fault("WIRE-JSON", "no JSON", 1, 1, 2), line=7, column=5)
    (finding,) = judged([Opened(0), event, Closed(2)], toy(tmp_path, row(DIRECTION)))
    assert (finding.requirement, finding.party, finding.line, finding.column) == ("WIRE-JSON", "left", 7, 6)


@pytest.mark.parametrize(("fatal", "level"), [(False, Level.SHOULD), (True, None)])
def test_a_carriage_return_is_tolerated_with_a_warning(
    tmp_path: Path, fatal: bool, level: Level | None
) -> None:
    events = [Malformed(1, "left", b"{", Fault("WIRE-LINE", "a carriage return", fatal=fatal))]
    (finding,) = judged(events, toy(tmp_path, row(DIRECTION)))
    assert finding.level is level


def test_a_text_without_a_speaker_is_of_whoever_may_say_it(tmp_path: Path) -> None:
    found = judged(said(("", '{"type":"go","a":1,"a":2}')), toy(tmp_path, row(DIRECTION)))
    assert {finding.party for finding in found} == {"left"}


# --- the table of checks ---------------------------------------------------------------------------


def test_a_kind_of_check_that_nobody_knows_is_the_packs_fault(tmp_path: Path) -> None:
    with pytest.raises(BadPack, match="TOY-MSG-001 has the unknown kind of check 'magic'"):
        Monitor(toy(tmp_path, row({"kind": "magic"})))


@pytest.mark.parametrize("function", ["nowhere.Check", "awp.Nothing", "awp"])
def test_code_that_cannot_be_had_is_the_packs_fault(tmp_path: Path, function: str) -> None:
    with pytest.raises(BadPack, match=r"is judged by .* which cannot be had"):
        Monitor(toy(tmp_path, row({"kind": "code", "function": function})))


def test_a_scenario_is_nothing_that_a_stream_shows(tmp_path: Path) -> None:
    assert verdicts(judged(said(BEGIN), toy(tmp_path, row({"kind": "scenario"})))) == ""


def test_every_check_is_quiet_about_what_is_no_message() -> None:
    """Opened, Closed and what could not be read are shown to all checks, and most have nothing to say."""
    events: list[Event] = [Opened(1), Malformed(2, "", b"{", UNREADABLE), Closed(3)]
    known = packs.find_all()
    for pack in known:
        assert {finding.requirement for finding in judged(events, pack)} == {"WIRE-JSON"}
    used = {spec["kind"] for pack in known for one in pack.requirements.values() for spec in one.checks}
    assert used == {*CHECKS, "schema", "scenario"}


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (None, False, False),
        ({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"b": 1}, False),
        ([1], [1, 2], False),
        ([True], [1], False),
        ("1", 1, False),
        ("a", "a", True),
    ],
    ids=str,
)
def test_equality_is_that_of_json(one: Any, other: Any, equal: bool) -> None:
    assert same(one, other) is equal
    assert same(other, one) is equal


def test_deep_values_are_compared_too() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    assert same(deep, deep)
    assert not same(deep, [deep])


# --- calls ------------------------------------------------------------------------------------------


def asks(number: Any, party: str = "agent", **params: Any) -> tuple[str, Any]:
    return party, {"jsonrpc": "2.0", "id": number, "method": "action.submit", "params": params}


def pings(number: Any, party: str = "agent") -> tuple[str, Any]:
    return party, {"jsonrpc": "2.0", "id": number, "method": "ping", "params": {"origin_ns": 1}}


def answers(number: Any, party: str = "world", **result: Any) -> tuple[str, Any]:
    return party, {"jsonrpc": "2.0", "id": number, "result": result}


TICKING = ("world", {"jsonrpc": "2.0", "method": "session.telemetry", "params": {"window_ms": 1}})


def made(spec: dict[str, Any], events: list[Event], *, complete: bool = True) -> str:
    """What one check says of events of the protocol that has calls: + and -, and whose it is."""
    check, monitor = CHECKS[spec["kind"]](AWP.requirements["AWP-MSG-001"], spec, AWP), Monitor(AWP)
    found = [finding for event in events for finding in check.see(monitor._observe(event)[0])]
    found += check.end(complete)
    return " ".join(f"{one.party[0]}{'+' if one.ok else '-'}" for one in found)


ANSWERED = {"kind": "answered", "on": ["action.submit"], "within": 2}


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        ([asks(1), answers(1)], "w+"),
        ([asks(1), ("world", {"jsonrpc": "2.0", "id": 1, "error": {"code": 3001, "message": "x"}})], "w+"),
        ([asks(1)], ""),  # it may be on its way
        ([asks(1), TICKING, pings(2)], ""),
        ([asks(1), pings(2), answers(2)], "w-"),
        ([pings(2), asks(1), answers(2)], ""),  # an earlier request tells nothing
        ([asks(1), pings(2), answers(2), answers(1)], "w+"),
        ([asks(1), answers(9), pings(2), answers(2)], ""),  # which may have been meant for it
        ([asks(1), ("agent", {"jsonrpc": "2.0", "method": "x"}), pings(2), answers(2)], "w-"),
        ([asks(1), asks(2), answers(2)], "w+ w-"),
    ],
    ids=str,
)
def test_a_request_is_answered(spoken: list[tuple[str, Any]], expected: str) -> None:
    assert made(ANSWERED, said(*spoken)) == expected
    assert "-" not in made(ANSWERED, said(*spoken), complete=False)


@pytest.mark.parametrize(("seconds", "expected"), [(1.5, ""), (2.0, ""), (2.1, "w-")])
def test_an_answer_has_its_time(seconds: float, expected: str) -> None:
    asked, told, end = said(asks(1), TICKING)
    assert made(ANSWERED, [asked._replace(time=1.0), told._replace(time=1.0 + seconds), end]) == expected


def test_an_answer_on_another_connection_is_none() -> None:
    first, *_ = said(asks(1))
    other = said(pings(2), answers(2), connection="other")
    assert made(ANSWERED, [first, *(one._replace(seq=one.seq + 5) for one in other)]) == ""


def test_what_cannot_be_read_may_have_been_an_answer() -> None:
    asked, pinged, answered, end = said(asks(1), pings(2), answers(2))
    for connection, expected in (("main", ""), ("other", "w-")):
        unread = Malformed(9, "world", b"{", UNREADABLE, connection)
        assert made(ANSWERED, [asked, unread, pinged, answered, end]) == expected


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        ([pings(1), pings(2), pings("1")], "a+ a+ a+"),
        ([pings(1), answers(1), pings(1)], "a+ a-"),
        ([pings(1), pings(1.0)], "a+ a-"),
        ([pings(1), pings(1, "world")], "a+ w+"),
        ([TICKING, answers(7)], ""),
        ([pings(1, ""), pings(1, "")], ""),
    ],
    ids=str,
)
def test_an_id_is_for_one_request(spoken: list[tuple[str, Any]], expected: str) -> None:
    assert made({"kind": "unique-ids"}, said(*spoken)) == expected
    again = said(pings(1), connection="other")
    assert made({"kind": "unique-ids"}, [*said(pings(1)), *again]) == "a+ a+"


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"a": 1, "b": 1, "c": 5}, "w+"),
        ({"a": 1, "b": 0, "c": 5}, "w-"),
        ({"a": 5, "c": 1}, "w-"),
        ({"a": 5, "b": 3, "c": 1}, "w- w-"),
        ({"a": 5, "b": "x"}, ""),
        ({}, ""),
    ],
    ids=str,
)
def test_numbers_of_a_message_do_not_fall(result: Any, expected: str) -> None:
    spec = {"kind": "ordered", "on": ["ping.result"], "at": ["/result/a", "/result/b", "/result/c"]}
    assert made(spec, said(pings(1), answers(1, **result))) == expected


@pytest.mark.parametrize(
    ("part", "pointers"),
    [
        ({"n": 2**53 - 1, "m": [-(2**53 - 1), True, 1e300, "x", None]}, []),
        ({"n": 2**53}, ["/params/params/n"]),
        ({"n": {"a/b": [0, -(2**53)]}}, ["/params/params/n/a~1b/1"]),
        (2**60, ["/params/params"]),
    ],
    ids=str,
)
def test_integers_where_no_schema_is(part: Any, pointers: list[str]) -> None:
    spec = {"kind": "integer-bounds", "free": [{"on": ["action.submit"], "at": "/params/params"}]}
    check, monitor = CHECKS["integer-bounds"](AWP.requirements["AWP-MSG-001"], spec, AWP), Monitor(AWP)
    (event, _) = said(asks(1, params=part))
    assert [one.pointer for one in check.see(monitor._observe(event)[0])] == pointers
    (event, _) = said(pings(1))
    assert list(check.see(monitor._observe(event)[0])) == []


def test_series_are_kept_apart_by_value_and_not_by_spelling(tmp_path: Path) -> None:
    series = [{"on": ["note"], "at": "/n", "per": "/of"}]
    pack = toy(tmp_path, row({"kind": "monotonic", "series": series}))

    def note(of: Any, number: int) -> tuple[str, Any]:
        return "left", {"type": "note", "of": of, "n": number}

    assert verdicts(judged(said(note(1, 5), note(1.0, 4)), pack)) == "-"
    assert verdicts(judged(said(note(1, 5), note("1", 4)), pack)) == ""
