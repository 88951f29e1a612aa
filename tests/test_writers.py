"""The formats in which `validate` tells its findings: what others read is what they expect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree.ElementTree import Element, fromstring

import pytest

from conformance import packs, validation, writers
from conformance.judgement import Judged
from conformance.validation import Options
from conformance.writers import pieces

VA = packs.find("va-agent-protocol")
INVALID = VA.fixtures / "transcripts" / "invalid" / "completed-twice.jsonl"
VALID = VA.fixtures / "messages" / "valid" / "accepted.minimal.json"
DEFAULT = Options()
HOSTILE = '\x1b[31m\u202e%0A::error::,:]]>&<"\x00\ud800\u2028'


def said(form: str, texts: list[str]) -> list[str]:
    """What was written, a text for each line of a form of lines; a document is one, whatever its pieces."""
    return ["\n".join(texts)] if form in ("json", "sarif", "junit") else texts


def written(form: str, *paths: Path, options: Options = DEFAULT, width: int = 0) -> list[str]:
    texts: list[str] = []
    writer = writers.writer(form, texts.append, width)
    for path in paths:
        writer.done(validation.judge_path(path, options, writer.told))
    writer.end()
    return said(form, texts)


def message(tmp_path: Path, text: str, name: str = "x.json") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


def typed(kind: str, **members: Any) -> str:
    value = json.loads(VALID.read_text("utf-8")) | {"type": kind} | members
    return json.dumps(value)


def test_every_format_has_its_writer() -> None:
    for form in writers.WRITERS:
        assert writers.writer(form, print)


# --- github ----------------------------------------------------------------------------------------


def commands(lines: list[str]) -> list[tuple[str, dict[str, str], str]]:
    """Workflow commands, read as GitHub's runner reads them."""
    found = []
    for line in lines:
        assert line.startswith("::")
        head, _, data = line[2:].partition("::")
        word, _, listed = head.partition(" ")
        properties = dict(one.split("=", 1) for one in listed.split(","))
        found.append((word, {name: unescaped(value) for name, value in properties.items()}, unescaped(data)))
    return found


def unescaped(text: str) -> str:
    for code, mark in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, mark)
    return text


def test_github(tmp_path: Path) -> None:
    path = message(tmp_path, '{"protocol": "va-agent-protocol",\n "kind": "accepted"}', "a,b:c%.json")
    [(word, properties, said), *_] = commands(written("github", path))
    assert (word, properties["file"], properties["title"]) == ("error", str(path), "VA-MSG-001 (MUST)")
    assert (properties["line"], properties["endLine"]) == ("1", "2")
    assert "col" not in properties  # refused for a region of several lines
    assert "it has no /type" in said


def test_github_knows_the_region_in_a_line() -> None:
    [(_, properties, _)] = commands(written("github", INVALID))
    line = INVALID.read_text("utf-8").splitlines()[int(properties["line"]) - 1]
    region = line[int(properties["col"]) - 1 : int(properties["endColumn"]) - 1]
    assert json.loads(region) == json.loads(line)["message"]


def test_github_tells_warnings_and_what_could_not_be_judged(tmp_path: Path) -> None:
    crlf = message(tmp_path, typed("accepted") + "\r\n")
    unknown = message(tmp_path, '{"a": 1}', "y.json")
    warning, error = commands(written("github", crlf, unknown))
    assert (warning[0], warning[1]["title"]) == ("warning", "WIRE-LINE (SHOULD)")
    assert (error[0], error[1]["title"]) == ("error", "not judged")
    [(_, properties, _)] = commands(text_of_standard_input("github"))
    assert "file" not in properties


def text_of_standard_input(form: str) -> list[str]:
    texts: list[str] = []
    writer = writers.writer(form, texts.append)
    writer.done(Judged("-", error="- holds no message"))
    writer.end()
    return said(form, texts)


# --- sarif -----------------------------------------------------------------------------------------


