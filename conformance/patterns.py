"""Patterns as JSON Schema means them: ECMA-262, by the engine that also gives the schema verdicts.

So the two can never differ on one, and no pattern, however hostile, is slow.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import jsonschema_rs

from conformance.errors import BadPack

_SURROGATE = re.compile("[\ud800-\udfff]")


@lru_cache(maxsize=512)
def _ecma(pattern: str) -> Any:
    try:
        return jsonschema_rs.validator_for({"pattern": pattern})
    except jsonschema_rs.ValidationError:
        raise BadPack(f"{pattern!r} is no regular expression of ECMA-262") from None


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found anywhere in the text; BadPack where it is none.

    A lone surrogate in the text, which no engine takes, counts as U+FFFD.
    """
    judge = _ecma(pattern)
    try:
        return bool(judge.is_valid(text))
    except UnicodeEncodeError:
        return bool(judge.is_valid(_SURROGATE.sub("\ufffd", text)))
