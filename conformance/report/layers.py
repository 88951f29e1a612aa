"""Where the states and moves of a lifecycle stand in a picture: in layers from its first state downwards.

The way of Sugiyama, in small: moves that lead back are turned round, states go below all from which
they can be reached, moves across several layers get a point in each, the order within the layers is
chosen by the mean of the neighbours, and so is the place of each state in its layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

ROW, HEIGHT, GAP, MARGIN = 78.0, 30.0, 22.0, 14.0
"""The distance of layers, the height of a state, the room between two of a layer and around all: pixels."""

LETTER, PADDING, POINT = 7.4, 26.0, 12.0
"""The width of a letter, of what is beside a name, and of a point of a move, in pixels."""

ILLEGAL = 12
"""So many moves that the table does not have are drawn."""

NAME = 24
"""So many letters of a state are drawn."""

SWEEPS = 10


class Box(NamedTuple):
    """A state: its middle, its width, its class, and whether it is the first."""

    name: str
    label: str
    x: float
    y: float
    width: float
    state_class: str
    initial: bool


class Line(NamedTuple):
    """A move as an SVG path, with where its number stands. `state` is `seen`, `untouched` or `illegal`."""

    source: str
    target: str
    path: str
    x: float
    y: float
    seen: int
    state: str


class Drawing(NamedTuple):
    """The whole picture; `left_out` illegal moves are not in it."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    left_out: int


Pair = tuple[str, str]


@dataclass(slots=True)
class _Grid:
    """Names of states and points, layer by layer, and the chain of each move through them."""

    layers: list[list[str]]
    chains: dict[Pair, list[str]]
    x: dict[str, float] = field(default_factory=dict)


def drawn(lifecycle: Mapping[str, Any]) -> Drawing:
    """The picture of a report's lifecycle."""
    illegal = lifecycle["illegal"][:ILLEGAL]
    strange = [one[end] for one in illegal for end in ("from", "to")]
    states = list(dict.fromkeys([*lifecycle["states"], *strange]))
    pairs = [(one["from"], one["to"]) for one in lifecycle["edges"] if one["from"] != one["to"]]
    grid = _grid(lifecycle["initial"], states, list(dict.fromkeys(pairs)))
    _order(grid)
    _place(grid)
    boxes = {box.name: box for box in _boxes(grid, lifecycle)}
    lines = [*_lines(lifecycle["edges"], grid, boxes), *_illegal(illegal, boxes)]
    width = max(grid.x[name] + _width(name) / 2 for name in grid.x) + MARGIN + 22
    height = len(grid.layers) * ROW - (ROW - HEIGHT) + 2 * MARGIN
    return Drawing(
        width, height, tuple(boxes.values()), tuple(lines), len(lifecycle["illegal"]) - len(illegal)
    )


def _width(name: str) -> float:
    if name.startswith("\0"):
        return POINT
    return round(min(len(name), NAME) * LETTER + PADDING, 1)


def _grid(initial: str, states: Sequence[str], pairs: Sequence[Pair]) -> _Grid:
    turned = _turned(initial, states, pairs)
    ranks = _ranks(states, [(b, a) if (a, b) in turned else (a, b) for a, b in pairs])
    layers: list[list[str]] = [[] for _ in range(max(ranks.values()) + 1)]
    for state in states:
        layers[ranks[state]].append(state)
    chains = {}
    for number, (source, target) in enumerate(pairs):
        first, last = (target, source) if (source, target) in turned else (source, target)
        points = [f"\0{number}.{rank}" for rank in range(ranks[first] + 1, ranks[last])]
        for rank, point in enumerate(points, ranks[first] + 1):
            layers[rank].append(point)
        chains[source, target] = [first, *points, last]
    return _Grid(layers, chains)


def _turned(initial: str, states: Sequence[str], pairs: Sequence[Pair]) -> set[Pair]:
    """The moves that lead back to a state on the way to their own, in a walk that takes the table's order."""
    turned: set[Pair] = set()
    done: set[str] = set()
    for start in [initial, *states]:
        path: list[str] = []
        todo: list[tuple[str, bool]] = [(start, False)]
        while todo:
            state, left = todo.pop()
            if left:
                path.pop()
            elif state not in done:
                done.add(state)
                path.append(state)
                todo.append((state, True))
                onward = [target for source, target in pairs if source == state]
                turned.update((state, target) for target in onward if target in path)
                todo += [(target, False) for target in reversed(onward) if target not in path]
    return turned


