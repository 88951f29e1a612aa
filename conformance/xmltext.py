"""What may stand in an XML document."""

from __future__ import annotations

import re

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """The text with U+FFFD for each character that XML 1.0 cannot hold (section 2.2)."""
    return _FORBIDDEN.sub("\ufffd", text)
