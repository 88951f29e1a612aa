"""What no table can say: modules named for their protocol, reached through a row's `{"kind": "code"}`.

A row names a class or function by `"function": "module.name"`; the module is imported when the pack is
used. It takes (requirement, the row's check, pack) and makes a `Check`; what the row has as `parameters` is
for it alone. A template names a function in the same way, by `{"$code": "module.name"}`; it takes everything
that has a value there and gives another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from conformance.checks import Check
from conformance.errors import BadPack
from conformance.events import JSON, Event
from conformance.findings import Requirement
from conformance.packs import Pack


def code(requirement: Requirement, spec: dict[str, Any], pack: Pack) -> Check:
    """The check that the row's `function` makes; BadPack where there is no such function."""
    module, _, name = spec["function"].partition(".")
    try:
        made: Check = getattr(import_module(f"{__name__}.{module}"), name)(requirement, spec, pack)
    except (ImportError, AttributeError) as error:
        raise BadPack(
            f"{requirement.id} is judged by {spec['function']!r}, which cannot be had: {error}"
        ) from None
    return made


@dataclass(frozen=True, slots=True)
class Remark:
    """What a log shows against a requirement, or, if it is `open`, why nothing can be said about it yet."""

    requirement: str
    said: str
    open: bool = False


def remarks(function: str, data: bytes, events: Sequence[Event], pack: Pack) -> list[Remark]:
    """What a protocol's `function` has against a log that an implementation kept of what was exchanged."""
    module, _, name = function.partition(".")
    try:
        judge = getattr(import_module(f"{__name__}.{module}"), name)
    except (ImportError, AttributeError) as error:
        raise BadPack(f"a scenario has {function!r}, which cannot be had: {error}") from None
    return list(judge(data, events, pack))


def value(function: str, known: Mapping[str, JSON]) -> JSON:
    """What a template's `function` makes of what is `known`; BadPack where there is no such function."""
    module, _, name = function.partition(".")
    try:
        made = getattr(import_module(f"{__name__}.{module}"), name)
    except (ImportError, AttributeError) as error:
        raise BadPack(f"a template has {function!r}, which cannot be had: {error}") from None
    return made(known)
