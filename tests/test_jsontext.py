"""JSON text is judged as text: exact values, every fault with its position, no hostile text that hurts."""

import json
import re
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance import jsontext
from conformance.jsontext import (
    MISSING,
    REPORTED,
    Limits,
    Parsed,
    decode,
    parse,
    parts,
    pointer,
    replace_lone_surrogates,
    resolve,
)
from conformance.locating import Place, locate
from conformance.tokens import Broken, Scanner, shortened

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
layouts = st.fixed_dictionaries(
    {
        "indent": st.sampled_from([None, 0, 2, "\t"]),
        "ensure_ascii": st.booleans(),
        "separators": st.sampled_from([None, (",", ":"), (" ,\r\n", "\t: ")]),
    }
)


def same(one: Any, other: Any) -> bool:
    """Equal, and of equal types throughout: 1, 1.0 and True differ."""
    return repr(one) == repr(other)


def slowly(text: str, limits: Limits = jsontext.LIMITS) -> Parsed:
    """What the scanner makes of a text that the standard decoder would have been trusted with."""
    return jsontext._exact(text, limits)


def only_fault(text: str, limits: Limits = jsontext.LIMITS) -> tuple[str, str, int, int, int]:
    """The one fault of a text, which leaves no value: code, message, offset, line, column."""
    parsed = parse(text, limits)
    assert parsed.value is None
    assert parsed.fatal == parsed.faults[-1]
    [fault] = parsed.faults
    assert fault.fatal
    return fault.code, fault.message, fault.offset, fault.line, fault.column


def place_of(text: str, where: str) -> Place:
    """The place that must exist."""
    place = locate(text, where)
    assert place is not None
    return place


# --- values -------------------------------------------------------------------------------------

NUMBERS = [
    ("0", 0),
    ("-0", 0),
    ("17", 17),
    ("9007199254740993", 9007199254740993),
    ("18446744073709551616", 2**64),
    ("-0.0", -0.0),
    ("0.1", 0.1),
    ("0.35", 0.35),
    ("2.50", 2.5),
    ("2.5e-3", 0.0025),
    ("1.0", 1.0),
    ("1e3", 1000.0),
    ("1E+3", 1000.0),
    ("1e23", 1e23),
    ("1.7976931348623157e308", 1.7976931348623157e308),
    ("9007199254740991.4", Decimal("9007199254740991.4")),
    ("9007199254740993.0", Decimal("9007199254740993.0")),
    ("0.99999999999999999999", Decimal("0.99999999999999999999")),
    ("1E400", Decimal("1E400")),
    ("-1E400", Decimal("-1E400")),
    ("1E-400", Decimal("1E-400")),
    ("1e10000", Decimal("1E10000")),
    ("0.1000000000000000055511151231257827021181583404541015625",
     Decimal("0.1000000000000000055511151231257827021181583404541015625")),
]  # fmt: skip


@pytest.mark.parametrize(("token", "value"), NUMBERS)
def test_number_keeps_its_value(token: str, value: Any) -> None:
    for text in (token, f" [{token}]"):
        parsed = parse(text)
        assert parsed.faults == ()
        assert same(parsed.value, value if text == token else [value])
        assert slowly(text) == parsed


@settings(deadline=None)
@given(documents, layouts)
def test_agrees_with_json_loads(document: Any, layout: dict[str, Any]) -> None:
    text = json.dumps(document, **layout)
    expected = json.loads(text)
    for parsed in (parse(text), slowly(text)):
        assert parsed.faults == ()
        assert parsed.fatal is None
        assert same(parsed.value, expected)


texts = st.text(st.sampled_from('{}[]",:\\ud8cC01.eE-+tfn \n\x01aN')) | st.text()
numbers = st.from_regex(r"-?[0-9]{1,25}(\.[0-9]{1,20})?([eE][-+]?[0-9]{1,3})?", fullmatch=True)
members = st.lists(st.tuples(st.sampled_from(["a", "a b", "b"]), numbers | documents.map(json.dumps)))


