"""Agent World Protocol: whether what a world declares of itself fits together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from conformance.checks import same
from conformance.correlation import Message
from conformance.integers import counter as whole
from conformance.protocols.awp_record import Memory
from conformance.protocols.awp_rules import HOLDS, Told, rule
from conformance.protocols.awp_values import names, table, tables

MANIFESTS: Final[tuple[str, ...]] = ("initialize.result", "world.manifest.result")


def _rows(message: Message, member: str) -> list[tuple[str, dict[str, Any]]]:
    rows = message.at(f"/result/{member}")
    found = enumerate(rows if isinstance(rows, list) else [])
    return [(f"/result/{member}/{place}", row) for place, row in found if isinstance(row, dict)]


@rule("world.manifest.result")
def stable(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-MAN-003: a manifest stays as it is for the life of a connection."""
    before, now = memory.registry.manifest(message), message.at("/result")
    if not before or not isinstance(now, dict):
        return
    if same(before, now):
        yield HOLDS
    else:
        changed = [name for name in sorted({*before, *now}) if not same(before.get(name), now.get(name))]
        yield Told(f"the manifest has changed on this connection, in {', '.join(changed)}", "/result")


@rule(*MANIFESTS)
def streaming_types(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-CMD-002: the command channel that an action type names is declared."""
    declared = [row.get("id") for _, row in _rows(message, "command_channels")]
    for at, row in _rows(message, "action_schemas"):
        channel = row.get("command_channel")
        if channel is None:
            continue
        if channel in declared:
            yield HOLDS
        else:
            said = f"the command channel {channel} is not declared"
            yield Told(said, f"{at}/command_channel", tuple(declared), channel)


@rule("session.open.result")
def command_granted(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-CMD-002: who is granted a streaming type has a number for its command channel."""
    types, given = (
        names(message.at("/result/granted/action_types")),
        tables(message.at("/result/granted/channels")),
    )
    channels = [row.get("channel") for row in given]
    for row in tables(memory.registry.manifest(message).get("action_schemas")):
        channel = row.get("command_channel")
        if row.get("type") not in types or channel is None:
            continue
        if channel in channels:
            yield HOLDS
        else:
            yield Told(
                f"{row.get('type')} is granted, and its channel {channel} is not", "/result/granted/channels"
            )


@rule(*MANIFESTS)
def tighter(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-SAF-006: the watchdog of a streaming type is tighter than that of the safe state."""
    safe = whole(message.at("/result/safety_policy/safe_state/watchdog_ms"))
    for at, row in _rows(message, "action_schemas"):
        own = whole(row.get("watchdog_ms"))
        if safe is None or own is None:
            continue
        if own < safe:
            yield HOLDS
        else:
            said = f"the watchdog of {row.get('type')} has {own} ms, and that of the safe state {safe} ms"
            yield Told(said, f"{at}/watchdog_ms", (safe,), own)


@rule("session.open.result")
def tree(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-UNI-003: each frame has a name of its own, and what names a frame names one of the tree."""
    at, known, faults = "/result/frame_tree/frames", [], []
    frames = _rows(message, "frame_tree/frames")
    for where, row in frames:
        if row.get("id") in known:
            faults.append(Told(f"a second frame {row.get('id')}", f"{where}/id", (), row.get("id")))
        known.append(row.get("id"))
    for where, row in frames:
        if row.get("parent") is not None and row["parent"] not in known:
            faults.append(
                Told(
                    f"the parent {row['parent']} is no frame", f"{where}/parent", tuple(known), row["parent"]
                )
            )
    for where, row in _rows(message, "granted/envelopes") if frames else ():
        frame = table(row.get("spatial")).get("frame")
        if frame is not None and frame not in known:
            faults.append(
                Told(f"the frame {frame} is not in the tree", f"{where}/spatial/frame", tuple(known), frame)
            )
    yield from faults or ([HOLDS] if message.at(at) else [])


_LARGE: Final = 1e100
"""What is greater is as wrong, and its square no float."""


@rule("session.open.result")
def rotations(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-UNI-002: the rotations of the frame tree are quaternions of norm 1."""
    for where, row in _rows(message, "frame_tree/frames"):
        turn = table(row.get("transform")).get("q")
        if not isinstance(turn, list) or not all(type(one) in (int, float) for one in turn):
            continue
        bounded = [max(-_LARGE, min(one, _LARGE)) for one in turn]
        norm = sum(one * one for one in bounded) ** 0.5
        if abs(norm - 1) < 1e-3:
            yield HOLDS
        else:
            yield Told(f"a rotation of norm {norm:.3f}", f"{where}/transform/q", (1,), turn)


@rule("session.open.result")
def dynamic(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-UNI-004: a world with frames that move declares the channel awp.tf."""
    manifest = memory.registry.manifest(message)
    declared = [row.get("id") for row in tables(manifest.get("observation_channels"))]
    moving = [at for at, row in _rows(message, "frame_tree/frames") if row.get("dynamic") is True]
    if not manifest or not moving:
        return
    if "awp.tf" in declared:
        yield HOLDS
    else:
        yield Told("a frame moves, and there is no channel awp.tf", f"{moving[0]}/dynamic", ("awp.tf",))
