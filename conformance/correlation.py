"""Which request a response answers, and so the kind of every message.

JSON-RPC responses name no method: their kind follows from the request that they answer, on the same
connection, from the other side, with the same id (1 and "1" are different ids).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any, Final, Generic, NamedTuple, TypeVar, final

from conformance import jsontext
from conformance.events import JSON, Fields, Spoken
from conformance.integers import integral
from conformance.kinds import Kinds, fits
from conformance.packs import Kind, Pack
from conformance.remembered import forget_oldest, oldest, recall
from conformance.wording import by_nearness, nearest, shown, type_name


class Problem(NamedTuple):
    """Why a message is of no kind: in words for a person, and the pointer of the member that shows it
    (empty where none does), with what could stand there, the nearest first.
    """

    said: str = ""
    pointer: str = ""
    expected: tuple[JSON, ...] = ()


NO_PROBLEM = Problem()


@final
class Message(Fields):
    """An event that carries a message, with what its protocol makes of it.

    `kind` is None where no kind fits; `problem` then says why. `name` is the kind's name, except that an
    error response is named for its request (`KIND.error`), and `?` if only other records could tell it.
    `party` is the speaker: as recorded, else as the kind implies, else empty. `value` is the message as a
    JSON value.
    """

    _fields = ("event", "kind", "name", "party", "request", "problem", "known_party", "value")
    __slots__ = _fields

    def __init__(
        self,
        event: Spoken,
        kind: Kind | None,
        name: str,
        party: str,
        request: Message | None = None,
        problem: Problem = NO_PROBLEM,
        known_party: bool = True,
        value: JSON = None,
    ) -> None:
        self.event: Final[Spoken] = event
        self.kind: Final[Kind | None] = kind
        self.name: Final[str] = name
        self.party: Final[str] = party
        self.request: Final[Message | None] = request
        self.problem: Final[Problem] = problem
        self.known_party: Final[bool] = known_party
        self.value: Final[JSON] = value

    @property
    def seq(self) -> int:
        """The number of its event."""
        return self.event.seq

    def at(self, pointer: str) -> JSON:
        """The value at a pointer of the message, or None."""
        return jsontext.getter(pointer)(self.value)

    def is_a(self, names: Collection[str]) -> bool:
        """Whether its name or its kind is among `names`; `*` is any."""
        if self.name in names or "*" in names:
            return True
        return self.kind is not None and self.kind.name in names


Made = TypeVar("Made")


class ByKind(Generic[Made]):
    """What is made of the kind of a message alone, and so once for each kind."""

    def __init__(self, make: Callable[[Message], Made]) -> None:
        self._make = make
        self._made: dict[str, Made] = {}

    def of(self, message: Message) -> Made:
        """What was made of this message's kind."""
        found = self._made.get(message.name)  # no two kinds give a message one name
        if found is None:
            found = self._made[message.name] = self._make(message)
        return found


def id_key(value: JSON) -> tuple[str, Any]:
    """What two ids of JSON-RPC have in common that are the same id."""
    # JSON-RPC 2.0, section 4: an id is a string, a number or null, and is echoed as it is. As numbers,
    # 1 and 1.0 are the same.
    if type(value) is int:
        return "number", value
    if type(value) is str:
        return "string", value
    if type_name(value) == "number":
        return "number", int(value) if integral(value) else value
    return type_name(value), value if isinstance(value, str) else repr(value)


