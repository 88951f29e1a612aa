"""Any input that a person may hold, as events."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import time
from collections.abc import Iterator
from typing import Any

import pytest
from judging import AWP, TRACES, VA, against, lines

from conformance import packs, recognition, records
from conformance.errors import InputUnreadable, UnknownProtocol
from conformance.events import Closed, Malformed, Opened, Received
from conformance.monitor import Monitor

PROGRESS = {
    "protocol": "va-agent-protocol",
    "version": "0.1.0",
    "type": "progress",
    "timestamp": "2026-04-01T00:00:00Z",
    "correlationId": "c-1",
    "payload": {"taskId": "T-1"},
}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"origin_ns": 1}}


def opened(data: bytes | str, **options: Any) -> list[Any]:
    record = records.open_record(data.encode() if isinstance(data, str) else data, "input", **options)
    return list(record.events)


def texts(data: bytes | str) -> list[str]:
    return [event.text for event in opened(data, pack=VA) if isinstance(event, Received)]


# --- One message, several, or a document -----------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ('{"a":1}', ['{"a":1}']),
        ('{"a":1}\n', ['{"a":1}']),
        ('{"a":1}\n{"b":2}\n', ['{"a":1}', '{"b":2}']),
        ('{"a":1}\n\n{"b":2}', ['{"a":1}', '{"b":2}']),
        ('{\n  "a": 1\n}\n', ['{\n  "a": 1\n}\n']),
        ('[{"a":1},{"b":2}]', ['{"a":1}', '{"b":2}']),
        ('[\n {"a":1},\n  {"b":[2]}\n]\n', ['{"a":1}', '{"b":[2]}']),
        ("[[1], 2, [[]]]", ["[1]", "2", "[[]]"]),
        ("[]", ["[]"]),
        ("5", ["5"]),
    ],
)
def test_what_an_input_holds(data: str, expected: list[str]) -> None:
    assert texts(data) == expected


def test_messages_without_a_record_have_no_speaker_and_an_end() -> None:
    first, second, end = opened(lines(PROGRESS, PROGRESS))
    assert (first.seq, first.party, first.line, first.time) == (1, "", 1, None)
    assert (second.seq, second.line) == (2, 2)
    assert end == Closed(3)


def test_messages_of_an_array_stand_where_they_stand() -> None:
    events = opened('[\n {"a":1}, {"b":2},\n\n   {"c":\n3}]', pack=VA)
    assert [(event.line, event.column) for event in events[:-1]] == [(2, 2), (2, 11), (4, 4)]
    bad = opened('  [{"a":1}, {"b":1,"b":2}]', pack=VA)
    (finding,) = (one for one in against(Monitor(VA).feed(bad[1])) if one.requirement == "WIRE-KEYS")
    assert (finding.line, finding.column) == (1, 20)


def test_the_mark_before_an_array_is_told_of_its_first_message() -> None:
    first, second, _ = opened(b'\xef\xbb\xbf[{"a":1}, {"b":2}]', pack=VA)
    assert [[fault.code for fault in event.faults] for event in (first, second)] == [["WIRE-BOM"], []]


@pytest.mark.parametrize("indent", [None, 1])
def test_the_lines_of_a_record_may_be_an_array(indent: int | None) -> None:
    """As `jq -s .` makes them."""
    said = {"seq": 2, "event": "received", "party": "agent", "connection": "main"}
    transcript = [HEADER, OPENED, {**said, "message": PROGRESS}]
    trace = [{"marker": "start"}, {"from": "agent", "msg": PING}]
    for rows, name, message in ((transcript, "message", PROGRESS), (trace, "msg", PING)):
        text = json.dumps(rows, indent=indent)
        (event,) = (one for one in opened(text) if isinstance(one, Received))
        before = text.split("\n")[: event.line - 1]
        here = "\n".join(text.split("\n")[event.line - 1 :])[event.column - 1 :]
        assert json.JSONDecoder().raw_decode(here)[0] == message
        assert "\n".join(before).count(f'"{name}"') == 0


def test_a_long_silence_before_the_first_message_takes_its_length_in_time() -> None:
    began = time.process_time()
    pieces = [b"\n" * 1000] * 4000
    event, _ = records.open_stream([*pieces, lines(PROGRESS).encode()], "input").events
    assert event.line == 4_000_001
    assert time.process_time() - began < 20  # a second or two; with every piece looked at anew, minutes


def test_a_large_array_takes_no_longer_than_its_lines() -> None:
    began = time.process_time()
    events = opened(json.dumps([PROGRESS] * 20_000))
    assert len(events) == 20_001
    assert time.process_time() - began < 20


def test_a_broken_line_among_lines_is_one_event() -> None:
    first, second, third, _ = opened('{"a":1}\n{"b":\n{"c":3}\n', pack=VA)
    assert isinstance(first, Received)
    assert isinstance(second, Malformed)
    assert (second.line, third.line) == (2, 3)


def test_a_broken_first_line_does_not_make_the_rest_one_text() -> None:
    first, second, _ = opened('{"a":\n{"b":2}\n', pack=VA)
    assert isinstance(first, Malformed)
    assert second.value == {"b": 2}


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" \n\r\n",
        b'{"a":1}',
        b'{"a":1}\n{"b":2}\n',
        b'{\r\n "a": 1\r\n}\r\n',
        b'{\n "a": [\n {"b": 1},\n {"b": 2}\n]}\n\n',
        b'{\n "a": 1\n}\n{\n "b": 1\n}\n',
        b'[{"a":1}, {"b":2}]\n \n',
        b'[{"a":1}, {"b":2}]\n{"c": 3}\n',
        b'[\n{"a":1},\n{"b":2}\n]',
        b'[\n{"a":1},\n\xff\n]',
        b'{"a":\n{"b":2}\n{"c":3}\n',
        b'\xef\xbb\xbf{"a":1}\n{"b":2}\n',
        b'hello\n{"a":1}\n',
        b"5\n",
        b'"x"\n{"a": 1}',
    ],
    ids=repr,
)
def test_it_does_not_matter_in_which_pieces_an_input_comes(data: bytes, size: int) -> None:
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    found = records.open_stream(pieces, "input", VA)
    assert list(found.events) == opened(data, pack=VA)


@pytest.mark.interpreted(reason="another limit than the compiled one")
def test_a_long_beginning_is_not_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document of any size is one; what is larger than a text may be is lines."""
    monkeypatch.setattr(records, "LOOKED_AT", 20)
    document = b'{\n "a": [\n' + b"  1,\n" * 20 + b"  1\n]}\n"
    pieces = [document[at : at + 10] for at in range(0, len(document), 10)]
    (event, _) = records.open_stream(pieces, "input", VA).events
    assert isinstance(event, Received)
    monkeypatch.setattr(records.jsontext, "LIMITS", records.jsontext.Limits(length=50))
    event, *_ = records.open_stream(pieces, "input", VA).events
    assert isinstance(event, Malformed)


