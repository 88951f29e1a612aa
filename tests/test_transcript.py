"""The record: what is written is read again, judged alike, and holds no secret."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from judging import AWP, ROOT, VA, judged, said

from conformance import records, transcript
from conformance.errors import InputUnreadable
from conformance.events import Closed, Event, Fault, Malformed, Opened, Received, Sent
from conformance.framing import LineStream, read_message
from conformance.schemas import Schemas, load
from conformance.transcript import Redaction, Writer, event_of

HEADER = {"protocol": "va-agent-protocol", "revision": "0.1.0"}
NONE = Redaction((), b"key")
SECRETS = Redaction(AWP.secrets, b"key")


def written(events: Iterable[Event], redaction: Redaction = NONE, **header: Any) -> str:
    file = io.StringIO()
    writer = Writer(file, HEADER | header, redaction)
    for event in events:
        writer.append(event)
    return file.getvalue()


def read_again(text: str) -> list[Event]:
    return list(records.open_record(text.encode(), "t.jsonl").events)


def anywhere(event: Event) -> Event:
    """The event without its place in its input and how it was read, which a record has of its own."""
    if isinstance(event, (Sent, Received)):
        return event._replace(line=1, column=1, exact=False)
    return event if isinstance(event, (Opened, Closed)) else event._replace(line=1, column=1)


def same_again(events: list[Event]) -> None:
    text = written(events)
    assert text.count("\n") == len(events) + 1
    assert [type(event) for event in read_again(text)] == [type(event) for event in events]
    assert [anywhere(event) for event in read_again(text)] == [anywhere(event) for event in events]


def streamed(data: bytes, party: str = "agent") -> list[Event]:
    """What a stream of lines gives."""
    stream = LineStream()
    readings = [*stream.feed(data), *stream.end()]
    events: list[Event] = [event_of(reading, seq, party) for seq, reading in enumerate(readings, 1)]
    return [*events, Closed(len(events) + 1, by="agent", detail="end of input")]


def framed(*texts: bytes) -> list[Event]:
    """What messages of a WebSocket give, one each."""
    events: list[Event] = [event_of(read_message(one), seq, "agent") for seq, one in enumerate(texts, 1)]
    return [*events, Closed(len(events) + 1)]


# --- Write, then read ------------------------------------------------------------------------------


def test_every_sort_of_event_is_read_as_it_was_written() -> None:
    same_again(
        [
            Opened(1, "one", 0.0, "stdio"),
            Sent(2, "orchestrator", '{"a": 1}', {"a": 1}, "one", 0.1),
            Received(3, "agent", '{"a":1.0}', {"a": 1.0}, "one", 0.123456),
            Malformed(
                4,
                "agent",
                b"x",
                Fault("WIRE-NOISE", "a line of something else on the protocol stream: 'x'"),
                "one",
            ),
            Opened(5, "two"),
            Closed(6, "one", 0.5, "agent", False, "exit status 1"),
            Closed(7, "two", None, "", True, ""),
            Received(8, "agent", "{}", {}, "one", 3.5, lag=2.25, late=4.5),
            Malformed(9, "agent", b"{", read_message(b"{").faults[0], "one", 3.5, lag=0.011),
            Closed(10, "one", 4.0, "agent", True, "", lag=1.5),
        ]
    )


TEXTS = [
    b'{"a":1}',
    b'  {"a" : 1}\t',
    b'{"a":1}\r',
    b'{"a":1}\r\r',
    b'\xef\xbb\xbf{"a":1}',
    b'\xef\xbb\xbf{"a":1}\r',
    b'{"a":"\\u0000"}',
    b'{"a":"\\ud800"}',
    b'{"\\udfff":"\\ud83d\\ude00"}',
    '{"a":"é😀\u2028\u2029\u0085\u202e"}'.encode(),
    b'{"a":1,"a":2}',
    b'{"a":9007199254740993.0,"b":1E400,"c":1e2,"d":-0}',
    b'{"a":' + b"[" * 510 + b"]" * 510 + b"}",
    b'{"a":"\x7f"}',
    b"[1]",
    b'"text"',
    b"null",
    b'{"message":{"message":1},"seq":7}',
    # no messages
    b"{",
    b'{"a":1}{"b":2}',
    b'{"a":NaN}',
    b'{"a":"\xff"}',
    b"\x00",
    b'{"a":"\x00"}',
    b"INFO: started",
    b"\x1b[31mred",
    b'{"a":' + b"[" * 600 + b"]" * 600 + b"}",
    b'{"a":' + b"9" * 1001 + b"}",
    b"caf\xe9",
]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:24]))
def test_a_line_is_read_as_it_was_written(text: bytes) -> None:
    same_again(streamed(text + b"\n"))
    same_again(streamed(text))


@pytest.mark.parametrize(
    "text",
    [
        *TEXTS,
        b'{\n "a": 1\n}',
        b'{"a": 1}\n',
        b'\n{"a": 1}',
        b'{"a":\r\n1}',
        b"{\n",
        b'\xef\xbb\xbf{\n"a":1}',
        b"",
    ],
    ids=lambda text: ascii(text[:24]),
)
def test_a_message_of_its_own_is_read_as_it_was_written(text: bytes) -> None:
    same_again(framed(text))


def test_lines_that_make_one_message_are_read_as_they_were_written() -> None:
    same_again(streamed(b'{\n "a": 1\n}\n{"b":2}\n{"c":\n{"d":3}\n'))


PIECES = st.sampled_from(
    [b'{"a":1}', b"{", b"}", b'"', b"a", b":", b",", b"1", b"\n", b"\r\n", b" ", b"\\ud800", b"\x00",
     b"\xef\xbb\xbf", "é".encode(), b"\xff", b"NaN", b'{"a":"b"}', b'{"a":\n{"b":1}}', b"[", b"]",
     "\u2028".encode()]
)  # fmt: skip


@settings(max_examples=250, deadline=None)
@given(st.lists(PIECES, max_size=12).map(b"".join))
@example(b'{"a":1}\r\n{"a":1}\r\n')
@example(b'{"a":\n')
def test_any_stream_is_read_as_it_was_written(data: bytes) -> None:
    same_again(streamed(data))


@settings(max_examples=250, deadline=None)
@given(st.lists(st.lists(PIECES, max_size=8).map(b"".join), max_size=3))
def test_any_messages_are_read_as_they_were_written(texts: list[bytes]) -> None:
    same_again(framed(*texts))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.text(), JSON_VALUES, max_size=4), st.booleans(), st.sampled_from([None, 2]))
def test_any_message_is_read_as_it_was_written(
    value: dict[str, Any], ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    same_again(framed(text.encode("utf-8", "surrogatepass")))


@pytest.mark.parametrize(
    "fault",
    [Fault("WIRE-LIMIT", "the line is longer than 10 bytes"), Fault("WIRE-NOISE", "a binary message")],
)
def test_what_the_bytes_do_not_show_is_written_with_them(fault: Fault) -> None:
    """Of a line that is too long only a part is kept; that a message was binary shows on the cable only."""
    event = Malformed(1, "agent", b'{"a":1', fault)
    same_again([event, Closed(2)])
    row = json.loads(written([event]).splitlines()[1])
    assert row["fault"]["code"] == fault.code


def test_what_the_bytes_do_show_is_found_in_them_again() -> None:
    """So that a later kit may find something else."""
    for event in streamed(b"x\n\xff\n{]\n")[:-1]:
        assert "fault" not in json.loads(written([event]).splitlines()[1])


def findings(events: Iterable[Event]) -> list[Any]:
    return [finding._replace(line=0, column=0) for finding in judged(events, VA)]


@pytest.mark.parametrize(
    "path", sorted(VA.fixtures.glob("transcripts/*/*.jsonl")), ids=lambda path: path.stem
)
def test_a_record_of_a_record_is_judged_alike(path: Any) -> None:
    events = list(records.open_record(path.read_bytes(), str(path)).events)
    again = read_again(written(events))
    assert [anywhere(event) for event in again] == [anywhere(event) for event in events]
    assert findings(again) == findings(events)


def test_every_line_obeys_the_schema_of_transcripts() -> None:
    path = ROOT / "schemas" / "kit" / "transcript.schema.json"
    schema = Schemas(
        {"t.json": load(path.read_text(), "t.json")}, "https://json-schema.org/draft/2020-12/schema"
    )
    cut = Malformed(9, "agent", b"{", Fault("WIRE-LIMIT", "too long"))
    events = [Opened(1), *streamed(b"\n".join(TEXTS)), cut, Closed(10, final=False)]
    header, *rows = map(json.loads, written(events, scenario="s").splitlines())
    assert schema.errors("t.json#/$defs/header", header) == []
    for one in rows:
        assert schema.errors("t.json#/$defs/event", one) == [], one


def test_each_line_is_on_disk_before_anyone_judges_it(tmp_path: Any) -> None:
    path = tmp_path / "t.jsonl"
    with path.open("w") as file:
        writer = Writer(file, HEADER, NONE)
        assert path.read_text().count("\n") == 1
        writer.append(Opened(1))
        assert path.read_text().count("\n") == 2


# --- What a record says of itself ------------------------------------------------------------------


def test_a_record_that_stops_ends_with_what_is_not_final() -> None:
    stopped = read_again(written([Opened(1), Opened(2, "two"), Closed(3, "two")]))
    assert stopped[-1] == Closed(4, "main", clean=False, detail="the record stops here", final=False)
    assert len(stopped) == 4


def test_each_connection_that_is_open_where_the_record_stops_is_so_closed() -> None:
    stopped = read_again(written([Opened(1, "one"), Opened(2, "two")]))
    assert [(event.seq, event.connection) for event in stopped[2:]] == [(3, "one"), (4, "two")]


def test_a_record_of_nothing_stops_at_once() -> None:
    (event,) = read_again(written([]))
    assert isinstance(event, Closed)
    assert not event.final


def test_an_end_that_was_not_final_is_not_final_when_it_is_read() -> None:
    events: list[Event] = [Opened(1), Closed(2, final=False)]
    assert read_again(written(events)) == events


def test_a_truncated_line_cannot_be_read() -> None:
    text = written([Opened(1), Closed(2)])
    with pytest.raises(InputUnreadable, match=r"t.jsonl:3: "):
        read_again(text[:-10])


BAD_LINES = [
    "7",
    "[]",
    "null",
    '"x"',
    "{}",
    '{"seq":1}',
    '{"seq":1,"event":"sung"}',
    '{"seq":"x","event":"opened"}',
    '{"seq":1,"event":"opened","time":"soon"}',
    '{"seq":1,"event":"opened","time":1%s}' % ("0" * 400),
    '{"seq":1,"event":"opened","detail":5}',
    '{"seq":1,"event":"opened","connection":null}',
    '{"seq":1,"event":"closed"}',
    '{"seq":1,"event":"received","party":"agent"}',
    '{"seq":1,"event":"received","message":{}}',
    '{"seq":1,"event":"received","party":5,"message":{}}',
    '{"seq":1,"event":"received","party":"agent","text":5}',
    '{"seq":1,"event":"malformed","party":"agent","data":"*"}',
    '{"seq":1,"event":"malformed","party":"agent","data":"eA==","fault":{"nonsense":1}}',
    '{"seq":1,"event":"malformed","party":"agent","data":"eA==","fault":{"code":"WIRE-JSON","message":"","line":"1"}}',
    '{"seq":1,"event":"malformed","party":"agent","data":"eA==","fault":{"code":"WIRE-ELSE","message":""}}',
    "not JSON",
]


@pytest.mark.parametrize("line", BAD_LINES)
def test_a_line_that_is_no_event_cannot_be_read(line: str) -> None:
    with pytest.raises(InputUnreadable, match=r"t.jsonl:2: "):
        read_again(written([]) + line + "\n")


def test_a_message_stands_where_it_stands_in_its_line() -> None:
    (event, _) = read_again(written([Received(1, "agent", '{"a":1}', {"a": 1})]))
    assert isinstance(event, Received)
    line = written([event]).splitlines()[event.line - 1]
    assert line[event.column - 1 :].startswith('{"a":1}')


# --- Secrets ---------------------------------------------------------------------------------------

TOKEN = "st_9f8e7d6c5b4a39281706"
PLACES = [
    '{"session_token":"%s"}',
    '{"session_token" :\t"%s"}',
    '{"params":{"a":1,"transfer_token":"%s"}}',
    '{"session_token":"x","session_token":"%s"}',
    '{"session\\u005ftoken":"%s"}',
    '{"\\u0073ession_toke\\u006E":"%s"}',
    '{"log":"{\\"session_token\\":\\"%s\\"}"}',
    '{"log":"{\\\\\\"session_token\\\\\\": \\\\\\"%s\\\\\\", \\\\\\"a\\\\\\": 1}"}',
    '{"session_token":"%s","url":"ws://h/?token=%s"}',
    '{"a":[{"snapshot_token":"%s"}],"b":"%s"}',
]


@pytest.mark.parametrize("place", PLACES)
def test_no_secret_reaches_the_record(place: str) -> None:
    text = place.replace("%s", TOKEN)
    read = event_of(read_message(text.encode()), 1, "world")
    redacted = SECRETS.text(text)
    assert TOKEN not in redacted
    assert len(redacted) == len(text)
    assert TOKEN not in written([read], SECRETS)
    shape = json.loads(redacted, object_pairs_hook=list)
    assert str(shape).replace("redacted-", "")[:9] == str(json.loads(text, object_pairs_hook=list))[:9]


@pytest.mark.parametrize(
    "data",
    [
        b'{"session_token":"%s"',
        b'{"session_token":"%s',
        b'\xff{"session_token":"%s"}',
        b'{"session_token":"%s\\',
        b'{"session_token":"%s\\q"}',
        b'{"session_token":"%s"}{"session_token":"%s"}',
        b"\xef\xbb\xbf" + b'{"session_token":"%s"}',
    ],
)
def test_no_secret_reaches_the_record_in_what_is_no_message(data: bytes) -> None:
    data = data.replace(b"%s", TOKEN.encode())
    events = streamed(data + b"\r\n")
    text = written(events, SECRETS)
    assert TOKEN not in text
    for line in text.splitlines()[1:-1]:
        assert TOKEN.encode() not in base64.b64decode(json.loads(line).get("data", ""))
    before, after = events[0], read_again(text)[0]
    assert isinstance(before, Malformed | Received)
    assert isinstance(after, Malformed | Received)
    assert [(fault.code, fault.offset) for fault in after.faults] == [
        (fault.code, fault.offset) for fault in before.faults
    ]


def test_no_secret_reaches_the_record_in_the_name_of_a_connection() -> None:
    redaction = Redaction(AWP.secrets, b"key")
    told = Received(1, "world", f'{{"session_token":"{TOKEN}"}}', {})
    lost = Opened(2, "two", detail=f"ws://host/?token={TOKEN}")
    assert TOKEN not in written([told, lost, Closed(3, "two", detail=f"{TOKEN} refused")], redaction)


def test_one_secret_is_always_one_pseudonym_and_another_is_another() -> None:
    def token(text: str, key: bytes = b"key") -> str:
        redacted = Redaction(AWP.secrets, key).text(json.dumps({"session_token": text}))
        return str(json.loads(redacted)["session_token"])

    assert token(TOKEN) == token(TOKEN)
    assert token(TOKEN).startswith("redacted-")
    assert token(TOKEN) != token(TOKEN[:-1] + "7")
    assert token(TOKEN) != token(TOKEN, b"another run")
    assert token("abcdef") != token("abcdeg")
    assert token("") == ""
    for length in (1, 6, 15, 16, 40, 500):
        assert len(token("é" * length)) == length
    assert len(token('a"\\\n')) == 4


def test_the_protocols_own_words_are_no_credentials() -> None:
    """A hostile world might give out `executing` as its token; the record has to stay readable."""
    redaction = Redaction(AWP.secrets, b"key")
    redaction.text('{"session_token":"action.submit.result"}')
    redaction.text('{"session_token":"executing"}')
    text = '{"state":"executing","kind":"action.submit.result"}'
    assert redaction.text(text) == text


def test_what_is_no_secret_stays_as_it_is() -> None:
    for text in ('{"token":"x"}', '{"session_tokens":"x"}', '{"session_token":5}', '"session_token"', "{"):
        assert SECRETS.text(text) == text
    assert NONE.data(b'\xff{"session_token":"x"}') == b'\xff{"session_token":"x"}'


@pytest.mark.parametrize(
    "path", sorted(AWP.fixtures.glob("transcripts/*/*.jsonl"))[::3], ids=lambda path: path.stem
)
def test_a_redacted_record_is_judged_alike(path: Any) -> None:
    events = list(records.open_record(path.read_bytes(), str(path)).events)
    text = written(events, Redaction(AWP.secrets, b"key"), protocol="awp", revision="0.1-draft.7")
    again = read_again(text)

    def marks(events: list[Event]) -> list[tuple[str, bool, int]]:
        return [(one.requirement, one.ok, one.seq) for one in judged(events, AWP)]

    assert marks(again) == marks(events)
    assert "example_session_token" not in text


def test_a_hostile_text_is_redacted_in_no_time() -> None:
    import time

    began = time.process_time()
    SECRETS.text('{"' + "\\" * 100_000 + '"session_token":"' + "\\" * 100_001)
    SECRETS.text('"session_token":"' * 20_000)
    assert time.process_time() - began < 5


def test_said_is_said() -> None:
    """The shorthand of these tests gives what a record gives."""
    assert said(("agent", {"a": 1}))[0] == Received(1, "agent", '{"a": 1}', {"a": 1})
    assert transcript.is_header({"transcript": 1})
    assert not transcript.is_header([])
