"""Agent World Protocol: what a submission means when its action id was used before, which names a
manifest may use, when a session may close, and what frames carry in streaming time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from conformance.checks import Observation, failed, passed, same
from conformance.checks.reading import Part
from conformance.correlation import Message, Sessions
from conformance.findings import Finding, Requirement
from conformance.lifecycles import Move
from conformance.packs import Pack
from conformance.protocols.awp_admitted import REPORTS, Admitted, Submitted, content_of
from conformance.remembered import REMEMBERED_MESSAGES, forget_oldest, oldest, recall

CONFLICT: Final = 3004
UNKNOWN: Final = 3008


_SUBMIT: Final[tuple[str, ...]] = ("action.submit",)

_SUBMISSION: Final[tuple[str, ...]] = ("action.submit", "action.submit.result", "action.submit.error")


class Idempotence:
    """AWP-ACT-001: an admitted action id answers an identical resubmission with the current state, and
    refuses another content with 3004. AWP-AGT-004: an agent never sends other content under such an id.
    AWP-ACT-009: what is identical is told by the values, however they are written, and a member that is
    missing is not one that is there.

    `judges` is `agent` for what the agent sends, else which answers of the world it is about: to what is
    `plain`ly one or the other, or to what is told apart by `values` alone.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._judges = spec["parameters"]["judges"]
        self._admitted = Admitted()
        self._learns = True

    @property
    def hears(self) -> tuple[str, ...]:
        """The submissions and their answers; and for the one that learns for all, what becomes of them."""
        return (*_SUBMISSION, *(REPORTS if self._learns else ()))

    def joins(self, shared: dict[str, Any]) -> None:
        """What was admitted is known to all alike, and the first one learns it."""
        self._learns = "admitted" not in shared
        self._admitted = shared.setdefault("admitted", self._admitted)

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per resubmission for the agent, one per answer to it for the world."""
        admitted, message = self._admitted, seen.message
        admitted.attend(seen)
        if message is None or message.name in REPORTS:
            return ()
        if message.is_a(_SUBMIT):
            return self._submitted(seen.session, message)
        if admitted.before is not None and message.request is not None and self._judges != "agent":
            return self._answered(admitted.before, message, message.request)
        return ()

    def _submitted(self, session: str, message: Message) -> Iterable[Finding]:
        action = self._admitted.find(session, message, "/params/action_id")
        if action is None or self._judges != "agent":
            return
        if same(action.content, content_of(message)):
            yield passed(self._requirement, message)
            return
        said = "an admitted action_id is submitted again with other content"
        yield failed(self._requirement, message, said, "/params/action_id")

    def _answered(self, action: Submitted, message: Message, request: Message) -> Iterable[Finding]:
        refused = message.at("/error/code")
        if self._judges != ("values" if _by_values(action.content, content_of(request)) else "plain"):
            return
        if not same(action.content, content_of(request)):
            yield self._judge_conflict(message, refused)
        elif refused is not None or action.state is not None:
            yield self._judge_repeat(message, action, refused)

    def _judge_conflict(self, message: Message, refused: Any) -> Finding:
        if refused == CONFLICT:
            return passed(self._requirement, message)
        said = f"other content under an admitted action_id is refused with {CONFLICT}, and this is "
        said += "a result" if refused is None else f"error {refused}"
        return failed(self._requirement, message, said, expected=(CONFLICT,), actual=refused)

    def _judge_repeat(self, message: Message, action: Submitted, refused: Any) -> Finding:
        if refused is not None:
            said = f"an identical resubmission reports the action's state, and this refuses it with {refused}"
            return failed(self._requirement, message, said, "/error/code", actual=refused)
        wanted = (action.state, action.number)
        found = (message.at("/result/state"), message.at("/result/status_seq"))
        if found == wanted:
            return passed(self._requirement, message)
        said = (
            f"an identical resubmission reports the current state {wanted[0]} of status_seq {wanted[1]}, "
            f"and this reports {found[0]} of {found[1]}"
        )
        return failed(self._requirement, message, said, "/result", expected=wanted, actual=found)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each answer is judged when it is seen."""
        return ()


