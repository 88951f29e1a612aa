"""Scenario files: what is read, and for every kind of mistake where it stands and what is said."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from conformance import packs, scenarios, yamltext
from conformance.errors import BadScenario, NoSuchScenario
from conformance.scenarios import Scenario, Step, load, of_pack, read, seconds, select
from conformance.waiting import lasts

AWP = packs.find("awp@0.1-draft.7")
VA = packs.find("va-agent-protocol")

HEAD = "title: x\nrole: agent\ncovers: [AWP-MSG-001]\nsteps:\n"
"""Steps then begin on line 5."""


def of(steps: str) -> Scenario:
    return read(HEAD + steps, "x.yaml", AWP)


def mistake(text: str, pack: packs.Pack = AWP, folder: Path | None = None) -> str:
    with pytest.raises(BadScenario) as caught:
        read(text, "x.yaml", pack, folder)
    return str(caught.value)


# ── YAML ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # Strings, whatever YAML 1.1 makes of them.
        *((text, text) for text in ("yes", "No", "on", "OFF", "y", "n", "12:30:45", "2026-04-01")),
        *((text, text) for text in ("2026-04-01T00:00:00Z", "1_000", "0b101", "1e", "+", ".", "=", "1.2.3")),
        *((text, text) for text in ("5 s", "nulls", "truex", "0o8", "0xg", "--1", "190:20:30")),
        # The core schema of YAML 1.2.
        ("true", True), ("True", True), ("FALSE", False),
        ("null", None), ("~", None), ("", None), ("NULL", None),
        ("0", 0), ("-7", -7), ("+7", 7), ("010", 10), ("089", 89), ("0o17", 15), ("0x1F", 31),
        ("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("-1.5E-1", -0.15),
        ("12345678901234567890", 12345678901234567890),
        ("9007199254740993.0", Decimal("9007199254740993.0")), ("1e400", Decimal("1e400")),
        # Quoted is a string; so is what is tagged as one.
        ("'1'", "1"), ('"true"', "true"), ("!!str 1", "1"), ('"\\u00e9"', "é"), ("|\n  a\n  b\n", "a\nb\n"),
        ("!!int '3'", 3),
        ("[1, {a: b}]", [1, {"a": "b"}]), ("{1: x, true: y}", {"1": "x", "true": "y"}),
    ],
)  # fmt: skip
def test_scalar(text: str, value: Any) -> None:
    got = yamltext.parse(f"a: {text}", "x")[0]["a"]
    assert got == value
    assert type(got) is type(value)


def test_aliases_are_written_out() -> None:
    value, positions = yamltext.parse("a: &x {b: 1}\nc: [*x, *x]\n", "x")
    assert value == {"a": {"b": 1}, "c": [{"b": 1}, {"b": 1}]}
    assert positions["/c/1/b"] == (1, 11)


def test_positions() -> None:
    _, positions = yamltext.parse("a:\n  - b/c: 1\n    d~: [x,\n      y]\r\n", "x")
    assert positions == {
        "": (1, 1),
        "/a": (2, 3),
        "/a/0": (2, 5),
        "/a/0/b~1c": (2, 10),
        "/a/0/d~0": (3, 9),
        "/a/0/d~0/0": (3, 10),
        "/a/0/d~0/1": (4, 7),
    }


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("", "1:1", "the file is empty"),
        ("# nothing\n", "1:1", "the file is empty"),
        ("a: 1\nb: 2\na: 3\n", "3:1", "the member 'a' is written twice"),
        ("a:\n  b: {c: 1, 'c': 2}\n", "2:13", "the member 'c' is written twice"),
        ("a: [1,\n", "2:1", "stream end"),
        ("a: b: c\n", "1:5", "mapping values are not allowed"),
        ("\ta: 1\n", "1:1", "cannot start any token"),
        ("a: *x\n", "1:4", "undefined alias"),
        ("a: 1\n---\nb: 2\n", "2:1", "another document"),
        ("%YAML 3.0\n--- a\n", "1:1", "incompatible YAML document"),
        ("a: 1\n? [b]\n: c\n", "2:3", "the name of a member is a string"),
        ("a: {<<: {b: 1}}\n", "1:5", "YAML 1.2 has no merge key"),
        ("a: !!timestamp 2026-04-01\n", "1:4", "JSON has no timestamp value"),
        ("a: !!binary aGk=\n", "1:4", "JSON has no binary value"),
        ("a: !!set {b}\n", "1:4", "JSON has no set value"),
        ("a: !!omap [b: 1]\n", "1:4", "JSON has no omap value"),
        (
            "a: !!python/object/apply:os.system [x]\n",
            "1:4",
            "JSON has no python/object/apply:os.system value",
        ),
        ("a: !mine x\n", "1:4", "JSON has no !mine value"),
        ("a: .inf\n", "1:4", "JSON has no infinite value"),
        ("a: -.Inf\n", "1:4", "JSON has no infinite value"),
        ("a: .NaN\n", "1:4", "JSON has no infinite value"),
        ("a: !!int x\n", "1:4", "'x' is no int"),
        ("a: !!float 1e99999999999999999999\n", "1:4", "is no float, or one of too many digits"),
        ("a: 1" + "0" * 5000 + "\n", "1:4", "is no int, or one of too many digits"),
        ('a:\n  - "\\ud800"\n', "2:5", "a string holds a lone surrogate"),
        ("a: b\nc: \x07\n", "2:4", "the character U+0007 may not stand in YAML"),
        ("a: \ud800\n", "1:4", "the character U+D800 may not stand in YAML"),
        ("[" * 2000, "1:1", "nested too deeply"),
        ("a: &x [*x]\n", "1:1", "nested too deeply"),
        ("a: &x {b: *x}\n", "1:1", "nested too deeply"),
    ],
)
def test_no_json(text: str, place: str, said: str) -> None:
    with pytest.raises(BadScenario) as caught:
        yamltext.parse(text, "x.yaml")
    assert str(caught.value).startswith(f"x.yaml:{place}: ")
    assert said in str(caught.value)


def test_a_bomb_is_bounded() -> None:
    """Nine lists of ten aliases each would be a billion values."""
    text = "- &a0 [x]\n" + "".join(f"- &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))
    began = time.monotonic()
    with pytest.raises(BadScenario, match="more than 100000 values, those of aliases included"):
        yamltext.parse(text, "x")
    assert time.monotonic() - began < 10


# ── a scenario ───────────────────────────────────────────────────────────────────────────────────


def test_a_scenario() -> None:
    text = (
        "title: A ping\nrole: agent\ncovers: [AWP-CTL-004, AWP-MSG-001]\nneeds: {a: {b: yes}}\nsteps:\n"
        "- request: ping\n  within: 250 ms\n  proves: [AWP-CTL-001, AWP-CTL-004]\n- wait: 1 s\n"
    )
    made = read(text, "some/where/a-ping.conformance.yaml", AWP)
    assert (made.name, made.title, made.role) == ("a-ping", "A ping", "agent")
    assert made.path == "some/where/a-ping.conformance.yaml"
    assert made.needs == {"a": {"b": "yes"}}
    assert made.requirements == ("AWP-CTL-004", "AWP-MSG-001", "AWP-CTL-001")
    request, wait = made.steps
    assert (request.verb, request.line, request.patience) == ("request", 6, 0.25)
    assert request.proves == ("AWP-CTL-001", "AWP-CTL-004")
    assert (wait.verb, wait.line, wait.patience, wait.proves) == ("wait", 9, 5.0, ())


@pytest.mark.parametrize(
    ("written", "value"), [("500 ms", 0.5), ("5 s", 5.0), ("2.5s", 2.5), ("0.5ms", 0.0005), ("0 s", 0.0)]
)
def test_seconds(written: str, value: float) -> None:
    assert seconds(written) == pytest.approx(value)


def test_how_long_a_scenario_lasts() -> None:
    """Its pauses, one after the other; five seconds for one of which somebody else says how long it is."""
    assert lasts(of("- wait: 300 ms\n- silence: 2 s\n- never: ping\n  for: 500 ms\n")) == 2.8
    assert lasts(of("- set: {window: 4000}\n- wait: 1 s\n- wait: '${window} ms'\n")) == 6.0


def test_a_deadline_is_a_patience() -> None:
    assert Step("expect", {"expect": "x", "deadline": "3 s"}).patience == 3.0


def test_repeat_is_written_out() -> None:
    made = of(
        "- repeat:\n    times: 3\n    steps:\n    - send: ping\n"
        "    - repeat: {times: 2, steps: [wait: 1 s]}\n"
    )
    assert [step.verb for step in made.steps] == ["send", "wait", "wait"] * 3
    assert [step.line for step in made.steps[:2]] == [8, 9]


def test_repeat_is_bounded() -> None:
    steps = "wait: 1 s"
    for _ in range(4):
        steps = f"repeat: {{times: 10000, steps: [{steps}]}}"
    began = time.monotonic()
    assert mistake(f"{HEAD}- {steps}\n") == (
        "x.yaml:5:1: written out, the scenario has more than 20000 steps"
    )
    assert time.monotonic() - began < 20


USED = "title: u\nrole: agent\ncovers: [AWP-MSG-001]\nsteps:\n\n\n"


def test_use_has_the_steps_of_the_other_file(tmp_path: Path) -> None:
    (tmp_path / "_open.yaml").write_text(USED + "- request: ping\n  save: {x: /result/x}\n", "utf-8")
    (tmp_path / "_both.yaml").write_text(USED + "- use: _open\n- send: ping\n", "utf-8")
    made = read(HEAD + "- wait: 1 s\n- use: _both\n- raw: '${x}'\n", "x.yaml", AWP, tmp_path)
    assert [step.verb for step in made.steps] == ["wait", "request", "send", "raw"]
    # The lines are those of the file that is run, so that a report points into one file.
    assert [step.line for step in made.steps] == [5, 6, 6, 7]


def test_use_cannot_go_round(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(USED + "- use: b\n", "utf-8")
    (tmp_path / "b.yaml").write_text(USED + "- use: a\n", "utf-8")
    (tmp_path / "c.yaml").write_text(USED + "- use: c\n", "utf-8")
    with pytest.raises(BadScenario) as caught:
        load(tmp_path / "a.yaml", AWP)
    assert str(caught.value) == f"{tmp_path / 'b.yaml'}:7:3: the scenario 'a' uses itself"
    with pytest.raises(BadScenario, match=r"c\.yaml:7:3: the scenario 'c' uses itself"):
        load(tmp_path / "c.yaml", AWP)


def test_use_is_bounded(tmp_path: Path) -> None:
    for number in range(20):
        inner = "- wait: 1 s\n" * 2 if number == 0 else f"- use: u{number - 1}\n" * 2
        (tmp_path / f"u{number}.yaml").write_text(USED + inner, "utf-8")
    assert "more than 20000 steps" in mistake(HEAD + "- use: u19\n", AWP, tmp_path)


@pytest.mark.parametrize("name", ["nothing", "../x", "..\\x", ""])
def test_use_of_what_is_not_there(name: str, tmp_path: Path) -> None:
    (tmp_path.parent / "x.yaml").write_text(USED + "- wait: 1 s\n", "utf-8")
    said = f"x.yaml:6:3: there is no scenario {name!r} beside this one"
    assert mistake(f"{HEAD}- wait: 1 s\n- use: '{name}'\n", AWP, tmp_path) == said


def test_what_a_used_file_takes_its_user_takes_too(tmp_path: Path) -> None:
    (tmp_path / "_u.yaml").write_text(USED.replace("steps:", "takes: [arm, leg]\nsteps:") + "- send: ping\n")
    own = HEAD.replace("steps:", "takes: [eye, arm]\nsteps:")
    assert read(f"{own}- use: _u\n", "x.yaml", AWP, tmp_path).takes == ("arm", "eye", "leg")
    assert read(f"{HEAD}- wait: 1 s\n", "x.yaml", AWP, tmp_path).takes == ()


def test_a_mistake_in_a_used_file_stands_there(tmp_path: Path) -> None:
    used = tmp_path / "_u.yaml"
    used.write_text(USED + "- send: pong\n", "utf-8")
    assert mistake(HEAD + "- use: _u\n", AWP, tmp_path).startswith(
        f"{used}:7:9: awp@0.1-draft.7 has no kind 'pong'"
    )
    used.write_bytes(b"\xff")
    assert mistake(HEAD + "- use: _u\n", AWP, tmp_path).startswith(f"{used}:1:1: the file cannot be read: ")


# ── mistakes ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("title: x\nrole: agent\nsteps: [wait: 1 s]\n", "1:1", "covers"),
        ("- a\n", "1:1", "object"),
        (HEAD + "- wait: 1 s\nspeed: 3\n", "6:8", "speed"),
        (HEAD.replace("role: agent", "role: robot") + "- wait: 1 s\n", "2:7", "has the roles world, agent"),
        (HEAD.replace("001]", "001, AWP-X]") + "- wait: 1 s\n", "3:23", "has no requirement 'AWP-X'"),
        (HEAD.replace("AWP-MSG-001", "") + "- wait: 1 s\n", "3:9", ""),
        ("title: x\nrole: agent\ncovers: [AWP-MSG-001]\nsteps: []\n", "4:8", ""),
        ("title: ''\nrole: agent\ncovers: [AWP-MSG-001]\nsteps: [wait: 1 s]\n", "1:8", ""),
    ],
)  # fmt: skip
def test_mistake_of_the_file(text: str, place: str, said: str) -> None:
    told = mistake(text)
    assert told.startswith(f"x.yaml:{place}: ")
    assert said in told


@pytest.mark.parametrize(
    ("steps", "place", "said"),
    [
        # What a step may hold.
        ("- jump: 1 s\n", "5:3", "a step does one of send, raw, "),
        ("- wait\n", "5:3", "this has none of them"),
        ("- repeat: {times: 2, steps: [jump: 1]}\n", "5:30", "this has none of them"),
        ("- repeat: 3\n", "5:11", ""),
        ("- wait: 1\n", "5:9", ""),
        ("- wait: 1 min\n", "5:9", ""),
        ("- wait: 1 s\n  send: ping\n", "5:3", "this has send and wait"),
        ("- request: ping\n  result: {}\n  error: {}\n", "7:10", "result or error, not both"),
        ("- request: ping\n  within: 1 s\n  deadline: 1 s\n", "7:13", "within or deadline, not both"),
        ("- expect: error\n  within: 1 s\n  deadline: 1 s\n", "7:13", "within or deadline, not both"),
        ("- expect: error\n  because: x\n", "5:3", ""),
        ("- never: error\n", "5:3", ""),
        ("- repeat: {times: 0, steps: [wait: 1 s]}\n", "5:19", ""),
        ("- repeat: {times: 2, steps: []}\n", "5:29", ""),
        # Kinds.
        ("- send: pong\n", "5:9", "awp@0.1-draft.7 has no kind 'pong'; it has initialize, "),
        ("- send: '*'\n", "5:9", "has no kind '*'"),
        ("- send: error\n", "5:9", "error answers a request, so it cannot be sent by itself"),
        ("- send: ping.result\n", "5:9", "ping.result answers a request"),
        ("- request: obs.report\n", "5:12", "obs.report is no request, so nothing answers it"),
        ("- request: ping.result\n", "5:12", "ping.result is no request"),
        ("- expect: pong\n", "5:11", "has no kind 'pong'"),
        ("- expect: session.state.error\n", "5:11", "has no kind 'session.state.error'"),
        ("- expect: .error\n", "5:11", "has no kind '.error'"),
        ("- expect: initialize\n", "5:11", "initialize is sent by the agent, not by the world"),
        ("- never: pong\n  for: 1 s\n", "5:10", "has no kind 'pong'"),
        ("- expect: error\n  instead:\n    pong: {}\n", "7:11", "has no kind 'pong'"),
        ("- expect: error\n  instead: {initialize: {}}\n", "6:25", "initialize is sent by the agent"),
        # Requirements.
        ("- expect: error\n  proves: AWP-X-1\n", "6:11", "no requirement 'AWP-X-1'"),
        ("- expect: error\n  proves: [AWP-MSG-001, AWP-X-1]\n", "6:25", "no requirement 'AWP-X-1'"),
        # Names.
        ("- raw: '${x}'\n", "5:8", "nothing before this says what ${x} is"),
        ("- send: ping\n  params: {a: ['${x}']}\n", "6:16", "nothing before this says what ${x} is"),
        ("- request: ping\n  save: {x: /result}\n  result: {a: '${x}'}\n", "7:15", "what ${x} is"),
        ("- given: '${x}'\n  is: true\n  because: x\n", "5:10", "what ${x} is"),
        ("- given: 1\n  is: true\n  because: no ${x}\n", "7:12", "what ${x} is"),
        ("- set: {a: '${b}', b: 1}\n", "5:12", "what ${b} is"),
        ("- raw: '${request./params}'\n", "5:8", "what ${request./params} is"),
        ("- set: {now: 1}\n", "5:14", "the name 'now' is the kit's own"),
        ("- set: {ics.x: 1}\n", "5:16", "the name 'ics.x' is the kit's own"),
        ("- request: ping\n  save: {fresh: /result}\n", "6:17", "the name 'fresh' is the kit's own"),
        # Connections.
        ("- send: ping\n  over: second\n", "6:9", "there is no connection 'second' here; there is main"),
        ("- close: second\n- connect: second\n", "5:10", "there is no connection 'second' here"),
        ("- drop: second\n", "5:9", "there is no connection 'second' here"),
        # Content.
        ("- send: ping\n  payload: {a: 1}\n", "6:12", "have no payload; use params"),
        ("- raw: {base64: '=x'}\n", "5:17", "this is no base64"),
        ("- raw: {base64: abc}\n", "5:17", "this is no base64"),
        ("- expect: error\n  match: {a: {$is: {}, b: 1}}\n", "6:20", "$is stands alone in its object"),
        ("- send: ping\n  params: {$merge: [{}], b: 1}\n", "6:20", "$merge stands alone in its object"),
        ("- send: ping\n  params: {$merge: {}}\n", "6:20", "$merge is a list"),
        ("- set: {a: {$repeat: [x, -1]}}\n", "5:22", "$repeat is a list of a text and how often"),
        ("- set: {a: {$repeat: 3}}\n", "5:22", "$repeat is a list of a text and how often"),
        ("- set: {a: {$repeat: [x, 1], b: 1}}\n", "5:22", "$repeat stands alone in its object"),
    ],
)
def test_mistake_of_a_step(steps: str, place: str, said: str) -> None:
    told = mistake(HEAD + steps)
    assert told.startswith(f"x.yaml:{place}: "), told
    assert said in told
    assert "\n" not in told


@pytest.mark.parametrize(
    "steps",
    [
        "- request: ping\n  save: {x: /result}\n- raw: '${x}'\n",
        "- set: {a: '${fresh}', b: '${a} ${now} ${clock_ns}'}\n- raw: '${b}'\n",
        "- raw: '${ics.anything.at.all}'\n",
        "- connect: second\n- send: ping\n  over: main\n- close: second\n- drop: main\n",
        "- expect: '*'\n- never: '*'\n  for: 1 s\n- expect: action.status.error\n- expect: ping\n",
        "- never: initialize\n  for: 1 s\n  over: main\n",
        "- expect: action.status\n  instead: {action.submit.error: {}, '*': {}}\n",
        "- raw: {base64: aGk=}\n- raw: '{'\n",
        "- send: ping\n  params: {$merge: ['${ics.x}', {a: 1}]}\n",
    ],
)
def test_no_mistake(steps: str) -> None:
    assert of(steps).steps


def test_names_that_take_a_fresh_id_are_known() -> None:
    head = "title: x\nrole: orchestrator\ncovers: [VA-MSG-001]\nsteps:\n"
    assert read(head + "- raw: '${correlationId}'\n", "x.yaml", VA).steps
    said = mistake(head + "- send: dispatch\n  params: {a: 1}\n", VA)
    assert said == "x.yaml:6:11: messages of va-agent-protocol@0.1.0 have no params; use message"
    assert "dispatch is no request" in mistake(head + "- request: dispatch\n", VA)


# ── finding and choosing ─────────────────────────────────────────────────────────────────────────


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadScenario, match=r"none\.yaml:1:1: the file cannot be read: "):
        load(tmp_path / "none.yaml", AWP)


ALL = ["blocked", "cancel", "evaluation", "failure", "gates", "happy-path", "replacement", "retry", "timeout"]


def test_the_scenarios_of_a_pack() -> None:
    found = of_pack(VA, "orchestrator")
    assert [scenario.name for scenario in found] == ALL
    assert {scenario.role for scenario in of_pack(VA, "agent")} == {"agent"}
    assert all(not scenario.name.startswith("_") for scenario in of_pack(AWP, "agent"))


def chosen(names: tuple[str, ...] = (), requirements: tuple[str, ...] = ()) -> list[str]:
    return [scenario.name for scenario in select(of_pack(VA, "orchestrator"), names, requirements)]


@pytest.mark.parametrize(
    ("names", "requirements", "expected"),
    [
        ((), (), ALL),
        (("c*", "retry"), (), ["cancel", "retry"]),
        ((), ("VA-EVD-003",), ["blocked"]),
        ((), ("VA-INT-*", "VA-EVD-003"), ["blocked", "happy-path"]),
        (("b*", "c*"), ("VA-EVD-*",), ["blocked"]),
    ],
)
def test_select(names: tuple[str, ...], requirements: tuple[str, ...], expected: list[str]) -> None:
    assert chosen(names, requirements) == expected


@pytest.mark.parametrize(
    ("names", "requirements", "said"),
    [
        (("Cancel",), (), "no scenario is called 'Cancel'; there is blocked, cancel, evaluation, "),
        (("cancel", "typo"), (), "no scenario is called 'typo'"),
        ((), ("VA-NON-*",), "no scenario concerns a requirement 'VA-NON-*'"),
        (("cancel",), ("VA-EVD-003",), "none of that name concerns such a requirement"),
    ],
)
def test_a_selection_that_selects_nothing(
    names: tuple[str, ...], requirements: tuple[str, ...], said: str
) -> None:
    with pytest.raises(NoSuchScenario) as caught:
        chosen(names, requirements)
    assert said in str(caught.value)


def test_the_steps_of_a_pack_stand_with_its_fixtures() -> None:
    """A text without a folder uses the files of its pack."""
    assert [step.verb for step in of("- use: _initialize\n").steps] == ["request"]


def test_every_verb_is_one_of_the_schema() -> None:
    document = json.loads((Path(__file__).parents[1] / "schemas/kit/scenario.schema.json").read_text("utf-8"))
    verbs = [branch["$ref"].rpartition("/")[2] for branch in document["$defs"]["step"]["oneOf"]]
    assert verbs == [*scenarios.VERBS, "repeat", "use"]


def test_one_step_on_its_own() -> None:
    step = scenarios.step({"wait": "1 s"}, AWP, "agent")
    assert (step.verb, step.args) == ("wait", {"wait": "1 s"})
    with pytest.raises(BadScenario, match=r"awp@0\.1-draft\.7 has no kind 'pong'") as told:
        scenarios.step({"send": "pong"}, AWP, "agent")
    assert "a step:" not in str(told.value)