@pytest.mark.interpreted(reason="another limit than the compiled one")
def test_a_line_without_an_end_is_not_kept_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records.jsontext, "LIMITS", records.jsontext.Limits(length=50))
    asked = 0

    def endless() -> Iterator[bytes]:
        nonlocal asked
        while asked < 100:
            asked += 1
            yield b"x" * 10

    fault, _ = (event for event in records.open_stream(endless(), "input", VA).events)
    assert isinstance(fault, Malformed)
    assert (fault.fault.code, len(fault.data)) == ("WIRE-LIMIT", 50)
    asked = 0
    assert records._until_line(endless()) == (b"x" * 60, False)
    assert asked == 6


@pytest.mark.interpreted(reason="another limit than the compiled one")
def test_a_second_line_without_an_end_is_not_kept_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records.jsontext, "LIMITS", records.jsontext.Limits(length=50))
    pieces = iter([b"[\n", *[b"1" * 10] * 100])
    assert records._until_decided(b"", pieces) == (b"[\n" + b"1" * 50, False)


# --- Which protocol --------------------------------------------------------------------------------

KNOWN = [
    (PROGRESS, VA),
    (PING, packs.find("awp")),
    ({"id": "T", "objective": "o", "acceptanceCriteria": []}, VA),
    ({"taskId": "T", "status": "completed"}, VA),
    ({"from": "agent", "step": "ping", "msg": PING}, packs.find("awp")),
]


