"""Bytes → readings: nothing is lost, nothing is split that is one, and chunks do not matter."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conformance import framing, locating
from conformance.events import Fault
from conformance.framing import LineStream, Reading, part_at, read_message
from conformance.jsontext import LIMITS, Limits

PROGRESS = {
    "protocol": "va-agent-protocol",
    "version": "0.1.0",
    "type": "progress",
    "timestamp": "2026-04-01T00:00:00Z",
    "correlationId": "c1",
    "payload": {"taskId": "AP-1", "summary": "ok"},
}
GOOD = json.dumps(PROGRESS, separators=(",", ":")).encode()
CUT = "the line ends in the middle of a message"
END = "the stream ends in the middle of a message"


def readings(data: bytes, *cuts: int, limits: Limits = LIMITS) -> list[Reading]:
    """What a stream makes of the data, fed in the pieces between the cuts."""
    stream = LineStream(limits)
    found: list[Reading] = []
    for start, end in zip((0, *cuts), (*cuts, len(data)), strict=True):
        found += stream.feed(data[start:end])
    return found + stream.end()


def fatal(reading: Reading) -> Fault:
    """The fatal fault that the reading must have."""
    assert reading.fatal is not None
    return reading.fatal


def outline(data: bytes, limits: Limits = LIMITS) -> list[tuple[int, Any]]:
    """Of each reading the line, and the value or the code of the fatal fault."""
    return [(r.line, fatal(r).code if r.fatal else r.value) for r in readings(data, limits=limits)]


def faults(data: bytes, limits: Limits = LIMITS) -> list[tuple[Any, ...]]:
    """Of each reading the line and the codes of all its faults."""
    return [(r.line, *(fault.code for fault in r.faults)) for r in readings(data, limits=limits)]


# --- one message --------------------------------------------------------------------------------


def test_a_message() -> None:
    assert read_message(b' {"a": 1}\n') == Reading(b' {"a": 1}\n', 1, ' {"a": 1}\n', {"a": 1})
    assert read_message(b"{}", line=7) == Reading(b"{}", 7, "{}", {}, exact=True)
    assert read_message(b"{}").fatal is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [("[]", "an array"), ('"{}"', "a string"), ("42", "a number"), ("0.5", "a number"), ("1E400", "a number"),
     ("null", "null"), ("true", "true"), (" false ", "false")],
)  # fmt: skip
def test_json_that_is_no_object(text: str, kind: str) -> None:
    reading = read_message(text.encode())
    [fault] = reading.faults
    assert (fault.code, fault.fatal) == ("WIRE-OBJECT", False)
    assert fault.message == f"expected a JSON object but found {kind}"
    assert float(reading.value) == float(text) if kind == "a number" else reading.value == json.loads(text)


@pytest.mark.parametrize(
    ("text", "said", "offset"),
    [
        ("Welcome back", "'Welcome back'", 0),
        ("  Now listening on: http://localhost:5000\r", "'Now listening on: http://localhost:5000'", 2),
        ("\x1b[2J\x1b[0m", r"'\x1b[2J\x1b[0m'", 0),
        ('INFO {"a":1}', "'INFO {\"a\":1}'", 0),
        ("[info] started", "'[info] started'", 0),
        ("[2026-04-01 00:00:00] x", "'[2026-04-01 00:00:00] x'", 0),
        ("12:00 x", "'12:00 x'", 0),
        ("x" * 61, f"'{'x' * 59}…'", 0),
        ("}", "'}'", 0),
    ],
)
def test_noise_is_quoted_and_harmless(text: str, said: str, offset: int) -> None:
    reading = read_message(text.encode())
    assert reading.value is None
    assert fatal(reading).code == "WIRE-NOISE"
    assert fatal(reading).message == f"a line of something else on the protocol stream: {said}"
    assert (fatal(reading).offset, fatal(reading).line, fatal(reading).column) == (offset, 1, offset + 1)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"a":}', "WIRE-JSON"),
        (" {", "WIRE-JSON"),
        ("", "WIRE-JSON"),
        (" ", "WIRE-JSON"),
        ('[{"a":1},', "WIRE-JSON"),
        ("[1, 2", "WIRE-JSON"),
        ("[true, x", "WIRE-JSON"),
        ("[null x]", "WIRE-JSON"),
        ("NaN", "WIRE-CONSTANT"),
        ('{"a":NaN,"b":Infinity,"c":-Infinity}', "WIRE-CONSTANT"),
        ("{}{}", "WIRE-LINE"),
        ("[" * 100_000 + "]" * 100_000, "WIRE-LIMIT"),
    ],
)
def test_broken_json_stays_broken_json(text: str, code: str) -> None:
    reading = read_message(text.encode())
    assert reading.value is None
    assert [fault.code for fault in reading.faults] == [code]
    assert fatal(reading).code == code


def test_undecodable_bytes() -> None:
    reading = read_message(b'{"a":"\xff"}')
    assert (reading.text, reading.value, fatal(reading).code) == ('{"a":"\\xff"}', None, "WIRE-UTF8")
    assert fatal(reading).offset == 6


def test_faults_that_leave_a_value() -> None:
    reading = read_message(b'\xef\xbb\xbf{"a":1,"a":"\\ud800"}')
    assert reading.value == {"a": "\ud800"}
    assert reading.text == '{"a":1,"a":"\\ud800"}'
    assert [fault.code for fault in reading.faults] == ["WIRE-BOM", "WIRE-KEYS", "WIRE-SURROGATE"]
    assert reading.fatal is None


def test_limits_are_passed_on() -> None:
    assert fatal(read_message(b"[[1]]", limits=Limits(depth=1))).code == "WIRE-LIMIT"


# --- lines --------------------------------------------------------------------------------------


def test_a_line_is_returned_with_its_newline() -> None:
    stream = LineStream()
    assert stream.feed(GOOD) == []
    assert stream.feed(b"\n") == [Reading(GOOD, 1, GOOD.decode(), PROGRESS, exact=True)]
    assert stream.feed(b'{"a":1}\n{"b"') == [Reading(b'{"a":1}', 2, '{"a":1}', {"a": 1}, exact=True)]
    assert stream.feed(b"") == []
    assert stream.feed(b":2}\n") == [Reading(b'{"b":2}', 3, '{"b":2}', {"b": 2}, exact=True)]
    assert stream.end() == []


def test_last_line_needs_no_newline() -> None:
    assert outline(b"{}\n" + GOOD) == [(1, {}), (2, PROGRESS)]
    assert outline(b"") == []
    assert outline(b"  ") == []


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("stdout-log-line", b"info: Microsoft.Hosting.Lifetime[0]\n      Now listening on: http://localhost:5000\n"
         + GOOD + b"\n", [(1, "WIRE-NOISE"), (2, "WIRE-NOISE"), (3, PROGRESS)]),
        ("banner-then-json", b"Welcome back\n\n" + GOOD + b"\n", [(1, "WIRE-NOISE"), (3, PROGRESS)]),
        ("non-object-json", b'"some text"\n42\n[]\nnull\n' + GOOD + b"\n",
         [(1, "some text"), (2, 42), (3, []), (4, None), (5, PROGRESS)]),
        ("pretty-printed-object", json.dumps(PROGRESS, indent=2).encode() + b"\n", [(1, "WIRE-LINE")]),
        ("vt-ff-fs", b'{"a":"\\u000b"}\n{"a":"d\x1cb"}\n{}\n', [(1, {"a": "\x0b"}), (2, "WIRE-JSON"),
         (3, {})]),
        ("double-cr", GOOD + b"\r\r\n", [(1, PROGRESS)]),
        ("bom", b"\xef\xbb\xbf" + GOOD + b"\n\xef\xbb\xbf" + GOOD + b"\n", [(1, PROGRESS), (2, PROGRESS)]),
        ("bad-utf8", b"\xff\xfe\n" + GOOD + b"\n", [(1, "WIRE-UTF8"), (2, PROGRESS)]),
        ("blank-lines", b"\n  \n" + GOOD + b"\n\n", [(3, PROGRESS)]),
        ("concatenated", GOOD + GOOD + b"\n", [(1, "WIRE-LINE")]),
        ("interleaved", b'{"a":{"b"{"c":1}\n{}\n', [(1, "WIRE-JSON"), (2, {})]),
        ("id-types", b'{"id":"1","result":{}}\n', [(1, {"id": "1", "result": {}})]),
        ("nan-infinity", b'{"a":NaN,"b":Infinity,"c":-Infinity}\n', [(1, "WIRE-CONSTANT")]),
        ("deep-nesting", b"[" * 100_000 + b"]" * 100_000 + b"\n{}\n", [(1, "WIRE-LIMIT"), (2, {})]),
        ("regex-dollar-newline", '{"version":"0.1.0\\n"}\n{"version":"٠.١.٠"}\n'.encode(),
         [(1, {"version": "0.1.0\n"}), (2, {"version": "٠.١.٠"})]),
        ("unicode-line-ends", '{"a":"\u2028\u2029\u0085"}\n{}\n'.encode(),
         [(1, {"a": "\u2028\u2029\x85"}), (2, {})]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_wire_hazards(name: str, data: bytes, expected: Any) -> None:
    assert outline(data) == expected
    assert readings(data, *range(1, len(data), 7)) == readings(data)


@pytest.mark.parametrize("length", [70_000, 2**20 + 1, 2**24])
def test_long_lines_are_ordinary(length: int) -> None:
    value = {**PROGRESS, "payload": {"summary": "x" * length}}
    data = json.dumps(value).encode() + b"\n"
    assert outline(data + b"{}\n") == [(1, value), (2, {})]


def test_a_byte_order_mark_is_a_fault_wherever_it_stands() -> None:
    assert faults(b"\xef\xbb\xbf{}\n\xef\xbb\xbf{}\n\xef\xbb\xbf\n") == [
        (1, "WIRE-BOM"), (2, "WIRE-BOM"), (3, "WIRE-BOM", "WIRE-JSON"),
    ]  # fmt: skip


def test_carriage_returns_are_reported_once() -> None:
    assert faults(b"\r\n{}\n{}\r\r\n{}\r\nx\r\n") == [(2,), (3, "WIRE-LINE"), (4,), (5, "WIRE-NOISE")]
    [reading] = readings(b'{"a":1}\r\r\n')
    assert (reading.data, reading.text, reading.value) == (b'{"a":1}\r\r', '{"a":1}', {"a": 1})
    [fault] = reading.faults
    assert not fault.fatal
    assert (fault.offset, fault.line, fault.column) == (7, 1, 8)
    assert "a carriage return before the newline" in fault.message


def test_carriage_return_in_a_message_of_several_lines() -> None:
    [reading] = readings(b'\xef\xbb\xbf{\n "a": 1\r\n}\r\n')
    assert reading.text == '{\n "a": 1\r\n}'
    assert [
        (fault.code, fault.fatal, fault.offset, fault.line, fault.column) for fault in reading.faults
    ] == [
        ("WIRE-BOM", False, 0, 1, 1),
        ("WIRE-LINE", True, 1, 1, 2),
        ("WIRE-LINE", False, 9, 2, 8),
    ]


def test_carriage_return_at_the_end_of_the_stream() -> None:
    assert faults(b"{}\r") == [(1, "WIRE-LINE")]


# --- messages over several lines ----------------------------------------------------------------


def test_pretty_printed_message_is_one_reading() -> None:
    text = json.dumps(PROGRESS, indent=2)
    stream = LineStream()
    assert stream.feed(b"{}\n" + text.encode()) == [Reading(b"{}", 1, "{}", {}, exact=True)]
    [reading] = stream.feed(b"\n")
    assert (reading.data, reading.text, reading.value, reading.line) == (text.encode(), text, None, 2)
    [fault] = reading.faults
    assert (fault.code, fault.message, fault.fatal) == ("WIRE-LINE", "message spans 11 lines", True)
    assert (fault.offset, fault.line, fault.column) == (1, 1, 2)
    assert [r.value for r in stream.feed(GOOD + b"\n")] == [PROGRESS]
    assert stream.end() == []


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        # complete
        (b'{\n\n \n"a"\n:\n1\n}\n{}\n', [(1, "WIRE-LINE"), (8, {})]),
        (b'{"a":1\n}', [(1, "WIRE-LINE")]),
        (b'{\n"a":[\n {"b":1},\n {"b":2}\n]\n}\n{}\n', [(1, "WIRE-LINE"), (7, {})]),
        (b'{"a":\n\t{}\n}\n', [(1, "WIRE-LINE")]),
        # a message at the margin begins anew, whatever could follow what is held
        (b'{"a":[\n{"b":1}\n{}\n', [(1, "WIRE-LINE"), (2, {"b": 1}), (3, {})]),
        (b'{"a":1,\n{"b":1}\n', [(1, "WIRE-LINE"), (2, {"b": 1})]),
        (b'{"a":1\n {"b":1}\n', [(1, "WIRE-LINE"), (2, {"b": 1})]),
        # cut off where no line can go on
        (b'{"a":"x\n{}\n', [(1, "WIRE-LINE"), (2, {})]),
        (b'{"a":tru\n{}\n', [(1, "WIRE-LINE"), (2, {})]),
        (b'{"a":1.\n{}\n', [(1, "WIRE-LINE"), (2, {})]),
        (b'{\n "a": "x\n{}\n', [(1, "WIRE-LINE"), (3, {})]),
        # what cannot go on so
        (b'{\n "a": 1\n "b": 2\n}\n', [(1, "WIRE-LINE"), (3, "WIRE-NOISE"), (4, "WIRE-NOISE")]),
        (b'{"a":1\n{"b":2\n}\n', [(1, "WIRE-LINE"), (2, "WIRE-LINE")]),
        (b"{\n} {}\n", [(1, "WIRE-LINE"), (2, "WIRE-NOISE")]),
        (b'{\nlog\n"a":1}\n', [(1, "WIRE-LINE"), (2, "WIRE-NOISE"), (3, "WIRE-NOISE")]),
        (b"{\n\xff\n{}\n", [(1, "WIRE-LINE"), (2, "WIRE-UTF8"), (3, {})]),
        (b"{\n\xef\xbb\xbf}\n", [(1, "WIRE-LINE"), (2, "WIRE-NOISE")]),
        # a message that might have been a part is not lost with the rest
        (b'{"a":[\n {"b":1}\n,\n\n {"b":2}\n\nlog\n',
         [(1, "WIRE-LINE"), (2, {"b": 1}), (3, "WIRE-LINE"), (5, {"b": 2}), (7, "WIRE-NOISE")]),
        (b'{"a":\n {"b":1}\n', [(1, "WIRE-LINE"), (2, {"b": 1})]),
        # arrays are not held
        (b"[\n{}\n]\n", [(1, "WIRE-JSON"), (2, {}), (3, "WIRE-NOISE")]),
    ],
)  # fmt: skip
def test_lines_that_belong_together(data: bytes, expected: Any) -> None:
    assert outline(data) == expected
    assert readings(data, *range(1, len(data))) == readings(data)


@pytest.mark.parametrize(
    ("data", "message", "place"),
    [
        (b'{"a":\n{}\n', CUT, (5, 1, 6)),
        (b'{\n"a":\n{}\n', CUT, (6, 2, 5)),
        (b'{"a":"\n', CUT, (6, 1, 7)),
        (b'{"a":"', END, (6, 1, 7)),
        (b'{"a":', END, (5, 1, 6)),
        (b'{\n "a": "', END, (9, 2, 8)),
        (b'{\n "a":\n\n', END, (8, 3, 1)),
    ],
)
def test_where_a_message_stops(data: bytes, message: str, place: tuple[int, int, int]) -> None:
    reading = readings(data)[0]
    [fault] = reading.faults
    assert (fault.code, fault.message, fault.fatal) == ("WIRE-LINE", message, True)
    assert (fault.offset, fault.line, fault.column) == place
    assert reading.value is None


@pytest.mark.interpreted(reason="another limit than the compiled one")
def test_lines_are_held_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "HELD_LINES", 3)
    assert outline(b"{\n\n}\n") == [(1, "WIRE-LINE")]
    found = readings(b'{\n"a":[\n1,\n2,\n3]}\n{}\n')
    assert [reading.line for reading in found] == [1, 5, 6]
    assert fatal(found[0]).message.startswith("message spans more than 3 lines or ")
    assert found[0].data == b'{\n"a":[\n1,\n2,'
    assert found[2].value == {}


def test_bytes_are_held_up_to_a_bound() -> None:
    assert outline(b'{"a":\n1234\n}\n', Limits(length=10)) == [(1, "WIRE-LINE")]
    [held, rest] = readings(b'{"a":\n123456\n}\n', limits=Limits(length=10))
    assert held.data == b'{"a":\n123456'
    assert fatal(held).message == "message spans more than 10000 lines or 10 bytes"
    assert fatal(rest).code == "WIRE-NOISE"


# --- lines that are too long --------------------------------------------------------------------


def test_a_line_that_is_too_long_is_skipped() -> None:
    ten = Limits(length=10)
    assert outline(b'{"a":1234}\n', ten) == [(1, {"a": 1234})]
    data = b'{}\n{"a":12345}\n{"b":1}\n'
    assert outline(data, ten) == [(1, {}), (2, "WIRE-LIMIT"), (3, {"b": 1})]
    long = readings(data, limits=ten)[1]
    assert (long.data, long.text, long.value) == (b'{"a":12345', '{"a":12345', None)
    assert fatal(long).message == "the line is longer than 10 bytes"


def test_a_line_that_is_too_long_is_reported_at_once() -> None:
    stream = LineStream(Limits(length=5000))
    assert stream.feed(b"{" + b"x" * 4999) == []
    [reading] = stream.feed(b"x")
    assert (reading.line, fatal(reading).code, reading.data) == (1, "WIRE-LIMIT", b"{" + b"x" * 999)
    assert stream.feed(b"x" * 10_000) == []
    assert stream.feed(b"\n {}\n") == [Reading(b" {}", 2, " {}", {})]
    assert stream.end() == []


def test_a_line_that_is_too_long_ends_what_is_held() -> None:
    assert outline(b"{\n" + b"x" * 20 + b"\n{}", Limits(length=10)) == [
        (1, "WIRE-LINE"), (2, "WIRE-LIMIT"), (3, {}),
    ]  # fmt: skip
    assert outline(b"x" * 20, Limits(length=10)) == [(1, "WIRE-LIMIT")]


def test_many_lines_of_an_object_are_read_once_each() -> None:
    """9,999 lines: with a second look at all that is held for each of them this would not end."""
    data = b'{"a":[\n' + b"1,\n" * 9997 + b"1]}\n{}\n"
    assert outline(data) == [(1, "WIRE-LINE"), (10000, {})]
    assert len(outline(b"{\n" * 50_000)) == 50_000
    assert outline(b'{"a":[' * 1000 + b"\n{}") == [(1, "WIRE-LIMIT"), (2, {})]


# --- chunks do not matter -----------------------------------------------------------------------

PIECES = [
    *(b"{", b"}", b"[", b"]", b'"a"', b":", b",", b"1", b"\n", b"\r\n", b" ", b'"', b"\\", b"tru", b"log"),
    *(b'{"a":1}', b'\n{"a":[', b"\n {}\n", b"\xef\xbb\xbf", b"\xff", "é\u2028".encode()),
]
streams = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join) | st.binary(max_size=60)


@given(streams, st.data(), st.sampled_from([LIMITS, Limits(length=7), Limits(length=20, depth=2)]))
def test_every_split_gives_the_same_readings(data: bytes, draw: st.DataObject, limits: Limits) -> None:
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=8)))
    whole = readings(data, limits=limits)
    assert readings(data, *cuts, limits=limits) == whole
    assert readings(data, *range(1, len(data)), limits=limits) == whole


@given(streams)
@example(b'{"a":[\n {}\n')
def test_no_message_is_lost_and_no_byte_twice(data: bytes) -> None:
    """All that is not blank is in exactly one reading; a line that is a message gives its value."""
    found = readings(data)
    lines = data.split(b"\n")
    covered: list[int] = []
    for reading in found:
        own = reading.data.split(b"\n")
        assert lines[reading.line - 1 : reading.line - 1 + len(own)] == own
        covered += range(reading.line, reading.line + len(own))
    assert covered == sorted(set(covered))
    assert all(number in covered for number, line in enumerate(lines, 1) if line.strip(b" \t\r"))
    values = {reading.line: reading.value for reading in found}
    for number, line in enumerate(lines, 1):
        alone = read_message(line.rstrip(b"\r"))
        if line.startswith(b"{") and alone.fatal is None:
            assert values[number] == alone.value


@given(
    st.lists(st.dictionaries(st.text(), st.text() | st.integers()), max_size=5),
    st.sampled_from(["\n", "\r\n"]),
)
def test_messages_come_through(messages: list[dict[str, Any]], newline: str) -> None:
    data = "".join(json.dumps(message) + newline for message in messages).encode()
    found = readings(data)
    assert [reading.value for reading in found] == messages
    assert [reading.line for reading in found] == list(range(1, len(messages) + 1))
    assert all(reading.fatal is None for reading in found)


# ── a message that stands in a line of a record ──────────────────────────────────────────────────

HELD = {
    "last": '{"from":"a","msg":{"id":1}}',
    "last, deep": '{"from":"a","msg":{"p":{"q":[{"r":{}}]}}}',
    "empty": '{"from":"a","msg":{}}',
    "not last": '{"msg":{"id":1},"from":"a"}',
    "alone": '{"msg":{"id":1}}',
    "of this name inside it": '{"from":"a","msg":{"x":1,"msg":{"id":2}}}',
    "of this name in a string before it": '{"from":",\\"msg\\":{","msg":{"id":1}}',
    "a string that ends like it": '{"from":"a,","msg":{"id":1}}',
    "of this name in an object before it": '{"from":{"y":1,"msg":{"id":2}},"msg":{"id":1}}',
    "of this name in an array before it": '{"from":[{"y":1,"msg":{"id":2}}],"msg":{"id":1}}',
    "brackets in a string before it": '{"from":"{[","msg":{"id":1}}',
    "not ASCII": '{"from":"ä","msg":{"id":"ü€"}}',
    "spaces": '{ "from" : "a" , "msg" : {"id" : 1} }',
    "as it is mostly written": '{"from": "a", "msg": {"id": 1}}',
    "of this name in a string before it, spaced": '{"from": ", \\"msg\\": {", "msg": {"id": 1}}',
    "two spaces": '{"from": "a",  "msg":  {"id": 1}}',
    "spaces around it": '{"from":"a","msg": {"id":1} }',
    "spaces before its end": '{"from":"a","msg":{"id":{} } }',
    "in brackets like it": '{"from":"a","msg":{"id":{}}}',
    "a float that is none": '{"from":"a","msg":{"id":1.10}}',
    "twice": '{"from":"a","msg":{"id":2},"msg":{"id":1}}',
    "a name that is escaped": '{"from":"a","\\u006dsg":{"id":1}}',
}


@pytest.mark.parametrize("line", HELD.values(), ids=HELD)
def test_a_message_in_a_line_is_read_as_it_stands_there(line: str) -> None:
    """`locate`, which reads the text token by token, says where that is."""
    whole = read_message(line.encode(), 3)
    place = locating.locate(line, "/msg")
    assert place is not None
    found, text = part_at(whole, "/msg"), line[place.offset : place.end]
    assert (found.text, found.data, found.line, found.column) == (text, text.encode(), 3, place.offset + 1)
    assert found.value == json.loads(text)
    assert found.faults == ()