@given(texts | documents.map(json.dumps) | members.map(lambda rows: _object(rows)), st.booleans())
def test_what_is_plainly_an_object_is_what_the_exact_way_reads(text: str, tight: bool) -> None:
    text = text.replace(" ", "") if tight else text
    value = jsontext.plain(text.encode("utf-8", "surrogatepass"))
    if value is not None:
        exact = jsontext._exact(text, jsontext.LIMITS)
        assert (repr(exact.value), exact.faults) == (repr(value), ())


def _object(rows: list[tuple[str, str]]) -> str:
    return "{" + ", ".join(f'"{name}": {value}' for name, value in rows) + "}"


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}',
        '{"a":9007199254740993.0}',
        '{"a":18446744073709551616}',
        '{"a":1E400}',
        '{"a":NaN}',
        '{"a":-0}',
        r'{"a":"\ud800"}',
        '\ufeff{"a":1}',
        '["a"]',
        '{"a":1}}',
        '{"a":' * 300 + "1" + "}" * 300,
        '{"a":' * 600 + "1" + "}" * 600,
    ],
)
def test_what_a_decoder_would_change_is_not_plain(text: str) -> None:
    assert jsontext.plain(text.encode()) is None


@given(st.text(st.sampled_from('{}[]",:\\ud8cC01.eE-+tfn \n\x01aN')) | st.text())
def test_both_ways_give_one_answer(text: str) -> None:
    """Where the decoder and the scanner differ, one of them is wrong."""
    parsed = parse(text)
    assert repr(parsed) == repr(slowly(text))
    try:
        json.loads(text, parse_constant=int)
    except ValueError:
        assert parsed.fatal is not None
        assert parsed.value is None
    else:
        assert parsed.fatal is None


def test_many_members_are_no_depth() -> None:
    text = json.dumps([{"brackets": '[{"\\'}] * 600)
    assert parse(text).value == [{"brackets": '[{"\\'}] * 600


# --- faults -------------------------------------------------------------------------------------

BROKEN = [
    ("", "expected a value but the text ends", 0),
    (" ", "expected a value but the text ends", 1),
    ('{"a":', "expected a value but the text ends", 5),
    ('{"a"', "expected ':' but the text ends", 4),
    ('{"a" 1}', "expected ':' but found '1'", 5),
    ('{"a":1', "expected ',' or '}' but the text ends", 6),
    ('{"a":1 x', "expected ',' or '}' but found 'x'", 7),
    ('{"a":1 t', "expected ',' or '}' but found 't'", 7),
    ('{"a":1,}', "expected a member name in double quotes but found '}'", 7),
    ("{'a':1}", "expected a member name in double quotes or '}' but found \"'\"", 1),
    ("{1:2}", "expected a member name in double quotes or '}' but found '1'", 1),
    ("[1,]", "expected a value but found ']'", 3),
    ("[,", "expected a value or ']' but found ','", 1),
    ("[1}", "expected ',' or ']' but found '}'", 2),
    ("[1 2]", "expected ',' or ']' but found '2'", 3),
    ("]", "expected a value but found ']'", 0),
    ("[True]", "expected a value or ']' but found 'True'", 1),
    ("[trueish]", "expected a value but found 'trueish'", 1),
    ("[tru", "expected a value but the text ends after 'tru'", 4),
    ("[tru]", "expected a value but found 'tru'", 1),
    ("[undefined]", "expected a value or ']' but found 'undefined'", 1),
    ("-", "expected a digit but the text ends", 1),
    ("[-x]", "expected a value but found '-x'", 1),
    ("[+1]", "expected a value or ']' but found '+'", 1),
    ("[.5]", "expected a value or ']' but found '.'", 1),
    ("[1.]", "expected a digit but found ']'", 3),
    ("[1.e3]", "expected a digit but found 'e3'", 3),
    ("[1e]", "expected a digit but found ']'", 3),
    ("[1e+", "expected a digit but the text ends", 4),
    ("[01]", "expected ',' or ']' but found '1'", 2),
    ("[١]", "expected a value or ']' but found '١'", 1),
    ("1 2", "expected the end of the text but found '2'", 2),
    ("{} x", "expected the end of the text but found 'x'", 3),
    ("\x1b[0m", "expected a value but found '\\x1b'", 0),
    ("[\u00a01]", "expected a value or ']' but found '\\xa0'", 1),
    ("\ufeff{}", "expected a value but found '\\ufeff'", 0),
    ('["a\tb"]', "the control character U+0009 stands unescaped in a string", 3),
    ('["\\n\x1c"]', "the control character U+001C stands unescaped in a string", 4),
    ('["\\x41"]', "expected one of \" \\ / b f n r t u after a backslash but found 'x41'", 3),
    ('["\\u12g4"]', "expected four hex digits after \\u but found 'g4'", 6),
    ('["\\u12', "expected four hex digits after \\u but the text ends", 6),
    ('"\\', 'expected one of " \\ / b f n r t u after a backslash but the text ends', 2),
    ('["abc', "expected the end of the string of line 1, column 2 but the text ends", 5),
]


