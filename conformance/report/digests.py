"""Digests as reports write them: the algorithm's name, a colon, hexadecimal digits."""

from __future__ import annotations

import hashlib


def of(data: bytes) -> str:
    """The SHA-256 of some bytes, as `sha256:…`."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
