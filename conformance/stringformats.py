"""The `format` of strings, where the first engine does not say what the RFC says.

Its date-time, uuid and uri are those of RFC 3339, 4122 and 3986, with two exceptions: it takes a leap
second at 23:59:60 UTC of any day, and under draft-07, which had no uuid yet, any string for one. And its
regex is what it reads itself, which is not ECMA-262.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.patterns import is_pattern

_COMMON = "[0-9]{2}(?:[02468][1235679]|[13579][01345789])|(?:[02468][1235679]|[13579][01345789])00"
_LAST_DAY = (
    f"(?:[0-9]{{4}}-(?:(?:0[13578]|1[02])-31|(?:0[469]|11)-30|02-29)|(?:{_COMMON})-02-28)[Tt]"
    r".*(?:[Zz]|-.....|\+00:00)"
)
_FIRST_DAY = r"[0-9]{4}-[0-9]{2}-01[Tt].*\+(?:0[1-9]:..|[12].:..|00:0[1-9]|00:[1-5].)"

AND_ALSO: Mapping[str, Any] = {
    # §5.7: the second 60 may only stand "at the end of months in which a leap second occurs". Which months
    # these are is not judged. East of Greenwich it is the next day, when it is 23:59:60 UTC.
    "date-time": {"if": {"pattern": ":60"}, "then": {"pattern": f"^(?:{_LAST_DAY}|{_FIRST_DAY})$"}},
    "uuid": {"pattern": "^[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$"},
}
"""What a format means beyond what the first engine takes it for, as a schema."""

CHECKS: dict[str, Callable[[str], bool]] = {"regex": is_pattern}
"""The formats that the first engine is taught, by name.

It judges everything more slowly for having to ask: only those schemas that may meet one should.
"""
