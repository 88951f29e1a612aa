"""Moments in time as texts give them: RFC 3339 date-times as exact, comparable numbers."""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from conformance.events import JSON

_DATE_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)

DIGITS = 100
"""Digits of a fraction of a second that count; nobody means the ones after them."""

_ERA_YEARS, _ERA_DAYS = 400, 146_097  # the calendar repeats itself

Moment: TypeAlias = int | Fraction
"""Seconds, exactly."""


def instant(value: JSON) -> Moment | None:
    """Seconds since the beginning of year 0 UTC, or None where `value` is no date-time with an offset.

    A leap second is the moment at which the next minute begins. Whether a text is a date-time at all is
    the schema's matter; what cannot be read here is only not compared.
    """
    found = _DATE_TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    day, hour, minute, second, fraction, sign, hours, minutes = found.groups()
    days = _days(day)
    if days is None or hour > "23" or minute > "59" or second > "60":
        return None
    if sign and (hours > "23" or minutes > "59"):
        return None
    offset = (int(hours) * 60 + int(minutes)) * (-60 if sign == "-" else 60) if sign else 0
    whole = days * 86_400 + int(hour) * 3_600 + int(minute) * 60 + int(second) - offset
    if not fraction:
        return whole
    scale = 10 ** len(fraction[:DIGITS])
    return Fraction(whole * scale + int(fraction[:DIGITS]), scale)


@lru_cache(maxsize=64)
def _days(day: str) -> int | None:
    """The number of a day, which many moments have in common; None where the calendar has no such day."""
    year, month, number = map(int, day.split("-"))
    try:
        return date(2000 + year % _ERA_YEARS, month, number).toordinal() + year // _ERA_YEARS * _ERA_DAYS
    except ValueError:
        return None