class Correlator:
    """Names the kinds of a session's messages in order; pending requests are bounded by what is open.

    `forced_kind` is the kind of every message that is not plainly of another. With `alone`, what other
    messages lack says nothing.
    """

    def __init__(self, pack: Pack, forced_kind: str = "", *, alone: bool = False) -> None:
        self._pack = pack
        self._kinds = Kinds(pack.kinds)
        self._alone = alone
        self._forced = pack.kind(forced_kind) if forced_kind else None
        self._rpc = pack.meta.get("envelope") == "json-rpc"
        self._open: dict[tuple[str, str, tuple[str, Any]], list[Message]] = {}
        self._from_start: dict[str, None] = {}
        self._other: dict[str, tuple[str, ...]] = {}
        self._asked: dict[tuple[str, str], JSON] = {}
        """The first id that each party used on each connection."""
        self._unheard: Counter[tuple[str, str]] = Counter()
        """How many messages of each party on each connection may have been requests, and are none."""

    def message(self, event: Spoken) -> Message:
        """The message of an event."""
        if self._forced is not None:
            problem = self._is_another(event.value, self._forced)
            return _of_none(event, problem) if problem else self._as(event, self._forced)
        part = _part(event.value) if self._rpc and isinstance(event.value, dict) else ""
        if part:
            return self._call(event, event.value, part)
        kind = self._kinds.of(event.value)
        if kind is not None:
            return self._as(event, kind)
        self.lose(event.connection, event.party)
        return _of_none(event, self._no_kind(event.value))

    def lose(self, connection: str, party: str) -> None:
        """Something of the party was no message, or none of its kind, and yet may be answered."""
        self._unheard[connection, party] += 1

    def _as(self, event: Spoken, kind: Kind, name: str = "", request: Message | None = None) -> Message:
        party = event.party or (kind.senders[0] if len(kind.senders) == 1 else "")
        return Message(
            event, kind, name or kind.name, party, request, NO_PROBLEM, bool(event.party), event.value
        )

    def _call(self, event: Spoken, value: dict[str, JSON], part: str) -> Message:
        if part in ("request", "notification"):
            return self._asking(event, value, part)
        request = self._answered(event, value)
        if part == "error":
            return self._error(event, value, request)
        if request is None:
            return self._unmatched(event, value)
        method = str(request.value.get("method"))
        kind = self._kinds.called(method, "result")
        if kind is not None:
            return self._as(event, kind, request=request)
        if self._alone:
            return _of_none(event, _UNKNOWN, "?")
        said = f"the method {shown(method)} is none of this protocol, and yet it is answered with a result"
        return _of_none(event, Problem(said, "/result"), request=request)

    def _asking(self, event: Spoken, value: dict[str, JSON], part: str) -> Message:
        method = value.get("method")
        kind = self._kinds.called(str(method), part)
        if kind is not None:
            message = self._as(event, kind)
        else:
            message = _of_none(event, self._no_method(method, part))
        if part == "request":
            # Who asks out of turn may be answered by either side.
            party = "" if is_from_the_wrong_side(message) else message.party
            recall(self._asked, (event.connection, party), lambda: value["id"])
            key = (event.connection, party, id_key(value["id"]))
            waiting = self._open.setdefault(key, [])
            for place in oldest(self._open):
                self.lose(*place[:2])  # its answer may come all the same
                del self._open[place]
            if waiting:
                self.lose(event.connection, party)  # it may have been meant to have another id
            waiting.append(message)
        elif kind is None:
            self.lose(event.connection, message.party)
        return message

    def _answered(self, event: Spoken, value: dict[str, JSON]) -> Message | None:
        key = id_key(value.get("id"))
        for party in self._others(event.party):
            asked = self._open.get((event.connection, party, key))
            if asked is None:
                continue
            if len(asked) == 1:
                del self._open[event.connection, party, key]
            return asked.pop(0)
        return None

    def _others(self, party: str) -> tuple[str, ...]:
        found = self._other.get(party)
        if found is None:
            roles = ("", *self._pack.roles)
            found = self._other[party] = tuple(role for role in roles if role != party or not party)
        return found

    def _error(self, event: Spoken, value: dict[str, JSON], request: Message | None) -> Message:
        method = str(request.value.get("method")) if request is not None else ""
        kind = next((kind for kind in self._pack.kinds if kind.when.get("part") == "error"), None)
        if kind is None:
            said = "it is an error response, and this protocol has no kind of message for that"
            return _of_none(event, Problem(said, "/error"), request=request)
        numbered = request is None and value.get("id") is not None
        if numbered and self._was_asked(event, value["id"]) and not self._may_answer_unheard(event):
            return self._unmatched(event, value)
        return self._as(event, kind, f"{method}.error" if method else kind.name, request)

    def _unmatched(self, event: Spoken, value: dict[str, JSON]) -> Message:
        if not self._was_asked(event, value.get("id")) or self._may_answer_unheard(event):
            return _of_none(event, _UNKNOWN, "?")
        said = f"it answers no open request: no request has the id {shown(value.get('id'))}"
        return _of_none(event, Problem(said, "/id"))

    def _may_answer_unheard(self, event: Spoken) -> bool:
        """Whether it may answer what was no request: one answer for each."""
        places = ((event.connection, party) for party in self._others(event.party))
        place = next((one for one in places if self._unheard[one] > 0), None)
        if place is not None:
            self._unheard[place] -= 1
        return place is not None

    def opened(self, connection: str) -> None:
        """The record holds this connection from its beginning: every request of it is there."""
        self._from_start[connection] = None
        forget_oldest(self._from_start)

    def _was_asked(self, event: Spoken, number: JSON) -> bool:
        """Whether a request with this id would be in the record, had there been one.

        Ids count up as a rule: one lower than any here may be of a request from before the record.
        """
        if self._alone or event.connection in self._from_start:
            return not self._alone
        seen = [(event.connection, party) for party in self._others(event.party)]
        first = [self._asked[place] for place in seen if place in self._asked]
        return any(not (type(one) is type(number) is int and number < one) for one in first)

    def _is_another(self, value: JSON, forced: Kind) -> Problem | None:
        """What shows that a message cannot be of the kind: it names another, or is another part of a call."""
        if self._rpc and is_call(value):
            return self._another_call(value, forced)
        for kind in self._pack.kinds:
            if "pointer" in kind.when and fits(kind, value) and not fits(forced, value):
                return _mistaken(kind, forced, kind.when["pointer"])
        return None

    def _another_call(self, value: dict[str, JSON], forced: Kind) -> Problem | None:
        part, method = _part(value), value.get("method")
        wanted = forced.when["part"]
        if part in ("request", "notification"):
            if (method, part) == (forced.when.get("method"), wanted):
                return None
            kind = self._kinds.called(str(method), part)
            return _mistaken(kind, forced, "/method") if kind else self._no_method(method, part)
        said = f"it is {_PARTS[part]}, and {forced.name} is {_PARTS[wanted]}"
        return None if part == wanted else Problem(said, f"/{part}")

    def _no_method(self, method: JSON, part: str) -> Problem:
        elsewhere = [kind.when["part"] for kind in self._pack.kinds if kind.when.get("method") == method]
        if elsewhere:
            parts = " or ".join(_PARTS[one] for one in sorted(set(elsewhere)))
            return Problem(f"{shown(method)} is no {part} of this protocol; it is {parts}", "/method")
        methods = {kind.when["method"]: None for kind in self._pack.kinds if kind.when.get("part") == part}
        said = f"the method {shown(method)} is none of this protocol"
        return _instead(said, "/method", method, list(methods))

    def _no_kind(self, value: JSON) -> Problem:
        pointer = min(
            (kind.when["pointer"] for kind in self._pack.kinds if "pointer" in kind.when), default=""
        )
        if pointer:
            rows = [kind.when for kind in self._pack.kinds if kind.when.get("pointer") == pointer]
            return _no_name(value, pointer, [row["equals"] for row in rows])
        if not self._rpc:
            kinds = ", ".join(kind.name for kind in self._pack.kinds)
            return Problem(f"it has the form of no kind; kinds are {kinds}")
        return Problem("it has neither a method, nor a result, nor an error: it is no JSON-RPC message")


