"""Formats of strings mean what their RFCs say, in both engines and both dialects."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from conformance.schemas import DRAFT_7, DRAFT_2020_12, Schemas, fits

# RFC 3339. Where a row has no source, it follows from the grammar of §5.6 or the restrictions of §5.7.
DATE_TIMES = [
    ("1985-04-12T23:20:50.52Z", True),  # §5.8
    ("1996-12-19T16:39:57-08:00", True),  # §5.8
    ("1990-12-31T23:59:60Z", True),  # §5.8
    ("1990-12-31T15:59:60-08:00", True),  # §5.8
    ("1937-01-01T12:00:27.87+00:20", True),  # §5.8
    ("1985-04-12t23:20:50.52z", True),  # §5.6, NOTE: T and Z "may alternatively be lower case"
    ("1985-04-12T23:20:50-00:00", True),  # §4.3
    ("1985-04-12T23:20:50+00:00", True),
    ("1985-04-12T23:20:50+23:59", True),
    ("1985-04-12T23:20:50-23:59", True),
    ("1985-04-12T23:20:50." + "1234567890" * 10 + "Z", True),  # time-secfrac = "." 1*DIGIT
    ("0000-01-01T00:00:00Z", True),
    ("9999-12-31T23:59:59Z", True),
    ("2000-02-29T00:00:00Z", True),  # appendix C
    ("2024-02-29T00:00:00Z", True),
    ("1900-02-29T00:00:00Z", False),
    ("2023-02-29T00:00:00Z", False),
    ("2024-02-30T00:00:00Z", False),
    ("2024-04-31T00:00:00Z", False),
    ("2024-00-10T00:00:00Z", False),
    ("2024-13-10T00:00:00Z", False),
    ("2024-01-00T00:00:00Z", False),
    ("2024-01-32T00:00:00Z", False),
    ("2024-01-01T24:00:00Z", False),  # time-hour = 00-23
    ("2024-01-01T23:60:00Z", False),
    ("2024-01-01T23:59:61Z", False),
    # Leap seconds: "at the end of months", in UTC
    ("1998-12-31T23:59:60Z", True),
    ("1998-12-31T15:59:60.123-08:00", True),
    ("1999-01-01T07:59:60+08:00", True),
    ("2016-12-31t23:59:60.999999999z", True),
    ("2016-12-31T23:59:60+00:00", True),
    ("2016-12-31T23:59:60-00:00", True),
    ("2017-01-01T00:29:60+00:30", True),
    ("2015-06-30T23:59:60Z", True),
    ("2024-02-29T23:59:60Z", True),
    ("2023-02-28T23:59:60Z", True),
    ("2024-02-28T23:59:60Z", False),
    ("1998-12-30T23:59:60Z", False),
    ("1998-01-15T15:59:60-08:00", False),
    ("1998-12-31T07:59:60+08:00", False),
    ("1999-01-01T15:59:60-08:00", False),
    ("1998-12-31T22:59:60Z", False),
    ("1998-12-31T23:58:60Z", False),
    ("1998-12-31T23:59:60-08:00", False),
    # Not of the grammar
    ("1985-04-12T23:20:50", False),
    ("1985-04-12 23:20:50Z", False),  # a NOTE of §5.6 lets others use a space; date-time has "T"
    ("1985-04-12_23:20:50Z", False),
    ("1985-04-12T23:20:50+24:00", False),
    ("1985-04-12T23:20:50-24:00", False),
    ("1985-04-12T23:20:50+00:60", False),
    ("1985-04-12T23:20:50+0000", False),
    ("1985-04-12T23:20:50+00", False),
    ("1985-04-12T23:20:50+1:00", False),
    ("1985-04-12T23:20:50.Z", False),
    ("1985-04-12T23:20:50,5Z", False),
    ("1985-04-12T23:20Z", False),
    ("1985-4-12T23:20:50Z", False),
    ("19850412T232050Z", False),
    ("+1985-04-12T23:20:50Z", False),
    ("85-04-12T23:20:50Z", False),
    ("1985-04-12", False),
    ("1985-04-12T23:20:50Z\n", False),
    (" 1985-04-12T23:20:50Z", False),
    ("1985-04-12T23:20:50Z\0", False),
    ("1985-04-12T23:20:5٠Z", False),
    ("1985-04-12T23:20:50\u221208:00", False),
    ("", False),
]

UUIDS = [
    ("f81d4fae-7dec-11d0-a765-00a0c91e6bf6", True),  # RFC 4122 §3
    ("F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", True),  # "case insensitive on input"
    ("f81d4fae-7dec-11d0-A765-00a0c91e6bf6", True),
    ("00000000-0000-0000-0000-000000000000", True),  # §4.1.7
    ("ffffffff-ffff-ffff-ffff-ffffffffffff", True),
    ("urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", False),
    ("{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}", False),
    ("f81d4fae7dec11d0a76500a0c91e6bf6", False),
    ("f81d4fae-7dec11d0-a765-00a0c91e6bf6", False),
    ("f81d4faea-7dec-11d0-765-00a0c91e6bf6", False),
    ("f81d4fae-7dec-11d0-a765-00a0c91e6bf", False),
    ("f81d4fae-7dec-11d0-a765-00a0c91e6bf60", False),
    ("g81d4fae-7dec-11d0-a765-00a0c91e6bf6", False),
    ("f81d4fae-7dec-11d0-a765-00a0c91e6bf6\n", False),
    ("f81d4fae_7dec_11d0_a765_00a0c91e6bf6", False),
    ("", False),
]

URIS = [
    *((uri, True) for uri in (  # RFC 3986 §1.1.2
        "ftp://ftp.is.co.za/rfc/rfc1808.txt", "http://www.ietf.org/rfc/rfc2396.txt",
        "ldap://[2001:db8::7]/c=GB?objectClass?one", "mailto:John.Doe@example.com",
        "news:comp.infosystems.www.servers.unix", "tel:+1-816-555-1212", "telnet://192.0.2.16:80/",
        "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
    )),
    ("foo://example.com:8042/over/there?name=ferret#nose", True),  # §3
    ("agent://worker-001", True),
    ("HTTP://A", True),
    ("a:", True),
    ("a.b+c-d:x", True),
    ("file:///etc/passwd", True),
    ("http://a/%7Efoo", True),
    ("http://a:/", True),  # port = *DIGIT
    ("http://[::ffff:1.2.3.4]", True),
    ("http://[v1.a:b]/", True),  # IPvFuture
    ("http://a/?a=/?#/?", True),
    ("", False),
    ("/a", False),  # a scheme is needed
    ("//a/b", False),
    ("a/b", False),
    ("1a:b", False),
    ("://a", False),
    ("a_b:c", False),
    ("http://a b", False),
    ("http://a/b c", False),
    ("http://a/[x]", False),
    ("http://a/?[x]", False),
    ("http://a/#a#b", False),
    ("http://[::1", False),
    ("http://[1::2::3]", False),
    ("http://[::ffff:1.2.3.400]", False),
    ("http://a:x/", False),
    ("http://a/%", False),
    ("http://a/%4", False),
    ("http://a/%zz", False),
    ("http://é/", False),
    ("http://a/é", False),
    ("http://a/<x>", False),
    ('http://a/"', False),
    ("http://a/{x}", False),
    ("http://a/|", False),
    ("http://a\\b", False),
    ("http://a/^`", False),
    ("http://a\n", False),
    ("http://a/\x7f", False),
]  # fmt: skip

ROWS = [
    *(("date-time", *row) for row in DATE_TIMES),
    *(("uuid", *row) for row in UUIDS),
    *(("uri", *row) for row in URIS),
]


def judge(dialect: str, schema: dict[str, Any]) -> Schemas:
    return Schemas({"a.json": schema}, dialect)


@pytest.mark.parametrize("dialect", [DRAFT_7, DRAFT_2020_12], ids=["draft-07", "2020-12"])
@pytest.mark.parametrize("name", sorted({name for name, _, _ in ROWS}))
def test_a_format_is_the_rfcs(dialect: str, name: str) -> None:
    schemas = judge(dialect, {"format": name})
    for text, valid in ((text, valid) for of, text, valid in ROWS if of == name):
        told = schemas.errors("a.json", text)
        assert schemas.is_valid("a.json", text) is valid, text
        assert list(schemas._explainer.explain(schemas.uri("a.json"), text)) == told, text
        assert (told == []) is valid, text


def test_what_is_no_string_has_no_format() -> None:
    assert judge(DRAFT_2020_12, {"format": "date-time"}).is_valid("a.json", 17)


@pytest.mark.parametrize(
    ("year", "offset"),
    [
        *((2023, offset) for offset in ("Z", "+00:00", "-00:00", "+00:01", "+05:30", "+23:59", "-00:01")),
        *((year, "-11:00") for year in (1900, 1999, 2000, 2004, 2023, 2096, 2100)),
    ],
)
def test_a_leap_second_stands_at_the_end_of_every_month_and_nowhere_else(year: int, offset: str) -> None:
    """Expected values from Python's datetime: the second before is the last of a UTC month."""
    schemas = judge(DRAFT_2020_12, {"format": "date-time"})
    away = timedelta() if offset == "Z" else timedelta(hours=int(offset[1:3]), minutes=int(offset[4:]))
    away = -away if offset[0] == "-" else away
    for day in range(366):
        before = datetime(year, 1, 1, 23, 59, 59) + timedelta(days=day)
        text = f"{before + away:%Y-%m-%dT%H:%M}:60{offset}"
        is_last = (before + timedelta(seconds=1)).day == 1
        assert schemas.is_valid("a.json", text) is is_last, text