def _by_values(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two contents are equal and written differently, or differ only by members that one lacks."""
    if same(one, other):
        return json.dumps(one, default=str) != json.dumps(other, default=str)
    shared = one.keys() & other.keys()
    return one.keys() != other.keys() and all(same(one[name], other[name]) for name in shared)


class Refusal:
    """AWP-ACT-010: a submission answered with an error created no action: no status follows, and a pull
    of its action id is answered with 3008, until the id is admitted after all.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._sessions = Sessions(pack.meta["sessions"])
        self.hears = self._sessions.hears | {
            *(*_SUBMISSION, "action.status", "action.status.request"),
            *("action.status.result", "action.status.error"),
        }
        self._admitted: dict[tuple[str, str], None] = {}
        self._refused: dict[tuple[str, str], Message] = {}
        self._waiting: Counter[tuple[str, str]] = Counter()

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per sign of life, or of none, of a refused action."""
        message = seen.message
        if message is None or (message.name == "action.status" and not self._refused):
            return ()
        return [*self._judge(message)]

    def _judge(self, message: Message) -> Iterable[Finding]:
        self._sessions.begun(message)
        request = message.request
        if message.is_a(_SUBMIT):
            self._waiting[self._key(message, message.at("/params/action_id"))] += 1
        elif request is not None and request.is_a(_SUBMIT):
            self._settle(message, self._key(message, request.at("/params/action_id")))
        elif request is not None and request.is_a(["action.status.request"]):
            yield from self._pulled(message, self._key(message, request.at("/params/action_id")))
        elif message.is_a(["action.status"]):
            key = self._key(message, message.at("/params/action_id"))
            if key in self._refused and not self._waiting[key]:
                said = f"a status of {key[1]}, whose submission was refused and so created no action"
                yield failed(self._requirement, message, said, "/params/action_id")

    def _key(self, message: Message, action_id: Any) -> tuple[str, str]:
        return self._sessions.of(message), str(action_id)

    def _settle(self, message: Message, key: tuple[str, str]) -> None:
        self._waiting[key] -= 1
        if not self._waiting[key]:
            del self._waiting[key]
        if message.at("/error/code") in (None, CONFLICT):  # a conflict is with an action that exists
            self._admit(key)
            self._refused.pop(key, None)
        # Another submission under the same id may have been admitted, if it is still to be answered or
        # the session began before the record.
        elif key not in self._admitted and not self._waiting[key] and self._sessions.is_whole(message):
            self._refused[key] = message
            forget_oldest(self._refused, REMEMBERED_MESSAGES)

    def _admit(self, key: tuple[str, str]) -> None:
        self._admitted[key] = None
        for old in oldest(self._admitted):  # what else its session admitted is not known any longer
            del self._admitted[old]
            self._sessions.lose(old[0])

    def _pulled(self, message: Message, key: tuple[str, str]) -> Iterable[Finding]:
        if key not in self._refused:
            return
        code = message.at("/error/code")
        if code == UNKNOWN:
            yield passed(self._requirement, message)
        if code == UNKNOWN or message.at("/error/data/retryable") is True:
            return
        said = (
            f"the action {key[1]} was refused and so is unknown ({UNKNOWN}), and this answers as if it were"
        )
        yield failed(self._requirement, message, said, expected=(UNKNOWN,), actual=code)

    def end(self, complete: bool) -> Iterable[Finding]:
        """One finding for each refused submission of which nothing more was heard."""
        if complete:
            yield from (passed(self._requirement, message) for message in self._refused.values())


class Manifest:
    """AWP-MAN-001: each channel and action type that an embodiment names is defined in the manifest."""

    hears = ("initialize.result", "world.manifest.result")

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per undefined name, else one for the manifest."""
        message = seen.message
        if message is None or not message.is_a(self.hears):
            return
        broken = [*self._undefined(message, "channels", "observation_channels", "id")]
        broken += self._undefined(message, "action_types", "action_schemas", "type")
        yield from broken or [passed(self._requirement, message)]

    def _undefined(self, message: Message, names: str, table: str, key: str) -> Iterable[Finding]:
        rows = [*_objects(message.at(f"/result/{table}"))]
        if names == "channels":
            rows += _objects(message.at("/result/command_channels"))
        defined = [row.get(key) for row in rows]
        for index, body in enumerate(_objects(message.at("/result/embodiments"))):
            listed = body.get(names)
            for place, name in enumerate(listed if isinstance(listed, list) else ()):
                if name not in defined:
                    where = f"/result/embodiments/{index}/{names}/{place}"
                    said = f"the embodiment names {name!r}, which {table} does not define"
                    yield failed(self._requirement, message, said, where, expected=defined, actual=name)

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each manifest is judged when it is seen."""
        return ()


def _objects(rows: Any) -> list[dict[str, Any]]:
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


class Closing:
    """AWP-SES-011: session.close is answered when every action of the session has ended, not before.

    Shown by a session that was asked to close while an action had not ended.
    """

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._table, rows = pack.lifecycles["action"]
        moving = {name for row in rows for name in row["on"]}
        self.hears = moving | {"session.close", "session.close.result"}
        self._open: dict[str, set[str]] = {}
        self._asked: dict[str, set[str]] = {}

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding for the answer to a close that had something to end."""
        if not seen.plain and seen.loses_any:
            self._lose(seen)
        message, session = seen.message, seen.session
        if message is None:
            return ()
        open_ = self._open.get(session)
        if open_ is None:
            open_ = recall(self._open, session, set)
        for moved in seen.moved:
            self._follow(moved.move, session, open_)
        if message.name == "session.close":
            self._asked[session] = set(open_)
            forget_oldest(self._asked)
        elif message.name == "session.close.result" and self._asked.get(session):
            return [self._judge(message, open_)]
        return ()

    def _lose(self, seen: Observation) -> None:
        for session, known in (*self._open.items(), *self._asked.items()):
            known -= {entity for entity in known if seen.loses(entity, session)}

    def _follow(self, move: Move, session: str, open_: set[str]) -> None:
        entity, before, target, edge = move.entity, move.before, move.target, move.edge
        if edge is None and before is not None and session in self._asked:
            self._asked[session].discard(entity)  # nobody knows whether that was its end
        if (edge is None and before is not None) or self._table.is_terminal(target):
            open_.discard(entity)
        elif edge is not None:
            open_.add(entity)

    def _judge(self, message: Message, open_: set[str]) -> Finding:
        if not open_:
            return passed(self._requirement, message)
        said = f"session.close is answered, and no end of {', '.join(sorted(open_))} was reported"
        return failed(self._requirement, message, said, "/result", actual=sorted(open_))

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each answer is judged when it is seen."""
        return ()


class SendTime:
    """AWP-OBS-006: in a streaming session every observation frame carries ts_send_ns."""

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._beginning = Sessions(pack.meta["sessions"]).hears
        self.hears = self._beginning | {"obs.frame"}
        self._streaming: dict[str, None] = {}

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per frame of a session that is known to stream."""
        message, session = seen.message, seen.session
        if message is None:
            return ()
        if message.name == "obs.frame":
            return self._judge(message) if session in self._streaming else ()
        request = message.request
        begun = message.is_a(self._beginning)
        if begun and request is not None and request.at("/params/mode") == "streaming":
            self._streaming[session] = None
            forget_oldest(self._streaming)
        return ()

    def _judge(self, message: Message) -> Iterable[Finding]:
        if message.at("/params/ts_send_ns") is not None:
            return [passed(self._requirement, message)]
        said = "a frame of a streaming session without ts_send_ns"
        return [failed(self._requirement, message, said, "/params", expected=("ts_send_ns",))]

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each frame is judged when it is seen."""
        return ()


_EXPECTED, _COUNT, _TICK = Part("/params/expected_tick"), Part("/params/count"), Part("/result/tick")


class Ticks:
    """AWP-TIM-011: world.tick advances by `count` (1 if absent) from expected_tick, and says so."""

    hears = ("world.tick.result",)

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per result of world.tick whose request is on record."""
        message = seen.message
        if message is None or message.request is None or not message.is_a(self.hears):
            return ()
        start, count = _EXPECTED.of(message.request.value), _COUNT.of(message.request.value)
        tick, count = _TICK.of(message.value), 1 if count is None else count
        if not all(isinstance(one, int) for one in (start, count, tick)):
            return ()
        wanted = start + count
        if tick == wanted:
            return [passed(self._requirement, message)] if seen.praise else ()
        said = f"from tick {start}, the advance leads to tick {wanted}, and the result is {tick}"
        return [failed(self._requirement, message, said, "/result/tick", expected=(wanted,), actual=tick)]

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each result is judged when it is seen."""
        return ()
