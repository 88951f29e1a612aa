"""What no table can say: modules named for their protocol, reached through a row's `{"kind": "code"}`.

A row names a class or function by `"function": "module.name"`; the module is imported when the pack is
used. It takes (requirement, the row's check, pack) and makes a `Check`; what the row has as `parameters` is
for it alone. A template names a function in the same way, by `{"$code": "module.name"}`; it takes everything
that has a value there and gives another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from conformance.checks import Check, register
from conformance.errors import BadPack
from conformance.events import JSON
from conformance.findings import Requirement
from conformance.packs import Pack


@register("code")
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


def value(function: str, known: Mapping[str, JSON]) -> JSON:
    """What a template's `function` makes of what is `known`; BadPack where there is no such function."""
    module, _, name = function.partition(".")
    try:
        made = getattr(import_module(f"{__name__}.{module}"), name)
    except (ImportError, AttributeError) as error:
        raise BadPack(f"a template has {function!r}, which cannot be had: {error}") from None
    return made(known)