@pytest.mark.parametrize(("text", "message", "offset"), BROKEN)
def test_broken_text_says_what_was_expected_and_where(text: str, message: str, offset: int) -> None:
    assert only_fault(text) == ("WIRE-JSON", message, offset, 1, offset + 1)


def test_position_counts_lines_and_characters() -> None:
    text = '{\n  "é😀": [1,\r\n\u2028 x]}'
    assert only_fault('{\n  "é😀": [1,\r\n  x]}') == ("WIRE-JSON", "expected a value but found 'x'", 17, 3, 3)
    assert only_fault(text)[2:] == (15, 3, 1)


@pytest.mark.parametrize(
    ("text", "constant", "offset"),
    [
        ("NaN", "NaN", 0),
        ('{"a":NaN,"b":Infinity,"c":-Infinity}', "NaN", 5),
        ("[ -Infinity ]", "-Infinity", 2),
    ],
)
def test_constants_are_no_json(text: str, constant: str, offset: int) -> None:
    code, message, *position = only_fault(text)
    assert code == "WIRE-CONSTANT"
    assert f"found {constant}, which JSON does not have" in message
    assert position == [offset, 1, offset + 1]


def test_two_messages() -> None:
    assert only_fault('{"a":1} {"b":2}') == (
        "WIRE-LINE", "two messages on one line: the second begins here", 8, 1, 9,
    )  # fmt: skip


def test_members_with_equal_names() -> None:
    parsed = parse('{"a": 1,\n "b": [{"x": 1, "x": 2, "\\u0078": 3}],\n "a": {"b": 0}}')
    assert parsed.value == {"a": {"b": 0}, "b": [{"x": 3}]}
    assert list(parsed.value) == ["a", "b"]
    assert parsed.fatal is None
    assert [(f.code, f.fatal, f.pointer, f.offset, f.line, f.column) for f in parsed.faults] == [
        ("WIRE-KEYS", False, "/b/0/x", 25, 2, 17),
        ("WIRE-KEYS", False, "/b/0/x", 33, 2, 25),
        ("WIRE-KEYS", False, "/a", 49, 3, 2),
    ]
    assert parsed.faults[0].message == "the member 'x' occurs twice, at '/b/0/x'"


def test_long_names_are_shortened_in_messages() -> None:
    [fault] = parse(f'{{"{"n" * 500}": 1, "{"n" * 500}": 2}}').faults
    assert fault.pointer == "/" + "n" * 500
    assert fault.message == f"the member '{'n' * 59}…' occurs twice, at '/{'n' * 58}…'"


def test_what_was_noted_stays_when_the_text_breaks() -> None:
    parsed = parse('{"a":1,"a":2')
    assert parsed.value is None
    assert [fault.code for fault in parsed.faults] == ["WIRE-KEYS", "WIRE-JSON"]
    assert parsed.fatal == parsed.faults[1]