MISPLACED = "1998-12-30T23:59:60Z"


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"properties": {"format": {"format": "date-time"}}}, {"format": MISPLACED}),
        ({"properties": {"const": {"format": "date-time"}}}, {"const": MISPLACED}),
        ({"patternProperties": {"^a": {"format": "date-time"}}}, {"a": MISPLACED}),
        ({"items": {"allOf": [{"format": "date-time"}]}}, [MISPLACED]),
        ({"format": "date-time", "allOf": [{"type": "string"}]}, MISPLACED),
        ({"$defs": {"format": {"format": "date-time"}}, "$ref": "#/$defs/format"}, MISPLACED),
    ],
    ids=str,
)
def test_a_leap_second_is_judged_wherever_a_date_time_is(schema: dict[str, Any], value: Any) -> None:
    (error,) = judge(DRAFT_2020_12, schema).errors("a.json", value)
    assert error.message == f'the string "{MISPLACED}" is not a valid date-time'
    assert error.location.endswith("/format")
    assert not fits(schema, value)


@pytest.mark.parametrize(
    "schema",
    [
        {"const": {"format": "date-time"}},
        {"enum": [{"format": "date-time"}]},
        {
            "default": {"format": "date-time"},
            "examples": [{"pattern": "("}],
            "const": {"format": "date-time"},
        },
    ],
    ids=str,
)
def test_a_value_within_a_schema_is_no_schema(schema: dict[str, Any]) -> None:
    assert judge(DRAFT_2020_12, schema).errors("a.json", {"format": "date-time"}) == []


def test_a_regex_is_one_of_ecma_262() -> None:
    schemas = judge(DRAFT_2020_12, {"format": "regex"})
    for text, valid in [
        ("^a$", True),
        (r"^\0$", True),
        (r"(?<a>b)\k<a>", True),
        ("(?i)a", False),
        (r"\Z", False),
    ]:
        assert schemas.is_valid("a.json", text) is valid, text
