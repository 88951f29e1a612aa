"""JSON values as TOML text: what `conformance.toml` is written with. TOML 1.0 is read by `tomllib`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def string(text: str) -> str:
    """A basic string. JSON's escapes are TOML's; DEL has one too, and for a lone surrogate there is none."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return json.dumps(whole, ensure_ascii=False).replace("\x7f", "\\u007f")


def key(name: str) -> str:
    """A bare key where it can be one, else a quoted one."""
    return name if _BARE.fullmatch(name) else string(name)


def path(dotted: str) -> str:
    """The path of a fact as a dotted key."""
    return ".".join(map(key, dotted.split(".")))


def value(node: Any) -> str:
    """A value on one line. Raises ValueError for null, which TOML does not know."""
    if isinstance(node, bool):
        return "true" if node else "false"
    if isinstance(node, str):
        return string(node)
    if isinstance(node, int | float | Decimal):
        return str(node)
    if isinstance(node, Mapping):
        return "{" + ", ".join(f"{key(name)} = {value(member)}" for name, member in node.items()) + "}"
    if isinstance(node, list):
        return "[" + ", ".join(map(value, node)) + "]"
    raise ValueError("TOML knows no null; leave the member out")


def lines(name: str, node: Any, within: str) -> list[str]:
    """`name = value`; of an object, a table of that name `within` another, with a line for each member."""
    if not isinstance(node, Mapping):
        return [f"{name} = {value(node)}"]
    return [f"[{within}.{name}]", *(f"{key(member)} = {value(inner)}" for member, inner in node.items())]