_PARTS = {
    "request": "a request",
    "notification": "a notification",
    "result": "a result",
    "error": "an error",
}

_UNKNOWN = Problem(
    "it answers a request that is not in this record, so its kind is not known (name it with -k)"
)


def _of_none(event: Spoken, problem: Problem, name: str = "", request: Message | None = None) -> Message:
    return Message(event, None, name, event.party, request, problem, bool(event.party), event.value)


def _mistaken(kind: Kind, named: Kind, pointer: str) -> Problem:
    """That a message is of a kind, where another was named for it."""
    expected = named.when.get("equals", named.when.get("method"))
    said = f"it is of the kind {kind.name}, and not of the kind {named.name}"
    return Problem(said, pointer, () if expected is None else (expected,))


def _no_name(value: JSON, pointer: str, allowed: list[JSON]) -> Problem:
    kinds = f"kinds are {', '.join(map(str, allowed))}"
    found = jsontext.resolve(value, pointer)
    if found is jsontext.MISSING:
        return Problem(f"it has no {pointer} to tell its kind by; {kinds}", "", tuple(allowed))
    return _instead(f"{pointer} is {shown(found)}, which names no kind; {kinds}", pointer, found, allowed)


def _instead(said: str, pointer: str, found: JSON, allowed: list[JSON]) -> Problem:
    """That what was found is none of what is allowed, and what it was probably meant to be."""
    if not isinstance(found, str):
        return Problem(said, pointer, tuple(allowed))
    near = nearest(found, [one for one in allowed if isinstance(one, str)])
    asked = "" if near is None else f'; did you mean "{near}"?'
    return Problem(said + asked, pointer, tuple(by_nearness(found, allowed)))


