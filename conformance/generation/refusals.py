"""Negative tests of a live implementation: what is sent, and how it shows that it was taken or refused.

The rows of `refusals` in `pack.json` say, for an implementation's role, which kind of message is tried in
which state, and by which messages one tells that it was acted on or refused. A `Trial` is a message that
breaks one constraint and its twin, a valid message that differs from it at one place. Nothing here does I/O.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance import protocols, scenarios
from conformance.bindings import Bindings, Now, merged, written
from conformance.composing import Composer
from conformance.events import JSON
from conformance.packs import Pack
from conformance.scenarios import Step

REFUSAL = "WIRE-REFUSAL"
"""The requirement that every trial decides."""

BROKEN = "broken_"
"""Before the names of a message whose twin was sent since."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of `refusals`: a kind of message that an implementation is tried with."""

    kind: str
    made: Mapping[str, Any] = field(default_factory=dict)
    """`message`, `payload` or `params` of the valid message, as in a step that sends."""
    opening: tuple[Mapping[str, Any], ...] = ()
    names: tuple[str, ...] = ()
    about: JSON = None
    accepted: Mapping[str, JSON] = field(default_factory=dict)
    refused: Mapping[str, JSON] = field(default_factory=dict)
    otherwise: Mapping[str, JSON] = field(default_factory=dict)
    silent: bool = False
    at: str = ""
    spared: tuple[Mapping[str, str], ...] = ()
    needs: Mapping[str, Any] = field(default_factory=dict)
    within: str = "5 s"
    pause: str = ""


def rows(pack: Pack, role: str) -> list[Row]:
    """What an implementation in this role is tried with."""
    return [_row(one) for one in pack.meta.get("refusals", {}).get(role, ())]


def _row(one: Mapping[str, Any]) -> Row:
    made = {name: one[name] for name in ("message", "payload", "params") if name in one}
    return Row(
        one["send"],
        made,
        tuple(one.get("opening", ())),
        tuple(one.get("names", ())),
        one["about"],
        one["accepted"],
        one.get("refused", {}),
        one.get("otherwise", {}),
        one.get("silent", "refused" not in one),
        one.get("at", ""),
        tuple(one.get("spared", ())),
        one.get("needs", {}),
        one.get("within", "5 s"),
        one.get("pause", ""),
    )


@dataclass(frozen=True, slots=True)
class Trial:
    """A message that has to be refused and its valid twin, as texts in which `${names}` stand.

    `keyword` at `location` is the constraint that is broken, at `pointer` of the message. Without them the
    message breaks nothing, and only has to be survived. `bad` and `good` are the two as values, where they
    are values.
    """

    text: str
    twin: str
    location: str = ""
    keyword: str = ""
    pointer: str = ""
    bad: JSON = None
    good: JSON = None
    value: Mapping[str, JSON] = field(default_factory=dict)
    """What else has a name in the text."""

    @property
    def is_valid(self) -> bool:
        """Whether it breaks nothing."""
        return not self.keyword

    @property
    def said(self) -> str:
        """What it is, in words."""
        if self.is_valid:
            return f"a string of {len(json.dumps(self.bad))} characters" if self.bad else "a valid message"
        return f"{self.keyword} is broken at {self.pointer or '/'} ({self.location})"


class Bench:
    """What the messages of one row are made with: the valid one, and what in it is of this session alone.

    `names` are the values that the opening gave; `now` stands for `${now}` while messages are made.
    """

    def __init__(
        self, pack: Pack, row: Row, ics: Mapping[str, Any], names: Mapping[str, JSON], now: Now
    ) -> None:
        self.pack, self.row = pack, row
        mine = {name: str(uuid.uuid4()) for name in row.names}
        own = tuple(pack.meta.get("fresh", ()))
        bindings = Bindings(ics, lambda: str(uuid.uuid4()), {**names, **mine}, own=own, code=protocols.value)
        sent = Step("send", {"send": row.kind, **row.made})
        self.valid = Composer(pack, bindings).of_step(sent, now)
        """The message as it may be sent, with samples in place of what each session has of its own."""
        kept = {name: value for name, value in bindings.names.items() if _is_own(value)}
        self.samples = {value: name for name, value in kept.items()} | {now.wall: "now"}
        """Value → the name that stands for it in texts."""

    def named(self, text: str) -> str | None:
        """The text with names in place of samples; None where it does not say any more what it is about."""
        if "${" in text:
            return None
        for sample, name in self.samples.items():
            text = text.replace(json.dumps(sample), json.dumps(f"${{{name}}}"))
        wanted = [name for name in self.row.names if f"${{{name}}}" in written(self.row.about)]
        return text if all(f"${{{name}}}" in text for name in wanted) else None