def _ranks(states: Sequence[str], pairs: Sequence[Pair]) -> dict[str, int]:
    """The layer of each state: below all from which a move leads to it."""
    ranks = dict.fromkeys(states, 0)
    for _ in states:
        for source, target in pairs:
            ranks[target] = max(ranks[target], min(ranks[source] + 1, len(states)))
    return ranks


def _neighbours(grid: _Grid) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What stands above and below each name, on the way of a move."""
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for chain in grid.chains.values():
        for upper, lower in pairwise(chain):
            below.setdefault(upper, []).append(lower)
            above.setdefault(lower, []).append(upper)
    return above, below


def _order(grid: _Grid) -> None:
    """Order each layer by the mean place of the neighbours, down and up; the best order found stays."""
    above, below = _neighbours(grid)
    best, fewest = [list(layer) for layer in grid.layers], _crossings(grid)
    for sweep in range(SWEEPS):
        near = below if sweep % 2 else above
        at = {name: place for layer in grid.layers for place, name in enumerate(layer)}
        for layer in reversed(grid.layers) if sweep % 2 else grid.layers:
            layer.sort(key=lambda name: _mean([at[one] for one in near.get(name, ())], at[name]))
            at.update((name, place) for place, name in enumerate(layer))
        count = _crossings(grid)
        if count < fewest:
            best, fewest = [list(layer) for layer in grid.layers], count
    grid.layers[:] = best


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _crossings(grid: _Grid) -> int:
    at = {name: place for layer in grid.layers for place, name in enumerate(layer)}
    rank = {name: number for number, layer in enumerate(grid.layers) for name in layer}
    steps = [(rank[a], at[a], at[b]) for chain in grid.chains.values() for a, b in pairwise(chain)]
    return sum(
        one[0] == two[0] and (one[1] - two[1]) * (one[2] - two[2]) < 0
        for place, one in enumerate(steps)
        for two in steps[:place]
    )


def _place(grid: _Grid) -> None:
    """Give each name of a layer a place near those of its neighbours, none upon another."""
    for layer in grid.layers:
        grid.x.update(_spread(layer, dict.fromkeys(layer, 0.0)))
    above, below = _neighbours(grid)
    for turn in range(24):
        for layer in reversed(grid.layers) if turn % 2 else grid.layers:
            wanted = {
                name: _mean(
                    [grid.x[one] for one in (*above.get(name, ()), *below.get(name, ()))], grid.x[name]
                )
                for name in layer
            }
            grid.x.update(_spread(layer, wanted))
    left = min(grid.x[name] - _width(name) / 2 for name in grid.x) - MARGIN
    grid.x = {name: round(x - left, 1) for name, x in grid.x.items()}


def _spread(layer: Sequence[str], wanted: Mapping[str, float]) -> dict[str, float]:
    """Places in the layer's order, as near to the wanted ones as their widths allow: the mean of what comes
    out from the left and from the right.
    """
    rightward, leftward = _pushed(layer, wanted, 1), _pushed(layer[::-1], wanted, -1)
    return {name: (rightward[name] + leftward[name]) / 2 for name in layer}


def _pushed(layer: Iterable[str], wanted: Mapping[str, float], way: int) -> dict[str, float]:
    placed: dict[str, float] = {}
    last = ""
    for name in layer:
        x = wanted[name]
        if last:
            room = (_width(last) + _width(name)) / 2 + GAP
            x = max(x, placed[last] + room) if way > 0 else min(x, placed[last] - room)
        placed[name] = x
        last = name
    return placed


def _boxes(grid: _Grid, lifecycle: Mapping[str, Any]) -> Iterable[Box]:
    for rank, layer in enumerate(grid.layers):
        for name in layer:
            if not name.startswith("\0"):
                label = name if len(name) <= NAME else name[: NAME - 1] + "…"
                y = MARGIN + HEIGHT / 2 + rank * ROW
                found = lifecycle["states"].get(name, "unknown")
                yield Box(name, label, grid.x[name], y, _width(name), found, name == lifecycle["initial"])


def _lines(edges: Sequence[Mapping[str, Any]], grid: _Grid, boxes: Mapping[str, Box]) -> Iterable[Line]:
    ports = _ports(grid)
    for edge in edges:
        source, target, seen = edge["from"], edge["to"], edge["seen"]
        state = "seen" if seen else "untouched"
        if source == target:
            yield Line(source, target, *_loop(boxes[source], 1), seen, state)
            continue
        chain = grid.chains[source, target]
        points = _points(chain, (source, target), ports, boxes, grid)
        points = points if chain[0] == source else points[::-1]
        (a, b), (c, d) = points[(len(points) - 1) // 2 : (len(points) - 1) // 2 + 2]
        yield Line(source, target, _curve(points), (a + c) / 2, (b + d) / 2 + 4, seen, state)


def _loop(box: Box, way: int) -> tuple[str, float, float]:
    """A move from a state to itself, on its right (1) or its left (-1), and where its number stands."""
    x = box.x + way * box.width / 2
    path = f"M{x:g} {box.y - 8:g}c{way * 22} -8 {way * 22} 24 0 16"
    return (path, x + 20, box.y + 4) if way > 0 else (path, x - 12, box.y - 12)


def _ports(grid: _Grid) -> dict[tuple[Pair, str], float]:
    """Where on a state's side each move begins or ends: in the order of where they lead."""
    leaving: dict[tuple[str, bool], list[tuple[float, Pair]]] = {}
    for pair, chain in grid.chains.items():
        leaving.setdefault((chain[0], True), []).append((grid.x[chain[1]], pair))
        leaving.setdefault((chain[-1], False), []).append((grid.x[chain[-2]], pair))
    ports = {}
    for (name, _), moves in leaving.items():
        gap = min(16.0, (_width(name) - 16) / len(moves))
        for place, (_, pair) in enumerate(sorted(moves)):
            ports[pair, name] = grid.x[name] + (place - (len(moves) - 1) / 2) * gap
    return ports