class Sessions:
    """Which session each connection serves; a session may go on over a new connection.

    `rows` are a pack's `sessions`: the messages that begin or resume one, where its key stands, and,
    in the request that they answer, the number after which the other side goes on (`after`).
    """

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows
        self._beginning = ByKind(lambda message: [row for row in rows if message.is_a(row["on"])])
        self._of: dict[str, str] = {}
        self._whole: dict[str, None] = {}

    @property
    def hears(self) -> frozenset[str]:
        """The messages that begin or resume sessions."""
        return frozenset(name for row in self._rows for name in row["on"])

    def of(self, message: Message) -> str:
        """The session's key; empty before any began."""
        return self._of.get(message.event.connection, "")

    def begun(self, message: Message) -> dict[str, Any] | None:
        """The row that the message fits, if it begins or resumes a session, which then is current."""
        for row in self._beginning.of(message):
            self._of[message.event.connection] = str(message.at(row["key"]))
            forget_oldest(self._of)
            if "after" not in row:
                self._whole[self.of(message)] = None
                forget_oldest(self._whole)
            return row
        return None

    def lose(self, session: str) -> None:
        """Nobody knows any longer how the session began."""
        self._whole.pop(session, None)

    def forget(self) -> None:
        """No session is known any longer."""
        self._of.clear()
        self._whole.clear()

    def is_whole(self, message: Message) -> bool:
        """Whether the session is in the record from its beginning; one that has none to see is."""
        return not self._rows or self.of(message) in self._whole


def is_from_the_wrong_side(message: Message) -> bool:
    """Whether it is on record who sent the message, and that its kind is for the other side to send."""
    kind = message.kind
    return message.known_party and kind is not None and message.party not in kind.senders


def is_call(value: JSON) -> bool:
    """Whether a value means to be a message of JSON-RPC 2.0, right or wrong."""
    return isinstance(value, dict) and bool(_part(value))


def _part(value: dict[str, JSON]) -> str:
    """Which part of JSON-RPC 2.0 a message is; empty where it is none."""
    if "method" in value:
        return "request" if "id" in value else "notification"
    if "result" in value:
        return "result"
    return "error" if "error" in value else ""
