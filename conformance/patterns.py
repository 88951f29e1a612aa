"""Patterns as JSON Schema means them: ECMA-262, on Python's engine."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=512)
def ecma(pattern: str) -> re.Pattern[str]:
    """The compiled pattern, where `$` is the very end and `\\d`, `\\w` are ASCII.

    ECMA-262 without the `m` flag: `$` never matches before a final newline.
    """
    ends = re.sub(r"(\\.|\[(?:\\.|[^\]\\])*\])|\$", lambda found: found[1] or r"\Z", pattern, flags=re.DOTALL)
    return re.compile(ends, re.ASCII)


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found anywhere in the text."""
    return ecma(pattern).search(text) is not None
