"""Bytes → readings behind headers: nothing hangs, nothing found is lost, and chunks do not matter."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conformance.framing import KEPT, Reading
from conformance.headers import HEADER, HeaderStream, enclosed
from conformance.jsontext import LIMITS, Limits

A, B = b'Content-Length: 7\r\n\r\n{"a":1}', b'Content-Length: 7\r\n\r\n{"b":2}'


def readings(data: bytes, *cuts: int, limits: Limits = LIMITS) -> list[Reading]:
    """What a stream makes of the data, fed in the pieces between the cuts."""
    stream = HeaderStream(limits)
    found: list[Reading] = []
    for start, end in zip((0, *cuts), (*cuts, len(data)), strict=True):
        found += stream.feed(data[start:end])
    return found + stream.end()


def outline(data: bytes, limits: Limits = LIMITS) -> list[Any]:
    """Of each reading the value, or the code of the fatal fault; however the bytes are cut."""
    found = readings(data, limits=limits)
    assert readings(data, *range(1, len(data)), limits=limits) == found
    return [reading.fatal.code if reading.fatal else reading.value for reading in found]


def said(data: bytes, limits: Limits = LIMITS) -> list[str]:
    return [reading.fatal.message for reading in readings(data, limits=limits) if reading.fatal]


def test_a_message_behind_its_header() -> None:
    assert enclosed(b'{"a":1}') == A
    assert enclosed('{"é":1}'.encode()) == b"Content-Length: 8\r\n\r\n" + '{"é":1}'.encode()
    assert readings(A) == [Reading(b'{"a":1}', 1, '{"a":1}', {"a": 1}, exact=True)]


def test_a_message_is_returned_with_its_last_byte() -> None:
    stream = HeaderStream()
    assert stream.feed(A[:-1]) == []
    assert [one.value for one in stream.feed(A[-1:] + B)] == [{"a": 1}, {"b": 2}]
    assert stream.end() == []


@pytest.mark.parametrize(
    "data",
    [
        b'content-length:7\r\n\r\n{"a":1}',
        b'CONTENT-LENGTH: \t7 \r\n\r\n{"a":1}',
        b'Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 7\r\n\r\n{"a":1}',
        b'Content-Length: 7\r\nContent-Type: x\r\nX-Trace: 4\r\n\r\n{"a":1}',
        b'X-Trace: 4\r\nContent-Length: 007\r\n\r\n{"a":1}',
        b'Content-Length: 12\r\n\r\n{\r\n\r\n"a":1 }',
        b"",
    ],
)
def test_what_the_base_protocol_allows_has_no_fault(data: bytes) -> None:
    assert outline(data) == ([{"a": 1}] if data else [])


BROKEN = {
    "no length": (b"Content-Type: x\r\n\r\n{}", ["WIRE-LINE"], "a header without Content-Length"),
    "other fields only": (b"INFO: up\r\n\r\n", ["WIRE-LINE"], "a header without Content-Length"),
    "negative": (
        b'Content-Length: -7\r\n\r\n{"x":1}\n',
        ["WIRE-LINE"],
        "to be a number of bytes but is '-7'",
    ),
    "a fraction": (b'Content-Length: 7.0\r\n\r\n{"x":1}', ["WIRE-LINE"], "a number of bytes but is '7.0'"),
    "empty": (b"Content-Length:\r\n\r\n{}", ["WIRE-LINE"], "a number of bytes but is ''"),
    "words": (b"Content-Length: many\r\n\r\n{}\r\n\r\n", ["WIRE-LINE"], "but is 'many'"),
    "huge": (b"Content-Length: 1000000000000\r\n\r\n{}", ["WIRE-LIMIT"], "announces '1000000000000' bytes"),
    "astronomic": (b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n{}", ["WIRE-LIMIT"], "the limit is "),
    "two lengths": (
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        ["WIRE-LINE"],
        "a header with several lengths: '2', '3'",
    ),
    "twice the same": (
        b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        ["WIRE-LINE", {}],
        "says its Content-Length twice",
    ),
    "line feeds": (
        b"Content-Length: 2\n\n{}Content-Length: 2\n\n{}",
        ["WIRE-LINE", {}, {}],
        "a carriage return",
    ),
    "no field": (
        b"Content-Length: 2\r\n???\r\n\r\n{}",
        ["WIRE-LINE", {}],
        "a header field and a carriage return",
    ),
    "banner": (b"Welcome back\nListening on: 80\n", ["WIRE-NOISE", "WIRE-NOISE"], "stream: 'Welcome back'"),
    "undecodable": (b"\xff\xfe\n", ["WIRE-NOISE"], r"stream: '\\xff\\xfe'"),
    "no headers": (b'{"x":1}\n{"y":2}\n', ["WIRE-LINE", "WIRE-LINE"], "a message without a header"),
    "empty lines": (A + b"\r\n" + A + b"\n", [{"a": 1}, "WIRE-NOISE", {"a": 1}], "an empty line between"),
    "too short": (b'Content-Length: 5\r\n\r\n{"x":1}', ["WIRE-LINE"], "not end within the 5 bytes"),
    "characters counted": (
        b"Content-Length: 11\r\n\r\n" + '{"x":"aé"}'.encode(),
        [{"x": "aé"}],
        "",
    ),
    "within a character": (
        b"Content-Length: 8\r\n\r\n" + '{"x":"é"}'.encode(),
        ["WIRE-LINE"],
        "not end within the 8 bytes",
    ),
    "nothing": (b"Content-Length: 0\r\n\r\n", ["WIRE-LINE"], "not end within the 0 bytes"),
    "not utf-8": (b"Content-Length: 9\r\n\r\n" + b'{"x":"\xff"}', ["WIRE-UTF8"], "is not UTF-8"),
    "no json": (b"Content-Length: 5\r\n\r\nhello", ["WIRE-NOISE"], "'hello'"),
    "broken json": (b'Content-Length: 7\r\n\r\n{"x":,}', ["WIRE-JSON"], "expected a value but found ','"),
    "a long line": (b"x" * 20_000 + b"\n", ["WIRE-NOISE"], "something else on the protocol stream: 'xxx"),
    "a long line, no end": (b"x" * 20_000, ["WIRE-NOISE"], "something else on the protocol stream: 'xxx"),
    "a long header": (
        b"X-A: b\r\n" * 2000 + b"\r\n",
        ["WIRE-LIMIT"],
        f"a header is longer than {HEADER} bytes",
    ),
}


@pytest.mark.parametrize(("data", "codes", "sentence"), BROKEN.values(), ids=BROKEN)
def test_one_fault_is_one_finding_and_the_next_message_is_found(
    data: bytes, codes: list[Any], sentence: str
) -> None:
    assert outline(data + B) == [*codes, {"b": 2}]
    if sentence:
        assert sentence in said(data + B)[0]


def test_characters_instead_of_bytes_is_too_short() -> None:
    message = json.dumps({"x": "äöü"}, ensure_ascii=False)
    data = f"Content-Length: {len(message)}\r\n\r\n{message}".encode()
    assert outline(data + B) == ["WIRE-LINE", {"b": 2}]


@pytest.mark.parametrize("length", range(8, 7 + len(B) + 3))
def test_a_length_that_is_too_great_loses_no_message(length: int) -> None:
    """Whatever it swallows of the next: the message that it was about, and those behind it, are found."""
    data = A.replace(b"7", str(length).encode()) + B + B
    found = outline(data)
    assert found[:2] == ["WIRE-LINE", {"a": 1}]
    assert found[-1] == {"b": 2}
    assert len([one for one in found if isinstance(one, str)]) <= 2
    assert found.count({"b": 2}) == 2


@pytest.mark.parametrize(
    ("data", "codes", "sentence"),
    [
        (b"Content-Len", ["WIRE-NOISE"], "something else on the protocol stream: 'Content-Len'"),
        (b"Content-Length: 7", ["WIRE-NOISE"], "something else"),
        (b"Content-Length: 7\r\n", ["WIRE-LINE"], "the stream ends in the middle of a header"),
        (b"Content-Length: 7\r\n\r", ["WIRE-LINE"], "the stream ends in the middle of a header"),
        (b"Content-Length: 7\r\n\r\n", ["WIRE-LINE"], "the stream ends after 0 of the 7 bytes of a message"),
        (b'Content-Length: 7\r\n\r\n{"a":1', ["WIRE-LINE"], "the stream ends after 6 of the 7 bytes"),
        (b'Content-Length: 9\r\n\r\n{"a":1}', ["WIRE-LINE", {"a": 1}], "ends after 7 of the 9 bytes"),
        (
            b"Content-Length: 900\r\n\r\n{}" + A + b"Content-Length: 900\r\n\r\n" + B,
            ["WIRE-LINE", {}, {"a": 1}, "WIRE-LINE", {"b": 2}],
            "the stream ends after 81 of the 900 bytes",
        ),
        (b"{", ["WIRE-LINE"], "a message without a header"),
        (b"  \t", [], ""),
    ],
)
def test_an_end_in_the_middle(data: bytes, codes: list[Any], sentence: str) -> None:
    assert outline(data) == codes
    if codes:
        assert sentence in said(data)[0]


def test_what_is_kept_of_garbage_is_bounded() -> None:
    [reading, _] = readings(b"y" * 5000 + b"\n" + A)
    assert reading.data == b"y" * KEPT
    [reading] = readings(b"Content-Length: 9000\r\n\r\n" + b'{"x":"' + b"y" * 5000)
    assert len(reading.data) == KEPT


def test_a_message_over_the_limit_is_passed_over() -> None:
    assert outline(b"Content-Length: 30\r\n\r\n" + b" " * 28 + b"{}" + A, Limits(length=29)) == [
        "WIRE-LIMIT",
        {"a": 1},
    ]


def test_headers_that_lie_again_and_again_are_bounded() -> None:
    """Each takes all the others for its message; without a bound that is the square of what came."""
    data = b"Content-Length: 400000\r\n\r\n" * 15_000
    found = readings(data + b" " * 400_000, limits=Limits(length=1_000_000))
    assert 1 <= len(found) <= 10


# --- chunks do not matter -----------------------------------------------------------------------

PIECES = [
    *(A, B, b"Content-Length: ", b"content-length:", b"Content-Type: x", b"X-Y: z", b"7", b"9", b"40", b"-1"),
    *(
        b"\r\n",
        b"\n",
        b"\r\n\r\n",
        b"{",
        b"}",
        b'{"a":1}',
        b'"',
        b" ",
        b"log",
        b"\xff",
        "é".encode(),
        b"conte",
    ),
]
streams = st.lists(st.sampled_from(PIECES), max_size=20).map(b"".join) | st.binary(max_size=60)
SMALL = Limits(length=30)


@given(streams, st.data(), st.sampled_from([LIMITS, SMALL]))
@example(b"Content-Length: 7\r\n\r\n{}conte" + A, None, LIMITS)
def test_every_split_gives_the_same_readings(data: bytes, draw: st.DataObject | None, limits: Limits) -> None:
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=8))) if draw else []
    whole = readings(data, limits=limits)
    assert readings(data, *cuts, limits=limits) == whole
    assert readings(data, *range(1, len(data)), limits=limits) == whole


@given(
    st.integers(HEADER - 20, HEADER + 5),
    st.sampled_from([b"", b"\n", b"\r\n", b"Content-Length:", b"Content-Length: 7\r\n", b"content"]),
    st.integers(0, 20),
    st.integers(-40, 40),
)
def test_long_lines_are_cut_alike_wherever_they_come_apart(
    head: int, piece: bytes, more: int, cut: int
) -> None:
    data = b"y" * head + piece + b"x" * more + b"\n" + A + B
    found = readings(data)
    assert readings(data, HEADER + cut) == found
    assert found[-1].value == {"b": 2}


@given(
    st.lists(
        st.tuples(st.sampled_from([b"", b"log line\n", b"[12:00:00] x\n", b"\r\n"]), st.dictionaries(
            st.text(), st.text() | st.integers())),
        max_size=5,
    )
)  # fmt: skip
def test_messages_come_through_whatever_stands_between(rows: list[tuple[bytes, dict[str, Any]]]) -> None:
    data = b"".join(noise + enclosed(json.dumps(message).encode()) for noise, message in rows)
    found = [reading.value for reading in readings(data) if reading.fatal is None]
    assert found == [message for _, message in rows]
