"""Moments in time as texts give them: RFC 3339 date-times as exact, comparable numbers."""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction

from conformance.events import JSON

_DATE_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)

DIGITS = 100
"""Digits of a fraction of a second that count; nobody means the ones after them."""

_ERA_YEARS, _ERA_DAYS = 400, 146_097  # the calendar repeats itself


def instant(value: JSON) -> Fraction | None:
    """Seconds since the beginning of year 0 UTC, or None where `value` is no date-time with an offset.

    A leap second is the moment at which the next minute begins. Whether a text is a date-time at all is
    the schema's matter; what cannot be read here is only not compared.
    """
    found = _DATE_TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    year, month, day, hour, minute, second = map(int, found.group(1, 2, 3, 4, 5, 6))
    try:
        days = date(2000 + year % _ERA_YEARS, month, day).toordinal() + year // _ERA_YEARS * _ERA_DAYS
    except ValueError:
        return None
    fraction, sign, hours, minutes = found.group(7, 8, 9, 10)
    offset = (int(hours) * 60 + int(minutes)) * (-1 if sign == "-" else 1) if sign else 0
    if hour > 23 or minute > 59 or second > 60 or (sign and (int(hours) > 23 or int(minutes) > 59)):
        return None
    whole = ((days * 24 + hour) * 60 + minute - offset) * 60 + second
    part = (fraction or "")[:DIGITS]
    return whole + Fraction(int(part or 0), 10 ** len(part))
