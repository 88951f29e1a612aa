"""Walks through the lifecycles of a pack, as the conversations in which two parties take them.

A legal walk takes one edge last, by the shortest way that leads there, and goes on to an end. An illegal
one goes to a state and then says what no edge allows, or leaves out the reason that an edge asks for, or
gives one that it does not permit. Each is judged by the kit's own monitor before it is handed out: a
legal walk breaks nothing, an illegal one breaks what it has to and nothing else. What no messages can show
is `Unwalked`, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from conformance.events import Closed, Event, Opened
from conformance.findings import Finding
from conformance.generation.dialogue import Dialogue, Telling, tellings
from conformance.lifecycles import Lifecycle, Transition
from conformance.monitor import Monitor
from conformance.packs import Pack


class Walk(NamedTuple):
    """A conversation in which an entity passes through `states`.

    `fails` is the requirement that it breaks, and `why` what is wrong with its last message; both are
    empty for a legal walk. `edges` are the edges that it takes.
    """

    lifecycle: str
    name: str
    states: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    events: tuple[Event, ...]
    fails: str = ""
    why: str = ""


class Unwalked(NamedTuple):
    """What no walk shows: an edge, or a pair of states that has none, and why."""

    lifecycle: str
    what: str
    because: str


class Walks(NamedTuple):
    """The walks of a pack, the shortest first, and what none of them shows."""

    walks: tuple[Walk, ...]
    unwalked: tuple[Unwalked, ...]
    edges: dict[str, int]
    """How many edges each lifecycle has."""

    def covered(self, lifecycle: str) -> set[tuple[str, str]]:
        """The edges of the lifecycle that some legal walk takes."""
        mine = [walk for walk in self.walks if walk.lifecycle == lifecycle and not walk.fails]
        return {edge for walk in mine for edge in walk.edges}


def legal(pack: Pack) -> Walks:
    """A walk for every edge of every lifecycle that messages can show."""
    return _gathered(pack, lambda maps: maps.legal())


def illegal(pack: Pack) -> Walks:
    """A walk for every pair of states without an edge, and for every reason that is wrong on one."""
    return _gathered(pack, lambda maps: maps.illegal())


def _gathered(pack: Pack, made: Any) -> Walks:
    walks, unwalked, edges = list[Walk](), list[Unwalked](), dict[str, int]()
    for name, (table, _) in pack.lifecycles.items():
        edges[name] = len(list(table.edges()))
        for one in made(_Map(pack, table)):
            (walks if isinstance(one, Walk) else unwalked).append(one)
    walks.sort(key=lambda walk: len(walk.states))
    return Walks(tuple(walks), tuple(unwalked), edges)


@dataclass(slots=True)
class _Path:
    """Messages that lead an entity through states, each told by one of the pack's rows."""

    states: tuple[str, ...]
    steps: tuple[tuple[Telling, str], ...] = ()

    def on(self, telling: Telling, target: str) -> _Path:
        return _Path((*self.states, target), (*self.steps, (telling, target)))


