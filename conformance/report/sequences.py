"""Where the events of an exchange stand in a sequence diagram: the kit is on the left."""

from __future__ import annotations

from typing import NamedTuple

from conformance.exchanges import Exchange, Step
from conformance.report.inert import text_of

WIDTH, KIT, OTHER, ROW, HEAD = 380, 84, 312, 34, 40
"""The picture's width, the places of the two lifelines, the distance of events, the height above them."""

LABEL = 32
"""So many letters of a label are drawn."""


class Arrow(NamedTuple):
    """One event: at which height, from and to where (equal for what is no message), and what stands at it."""

    y: int
    start: int
    end: int
    label: str
    time: str
    seq: int
    way: str
    meant: bool


class Sequence(NamedTuple):
    """The whole diagram."""

    width: int
    height: int
    arrows: tuple[Arrow, ...]


def drawn(exchange: Exchange) -> Sequence:
    """The diagram of an exchange."""
    arrows = tuple(_arrow(step, HEAD + ROW * place + 18) for place, step in enumerate(exchange.steps))
    return Sequence(WIDTH, HEAD + ROW * len(arrows) + 12, arrows)


def _arrow(step: Step, y: int) -> Arrow:
    start, end = _ENDS[step.way]
    time = "" if step.time is None else f"{step.time:.3f} s"
    return Arrow(y, start, end, _label(step), time, step.seq, step.way, step.meant)


_ENDS = {
    "sent": (KIT, OTHER),
    "received": (OTHER, KIT),
    "malformed": (OTHER, KIT),
    "opened": (KIT, KIT),
    "closed": (KIT, KIT),
}


def _label(step: Step) -> str:
    if step.way in ("sent", "received"):
        said = step.kind or "of no kind"
    else:
        said = {"malformed": "no message", "opened": "opened", "closed": "closed"}[step.way]
    if step.way == "closed" and step.party:
        said += f" by {step.party}"
    if step.connection != "main":
        said += f" ({step.connection})"
    said = text_of(said, 400).replace("\n", " ")
    return said if len(said) <= LABEL else said[: LABEL - 1] + "…"
