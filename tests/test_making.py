"""`conformance generate`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from conformance.cli import main

MAIN = "from conformance.cli import main; main()"


def generate(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["generate", *map(str, words)])


def made(*words: str | Path) -> list[object]:
    done = generate(*words)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.output.splitlines()]


def schema_file(folder: Path, name: str, schema: object) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(schema))
    return path


def test_the_same_seed_makes_the_same_messages_and_another_makes_others() -> None:
    words = ("va-agent-protocol", "dispatch", "-n", "4")
    first = made(*words, "--seed", "7")
    assert len({json.dumps(one) for one in first}) == 4
    assert made(*words, "--seed", "7") == first
    assert made(*words, "--seed", "8") != first


def test_the_first_messages_are_the_same_however_many_there_are() -> None:
    assert made("atep", "InputEnvelope", "-n", "3")[:2] == made("atep", "InputEnvelope", "-n", "2")


def test_a_schema_file_may_refer_to_files_beside_it(tmp_path: Path) -> None:
    schema_file(tmp_path, "parts/size.json", {"type": "integer", "minimum": 4, "maximum": 9})
    schema_file(tmp_path, "name.json", {"$ref": "parts/name.json"})
    schema_file(tmp_path, "parts/name.json", {"pattern": "^[a-c]{2}$", "type": "string"})
    whole = {
        "type": "object",
        "required": ["size", "name"],
        "properties": {"size": {"$ref": "parts/size.json"}, "name": {"$ref": "name.json"}},
    }
    for value in made("--schema", schema_file(tmp_path, "whole.json", whole), "-n", "5"):
        assert isinstance(value, dict)
        assert value["size"] in range(4, 10)
        assert len(value["name"]) == 2
        assert set(value["name"]) <= set("abc")


@pytest.mark.parametrize("name", ["https://example.com/a/whole.json", "urn:example:whole"])
def test_a_schema_file_with_an_id_of_its_own(tmp_path: Path, name: str) -> None:
    near = "part.json" if name.startswith("https:") else "#/$defs/part"
    schema_file(tmp_path, "part.json", {"const": 5})
    whole = {"$id": name, "$ref": near, "$defs": {"part": {"const": 5}}}
    assert made("--schema", schema_file(tmp_path, "whole.json", whole)) == [5]


def test_draft_07_is_read_as_draft_07(tmp_path: Path) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "array",
        "items": [{"const": 1}, {"type": "string"}],
        "additionalItems": False,
        "minItems": 2,
    }
    for value in made("--schema", schema_file(tmp_path, "a.json", schema), "-n", "5"):
        jsonschema.Draft7Validator(schema).validate(value)


def test_a_schema_may_be_true(tmp_path: Path) -> None:
    assert len(made("--schema", schema_file(tmp_path, "a.json", True), "-n", "2")) == 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("va-agent-protocol", "compleded"), 2, "has no kind 'compleded' (did you mean completed?)"),
        (("va-agent-protocl", "completed"), 2, "did you mean va-agent-protocol?"),
        (("va-agent-protocol",), 2, "a PROTOCOL and one of its kinds, or --schema FILE"),
        ((), 2, "a PROTOCOL and one of its kinds, or --schema FILE"),
        (("atep", "InputFile", "--schema", "no.json"), 2, "not of both"),
        (("--schema", "no.json"), 2, "no.json cannot be read: No such file"),
        (("--schema", "README.md"), 2, "README.md:1:1 is not JSON"),
        (("atep", "InputFile", "--bare"), 2, "--bare goes with --invalid; valid messages are bare"),
        (("atep", "InputFile", "--invalid", "--coverage"), 2, "one or the other"),
        (("atep", "InputFile", "--invalid", "-n", "2"), 2, "-n and --seed are for valid messages"),
        (("atep", "--invalid"), 2, "say what to break: a PROTOCOL and one of its kinds, or --schema FILE"),
        (("--coverage",), 2, "say what to break"),
    ],
)
def test_what_cannot_be_made_is_said(words: tuple[str, ...], code: int, said: str) -> None:
    done = generate(*words)
    assert done.exit_code == code
    assert said in done.output


@pytest.mark.parametrize(
    ("schema", "code", "said"),
    [
        (False, 3, "no value fits"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, 3, "no value fits"),
        ({"required": ["a"], "type": "object", "properties": {"a": False}}, 3, "no value fits"),
        ({"pattern": "("}, 2, 'cannot be used: "(" is not a "regex"'),
        ({"$ref": "#/$defs/none"}, 2, "cannot be used"),
        ({"type": "nothing"}, 2, "cannot be used"),
        ({"properties": {"a": {"multipleOf": -1}}}, 2, "a.json#/properties/a/multipleOf: -1 is less than"),
        ({"$id": "http://[", "$ref": "b"}, 2, "cannot be used"),
        ({"$ref": "https://example.org/remote.json"}, 2, "cannot be used"),
        ({"minLength": 10**9, "type": "string"}, 3, "no value fits"),
        ({"minLength": 10**9, "pattern": "^a*$", "type": "string"}, 3, "no value fits"),
        ({"minItems": 10**9, "type": "array"}, 3, "no value fits"),
        ({"$schema": "http://json-schema.org/draft-04/schema#"}, 2, "draft-04"),
        (["a"], 2, "is neither an object nor a boolean"),
    ],
)  # fmt: skip
def test_what_no_value_fits_and_what_is_no_schema(
    tmp_path: Path, schema: object, code: int, said: str
) -> None:
    done = generate("--schema", schema_file(tmp_path, "a.json", schema))
    assert said in done.output
    assert done.exit_code == code


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (b"\xef\xbb\xbf{}", 2, "a.json:1:1 is not JSON: the text begins with a byte order mark"),
        (b'{\r\n"const":\r\n"\xff"}', 2, "is not JSON: byte 0xff at offset 14 is not UTF-8"),
        (b'{"multipleOf": 1e-100000}', 2, "is not JSON: an exponent beyond 10000"),
        (b'{"const": NaN}', 2, "is not JSON: expected a value but found NaN"),
        (b'{"type": "string", "type": "null"}', 2, "the member 'type' occurs twice"),
        (b'{"not":' * 600 + b"true" + b"}" * 600, 2, "brackets nest deeper than 512"),
        (b'{"items":' * 500 + b"true" + b"}" * 500, 3, "nests too deeply for the kit"),
        (b'{"pattern": "' + b"a" * 1_000_000 + b'("}', 2, "aaa…aaa"),
    ],
)  # fmt: skip
def test_a_hostile_schema_file_is_one_short_sentence(
    tmp_path: Path, text: bytes, code: int, said: str
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(text)
    done = generate("--schema", path)
    assert said in done.output
    assert len(done.output) < 800
    assert done.exit_code == code


@pytest.mark.parametrize(
    "schema", [{"type": "string", "maxLength": 10**9}, {"type": "array", "maxItems": 10**9}]
)
def test_no_message_of_gigabytes_is_made_to_break_a_bound(tmp_path: Path, schema: object) -> None:
    [line] = made("--schema", schema_file(tmp_path, "a.json", schema), "--invalid")
    assert line["violates"]["keyword"] == "type"


def test_no_more_is_made_when_the_reader_has_gone() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", MAIN, "generate", "atep", "InputFile", "-n", "1000000000"],
        stdout=subprocess.PIPE,
    ) as making:
        assert making.stdout is not None
        assert making.stdout.readline().startswith(b"{")
        making.stdout.close()
        assert making.wait(timeout=60) == 0


def test_what_breaks_each_constraint_of_a_kind_and_how_many_there_are(tmp_path: Path) -> None:
    broken = made("atep", "InputFile", "--invalid")
    assert all(isinstance(one, dict) and one.keys() == {"violates", "text"} for one in broken)
    counted = generate("atep", "InputFile", "--coverage").output.splitlines()
    assert counted[1].split() == ["InputFile", str(len(broken)), str(len(broken)), "0", "0"]
    assert generate("atep", "--coverage").output.count("Envelope  ") == 2
    assert len(made("atep", "InputFile", "--invalid", "--bare")) == len(broken)


def test_of_a_schema_file_too(tmp_path: Path) -> None:
    path = schema_file(tmp_path, "a.json", {"type": "integer", "minimum": 3})
    assert [one["violates"]["keyword"] for one in made("--schema", path, "--invalid")] == ["type", "minimum"]
    counted = generate("--schema", path, "--coverage").output.splitlines()
    assert counted[1].split() == [str(path), "2", "2", "0", "0"]


def test_files_may_refer_to_each_other(tmp_path: Path) -> None:
    """By names relative to their own, whether one of them has an id or none."""
    schema_file(tmp_path, "b.json", {"anyOf": [{"const": 5}, {"$ref": "a.json"}, {"$ref": "c.json"}]})
    schema_file(tmp_path, "c.json", {"const": 6})
    for identity in ({}, {"$id": "https://example.com/x/a.json"}):
        whole = identity | {"allOf": [{"$ref": "b.json"}, {"$ref": "c.json"}]}
        assert made("--schema", schema_file(tmp_path, "a.json", whole)) == [6]
