"""RFC 3339 date-times as numbers that can be compared."""

from fractions import Fraction

import pytest

from conformance.instants import instant


@pytest.mark.parametrize(
    ("one", "other", "seconds"),
    [
        ("1985-04-12T23:20:50.52Z", "1985-04-12T23:20:50Z", Fraction(52, 100)),
        ("1996-12-19T16:39:57-08:00", "1996-12-20T00:39:57Z", 0),
        ("1990-12-31T23:59:60Z", "1991-01-01T00:00:00Z", 0),
        ("1990-12-31T15:59:60-08:00", "1990-12-31T23:59:60Z", 0),
        ("1937-01-01T12:00:27.87+00:20", "1937-01-01T11:40:27.87z", 0),
        ("2024-03-01t00:00:00z", "2024-02-28T00:00:00Z", 2 * 86_400),
        ("2023-03-01T00:00:00Z", "2023-02-28T00:00:00Z", 86_400),
        ("0000-03-01T00:00:00Z", "0000-02-29T00:00:00Z", 86_400),
        ("0400-01-01T00:00:00Z", "0399-12-31T00:00:00Z", 86_400),
        ("2024-01-01T00:00:00." + "0" * 98 + "2Z", "2024-01-01T00:00:00Z", Fraction(2, 10**99)),
        ("2024-01-01T00:00:00." + "0" * 200 + "2Z", "2024-01-01T00:00:00Z", 0),
        ("2024-01-01T00:00:00-00:00", "2024-01-01T00:00:00Z", 0),
    ],
)
def test_moments_are_exact(one: str, other: str, seconds: Fraction) -> None:
    later, earlier = instant(one), instant(other)
    assert later is not None
    assert earlier is not None
    assert later - earlier == seconds


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-01T00:00:00",
        "2024-01-01 00:00:00Z",
        "2024-01-01T00:00:00Z\n",
        "2023-02-29T00:00:00Z",
        "2024-01-01T24:00:00Z",
        "2024-01-01T00:60:00Z",
        "2024-01-01T00:00:61Z",
        "2024-01-01T00:00:00+24:00",
        "2024-01-01T00:00:00+00:60",
        "2024-00-01T00:00:00Z",
        "٢٠٢٤-01-01T00:00:00Z",
        "yesterday",
        17,
        None,
    ],
)
def test_what_is_no_moment_is_none(text: object) -> None:
    assert instant(text) is None