def _points(
    chain: Sequence[str],
    pair: Pair,
    ports: Mapping[tuple[Pair, str], float],
    boxes: Mapping[str, Box],
    grid: _Grid,
) -> list[tuple[float, float]]:
    """The way of a move from the lower side of its upper state to the upper side of its lower one."""
    top, bottom = boxes[chain[0]], boxes[chain[-1]]
    inner = [(grid.x[name], top.y + ROW * rank) for rank, name in enumerate(chain) if name.startswith("\0")]
    start = ports[pair, chain[0]], top.y + HEIGHT / 2
    end = ports[pair, chain[-1]], bottom.y - HEIGHT / 2
    return [start, *inner, end]


def _curve(points: Sequence[tuple[float, float]]) -> str:
    path = [f"M{points[0][0]:g} {points[0][1]:g}"]
    for (a, b), (c, d) in pairwise(points):
        middle = (b + d) / 2
        path.append(f"C{a:g} {middle:g} {c:g} {middle:g} {c:g} {d:g}")
    return "".join(path)


def _illegal(edges: Iterable[Mapping[str, Any]], boxes: Mapping[str, Box]) -> Iterable[Line]:
    """Moves that the table does not have, across everything."""
    for number, edge in enumerate(edges):
        one, two = boxes[edge["from"]], boxes[edge["to"]]
        drawn = _loop(one, -1) if one is two else _across(one, two, 10 + 5 * (number % 3))
        yield Line(one.name, two.name, *drawn, edge["seen"], "illegal")


def _across(one: Box, two: Box, shift: float) -> tuple[str, float, float]:
    """A bow from one state to another, so far beside their middles, and where its number stands."""
    if one.y == two.y:
        (a, b), (c, d) = (one.x, one.y - HEIGHT / 2), (two.x, two.y - HEIGHT / 2)
        x, y = (a + c) / 2, b - 26
    else:
        half = HEIGHT / 2 if two.y > one.y else -HEIGHT / 2
        (a, b), (c, d) = (one.x + shift, one.y + half), (two.x + shift, two.y - half)
        x, y = (a + c) / 2 + 30, (b + d) / 2
    # The number stands on the curve, at its middle.
    return f"M{a:g} {b:g}Q{x:g} {y:g} {c:g} {d:g}", (a + c + 2 * x) / 4, (b + d + 2 * y) / 4 + 4