@pytest.mark.parametrize(("value", "pack"), KNOWN, ids=lambda one: str(one)[:40])
def test_a_message_tells_its_protocol(value: Any, pack: Any) -> None:
    assert records.open_record(lines(value).encode(), "input").pack is pack
    assert records.open_record(lines({"x": 1}, "log line", value).encode(), "input").pack is pack


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"a":1}\n{"b":2}', r'it begins with \{"a": 1\}'),
        (b"hello\n", "it holds no JSON message"),
        (b"5\n", "it begins with 5"),
        (b"", "it holds no JSON message"),
        (b'{"from":"agent","msg":5}', 'it begins with {"from": "agent"'),
        (b'{"marker":"x"}', 'it begins with {"marker": "x"}'),
    ],
)
def test_what_nobody_recognises_is_said_to_be_so(data: bytes, said: str) -> None:
    with pytest.raises(
        UnknownProtocol, match=f"input: no known protocol .*{said}.*Known are .*awp: .*; va-agent"
    ):
        records.open_record(data, "input")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, "a message of MCP"),
        (
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "1"}},
            "a request of MCP",
        ),
        ({"jsonrpc": "2.0", "id": 1, "method": "message/send"}, "a message of A2A"),
        (
            {"jsonrpc": "2.0", "id": 1, "method": "do.it"},
            'JSON-RPC, and no protocol here has a method "do.it"',
        ),
        ({"specversion": "1.0", "id": "1", "source": "/x", "type": "t"}, "a CloudEvent"),
        ({"$schema": "x", "type": "object"}, "a JSON Schema"),
    ],
)
def test_what_is_known_by_its_shape_is_named(value: Any, said: str) -> None:
    with pytest.raises(UnknownProtocol, match=f"It looks like {said}"):
        records.open_record(lines(value).encode(), "input")


def called(method: str, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, **more}


