"""What a scripted world of AWP has to work out: what it grants, and what it shows.

Functions of templates (`{"$code": …}`): each takes everything that has a value where it stands, and never
fails on what an agent sent.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.events import JSON

Known = Mapping[str, Any]

TICK: Final = 20_000_000
"""Nanoseconds that a tick moves the session clock on."""


def manifest(known: Known) -> JSON:
    """The manifest that the ICS has, of one time model alone where the scenario names a `time_model`."""
    stated, model = known["ics"]["manifest"], known["names"].get("time_model")
    if model is None:
        return stated
    if model == "streaming":
        safe = {"behavior": "hold", "watchdog_ms": 5000}
        policy = {"safe_state": safe} | stated["safety_policy"]
        return stated | {"time_models": [model], "safety_policy": policy}
    ticks = {"tick_policy": "on_tick", "tick_authority": "any_session"}
    channels = [one | {"rate_hz": None} for one in stated["observation_channels"]]
    return stated | ticks | {"time_models": [model], "observation_channels": channels}


def time_models(known: Known) -> JSON:
    """The time models that the manifest offers."""
    return manifest(known)["time_models"]


def granted(known: Known) -> JSON:
    """The `granted` of session.open.result: what the request asks for and the manifest has."""
    asked, offer = _asked(known), manifest(known)
    bodies = [one for one in offer["embodiments"] if one["id"] in _embodiments(asked)]
    offered = [name for one in bodies for name in one["action_types"]]
    wanted = asked.get("action_types")
    names = [body["id"] for body in bodies]
    return {
        "channels": list(_channels(asked, offer)),
        "action_types": [name for name in offered if not isinstance(wanted, list) or name in wanted],
        "admin": [],
        "envelopes": [one for one in offer["safety_policy"]["envelopes"] if one["embodiment"] in names],
    }


def content(known: Known) -> JSON:
    """The params of the request as one text, which is equal where they are."""
    return json.dumps(_asked(known), sort_keys=True, default=str)


def group(known: Known) -> JSON:
    """The concurrency group of the requested action; its type where it declares none."""
    action = _asked(known).get("type")
    return next(
        (one.get("concurrency_group", action) for one in _schemas(known) if one["type"] == action), action
    )


def group_if_queued(known: Known) -> JSON:
    """The group where the request's preemption policy is to wait for its turn; else nothing."""
    return group(known) if _policy(known) == "queue" else None


def group_if_modest(known: Known) -> JSON:
    """The group where the request's preemption policy is to give way to what is there; else nothing."""
    return group(known) if _policy(known) == "reject" else None


def session_ns(known: Known) -> JSON:
    """The session clock: of a lockstep session it moves with ticks alone (AWP-TIM-013)."""
    if known["names"].get("mode") == "lockstep":
        return known["counts"].get("tick", 0) * TICK
    return int(known["now"].monotonic * 1_000_000_000)


def payload(known: Known) -> JSON:
    """A frame's payload in base64: what the ICS has for the channel, else an empty object."""
    shown = known["ics"].get("frames", {}).get(known["item"]["channel"], {})
    return base64.b64encode(json.dumps(shown, separators=(",", ":"), default=float).encode()).decode()


def flags(known: Known) -> JSON:
    """A keyframe; the first after a resumption is marked resync too (AWP-DAT-009)."""
    return 9 if known["item"]["first"] and known["names"].get("resumed") else 1


def _asked(known: Known) -> dict[str, Any]:
    params = known["request"].get("params")
    return params if isinstance(params, dict) else {}


def _policy(known: Known) -> JSON:
    """The policy that the request names, else the first that the action's type declares."""
    asked = _asked(known)
    declared = next((one["preemption"] for one in _schemas(known) if one["type"] == asked.get("type")), None)
    return asked.get("preempt", declared[0] if isinstance(declared, list) else declared)


def _schemas(known: Known) -> list[dict[str, Any]]:
    schemas: list[dict[str, Any]] = manifest(known)["action_schemas"]
    return schemas


def _embodiments(asked: dict[str, Any]) -> list[JSON]:
    several = asked.get("embodiments")
    return several if isinstance(several, list) else [asked.get("embodiment")]


def _channels(asked: dict[str, Any], offer: dict[str, Any]) -> Iterator[dict[str, JSON]]:
    rates = {one["id"]: one["rate_hz"] for one in offer["observation_channels"]}
    rows = asked.get("subscribe")
    named = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    known = [row for row in named if isinstance(row.get("channel"), str) and row["channel"] in rates]
    for number, row in enumerate(known, 1):
        name = row["channel"]
        wished = [rate for rate in (rates[name], row.get("rate_hz")) if isinstance(rate, (int, float))]
        rate = min(wished) if wished and asked.get("mode") == "streaming" else None
        yield {"channel": name, "rate_hz": rate, "channel_id": number}
