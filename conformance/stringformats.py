"""The `format` of strings, where the first engine does not say what the RFC says.

Its date-time, uuid and uri are those of RFC 3339, 4122 and 3986, with two exceptions: it takes a leap
second at 23:59:60 UTC of any day, and under draft-07, which had no uuid yet, any string for one. And its
regex is what it reads itself, which is not ECMA-262.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from conformance.patterns import is_pattern

LEAP_SECOND = "date-time at the end of a month"

_SIXTIETH = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt].*:60(?:\.[0-9]+)?([Zz+-].*)")


def may_be_a_leap_second(text: str) -> bool:
    """Whether a date-time at 23:59:60 UTC is on the last day of a month; true of every other text.

    RFC 3339 §5.7: the value 60 may only stand "at the end of months in which a leap second occurs".
    Which months these are is announced half a year ahead, and is not judged.
    """
    read = _SIXTIETH.fullmatch(text)
    if read is None:
        return True
    from calendar import monthrange

    year, month, day = (int(part) for part in read.groups()[:3])
    if not 1 <= month <= 12:
        return True
    is_next_day = read[4].startswith("+") and read[4] != "+00:00"  # there, when it is 23:59 UTC
    return day == (1 if is_next_day else monthrange(year, month)[1])


CHECKS: dict[str, Callable[[str], bool]] = {LEAP_SECOND: may_be_a_leap_second, "regex": is_pattern}
"""The formats that the first engine is taught, by name."""

# A check in Python costs five times what the engine's own does. So its own judges every date-time, and
# ours is asked about those that may have a leap second only.
AND_ALSO: Mapping[str, Any] = {
    "date-time": {"if": {"pattern": ":60"}, "then": {"format": LEAP_SECOND}},
    "uuid": {"pattern": "^[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$"},
}
"""What a format means beyond what the first engine takes it for, as a schema."""
