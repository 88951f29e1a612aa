"""Messages that the kit sends: a kind's template with a step's members laid upon it."""

from __future__ import annotations

from conformance.bindings import Bindings, Now, merged, written
from conformance.errors import BadScenario
from conformance.events import JSON
from conformance.packs import Pack


class Composer:
    """Makes one scenario's messages; JSON-RPC requests are numbered from 1."""

    def __init__(self, pack: Pack, bindings: Bindings) -> None:
        self._pack = pack
        self._bindings = bindings
        self._rpc = pack.meta.get("envelope") == "json-rpc"
        self._templates = pack.meta.get("templates", {})
        self._number = 0

    def message(self, kind: str, overlay: JSON, now: Now) -> dict[str, JSON]:
        """A message of this kind; raises Unbound where a `${name}` has no value."""
        template = self._templates.get(kind, {})
        value = self._call(kind, template) if self._rpc else template
        filled: dict[str, JSON] = self._bindings.fill(merged(value, overlay), now)
        return filled

    def answer(self, kind: str, request: JSON, now: Now) -> dict[str, JSON]:
        """The result that answers a request, filled from the kind's template."""
        result = self._bindings.fill(self._templates[kind], now, request)
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}

    def _call(self, kind: str, params: JSON) -> dict[str, JSON]:
        when = self._pack.kind(kind).when
        if when.get("part") not in ("request", "notification"):
            raise BadScenario(f"{kind} is no request and no notification, so it cannot be sent as one")
        value: dict[str, JSON] = {"jsonrpc": "2.0"}
        if when["part"] == "request":
            self._number += 1
            value["id"] = self._number
        value["method"] = when["method"]
        return value | {"params": params} if params else value


def encoded(text: str) -> bytes:
    """The text in UTF-8; a lone surrogate, which has no place there, becomes its escape in JSON."""
    return text.encode("utf-8", "backslashreplace")


def dump(value: JSON) -> bytes:
    """The value as compact JSON in UTF-8."""
    return encoded(written(value))