class _Map:
    """One lifecycle of a pack: which messages tell which moves, and the shortest ways."""

    def __init__(self, pack: Pack, table: Lifecycle) -> None:
        self._pack, self._table = pack, table
        self._tellings = tellings(pack, table)
        self._edges = list(table.edges())
        self._ways: dict[str, _Path] = {}
        self._explore()

    def _explore(self) -> None:
        """The shortest way to every state, over edges whose walk breaks nothing."""
        self._ways = {table_start: _Path((table_start,)) for table_start in [self._table.initial]}
        queue = [self._table.initial]
        while queue:
            source = queue.pop(0)
            for edge in self._edges:
                # What an error response refuses never came to be: nothing can be said of it afterwards.
                if edge.source == source and edge.target not in self._ways and edge.wire != "error":
                    path, _ = self._stepped(self._ways[source], edge)
                    if path is not None:
                        self._ways[edge.target] = path
                        queue.append(edge.target)

    def _stepped(self, path: _Path, edge: Transition) -> tuple[_Path | None, str]:
        """The path one edge further, by a message that breaks nothing; or why there is none."""
        because = f"no message reports the state {edge.target} of what is {edge.source}"
        for telling in self._may_tell(edge.source, edge.target, legal=True):
            further = path.on(telling, edge.target)
            _, broken = self._judged(further)
            if not broken:
                return further, ""
            because = f"{telling.kind} then breaks {', '.join(sorted(broken))}"
        return None, because

    def _may_tell(self, source: str, target: str, *, legal: bool) -> Iterator[Telling]:
        edge = self._table.transitions.get((source, target))
        refused = edge is not None and edge.wire == "error"
        for telling in self._tellings:
            if telling.tells(source, target, refused=refused and legal) and telling.is_free(source) >= legal:
                yield telling

    # ── legal walks ───────────────────────────────────────────────────────────────────────────────

    def legal(self) -> Iterator[Walk | Unwalked]:
        """A walk for each edge, or why there is none."""
        for edge in self._edges:
            what = f"{edge.source} -> {edge.target}"
            if edge.source not in self._ways:
                yield Unwalked(self._table.name, what, f"no walk leads to {edge.source}")
                continue
            path, because = self._stepped(self._ways[edge.source], edge)
            yield self._walk(self._ended(path), what) if path else Unwalked(self._table.name, what, because)

    def _ended(self, path: _Path) -> _Path:
        """The path gone on to the nearest state after which nothing follows, where there is one."""
        queue, seen = [path], {path.states[-1]}
        while queue:
            here = queue.pop(0)
            if self._table.is_terminal(here.states[-1]):
                return here
            for edge in self._edges:
                if edge.source == here.states[-1] and edge.target not in seen:
                    seen.add(edge.target)
                    further, _ = self._stepped(here, edge)
                    queue += [further] if further else []
        return path

    def _walk(self, path: _Path, name: str) -> Walk:
        edges = tuple(zip(path.states, path.states[1:], strict=False))
        events, _ = self._judged(path)
        return Walk(self._table.name, name, path.states, edges, events)

    # ── illegal walks ─────────────────────────────────────────────────────────────────────────────

    def illegal(self) -> Iterator[Walk | Unwalked]:
        """Pairs without an edge, edges told by the wrong message, and wrong reasons."""
        for source in self._table.classes:
            for target in self._table.classes:
                yield from self._pair(source, target)
        for edge in self._edges:
            yield from self._reasons(edge)

    def _pair(self, source: str, target: str) -> Iterator[Walk | Unwalked]:
        has_edge = self._table.edge(source, target) is not None
        wrong = [
            telling
            for telling in self._may_tell(source, target, legal=False)
            if not has_edge or not telling.is_free(source)
        ]
        if not wrong and not has_edge:
            because = f"no message reports the state {target} of what is {source}"
            yield Unwalked(self._table.name, f"{source} to {target}", because)
        for telling in wrong:
            what = f"{source} to {target} by {telling.kind}"
            why = f"From {source} no edge leads to {target}"
            why += f" by {telling.kind}." if has_edge else "."
            expected = self._pack_says(telling, source)
            yield self._broken(telling, source, target, what, expected, why)

    def _pack_says(self, telling: Telling, source: str) -> set[str]:
        """The requirements that the pack's tables give for a move that the lifecycle does not have."""
        found = set()
        for one, spec in self._specs("transition", "terminal-silence"):
            judges = _is_on(telling, spec) and source not in spec.get("unless", ())
            if judges and source in spec.get("states", (source,)):
                found.add(one)
        return found or telling.judges(source)

    def _reasons(self, edge: Transition) -> Iterator[Walk | Unwalked]:
        """Walks whose last message lacks the reason that the edge asks for, or has another."""
        other = self._unlisted(edge)
        for kind, reason, said in (("reason-required", None, "no reason"), ("reason-allowed", other, other)):
            if kind == "reason-allowed" and not (edge.reasons and other):
                continue
            for telling in self._may_tell(edge.source, edge.target, legal=True):
                rows = [(one, spec) for one, spec in self._specs(kind) if _is_on(telling, spec)]
                expected = {one for one, spec in rows if edge.target in spec.get("states", (edge.target,))}
                if expected and telling.row.get("reason"):
                    what = f"{edge.source} to {edge.target} by {telling.kind} with {said}"
                    why = f"From {edge.source} to {edge.target}, {said} stands where a permitted one has to."
                    wrong = telling._replace(reason=reason, reasoned=False)
                    yield self._broken(wrong, edge.source, edge.target, what, expected, why)

    def _unlisted(self, edge: Transition) -> str | None:
        known = [reason for one in self._edges for reason in one.reasons or ()]
        return next((reason for reason in known if reason not in (edge.reasons or ())), None)

    def _broken(
        self, telling: Telling, source: str, target: str, what: str, expected: set[str], why: str
    ) -> Walk | Unwalked:
        """The walk to a state and then this message, if it breaks what it has to and nothing else."""
        if source not in self._ways:
            return Unwalked(self._table.name, what, f"no walk leads to {source}")
        if not expected:
            return Unwalked(self._table.name, what, "no requirement of the pack judges it by a table")
        path = self._ways[source].on(telling, target)
        events, broken = self._judged(path, whole=False)
        if len(broken) != 1 or not broken <= expected:
            told = (
                f"breaks {', '.join(sorted(broken))}"
                if broken
                else "breaks nothing, since it may be a repetition"
            )
            return Unwalked(self._table.name, what, f"it {told}; {_either(expected)} alone was meant")
        edges = tuple(zip(path.states, path.states[1:-1], strict=False))
        [fails] = broken
        return Walk(self._table.name, what, path.states, edges, events, fails, why)

    # ── judging ───────────────────────────────────────────────────────────────────────────────────

    def _specs(self, *kinds: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for requirement in self._pack.requirements.values():
            for spec in requirement.checks:
                if spec["kind"] in kinds and spec["lifecycle"] == self._table.name:
                    yield requirement.id, spec

    def _judged(self, path: _Path, *, whole: bool = True) -> tuple[tuple[Event, ...], set[str]]:
        """The conversation, and what it breaks; a `whole` one that came to an end is over then."""
        dialogue = Dialogue(self._pack, self._table)
        for (telling, target), source in zip(path.steps, path.states, strict=False):
            dialogue.say(telling, source, target)
        is_over = whole and self._table.is_terminal(path.states[-1])
        end = Closed(0, by=self._pack.peer_of(self._pack.certifies))
        events: list[Event] = [Opened(0), *dialogue.spoken, *([end] if is_over else [])]
        numbered = tuple(one._replace(seq=seq, time=float(seq)) for seq, one in enumerate(events, 1))
        return numbered, {one.requirement for one in _findings(self._pack, numbered) if not one.ok}


def _findings(pack: Pack, events: Iterable[Event]) -> list[Finding]:
    """What the monitor says of a record; one without an end merely stops."""
    monitor, told = Monitor(pack), list(events)
    if not isinstance(told[-1], Closed):
        told.append(Closed(len(told) + 1, clean=False, final=False))
    found = [finding for event in told for finding in monitor.feed(event)]
    return [one for one in [*found, *monitor.end()] if not one.inconclusive]


def _is_on(telling: Telling, spec: dict[str, Any]) -> bool:
    return "on" not in spec or telling.kind in spec["on"] or "*" in spec["on"]


def _either(names: set[str]) -> str:
    return " or ".join(sorted(names))