ANSWER = {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize(
    "values",
    [
        [called("initialize", params={"protocolVersion": "2025-06-18"}), ANSWER],
        [called("tools/list"), ANSWER, called("ping"), ANSWER],
        [{"note": 1}, called("initialize", params={"processId": 1, "capabilities": {}}), ANSWER],
        [{"from": "client", "msg": called("tools/list")}, {"from": "server", "msg": ANSWER}],
    ],
    ids=["MCP", "MCP, with a call of the same name", "the language server protocol", "a trace of MCP"],
)
def test_answers_to_another_protocol_are_none_of_this(values: list[Any]) -> None:
    with pytest.raises(UnknownProtocol):
        records.open_record(lines(*values).encode(), "input")


def test_another_envelope_does_not_hide_a_protocol() -> None:
    assert records.open_record(lines(called("tools/list"), PROGRESS).encode(), "input").pack is VA
    assert (
        records.open_record(lines({"model": "m", "messages": []}, PING).encode(), "input").pack is KNOWN[1][1]
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (gzip.compress(lines(PROGRESS).encode()), "compressed by gzip"),
        (bz2.compress(lines(PROGRESS).encode()), "compressed by bzip2"),
        (lzma.compress(lines(PROGRESS).encode()), "compressed by xz"),
        (lines(PROGRESS).encode("utf-16"), "text in UTF-16"),
        (lines(PROGRESS).encode("utf-16-le"), "text in UTF-16"),
        (lines(PROGRESS).encode("utf-16-be"), "text in UTF-16"),
        (lines(PROGRESS).encode("utf-32"), "text in UTF-32"),
        (b"<!DOCTYPE html>\n<html></html>\n", "an HTML page"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_what_is_no_text_of_messages_is_said_to_be_what_it_is(data: bytes, said: str) -> None:
    with pytest.raises(InputUnreadable, match=f"input: .*it is {said}"):
        records.open_record(data, "input")
    assert records.open_record(data, "input", VA).pack is VA


@pytest.mark.parametrize("value", [None, 5, "x", [], {}, {"$schema": "x"}, PING, PROGRESS])
def test_what_is_not_known_by_its_shape_is_not_guessed(value: Any) -> None:
    assert recognition.foreign(value) == ""


def test_what_two_protocols_know_is_for_the_user_to_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognition, "_knowing", lambda value: (AWP, VA) if value == {"a": 1} else ())
    with pytest.raises(UnknownProtocol, match="input: this may be awp and va-agent-protocol; name one"):
        records.open_record(b'{"a": 1}', "input")


def test_a_message_of_another_protocol_is_told_from_one_of_this(monkeypatch: pytest.MonkeyPatch) -> None:
    assert recognition.belongs_elsewhere(PING, AWP) == ""
    assert recognition.belongs_elsewhere({"hello": 1}, AWP) == ""
    assert recognition.belongs_elsewhere(PROGRESS, AWP).endswith(f"a message of {VA.name}")


def test_a_protocol_that_is_named_is_taken_at_its_word() -> None:
    assert records.open_record(b'{"a":1}', "input", VA).pack is VA


@pytest.mark.interpreted(reason="another limit than the compiled one")
def test_long_texts_of_no_protocol_are_not_all_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records.jsontext, "LIMITS", records.jsontext.Limits(length=5000))
    asked = 0

    def pieces() -> Iterator[bytes]:
        nonlocal asked
        while asked < 1000:
            asked += 1
            yield b'{"hello":"' + b"x" * 1000 + b'"}\n'

    found = records.open_stream(pieces(), "input")
    assert isinstance(found, records.Unrecognised)
    assert asked < 10
    assert sum(isinstance(event, Received) for event in found.events) == 1000


def test_many_lines_are_read_as_they_are_asked_for() -> None:
    found = records.open_stream([b"[\n" + b"1,\n" * 500_000], "input", VA)
    began = time.process_time()
    assert isinstance(next(iter(found.events)), Malformed)
    assert time.process_time() - began < 2  # all of them take longer


def test_texts_of_no_protocol_are_events_too() -> None:
    found = records.open_stream([b'{"a":1}\nhello\n'], "input")
    assert isinstance(found, records.Unrecognised)
    first, second, _ = found.events
    assert isinstance(first, Received)
    assert isinstance(second, Malformed)


# --- Transcripts -----------------------------------------------------------------------------------

HEADER = {"transcript": 1, "protocol": "va-agent-protocol", "revision": "0.1.0"}
OPENED = {"seq": 1, "event": "opened"}


def test_a_transcript_is_read_by_its_header() -> None:
    record = records.open_record(lines(HEADER, OPENED).encode(), "input")
    assert record.pack is VA
    assert next(record.events) == Opened(1)


def test_a_transcript_may_be_judged_as_another_protocol() -> None:
    assert records.open_record(lines(HEADER, OPENED).encode(), "input", AWP).pack is AWP


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"transcript": 2}, "is written in format 2; this kit reads 1"),
        ({"transcript": 1}, "header names no known pack"),
        ({"transcript": 1, "protocol": "awp", "revision": "9"}, "header names no known pack: .*'awp@9'"),
    ],
    ids=str,
)
def test_a_header_that_names_no_pack_cannot_be_read(header: Any, said: str) -> None:
    with pytest.raises(InputUnreadable, match=said):
        records.open_record(lines(header, OPENED).encode(), "input")


def test_a_line_before_the_header_cannot_be_read() -> None:
    with pytest.raises(InputUnreadable, match="input:1: "):
        opened("a log line\n" + lines(HEADER, OPENED))


# --- Traces in the protocol's own format -----------------------------------------------------------


def test_a_trace_is_read_as_what_was_said() -> None:
    trace = lines(
        {"marker": "start"},
        {"from": "agent", "step": "ping", "msg": PING},
        {"from": "world", "step": "lost", "msg": PING, "delivered": False},
        {"from": "world", "step": "ping", "delivered": True, "msg": PING},
    )
    first, second, end = opened(trace)
    assert (first.party, first.value, first.seq, first.line) == ("agent", PING, 2, 2)
    assert (second.party, second.seq, second.line) == ("world", 4, 4)
    assert trace.splitlines()[3][second.column - 1 :].startswith('{"jsonrpc"')
    assert end == Closed(5, final=False)