SURROGATES = [
    (r'"\ud83d\ude00"', "😀", []),
    (r'"\ud83d\ude00\uD83D\uDE00"', "😀😀", []),
    (r'"\\ud83d"', r"\ud83d", []),
    (r'"\\\ud83d\ude00"', "\\😀", []),
    (r'"C:\\udder"', r"C:\udder", []),
    (r'"\ud83d"', "\ud83d", [1]),
    (r'"a\udE00b"', "a\ude00b", [2]),
    (r'"\\ud83d\ude00"', "\\ud83d\ude00", [8]),
    (r'"\ude00\ud83d"', "\ude00\ud83d", [1, 7]),
    (r'"\ud83d\ud83d\ude00\n"', "\ud83d😀\n", [1]),
    ('"\ud83d"', "\ud83d", [1]),
    ('"\u20ac\ud83d"', "\u20ac\ud83d", [2]),
]


@pytest.mark.parametrize(("text", "value", "offsets"), SURROGATES)
def test_surrogates_come_in_pairs(text: str, value: Any, offsets: list[int]) -> None:
    for parsed in (parse(text), slowly(text)):
        assert parsed.value == value
        assert [fault.offset for fault in parsed.faults] == offsets
        assert all(fault.code == "WIRE-SURROGATE" and not fault.fatal for fault in parsed.faults)


def test_lone_surrogate_in_a_name() -> None:
    parsed = parse('{"a": ["\\uDBFF"], "b\\udfff": "\ud800"}')
    assert parsed.value == {"a": ["\udbff"], "b\udfff": "\ud800"}
    # A pointer that cannot be written as UTF-8 would be of no use to anyone.
    assert [(fault.message, fault.pointer) for fault in parsed.faults] == [
        ("U+DBFF is half a surrogate pair, at '/a/0'", "/a/0"),
        ("U+DFFF is half a surrogate pair, at '/b\ufffd'", "/b\ufffd"),
        ("U+D800 is half a surrogate pair, at '/b\ufffd'", "/b\ufffd"),
    ]


# --- limits and hostile texts -------------------------------------------------------------------


def test_depth_is_limited() -> None:
    deep = Limits(depth=3)
    assert parse('[{"a":[]}]', deep).value == [{"a": []}]
    assert parse('["[[[[[[[", "\\"[[[[", []]', deep).value == ["[[[[[[[", '"[[[[', []]
    assert only_fault('[{"a":[[]]}]', deep) == ("WIRE-LIMIT", "brackets nest deeper than 3", 7, 1, 8)
    assert parse("[" * 512 + "]" * 512).fatal is None
    assert only_fault("[" * 513 + "]" * 513)[2] == 512


def test_depth_beyond_the_interpreters_stack() -> None:
    text = "[" * 5000 + "]" * 5000
    value = parse(text, Limits(depth=5000)).value
    depth = 1
    while value:
        [value] = value
        depth += 1
    assert depth == 5000


def test_digits_are_limited() -> None:
    few = Limits(digits=16)
    assert parse("[1234567890123456, 0]", few).value == [1234567890123456, 0]
    for token in ("12345678901234567", "0.123456789012345", "-1234567890.12e+3"):
        assert only_fault(f"[{token}]", few)[:3] == (
            "WIRE-LIMIT", "a number of 17 characters; the limit is 16", 1,
        )  # fmt: skip
    assert parse("9" * 1000).value == 10**1000 - 1
    assert only_fault("9" * 1001)[0] == "WIRE-LIMIT"
    assert parse(f'["{"9" * 1001}"]').value == ["9" * 1001]
    assert parse("9" * 4300, Limits(digits=4300)).value == 10**4300 - 1


@pytest.mark.parametrize("digits", [15, 4301])
def test_a_limit_of_digits_that_cannot_be_kept(digits: int) -> None:
    with pytest.raises(ValueError, match=f"{digits} digits is not between 16 and 4300"):
        Limits(digits=digits)


@pytest.mark.parametrize("token", ["1e10001", "-1.5E-10001", "0e999999999", "1e" + "9" * 900])
def test_exponent_is_limited(token: str) -> None:
    assert only_fault(f"[{token}]") == ("WIRE-LIMIT", "an exponent beyond 10000", 1, 1, 2)


