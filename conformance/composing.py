"""Messages that the kit sends: a kind's template with a step's members laid upon it."""

from __future__ import annotations

import base64

from conformance.bindings import NOTHING, Bindings, Now, Scope, merged, written
from conformance.correlation import Message
from conformance.errors import BadScenario
from conformance.events import JSON
from conformance.packs import Pack
from conformance.scenarios import Step


class Composer:
    """Makes one scenario's messages; JSON-RPC requests are numbered from 1."""

    def __init__(self, pack: Pack, bindings: Bindings) -> None:
        self._pack = pack
        self._bindings = bindings
        self._rpc = pack.meta.get("envelope") == "json-rpc"
        self._templates = pack.meta.get("templates", {})
        self._number = 0

    def message(self, kind: str, overlay: JSON, now: Now, scope: Scope = NOTHING) -> dict[str, JSON]:
        """A message of this kind; raises Unbound where a `${name}` has no value."""
        template = self._templates.get(kind, {})
        value = self._call(kind, template) if self._rpc else template
        filled: dict[str, JSON] = self._bindings.fill(merged(value, overlay), now, scope)
        return filled

    def of_step(self, step: Step, now: Now) -> dict[str, JSON]:
        """The message that a step sends."""
        overlay = {name: step.args[name] for name in ("payload", "params") if name in step.args}
        return self.message(step.args[step.verb], merged(overlay, step.args.get("message", {})), now)

    def raw(self, raw: JSON, now: Now) -> tuple[bytes, bool]:
        """A text with its names filled in, or bytes as they are, and whether they are."""
        if isinstance(raw, str):
            return encoded(str(self._bindings.fill(raw, now))), False
        return base64.b64decode(raw["base64"]), True

    def reply(self, step: Step, message: Message, now: Now) -> dict[str, JSON] | None:
        """The answer that a step gives to a request; None where the step does not say which."""
        scope = {"request": message.value}
        if "error" in step.args:
            return self.refusal(step.args["error"], now, scope)
        if "result" in step.args:
            return self.result(f"{message.name}.result", step.args["result"], now, scope)
        return None

    def result(self, kind: str, overlay: JSON, now: Now, scope: Scope) -> dict[str, JSON]:
        """The result that answers the scope's `request`, filled from the kind's template."""
        made = self._bindings.fill(merged(self._templates.get(kind, {}), overlay), now, scope)
        return {"jsonrpc": "2.0", "id": scope["request"]["id"], "result": made}

    def refusal(self, error: JSON, now: Now, scope: Scope) -> dict[str, JSON]:
        """The error that answers the scope's `request`."""
        made = self._bindings.fill(merged(self._templates.get("error", {}), error), now, scope)
        return {"jsonrpc": "2.0", "id": scope["request"]["id"], "error": made}

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