def _is_own(value: JSON) -> bool:
    """Whether a value is likely to stand for itself: long enough to be found in a text."""
    return isinstance(value, str) and len(value) >= 8


# ── steps ────────────────────────────────────────────────────────────────────────────────────────


def opening(pack: Pack, role: str, row: Row) -> tuple[Step, ...]:
    """The steps that lead to the state in which the row's messages are sent, vetted and written out."""
    if not row.opening:
        return ()
    title = f"What comes before {row.kind}"
    alone = {"title": title, "role": role, "covers": [REFUSAL], "steps": list(row.opening)}
    return scenarios.read(json.dumps(alone), f"the refusals of {pack.name}", pack).steps


def control(row: Row, text: str) -> Iterator[dict[str, Any]]:
    """The steps that send a valid message and see that it is taken."""
    if row.names:
        yield {"set": dict.fromkeys(row.names, "${fresh}")}
    yield {"raw": text}
    yield _taken(row)
    if row.pause:
        yield {"wait": row.pause}


def _taken(row: Row) -> dict[str, Any]:
    [kind, match], *_ = row.accepted.items()
    return {"expect": kind, "match": merged(row.about, match), "within": row.within}


def steps(row: Row, trial: Trial) -> Iterator[dict[str, Any]]:
    """The steps of one trial: the message, and its twin; how both have to be answered."""
    if row.names or trial.value:
        yield {"set": dict.fromkeys(row.names, "${fresh}") | dict(trial.value)}
    yield {"raw": trial.text}
    if row.silent or trial.is_valid:
        yield from _followed(row, trial)
    else:
        yield from _refused(row)
        yield from control(row, trial.twin)


def _refused(row: Row) -> Iterator[dict[str, Any]]:
    [kind, match], *_ = row.refused.items()
    yield {
        "expect": kind,
        "match": merged(row.about, match),
        "instead": {**_all(row.accepted, row.about), **_all(row.otherwise, row.about)},
        "within": row.within,
        "proves": REFUSAL,
    }
    if row.pause:
        yield {"wait": row.pause}


def _followed(row: Row, trial: Trial) -> Iterator[dict[str, Any]]:
    """The twin comes at once: when it is taken and nothing came of the other before, that was refused."""
    before = _renamed(row.about, row.names)
    if row.names:
        yield {
            "set": {f"{BROKEN}{name}": f"${{{name}}}" for name in row.names}
            | dict.fromkeys(row.names, "${fresh}")
        }
    yield {"raw": trial.twin}
    instead = {} if trial.is_valid else _all(row.accepted, before) | _all(row.otherwise, before)
    yield _taken(row) | ({"instead": instead} if instead else {}) | {"proves": REFUSAL}
    if row.pause:
        yield {"wait": row.pause}


def _all(matches: Mapping[str, JSON], about: JSON) -> dict[str, JSON]:
    return {kind: merged(about, match) for kind, match in matches.items()}


def _renamed(node: JSON, names: tuple[str, ...]) -> JSON:
    """What is said of a message whose twin has its names by now."""
    if isinstance(node, dict):
        return {key: _renamed(value, names) for key, value in node.items()}
    if isinstance(node, list):
        return [_renamed(value, names) for value in node]
    if isinstance(node, str):
        for name in names:
            node = node.replace(f"${{{name}}}", f"${{{BROKEN}{name}}}")
    return node