def test_an_audit_log_is_read_as_what_was_said() -> None:
    record = {"ts_mono_ns": 0, "direction": "world", "prev_hash": None}
    log = lines(
        record | {"kind": "header", "body": {"class": "audit_record"}},
        record | {"kind": "message", "direction": "agent", "body": PING},
        record | {"kind": "frame", "body": {"channel_id": 1}},
        record | {"kind": "message", "body": {"jsonrpc": "2.0", "id": 1, "result": {}}},
    )
    first, second, end = opened(log)
    assert (first.party, first.value, first.line) == ("agent", PING, 2)
    assert (second.party, second.line) == ("world", 4)
    assert end == Closed(5, final=False)


HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}


@pytest.mark.parametrize("traced", [True, False], ids=["trace", "messages"])
def test_where_no_line_says_its_connection_each_greeting_begins_one(traced: bool) -> None:
    said = [PING, HELLO, PING, HELLO, PING]
    rows = [{"from": "agent", "msg": one} for one in said] if traced else said
    events = opened(lines(*rows))
    assert [(type(one).__name__, one.connection) for one in events] == [
        ("Received", "main"),
        ("Closed", "main"),
        ("Received", "2"),
        ("Received", "2"),
        ("Closed", "2"),
        ("Received", "3"),
        ("Received", "3"),
        ("Closed", "3"),
    ]


def test_a_record_that_begins_with_a_greeting_begins_with_its_connection() -> None:
    assert {one.connection for one in opened(lines(HELLO, PING))} == {"main"}


def test_where_a_protocol_has_no_greeting_all_is_one_connection() -> None:
    assert {one.connection for one in opened(lines(PROGRESS, PROGRESS))} == {"main"}


def test_a_third_party_has_a_connection_of_its_own() -> None:
    """An approver decides over a connection that the record of the session tells nothing else about."""
    trace = lines({"from": "agent", "msg": HELLO}, {"from": "approver", "msg": PING})
    _, event, end = opened(trace)
    assert (event.party, event.connection, event.value) == ("", "approver", PING)
    assert end == Closed(3, final=False)


def test_a_trace_line_that_does_not_say_who_spoke_is_none() -> None:
    with pytest.raises(InputUnreadable, match="input:2: this is no line of an AWP trace"):
        opened(lines({"from": "agent", "msg": PING}, {"msg": PING}))
    with pytest.raises(UnknownProtocol):
        opened(lines({"msg": PING}))
    _, second, _ = opened(lines({"from": "agent", "msg": PING}, {"from": 5, "msg": PING}))
    assert second.party == ""


def test_what_is_no_line_of_a_trace_is_told_where_it_stands() -> None:
    _, broken, after, _ = opened(
        lines({"from": "agent", "msg": PING}, "boom", {"from": "world", "msg": PING})
    )
    assert isinstance(broken, Malformed)
    assert (broken.line, after.line) == (2, 3)


def test_the_exact_text_of_a_message_in_a_trace_is_kept() -> None:
    text = '{"from":"world","msg":{"jsonrpc":"2.0","method":"x","params":{"n":9007199254740993.0,"n":1e2}}}\n'
    event = opened(text)[0]
    assert event.text == '{"jsonrpc":"2.0","method":"x","params":{"n":9007199254740993.0,"n":1e2}}'
    assert [fault.code for fault in event.faults] == ["WIRE-KEYS"]


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_every_line_of_a_trace_is_read(path: Any) -> None:
    """Each message event is the message of its line, by another reader of JSON."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    events = [event for event in opened(path.read_bytes()) if isinstance(event, Received)]
    for event in events:
        row = rows[event.line - 1]
        message = row["msg"] if "msg" in row else row.get("message")
        if message is not None:
            assert json.loads(event.text) == message
    if "from" in rows[0]:
        assert len(events) == sum("msg" in row and row.get("delivered") is not False for row in rows)


def test_a_line_of_a_trace_that_is_neither_message_nor_marker_is_not_passed_over() -> None:
    good = '{"from": "agent", "msg": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}'
    with pytest.raises(InputUnreadable, match=r"^t\.jsonl:2: this is no line of an AWP trace"):
        list(records.open_record(f'{good}\n{{"from": "agent", "mesg": {{}}}}\n'.encode(), "t.jsonl").events)
