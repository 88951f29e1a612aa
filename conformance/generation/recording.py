"""Walks as transcripts, which can be judged as any other record, and in words what they cover."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from conformance import transcript
from conformance.events import Event, Received, Sent
from conformance.generation.walks import Walk, Walks
from conformance.packs import Pack


def lines(pack: Pack, walk: Walk) -> list[str]:
    """The walk as a transcript of a session with an implementation that the pack certifies.

    The header of an illegal walk says which requirement it `fails`, and `why`.
    """
    header = {"protocol": pack.protocol, "revision": pack.revision}
    broken = {"fails": [walk.fails], "why": walk.why} if walk.fails else {}
    text = io.StringIO()
    writer = transcript.Writer(text, header | broken, transcript.Redaction((), b""))
    for event in walk.events:
        writer.append(_seen(event, pack))
    return text.getvalue().splitlines()


def _seen(event: Event, pack: Pack) -> Event:
    """The event as the kit sees it that plays the other role."""
    if not isinstance(event, Sent) or event.party != pack.certifies:
        return event
    return Received(event.seq, event.party, event.text, event.value, event.connection, event.time)


def file_name(walk: Walk, number: int) -> str:
    """A name that sorts as the walks do, and says what the walk shows."""
    said = re.sub(r"[^0-9A-Za-z_.]+", "-", f"{walk.lifecycle}-{walk.name.replace(' -> ', ' to ')}")
    return f"{number:03}-{said}.jsonl"


def summary(found: Walks, *, illegal: bool) -> Iterator[str]:
    """How many edges are covered and what is not, a line each."""
    for name, edges in found.edges.items():
        mine = [walk for walk in found.walks if walk.lifecycle == name]
        if illegal:
            yield f"{name}: {len(mine)} illegal walks, of {len({walk.fails for walk in mine})} requirements"
        else:
            yield f"{name}: {len(found.covered(name))} of {edges} edges covered, in {len(mine)} walks"
        for one in found.unwalked:
            if one.lifecycle == name:
                yield f"  not walked: {one.what}: {one.because}"
    if not found.edges:
        yield "the pack has no lifecycle, so there is nothing to walk"