def test_length_is_limited() -> None:
    assert parse("[1,2]", Limits(length=5)).value == [1, 2]
    assert only_fault("[1,2] ", Limits(length=5)) == (
        "WIRE-LIMIT", "the text has 6 characters; the limit is 5", 0, 1, 1,
    )  # fmt: skip


HOSTILE = {
    "open brackets": ("[" * 100_000, "WIRE-LIMIT"),
    "open braces": ('{"a":' * 100_000, "WIRE-LIMIT"),
    "nested and closed": ("[" * 100_000 + "]" * 100_000, "WIRE-LIMIT"),
    "closing brackets": ("]" * 100_000, "WIRE-JSON"),
    "backslashes in a string": ('["' + "\\" * 1_000_001, "WIRE-JSON"),
    "backslashes": ("\\" * 1_000_000, "WIRE-JSON"),
    "quotation marks": ('["' + '\\"' * 500_000, "WIRE-JSON"),
    "pairs of escapes": ('"' + "\\ud83d\\ude00" * 100_000, "WIRE-JSON"),
    "digits": ("[" + "1" * 4301 + "]", "WIRE-LIMIT"),
    "a million digits": ("1" * 1_000_000, "WIRE-LIMIT"),
    "fraction": ("0." + "1" * 1_000_000, "WIRE-LIMIT"),
    "letters": ("t" * 1_000_000, "WIRE-JSON"),
    "minus signs": ("-" * 1_000_000, "WIRE-JSON"),
    "white space": (" \n" * 1_000_000, "WIRE-JSON"),
    "two texts": ("1 " * 100_000, "WIRE-JSON"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_one_fault(name: str) -> None:
    text, code = HOSTILE[name]
    assert only_fault(text)[0] == code
    grammatical = name in ("nested and closed", "digits", "a million digits", "fraction")
    assert (locate(text, "/0") is not None) == grammatical


def test_many_faults_are_bounded() -> None:
    many = parse("{" + ",".join(['"a":1'] * 5000) + "}")
    assert many.value == {"a": 1}
    assert [fault.code for fault in many.faults] == ["WIRE-KEYS"] * REPORTED
    halves = parse('"' + "\\ud800" * 5000 + '"')
    assert halves.value == "\ud800" * 5000
    assert [fault.offset for fault in halves.faults] == list(range(1, 121, 6))


def test_long_string_is_ordinary() -> None:
    text = "x" * (16 * 1024 * 1024)
    assert parse(f'{{"a":"{text}"}}').value == {"a": text}


# --- bytes --------------------------------------------------------------------------------------


def test_decode() -> None:
    assert decode('{"a":"é\u2028"}'.encode()) == ('{"a":"é\u2028"}', ())
    assert decode(b"") == ("", ())


def test_decode_strips_a_byte_order_mark() -> None:
    text, [fault] = decode(b"\xef\xbb\xbf\xef\xbb\xbf{}")
    assert text == "\ufeff{}"
    assert (fault.code, fault.fatal, fault.offset) == ("WIRE-BOM", False, 0)


@pytest.mark.parametrize(
    ("data", "offset", "line", "column"),
    [
        (b"\xff\xfe", 0, 1, 1),
        (b'{"a":\n "\xc3\xa9\xc3"}', 10, 2, 5),
        (b'"\xed\xa0\x80"', 1, 1, 2),  # a surrogate in UTF-8
        (b'"\xc0\xaf"', 1, 1, 2),  # an overlong solidus
        (b"\xe2\x82", 0, 1, 1),
    ],
)
def test_bytes_that_are_not_utf8(data: bytes, offset: int, line: int, column: int) -> None:
    text, [fault] = decode(data)
    assert text is None
    assert (fault.code, fault.fatal) == ("WIRE-UTF8", True)
    assert (fault.offset, fault.line, fault.column) == (offset, line, column)
    assert f"byte 0x{data[offset]:02x} at offset {offset} is not UTF-8" in fault.message


# --- pointers and places ------------------------------------------------------------------------

# RFC 6901 §5: its own document and its own table.
RFC6901 = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}


@pytest.mark.parametrize(
    ("where", "steps", "found"),
    [
        ("", [], RFC6901),
        ("/foo", ["foo"], ["bar", "baz"]),
        ("/foo/0", ["foo", "0"], "bar"),
        ("/", [""], 0),
        ("/a~1b", ["a/b"], 1),
        ("/c%d", ["c%d"], 2),
        ("/e^f", ["e^f"], 3),
        ("/g|h", ["g|h"], 4),
        ("/i\\j", ["i\\j"], 5),
        ('/k"l', ['k"l'], 6),
        ("/ ", [" "], 7),
        ("/m~0n", ["m~n"], 8),
    ],
)
def test_pointers_of_the_rfc(where: str, steps: list[str], found: Any) -> None:
    assert parts(where) == steps
    assert pointer(steps) == where
    assert resolve(RFC6901, where) == found
    text = json.dumps(RFC6901)
    place = place_of(text, where)
    assert json.loads(text[place.offset : place.end]) == found


@pytest.mark.parametrize(
    "where",
    ["/foo/2", "/foo/-", "/foo/01", "/foo/-1", "/foo/+1", "/foo/٠", "/foo/" + "9" * 5000, "/no", "/foo/0/x"],
)
def test_pointer_to_nothing(where: str) -> None:
    assert resolve(RFC6901, where) is MISSING
    assert repr(MISSING) == "MISSING"


@pytest.mark.parametrize("where", ["foo", "#/foo", "/~", "/a~2"])
def test_no_pointer(where: str) -> None:
    for use in (parts, lambda bad: resolve({}, bad), lambda bad: locate("{}", bad)):
        with pytest.raises(ValueError, match="is no JSON Pointer"):
            use(where)


def test_pointer_takes_indexes() -> None:
    assert pointer(["a", 0, "~/"]) == "/a/0/~0~1"
    assert parts("/~01") == ["~1"]


TEXT = '{"a": {"b": 1},\n "c": [10, {"d": "x"}, [ ]],\n "a": {"e": [true]}}'


@pytest.mark.parametrize(
    ("where", "piece", "line", "column"),
    [
        ("", TEXT, 1, 1),
        ("/c", '[10, {"d": "x"}, [ ]]', 2, 7),
        ("/c/0", "10", 2, 8),
        ("/c/1", '{"d": "x"}', 2, 12),
        ("/c/1/d", '"x"', 2, 18),
        ("/c/2", "[ ]", 2, 24),
        ("/a", '{"e": [true]}', 3, 7),
        ("/a/e/0", "true", 3, 14),
        # what does not exist: the deepest that does
        ("/x", TEXT, 1, 1),
        ("/a/b", '{"e": [true]}', 3, 7),
        ("/c/1/x/y", '{"d": "x"}', 2, 12),
        ("/c/0/c", "10", 2, 8),
        ("/c/2/0", "[ ]", 2, 24),
        ("/c/01", '[10, {"d": "x"}, [ ]]', 2, 7),
    ],
)
def test_locate(where: str, piece: str, line: int, column: int) -> None:
    place = place_of(TEXT, where)
    assert place == Place(place.offset, place.offset + len(piece), line, column)
    assert TEXT[place.offset : place.end] == piece


def test_locate_goes_no_deeper_than_the_pointer() -> None:
    assert locate('{"a": {"a": {"a": 1}}}', "/a") == Place(6, 21, 1, 7)
    assert locate('{"a": 1, "b": {"a": 2}}', "/a") == Place(6, 7, 1, 7)
    assert locate(" 3 ", "") == Place(1, 2, 1, 2)


def test_locate_in_what_is_no_json() -> None:
    assert locate('{"a": 1', "/a") is None
    assert locate('{"a": 1}}', "/a") is None
    assert locate(', {"a": 1}', "/a") is None
    assert locate('{"a": NaN}', "/a") is None


def test_locate_of_many_places_in_one_text_looks_at_it_once() -> None:
    text = json.dumps({"a": {f"m{number}": number for number in range(50_000)}})
    began = time.process_time()
    for number in range(0, 50_000, 100):
        place = place_of(text, f"/a/m{number}")
        assert text[: place.end].endswith(f'"m{number}": {number}')
    assert time.process_time() - began < 5  # once for each would be a minute


def test_locate_in_a_deep_text() -> None:
    text = "[" * 3000 + "7" + "]" * 3000
    assert locate(text, "/0" * 3000) == Place(3000, 3001, 1, 3001)
    text = "[" * 100_000 + "]" * 100_000
    assert locate(text, "/0") == Place(1, 199_999, 1, 2)


def everywhere(document: Any, where: tuple[str | int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """All values of a document with their pointers."""
    yield pointer(where), document
    if isinstance(document, (dict, list)):
        for step, value in document.items() if isinstance(document, dict) else enumerate(document):
            yield from everywhere(value, (*where, step))


@given(documents, layouts)
def test_locate_finds_every_value(document: Any, layout: dict[str, Any]) -> None:
    text = json.dumps(document, **layout)
    for where, value in everywhere(json.loads(text)):
        place = place_of(text, where)
        assert same(json.loads(text[place.offset : place.end]), value)
        assert text.split("\n")[place.line - 1][place.column - 1] == text[place.offset]
        assert same(resolve(json.loads(text), where), value)


@given(st.lists(st.text()))
def test_pointers_round_trip(steps: list[str]) -> None:
    assert parts(pointer(steps)) == steps


# --- the scanner --------------------------------------------------------------------------------


def test_scanner_takes_lines() -> None:
    scanner = Scanner(9)
    assert list(scanner.tokens('{"a":')) == [("{", 0, 1, None), ("name", 1, 4, "a")]
    with pytest.raises(Broken, match="expected a value but the text ends") as broken:
        scanner.finish('{"a":')
    assert broken.value.fault.offset == 5
    assert list(scanner.tokens("  [1, null")) == [
        ("[", 2, 3, None), ("number", 3, 4, None), ("literal", 6, 10, None),
    ]  # fmt: skip
    assert list(scanner.tokens("")) == []
    assert [(kind, *scanner.steps) for kind, *_ in scanner.tokens(', "x"] }')] == [
        ("string", "a", 2), ("]", "a"), ("}",),
    ]  # fmt: skip
    scanner.finish("")


# --- leaves ------------------------------------------------------------------------------------


def test_leaves_are_parts_without_parts() -> None:
    found = jsontext.leaves({"a": [1, {"b/c": None}], "d": {}, "e": []})
    assert sorted(found) == [("/a/0", 1), ("/a/1/b~1c", None)]
    assert [*jsontext.leaves("whole")] == [("", "whole")]


# --- surrogates away ----------------------------------------------------------------------------


def test_replace_lone_surrogates() -> None:
    number = Decimal("1E400")
    value = {"a\ud800": ["\udfff😀", {"b": "\ud800\udc00"}, number, None], "c": {}}
    before = repr(value)
    assert replace_lone_surrogates(value) == {
        "a\ufffd": ["\ufffd😀", {"b": "\ufffd\ufffd"}, number, None],
        "c": {},
    }
    assert repr(value) == before
    assert replace_lone_surrogates("\ud800") == "\ufffd"


@given(documents)
def test_replacing_nothing_changes_nothing(document: Any) -> None:
    assert same(replace_lone_surrogates(document), document)


def test_replace_lone_surrogates_in_depth() -> None:
    value: Any = "\ud800"
    for _ in range(5000):
        value = [value]
    copy = replace_lone_surrogates(value)
    while isinstance(copy, list):
        [copy] = copy
    assert copy == "\ufffd"


def test_shortened_is_safe_for_a_terminal() -> None:
    assert shortened("\x1b[31m\ud800\u202e") == r"'\x1b[31m\ud800\u202e'"
    assert not re.search(r"[^ -~…]", shortened("\x00" * 100))