def test_sarif(tmp_path: Path) -> None:
    unknown = message(tmp_path, '{"a": 1}', "ü y.json")
    [text] = written("sarif", INVALID, VALID, unknown)
    log = json.loads(text)
    assert log["version"] == "2.1.0"
    [run] = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    [result] = run["results"]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "VA-LIF-002"
    assert rules[0]["shortDescription"]["text"] == VA.requirements["VA-LIF-002"].summary
    assert (result["level"], rules[0]["defaultConfiguration"]["level"]) == ("error", "error")
    assert run["columnKind"] == "unicodeCodePoints"
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == INVALID.as_uri()
    region = physical["region"]
    line = INVALID.read_text("utf-8").splitlines()[region["startLine"] - 1]
    meant = line[region["startColumn"] - 1 : region["endColumn"] - 1]
    assert json.loads(meant) == json.loads(line)["message"]
    [invocation] = run["invocations"]
    assert invocation["executionSuccessful"] is False
    [notification] = invocation["toolExecutionNotifications"]
    uri = notification["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert unquote(uri) == f"file://{unknown.as_posix()}"
    assert uri.isascii()


def test_sarif_of_nothing_wrong() -> None:
    [run] = json.loads(written("sarif", VALID)[0])["runs"]
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is True


def test_sarif_points_into_a_message_of_several_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = json.dumps(json.loads(typed("accepted", payload={"taskId": {"a": [1, 2]}})), indent=2)
    message(tmp_path, text, "a b.json")
    [run] = json.loads(written("sarif", Path("a b.json"))[0])["runs"]
    result = next(one for one in run["results"] if one["locations"][0].get("logicalLocations"))
    place = result["locations"][0]
    assert place["logicalLocations"] == [{"fullyQualifiedName": "/payload/taskId"}]
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "a%20b.json"}
    region = place["physicalLocation"]["region"]
    lines = text.splitlines()[region["startLine"] - 1 : region["endLine"]]
    lines[-1] = lines[-1][: region["endColumn"] - 1]
    lines[0] = lines[0][region["startColumn"] - 1 :]
    assert json.loads("\n".join(lines)) == {"a": [1, 2]}
    assert text_of_standard_input("sarif")[0].count('"uri": "stdin"') == 1


# --- junit -----------------------------------------------------------------------------------------


def suite(*paths: Path) -> Element:
    [text] = written("junit", *paths)
    return fromstring(text)


def test_junit(tmp_path: Path) -> None:
    crlf = message(tmp_path, typed("accepted") + "\r\n")
    unknown = message(tmp_path, '{"a": 1}', "y.json")
    root = suite(INVALID, VALID, crlf, unknown)
    counts = {name: root.get(name) for name in ("tests", "failures", "errors")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1"}
    failing, passing, warned, unjudged = root.iter("testcase")
    assert failing.get("name") == str(INVALID)
    failure = failing.find("failure")
    assert failure is not None
    assert "MUST VA-LIF-002: " in str(failure.text)
    assert list(passing) == []
    output = warned.find("system-out")
    assert output is not None
    assert "WIRE-LINE" in str(output.text)
    assert unjudged.find("error") is not None


# --- text ------------------------------------------------------------------------------------------


def test_text_points_at_the_place_on_a_terminal(tmp_path: Path) -> None:
    path = message(tmp_path, typed("accepted", timestamp="soon"))
    said, shown, marks = written("text", path, width=200)
    assert said.startswith(f"{path}:1:")
    assert shown[marks.index("^") : len(marks)] == '"soon"'


def test_text_points_at_nothing_where_the_text_is_no_message(tmp_path: Path) -> None:
    path = message(tmp_path, '{"protocol": "va-agent-protocol"')
    assert len(written("text", path, width=80, options=Options(protocol="va-agent-protocol"))) == 1


# --- whatever comes --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", writers.WRITERS)
@pytest.mark.parametrize(
    "text",
    [
        typed(HOSTILE),
        typed("accepted", **{HOSTILE: HOSTILE}),
        typed("accepted", timestamp=HOSTILE * 1000),
        json.dumps({HOSTILE: 1}),
        HOSTILE,
    ],
    ids=["kind", "member", "long", "unknown", "noise"],
)
def test_hostile_text_stays_text(tmp_path: Path, form: str, text: str) -> None:
    texts = written(form, message(tmp_path, text), width=80)
    for one in texts:
        assert "\x1b" not in one
        assert "\u202e" not in one or form in ("json", "sarif", "junit")
        one.encode("utf-8")
    if form in ("json", "sarif"):
        json.loads(texts[0])
    elif form == "junit":
        fromstring(texts[0])
    elif form == "github":
        assert all(line.startswith(("::error ", "::warning ")) and "\n" not in line for line in texts)


# --- pieces ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("items", [[], [{"a": [1, "\n"]}], [1, {"b": {}}, []]])
def test_pieces_are_the_document(items: list[object]) -> None:
    frame = {"items": "no list", "inner": {"items": []}, "after": [1]}
    whole = json.dumps({**frame, "inner": {"items": items}}, indent=2)
    texts = [(json.dumps(item, indent=2),) for item in items]
    assert "\n".join(pieces.filled(frame, "items", texts)) == whole
    nested = [[*pieces.filled(frame, "items", texts)]] * 2
    twice = json.dumps({"all": [json.loads(whole)] * 2}, indent=2)
    assert "\n".join(pieces.filled({"all": []}, "all", nested)) == twice
