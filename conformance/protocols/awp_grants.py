"""Agent World Protocol: what a session was granted, what it may do with it, and what others may not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from conformance.checks import same
from conformance.correlation import Message
from conformance.integers import counter as whole
from conformance.protocols.awp_record import FRAMES, Memory
from conformance.protocols.awp_rules import EVER_PRAISED, HOLDS, NOTHING, PRAISED, Told, rule
from conformance.protocols.awp_sessions import refused
from conformance.protocols.awp_things import TERMINAL, Session
from conformance.protocols.awp_values import by_name, names, number, table, tables

FORBIDDEN: Final = 4001
UNAVAILABLE: Final = 2001


def _asked(message: Message) -> dict[str, Any]:
    return table(message.request.at("/params")) if message.request else {}


def _bodies(asked: dict[str, Any]) -> list[str]:
    one = asked.get("embodiment")
    return [one] if isinstance(one, str) else names(asked.get("embodiments"))


def _declared(manifest: dict[str, Any], body: str) -> dict[str, Any]:
    return next((row for row in tables(manifest.get("embodiments")) if row.get("id") == body), {})


@rule("session.open.result", "obs.subscribe.result", "obs.frame")
def enumerated(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-NEG-001: what is granted was declared and asked for, and what was not granted is not sent."""
    return _framed(memory, message) if message.name == "obs.frame" else _listed(memory, message)


def _listed(memory: Memory, message: Message) -> Iterable[Told]:
    at = "/result/granted" if message.name == "obs.subscribe.result" else "/result/granted/channels"
    manifest, faults = memory.registry.manifest(message), []
    channels = _ids(manifest, "observation_channels") + _ids(manifest, "command_channels")
    for place, row in enumerate(tables(message.at(at))):
        if manifest and row.get("channel") not in channels:
            said = f"the channel {row.get('channel')} is granted, and the manifest has none of that name"
            faults.append(Told(said, f"{at}/{place}/channel", tuple(channels), row.get("channel")))
    if message.name == "session.open.result":
        faults += _types_beyond(message, manifest)
    return faults or (PRAISED if manifest else NOTHING)


def _ids(manifest: dict[str, Any], member: str) -> list[Any]:
    return [row.get("id") for row in tables(manifest.get(member))]


def _types_beyond(message: Message, manifest: dict[str, Any]) -> list[Told]:
    at, wanted = "/result/granted/action_types", _asked(message).get("action_types")
    allowed = [row.get("type") for row in tables(manifest.get("action_schemas"))]
    allowed = [name for name in names(wanted) if name in allowed] if isinstance(wanted, list) else allowed
    return [
        Told(f"the type {name} is granted, and was not declared or not asked for", f"{at}/{place}", (), name)
        for place, name in enumerate(names(message.at(at)))
        if manifest and name not in allowed
    ]


def _framed(memory: Memory, message: Message) -> Iterable[Told]:
    session, channel = memory.here, whole(memory.params.get("channel_id"))
    if session is None or channel in (None, 0) or session.connection != message.event.connection:
        return NOTHING
    if not isinstance(session.granted.get("channels"), list):
        return NOTHING  # nobody knows what was granted
    if memory.frame is not None:
        return EVER_PRAISED
    return [Told(f"a frame of channel {channel}, which the session was not granted", "/params/channel_id")]


