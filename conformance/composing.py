"""Messages that the kit sends: a kind's template with a step's members laid upon it, as text."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from conformance.bindings import Bindings, Now, merged
from conformance.errors import BadScenario
from conformance.events import JSON
from conformance.packs import Pack


class Composer:
    """Makes the texts of one scenario's messages; JSON-RPC requests are numbered from 1."""

    def __init__(self, pack: Pack, bindings: Bindings) -> None:
        self._pack = pack
        self._bindings = bindings
        self._rpc = pack.meta.get("envelope") == "json-rpc"
        self._number = 0

    def text(self, kind: str, overlay: JSON, now: Now) -> bytes:
        """A message of this kind in UTF-8; raises Unbound where a `${name}` has no value."""
        template = self._pack.meta.get("templates", {}).get(kind, {})
        value = self._call(kind, template) if self._rpc else template
        return dump(self._bindings.fill(merged(value, overlay), now))

    def answer(self, kind: str, request: JSON, now: Now) -> bytes:
        """The result that answers a request, filled from the kind's template."""
        result = self._bindings.fill(self._pack.meta["templates"][kind], now, request)
        return dump({"jsonrpc": "2.0", "id": request.get("id"), "result": result})

    def _call(self, kind: str, params: JSON) -> JSON:
        when = self._pack.kind(kind).when
        if when.get("part") not in ("request", "notification"):
            raise BadScenario(f"{kind} is no request and no notification, so it cannot be sent as one")
        value: dict[str, JSON] = {"jsonrpc": "2.0"}
        if when["part"] == "request":
            self._number += 1
            value["id"] = self._number
        value["method"] = when["method"]
        return value | {"params": params} if params else value


def dump(value: JSON) -> bytes:
    """The value as compact JSON in UTF-8."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_number)
    return text.encode("utf-8", "surrogatepass")


def _number(value: Any) -> float:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")