@rule("session.open.result", "session.open.error")
def supported(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-NEG-002: session.open is refused where the time model or the embodiment is not on offer."""
    manifest, asked = memory.registry.manifest(message), _asked(message)
    wrong = []
    if manifest and asked.get("mode") not in names(manifest.get("time_models")):
        wrong.append((2002, f"the time model {asked.get('mode')} is not supported"))
    missing = [body for body in _bodies(asked) if manifest and not _declared(manifest, body)]
    if missing:
        wrong.append((UNAVAILABLE, f"the embodiment {missing[0]} does not exist"))
    if len(wrong) == 1 or (wrong and message.name.endswith(".result")):
        yield from refused(message, *wrong[0])


@rule("session.open.result", "obs.subscribe.result")
def rates(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-NEG-003: a channel's rate may be granted lower than asked for, and not higher."""
    of_session = message.name == "session.open.result"
    at = "/result/granted/channels" if of_session else "/result/granted"
    asked = tables(_asked(message).get("subscribe" if of_session else "channels"))
    wanted = by_name(asked, "channel")
    for place, row in enumerate(tables(message.at(at))):
        name, rate = row.get("channel"), number(row.get("rate_hz"))
        most = number(wanted[name].get("rate_hz")) if isinstance(name, str) and name in wanted else None
        if most is None or rate is None:
            continue
        if rate <= most:
            yield HOLDS
        else:
            said = f"{name} is granted at {rate} Hz, and was asked for at {most} Hz"
            yield Told(said, f"{at}/{place}/rate_hz", (most,), rate)


@rule("obs.subscribe.result", "obs.unsubscribe.result")
def complete(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-NEG-004: a changed subscription is answered with all channels that the session then has."""
    session = memory.here
    if session is None or message.request is None or not memory.complete:
        return
    before = {channel.name: place for place, channel in session.channels.items()}
    granted = by_name(tables(message.at("/result/granted")), "channel")
    after = {name: row.get("channel_id") for name, row in granted.items()}
    dropped = names(_asked(message).get("channels")) if message.name == "obs.unsubscribe.result" else []
    lost = [name for name in before if name not in dropped and name not in after]
    kept = [name for name in dropped if name in after]
    moved = [name for name in before if name in after and after[name] != before[name]]
    if lost or kept or moved:
        wrong = [*(f"{name} is missing" for name in lost), *(f"{name} is still there" for name in kept)]
        wrong += [f"{name} has another channel_id" for name in moved]
        yield Told(f"of the session's channels, {', '.join(wrong)}", "/result/granted")
    else:
        yield HOLDS


@rule("session.open.result", "session.open.error")
def bound(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-EMB-001: an embodiment that another session binds, and that is not shared, is unavailable."""
    manifest, asked = memory.registry.manifest(message), _asked(message)
    if asked.get("takeover") is True:
        return
    for body in _bodies(asked):
        declared = _declared(manifest, body)
        if not declared or declared.get("shared_control") is True:
            continue
        if any(other.whole for other in memory.registry.others_with("embodiment", body, message)):
            yield from refused(message, UNAVAILABLE, f"another session binds {body}")


@rule("session.open.result", "session.open.error")
def grouped(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-EMB-005: embodiments that a session binds together are of one multi_bind_group."""
    manifest, bodies = memory.registry.manifest(message), _bodies(_asked(message))
    groups = [_declared(manifest, body).get("multi_bind_group") for body in bodies]
    if len(bodies) < 2 or not all(_declared(manifest, body) for body in bodies):
        return
    if None in groups or not all(same(group, groups[0]) for group in groups):
        yield from refused(message, UNAVAILABLE, f"{' and '.join(bodies)} are not of one multi_bind_group")
    elif message.name.endswith(".result"):
        yield HOLDS


@rule("action.submit.result", "action.submit.error")
def observer(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-EMB-004: a submission in a session without an embodiment is refused with 4001."""
    session = memory.here
    if session is None or not session.whole or session.bodies:
        return
    if message.name.endswith(".result") or message.at("/error/code") == FORBIDDEN:
        yield from refused(message, FORBIDDEN, "the session binds no embodiment")


@rule("action.submit.result")
def named(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-MAN-007: in a session of several embodiments, an action that is admitted names one."""
    session = memory.here
    if session is None or len(session.bodies) < 2 or message.request is None:
        return
    if "embodiment_id" in _asked(message):
        yield HOLDS
    else:
        yield Told(f"an action is admitted for none of {', '.join(session.bodies)} by name")


def _ungranted(session: Session, action: dict[str, Any]) -> str:
    """What of a submission the session was not granted; empty where nothing is."""
    types, body = names(session.granted.get("action_types")), action.get("embodiment_id")
    if isinstance(action.get("type"), str) and action["type"] not in types:
        return f"the type {action['type']}"
    return f"the embodiment {body}" if body is not None and body not in session.bodies else ""


@rule("action.submit.result", "action.submit.error")
def granted(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-ACT-003: a submission of a type or for an embodiment that was not granted is refused."""
    session = memory.here
    if session is None or not session.whole or not session.bodies or message.request is None:
        return
    if not isinstance(session.granted.get("action_types"), list):
        return  # nobody knows what was granted
    wrong = _ungranted(session, _asked(message))
    if wrong and (message.name.endswith(".result") or message.at("/error/code") == FORBIDDEN):
        yield from refused(message, FORBIDDEN, f"{wrong} was not granted")


@rule("action.submit")
def within(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-AGT-003: an agent submits only types, and for embodiments, that its session was granted."""
    session = memory.here
    if session is None or not session.whole or session.closed:
        return
    if not isinstance(session.granted.get("action_types"), list):
        return  # nobody knows what was granted
    wrong = _ungranted(session, memory.params)
    if wrong:
        yield Told(f"{wrong} was not granted", "/params")
    else:
        yield HOLDS


def _operation(message: Message) -> str:
    return message.name.split(".")[1]


@rule("world.reset.result", "world.restore.result", "world.reset.error", "world.restore.error")
def administration(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-MA-005: a reset or a restore needs the grant of that name."""
    yield from _administered(memory, message)


@rule("world.snapshot.result", "world.snapshot.error")
def default_deny(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-PRM-001: a snapshot needs the grant of that name, as nothing is allowed that was not granted."""
    yield from _administered(memory, message)


def _administered(memory: Memory, message: Message) -> Iterable[Told]:
    session, operation = memory.here, _operation(message)
    if session is None or not session.whole:
        return
    if operation in names(session.granted.get("admin")):
        yield from [HOLDS] if message.name.endswith(".result") else []
    elif message.name.endswith(".result") or message.at("/error/code") == FORBIDDEN:
        yield from refused(message, FORBIDDEN, f"the session was not granted {operation}")


@rule("session.open.result")
def one_holder(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-PRM-005: restore, reset and, where any session may advance, tick are held by one session."""
    exclusive = {"restore", "reset"}
    if memory.registry.manifest(message).get("tick_authority") == "any_session":
        exclusive.add("tick")
    mine = exclusive & set(names(message.at("/result/granted/admin")))
    holders = {
        other.key: other
        for one in sorted(mine)
        for other in memory.registry.others_with("grant", one, message)
    }
    for other in holders.values():
        both = mine & set(names(other.granted.get("admin")))
        yield Told(f"{', '.join(sorted(both))} is granted, and {other.key} has it", "/result/granted/admin")
    if not holders and memory.registry.are_others(message):
        yield HOLDS


@rule("session.resume.result")
def unchanged(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-PRM-002: the grants of a session stay as they were, channels aside."""
    session = memory.sessions.get(str(message.at("/result/session_id")))
    if session is None or not session.whole or "expires_at" in session.granted:
        return
    for member in ("action_types", "admin"):
        before, now = names(session.granted.get(member)), names(message.at(f"/result/granted/{member}"))
        if set(before) != set(now):
            said = f"the session had been granted {', '.join(before) or 'none'}"
            yield Told(said, f"/result/granted/{member}", tuple(before), now)
            return
    yield HOLDS


@rule("action.submit.result", "world.event")
def expiry(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-PRM-003: grants that have expired admit nothing, and are reported then, not before."""
    session = memory.here
    until = whole(session.granted.get("expires_at")) if session else None
    if session is None or until is None:
        return
    if message.name == "world.event":
        now = whole(memory.params.get("ts_mono_ns"))
        if memory.params.get("event") == "grant_expired" and now is not None:
            yield (
                HOLDS
                if now >= until
                else Told(f"the grants expire at {until}", "/params/event", (until,), now)
            )
        return
    received = whole(message.at("/result/received_ts_mono_ns"))
    repeated = str(message.at("/result/action_id")) in session.actions
    if received is not None and received > until and not repeated:
        yield Told(
            f"an action is admitted, and its grant had expired at {until}", "/result", (until,), received
        )


@rule("world.reset", "world.restore", "world.event", "world.reset.result", "world.restore.result")
def resetting(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-PRM-006: before a reset is answered, every action has ended and world_resetting was told."""
    session = memory.here
    if session is None:
        return
    if message.name in ("world.reset", "world.restore"):
        memory.notes[session.key] = None
    elif message.name == "world.event":
        if memory.params.get("event") == "world_resetting" and session.key in memory.notes:
            memory.notes[session.key] = message
    elif session.key in memory.notes:
        yield from _reset(session, memory.notes.pop(session.key))


def _reset(session: Session, event: Message | None) -> Iterable[Told]:
    going = [one.id for one in session.actions.values() if one.state and one.state not in TERMINAL]
    if event is None:
        yield Told("the answer comes without a world.event world_resetting before it", "/result")
    elif event.at("/params/detail/initiator") != session.key:
        said = f"{event.at('/params/detail/initiator')} is named, and {session.key} asked for it"
        yield Told(said, "/params/detail/initiator", (session.key,), about=event)
    elif going:
        yield Told(f"the answer comes, and no end of {', '.join(going)} was reported", "/result", (), going)
    else:
        yield HOLDS


@rule("task.update.result", "task.update.error")
def task(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-TSK-001: task.update is a method of worlds with the capability task, and of no other."""
    yield from _gated(memory, message, "task")


@rule("world.snapshot.result", "world.restore.result", "world.snapshot.error", "world.restore.error")
def capability(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-VER-007: snapshots are methods of worlds with the capability snapshot, and of no other."""
    yield from _gated(memory, message, "snapshot")


def _gated(memory: Memory, message: Message, name: str) -> Iterable[Told]:
    manifest, code = memory.registry.manifest(message), message.at("/error/code")
    if not manifest:
        return
    has = table(manifest.get("capabilities")).get(name) is True
    if message.name.endswith(".result"):
        yield HOLDS if has else Told(f"the world answers, and does not declare the capability {name}")
    elif code == -32601:
        yield Told(f"the method is said to be unknown, and the world declares {name}") if has else HOLDS


@rule("world.tick.result", "world.tick.error")
def authority(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-TIM-012: world.tick of a session without an embodiment is refused with 3006."""
    session = memory.here
    if session is None or not session.whole or session.bodies:
        return NOTHING
    return refused(message, 3006, "the session binds no embodiment")


@rule("session.open.result", "obs.subscribe.result", "obs.frame", "cmd.frame")
def numbered(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-TRN-005: channel 0 is the control channel, and no two channels have one number."""
    if message.name not in FRAMES:
        return _numbers(message)
    if memory.params.get("channel_id") != 0:
        return EVER_PRAISED
    return [Told("channel 0 carries JSON-RPC, and no frames", "/params/channel_id")]


def _numbers(message: Message) -> Iterable[Told]:
    at = "/result/granted" if message.name == "obs.subscribe.result" else "/result/granted/channels"
    given: set[int] = {0}
    for place, row in enumerate(tables(message.at(at))):
        channel = whole(row.get("channel_id"))
        if channel is None:
            continue
        if channel in given:
            yield Told(f"the channel_id {channel} is taken", f"{at}/{place}/channel_id", (), channel)
        else:
            yield HOLDS
        given.add(channel)


@rule("session.open.result")
def command_channels(memory: Memory, message: Message) -> Iterable[Told]:
    """AWP-CMD-001: command channels are granted in streaming sessions only."""
    commands = _ids(memory.registry.manifest(message), "command_channels")
    for place, row in enumerate(tables(message.at("/result/granted/channels"))):
        if row.get("channel") not in commands:
            continue
        if _asked(message).get("mode") == "lockstep":
            said = f"the command channel {row.get('channel')} is granted in lockstep"
            yield Told(said, f"/result/granted/channels/{place}/channel")
        else:
            yield HOLDS
